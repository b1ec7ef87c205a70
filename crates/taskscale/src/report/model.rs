//! What a report says: plain data, built once from a campaign and its samples, shown in several formats.
//!
//! Every figure of every format comes from here. Texts are kept as they were recorded: each format neutralises what
//! its readers could be hurt by. Must not know of formats, files or the command line.

use std::collections::BTreeMap;

use serde::Serialize;

use super::load_curve::LoadPoint;
use super::rank::Rank;
use crate::catalog::{FanOut, Kind, Shape, Style};
use crate::figures::{self, Figure};
use crate::record::{
    By, EntryFacts, Hold, LimitHit, Machine, MemorySource, Part, PlateauFrom, Sample, Status, Timestamp,
    Warning,
};
use crate::stats::{Interval, Line, Spread};
use crate::units;

/// Version of the shape of [`Report`] as JSON. Raised when a field changes its meaning; added fields do not raise it.
pub const REPORT_SCHEMA: u32 = 2;

/// A campaign, summed up.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Report {
    pub schema: u32,
    /// What tells this campaign from others: the name of its folder. Empty where it has none.
    pub campaign: String,
    /// Version of the taskscale that planned the campaign.
    pub taskscale: String,
    #[cfg_attr(test, schemars(with = "String"))]
    pub created_at: Timestamp,
    /// Who measured it; absent where it was never handed in.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub by: Option<By>,
    /// The command line that made the campaign.
    pub command: Vec<String>,
    pub seed: u64,
    pub plan_digest: String,
    pub workload: String,
    /// What the workload was given on top of its defaults.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// On how many CPUs programs were let run; absent where on all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// The workload's shape; `hold` where absent.
    #[serde(skip_serializing_if = "Shape::is_hold")]
    pub shape: Shape,
    /// What one operation is; of the shape `work` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// How many bytes each task was told to hold; absent where the workload says nothing of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub holds_bytes: Option<u64>,
    /// The numbers of tasks, ascending.
    pub tasks: Vec<u64>,
    pub repetitions: u32,
    pub hold: Hold,
    pub machine: Machine,
    /// What each runtime said of its version.
    pub versions: Vec<Version>,
    /// Runs recorded, repeated attempts included.
    pub runs: u64,
    /// Wall-clock time of these runs together, in seconds.
    pub measured_s: f64,
    /// Runs of the plan that are not recorded yet: the campaign was cut off, or is going on.
    pub unmeasured_runs: u64,
    /// Samples of entries or workloads that are not of this campaign; they are left out.
    pub stray_samples: u64,
    /// Among whom rows are ranked.
    pub rank: Rank,
    /// The figures that tables show beside the one that entries are ranked by; empty for those that suit the workload.
    #[serde(skip)]
    #[cfg_attr(test, schemars(skip))]
    pub shown: Vec<&'static Figure>,
    /// One group per number of tasks, ascending. The page has its rows in another form.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(skip))]
    pub groups: Vec<Group>,
    /// How the footprint of each entry grows; by kind, unless all are ranked together, the cheapest task first.
    pub growth: Vec<Growth>,
    /// Where memory figures come from, the most usual source first. More than one: not comparable to the byte.
    pub memory_sources: Vec<SourceCount>,
    /// How the plateaus of the runs that feed figures were known, the most usual way first. Empty for campaigns of
    /// before this was recorded.
    pub plateaus: Vec<PlateauCount>,
    /// Entries that could not run on this machine; they have no rows.
    pub unavailable: Vec<Unavailable>,
    pub warnings: Vec<WarningCount>,
}

impl Report {
    /// The report under a campaign's name.
    #[must_use]
    pub fn named(self, campaign: impl Into<String>) -> Report {
        Report { campaign: campaign.into(), ..self }
    }

    /// The report with other figures in its tables.
    #[must_use]
    pub fn showing(self, figures: &[&'static Figure]) -> Report {
        Report { shown: figures.to_vec(), ..self }
    }

    /// Which part of its campaign it is of.
    pub fn part(&self) -> Part {
        Part { workload: self.workload.clone(), params: self.params.clone(), cpus: self.cpus }
    }

    /// The figure that entries are ranked by.
    pub fn headline(&self) -> &'static Figure {
        figures::headline(self.shape)
    }
}

/// All entries at one number of tasks.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Group {
    pub tasks: u64,
    /// Those with figures, by kind unless all are ranked together: by footprint, the smallest first, then those that
    /// fell short. Last those that failed.
    pub rows: Vec<Row>,
}

/// What an entry is: the same in every row of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Entry {
    /// `runtime/entry`.
    pub name: String,
    pub title: String,
    pub kind: Kind,
    pub style: Style,
    /// Of a chat server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fan_out: Option<FanOut>,
    /// Whether its tasks run on several CPUs at once.
    pub parallel: bool,
    /// A reference line such as a physical limit: shown, never ranked.
    pub reference: bool,
    /// Why the entry could not be tried by those who wrote it; absent where it was.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    /// What its runtime said of its version.
    pub version: Option<String>,
}

impl From<&EntryFacts> for Entry {
    fn from(facts: &EntryFacts) -> Entry {
        Entry {
            name: facts.name.clone(),
            title: facts.title.clone(),
            kind: facts.kind,
            style: facts.style,
            fan_out: facts.fan_out,
            parallel: facts.parallel,
            reference: facts.reference,
            unverified: facts.unverified.clone(),
            version: facts.version.clone(),
        }
    }
}

/// One entry at one number of tasks, over its repetitions.
///
/// Figures are of the repetitions that were ok; where none was, of those that were partial (fewer than N alive).
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    pub entry: Entry,
    pub tasks: u64,
    /// Repetitions recorded.
    pub runs: u32,
    /// Repetitions that were ok.
    pub ok_runs: u32,
    /// `ok`, `2/3 ok`, or what became of it, such as `limit`.
    pub status: String,
    /// Whether it takes part in the comparison: some repetition was ok, its memory figures are all of the campaign's
    /// most usual source, and it is not a reference.
    pub ranked: bool,
    /// Memory of all kinds while all tasks wait.
    pub footprint_bytes: Option<Spread>,
    /// Part of the footprint that the kernel holds. This and the following figures are medians.
    pub kernel_bytes: Option<f64>,
    /// Highest memory of the whole run.
    pub peak_bytes: Option<f64>,
    /// Highest resident memory of any one process.
    pub rss_peak_bytes: Option<f64>,
    /// Growth of the footprint per task, over all numbers of tasks of this entry.
    pub bytes_per_task: Option<f64>,
    /// Whether its footprints lie on that line: see [`Growth::straight`].
    pub straight: Option<bool>,
    /// Fewest tasks alive at once in a repetition that fell short; absent where none did.
    pub short_alive: Option<u64>,
    pub threads: Option<f64>,
    pub launch_s: Option<f64>,
    pub wall_s: Option<f64>,
    /// User and system time of all processes.
    pub cpu_s: Option<f64>,
    /// What it is ranked by: see [`Report::headline`].
    #[serde(skip)]
    pub headline: Option<Spread>,
    /// The headline as a multiple of the smallest that is ranked at this number of tasks, among those of its kind or
    /// among all, as the report's `rank` says.
    pub times_best: Option<f64>,
    /// What the footprint is made of.
    pub parts: Option<Parts>,
    /// Clients used up a CPU in the closed loop: the server may be able to do more messages per second.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub client_limited: bool,
    /// Of a server: CPU and latency over load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_curve: Vec<LoadPoint>,
    /// Over the repetitions, the figures that stand above as medians alone.
    pub spreads: Spreads,
    /// Where the memory figures of this row come from.
    pub memory_sources: Vec<MemorySource>,
    /// The repetitions that were not ok, by status.
    pub shortfalls: Vec<Shortfall>,
}

impl Row {
    /// Whether the row has figures to show.
    pub fn has_figures(&self) -> bool {
        self.headline.is_some() || self.footprint_bytes.is_some() || self.wall_s.is_some()
    }
}

/// What a footprint is made of, in bytes.
///
/// Of the repetition whose footprint is the median; the mean of the two in the middle where their number is even. So
/// the parts sum up to the median of the footprint, which medians of each part would not.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parts {
    pub anon_bytes: f64,
    pub shmem_bytes: f64,
    pub file_bytes: f64,
    /// Items of kernel memory: absent where the kernel does not tell them.
    pub kernel_stack_bytes: Option<f64>,
    pub page_tables_bytes: Option<f64>,
    pub slab_bytes: Option<f64>,
    pub sock_bytes: Option<f64>,
    /// Kernel memory that is none of the items above.
    pub kernel_other_bytes: f64,
}

/// Spreads over the repetitions that feed a row's figures, by the names of their fields: of every figure of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Spreads(BTreeMap<&'static str, Option<Spread>>);

impl Spreads {
    /// Of runs.
    pub fn of_runs(fed: &[&Sample], shape: Shape) -> Spreads {
        let runs = figures::ALL.into_iter().filter(|figure| !figure.of_line() && figure.is_of(shape));
        let spreads = runs.map(|figure| (figure, Spread::of(&figure.values(fed))));
        let of_these = spreads.filter(|(figure, spread)| !figure.of_some || spread.is_some());
        Spreads(of_these.map(|(figure, spread)| (figure.field, spread)).collect())
    }

    /// None for a figure of a line.
    pub fn of(&self, figure: &Figure) -> Option<Spread> {
        *self.0.get(figure.field)?
    }

    pub fn median(&self, figure: &Figure) -> Option<f64> {
        self.of(figure).map(|spread| spread.median)
    }
}

/// Repetitions of a row that ended alike and not well.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Shortfall {
    pub status: Status,
    pub runs: u32,
    /// Fewest tasks alive at once in these runs, where that is fewer than N.
    pub short_alive: Option<u64>,
    /// Why, each reason once.
    pub reasons: Vec<String>,
    pub limit: Option<LimitHit>,
}

impl Shortfall {
    /// Why, in one line, as recorded (not neutralised).
    pub fn reason(&self) -> String {
        let mut text = match (self.reasons.first(), &self.limit) {
            (Some(reason), _) => reason.clone(),
            (None, Some(limit)) => {
                format!("{} is {}", limit.name, units::grouped(limit.value))
            }
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

/// How the footprint of one entry grows with the number of tasks: `base + tasks * bytes per task`, where that is so.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Growth {
    pub entry: Entry,
    /// Footprint of the program before its first task; absent where fewer than two numbers of tasks were ok.
    pub base_bytes: Option<f64>,
    /// 95% interval; absent with fewer than two repetitions that have every N, and where memory is not linear.
    pub base_bytes_interval: Option<Interval>,
    pub bytes_per_task: Option<f64>,
    /// 95% interval; absent with fewer than two repetitions that have every N, and where memory is not linear.
    pub bytes_per_task_interval: Option<Interval>,
    /// What a task takes beyond the bytes that it was told to hold; absent where the workload says nothing of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_beyond: Option<f64>,
    /// Whether the medians lie on the line, each within a tenth of it; absent where two numbers of tasks cannot tell.
    pub straight: Option<bool>,
    /// The number of tasks whose median lies farthest off the line; absent likewise.
    pub worst: Option<WorstPoint>,
    /// From each number of tasks to the next: what is known where the line is none.
    pub steps: Vec<Step>,
    /// The lines of single repetitions: what the intervals are made of.
    #[serde(skip)]
    pub repetitions: Vec<Line>,
    /// Runs that the line goes through: those that were ok with all tasks alive, of one memory source.
    pub points: u64,
    /// The numbers of tasks of these runs, ascending.
    pub tasks: Vec<u64>,
}

impl Growth {
    /// Whether what was measured says that the line is none.
    pub fn bent(&self) -> bool {
        self.straight == Some(false)
    }
}

/// One number of tasks against the line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstPoint {
    pub tasks: u64,
    /// The median of its runs.
    pub footprint_bytes: f64,
    /// What the line says.
    pub line_bytes: f64,
    /// By which share of the line the median lies above it, or, negative, below; absent of a line not above zero.
    pub off: Option<f64>,
}

/// Growth from the median at one number of tasks to that at the next.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    pub from_tasks: u64,
    pub to_tasks: u64,
    pub bytes_per_task: f64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Version {
    pub runtime: String,
    pub version: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SourceCount {
    pub source: MemorySource,
    /// Runs that feed figures.
    pub runs: u64,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PlateauCount {
    pub from: PlateauFrom,
    /// Runs that feed figures.
    pub runs: u64,
    /// Of these, runs in which nobody said how many tasks were alive.
    pub alive_unknown: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Unavailable {
    pub entry: Entry,
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
