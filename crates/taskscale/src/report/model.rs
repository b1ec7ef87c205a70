//! The report as plain data, built once from a campaign and its samples, shown in several formats.
//!
//! Every value of every format comes from here. Texts are as recorded: each format neutralizes what could harm its
//! readers. Must not know of formats, files or the command line.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::conditions::RunConditions;
use super::load_curve::LoadPoint;
use super::version::shown_version;
use crate::catalog::{FanOut, Kind, Shape, Style};
use crate::metrics::{self, MetricDef};
use crate::record::{
    By, EntryFacts, Hold, LimitHit, Machine, MemorySource, PlateauFrom, Sample, Series, Status, Timestamp,
    Warning,
};
use crate::stats::{Interval, Point, Spread, Step, WorstPoint};
use crate::units;

/// How entries are ranked.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Rank {
    /// Within each kind.
    #[default]
    Kind,
    /// All kinds together.
    All,
}

named!(Rank);

impl Rank {
    /// The group that a kind is ranked in; `None` if all are ranked together.
    pub(super) fn scope(self, kind: Kind) -> Option<Kind> {
        (self == Rank::Kind).then_some(kind)
    }
}

/// Version of the shape of [`Report`] as JSON. Raised when a field changes its meaning; added fields do not raise it.
pub const REPORT_SCHEMA: u32 = 2;

/// The summary of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    pub schema: u32,
    /// Name of the results folder. May be empty.
    pub campaign: String,
    /// Version of the taskscale that planned the runs.
    pub taskscale: String,
    #[cfg_attr(test, schemars(with = "String"))]
    pub created_at: Timestamp,
    /// Origin of submitted results. Absent if they were never submitted.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The command line that made the results.
    pub command: Vec<String>,
    pub seed: u64,
    pub plan_digest: String,
    pub workload: String,
    /// Parameters that differ from the workload's defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Number of CPUs programs are pinned to. Absent: all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The workload's shape. Absent: `hold`.
    #[serde(skip_serializing_if = "Shape::is_hold")]
    pub shape: Shape,
    /// Shape `work`: what one operation is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// Bytes that each task is asked to keep. Absent if the workload does not specify them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds_bytes: Option<u64>,
    /// The numbers of tasks, ascending.
    pub tasks: Vec<u64>,
    pub repetitions: u32,
    pub hold: Hold,
    pub machine: Machine,
    /// The version string of each runtime.
    pub versions: Vec<Version>,
    /// Runs recorded, repeated attempts included.
    pub runs: u64,
    /// Total wall time of these runs, in seconds. Of runs whose end was not recorded, the time up to the end of
    /// their plateau.
    pub measured_s: f64,
    /// Whether there are such runs.
    #[serde(skip)]
    pub measured_s_is_low: bool,
    /// Planned runs without a sample: the measurement was interrupted, or is still running.
    pub unmeasured_runs: u64,
    /// Number of samples of other entries or workloads, which are ignored.
    pub stray_samples: u64,
    /// How rows are ranked.
    pub rank: Rank,
    /// The metrics that tables show besides the headline. If empty, those that suit the workload.
    #[serde(skip)]
    #[cfg_attr(test, schemars(skip))]
    pub shown: Vec<&'static MetricDef>,
    /// One group per number of tasks, ascending. The page has its rows in another form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(skip))]
    pub groups: Vec<RowGroup>,
    /// How the footprint of each entry grows: by `rank`, fewest bytes per task first.
    pub growth: Vec<Growth>,
    /// Memory sources, the most frequent first. Values of different sources are not comparable to the byte.
    pub memory_sources: Vec<SourceCount>,
    /// How the plateaus of the runs that count were found, most frequent first. Empty for old results.
    pub plateaus: Vec<PlateauCount>,
    /// Entries that could not run on this machine. They have no rows.
    pub unavailable: Vec<Unavailable>,
    pub warnings: Vec<WarningCount>,
}

impl Report {
    /// The report with the name of its results folder.
    #[must_use]
    pub fn named(self, campaign: impl Into<String>) -> Report {
        Report { campaign: campaign.into(), ..self }
    }

    /// The report with other metrics in its tables.
    #[must_use]
    pub fn showing(self, figures: &[&'static MetricDef]) -> Report {
        Report { shown: figures.to_vec(), ..self }
    }

    /// The series that it belongs to.
    pub fn series(&self) -> Series {
        Series { workload: self.workload.clone(), params: self.params.clone(), cpus: self.cpus }
    }

    /// The rows at every number of tasks.
    pub fn rows(&self) -> impl Iterator<Item = &Row> + Clone {
        self.groups.iter().flat_map(|group| &group.rows)
    }

    /// The rows of one entry, by number of tasks.
    pub fn rows_of<'a>(&'a self, entry: &str) -> impl Iterator<Item = &'a Row> {
        self.rows().filter(move |row| row.entry.name == entry)
    }

    /// The names of the entries of these rows, each once, in the order of their first rows.
    pub fn names_where(&self, is_meant: impl Fn(&Row) -> bool) -> Vec<&str> {
        let mut seen = BTreeSet::new();
        let names = self.rows().filter(|row| is_meant(row)).map(|row| row.entry.name.as_str());
        names.filter(|name| seen.insert(*name)).collect()
    }

    /// The metric that entries are ranked by.
    pub fn headline(&self) -> &'static MetricDef {
        metrics::headline(self.shape)
    }

    /// The main memory source.
    pub fn usual_source(&self) -> Option<MemorySource> {
        self.memory_sources.first().map(|count| count.source)
    }

    /// How an entry's footprint grows.
    pub fn growth_of(&self, entry: &str) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.entry.name == entry)
    }
}

/// All entries at one number of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowGroup {
    pub tasks: u64,
    /// Rows with values, by kind or all together, by headline, partial ones last. Then rows without values.
    pub rows: Vec<Row>,
}

impl RowGroup {
    /// The row of an entry: there is at most one.
    pub fn row(&self, entry: &str) -> Option<&Row> {
        self.rows.iter().find(|row| row.entry.name == entry)
    }
}

/// Facts about an entry, the same in every row.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(rename = "Entry"))]
pub struct EntryInfo {
    /// `runtime/entry`.
    pub name: String,
    pub title: String,
    pub kind: Kind,
    pub style: Style,
    /// Chat servers: how a message reaches the room.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<FanOut>,
    /// Whether its tasks run on several CPUs at once.
    pub parallel: bool,
    /// A reference line such as a physical limit: shown, never ranked.
    pub reference: bool,
    /// Why the entry could not be tested yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// Why it lacks the other workloads.
    #[serde(skip)]
    pub omitted: Option<String>,
    /// The version string of its runtime.
    pub version: Option<String>,
    /// The version in tables: `1.26`, or `1.14 (2022)` if support of that series had ended over a year before.
    pub shown_version: Option<String>,
}

impl EntryInfo {
    /// `go/goroutine 1.26`.
    pub fn with_version(&self) -> String {
        let version = self.shown_version.as_ref().map(|version| format!(" {version}"));
        format!("{}{}", self.name, version.unwrap_or_default())
    }

    /// Its title, with the versions that were asked for: `Go goroutines 1.19`, `Rust tokio tokio=1.28`.
    pub fn title_in_version(&self) -> String {
        let asked_for = self.name.split_once('@');
        asked_for.map_or_else(|| self.title.clone(), |(_, versions)| format!("{} {versions}", self.title))
    }

    /// The facts of an entry at the time it was measured.
    pub fn of(facts: &EntryFacts, measured: Timestamp) -> EntryInfo {
        EntryInfo {
            name: facts.name.clone(),
            title: facts.title.clone(),
            kind: facts.kind,
            style: facts.style,
            fan_out: facts.fan_out,
            parallel: facts.parallel,
            reference: facts.reference,
            unverified: facts.unverified.clone(),
            omitted: facts.omitted.clone(),
            version: facts.version.clone(),
            shown_version: shown_version(facts, measured),
        }
    }
}

/// One entry at one N, over its repetitions.
///
/// Values include the repetitions that were ok, or else those that were partial (fewer than N alive).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub entry: EntryInfo,
    pub tasks: u64,
    /// Repetitions recorded.
    pub runs: u32,
    /// Repetitions that were ok.
    pub ok_runs: u32,
    /// `ok`, `2/3 ok`, or how it ended, such as `limit`.
    pub status: String,
    /// Whether it is ranked: some repetition was ok, its memory values are all from the main source, and it is
    /// not a reference.
    pub ranked: bool,
    /// Memory of all kinds while all tasks wait.
    pub footprint_bytes: Option<Spread>,
    /// Kernel memory, a part of the footprint. This and the following values are medians.
    pub kernel_bytes: Option<f64>,
    /// Highest memory of the whole run.
    pub peak_bytes: Option<f64>,
    /// Highest resident memory of any one process.
    pub rss_peak_bytes: Option<f64>,
    /// Growth of the footprint per task, over all numbers of tasks of this entry.
    pub bytes_per_task: Option<f64>,
    /// Fixed cost: the fitted footprint before the first task.
    #[serde(skip)]
    pub base_bytes: Option<f64>,
    /// Whether memory is linear in N: see [`Growth::linear`].
    #[serde(rename = "straight")]
    pub linear: Option<bool>,
    /// Fewest tasks alive at once in a partial repetition; absent if there is none.
    pub short_alive: Option<u64>,
    pub threads: Option<f64>,
    pub launch_s: Option<f64>,
    pub wall_s: Option<f64>,
    /// User and system time of all processes.
    pub cpu_s: Option<f64>,
    /// The metric that it is ranked by: see [`Report::headline`].
    #[serde(skip)]
    pub headline: Option<Spread>,
    /// The headline ÷ the smallest ranked one at this N, of the same kind or of all, according to the report's `rank`.
    pub times_best: Option<f64>,
    pub parts: Option<Parts>,
    /// Whether clients exhausted a CPU in the closed loop, so that the server's capacity may be higher.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client_limited: bool,
    /// CPU and latency of a server over load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_curve: Vec<LoadPoint>,
    /// Spreads over the repetitions, for every metric of a run.
    pub spreads: Spreads,
    pub memory_sources: Vec<MemorySource>,
    /// Those of the runs that its values are of.
    #[serde(skip)]
    pub conditions: RunConditions,
    /// The repetitions that were not ok, by status.
    pub shortfalls: Vec<FailureGroup>,
}

impl Row {
    /// The median of the metric that it is ranked by.
    pub fn median(&self) -> Option<f64> {
        self.headline.map(|spread| spread.median)
    }

    /// Whether the row has values to show.
    pub fn has_figures(&self) -> bool {
        self.headline.is_some() || self.footprint_bytes.is_some() || self.wall_s.is_some()
    }
}

/// The parts of a footprint, in bytes.
///
/// From the repetition with the median footprint, or the mean of the two middle ones, so that they add up to
/// the median footprint.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parts {
    pub anon_bytes: f64,
    pub shmem_bytes: f64,
    pub file_bytes: f64,
    /// Kernel memory: thread stacks. Null if the kernel does not report them.
    pub kernel_stack_bytes: Option<f64>,
    /// Kernel memory: page tables. Null if the kernel does not report them.
    pub page_tables_bytes: Option<f64>,
    /// Kernel memory: slab objects. Null if the kernel does not report them.
    pub slab_bytes: Option<f64>,
    /// Kernel memory: socket buffers. Null if the kernel does not report them.
    pub sock_bytes: Option<f64>,
    /// Other kernel memory.
    pub kernel_other_bytes: f64,
}

/// Spreads over the repetitions that count, by field name, for every metric of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spreads(BTreeMap<&'static str, Option<Spread>>);

impl Spreads {
    /// The spreads of this shape's metrics over these runs.
    pub fn of_runs(fed: &[&Sample], shape: Shape) -> Spreads {
        let runs = metrics::ALL.into_iter().filter(|figure| !figure.per_entry() && figure.is_of(shape));
        let spreads = runs.map(|figure| (figure, Spread::of(&figure.values(fed))));
        let of_these = spreads.filter(|(figure, spread)| !figure.optional || spread.is_some());
        Spreads(of_these.map(|(figure, spread)| (figure.field, spread)).collect())
    }

    /// The spread of a metric; `None` for metrics of a fit.
    pub fn of(&self, figure: &MetricDef) -> Option<Spread> {
        *self.0.get(figure.field)?
    }

    pub fn median(&self, figure: &MetricDef) -> Option<f64> {
        self.of(figure).map(|spread| spread.median)
    }
}

/// Repetitions of a row that failed with the same status.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FailureGroup {
    pub status: Status,
    pub runs: u32,
    /// Fewest tasks alive at once in these runs, if fewer than N.
    pub short_alive: Option<u64>,
    /// Distinct reasons.
    pub reasons: Vec<String>,
    pub limit: Option<LimitHit>,
}

impl FailureGroup {
    /// The reason in one line, as recorded (not sanitized).
    pub fn reason(&self) -> String {
        let mut text = match (self.reasons.first(), &self.limit) {
            (Some(reason), _) => reason.clone(),
            (None, Some(limit)) => format!("{} is {}", limit.name, units::grouped(limit.value)),
            (None, None) => "no reason was recorded".to_owned(),
        };
        if self.reasons.len() > 1 {
            let others = units::counted(self.reasons.len() - 1, "other reason");
            text.push_str(&format!(" (and {others}, see samples.jsonl)"));
        }
        if let Some(lift) = self.limit.as_ref().and_then(|limit| limit.lift.as_deref())
            && !text.contains(lift)
        {
            text.push_str(&format!("; raise it: {lift}"));
        }
        text
    }
}

/// How the footprint of one entry grows with N: `base + tasks * bytes per task`, if it is linear.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Growth {
    pub entry: EntryInfo,
    /// Fixed cost: the line at 0 tasks. Null if no line could be fitted.
    pub base_bytes: Option<f64>,
    /// 95% interval. Null with fewer than two repetitions that have every N, and if memory is not linear.
    pub base_bytes_interval: Option<Interval>,
    pub bytes_per_task: Option<f64>,
    /// 95% interval. Null with fewer than two repetitions that have every N, and if memory is not linear.
    pub bytes_per_task_interval: Option<Interval>,
    /// Bytes per task above those that a task is asked to keep. Absent if the workload does not specify them.
    #[serde(rename = "bytes_beyond", skip_serializing_if = "Option::is_none")]
    pub excess_bytes: Option<f64>,
    /// Whether memory is linear: every median is within 10% of the line. Null with fewer than three N.
    #[serde(rename = "straight")]
    pub linear: Option<bool>,
    /// The N whose median deviates most from the line. Null with fewer than three N.
    pub worst: Option<WorstPoint>,
    /// Bytes per task from each N to the next, ascending.
    pub steps: Vec<Step>,
    /// The runs' footprints, each with its repetition.
    #[serde(skip)]
    pub readings: Vec<(u32, Point)>,
    /// Those of the runs that the line is fitted to.
    #[serde(skip)]
    pub conditions: RunConditions,
    /// Number of runs that the line is fitted to: ok, with all tasks alive, of one memory source.
    pub points: u64,
    /// The numbers of tasks of these runs, ascending.
    pub tasks: Vec<u64>,
}

impl Growth {
    /// Whether memory is nonlinear.
    pub fn is_nonlinear(&self) -> bool {
        self.linear == Some(false)
    }
}

#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Version {
    pub runtime: String,
    pub version: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceCount {
    pub source: MemorySource,
    /// Number of runs that count.
    pub runs: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlateauCount {
    pub from: PlateauFrom,
    /// Number of runs that count.
    pub runs: u64,
    /// Number of these runs in which the number of live tasks is unknown.
    pub alive_unknown: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unavailable {
    pub entry: EntryInfo,
    pub reason: String,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WarningCount {
    pub warning: Warning,
    pub text: &'static str,
    pub runs: u64,
    /// Names of the entries it occurred with, in the plan's order.
    pub entries: Vec<String>,
}
