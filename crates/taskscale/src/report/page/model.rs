//! What the page knows: plain data with a published schema, in the page as JSON.
//!
//! Figures come from the same [`Report`](super::super::Report) as every other format; this adds what only the page
//! shows: parts of the footprint, phases, sources, published figures and every single sample. Unknown is absent.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::catalog::{Kind, Shape, Style};
use crate::record::{Hold, Machine, MemorySource, Status, Warning};
use crate::stats::{Interval, Spread};

/// Version of the shape of the page's data. Raised when a field changes its meaning; added fields do not raise it.
pub const PAGE_SCHEMA: u32 = 2;

/// All that a page shows at first. What only the details of an entry need stands apart: [`PageDetails`].
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageData {
    pub schema: u32,
    /// Version of the taskscale that made the page.
    pub taskscale: String,
    /// One or more, in the order in which they were given, a campaign of several parts once for each; the first of a
    /// part is the one that others of that part are compared with.
    pub campaigns: Vec<PageCampaign>,
    /// Figures that others published, shown as marks.
    pub published: Vec<Published>,
}

/// One campaign, or one part of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageCampaign {
    /// What tells it from the others on this page.
    pub label: String,
    /// Version of the taskscale that planned it.
    pub taskscale: String,
    #[cfg_attr(test, schemars(with = "String"))]
    pub created_at: jiff::Timestamp,
    /// The command that made it, quoted for a shell.
    pub command: String,
    /// As text: it may be larger than what a JSON reader keeps exactly.
    pub seed: String,
    pub plan_digest: String,
    pub workload: String,
    /// Workload, parameters and CPUs in a few words: campaigns are compared part by part.
    pub part: String,
    /// The workload's shape.
    pub shape: Shape,
    /// What one operation is; of the shape `work` only.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operation: Option<String>,
    /// The numbers of tasks, ascending.
    pub tasks: Vec<u64>,
    pub repetitions: u32,
    pub hold: Hold,
    pub machine: Machine,
    /// Runs recorded, repeated attempts included.
    pub runs: u64,
    /// Wall-clock time of these runs together.
    pub measured_s: f64,
    /// Runs of the plan that are not recorded yet.
    pub unmeasured_runs: u64,
    /// What a reader must know to read the figures right.
    pub notes: Vec<String>,
    /// Where memory figures come from, the most usual source first.
    pub memory_sources: Vec<PageSource>,
    /// What the warnings of its samples mean, each once.
    pub warnings: Vec<PageWarning>,
    /// In the catalogue's order.
    pub entries: Vec<PageEntry>,
    /// One for each entry and number of tasks that was run, in the order of the report: by tasks, then footprint.
    pub rows: Vec<PageRow>,
    /// In a block of its own.
    #[serde(skip)]
    pub details: PageDetails,
}

/// What only the details of an entry show, of one campaign. A page holds it apart from its other data, as it is read
/// when somebody asks for it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageDetails {
    /// The texts of sources, each once.
    pub source_texts: Vec<String>,
    pub samples: Samples,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageSource {
    pub source: MemorySource,
    /// Runs that feed figures.
    pub runs: u64,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageWarning {
    pub warning: Warning,
    pub text: String,
    pub runs: u64,
}

/// What is known of one entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageEntry {
    /// `runtime/entry`.
    pub name: String,
    pub title: String,
    pub runtime: String,
    pub runtime_title: String,
    pub url: String,
    pub kind: Kind,
    /// Whether a task has a stack of its own.
    pub stackful: bool,
    /// Whether its tasks run on several CPUs at once.
    pub parallel: bool,
    pub style: Style,
    /// Shown, never ranked.
    pub reference: bool,
    /// Measured by the posts as well.
    pub posts: bool,
    /// Why nobody could check it yet.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unverified: Option<String>,
    pub why: String,
    pub notes: Vec<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    /// Why it could not run.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub unavailable: Option<String>,
    /// The commands that build it, quoted for a shell, as written in the manifest.
    pub build: Vec<String>,
    /// The command that runs it, likewise, less the arguments that taskscale appends.
    pub run: String,
    pub env: BTreeMap<String, String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub digest: Option<String>,
    /// The files of its program; empty where they are not known.
    pub sources: Vec<PageFile>,
    /// Whether the sources are those that were measured. Else they are the catalogue's when the page was made.
    pub sources_recorded: bool,
    /// The line through its footprints.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<PageGrowth>,
}

/// A file of a program.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageFile {
    /// Inside the runtime's folder.
    pub path: String,
    /// Position in `source_texts` of the campaign's details: twins share their program.
    pub text: usize,
}

/// How the footprint grows: `base + tasks * bytes per task`, with 95 % intervals where there were repetitions and the
/// line is one.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageGrowth {
    pub base_bytes: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base_bytes_interval: Option<Bounds>,
    pub bytes_per_task: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bytes_per_task_interval: Option<Bounds>,
    /// Whether all medians lie within a tenth of the line; absent where two numbers of tasks cannot tell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub straight: Option<bool>,
    /// The number of tasks whose median lies farthest off the line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_tasks: Option<u64>,
    /// By which share of the line it lies above it, or, negative, below; absent of a line not above zero there.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub worst_off: Option<f64>,
    /// The numbers of tasks that the line goes through.
    pub tasks: Vec<u64>,
    /// What a task more took from each of these numbers to the next.
    pub steps: Vec<f64>,
}

/// The lower and the upper bound of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Bounds(pub f64, pub f64);

impl From<Interval> for Bounds {
    fn from(interval: Interval) -> Bounds {
        Bounds(whole(interval.low), whole(interval.high))
    }
}

/// Median, smallest and largest reading, median absolute deviation, and how many readings there were.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figure(pub f64, pub f64, pub f64, pub f64, pub u64);

impl From<Spread> for Figure {
    fn from(spread: Spread) -> Figure {
        let Spread { median, min, max, mad, readings } = spread;
        Figure(brief(median), brief(min), brief(max), brief(mad), readings as u64)
    }
}

/// One entry at one number of tasks, over its repetitions.
///
/// Figures are of the repetitions that were ok; where none was, of those that were partial (fewer than N alive).
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
    /// `ok`, `2/3 ok`, or what became of it, such as `limit`.
    pub status: String,
    /// Whether its memory figures take part in the comparison.
    pub ranked: bool,
    /// Fewest tasks alive at once in a repetition that fell short.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub short_alive: Option<u64>,
    pub memory_sources: Vec<MemorySource>,
    pub figures: Figures,
    /// Of the run with the median footprint (the mean of the two middle ones): they add up to it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub parts: Option<Parts>,
    /// Of the run with the median wall time, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time: Option<Phases>,
    /// CPU time by phase, of the run with the median CPU time, likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu: Option<Phases>,
    /// The repetitions that were not ok, by status.
    pub shortfalls: Vec<PageShortfall>,
    /// Warnings of its samples, each once.
    pub warnings: Vec<Warning>,
}

/// Bytes and seconds over the repetitions of a row.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Figures {
    #[serde(skip_serializing_if = "Option::is_none")]
    pub footprint_bytes: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kernel_bytes: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rss_peak_bytes: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<Figure>,
    /// User and system time of all processes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<Figure>,
    /// Of work: what an operation takes in time and CPU time, in nanoseconds, and how many a second has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub wall_ns_per_op: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_ns_per_op: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub ops_per_s: Option<Figure>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<Figure>,
}

/// What a footprint is made of.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Parts {
    pub anon_bytes: f64,
    pub shmem_bytes: f64,
    pub file_bytes: f64,
    pub kernel_stack_bytes: f64,
    pub page_tables_bytes: f64,
    pub sock_bytes: f64,
    /// Slab objects and whatever else the kernel holds and does not itemise.
    pub kernel_rest_bytes: f64,
}

/// Seconds by phase.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Phases {
    pub launch_s: f64,
    pub plateau_s: f64,
    pub drain_s: f64,
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
    pub entry: Vec<usize>,
    pub tasks: Vec<u64>,
    pub repetition: Vec<u32>,
    pub attempt: Vec<u32>,
    pub status: Vec<Status>,
    /// Seconds since 1970 in UTC.
    pub started_at: Vec<i64>,
    pub hold_s: Vec<f64>,
    /// The exact command line, quoted for a shell.
    pub command: Vec<usize>,
    /// Position in `texts`, as for all that follow until `warnings`.
    pub version: Vec<Option<usize>>,
    pub reason: Vec<Option<usize>>,
    pub stderr_tail: Vec<Option<usize>>,
    pub metrics: Vec<Option<usize>>,
    pub warnings: Vec<Vec<Warning>>,
    pub memory_source: Vec<MemorySource>,
    /// The other fields of a sample by their names, those of `time`, `cpu`, `work`, `memory` and `plateau` after a dot:
    /// `memory.peak_bytes`.
    // What is unknown is NaN, half the size of an option, and null in JSON.
    #[cfg_attr(test, schemars(with = "BTreeMap<&'static str, Vec<Option<f64>>>"))]
    pub numbers: BTreeMap<&'static str, Vec<f64>>,
    pub texts: Vec<String>,
}

/// Figures that somebody published.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Published {
    /// Short name: `2024-take2`.
    pub id: String,
    pub source: String,
    /// As its authors put it.
    pub workload: String,
    /// The workload that stands for it here.
    pub our_workload: String,
    pub hardware: String,
    pub os: String,
    pub figures: Vec<PublishedFigure>,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PublishedFigure {
    /// The entry that stands for it here.
    pub entry: String,
    /// As its authors call it.
    pub runtime: String,
    pub version: String,
    pub tasks: u64,
    pub memory_bytes: f64,
    pub wall_s: f64,
}

/// Six significant digits and no less than a millionth: what no run repeats is not carried around.
pub(super) fn brief(value: f64) -> f64 {
    if value.abs() >= 1000.0 { whole(value) } else { (value * 1e6).round() / 1e6 }
}

fn whole(value: f64) -> f64 {
    if value.abs() < 1000.0 { (value * 1e3).round() / 1e3 } else { value.round() }
}
