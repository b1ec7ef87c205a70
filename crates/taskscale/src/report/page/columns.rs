//! The columns of the page's table of all values.

use serde::Serialize;

use self::ColumnUnit::{Count, Metric, Share, Tasks, Text, Times};
use super::tables::by_use;
use crate::metrics::{self, MetricDef, MetricScope, Unit};

/// One column. `path` leads from a cell's `entry`, `row`, `letter`, `status` or `times_best` to the sort key.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageColumn {
    /// Its name in the CSV of a report, if that has the column.
    pub id: String,
    pub title: &'static str,
    /// Explains the title.
    #[serde(skip_serializing_if = "str::is_empty")]
    pub about: &'static str,
    pub unit: ColumnUnit,
    pub path: String,
    /// Its metric. Results without the metric lack the column.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<&'static str>,
}

/// How values of a column are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum ColumnUnit {
    Text,
    /// `10k`.
    Tasks,
    /// `1,234`.
    Count,
    /// `0.7%`.
    Share,
    /// A multiple of the best: `×1.50`.
    Times,
    #[serde(untagged)]
    Metric(Unit),
}

/// A number of a sample, as the page shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SampleField {
    /// Its name in the record, and in `numbers`.
    pub name: &'static str,
    pub title: &'static str,
    pub unit: ColumnUnit,
}

/// Its id, title, unit, path and what the title leaves out.
type PlainColumn = (&'static str, &'static str, ColumnUnit, &'static str, &'static str);

const BYTES: ColumnUnit = Metric(Unit::Bytes);
const SLOPE: ColumnUnit = Metric(Unit::BytesPerTask);
const SECONDS: ColumnUnit = Metric(Unit::Seconds);

const FIRST: [PlainColumn; 9] = [
    ("entry", "Entry", Text, "entry.name", ""),
    ("results", "Results", Text, "letter", ""),
    ("kind", "Kind", Text, "entry.kind", ""),
    ("style", "Style", Text, "entry.style", ""),
    ("runs_on", "CPUs", Text, "entry.tags.0", "of the CPUs available to the program"),
    ("tasks", "N", Tasks, "row.tasks", "number of tasks"),
    ("status", "Status", Text, "status", ""),
    ("ok_runs", "Runs ok", Count, "row.ok_runs", ""),
    ("times_best", "vs best", Times, "times_best", ""),
];

const LAST: [PlainColumn; 21] = [
    ("anon_bytes", "Anonymous", BYTES, "row.parts.anon_bytes", "heaps and stacks"),
    ("shmem_bytes", "Shared", BYTES, "row.parts.shmem_bytes", ""),
    ("file_bytes", "File", BYTES, "row.parts.file_bytes", ""),
    ("kernel_stack_bytes", "Kernel stacks", BYTES, "row.parts.kernel_stack_bytes", ""),
    ("page_tables_bytes", "Page tables", BYTES, "row.parts.page_tables_bytes", ""),
    ("sock_bytes", "Sockets", BYTES, "row.parts.sock_bytes", ""),
    ("slab_bytes", "Slab", BYTES, "row.parts.slab_bytes", "objects of the kernel"),
    ("kernel_other_bytes", "Other", BYTES, "row.parts.kernel_other_bytes", "kernel memory of other kinds"),
    (
        "bytes_per_task",
        "Bytes per task",
        SLOPE,
        "entry.growth.bytes_per_task",
        "slope of the footprint over N",
    ),
    ("bytes_per_task_low95", "from", SLOPE, "entry.growth.bytes_per_task_interval.low", "95% interval"),
    ("bytes_per_task_high95", "to", SLOPE, "entry.growth.bytes_per_task_interval.high", "95% interval"),
    ("off_line", "Deviation", Share, "entry.growth.worst.off", "largest deviation from the fit"),
    ("base_bytes", "Fixed cost", BYTES, "entry.growth.base_bytes", ""),
    ("plateau_s", "Plateau", SECONDS, "row.time.1", ""),
    ("drain_s", "Drain", SECONDS, "row.time.2", ""),
    ("cpu_launch_s", "CPU launch", SECONDS, "row.cpu.0", ""),
    ("cpu_plateau_s", "CPU plateau", SECONDS, "row.cpu.1", ""),
    ("cpu_drain_s", "CPU drain", SECONDS, "row.cpu.2", ""),
    ("threads_median", "Threads", Count, "row.threads", ""),
    ("memory_source", "Memory source", Text, "row.memory_sources", ""),
    ("version", "Version", Text, "entry.version", ""),
];

/// All columns. The page leaves out those without a value in the results that it shows.
pub fn columns() -> Vec<PageColumn> {
    let plain = |(id, title, unit, path, about): PlainColumn| {
        let (id, path) = (id.to_owned(), path.to_owned());
        PageColumn { id, title, about, unit, path, metric: None }
    };
    let of_runs = by_use().into_iter().filter(|metric| metric.of == MetricScope::Run);
    FIRST
        .into_iter()
        .map(plain)
        .chain(of_runs.flat_map(of_metric))
        .chain(LAST.into_iter().map(plain))
        .collect()
}

/// The median of a metric, and for those that entries are ranked by the spread as well.
fn of_metric(metric: &'static MetricDef) -> impl Iterator<Item = PageColumn> {
    let unit = Metric(metric.unit);
    let ranks = [&metrics::FOOTPRINT, &metrics::WALL_PER_OP].contains(&metric);
    let all = [
        ("median", metric.short(), unit, metric.about),
        ("spread", "± MAD", Share, "median absolute deviation ÷ median"),
        ("min", "Smallest", unit, ""),
        ("max", "Largest", unit, ""),
    ];
    all.into_iter().take(if ranks { 4 } else { 1 }).map(move |(name, title, unit, about)| PageColumn {
        id: format!("{}_{name}", metric.field),
        title,
        about,
        unit,
        path: format!("row.figures.{}.{name}", metric.field),
        metric: Some(metric.name),
    })
}
