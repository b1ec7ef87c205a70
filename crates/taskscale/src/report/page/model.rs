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
use super::tables::{ChartPart, PageKind, PageMetric, SectionTexts};
use crate::explain::Explanation;
use crate::record::{EntryFacts, MemorySource, Status, Warning};

/// Version of the shape of the page's data. Raised when a field changes its meaning; added fields do not raise it.
pub const PAGE_SCHEMA: u32 = 5;

/// The data that the page shows at first. Details of an entry are in separate blocks.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageData {
    pub schema: u32,
    /// Version of the taskscale that made the page.
    pub taskscale: String,
    /// Facts about entries that are the same in all campaigns and series.
    pub entries: Vec<EntryFacts>,
    pub metrics: Vec<PageMetric>,
    pub kinds: Vec<PageKind>,
    /// The texts in place of a multiple of the best, and in place of a rank.
    pub standings: BTreeMap<Standing, [&'static str; 2]>,
    /// The name of the best, which values are compared with.
    pub best: BTreeMap<Rank, &'static str>,
    /// Multiples of the best at which the shade of a cell gets darker.
    pub heat_steps: [f64; 5],
    pub about: SectionTexts,
    /// Spreads below this share of the value are not shown.
    pub shown_spread: f64,
    /// For runs without the metric.
    pub no_value: PageGap,
    /// For entries without a run at this N.
    pub not_measured: PageGap,
    /// For entries without a fitted line.
    pub no_fit: PageGap,
    /// For entries without a program for the series.
    pub no_program: PageGap,
    /// The parts of a footprint.
    pub parts: Vec<ChartPart>,
    /// The sources of the sizes of a task's parts.
    pub part_sources: Vec<ChartPart>,
    /// The phases of a run.
    pub phases: Vec<ChartPart>,
    /// Columns of the table of all values.
    pub columns: Vec<PageColumn>,
    /// Columns of the table of an entry's runs.
    pub sample_fields: Vec<SampleField>,
    /// The rows of the overview of each results folder. Empty for results of one workload.
    pub overviews: Vec<Vec<OverviewRows>>,
    /// The campaigns in the given order, once per series. Others of a series are compared with its first.
    pub campaigns: Vec<PageCampaign>,
    /// What must be known of changes. The first is of all of them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub change_notes: Vec<String>,
    /// A chart for each series with entries in several versions.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub versions: Vec<VersionsChart>,
    /// Bytes of tasks by part, as `taskscale explain` found them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub anatomy: Vec<Explanation>,
    /// Values from other publications, shown as markers.
    pub published: Vec<Published>,
    /// The texts of programs, each once. In a separate block.
    #[serde(skip)]
    pub sources: Vec<String>,
}

/// One series of a campaign: its report, with `rows` in place of `groups`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageCampaign {
    #[serde(flatten)]
    pub report: Report,
    /// The series: workload, parameters and CPUs. Campaigns are compared within it.
    pub part: String,
    /// What distinguishes it from other campaigns of its series: A, B and so on.
    pub letter: String,
    /// One line: what was measured, where and when.
    pub context: String,
    /// How tasks waited, or what an operation is.
    pub scenario: String,
    /// Names of the metrics to compare entries by, in the order of a row's `figures`. The first is the
    /// headline.
    pub metrics: Vec<&'static str>,
    /// For each metric, how it is shown per task. Null if it is not.
    pub per_task: Vec<Option<PerTaskShown>>,
    /// The results folder that it is a series of: a position in the page's `overviews`.
    pub results: usize,
    /// The N that represents the series in an overview.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub overview_tasks: Option<u64>,
    /// The answer at each N, by kind and for all kinds together.
    pub headlines: Vec<Headline>,
    /// The order of entries at each N by each metric.
    pub rankings: Vec<PageRanking>,
    /// Names of all entries. If not all lines fit, the scaling chart shows the first ones.
    pub lines: Vec<String>,
    /// Name and text of each fact.
    pub facts: Vec<(&'static str, String)>,
    /// The command that was run, and one that repeats it.
    pub commands: [String; 2],
    /// The notes below the tables.
    pub notes: Vec<String>,
    /// In the catalog's order.
    pub entries: Vec<PageEntry>,
    /// One per entry and N that was run, in the order of the report: by N, then as ranked.
    pub rows: Vec<PageRow>,
    /// In a separate block.
    #[serde(skip)]
    pub samples: Samples,
}

/// The first rows of an overview.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct OverviewRows {
    pub rank: Rank,
    /// The selected N. Absent for the N that represents each series.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tasks: Option<u64>,
    /// Names of entries with two or more series, in the order of the rows. Others are shown on request.
    pub order: Vec<String>,
}

/// How entries compare at one N by one metric.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageRanking {
    pub tasks: u64,
    pub metric: &'static str,
    /// Positions of the entries with a value, best first. Those with fewer than N alive are last.
    pub order: Vec<usize>,
    /// The best ranked value of each kind, and of all as `all`. Only values above 0.
    pub best: BTreeMap<&'static str, f64>,
}

/// How a value is shown per task: by the slope of the line, or divided by N as bytes or nanoseconds.
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

/// By metric, how values differ from those of the first campaign of the series.
pub type PageChanges = BTreeMap<&'static str, PageChange>;

/// A change such as `+4.7%`, empty if the values cannot be compared, and the position of its note in `change_notes`.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageChange(pub String, pub usize);

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
    /// Name, value, and interval or explanation, which may be empty.
    pub facts: Vec<(&'static str, String, String)>,
}

/// An entry's program for one series of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageEntry {
    /// Index into the page's `entries`.
    pub entry: usize,
    /// Index of its language's color, the same in every chart.
    pub color: usize,
    /// The version as tables show it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shown_version: Option<String>,
    /// Properties besides kind and style. The first two: whether it runs on all CPUs, and whether a task has a
    /// stack.
    pub tags: Vec<String>,
    /// Why it could not run on this machine.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<PageGap>,
    /// Short labels of what is unusual for its kind.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub badges: Vec<String>,
    /// Absent for work, and without a fitted line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scaling: Option<Scaling>,
    /// Of the metrics of whole entries.
    #[serde(skip_serializing_if = "PageChanges::is_empty")]
    pub changes: PageChanges,
    /// The commands that build it, as written in the manifest.
    pub build: Vec<Vec<String>>,
    /// The command that runs it, as written in the manifest, without the arguments that taskscale appends.
    pub run: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files of its program. Empty if unknown.
    pub sources: Vec<PageFile>,
    /// Whether the sources were recorded with the results. If not, they are the catalog's at the time of the
    /// page.
    pub sources_recorded: bool,
}

/// A file of a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageFile {
    /// Path inside the runtime's folder.
    pub path: String,
    /// Position in the block of sources. Programs may share files.
    pub text: usize,
}

/// Median, smallest and largest reading, median absolute deviation, and number of readings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure(pub f64, pub f64, pub f64, pub f64, pub usize);

/// One entry at one N, over its repetitions.
///
/// Values are of the repetitions that were ok. If none was, of those that were partial (fewer than N alive).
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
    /// `ok`, `2/3 ok`, or how the runs ended, such as `limit`.
    pub status: String,
    /// Why its values are not ranked. Absent if they are.
    #[serde(skip_serializing_if = "Standing::is_ranked")]
    pub standing: Standing,
    /// Metrics that the row is not ranked by, although it is by others.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub exceptions: Vec<PageException>,
    /// Caveats on its values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub remarks: Vec<String>,
    /// Why values are missing, unless its runs just lack the metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub gap: Option<PageGap>,
    pub memory_sources: Vec<MemorySource>,
    /// Values over its repetitions, in the order of the campaign's `metrics`.
    pub figures: Vec<Option<Figure>>,
    #[serde(skip_serializing_if = "PageChanges::is_empty")]
    pub changes: PageChanges,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// Seconds of launch, plateau and drain in the run with the median wall time, or the mean of the two middle
    /// runs. They add up to the median.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<[f64; 3]>,
    /// CPU seconds by phase in the run with the median CPU time, or the mean of the two middle runs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<[f64; 3]>,
    /// Servers: CPU and latency over load.
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
    /// Text before the values, such as `≥ `.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub sign: &'static str,
}

/// Repetitions of a row that failed with the same status.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageShortfall {
    pub status: Status,
    pub runs: u32,
    pub reason: String,
}

/// Every run, repeated attempts included: one list per field, with one item per run, in the order of the
/// record. Texts that recur are positions in `texts`.
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
    /// Position in `texts`, as are `reason`, `stderr_tail` and `metrics`.
    pub version: Vec<Option<u32>>,
    pub reason: Vec<Option<u32>>,
    pub stderr_tail: Vec<Option<u32>>,
    pub metrics: Vec<Option<u32>>,
    pub warnings: Vec<Vec<Warning>>,
    pub memory_source: Vec<MemorySource>,
    /// The other fields of a sample by name. Nested fields have a dot: `memory.peak_bytes`. A field that no
    /// sample has is absent.
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
    /// Short name, such as `2024-take2`.
    pub id: String,
    pub source: String,
    /// The workload in its authors' words.
    pub workload: String,
    /// The corresponding workload here.
    pub our_workload: String,
    pub hardware: String,
    pub os: String,
    /// Caveats on its values.
    pub note: String,
    /// Names of the metrics that the values are comparable with.
    pub metrics: Vec<&'static str>,
    pub figures: Vec<PublishedFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// The corresponding entry here.
    pub entry: String,
    /// The runtime's name in the publication.
    pub runtime: String,
    pub version: String,
    pub tasks: u64,
    pub memory_bytes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
}

/// A chart over versions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct VersionsChart {
    pub svg: String,
    /// Alternative text.
    pub text: String,
}
