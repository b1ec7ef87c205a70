//! The page's names for metrics, kinds, the parts of memory and the phases of a run.

use std::collections::BTreeMap;

use serde::Serialize;
use strum::VariantArray;

use super::super::footnotes::REFERENCE;
use super::super::model::Rank;
use super::super::rank::Standing;
use crate::catalog::{Kind, Shape};
use crate::document::NONE;
use crate::explain::{PartSource, UNEXPLAINED};
use crate::metrics::{self, Better, MetricDef, MetricScope, Unit};

/// A metric, as the page offers and shows it.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageMetric {
    pub name: &'static str,
    /// Its field in a report.
    pub field: &'static str,
    pub title: &'static str,
    /// Column head.
    pub short: &'static str,
    /// Description in one or two sentences.
    pub about: String,
    pub unit: Unit,
    pub better: Better,
    pub scope: MetricScope,
    /// Name of the bounds shown next to a value.
    pub range: &'static str,
    /// Column head of the spread, as a share of the value.
    pub spread: &'static str,
    pub shapes: &'static [Shape],
    /// Title and description for work. Absent if they are the same.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub of_work: Option<(&'static str, String)>,
}

/// All metrics of the page, in the order of `by_use`.
pub fn metrics() -> Vec<PageMetric> {
    let of = |metric: &MetricDef| {
        let more = if metric.better == Better::More { " More is better." } else { "" };
        let sentence = |about| format!("{about}.{more}");
        PageMetric {
            name: metric.name,
            field: metric.field,
            title: metric.title,
            short: metric.short(),
            about: sentence(metric.about),
            unit: metric.unit,
            better: metric.better,
            scope: metric.of,
            range: if metric.per_entry() { "95% interval" } else { "smallest to largest run" },
            spread: if metric.per_entry() { "interval" } else { "± MAD" },
            shapes: metric.shapes,
            of_work: metric.of_work.map(|(title, about)| (title, sentence(about))),
        }
    };
    by_use().into_iter().map(of).collect()
}

/// All metrics: headlines first, then those of few shapes. Without anonymous memory and drain time, which rows
/// have among their parts and phases.
pub fn by_use() -> Vec<&'static MetricDef> {
    let mut all = metrics::ALL.to_vec();
    all.retain(|metric| ![&metrics::ANON, &metrics::DRAIN].contains(metric));
    all.sort_by_key(|metric| {
        (![&metrics::FOOTPRINT, &metrics::WALL_PER_OP].contains(metric), metric.shapes.len())
    });
    all
}

/// What one task is to an entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct PageKind {
    pub name: Kind,
    pub title: &'static str,
    /// The title within a sentence.
    pub in_sentence: String,
    pub about: &'static str,
    /// Whether a task has a stack of its own.
    pub stackful: bool,
}

/// All kinds, in the order in which they are shown.
pub fn kinds() -> Vec<PageKind> {
    let of = |kind: Kind| PageKind {
        name: kind,
        title: kind.title(),
        in_sentence: kind.in_sentence(),
        about: kind.about(),
        stackful: kind.stackful(),
    };
    Kind::VARIANTS.iter().copied().map(of).collect()
}

/// The texts in place of a multiple of the best, and in place of a rank.
pub fn standings() -> BTreeMap<Standing, [&'static str; 2]> {
    let place = |standing| if standing == Standing::Reference { REFERENCE } else { NONE };
    Standing::VARIANTS.iter().map(|standing| (*standing, [standing.text(), place(*standing)])).collect()
}

/// What sections of the page show, in sentences.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct SectionTexts {
    pub overview: BTreeMap<Rank, String>,
    pub scaling: BTreeMap<Shape, &'static str>,
    /// Which lines the scaling chart shows if not all fit. Within a sentence.
    pub lines: &'static str,
    pub time: &'static str,
    pub load: &'static str,
    pub table: &'static str,
    pub anatomy: &'static str,
    pub versions: &'static str,
    /// Title of the entries that failed or have no value.
    pub without_value: &'static str,
    /// Title of the entries that could not run.
    pub unavailable: &'static str,
}

pub fn about() -> SectionTexts {
    let vs_best = |rank: Rank| format!("Ratio to the {} (lower is better).", rank.best());
    SectionTexts {
        overview: [Rank::Kind, Rank::All].map(|rank| (rank, vs_best(rank))).into(),
        scaling: [(Shape::Hold, FOOTPRINTS), (Shape::Serve, FOOTPRINTS), (Shape::Work, TIMES)].into(),
        lines: "the best of each language, then entries of the original blog posts, then the smallest",
        time: "Launch ends when all tasks are alive, and drain begins when the first task is due. taskscale sets the \
               length of the plateau in between, so it does not depend on the runtime.",
        load: "Open loops at shares of each server's capacity. The last point of CPU per message is the closed loop \
               at capacity. Latency is missing if the server missed the rate or the clients sent late.",
        table: "Medians of the ok runs.",
        anatomy: "Bytes per task by part: the slope over N.",
        versions: "Bars are 95% intervals or the range of the repetitions.",
        without_value: "Without a value",
        unavailable: "Not available on this machine",
    }
}

/// About the scaling chart.
const FOOTPRINTS: &str = "Footprint over the number of tasks. Marks are medians, with bars from the smallest to the \
                          largest run. Lines are the fit, fixed cost + N × bytes per task; if memory is not linear, \
                          they join the medians. Flat parts show the fixed cost of the runtime, rising parts the cost \
                          of tasks. A dotted line is a reference.";
const TIMES: &str = "Wall time per operation over the number of tasks. Marks are medians, with bars from the smallest \
                     to the largest run. If a line is flat, the cost of an operation does not depend on the number \
                     of tasks.";

/// A part of a whole in a chart.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct ChartPart {
    /// The end of its CSS class, such as `anon` in `part-anon`.
    pub id: &'static str,
    pub title: &'static str,
    pub about: &'static str,
    /// The fields of a row's `parts` that it sums up. Absent for phases and sources.
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    pub fields: &'static [&'static str],
}

const fn part(
    id: &'static str,
    title: &'static str,
    about: &'static str,
    fields: &'static [&'static str],
) -> ChartPart {
    ChartPart { id, title, about, fields }
}

/// What a footprint is made of, from the program outwards into the kernel.
pub const PARTS: [ChartPart; 5] = [
    part("anon", "Anonymous", "heaps and stacks", &["anon_bytes"]),
    part("file", "File and shared", "mapped files and shared memory", &["file_bytes", "shmem_bytes"]),
    part("stacks", "Kernel stacks", "of OS threads", &["kernel_stack_bytes"]),
    part("tables", "Page tables", "of the kernel", &["page_tables_bytes"]),
    part(
        "slab",
        "Sockets, slab",
        "socket buffers, kernel objects, other kernel memory",
        &["sock_bytes", "slab_bytes", "kernel_other_bytes"],
    ),
];

/// The sources of the sizes of a task's parts.
pub const PART_SOURCES: [ChartPart; 5] = [
    part("live", PartSource::Live.text(), "live, by the runtime's or allocator's count", &[]),
    part("unused", PartSource::Unused.text(), "free space, headers, rounding, garbage", &[]),
    part("mapped", PartSource::Mapped.text(), "mappings that no adapter knows", &[]),
    part("kernel", PartSource::Kernel.text(), "the cgroup's account of kernel memory", &[]),
    part("unexplained", UNEXPLAINED, "the remainder of the slope", &[]),
];

/// The phases of a run, in the order of a row's `time` and `cpu`.
pub const PHASES: [ChartPart; 3] = [
    part("launch", "Launch", "until all tasks are alive", &[]),
    part("plateau", "Plateau", "all tasks alive and waiting", &[]),
    part("drain", "Drain", "from the first due time until exit", &[]),
];
