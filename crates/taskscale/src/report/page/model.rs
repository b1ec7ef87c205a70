//! The data of the page, with a published schema, embedded as JSON.
//!
//! A campaign is its [`Report`], as in every other format. This adds what only the page shows (phases, programs,
//! published values and every sample), and rows in a shorter form. Unknown values are absent or null.

use std::collections::BTreeMap;

use serde::Serialize;

use super::super::headline::Headline;
use super::super::load_curve::LoadPoint;
use super::super::model::{Parts, Rank, Report};
use super::super::rank::Standing;
use super::columns::{PageColumn, SampleField};
use super::tables::{ChartPart, PageKind, PageMetric};
use crate::explain::Explanation;
use crate::record::{EntryFacts, MemorySource, Status, Warning};

/// Version of the shape of the page's data. Raised when a field changes its meaning; added fields do not raise it.
pub const PAGE_SCHEMA: u32 = 4;

/// The data that the page shows at first. Details of an entry are in separate blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageData {
    pub schema: u32,
    /// Version of the taskscale that made the page.
    pub taskscale: String,
    /// Facts on entries that do not depend on campaign or series.
    pub entries: Vec<EntryFacts>,
    pub metrics: Vec<PageMetric>,
    pub kinds: Vec<PageKind>,
    /// What stands in place of a multiple, and in place of a place.
    pub standings: BTreeMap<Standing, [&'static str; 2]>,
    /// What multiples are of.
    pub best: BTreeMap<Rank, &'static str>,
    /// Multiples of the best from which on the shade of a cell is darker.
    pub heat_steps: [f64; 5],
    /// A smaller deviation of repetitions, as a share, is not shown.
    pub shown_spread: f64,
    /// Of runs without a metric, and of entries without a run at some N, without a line, and without a program for a
    /// series.
    pub no_value: PageGap,
    pub not_measured: PageGap,
    pub no_fit: PageGap,
    pub no_program: PageGap,
    /// What a footprint is made of.
    pub parts: Vec<ChartPart>,
    /// Where parts of a task's memory are known from.
    pub part_sources: Vec<ChartPart>,
    /// What a run consists of.
    pub phases: Vec<ChartPart>,
    /// Of the table of all values.
    pub columns: Vec<PageColumn>,
    /// Of the table of an entry's runs.
    pub sample_fields: Vec<SampleField>,
    /// The campaigns in the given order, once for each series. The first of a series is the one that others are
    /// compared with.
    pub campaigns: Vec<PageCampaign>,
    /// A chart for each series with entries in several versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionsChart>,
    /// Where the bytes of tasks are, as `explain` found them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anatomy: Vec<Explanation>,
    /// Values from other publications, shown as markers.
    pub published: Vec<Published>,
    /// The texts of programs, each once. In a block of its own.
    #[serde(skip)]
    pub sources: Vec<String>,
}

/// One campaign, or one series of it: its report, with rows in place of groups.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageCampaign {
    #[serde(flatten)]
    pub report: Report,
    /// Workload, parameters and CPUs in a few words: campaigns are compared by series.
    pub part: String,
    /// What was measured where and when, in a line.
    pub context: String,
    /// How tasks waited, or what an operation is.
    pub scenario: String,
    /// Names of the metrics that entries are compared by, in the order of a row's figures; the first is what they are
    /// ranked by.
    pub metrics: Vec<&'static str>,
    /// What of each is shown per task.
    pub per_task: Vec<Option<PerTaskShown>>,
    /// The N that stands for the series in an overview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview_tasks: Option<u64>,
    /// The answer at each N, of kinds and of all together.
    pub headlines: Vec<Headline>,
    /// The order of entries at each N by each metric.
    pub rankings: Vec<PageRanking>,
    /// Name and text of each fact.
    pub facts: Vec<(&'static str, String)>,
    /// The command that was run, and one that repeats it.
    pub commands: [String; 2],
    /// The notes below the tables.
    pub notes: Vec<String>,
    /// In the catalog's order.
    pub entries: Vec<PageEntry>,
    /// One for each entry and number of tasks that was run, in the order of the report: by tasks, then as ranked.
    pub rows: Vec<PageRow>,
    /// In a block of its own.
    #[serde(skip)]
    pub samples: Samples,
}

/// How entries compare at one N by one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageRanking {
    pub tasks: u64,
    pub metric: &'static str,
    /// Positions of the entries with a value, the best first; those with fewer than N alive come last.
    pub order: Vec<usize>,
    /// The best ranked value of each kind, and of `all`.
    pub best: BTreeMap<&'static str, f64>,
}

/// The part of a value that one task takes: the slope of the line, or a share of the bytes or of the time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PerTaskShown {
    Slope,
    BytesPerTask,
    Nanoseconds,
}

/// Why there is no value, in a word or two and in a sentence.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageGap(pub String, pub String);

/// How the footprint of an entry grows, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Scaling {
    /// Bytes per task and fixed cost, marked if memory is not linear.
    pub slope: String,
    pub base: String,
    /// The largest deviation from the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deviation: Option<String>,
    /// Why memory is not linear.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub nonlinear: Option<String>,
    /// Name, value and interval or explanation.
    pub facts: Vec<(&'static str, String, String)>,
}

/// An entry's program for one series of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageEntry {
    /// Index into the page's `entries`.
    pub entry: usize,
    /// The color of its language, the same in every picture.
    pub colour: usize,
    /// The version as tables have it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_version: Option<String>,
    /// What it is besides its kind and style; first of all whether it runs on all CPUs.
    pub tags: Vec<String>,
    /// Why it could not run on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<PageGap>,
    /// What distinguishes it from a usual one of its kind, in short.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub badges: Vec<String>,
    /// Absent for work, and where there is no line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// The commands that build it, as written in the manifest.
    pub build: Vec<Vec<String>>,
    /// The command that runs it, likewise, without the arguments that taskscale appends.
    pub run: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files of its program; empty where unknown.
    pub sources: Vec<PageFile>,
    /// Whether the sources are those that were measured, or else the catalog's when the page was made.
    pub sources_recorded: bool,
}

/// A file of a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageFile {
    /// Inside the runtime's folder.
    pub path: String,
    /// Position in the block of sources: programs share files.
    pub text: usize,
}

/// Median, smallest and largest reading, median absolute deviation, and how many readings there were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure(pub f64, pub f64, pub f64, pub f64, pub usize);

/// One entry at one N, over its repetitions.
///
/// Values include the repetitions that were ok, or else those that were partial (fewer than N alive).
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageRow {
    /// Position in `entries`.
    pub entry: usize,
    pub tasks: u64,
    /// Repetitions recorded.
    pub runs: u32,
    /// Repetitions that were ok.
    pub ok_runs: u32,
    /// `ok`, `2/3 ok`, or how it ended, such as `limit`.
    pub status: String,
    /// Why its values do not take part in the comparison.
    #[serde(skip_serializing_if = "Standing::is_ranked")]
    pub standing: Standing,
    /// The metrics whose values do not.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<PageException>,
    /// What a reader of any of its values must know.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why it lacks figures, where that is not for lack of the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<PageGap>,
    pub memory_sources: Vec<MemorySource>,
    /// Over its repetitions, in the order of the campaign's `metrics`.
    pub figures: Vec<Option<Figure>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// Seconds of launch, plateau and drain in the run with the median wall time (the mean of the two middle ones):
    /// they add up to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<[f64; 3]>,
    /// CPU time by phase, of the run with the median CPU time, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<[f64; 3]>,
    /// Of a server: CPU and latency over load.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub load_curve: Vec<LoadPoint>,
    /// The repetitions that were not ok, by status.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub shortfalls: Vec<PageShortfall>,
}

/// Metrics that a row is not ranked by, and why.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageException {
    pub standing: Standing,
    pub metrics: Vec<&'static str>,
    pub reason: String,
    /// Before their values.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub sign: &'static str,
}

/// Repetitions of a row that ended alike and not well.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageShortfall {
    pub status: Status,
    pub runs: u32,
    pub reason: String,
}

/// Every single run, repeated attempts included: one list for each field, all equally long, in the order of the record.
/// A field that no sample has is left out. Texts that recur are positions in `texts`.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Samples {
    pub count: usize,
    /// Position in `entries`.
    pub entry: Vec<u32>,
    pub tasks: Vec<u64>,
    pub repetition: Vec<u32>,
    pub attempt: Vec<u32>,
    pub status: Vec<Status>,
    /// Seconds since 1970 in UTC.
    pub started_at: Vec<u64>,
    pub hold_s: Vec<f64>,
    /// Position in `commands`: the exact command line.
    pub command: Vec<u32>,
    /// Position in `texts`, as for all that follow until `warnings`.
    pub version: Vec<Option<u32>>,
    pub reason: Vec<Option<u32>>,
    pub stderr_tail: Vec<Option<u32>>,
    pub metrics: Vec<Option<u32>>,
    pub warnings: Vec<Vec<Warning>>,
    pub memory_source: Vec<MemorySource>,
    /// The other fields of a sample by their names, those of `time`, `cpu`, `work`, `memory` and `plateau` after a dot:
    /// `memory.peak_bytes`.
    // Unknown values are NaN, half the size of an option, and null in JSON.
    #[cfg_attr(test, schemars(with = "BTreeMap<&'static str, Vec<Option<f64>>>"))]
    pub numbers: BTreeMap<&'static str, Vec<f64>>,
    pub commands: Vec<Vec<String>>,
    pub texts: Vec<String>,
}

/// Values from another publication.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Published {
    /// Short name: `2024-take2`.
    pub id: String,
    pub source: String,
    /// As its authors put it.
    pub workload: String,
    /// The workload that corresponds to it here.
    pub our_workload: String,
    pub hardware: String,
    pub os: String,
    /// What a reader of its values must know.
    pub note: String,
    /// Names of the metrics that they may stand beside.
    pub metrics: Vec<&'static str>,
    pub figures: Vec<PublishedFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// The entry that corresponds to it here.
    pub entry: String,
    /// As its authors call it.
    pub runtime: String,
    pub version: String,
    pub tasks: u64,
    pub memory_bytes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}

/// A chart over versions, drawn.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionsChart {
    pub svg: String,
    /// For those who cannot see it.
    pub text: String,
}
