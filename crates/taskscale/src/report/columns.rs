//! The metrics that a table shows besides the headline.

use super::model::{Report, Row};
use super::phrases::{line_mark, slope_text};
use super::rank::AT_LEAST;
use crate::catalog::Shape;
use crate::metrics::{self, MetricDef};

/// A metric with its own column, and the order in which columns are hidden, lowest first; `None` for those that
/// stay.
pub type ShownFigure = (&'static MetricDef, Option<u8>);

/// The metrics that suit a shape.
fn of_shape(shape: Shape) -> Vec<ShownFigure> {
    match shape {
        Shape::Hold => vec![
            (&metrics::BYTES_PER_TASK, None),
            (&metrics::CPU, Some(5)),
            (&metrics::LAUNCH, Some(3)),
            (&metrics::KERNEL, Some(4)),
            (&metrics::RSS_PEAK, Some(2)),
        ],
        Shape::Work => vec![
            (&metrics::CPU_PER_OP, None),
            (&metrics::OPS_PER_S, Some(5)),
            (&metrics::PEAK, Some(4)),
            (&metrics::LAUNCH, Some(0)),
        ],
        Shape::Serve => vec![
            (&metrics::KERNEL, Some(1)),
            (&metrics::BYTES_PER_TASK, Some(0)),
            (&metrics::LATENCY_P50, Some(3)),
            (&metrics::LATENCY_P99, Some(5)),
            (&metrics::MESSAGES_PER_S, Some(4)),
            (&metrics::CONNECTS_PER_S, Some(2)),
        ],
    }
}

/// Only where a row has a value: metrics of tasks that wake and of messages.
static SOME: [ShownFigure; 7] = [
    (&metrics::CPU_PER_TICK, Some(6)),
    (&metrics::LATE_P50, Some(7)),
    (&metrics::LATE_P99, Some(8)),
    (&metrics::LATE_MAX, Some(5)),
    (&metrics::CPU_PER_MESSAGE, Some(8)),
    (&metrics::CPU_AT_CAPACITY, Some(7)),
    (&metrics::CPU_PER_DELIVERY, Some(6)),
];

/// Kernel memory is shown above this share of the footprint, RSS if it differs by more.
const DIFFERENCE: f64 = 0.1;

/// The metrics besides the headline: the selected ones, or else those that suit the workload.
pub fn columns(report: &Report, stats: bool) -> Vec<ShownFigure> {
    if !report.shown.is_empty() {
        let beside = report.shown.iter().filter(|metric| **metric != report.headline());
        return beside.map(|metric| (*metric, None)).collect();
    }
    let optional =
        SOME.iter().filter(|(metric, _)| report.rows().any(|row| row.spreads.of(metric).is_some()));
    let of_stats = (stats && metrics::WALL.is_of(report.shape)).then_some((&metrics::WALL, Some(1)));
    let is_news = |(metric, _): &ShownFigure| {
        report.rows().any(|row| row.is_news(metric) && row.text(metric).is_some())
    };
    optional.copied().chain(of_shape(report.shape)).filter(is_news).chain(of_stats).collect()
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

    /// Whether a metric is worth showing: kernel memory if it is a large part of the footprint, RSS if it is
    /// far from it, others always.
    pub(super) fn is_news(&self, metric: &MetricDef) -> bool {
        let share = || Some(self.spreads.median(metric)? / self.footprint_bytes?.median);
        match metric {
            _ if metric == &metrics::KERNEL => share().is_some_and(|share| share > DIFFERENCE),
            _ if metric == &metrics::RSS_PEAK => {
                share().is_some_and(|share| (share - 1.0).abs() > DIFFERENCE)
            }
            _ => true,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::report::fixture;

    #[test]
    fn each_row_has_per_task_and_fixed_memory() {
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
