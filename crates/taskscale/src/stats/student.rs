//! Student's t distribution.

use std::f64::consts::PI;

/// The probability that a value of Student's t with `freedom` degrees of freedom is above `t`.
///
/// Half of the regularized incomplete beta function at `freedom / (freedom + t²)`: Abramowitz & Stegun (1964), Handbook
/// of Mathematical Functions, 26.7.1 and 26.5.27.
pub(super) fn above(t: f64, freedom: f64) -> f64 {
    if t < 0.0 {
        return 1.0 - above(-t, freedom);
    }
    // The square of a huge t overflows to infinity, which gives a probability of 0.
    let square = t * t;
    0.5 * incomplete_beta(freedom / (freedom + square), square / (freedom + square), freedom / 2.0, 0.5)
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

/// The regularized incomplete beta function of `x`, given as `x` and `y = 1 - x` so that neither loses digits.
///
/// By the continued fraction, which converges fast for `x` below the mean of the distribution; above it by symmetry.
fn incomplete_beta(x: f64, y: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 || y <= 0.0 || x.is_nan() || y.is_nan() {
        return if y <= 0.0 { 1.0 } else { 0.0 };
    }
    let front = (ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b) + a * x.ln() + b * y.ln()).exp();
    if x < (a + 1.0) / (a + b + 2.0) {
        front * continued_fraction(x, a, b) / a
    } else {
        1.0 - front * continued_fraction(y, b, a) / b
    }
}

/// Maximum steps of the continued fraction, which needs a few times the root of the larger of `a` and `b`.
const STEPS: u32 = 10_000;

/// Abramowitz & Stegun 26.5.8, by the method of Lentz (1976) as modified by Thompson & Barnett (1986).
fn continued_fraction(x: f64, a: f64, b: f64) -> f64 {
    let kept = |value: f64| if value.abs() < 1e-300 { 1e-300 } else { value };
    let mut c = 1.0;
    let mut d = 1.0 / kept(1.0 - (a + b) * x / (a + 1.0));
    let mut fraction = d;
    for step in 1..STEPS {
        let m = f64::from(step);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for term in [even, odd] {
            d = 1.0 / kept(1.0 + term * d);
            c = kept(1.0 + term / c);
            change = c * d;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// The logarithm of the gamma function above zero: Lanczos (1964), with the coefficients of Godfrey for g = 7.
fn ln_gamma(x: f64) -> f64 {
    const COEFFICIENTS: [f64; 8] = [
        676.520_368_121_885_1,
        -1_259.139_216_722_402_8,
        771.323_428_777_653_1,
        -176.615_029_162_140_6,
        12.507_343_278_686_905,
        -0.138_571_095_265_720_12,
        9.984_369_578_019_572e-6,
        1.505_632_735_149_311_6e-7,
    ];
    let x = x - 1.0;
    let terms = COEFFICIENTS.iter().zip(1_u32..).map(|(c, i)| c / (x + f64::from(i)));
    let series = 0.999_999_999_999_809_9 + terms.sum::<f64>();
    let t = x + 7.5;
    0.5 * (2.0 * PI).ln() + (x + 0.5) * t.ln() - t + series.ln()
}

#[cfg(test)]
mod tests {
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
