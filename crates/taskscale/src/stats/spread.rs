//! Median and spread of a few repetitions.

use serde::Serialize;

use super::Moments;

/// Median and spread of repeated readings of one metric, in its own unit.
///
/// There is no standard deviation: with three runs it means little, and one disturbed run doubles it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    pub median: f64,
    pub min: f64,
    pub max: f64,
    /// Median absolute deviation from the median, raw: not scaled by 1.4826 like a standard deviation.
    pub mad: f64,
    /// Number of finite readings.
    pub readings: usize,
    /// Moments of the logarithms, which [`Welch`](super::Welch) compares. `None` if a reading is not above 0.
    #[serde(skip)]
    pub logs: Option<Moments>,
}

impl Spread {
    /// The spread of the finite readings; `None` if there are none.
    pub fn of(readings: &[f64]) -> Option<Spread> {
        let finite: Vec<f64> = readings.iter().copied().filter(|value| value.is_finite()).collect();
        Some(Spread {
            median: median(&finite)?,
            min: finite.iter().copied().reduce(f64::min)?,
            max: finite.iter().copied().reduce(f64::max)?,
            mad: mad(&finite)?,
            readings: finite.len(),
            logs: Moments::of_logs(&finite),
        })
    }

    /// The geometric mean, as ratios are judged by logarithms. The median if a value is not above zero, or if all are
    /// equal, as logarithms would round it.
    pub fn geometric_mean(&self) -> f64 {
        self.logs.filter(|logs| logs.variance > 0.0).map_or(self.median, |logs| logs.mean.exp())
    }

    /// From the smallest reading to the largest.
    pub fn range(&self) -> f64 {
        self.max - self.min
    }

    /// The MAD as a share of the median: 0.01 is 1%. `None` for one reading, which has no spread, and where the median
    /// is 0.
    pub fn relative_mad(&self) -> Option<f64> {
        (self.readings > 1 && self.median != 0.0).then(|| self.mad / self.median.abs())
    }
}

/// The middle of the sorted values, or the mean of the two middle ones if their number is even.
///
/// `None` without values. NaN values sort last (or first, if negative): filter them out before, as [`Spread::of`] does.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle_two(&sorted).map(|(lower, upper)| lower.midpoint(*upper))
}

/// The two middle values of a sorted slice; the same one twice if its length is odd.
pub fn middle_two<T>(sorted: &[T]) -> Option<(&T, &T)> {
    Some((sorted.get(sorted.len().checked_sub(1)? / 2)?, &sorted[sorted.len() / 2]))
}

/// Raw median absolute deviation: the median of `|value - median(values)|`, in the unit of the values.
///
/// Hampel, F. R. (1974). The influence curve and its role in robust estimation. JASA 69(346), 383-393. Raw: without
/// the factor 1.4826 that makes it estimate the standard deviation of a normal distribution.
pub fn mad(values: &[f64]) -> Option<f64> {
    let middle = median(values)?;
    let deviations: Vec<f64> = values.iter().map(|value| (value - middle).abs()).collect();
    median(&deviations)
}

/// The weighted median of values in ascending order, each with its weight.
///
/// If a value ends exactly at half of the total weight, the result is the mean of this value and the next one
/// with a weight, as for [`median`]. `None` without any weight. Integer weights keep the sums exact, so the
/// order of equal values does not matter.
pub fn weighted_median(ascending: &[(f64, u64)]) -> Option<f64> {
    let total: u128 = ascending.iter().map(|(_, weight)| u128::from(*weight)).sum();
    let mut weighing = ascending.iter().filter(|(_, weight)| *weight > 0);
    let mut passed = 0;
    while let Some((value, weight)) = weighing.next() {
        passed += u128::from(*weight);
        if 2 * passed > total {
            return Some(*value);
        }
        if 2 * passed == total {
            return weighing.next().map(|(next, _)| value.midpoint(*next));
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn median_handles_odd_and_even_counts() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[7.0]), Some(7.0));
        assert_eq!(median(&[3.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 3.0, 2.0]), Some(2.5));
        assert_eq!(median(&[f64::MAX, f64::MAX]), Some(f64::MAX));
    }

    #[test]
    fn mad_is_not_scaled() {
        // The textbook example: deviations 1 1 0 0 2 4 7 from the median 2 have the median 1.
        assert_eq!(mad(&[1.0, 1.0, 2.0, 2.0, 4.0, 6.0, 9.0]), Some(1.0));
        assert_eq!(mad(&[5.0]), Some(0.0));
        assert_eq!(mad(&[]), None);
    }

    #[test]
    fn one_outlier_moves_the_range_but_not_the_median() {
        let calm = Spread::of(&[100.0, 101.0, 102.0, 103.0, 104.0]).unwrap();
        let wild = Spread::of(&[100.0, 101.0, 102.0, 103.0, 9000.0]).unwrap();
        assert_eq!((calm.median, calm.mad, calm.range()), (102.0, 1.0, 4.0));
        assert_eq!((wild.median, wild.mad, wild.range()), (102.0, 1.0, 8900.0));
    }

    #[test]
    fn relative_mad_needs_two_readings() {
        assert_eq!(Spread::of(&[]), None);
        assert_eq!(Spread::of(&[f64::NAN]), None);
        let one = Spread::of(&[5.0, f64::NAN]).unwrap();
        assert_eq!((one.median, one.readings, one.relative_mad()), (5.0, 1, None));
        assert_eq!(Spread::of(&[0.0, 0.0]).unwrap().relative_mad(), None);
        assert_eq!(Spread::of(&[98.0, 100.0, 102.0]).unwrap().relative_mad(), Some(0.02));
    }

    #[test]
    fn weights_move_the_median() {
        let of = |values: &[(f64, u64)]| weighted_median(values);
        assert_eq!(of(&[]), None);
        assert_eq!(of(&[(1.0, 0)]), None);
        assert_eq!(of(&[(1.0, 1), (2.0, 1), (3.0, 1)]), Some(2.0));
        assert_eq!(of(&[(1.0, 1), (2.0, 1), (3.0, 5)]), Some(3.0));
        // Exactly half on either side: their mean, skipping a value of weight 0.
        assert_eq!(of(&[(1.0, 2), (2.0, 0), (3.0, 2)]), Some(2.0));
        assert_eq!(of(&[(1.0, 2), (9.0, 0), (3.0, 2)]), Some(2.0));
        assert_eq!(of(&[(1.0, u64::MAX), (2.0, u64::MAX), (3.0, u64::MAX)]), Some(2.0));
    }

    proptest! {
        #[test]
        fn the_median_is_within_the_range(values in prop::collection::vec(-1e12..1e12f64, 1..40)) {
            let spread = Spread::of(&values).unwrap();
            prop_assert!(spread.min <= spread.median && spread.median <= spread.max);
            prop_assert!(0.0 <= spread.mad && spread.mad <= spread.range());
        }

        #[test]
        fn equal_weights_equal_the_unweighted_median(mut values in prop::collection::vec(-1e12..1e12f64, 0..40), weight in 1u64..9) {
            values.sort_by(f64::total_cmp);
            let weighted = weighted_median(&values.iter().map(|value| (*value, weight)).collect::<Vec<_>>());
            prop_assert_eq!(weighted, median(&values));
        }
    }
}
