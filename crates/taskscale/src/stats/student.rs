//! Student's t distribution.

use statrs::function::beta::beta_reg;

/// The probability that a value of Student's t with `freedom` degrees of freedom is above `t`.
///
/// Half of the regularized incomplete beta function at `freedom / (freedom + t²)`: Abramowitz & Stegun (1964), Handbook
/// of Mathematical Functions, 26.7.1 and 26.5.2.
pub(super) fn above(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - above(-t, freedom);
    }
    let (square, half) = (t * t, freedom / 2.0);
    // By symmetry for a small t, as a share near 1 has lost its digits.
    if t < 1.0 {
        return 0.5 - 0.5 * beta_reg(0.5, half, square / (freedom + square));
    }
    // The square of a huge t overflows to infinity, which gives a probability of 0.
    0.5 * beta_reg(half, 0.5, freedom / (freedom + square))
}

/// The t that is exceeded with probability `p`, for 0 < `p` ≤ 0.5.
pub(super) fn quantile(p: f64, freedom: f64) -> f64 {
    let (mut low, mut high) = (0.0, 1.0);
    while above(high, freedom) > p {
        (low, high) = (high, 2.0 * high);
    }
    while high - low > 1e-12 * high {
        let middle = f64::midpoint(low, high);
        if above(middle, freedom) > p { low = middle } else { high = middle }
    }
    high
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use super::*;
    use proptest::prelude::*;

    /// Fisher & Yates (1963), Statistical Tables, table III, which has three decimals.
    #[test]
    fn quantiles_match_published_tables() {
        for (p, freedom, t) in [
            (0.025, 1.0, 12.706),
            (0.025, 2.0, 4.303),
            (0.025, 4.0, 2.776),
            (0.025, 8.0, 2.306),
            (0.025, 60.0, 2.000),
            (0.005, 8.0, 3.355),
            (0.000_5, 2.0, 31.599),
            (0.000_5, 120.0, 3.373),
            (0.1, 3.0, 1.638),
            (0.025, 1e9, 1.960),
        ] {
            let found = quantile(p, freedom);
            assert!((found - t).abs() <= 0.000_5, "{p} {freedom}: {found}, and not {t}");
        }
    }

    #[test]
    fn quantiles_match_the_closed_form_of_four_degrees_of_freedom() {
        for p in [0.4, 0.1, 0.025, 0.001_25, 1e-5, 1e-9] {
            let alpha: f64 = 4.0 * p * (1.0 - p);
            let q = (alpha.sqrt().acos() / 3.0).cos() / alpha.sqrt();
            let (t, found) = (2.0 * (q - 1.0).sqrt(), quantile(p, 4.0));
            assert!((found / t - 1.0).abs() < 1e-9, "{p}: {found}, and not {t}");
        }
        assert!(quantile(0.5, 7.0) < 1e-9);
    }

    #[test]
    fn tails_match_closed_forms_of_one_and_two_degrees_of_freedom() {
        for t in [1e-9, 0.1, 0.7, 1.0, 2.5, 40.0, 1e6, 1e12] {
            let one = 1.0_f64.atan2(t) / PI;
            let root = (2.0 + t * t).sqrt();
            let two = 1.0 / (root * (root + t));
            for (freedom, expected) in [(1.0, one), (2.0, two)] {
                let found = above(t, freedom);
                assert!((found / expected - 1.0).abs() < 1e-9, "{t} {freedom}: {found}, and not {expected}");
            }
        }
        assert_eq!((above(f64::INFINITY, 3.0), above(f64::NEG_INFINITY, 3.0)), (0.0, 1.0));
        assert_eq!((above(0.0, 3.0), above(1e200, 3.0)), (0.5, 0.0));
    }

    proptest! {
        #[test]
        fn quantiles_invert_tails(p in 1e-12..0.5f64, freedom in 1.0..2_000.0f64) {
            let t = quantile(p, freedom);
            prop_assert!((above(t, freedom) / p - 1.0).abs() < 1e-6, "{t}");
            prop_assert!((above(-t, freedom) - (1.0 - p)).abs() < 1e-12);
        }
    }
}
