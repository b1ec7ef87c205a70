//! The metrics that a table shows besides the headline.

use super::model::{Report, Row};
use super::phrases::{line_mark, slope_text};
use super::rank::AT_LEAST;
use crate::catalog::Shape;
use crate::metrics::{self, MetricDef};

/// A metric with its own column.
#[derive(Clone, Copy)]
pub struct ShownFigure {
    pub figure: &'static MetricDef,
    /// Over a narrow column.
    pub short: &'static str,
    /// The order in which columns are hidden, highest first; `None` for those that stay.
    pub drop_priority: Option<u8>,
    /// Whether only values that differ from the footprint are shown.
    pub where_it_differs: bool,
}

const fn shown(figure: &'static MetricDef, short: &'static str, drop_priority: Option<u8>) -> ShownFigure {
    ShownFigure { figure, short, drop_priority, where_it_differs: false }
}

/// Beside the footprint.
const fn other_memory(figure: &'static MetricDef, short: &'static str, drop_priority: u8) -> ShownFigure {
    ShownFigure { figure, short, drop_priority: Some(drop_priority), where_it_differs: true }
}

static HOLD: [ShownFigure; 5] = [
    shown(&metrics::BYTES_PER_TASK, "B/task", None),
    shown(&metrics::CPU, "CPU s", Some(5)),
    shown(&metrics::LAUNCH, "launch s", Some(3)),
    other_memory(&metrics::KERNEL, "kernel", 4),
    other_memory(&metrics::RSS_PEAK, "RSS", 2),
];

/// With the fits of memory.
static STATS: [ShownFigure; 1] = [shown(&metrics::WALL, "wall s", Some(1))];

static WORK: [ShownFigure; 4] = [
    shown(&metrics::CPU_PER_OP, "CPU ns/op", None),
    shown(&metrics::OPS_PER_S, "ops/s", Some(5)),
    shown(&metrics::PEAK, "peak MiB", Some(4)),
    shown(&metrics::LAUNCH, "launch s", Some(0)),
];

static SERVE: [ShownFigure; 6] = [
    other_memory(&metrics::KERNEL, "kernel", 1),
    shown(&metrics::BYTES_PER_TASK, "B/conn", Some(0)),
    shown(&metrics::LATENCY_P50, "p50 µs", Some(3)),
    shown(&metrics::LATENCY_P99, "p99 µs", Some(5)),
    shown(&metrics::MESSAGES_PER_S, "msgs/s", Some(4)),
    shown(&metrics::CONNECTS_PER_S, "conn/s", Some(2)),
];

/// Of tasks that wake, and of messages that go to several.
static SOME: [ShownFigure; 7] = [
    shown(&metrics::CPU_PER_TICK, "ns/tick", Some(6)),
    shown(&metrics::LATE_P50, "late p50 µs", Some(7)),
    shown(&metrics::LATE_P99, "late p99 µs", Some(8)),
    shown(&metrics::LATE_MAX, "late max µs", Some(5)),
    shown(&metrics::CPU_PER_MESSAGE, "CPU µs/msg", Some(8)),
    shown(&metrics::CPU_AT_CAPACITY, "at capacity", Some(7)),
    shown(&metrics::CPU_PER_DELIVERY, "CPU µs/dlv", Some(6)),
];

/// The metrics besides the headline: the selected ones, or else those that suit the workload.
pub fn columns(report: &Report, stats: bool) -> Vec<ShownFigure> {
    if !report.shown.is_empty() {
        let beside = report.shown.iter().copied().filter(|figure| *figure != report.headline());
        let usual = || HOLD.iter().chain(&WORK).chain(&SERVE).chain(&SOME);
        let short = |figure: &'static MetricDef| {
            usual().find(|shown| shown.figure == figure).map_or(figure.heading, |shown| shown.short)
        };
        return beside.map(|figure| shown(figure, short(figure), None)).collect();
    }
    let of_shape: &[ShownFigure] = match report.shape {
        Shape::Hold => &HOLD,
        Shape::Work => &WORK,
        Shape::Serve => &SERVE,
    };
    let optional =
        SOME.iter().filter(|shown| report.rows().any(|row| row.spreads.of(shown.figure).is_some()));
    let of_stats = STATS.iter().filter(|shown| stats && shown.figure.is_of(report.shape));
    let news =
        |shown: &&ShownFigure| !shown.where_it_differs || report.rows().any(|row| differs(row, shown.figure));
    optional.chain(of_shape).filter(news).chain(of_stats).copied().collect()
}

impl Row {
    /// The value of a metric in this row, as tables show it, if it has one.
    pub fn text(&self, figure: &'static MetricDef) -> Option<String> {
        if figure == &metrics::BYTES_PER_TASK {
            return self.bytes_per_task.map(|slope| slope_text(slope, self.linear));
        }
        if figure == &metrics::BASE {
            return self.base_bytes.map(|base| line_mark(self.linear).to_owned() + &figure.show(base));
        }
        let text = self.spreads.median(figure).map(|value| figure.show(value))?;
        let at_least = self.client_limited && figure == &metrics::MESSAGES_PER_S;
        Some(if at_least { format!("{AT_LEAST}{text}") } else { text })
    }
}

/// Where kernel memory is a large part of the footprint, or RSS is far from it.
const DIFFERENCE: f64 = 0.1;

/// Whether a part of the memory, or another reading of it, is news beside the footprint.
pub(super) fn differs(row: &Row, figure: &metrics::MetricDef) -> bool {
    let (Some(whole), Some(value)) = (row.footprint_bytes, row.spreads.median(figure)) else { return false };
    let share = value / whole.median;
    if figure == &metrics::KERNEL { share > DIFFERENCE } else { (share - 1.0).abs() > DIFFERENCE }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::report::fixture;

    #[test]
    fn what_comes_of_the_line_is_in_each_row() {
        let mut campaign = fixture::campaign(vec![fixture::facts("my-server", Kind::Program)]);
        campaign.plan.tasks = vec![1, 10_000];
        let run = |tasks, repetition| fixture::sample("my-server", tasks, repetition, 4 << 20, 4_000);
        let samples = [1, 10_000].into_iter().flat_map(|tasks| (1..=3).map(move |at| run(tasks, at)));
        let report = Report::build(&campaign, &samples.collect::<Vec<_>>());
        for row in report.rows() {
            assert_eq!(row.text(&metrics::BYTES_PER_TASK).as_deref(), Some("4,000"));
            assert_eq!(row.text(&metrics::BASE).as_deref(), Some("4.00"));
        }
    }
}
