//! Finds the boundary between what passes and what fails in few probes. Pure: numbers in, the next number out.
//!
//! The next probe follows from the probes so far, so that an interrupted search resumes by replaying them. Knows
//! nothing of tasks or memory: it searches one axis for the last value that passes.

/// The side of the boundary on which values pass.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PassingSide {
    /// Small values pass: how many tasks fit?
    Below = 1,
    /// Large values pass: how little memory is enough?
    Above = -1,
}

/// The parameters of a search.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Search {
    pub passes: PassingSide,
    /// The least and the greatest value that may be tried, at least 1.
    pub bounds: (u64, u64),
    /// The search ends when the passing and the failing value are no further apart than this share of the former.
    pub precision: f64,
    /// Values tried are multiples of a power of this where the precision allows: 10 for counts, 2 for bytes.
    pub radix: f64,
    /// The step to the next value without a prediction, on the search's scale.
    pub blind: f64,
}

/// One probe of a value. A value passes only if all its probes passed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Probe {
    pub value: u64,
    pub passed: bool,
    /// Whether its value was chosen for another purpose than to find the boundary, such as to confirm it.
    pub confirms: bool,
    /// The boundary predicted from this probe.
    pub prediction: Option<Prediction>,
}

/// A prediction of the boundary, from the other observations of the probes.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    pub value: f64,
    /// The possible error, as a share.
    pub doubt: f64,
}

/// The state of a search.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SearchStep {
    Try(u64),
    /// The last value that passes, and a failing one next to it.
    Found(Bracket),
    /// Nothing within the bounds passes.
    NothingPasses,
    /// Everything up to the bound passes.
    EverythingPasses,
}

/// The two values that enclose the boundary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bracket {
    pub passing: u64,
    pub failing: u64,
}

impl Bracket {
    /// How far apart the two are, as a share of the passing value.
    pub fn width(&self) -> f64 {
        self.passing.abs_diff(self.failing) as f64 / self.passing as f64
    }
}

/// The length of the last step beyond a passing value, in wanted widths: a failure there ends the search.
pub const STRIDE: f64 = 0.98;
/// Take that step if the prediction is at most this many widths away.
const NEAR: f64 = 1.3;
/// The distance that the first probes keep from the prediction, in widths.
const BESIDE: f64 = 0.45;
/// The length of each step against the predictions, in first steps: slow at first, as most predictions are
/// close.
const GALLOP: [f64; 6] = [1.0, 1.0, 2.0, 5.0, 20.0, 81.0];
/// The longest such step: about a factor of 8.
pub const LONGEST_STEP: f64 = 2.08;

impl Search {
    /// The next step.
    pub fn next(&self, probes: &[Probe]) -> SearchStep {
        let (pass, fail) = self.ends(probes);
        let (easiest, hardest) = self.easiest_first();
        if fail == Some(easiest) {
            return SearchStep::NothingPasses;
        }
        if pass == Some(hardest) {
            return SearchStep::EverythingPasses;
        }
        if let (Some(passing), Some(failing)) = (pass, fail) {
            let bracket = Bracket { passing, failing };
            if passing.abs_diff(failing) <= 1 || bracket.width() <= self.precision {
                return SearchStep::Found(bracket);
            }
        }
        let predicted = probes.last().and_then(|probe| self.predicted(probe));
        let ends = (pass.map(|value| self.scaled(value as f64)), fail.map(|v| self.scaled(v as f64)));
        let wanted = match (ends, predicted) {
            ((None, None), _) => self.scaled(easiest as f64),
            ((Some(pass), None), Some(predicted)) if predicted.at > pass => {
                self.up_to(probes, pass, predicted)
            }
            ((Some(pass), None), Some(predicted)) => pass + self.gallop(probes, true, predicted.doubt),
            ((Some(pass), None), None) => pass + self.blind,
            ((None, Some(fail)), Some(predicted)) if predicted.at < fail - self.width() => {
                predicted.at - predicted.doubt
            }
            ((None, Some(fail)), Some(predicted)) => fail - self.gallop(probes, false, predicted.doubt),
            ((None, Some(fail)), None) => fail - self.blind,
            ((Some(pass), Some(fail)), predicted) => self.between(probes, pass, fail, predicted),
        };
        SearchStep::Try(self.value_at(wanted, pass, fail))
    }

    /// The passing value nearest to the boundary, and the failing one. A failure outweighs passes beyond it.
    pub fn ends(&self, probes: &[Probe]) -> (Option<u64>, Option<u64>) {
        let of = |passed| probes.iter().filter(move |probe| probe.passed == passed).map(|probe| probe.value);
        let fail = of(false).min_by_key(|value| self.difficulty(*value));
        let easier = |value: &u64| fail.is_none_or(|fail| self.difficulty(*value) < self.difficulty(fail));
        (of(true).filter(easier).max_by_key(|value| self.difficulty(*value)), fail)
    }

    /// Grows from values that pass to those that fail.
    pub fn difficulty(&self, value: u64) -> i128 {
        i128::from(value) * i128::from(self.sign())
    }

    /// The sign of a step towards failing values.
    fn sign(&self) -> i8 {
        self.passes as i8
    }

    /// The bounds, easiest first: that value passes if any does.
    pub fn easiest_first(&self) -> (u64, u64) {
        match self.passes {
            PassingSide::Below => self.bounds,
            PassingSide::Above => (self.bounds.1, self.bounds.0),
        }
    }

    /// The scale on which the search works: logarithmic, and growing towards failure.
    pub fn scaled(&self, value: f64) -> f64 {
        value.ln() * f64::from(self.sign())
    }

    /// The width of the wanted bracket on the search's scale.
    pub fn width(&self) -> f64 {
        self.precision.ln_1p().max(1e-6)
    }

    fn between(&self, probes: &[Probe], pass: f64, fail: f64, predicted: Option<ScaledPrediction>) -> f64 {
        let (width, middle) = (self.width(), f64::midpoint(pass, fail));
        let Some(predicted) = predicted.filter(|_| fail - pass > 2.0 * width && !self.is_slow(probes, 2))
        else {
            return middle;
        };
        let refuted = predicted.at <= pass || predicted.at >= fail;
        let wanted = if refuted && self.is_slow(probes, 1) {
            middle
        } else if predicted.at >= fail {
            (fail - self.gallop(probes, false, predicted.doubt)).max(middle)
        } else if predicted.at > pass {
            self.up_to(probes, pass, predicted)
        } else {
            (pass + self.gallop(probes, true, predicted.doubt)).min(middle)
        };
        // A probe next to the failed value would tell almost nothing.
        if wanted > fail - 0.1 * width { middle } else { wanted }
    }

    /// The next value from a passing one towards the prediction. From afar it stops before the prediction, as a
    /// pass tells more than a failure. From nearby it is one step away: a failure there ends the search.
    fn up_to(&self, probes: &[Probe], pass: f64, predicted: ScaledPrediction) -> f64 {
        if predicted.at - pass <= NEAR * self.width() {
            pass + self.gallop(probes, true, 0.0)
        } else {
            (predicted.at - predicted.doubt).max(f64::midpoint(pass, predicted.at))
        }
    }

    /// The next step after probes that contradicted their predictions: longer for each in a row.
    fn gallop(&self, probes: &[Probe], passed: bool, doubt: f64) -> f64 {
        let surprising = |pair: &&[Probe]| {
            let at = self.scaled(pair[1].value as f64);
            let near = NEAR * self.width();
            let against = |predicted: ScaledPrediction| {
                if passed { at > predicted.at - near } else { at < predicted.at }
            };
            pair[1].passed == passed && self.predicted(&pair[0]).is_some_and(against)
        };
        let surprises = probes.windows(2).rev().take_while(surprising).count();
        let growth = GALLOP[surprises.min(GALLOP.len() - 1)];
        (doubt.max(STRIDE * self.width()) * growth).min(LONGEST_STEP)
    }

    fn predicted(&self, probe: &Probe) -> Option<ScaledPrediction> {
        let prediction =
            probe.prediction.filter(|prediction| prediction.value.is_finite() && prediction.value > 0.0)?;
        let doubt = prediction.doubt.max(0.0).ln_1p().min(LONGEST_STEP).max(BESIDE * self.width());
        Some(ScaledPrediction { at: self.scaled(prediction.value), doubt })
    }

    /// Whether the last probes did not halve the bracket: predictions do not help then.
    fn is_slow(&self, probes: &[Probe], last: usize) -> bool {
        let width_after = |count: usize| {
            let (pass, fail) = self.ends(&probes[..count]);
            Some((self.scaled(fail? as f64) - self.scaled(pass? as f64)).abs())
        };
        let then = probes.len().checked_sub(last).and_then(width_after);
        width_after(probes.len()).zip(then).is_some_and(|(now, then)| now > 0.5 * then)
    }

    /// The value at a point of the scale, and the multiple that such a value is rounded to.
    pub fn unscaled(&self, at: f64) -> (f64, f64) {
        let value = (at * f64::from(self.sign())).exp();
        let fine = (value * self.precision / 10.0).max(1.0);
        (value, self.radix.powf((fine.ln() / self.radix.ln() + 1e-9).floor()).round())
    }

    /// A whole value strictly between the ends, within the bounds, and round where the precision allows.
    fn value_at(&self, wanted: f64, pass: Option<u64>, fail: Option<u64>) -> u64 {
        let (value, grain) = self.unscaled(wanted);
        // Saturates if the wanted value does not fit.
        let value = ((value / grain).round() * grain) as u64;
        // The ends were tried already.
        let step = i64::from(self.sign());
        let (easiest, hardest) = self.easiest_first();
        let first = pass.map_or(easiest, |pass| pass.saturating_add_signed(step));
        let last = fail.map_or(hardest, |fail| fail.saturating_add_signed(-step));
        value.clamp(first.min(last), first.max(last))
    }
}

/// A prediction on the search's scale.
#[derive(Debug, Clone, Copy)]
struct ScaledPrediction {
    at: f64,
    doubt: f64,
}

#[cfg(test)]
#[path = "boundary_search_tests.rs"]
pub(super) mod tests;
