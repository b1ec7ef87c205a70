//! Decides when a boundary is known well enough, by separate confirming probes. Pure.
//!
//! The value that a search ends at was selected because it passed once, and near a boundary that is not sharp many
//! values pass once. So the answer lies a margin before the failed value, and counts only if it passed the requested
//! number of confirming probes. If one of them fails, the answer moves to the safe side and is confirmed again.

use super::border::{Bracket, LONGEST_STEP, Probe, STRIDE, Search, Side, Step};

/// How far the answer is from what failed, in widths of the search: one to find the border, one as a margin.
const MARGIN: f64 = 2.0;

/// A boundary that need not be sharp, as probes show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Edge {
    /// The last value that is confirmed.
    pub confirmed: Option<u64>,
    /// The first value at which a probe failed.
    pub failing: Option<u64>,
    /// The last value that passed at or beyond the failing one: the boundary is not sharp.
    pub sometimes: Option<u64>,
}

/// The next step towards an answer, or how it ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stage {
    Search(u64),
    Confirm(u64),
    /// The confirmed value is as close to the failing one as requested, or as the boundary is sharp.
    Found,
    /// The probes that were allowed were not enough for that.
    Undecided,
    NothingPasses,
    EverythingPasses,
}

/// How often a value passed in the probes that were taken to confirm it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    pub passed: usize,
    pub probes: usize,
}

pub fn tally(probes: &[Probe], value: u64) -> Tally {
    let own = || probes.iter().filter(|probe| probe.confirms && probe.value == value);
    Tally { passed: own().filter(|probe| probe.passed).count(), probes: own().count() }
}

impl Search {
    /// The boundary by these probes, where a confirmed value has passed `times` times and never failed.
    pub fn edge(&self, probes: &[Probe], times: usize) -> Edge {
        let (_, failing) = self.ends(probes);
        let before = |value: u64| failing.is_none_or(|failing| self.is_easier(value, failing));
        let last = |of: &dyn Fn(&Probe) -> bool| {
            let values = probes.iter().filter(|probe| of(probe)).map(|probe| probe.value);
            values.reduce(|a, b| if self.is_easier(a, b) { b } else { a })
        };
        Edge {
            confirmed: last(&|probe| before(probe.value) && tally(probes, probe.value).passed >= times),
            failing,
            sometimes: last(&|probe| probe.passed && !before(probe.value)),
        }
    }

    /// The next step. `open`: whether the search may take more probes. What it has found by then is still confirmed.
    pub fn stage(&self, probes: &[Probe], times: usize, open: bool) -> Stage {
        let edge = self.edge(probes, times);
        let step = self.next(probes);
        if let (Step::NothingPasses, Some(easiest)) = (step, edge.failing) {
            let tried = probes.iter().filter(|probe| probe.value == easiest).count();
            return match edge.sometimes {
                Some(_) => Stage::Undecided,
                // That nothing passes is not said after one probe either.
                None if tried < times => Stage::Confirm(easiest),
                None => Stage::NothingPasses,
            };
        }
        match (edge.confirmed, edge.failing) {
            (Some(_), None) if step == Step::EverythingPasses && edge.confirmed == self.ends(probes).0 => {
                return Stage::EverythingPasses;
            }
            (Some(confirmed), Some(failing)) if self.is_near(confirmed, failing, &edge) => {
                return Stage::Found;
            }
            _ => {}
        }
        let candidate = match (step, edge.failing) {
            // Where probes contradict each other, single ones find nothing: from then on only values are tried that may
            // be stated, each as often as asked.
            (_, Some(failing)) if edge.sometimes.is_some() => open.then(|| self.before(failing, &edge)),
            (Step::Found(Bracket { failing, .. }), _) => Some(self.before(failing, &edge)),
            (Step::Try(value), _) if open => return Stage::Search(value),
            _ => self.ends(probes).0,
        };
        match candidate {
            Some(value) if tally(probes, value).passed < times => Stage::Confirm(value),
            _ => Stage::Undecided,
        }
    }

    fn is_easier(&self, a: u64, b: u64) -> bool {
        match self.passes {
            Side::Below => a < b,
            Side::Above => a > b,
        }
    }

    /// How wide the range is in which probes were seen both to pass and to fail.
    fn blur(&self, edge: &Edge) -> f64 {
        let (Some(failing), Some(sometimes)) = (edge.failing, edge.sometimes) else { return 0.0 };
        (self.scaled(sometimes as f64) - self.scaled(failing as f64)).max(0.0)
    }

    /// No answer is nearer to what fails than the edge is sharp.
    fn is_near(&self, confirmed: u64, failing: u64, edge: &Edge) -> bool {
        let width = Bracket { passing: confirmed, failing }.width();
        confirmed.abs_diff(failing) <= 1 || width <= (MARGIN * self.precision).max(self.blur(edge).exp_m1())
    }

    /// The value to confirm before one that failed: the margin away, or as far as the edge was seen to be blurred.
    fn before(&self, failing: u64, edge: &Edge) -> u64 {
        // Two steps are more than twice as far as one where they are long: never farther than is near.
        let margin = (MARGIN * STRIDE * self.width()).min((MARGIN * self.precision).ln_1p());
        let step = margin.max(self.blur(edge)).min(LONGEST_STEP);
        let (value, grain) = self.unscaled(self.scaled(failing as f64) - step);
        let easiest = self.easiest_first().0;
        // Rounded towards what failed, so that rounding takes nothing of the precision. Strictly before it: a search
        // ends where the easiest value fails.
        match self.passes {
            Side::Below => (((value / grain).ceil() * grain) as u64).min(failing - 1).max(easiest),
            Side::Above => (((value / grain).floor() * grain) as u64).max(failing + 1).min(easiest),
        }
    }
}

#[cfg(test)]
#[path = "confirm_tests.rs"]
mod tests;
