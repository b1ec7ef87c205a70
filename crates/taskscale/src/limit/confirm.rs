//! Decides when a boundary is known well enough, by separate confirming probes. Pure.
//!
//! The value that a search ends at was selected because it passed once, and near a boundary that is not sharp
//! many values pass once. So the answer keeps a margin from the failed value, and counts only if it passed the
//! requested number of confirming probes. If one of them fails, the answer moves to the safe side and is
//! confirmed again.

use serde::Serialize;

use super::boundary_search::{Bracket, LONGEST_STEP, PassingSide, Probe, STRIDE, Search, SearchStep};

/// The distance from the answer to the failed value, in widths: one to find the boundary, one as a margin.
const MARGIN: f64 = 2.0;

/// The boundary that probes show, which may not be sharp.
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
    /// An answer is confirmed, as close to the failing value as requested, or as a blurred boundary allows.
    Found,
    /// The allowed runs were not enough.
    Undecided,
    /// Nothing passes: not one task in the memory, not the tasks in all memory of this machine, or tasks are missing.
    NothingHolds,
    /// Every value up to the bound passes.
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

/// The confirming probes of a value, and how many of them passed.
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

    /// The next step. If not `open`, the search takes no more probes, but still confirms what it has found.
    pub fn stage(&self, probes: &[Probe], times: usize, open: bool) -> ConfirmStage {
        let boundary = self.boundary(probes, times);
        let step = self.next(probes);
        if let (SearchStep::NothingPasses, Some(easiest)) = (step, boundary.failing) {
            let tried = probes.iter().filter(|probe| probe.value == easiest).count();
            return match boundary.sometimes {
                Some(_) => ConfirmStage::End(SearchStatus::Undecided),
                // One failed probe does not prove that nothing passes.
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
            // If probes contradict each other, single probes find nothing: from then on only possible answers
            // are probed, each `times` times.
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

    /// The width of the range in which probes both passed and failed, on the search's scale.
    fn blur(&self, boundary: &Boundary) -> f64 {
        let (Some(failing), Some(sometimes)) = (boundary.failing, boundary.sometimes) else { return 0.0 };
        (self.scaled(sometimes as f64) - self.scaled(failing as f64)).max(0.0)
    }

    /// Whether the answer is as near to the failing value as requested, or as the blur allows.
    fn is_near(&self, confirmed: u64, failing: u64, boundary: &Boundary) -> bool {
        let width = Bracket { passing: confirmed, failing }.width();
        confirmed.abs_diff(failing) <= 1
            || width <= (MARGIN * self.precision).max(self.blur(boundary).exp_m1())
    }

    /// The value to confirm before a failed one: the margin away, or the width of the blur.
    fn before(&self, failing: u64, boundary: &Boundary) -> u64 {
        // Two long steps on this scale are more than twice the precision: stay within what `is_near` accepts.
        let margin = (MARGIN * STRIDE * self.width()).min((MARGIN * self.precision).ln_1p());
        let step = margin.max(self.blur(boundary)).min(LONGEST_STEP);
        let (value, grain) = self.unscaled(self.scaled(failing as f64) - step);
        let easiest = self.easiest_first().0;
        // Rounded towards the failed value, to keep the precision, but strictly before it. The failed value is
        // not the easiest: such a search has ended.
        match self.passes {
            PassingSide::Below => (((value / grain).ceil() * grain) as u64).min(failing - 1).max(easiest),
            PassingSide::Above => (((value / grain).floor() * grain) as u64).max(failing + 1).min(easiest),
        }
    }
}

#[cfg(test)]
#[path = "confirm_tests.rs"]
mod tests;
