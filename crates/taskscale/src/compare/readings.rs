//! The compared values: those at each entry's largest common N, and the lines of its repetitions.

use super::judge::{PairedRepetitions, Pending};
use super::model::{Judged, JudgedSide, Verdict};
use super::side::{CompareSettings, ComparedMetric, Pair, SideEntry};
use crate::metrics::{self, MetricDef, MetricScope, Unit};
use crate::record::Sample;
use crate::report::RunConditions;
use crate::report::growth::{feeds_line, readings};
use crate::stats::{self, Fit, Line, Point, Spread};
use crate::units;

/// How the two sides are named.
const SIDES: [&str; 2] = ["BASE", "NEW"];

/// Memory that differs by no more than this is the same: a heap that begins a few pages later.
const BYTES_STEP: f64 = (64 << 10) as f64;
/// Pages that each CPU takes in advance for a cgroup: `MEMCG_CHARGE_BATCH` of its memory controller. Peaks vary
/// by this much from run to run.
const CHARGE_BATCH_PAGES: f64 = 64.0;
/// Times that differ by no more than this are the same: a wake-up that came late.
const SECONDS_STEP: f64 = 0.002;

impl Pair<'_> {
    /// The numbers of tasks with an ok run on each side, ascending.
    fn common(&self) -> Vec<u64> {
        let both = |tasks: &u64| !self.base.ok(*tasks).is_empty() && !self.new.ok(*tasks).is_empty();
        self.base.tasks().into_iter().filter(both).collect()
    }

    /// The pair's metrics that are to be judged.
    pub(super) fn pending(&self, settings: &CompareSettings) -> Vec<Pending> {
        let common = self.common();
        let Some((&largest, smaller)) = common.split_last() else { return Vec::new() };
        let mut pending: Vec<Pending> = Vec::new();
        let mut shape_changed = false;
        for metric in &settings.metrics {
            pending.push(match metric.figure.per_entry() {
                true => self.of_line(metric, &common, &mut shape_changed),
                false => self.of_case(metric, largest),
            });
        }
        // If lines are not comparable, the footprint at each N is.
        if shape_changed {
            let footprint = settings.metrics.iter().find(|metric| metric.figure == &metrics::FOOTPRINT);
            let metric = footprint.copied().unwrap_or(ComparedMetric::from(&metrics::FOOTPRINT));
            pending.extend(smaller.iter().map(|tasks| self.of_case(&metric, *tasks)));
        }
        pending
    }

    fn of_case(&self, metric: &ComparedMetric, tasks: u64) -> Pending {
        let (before, after) = (self.base.ok(tasks), self.new.ok(tasks));
        let finite = |samples: &[&Sample]| -> Vec<f64> {
            metric.figure.values(samples).into_iter().filter(|value| value.is_finite()).collect()
        };
        let (of_base, of_new) = (finite(&before), finite(&after));
        let missing = (of_base.is_empty() || of_new.is_empty()).then(|| "no value on one side".to_owned());
        // Those that are missing may be the worst.
        let [of_all_base, of_all_new] =
            [&before, &after].map(|runs| runs.iter().filter(|run| !run.is_double()).count());
        let fewer = (of_new.len() * of_all_base < of_base.len() * of_all_new).then(|| {
            format!("{} of {} repetitions of NEW have no value", of_all_new - of_new.len(), of_all_new)
        });
        let [of_before, of_after] = [&before, &after].map(|runs| RunConditions::of(runs));
        // For such work, the gate decides by time per operation.
        let unlike = of_before.operations_differ_for(&of_after, metric.figure);
        let unlike = unlike.map(|why| format!("{why}: not gated"));
        let counts = unlike.is_none();
        let reason = of_before.differ_for(&of_after, metric.figure, SIDES).or(missing).or(fewer).or(unlike);
        let step = self.step(metric.figure);
        Pending { counts, ..self.case(metric, Some(tasks), [of_base, of_new], step, reason) }
    }

    /// The slope or fixed cost of the line of each repetition, through the numbers of tasks that are ok on both
    /// sides. Lines through different numbers would not be comparable.
    fn of_line(&self, metric: &ComparedMetric, common: &[u64], changed: &mut bool) -> Pending {
        let figure = metric.figure;
        let (before, after) = (feeding(&self.base, common), feeding(&self.new, common));
        let (of_base, of_new) = (readings(&before, figure), readings(&after, figure));
        let fit =
            |points: &[(u32, Point)]| stats::fit(&points.iter().map(|(_, point)| *point).collect::<Vec<_>>());
        let nonlinear_sides = [nonlinear(SIDES[0], &fit(&of_base)), nonlinear(SIDES[1], &fit(&of_new))];
        let largest = common.last().copied().unwrap_or(1);
        // The step of a slope is that of a footprint, divided by N.
        let divisor = if figure == &metrics::BYTES_PER_TASK { largest as f64 } else { 1.0 };
        let step = self.step(figure) / divisor;
        let values = [of_lines(figure, of_base), of_lines(figure, of_new)];
        let reason = RunConditions::of(&before).differ_for(&RunConditions::of(&after), figure, SIDES);
        let no_line = match (common.len(), &nonlinear_sides) {
            (..2, _) => Some("fewer than 2 numbers of tasks are ok on both sides".to_owned()),
            (_, [Some(why), Some(_)]) => {
                Some(format!("{why}; compared by the footprint at {}", units::count(largest)))
            }
            (_, [Some(why), None] | [None, Some(why)]) => {
                *changed = true;
                Some(format!("{why}, the other side is; compared by the footprint at each N"))
            }
            _ => None,
        };
        // Without a line, footprints replace bytes per task, but nothing replaces the fixed cost.
        let counts = no_line.is_none() || figure == &metrics::BASE;
        let missing = || values.iter().any(Vec::is_empty).then(|| "no repetition covers all N".to_owned());
        let reason = no_line.or(reason).or_else(missing);
        Pending { counts, ..self.case(metric, None, values, step, reason) }
    }

    fn case(
        &self,
        metric: &ComparedMetric,
        tasks: Option<u64>,
        [of_base, of_new]: [Vec<f64>; 2],
        step: f64,
        reason: Option<String>,
    ) -> Pending {
        let side = |values: &[f64]| {
            let value = Spread::of(values).map(|spread| spread.geometric_mean());
            JudgedSide { runs: values.len() as u64, value }
        };
        let evidence = PairedRepetitions::of(&of_base, &of_new, metric.figure.better, step);
        Pending {
            evidence: reason.is_none().then_some(evidence),
            cell: Judged {
                metric: metric.figure,
                base_entry: self.base.name.to_owned(),
                new_entry: self.new.name.to_owned(),
                tasks,
                base: side(&of_base),
                new: side(&of_new),
                ratio: None,
                ratio_interval: None,
                verdict_interval: None,
                margin: 0.0,
                verdict: Verdict::Unclear,
                reason,
                threshold: None,
                decision: None,
                repetitions_needed: None,
            },
            margin: metric.margin,
            counts: true,
        }
    }

    fn step(&self, metric: &'static MetricDef) -> f64 {
        let batch = |entry: &SideEntry| {
            let machine = &entry.side.input.campaign.machine;
            CHARGE_BATCH_PAGES * machine.page_bytes as f64 * machine.cpus as f64
        };
        match metric.unit {
            Unit::Seconds => SECONDS_STEP,
            // Over very many operations, a small difference adds up to seconds.
            Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => 0.0,
            _ if metric == &metrics::PEAK => BYTES_STEP.max(batch(&self.base)).max(batch(&self.new)),
            _ => BYTES_STEP,
        }
    }
}

/// The runs at these N that the lines are fitted to.
fn feeding<'a>(entry: &SideEntry<'a>, common: &[u64]) -> Vec<&'a Sample> {
    common.iter().flat_map(|&tasks| entry.ok(tasks)).filter(|sample| feeds_line(sample)).collect()
}

/// The slope or fixed cost of the line of each repetition.
pub(super) fn of_lines(figure: &'static MetricDef, points: Vec<(u32, Point)>) -> Vec<f64> {
    let of = |line: Line| if figure.of == MetricScope::Base { line.base } else { line.slope };
    stats::lines_of_repetitions(points).into_iter().map(of).collect()
}

/// If a side's memory is nonlinear: where the footprint deviates most from the line, and how far.
fn nonlinear(side: &str, fit: &Option<Fit>) -> Option<String> {
    let worst = fit.as_ref().filter(|fit| fit.linear() == Some(false))?.worst?;
    let off = worst
        .off
        .map_or("below zero".to_owned(), |off| format!("{}% off", units::decimal((off * 100.0).abs(), 0)));
    Some(format!("{side} is not linear ({off} at {})", units::count(worst.tasks)))
}
