//! Differences and ratios of the means of two small sets of repetitions, and their confidence, by Welch's
//! t-test.
//!
//! Computes all intervals and verdicts of taskscale: of comparisons, of bytes per task in a report, and whether
//! two results differ at all.
//!
//! - Welch, B. L. (1947). The generalization of "Student's" problem when several different population variances are
//!   involved. Biometrika 34, 28-35.
//! - Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics Bulletin
//!   2(6), 110-114.
//! - Holm, S. (1979). A simple sequentially rejective multiple test procedure. Scandinavian Journal of Statistics 6(2),
//!   65-70.

use serde::{Deserialize, Serialize};

use super::student::{above, quantile};

/// The confidence of the intervals that are shown.
pub const CONFIDENCE: f64 = 0.95;

/// The bounds of a 95% interval, in the unit of the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

impl Interval {
    /// `1.047 to 1.053`, each bound as `show` writes it.
    pub fn text(self, show: impl Fn(f64) -> String) -> String {
        format!("{} to {}", show(self.low), show(self.high))
    }

    /// From the interval of a logarithm to that of the value.
    fn exp(self) -> Interval {
        Interval { low: self.low.exp(), high: self.high.exp() }
    }

    /// This interval, widened to include `value`.
    fn including(self, value: f64) -> Interval {
        Interval { low: self.low.min(value), high: self.high.max(value) }
    }
}

/// Number, mean and variance of repetitions: all that Welch's t-test needs of each side.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Moments {
    pub n: usize,
    pub mean: f64,
    /// Sample variance, with `n - 1`. 0 for a single value.
    pub variance: f64,
}

impl Moments {
    /// `None` without values, or if a value or the variance is not finite.
    pub fn of(values: &[f64]) -> Option<Moments> {
        let first = *values.first()?;
        let n = values.len() as f64;
        // Relative to the first value, so that equal values have a variance of exactly 0 despite rounding.
        let from_first = values.iter().map(|value| value - first).sum::<f64>() / n;
        let squares = values.iter().map(|value| (value - first - from_first).powi(2)).sum::<f64>();
        let variance = if values.len() > 1 { squares / (n - 1.0) } else { 0.0 };
        let finite = values.iter().all(|value| value.is_finite()) && variance.is_finite();
        finite.then_some(Moments { n: values.len(), mean: first + from_first, variance })
    }

    /// The moments of the logarithms. `None` also if a value is not above 0.
    pub fn of_logs(values: &[f64]) -> Option<Moments> {
        let positive = values.iter().all(|value| *value > 0.0);
        Moments::of(&values.iter().map(|value| value.ln()).collect::<Vec<_>>()).filter(|_| positive)
    }

    /// The confidence interval of the mean. `None` for a single value, which has no scatter.
    fn interval(&self, confidence: f64) -> Option<Interval> {
        let itself = Moments { n: usize::MAX, mean: 0.0, variance: 0.0 };
        Some(Welch::between(&itself, self)?.interval(confidence))
    }
}

/// The 95% interval of a metric with these repetitions: of the mean of their logarithms, or of their mean if a
/// value is not above 0. Widened to include `estimate`, the value shown with it.
pub fn interval_of(values: &[f64], estimate: f64) -> Option<Interval> {
    let of_values = Moments::of(values)?;
    // Equal values skip the logarithms, which would round them.
    let interval = match Moments::of_logs(values).filter(|_| of_values.variance > 0.0) {
        Some(logs) => logs.interval(CONFIDENCE)?.exp(),
        None => of_values.interval(CONFIDENCE)?,
    };
    Some(interval.including(estimate))
}

/// The difference of two means, with its standard error and degrees of freedom.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Welch {
    /// New minus base. For logarithms, the logarithm of new ÷ base.
    pub difference: f64,
    error: f64,
    freedom: f64,
}

impl Welch {
    /// `None` if a side has fewer than two repetitions, which have no scatter.
    pub fn between(base: &Moments, new: &Moments) -> Option<Welch> {
        let least = base.n.min(new.n).checked_sub(1).filter(|least| *least > 0)? as f64;
        let share = |side: &Moments| side.variance / side.n as f64;
        let term = |side: &Moments| share(side).powi(2) / (side.n as f64 - 1.0);
        let variance = share(base) + share(new);
        // Satterthwaite's formula. Without variance, or on overflow, its lower bound.
        let freedom = variance.powi(2) / (term(base) + term(new));
        let freedom = if freedom.is_finite() { freedom.max(least) } else { least };
        Some(Welch { difference: new.mean - base.mean, error: variance.sqrt(), freedom })
    }

    /// The p-value of a difference this large or larger if the true one is `truth`. A small p means that the
    /// true one is larger.
    pub fn p_larger(&self, truth: f64) -> f64 {
        let t = (self.difference - truth) / self.error;
        // 0 ÷ 0: no variance, and the difference equals `truth`.
        if t.is_nan() { 1.0 } else { above(t, self.freedom) }
    }

    /// The p-value of a difference this small or smaller if the true one is `truth`.
    pub fn p_smaller(&self, truth: f64) -> f64 {
        Welch { difference: -self.difference, ..*self }.p_larger(-truth)
    }

    /// The interval that contains the true difference with this confidence, such as 0.95.
    pub fn interval(&self, confidence: f64) -> Interval {
        let width = match self.error {
            0.0 => 0.0,
            error => quantile((1.0 - confidence) / 2.0, self.freedom) * error,
        };
        Interval { low: self.difference - width, high: self.difference + width }
    }

    /// For logarithms: the interval of new ÷ base.
    pub fn ratio_interval(&self, confidence: f64) -> Interval {
        self.interval(confidence).exp()
    }

    /// The same difference, moved by `errors` standard errors.
    pub fn moved(&self, errors: f64) -> Welch {
        Welch { difference: self.difference + errors * self.error, ..*self }
    }
}

/// The significance level of each test, by Holm's procedure: each of m tests gets `alpha` ÷ m. Once the
/// smallest p is at most that, the other tests share `alpha`, and so on. Whatever is true of the others, the
/// chance that any test without an effect has a p below its level is at most `alpha`.
pub fn holm(p_values: &mut [f64], alpha: f64) -> f64 {
    p_values.sort_by(f64::total_cmp);
    let left = |nth: usize| (p_values.len() - nth).max(1) as f64;
    let found = p_values.iter().enumerate().take_while(|(nth, p)| **p <= alpha / left(*nth)).count();
    alpha / left(found)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn welch(base: &[f64], new: &[f64]) -> Welch {
        Welch::between(&Moments::of(base).unwrap(), &Moments::of(new).unwrap()).unwrap()
    }

    /// Student's own data (1908), hours of sleep gained by two drugs: Welch's test in R's documentation of `t.test`
    /// gives t = -1.8608, 17.776 degrees of freedom, p = 0.07939 and -3.3654832 to 0.2054832.
    #[test]
    fn welch_test_matches_r() {
        let one = [0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0];
        let other = [1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4];
        let found = welch(&other, &one);
        assert!((found.difference / found.error + 1.8608).abs() < 5e-5, "{found:?}");
        assert!((found.freedom - 17.776).abs() < 5e-4, "{found:?}");
        assert!((2.0 * found.p_smaller(0.0) - 0.07939).abs() < 5e-6, "{}", found.p_smaller(0.0));
        assert!((found.p_larger(0.0) + found.p_smaller(0.0) - 1.0).abs() < 1e-12);
        let Interval { low, high } = found.interval(CONFIDENCE);
        assert!((low + 3.365_483_2).abs() < 5e-8 && (high - 0.205_483_2).abs() < 5e-8, "{low} {high}");
    }

    #[test]
    fn constant_values_have_zero_width_intervals() {
        let more = welch(&[8.0; 3], &[10.0; 2]);
        assert_eq!(more.interval(0.999), Interval { low: 2.0, high: 2.0 });
        assert_eq!((more.p_larger(0.0), more.p_smaller(0.0)), (0.0, 1.0));
        assert_eq!((more.p_larger(2.0), more.p_smaller(2.0)), (1.0, 1.0));
        // Means of values such as 0.1 are off by a rounding.
        assert_eq!(Moments::of(&[0.1; 7]).unwrap(), Moments { n: 7, mean: 0.1, variance: 0.0 });
    }

    #[test]
    fn degrees_of_freedom_ignore_a_constant_side() {
        assert_eq!(welch(&[5.0; 9], &[4.0, 5.0, 6.0]).freedom, 2.0);
        assert_eq!(welch(&[5.0; 9], &[5.0; 4]).freedom, 3.0);
    }

    #[test]
    fn one_repetition_has_no_interval() {
        let side = |values: &[f64]| Moments::of(values).unwrap();
        assert_eq!(Welch::between(&side(&[1.0]), &side(&[1.0, 2.0])), None);
        assert_eq!(Welch::between(&side(&[1.0, 2.0]), &side(&[1.0])), None);
        assert_eq!((interval_of(&[], 1.0), interval_of(&[4.0], 4.0)), (None, None));
    }

    #[test]
    fn nonpositive_values_have_no_log_moments() {
        for values in [&[1.0, 0.0][..], &[1.0, -2.0], &[1.0, f64::NAN], &[1.0, f64::INFINITY], &[]] {
            assert_eq!(Moments::of_logs(values), None, "{values:?}");
        }
        assert_eq!((Moments::of(&[1.0, f64::NAN]), Moments::of(&[1e308, -1e308])), (None, None));
        // Values below 0: the interval of the values themselves.
        let interval = interval_of(&[-1.0, 1.0], 0.0).unwrap();
        assert!((interval.high - 12.706).abs() < 0.001 && interval.low == -interval.high, "{interval:?}");
        assert_eq!(interval_of(&[2.0, 2.0], 3.0), Some(Interval { low: 2.0, high: 3.0 }));
    }

    #[test]
    fn holm_divides_the_level_by_the_remaining_tests() {
        let share = |mut p: Vec<f64>| holm(&mut p, 0.05);
        assert_eq!(share(vec![]), 0.05);
        assert_eq!(share(vec![0.9, 0.8, 0.7, 0.6]), 0.0125);
        // 0.001 ≤ 0.05 ÷ 4 and 0.015 ≤ 0.05 ÷ 3, but 0.03 > 0.05 ÷ 2.
        assert_eq!(share(vec![0.03, 0.001, 0.6, 0.015]), 0.025);
        assert_eq!(share(vec![0.0; 3]), 0.05);
    }

    /// The share of 2,000 pairs with equal true means whose interval does not include 0.
    fn misses(repetitions: usize, noise: impl Fn(&mut fastrand::Rng) -> f64) -> f64 {
        let mut rng = fastrand::Rng::with_seed(7);
        let missed = (0..2_000).filter(|_| {
            let mut side = || (0..repetitions).map(|_| noise(&mut rng)).collect::<Vec<f64>>();
            let interval = welch(&side(), &side()).interval(CONFIDENCE);
            !(interval.low <= 0.0 && 0.0 <= interval.high)
        });
        missed.count() as f64 / 2_000.0
    }

    #[test]
    fn intervals_have_their_stated_coverage() {
        let normal = |rng: &mut fastrand::Rng| {
            (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
        };
        for repetitions in [3, 5, 10] {
            let even = misses(repetitions, |rng| 0.01 * normal(rng));
            assert!(even < 0.06, "{repetitions} repetitions, normal noise: {even}");
            // One run in ten is disturbed, by up to a half.
            let wild = misses(repetitions, |rng| {
                0.01 * normal(rng) + if rng.f64() < 0.1 { 0.5 * rng.f64() } else { 0.0 }
            });
            assert!(wild < 0.06, "{repetitions} repetitions, one in ten disturbed: {wild}");
        }
    }

    proptest! {
        #[test]
        fn intervals_contain_the_difference_and_mirror_swapped_sides(
            base in prop::collection::vec(-1e9..1e9f64, 2..8),
            new in prop::collection::vec(-1e9..1e9f64, 2..8),
        ) {
            let (there, back) = (welch(&base, &new), welch(&new, &base));
            let (narrow, wide) = (there.interval(0.9), there.interval(0.99));
            prop_assert!(wide.low <= narrow.low && narrow.low <= there.difference);
            prop_assert!(there.difference <= narrow.high && narrow.high <= wide.high);
            let turned = back.interval(0.9);
            prop_assert!((turned.low + narrow.high).abs() < 1e-3, "{turned:?} {narrow:?}");
            // Each bound of a 90% interval leaves a tail of 5%.
            prop_assert!((there.p_larger(narrow.low) - 0.05).abs() < 1e-6 || there.error == 0.0);
        }

        /// Results from others may contain any value.
        #[test]
        fn arbitrary_values_do_not_panic(
            base in prop::collection::vec(any::<f64>(), 0..6),
            new in prop::collection::vec(any::<f64>(), 0..6),
        ) {
            for of in [Moments::of, Moments::of_logs] {
                let Some((base, new)) = of(&base).zip(of(&new)) else { continue };
                let Some(welch) = Welch::between(&base, &new) else { continue };
                let p = [welch.p_larger(0.0), welch.p_smaller(0.0), welch.p_larger(1.0)];
                prop_assert!(p.iter().all(|p| (0.0..=1.0).contains(p)), "{p:?}");
                welch.ratio_interval(CONFIDENCE);
            }
        }
    }
}
