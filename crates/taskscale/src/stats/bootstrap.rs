//! How far a line might lie elsewhere, had the same runs been repeated.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use serde::Serialize;

use super::line::{Line, MANY, Pairs, Point, line};

/// How many resamples an interval is drawn from. Efron & Tibshirani advise 1,000 or more for percentiles; 2,000 take
/// milliseconds.
pub const RESAMPLES: usize = 2_000;

/// Any fixed number: the same samples must give the same interval, today and on another machine.
const SEED: u64 = 0x7461_736b_7363_616c;

/// The bounds of a 95 % interval, in the unit of the estimate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Interval {
    pub low: f64,
    pub high: f64,
}

/// The 95 % intervals of a [`Line`](super::Line).
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineIntervals {
    pub slope: Interval,
    pub base: Interval,
}

/// The 95 % intervals of [`line`](super::line)'s slope and base by a stratified percentile bootstrap.
///
/// Each of the [`RESAMPLES`] lines is drawn through as many points as there are, taken with replacement from the
/// repetitions of each number of tasks separately: the numbers of tasks were chosen and not drawn, so every resample
/// has the same. The bounds are the 2.5th and the 97.5th percentile of the resampled lines, widened to the estimate
/// where that lies outside, which a median of few points can.
///
/// `None` where some number of tasks was run fewer than twice (one run says nothing of spread), and where there is
/// no line. Of two or three repetitions the intervals are rough and rather too narrow: the resamples can only be made
/// of what was seen.
///
/// Efron, B. & Tibshirani, R. J. (1993). An Introduction to the Bootstrap. Chapman & Hall: §13.3 for the percentile
/// interval, §8 for resampling within samples.
pub fn line_intervals(points: &[Point]) -> Option<LineIntervals> {
    let estimate = line(points)?;
    let lines = resampled_lines(points)?;
    Some(LineIntervals {
        slope: percentiles(lines.iter().map(|line| line.slope).collect(), estimate.slope)?,
        base: percentiles(lines.iter().map(|line| line.base).collect(), estimate.base)?,
    })
}

/// The lines through [`RESAMPLES`] stratified resamples of the points; `None` as for [`line_intervals`].
pub(super) fn resampled_lines(points: &[Point]) -> Option<Vec<Line>> {
    let pairs = Pairs::of(if points.len() > MANY { &[] } else { points });
    let mut sorted: Vec<Point> = points.iter().copied().filter(|point| point.y.is_finite()).collect();
    sorted.sort_by(|a, b| a.tasks.cmp(&b.tasks).then(a.y.total_cmp(&b.y)));
    let strata = strata(&sorted);
    if strata.iter().any(|stratum| stratum.len() < 2) {
        return None;
    }
    let mut rng = fastrand::Rng::with_seed(SEED);
    let mut times = vec![0u32; sorted.len()];
    let mut lines = Vec::with_capacity(RESAMPLES);
    for _ in 0..RESAMPLES {
        times.fill(0);
        for stratum in &strata {
            for _ in stratum.clone() {
                times[rng.usize(stratum.clone())] += 1;
            }
        }
        lines.push(if points.len() > MANY {
            let drawn = sorted
                .iter()
                .zip(&times)
                .flat_map(|(point, times)| std::iter::repeat_n(*point, *times as usize));
            line(&drawn.collect::<Vec<_>>())?
        } else {
            pairs.line(|i| times[i])?
        });
    }
    Some(lines)
}

/// The medians of [`RESAMPLES`] resamples of the values, which are finite.
pub(super) fn resampled_medians(values: &[f64]) -> Vec<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    middles(sorted.len()).iter().map(|(low, high)| sorted[*low].midpoint(sorted[*high])).collect()
}

/// The positions of the two values in the middle, for each resample.
type Middles = Vec<(usize, usize)>;

/// Of [`RESAMPLES`] resamples of `n` values in order: the positions of the two in the middle, which are one where `n`
/// is odd. They hang on the seed and `n` alone, so they are drawn once: a comparison takes such medians of hundreds of
/// cells, all of the same few repetitions.
fn middles(n: usize) -> Arc<Middles> {
    static DRAWN: Mutex<BTreeMap<usize, Arc<Middles>>> = Mutex::new(BTreeMap::new());
    let mut drawn = DRAWN.lock().unwrap_or_else(PoisonError::into_inner);
    let draw = || {
        let mut rng = fastrand::Rng::with_seed(SEED);
        let mut picked = vec![0; n];
        let middle = |_| {
            picked.fill_with(|| rng.usize(..n));
            picked.sort_unstable();
            (picked[(n - 1) / 2], picked[n / 2])
        };
        Arc::new((0..RESAMPLES).map(middle).collect())
    };
    // Few numbers of repetitions are usual; whoever asks for many others must not pay for it in memory.
    if drawn.len() > 100 {
        drawn.clear();
    }
    Arc::clone(drawn.entry(n).or_insert_with(draw))
}

/// The runs of equal numbers of tasks in points in ascending order, as ranges of positions.
fn strata(points: &[Point]) -> Vec<std::ops::Range<usize>> {
    let mut start = 0;
    points
        .chunk_by(|a, b| a.tasks == b.tasks)
        .map(|chunk| {
            let range = start..start + chunk.len();
            start = range.end;
            range
        })
        .collect()
}

fn percentiles(mut values: Vec<f64>, estimate: f64) -> Option<Interval> {
    values.sort_by(f64::total_cmp);
    // Of 2,000 values in order: the 50th and the 1,950th, counted from 1.
    let low = *values.get((values.len() / 40).saturating_sub(1))?;
    let high = *values.get((values.len() - values.len() / 40).saturating_sub(1))?;
    Some(Interval { low: low.min(estimate), high: high.max(estimate) })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(of: &[(u64, f64)]) -> Vec<Point> {
        of.iter().map(|&(tasks, y)| Point { tasks, y }).collect()
    }

    #[test]
    fn no_interval_without_repetitions() {
        assert_eq!(line_intervals(&points(&[(1, 1.0), (9, 9.0)])), None);
        assert_eq!(line_intervals(&points(&[(1, 1.0), (1, 1.0), (9, 9.0)])), None);
        assert_eq!(line_intervals(&points(&[(1, 1.0), (1, 2.0)])), None);
        assert!(line_intervals(&points(&[(1, 1.0), (1, 1.0), (9, 9.0), (9, 8.0)])).is_some());
    }

    #[test]
    fn without_noise_an_interval_has_no_width() {
        let exact = points(&[(1, 110.0), (1, 110.0), (100, 1100.0), (100, 1100.0)]);
        let intervals = line_intervals(&exact).unwrap();
        assert_eq!(intervals.slope, Interval { low: 10.0, high: 10.0 });
        assert_eq!(intervals.base, Interval { low: 100.0, high: 100.0 });
    }

    #[test]
    fn noise_widens_the_interval_by_about_its_own_size() {
        let noisy = points(&[
            (1, 0.0),
            (1, 0.0),
            (1, 0.0),
            (1_001, 99_000.0),
            (1_001, 100_000.0),
            (1_001, 101_000.0),
        ]);
        let slope = line_intervals(&noisy).unwrap().slope;
        assert_eq!((slope.low, slope.high), (99.0, 101.0));
    }

    #[test]
    fn the_same_points_give_the_same_interval() {
        let mut noisy: Vec<Point> =
            (0..24u64).map(|i| Point { tasks: 1 + i % 4, y: (i * 7919 % 101) as f64 }).collect();
        let before = line_intervals(&noisy);
        noisy.reverse();
        assert_eq!(line_intervals(&noisy), before);
    }

    proptest! {
        // Each case is 2,000 resamples.
        #![proptest_config(ProptestConfig::with_cases(32))]

        #[test]
        fn intervals_contain_the_estimate(
            tasks in prop::collection::btree_set(1u64..2_000_000, 2..5),
            noise in prop::collection::vec(0.0..1e7f64, 2 * 5..4 * 5),
        ) {
            let per_stratum = noise.len() / 5;
            let mut noise = noise.into_iter();
            let points: Vec<Point> = tasks
                .iter()
                .flat_map(|&tasks| vec![tasks; per_stratum])
                .map(|tasks| Point { tasks, y: 500.0 * tasks as f64 + noise.next().unwrap() })
                .collect();
            let estimate = line(&points).unwrap();
            let intervals = line_intervals(&points).unwrap();
            prop_assert!(intervals.slope.low <= estimate.slope && estimate.slope <= intervals.slope.high);
            prop_assert!(intervals.base.low <= estimate.base && estimate.base <= intervals.base.high);
        }
    }
}
