//! How many times as much: the ratio of two figures that were each measured a few times, with its uncertainty.

use std::f64::consts::FRAC_PI_2;

use super::bootstrap::{resampled_lines, resampled_medians};
use super::{Interval, Line, Point, line, median};

/// The ratio of a new figure to a base figure.
///
/// The interval is `ln ratio ± t × s`. `s` is the bootstrap standard error of the logarithm: of each side, the
/// repetitions are resampled [`RESAMPLES`](super::RESAMPLES) times and the figure is taken anew; the two variances
/// add, as the sides are independent. Each is multiplied by `n / (n - 1)`, as resamples of n repetitions vary too
/// little by that factor. `t` is Student's, with the degrees of freedom of Welch (1947) and Satterthwaite (1946).
///
/// A percentile interval would be of no use here: of five repetitions it can never reach beyond the smallest and
/// the largest, so that it covers too seldom and cannot be had for the small error rates that many comparisons at
/// once call for. Hesterberg names both faults (narrowness by `(n - 1) / n` and quantiles of the normal
/// distribution in the place of Student's) and both cures.
///
/// - Hesterberg, T. C. (2015). What teachers should know about the bootstrap. The American Statistician 69(4),
///   371-386: the narrowness of percentile intervals of small samples, and the t interval with a bootstrap standard
///   error.
/// - Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman & Hall: §6 for the standard
///   error, §8 for two samples and for resampling within strata.
/// - Welch, B. L. (1947). The generalization of "Student's" problem. Biometrika 34, 28-35.
/// - Satterthwaite, F. E. (1946). An approximate distribution of estimates of variance components. Biometrics
///   Bulletin 2(6), 110-114.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Ratio {
    /// New over base: above 1 where the new figure is the larger.
    pub value: f64,
    /// What an interval can be made of; absent where a side has fewer than two repetitions.
    spread: Option<LogSpread>,
}

#[derive(Debug, Clone, Copy, PartialEq)]
struct LogSpread {
    /// Standard error of the ratio's logarithm.
    error: f64,
    freedom: f64,
}

impl Ratio {
    /// The interval that covers the true ratio with this confidence, such as 0.95. `None` where a side has fewer
    /// than two repetitions, which say nothing of spread.
    pub fn interval(&self, confidence: f64) -> Option<Interval> {
        let LogSpread { error, freedom } = self.spread?;
        let width = if error > 0.0 { quantile(0.5 + confidence / 2.0, freedom)? * error } else { 0.0 };
        Some(Interval { low: self.value * (-width).exp(), high: self.value * width.exp() })
    }
}

/// Student's t below which a value lies with probability `p`, above a half. `None` with less than one degree of freedom.
///
/// With t = √f tan θ the density becomes cos^(f-1) θ, so that P(|T| < t) is the share of its area that lies below θ.
/// The angle is found by halving, the areas by Simpson's rule.
fn quantile(p: f64, freedom: f64) -> Option<f64> {
    let area = |to: f64| {
        let step = to / PANELS as f64;
        let ordinate = |i: u32| (step * f64::from(i)).cos().max(0.0).powf(freedom - 1.0);
        let inner: f64 = (1..PANELS).map(|i| ordinate(i) * if i % 2 == 1 { 4.0 } else { 2.0 }).sum();
        (ordinate(0) + inner + ordinate(PANELS)) * step / 3.0
    };
    if !(freedom >= 1.0 && (0.5..1.0).contains(&p)) {
        return None;
    }
    let wanted = (2.0 * p - 1.0) * area(FRAC_PI_2);
    let (mut low, mut high) = (0.0, FRAC_PI_2);
    // A double has 53 bits.
    for _ in 0..53 {
        let middle = f64::midpoint(low, high);
        if area(middle) < wanted { low = middle } else { high = middle }
    }
    Some(freedom.sqrt() * f64::midpoint(low, high).tan())
}

/// Of Simpson's rule: enough for a thousand degrees of freedom.
const PANELS: u32 = 1_000;

/// The ratio of the medians of two sets of readings. `None` where a side has no reading, or a median that is not
/// above zero: nothing is a multiple of nothing.
pub fn ratio_of_medians(base: &[f64], new: &[f64]) -> Option<Ratio> {
    let side = |values: &[f64]| {
        let values: Vec<f64> = values.iter().copied().filter(|value| value.is_finite()).collect();
        let spread = (values.len() > 1).then(|| resampled_medians(&values));
        Side::of(median(&values)?, spread, values.len())
    };
    Some(ratio(side(base)?, side(new)?))
}

/// The ratio of the slopes of two lines (see [`line`](super::line)). `None` where a side has no line, or one that
/// does not rise.
pub fn ratio_of_slopes(base: &[Point], new: &[Point]) -> Option<Ratio> {
    ratio_of_lines(base, new, |line| line.slope)
}

/// The ratio of the bases of two lines, likewise.
pub fn ratio_of_bases(base: &[Point], new: &[Point]) -> Option<Ratio> {
    ratio_of_lines(base, new, |line| line.base)
}

fn ratio_of_lines(base: &[Point], new: &[Point], figure: fn(&Line) -> f64) -> Option<Ratio> {
    let side = |points: &[Point]| {
        let resamples = resampled_lines(points).map(|lines| lines.iter().map(figure).collect());
        Side::of(figure(&line(points)?), resamples, fewest(points))
    };
    Some(ratio(side(base)?, side(new)?))
}

/// The repetitions of the number of tasks that was run least often.
fn fewest(points: &[Point]) -> usize {
    let mut tasks: Vec<u64> = points.iter().filter(|point| point.y.is_finite()).map(|p| p.tasks).collect();
    tasks.sort_unstable();
    tasks.chunk_by(|a, b| a == b).map(<[u64]>::len).min().unwrap_or(0)
}

/// One figure and the variance of its logarithm.
struct Side {
    figure: f64,
    variance: Option<f64>,
    repetitions: usize,
}

impl Side {
    fn of(figure: f64, resamples: Option<Vec<f64>>, repetitions: usize) -> Option<Side> {
        if !(figure.is_finite() && figure > 0.0) {
            return None;
        }
        let variance = resamples.and_then(|resamples| {
            let logs: Vec<f64> = resamples.iter().map(|value| value.ln()).collect();
            // A resample that is not above zero has no logarithm: then there is no telling.
            logs.iter().all(|log| log.is_finite()).then(|| {
                let n = repetitions as f64;
                variance(&logs) * n / (n - 1.0)
            })
        });
        Some(Side { figure, variance, repetitions })
    }
}

fn ratio(base: Side, new: Side) -> Ratio {
    let spread = base.variance.zip(new.variance).map(|(of_base, of_new)| {
        let share = |variance: f64, side: &Side| variance * variance / (side.repetitions - 1) as f64;
        let together = of_base + of_new;
        let freedom = together * together / (share(of_base, &base) + share(of_new, &new));
        LogSpread { error: together.sqrt(), freedom }
    });
    Ratio { value: new.figure / base.figure, spread }
}

fn variance(values: &[f64]) -> f64 {
    // From the first value, so that values that are all equal have none: a mean may be off by a rounding.
    let first = values.first().copied().unwrap_or(0.0);
    let n = values.len() as f64;
    let mean = values.iter().map(|value| value - first).sum::<f64>() / n;
    values.iter().map(|value| (value - first - mean).powi(2)).sum::<f64>() / n
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A standard normal value: Box & Muller (1958).
    fn normal(rng: &mut fastrand::Rng) -> f64 {
        (-2.0 * (1.0 - rng.f64()).ln()).sqrt() * (std::f64::consts::TAU * rng.f64()).cos()
    }

    #[test]
    fn quantiles_are_those_of_the_tables() {
        // Fisher & Yates, table III.
        for (p, freedom, t) in [
            (0.975, 1.0, 12.706),
            (0.975, 4.0, 2.776),
            (0.975, 8.0, 2.306),
            (0.995, 8.0, 3.355),
            (0.9995, 2.0, 31.599),
            (0.9995, 120.0, 3.373),
            // With one and two degrees of freedom there are formulae: tan(π (p - 1/2)), and a root.
            (0.999_995, 1.0, 63_661.977),
            (0.999_995, 2.0, 316.225),
            // Near the normal distribution's 1.959964.
            (0.975, 1_000.0, 1.962),
        ] {
            let found = quantile(p, freedom).unwrap();
            assert!((found - t).abs() < 0.001 * t.max(1.0), "{p} {freedom}: {found}");
        }
        assert_eq!(quantile(0.975, 0.0), None);
    }

    #[test]
    fn what_does_not_vary_has_no_width() {
        let same = ratio_of_medians(&[8.0, 8.0, 8.0], &[10.0, 10.0]).unwrap();
        assert_eq!(same.value, 1.25);
        assert_eq!(same.interval(0.999), Some(Interval { low: 1.25, high: 1.25 }));
    }

    #[test]
    fn no_ratio_of_nothing_and_no_interval_of_one_reading() {
        assert_eq!(ratio_of_medians(&[], &[1.0]), None);
        assert_eq!(ratio_of_medians(&[0.0, 0.0], &[1.0, 1.0]), None);
        assert_eq!(ratio_of_medians(&[1.0], &[f64::NAN]), None);
        let one = ratio_of_medians(&[4.0], &[5.0, 5.1]).unwrap();
        assert_eq!((one.value, one.interval(0.95)), (5.05 / 4.0, None));
        let points = |slope: f64| -> Vec<Point> {
            [1, 1_000].map(|tasks| Point { tasks, y: slope * tasks as f64 }).to_vec()
        };
        let one = ratio_of_slopes(&points(100.0), &points(105.0)).unwrap();
        assert!((one.value - 1.05).abs() < 1e-9 && one.interval(0.95).is_none());
        assert_eq!(ratio_of_slopes(&points(100.0), &points(-1.0)), None);
    }

    #[test]
    fn the_line_with_fewest_repetitions_counts() {
        let point = |tasks| Point { tasks, y: 1.0 };
        assert_eq!(fewest(&[point(1), point(9), point(1), point(9), point(1)]), 2);
        assert_eq!(fewest(&[]), 0);
    }

    /// Of 600 pairs of equal truth, what share has an interval that leaves it out.
    fn misses(repetitions: usize, confidence: f64, noise: impl Fn(&mut fastrand::Rng) -> f64) -> f64 {
        let mut rng = fastrand::Rng::with_seed(7);
        let pairs = 600;
        let missed = (0..pairs).filter(|_| {
            let mut side = || (0..repetitions).map(|_| 1e6 * noise(&mut rng)).collect::<Vec<f64>>();
            let interval = ratio_of_medians(&side(), &side()).unwrap().interval(confidence).unwrap();
            !(interval.low <= 1.0 && 1.0 <= interval.high)
        });
        missed.count() as f64 / f64::from(pairs)
    }

    #[test]
    fn intervals_cover_as_often_as_they_say() {
        for repetitions in [3, 5, 10] {
            let even = misses(repetitions, 0.95, |rng| 1.0 + 0.01 * normal(rng));
            assert!(even < 0.06, "{repetitions} repetitions, normal noise: {even}");
            // One run in ten is disturbed, by up to a half.
            let wild = misses(repetitions, 0.95, |rng| {
                let disturbed = if rng.f64() < 0.1 { 0.5 * rng.f64() } else { 0.0 };
                1.0 + 0.01 * normal(rng) + disturbed
            });
            assert!(wild < 0.06, "{repetitions} repetitions, one in ten disturbed: {wild}");
            let strict = misses(repetitions, 0.999, |rng| 1.0 + 0.01 * normal(rng));
            assert!(strict < 0.006, "{repetitions} repetitions, 99.9 %: {strict}");
        }
    }

    proptest! {
        // Each case is thousands of resamples.
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn intervals_hold_the_ratio_and_turn_with_the_sides(
            base in prop::collection::vec(1.0..1e9f64, 2..8),
            new in prop::collection::vec(1.0..1e9f64, 2..8),
        ) {
            let there = ratio_of_medians(&base, &new).unwrap();
            let back = ratio_of_medians(&new, &base).unwrap();
            let (narrow, wide) = (there.interval(0.9).unwrap(), there.interval(0.99).unwrap());
            prop_assert!(wide.low <= narrow.low && narrow.low <= there.value);
            prop_assert!(there.value <= narrow.high && narrow.high <= wide.high);
            let turned = back.interval(0.9).unwrap();
            prop_assert!((turned.low * narrow.high - 1.0).abs() < 1e-9, "{turned:?} {narrow:?}");
        }
    }
}
