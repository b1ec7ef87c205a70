//! The test: the verdict on one metric of one case, and whether it passes `--fail-above`.
//!
//! Welch's t on the logarithms of the repetitions. A case **passes** if the upper bound of the ratio is below the
//! threshold. It **fails** if the lower bound, corrected over all cases, is above 1 and the ratio above the threshold.
//! Otherwise it is **undecided**. docs/reference/compare.md has the operating curve.

use super::model::{Decision, Judged, Verdict};
use super::side::CompareSettings;
use crate::metrics::{Better, MetricDef};
use crate::stats::{CONFIDENCE, Moments, Welch, holm};
use crate::units;

/// The largest chance that a comparison of two equal campaigns finds any case larger or smaller. All cases
/// share it by Holm's procedure.
const FALSE_ALARMS: f64 = 1.0 - CONFIDENCE;

/// The chance of error of a bound: one-sided, so half of what a 95% interval leaves out.
const BOUND: f64 = (1.0 - CONFIDENCE) / 2.0;

/// Fewer repetitions yield no verdict: two leave Welch's t with one or two degrees of freedom, so that chance would
/// decide where memory comes in whole pages.
pub(super) const MIN_REPETITIONS: usize = 3;

/// More repetitions than this are not proposed.
pub(super) const MAX_REPETITIONS: usize = 30;

/// A plan of repetitions decides in four of five cases if ratio and scatter stay the same: the bounds may move
/// by this number of standard errors.
const PLANNED_FOR: f64 = 0.8416;

/// Memory that differs by a share up to this is the same, unless a margin is given.
const BYTES_MARGIN: f64 = 0.01;
/// The same for times. Clock speed, neighbors and caches vary more between two campaigns than between the
/// repetitions of one, and no interval of repetitions covers that (Kalibera, T. & Jones, R. (2013). Rigorous
/// benchmarking in reasonable time. ISMM '13: repeat at the highest level that varies).
const SECONDS_MARGIN: f64 = 0.05;

/// Which differences count, as shares: one up to the first is `same`, and a gate fails above the second.
fn margins(metric: &MetricDef, own: Option<f64>, fail_above: Option<f64>) -> (f64, Option<f64>) {
    let is_time = metric.unit.is_time();
    let gate = fail_above.map(|above| own.unwrap_or(if is_time { above.max(SECONDS_MARGIN) } else { above }));
    let usual = if is_time { SECONDS_MARGIN } else { BYTES_MARGIN };
    // A gate at 0.5% cannot treat 1% as the same.
    (own.unwrap_or_else(|| gate.map_or(usual, |gate| gate.min(usual))), gate)
}

/// The repetitions of both sides, turned so that more is worse.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct PairedRepetitions {
    /// Of the logarithms. Absent if a value is not above zero.
    logs: Option<[Moments; 2]>,
    values: Option<[Moments; 2]>,
    /// A difference up to this, in the metric's unit, does not count.
    step: f64,
}

impl PairedRepetitions {
    pub(super) fn of(base: &[f64], new: &[f64], better: Better, step: f64) -> PairedRepetitions {
        let (first, second) = if better == Better::More { (new, base) } else { (base, new) };
        let both = |of: fn(&[f64]) -> Option<Moments>| Some([of(first)?, of(second)?]);
        PairedRepetitions { logs: both(Moments::of_logs), values: both(Moments::of), step }
    }

    /// The fewest repetitions of a side.
    fn repetitions(&self) -> usize {
        self.values.map_or(0, |[base, new]| base.n.min(new.n))
    }

    /// The same means and scatter with `n` repetitions of each side.
    fn repeated(&self, n: usize) -> PairedRepetitions {
        let again = |sides: Option<[Moments; 2]>| sides.map(|sides| sides.map(|side| Moments { n, ..side }));
        PairedRepetitions { logs: again(self.logs), values: again(self.values), step: self.step }
    }

    /// The sides swapped, so that more is better.
    fn mirrored(&self) -> PairedRepetitions {
        let turned = |sides: Option<[Moments; 2]>| sides.map(|[base, new]| [new, base]);
        PairedRepetitions { logs: turned(self.logs), values: turned(self.values), step: self.step }
    }

    fn ratio(&self) -> Option<Welch> {
        self.logs.and_then(|[base, new]| Welch::between(&base, &new))
    }

    fn difference(&self) -> Option<Welch> {
        self.values.and_then(|[base, new]| Welch::between(&base, &new))
    }

    /// The two-sided p-value of no difference.
    fn p_value(&self) -> Option<f64> {
        let ratio = self.ratio()?;
        Some((2.0 * ratio.p_larger(0.0).min(ratio.p_smaller(0.0))).min(1.0))
    }

    /// Whether the second side is worse by more than `margin` and beyond chance (two-sided, `share`). Bounds
    /// move down by `errors` standard errors.
    fn exceeds(&self, margin: f64, share: f64, errors: f64) -> bool {
        let Some(ratio) = self.ratio().map(|ratio| ratio.moved(-errors)) else { return false };
        let beyond_step = self.difference().is_none_or(|difference| difference.difference > self.step);
        ratio.p_larger(0.0) <= share / 2.0 && ratio.difference > margin.ln_1p() && beyond_step
    }

    /// Whether the second side is worse by less than `margin` or a step. Bounds move up by `errors` standard
    /// errors.
    fn stays_below(&self, margin: f64, errors: f64) -> bool {
        let below = |welch: Option<Welch>, bound: f64| {
            welch.is_some_and(|welch| welch.moved(errors).p_smaller(bound) < BOUND)
        };
        below(self.ratio(), margin.ln_1p()) || (self.step > 0.0 && below(self.difference(), self.step))
    }

    fn decide(&self, margin: f64, share: f64, errors: f64) -> Decision {
        if self.exceeds(margin, share, errors) {
            Decision::Fail
        } else if self.stays_below(margin, errors) {
            Decision::Pass
        } else {
            Decision::Undecided
        }
    }

    /// The fewest repetitions of each side that would decide. `None` if they exceed `MAX_REPETITIONS`.
    fn repetitions_needed(&self, margin: f64, share: f64) -> Option<u32> {
        let from = (self.repetitions() + 1).max(MIN_REPETITIONS);
        let decides = |n: &usize| self.repeated(*n).decide(margin, share, PLANNED_FOR) != Decision::Undecided;
        (from..=MAX_REPETITIONS).find(decides).map(|n| n as u32)
    }

    fn verdict(&self, metric: &'static MetricDef, margin: f64, share: f64) -> Verdict {
        let mirrored = self.mirrored();
        let (worse, better) = match metric.unit.is_time() {
            true => (Verdict::Slower, Verdict::Faster),
            false => (Verdict::Larger, Verdict::Smaller),
        };
        if self.exceeds(margin, share, 0.0) {
            worse
        } else if mirrored.exceeds(margin, share, 0.0) {
            better
        } else if self.stays_below(margin, 0.0) && mirrored.stays_below(margin, 0.0) {
            Verdict::Same
        } else {
            Verdict::Unclear
        }
    }
}

/// A metric of a case before its verdict. The required confidence depends on the number of them.
pub(super) struct Pending {
    pub(super) cell: Judged,
    /// Absent if the runs are not comparable. Then `cell` has the reason.
    pub(super) evidence: Option<PairedRepetitions>,
    /// The metric's own margin, if any.
    pub(super) margin: Option<f64>,
    /// Whether the gate decides on it.
    pub(super) counts: bool,
}

/// All verdicts, and the confidence of the intervals that decide larger and smaller.
pub(super) fn judge(pending: Vec<Pending>, settings: &CompareSettings) -> (Vec<Judged>, f64) {
    let tested = |pending: &Pending| {
        pending.evidence.filter(|evidence| evidence.repetitions() >= MIN_REPETITIONS)?.p_value()
    };
    let mut p_values: Vec<f64> = pending.iter().filter_map(tested).collect();
    let share = holm(&mut p_values, FALSE_ALARMS / settings.series.max(1) as f64);
    let cells = pending.into_iter().map(|pending| pending.judge(settings, share)).collect();
    (cells, 1.0 - share)
}

impl Pending {
    fn judge(self, settings: &CompareSettings, share: f64) -> Judged {
        let Pending { mut cell, evidence, margin, counts } = self;
        let (same, gate) = margins(cell.metric, margin, settings.fail_above);
        cell.margin = same;
        cell.threshold = gate.filter(|_| counts);
        let Some(evidence) = evidence else {
            cell.decision = cell.threshold.map(|_| Decision::Undecided);
            return cell;
        };
        let better = cell.metric.better;
        let shown = if better == Better::More { evidence.mirrored() } else { evidence };
        cell.ratio = shown.logs.map(|[base, new]| (new.mean - base.mean).exp());
        cell.ratio_interval = shown.ratio().map(|ratio| ratio.ratio_interval(CONFIDENCE));
        let repetitions = evidence.repetitions();
        if repetitions < MIN_REPETITIONS {
            let runs = units::counted(repetitions, "repetition");
            cell.reason = Some(format!("only {runs}: a verdict needs {MIN_REPETITIONS} per side"));
        } else {
            cell.verdict_interval = shown.ratio().map(|ratio| ratio.ratio_interval(1.0 - share));
            cell.verdict = evidence.verdict(cell.metric, same, share);
            if evidence.logs.is_none() && cell.verdict == Verdict::Unclear {
                cell.reason = Some("no ratio: a value is 0 or negative".to_owned());
            }
        }
        let Some(threshold) = cell.threshold else { return cell };
        let decision = match repetitions < MIN_REPETITIONS {
            true => Decision::Undecided,
            false => evidence.decide(threshold, share, 0.0),
        };
        if decision == Decision::Undecided && evidence.logs.is_some() {
            cell.repetitions_needed = evidence.repetitions_needed(threshold, share);
        }
        cell.decision = Some(decision);
        cell
    }
}
