//! Decides when a boundary is known well enough, by separate confirming probes. Pure.
//!
//! The value that a search ends at was selected because it passed once, and near a boundary that is not sharp many
//! values pass once. So the answer lies a margin before the failed value, and counts only if it passed the requested
//! number of confirming probes. If one of them fails, the answer moves to the safe side and is confirmed again.

use serde::Serialize;

use super::boundary_search::{Bracket, LONGEST_STEP, PassingSide, Probe, STRIDE, Search, SearchStep};

/// How far the answer is from what failed, in widths of the search: one to find the boundary, one as a margin.
const MARGIN: f64 = 2.0;

/// A boundary that need not be sharp, as probes show it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Boundary {
    /// The last value that is confirmed.
    pub confirmed: Option<u64>,
    /// The first value at which a probe failed.
    pub failing: Option<u64>,
    /// The last value that passed at or beyond the failing one: the boundary is not sharp.
    pub sometimes: Option<u64>,
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum SearchStatus {
    /// There are runs left to do.
    Unfinished,
    /// An answer is confirmed, and as close to the failing value as requested, or as the boundary is sharp.
    Found,
    /// The runs that were allowed were not enough for that.
    Undecided,
    /// Nothing passes: not one task in the memory, or the tasks in no memory that this machine has.
    NothingHolds,
    /// No value fails that can be tried.
    EverythingHolds,
}

named!(SearchStatus);

/// The next step towards an answer, or how the search ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ConfirmStage {
    Search(u64),
    Confirm(u64),
    End(SearchStatus),
}

/// How often a value passed in the probes that were taken to confirm it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PassCount {
    pub passed: usize,
    pub probes: usize,
}

pub fn tally(probes: &[Probe], value: u64) -> PassCount {
    let own = || probes.iter().filter(|probe| probe.confirms && probe.value == value);
    PassCount { passed: own().filter(|probe| probe.passed).count(), probes: own().count() }
}

impl Search {
    /// The boundary by these probes, where a confirmed value has passed `times` times and never failed.
    pub fn boundary(&self, probes: &[Probe], times: usize) -> Boundary {
        let (_, failing) = self.ends(probes);
        let before =
            |value: u64| failing.is_none_or(|failing| self.difficulty(value) < self.difficulty(failing));
        let last = |of: &dyn Fn(&Probe) -> bool| {
            let values = probes.iter().filter(|probe| of(probe)).map(|probe| probe.value);
            values.max_by_key(|value| self.difficulty(*value))
        };
        Boundary {
            confirmed: last(&|probe| before(probe.value) && tally(probes, probe.value).passed >= times),
            failing,
            sometimes: last(&|probe| probe.passed && !before(probe.value)),
        }
    }

    /// The next step. `open`: whether the search may take more probes. What it has found by then is still confirmed.
    pub fn stage(&self, probes: &[Probe], times: usize, open: bool) -> ConfirmStage {
        let boundary = self.boundary(probes, times);
        let step = self.next(probes);
        if let (SearchStep::NothingPasses, Some(easiest)) = (step, boundary.failing) {
            let tried = probes.iter().filter(|probe| probe.value == easiest).count();
            return match boundary.sometimes {
                Some(_) => ConfirmStage::End(SearchStatus::Undecided),
                // That nothing passes is not said after one probe either.
                None if tried < times => ConfirmStage::Confirm(easiest),
                None => ConfirmStage::End(SearchStatus::NothingHolds),
            };
        }
        match (boundary.confirmed, boundary.failing) {
            (Some(_), None)
                if step == SearchStep::EverythingPasses && boundary.confirmed == self.ends(probes).0 =>
            {
                return ConfirmStage::End(SearchStatus::EverythingHolds);
            }
            (Some(confirmed), Some(failing)) if self.is_near(confirmed, failing, &boundary) => {
                return ConfirmStage::End(SearchStatus::Found);
            }
            _ => {}
        }
        let candidate = match (step, boundary.failing) {
            // Where probes contradict each other, single ones find nothing: from then on only values are tried that may
            // be stated, each as often as asked.
            (_, Some(failing)) if boundary.sometimes.is_some() => {
                open.then(|| self.before(failing, &boundary))
            }
            (SearchStep::Found(Bracket { failing, .. }), _) => Some(self.before(failing, &boundary)),
            (SearchStep::Try(value), _) if open => return ConfirmStage::Search(value),
            _ => self.ends(probes).0,
        };
        match candidate {
            Some(value) if tally(probes, value).passed < times => ConfirmStage::Confirm(value),
            _ => ConfirmStage::End(SearchStatus::Undecided),
        }
    }

    /// How wide the range is in which probes were seen both to pass and to fail.
    fn blur(&self, boundary: &Boundary) -> f64 {
        let (Some(failing), Some(sometimes)) = (boundary.failing, boundary.sometimes) else { return 0.0 };
        (self.scaled(sometimes as f64) - self.scaled(failing as f64)).max(0.0)
    }

    /// No answer is nearer to what fails than the boundary is sharp.
    fn is_near(&self, confirmed: u64, failing: u64, boundary: &Boundary) -> bool {
        let width = Bracket { passing: confirmed, failing }.width();
        confirmed.abs_diff(failing) <= 1
            || width <= (MARGIN * self.precision).max(self.blur(boundary).exp_m1())
    }

    /// The value to confirm before one that failed: the margin away, or as far as the boundary was seen to be blurred.
    fn before(&self, failing: u64, boundary: &Boundary) -> u64 {
        // Two steps are more than twice as far as one where they are long: never farther than is near.
        let margin = (MARGIN * STRIDE * self.width()).min((MARGIN * self.precision).ln_1p());
        let step = margin.max(self.blur(boundary)).min(LONGEST_STEP);
        let (value, grain) = self.unscaled(self.scaled(failing as f64) - step);
        let easiest = self.easiest_first().0;
        // Rounded towards what failed, so that rounding takes nothing of the precision. Strictly before it: a search
        // ends where the easiest value fails.
        match self.passes {
            PassingSide::Below => (((value / grain).ceil() * grain) as u64).min(failing - 1).max(easiest),
            PassingSide::Above => (((value / grain).floor() * grain) as u64).max(failing + 1).min(easiest),
        }
    }
}

#[cfg(test)]
#[path = "confirm_tests.rs"]
mod tests;
