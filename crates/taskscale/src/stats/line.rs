//! A robust straight line through footprints over N: a few outliers do not bend it.

use std::collections::{BTreeMap, BTreeSet};

use super::{Interval, interval_of, median, weighted_median};

/// One reading: `y` (bytes, for a footprint) at this number of tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Point {
    pub tasks: u64,
    pub y: f64,
}

/// `y = base + slope * tasks`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Line {
    /// Growth of `y` per task: bytes per task, for a footprint.
    pub slope: f64,
    /// The fixed cost: `y` without tasks, in the unit of `y`.
    pub base: f64,
}

/// The robust line through the points. `None` for fewer than two different N.
///
/// **Slope**: the weighted Theil-Sen estimator, the median of the slopes `(yⱼ - yᵢ) / (Nⱼ - Nᵢ)` over all pairs
/// of points with different N, weighted by `|Nⱼ - Nᵢ|`. It is the slope `b` that minimizes
/// `Σ |(yⱼ - yᵢ) - b (Nⱼ - Nᵢ)|`. Without weights (Theil 1950, Sen 1968), pairs of two small N would outvote
/// pairs of a large and a small N, although their slopes are mostly noise ÷ a small difference. The weights are
/// those of Jaeckel (1972) and Sievers (1978).
///
/// **Fixed cost** (`base`): the median of `y - slope * N` over the points of the smallest N, where the tasks' own share
/// is least.
///
/// Points whose `y` is not finite are ignored. The order of points makes no difference.
///
/// - Theil, H. (1950). A rank-invariant method of linear and polynomial regression analysis. Proceedings of the
///   Koninklijke Nederlandse Akademie van Wetenschappen 53, 386-392, 521-525, 1397-1412.
/// - Sen, P. K. (1968). Estimates of the regression coefficient based on Kendall's tau. JASA 63(324), 1379-1389.
/// - Jaeckel, L. A. (1972). Estimating regression coefficients by minimizing the dispersion of the residuals.
///   Annals of Mathematical Statistics 43(5), 1449-1458.
/// - Sievers, G. L. (1978). Weighted rank statistics for simple linear regression. JASA 73(363), 628-631.
///
/// Above [`MANY`] points, the line goes through the medians at each N: all pairs would need hundreds of MiB,
/// and a median of this many repetitions is as stable. Above [`MANY`] different N, it uses every nth and the
/// last.
pub fn line(points: &[Point]) -> Option<Line> {
    if points.len() <= MANY {
        return through(points);
    }
    let medians = medians(points);
    let step = medians.len().div_ceil(MANY).max(1);
    let last = medians.last().copied().filter(|_| step > 1);
    through(&medians.into_iter().step_by(step).chain(last).collect::<Vec<_>>())
}

/// The maximum number of points for which all pairs are computed.
const MANY: usize = 150;

/// One point for each number of tasks: the median of its readings.
pub fn medians(points: &[Point]) -> Vec<Point> {
    let mut by_tasks: BTreeMap<u64, Vec<f64>> = BTreeMap::new();
    for point in points.iter().filter(|point| point.y.is_finite()) {
        by_tasks.entry(point.tasks).or_default().push(point.y);
    }
    let point = |(tasks, readings): (u64, Vec<f64>)| Some(Point { tasks, y: median(&readings)? });
    by_tasks.into_iter().filter_map(point).collect()
}

fn through(points: &[Point]) -> Option<Line> {
    let mut points: Vec<Point> = points.iter().copied().filter(|point| point.y.is_finite()).collect();
    points.sort_by_key(|point| point.tasks);
    let mut slopes = Vec::new();
    for (i, near) in points.iter().enumerate() {
        for far in &points[i + 1..] {
            let distance = far.tasks - near.tasks;
            if distance > 0 {
                slopes.push(((far.y - near.y) / distance as f64, distance));
            }
        }
    }
    slopes.sort_by(|a, b| a.0.total_cmp(&b.0));
    let slope = weighted_median(&slopes)?;
    let smallest = points.first()?.tasks;
    let of_smallest = points.iter().filter(|point| point.tasks == smallest);
    let rests: Vec<f64> = of_smallest.map(|point| point.y - slope * smallest as f64).collect();
    Some(Line { slope, base: median(&rests)? })
}

/// One line per repetition. Skips repetitions without a reading at every N, so that all lines span the same N.
pub fn lines_of_repetitions(mut readings: Vec<(u32, Point)>) -> Vec<Line> {
    readings.retain(|(_, point)| point.y.is_finite());
    readings.sort_unstable_by_key(|(repetition, _)| *repetition);
    let all: BTreeSet<u64> = readings.iter().map(|(_, point)| point.tasks).collect();
    let lines = readings.chunk_by(|a, b| a.0 == b.0).filter_map(|repetition| {
        let points: Vec<Point> = repetition.iter().map(|(_, point)| *point).collect();
        let own: BTreeSet<u64> = points.iter().map(|point| point.tasks).collect();
        if own == all { line(&points) } else { None }
    });
    lines.collect()
}

/// The intervals of a [`Line`].
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LineIntervals {
    pub slope: Interval,
    pub base: Interval,
}

/// Confidence intervals of the slope and fixed cost of a line through all readings, from the lines of single
/// repetitions (see [`interval_of`]). `None` for fewer than two repetitions.
pub fn line_intervals(repetitions: &[Line], line: &Line) -> Option<LineIntervals> {
    let of = |figure: fn(&Line) -> f64| {
        interval_of(&repetitions.iter().map(figure).collect::<Vec<_>>(), figure(line))
    };
    Some(LineIntervals { slope: of(|line| line.slope)?, base: of(|line| line.base)? })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn points(of: &[(u64, f64)]) -> Vec<Point> {
        of.iter().map(|&(tasks, y)| Point { tasks, y }).collect()
    }

    #[test]
    fn many_points_give_the_same_line_as_few() {
        let few = points(&[(1, 11.0), (1, 13.0), (1, 12.0), (100, 112.0), (100, 111.0), (100, 113.0)]);
        let many: Vec<Point> = few.iter().cycle().take(MANY * 6).copied().collect();
        assert_eq!(line(&many), line(&few));
    }

    #[test]
    fn a_million_task_counts_give_the_exact_line() {
        let many: Vec<Point> =
            (1..=1_000_000).map(|tasks| Point { tasks, y: 5.0 + 2.0 * tasks as f64 }).collect();
        assert_eq!(line(&many), Some(Line { slope: 2.0, base: 5.0 }));
    }

    #[test]
    fn a_line_needs_two_numbers_of_tasks() {
        assert_eq!(line(&[]), None);
        assert_eq!(line(&points(&[(10, 1.0), (10, 2.0)])), None);
        assert_eq!(line(&points(&[(10, 1.0), (20, f64::NAN)])), None);
        assert_eq!(line(&points(&[(10, 1.0), (20, 2.0)])), Some(Line { slope: 0.1, base: 0.0 }));
    }

    #[test]
    fn slope_is_the_weighted_median_of_pairwise_slopes() {
        // Slopes (weights): 1→2: 1 (1), 1→4: 3 (3), 2→4: 4 (2). Half of the weight, 3, falls within slope 3.
        let line = line(&points(&[(1, 0.0), (2, 1.0), (4, 9.0)])).unwrap();
        assert_eq!(line, Line { slope: 3.0, base: -3.0 });
    }

    #[test]
    fn small_numbers_of_tasks_do_not_outvote_a_large_one() {
        // 400 bytes per task, which noise of hundreds of kB hides at 1 and 10 tasks.
        let line = line(&points(&[
            (1, 2.1e6),
            (1, 2.0e6),
            (1, 1.9e6),
            (10, 2.3e6),
            (10, 2.2e6),
            (10, 1.8e6),
            (1_000_000, 402e6),
        ]))
        .unwrap();
        assert!((line.slope - 400.0).abs() < 0.5, "{line:?}");
        assert!((line.base - 2.0e6).abs() < 1e3, "{line:?}");
    }

    #[test]
    fn one_outlier_does_not_change_the_line() {
        let mut calm = Vec::new();
        for tasks in [1, 10_000, 100_000] {
            for _ in 0..3 {
                calm.push(Point { tasks, y: 5e6 + 2_600.0 * tasks as f64 });
            }
        }
        let mut wild = calm.clone();
        wild[8].y *= 3.0;
        let (calm, wild) = (line(&calm).unwrap(), line(&wild).unwrap());
        assert_eq!(calm, wild);
    }

    #[test]
    fn the_largest_counts_do_not_overflow() {
        let line = line(&points(&[(1, 0.0), (u64::MAX, 1.0), (u64::MAX, 1.0), (u64::MAX, 1.0)])).unwrap();
        assert!(line.slope > 0.0 && line.slope < 1e-18);
    }

    /// Readings at 1 and 1,001 tasks, one pair for each repetition.
    fn repetitions(of: &[(f64, f64)]) -> Vec<(u32, Point)> {
        let pair = |(repetition, &(few, many)): (u32, &(f64, f64))| {
            [(1, few), (1_001, many)].map(|(tasks, y)| (repetition, Point { tasks, y }))
        };
        (1..).zip(of).flat_map(pair).collect()
    }

    fn intervals(readings: &[(u32, Point)]) -> Option<LineIntervals> {
        let points: Vec<Point> = readings.iter().map(|(_, point)| *point).collect();
        line_intervals(&lines_of_repetitions(readings.to_vec()), &line(&points)?)
    }

    #[test]
    fn interval_is_computed_from_slopes_of_repetitions() {
        assert_eq!(intervals(&repetitions(&[(0.0, 100e3)])), None);
        let exact = intervals(&repetitions(&[(110.0, 10_110.0); 3])).unwrap();
        assert_eq!(exact.slope, Interval { low: 10.0, high: 10.0 });
        assert_eq!(exact.base, Interval { low: 100.0, high: 100.0 });
        // Slopes 99, 100 and 101: about 100 ± 4.303 (t with 2 degrees of freedom) × 1/√3 (standard error).
        let slope = intervals(&repetitions(&[(0.0, 99e3), (0.0, 100e3), (0.0, 101e3)])).unwrap().slope;
        assert!((slope.low - 97.55).abs() < 0.01 && (slope.high - 102.51).abs() < 0.01, "{slope:?}");
    }

    #[test]
    fn incomplete_repetition_yields_no_line() {
        let mut readings = repetitions(&[(0.0, 99e3), (0.0, 100e3), (0.0, 500e3)]);
        readings.pop();
        assert_eq!(lines_of_repetitions(readings.clone()).len(), 2);
        readings.push((3, Point { tasks: 1_001, y: f64::NAN }));
        assert_eq!(lines_of_repetitions(readings.clone()).len(), 2);
        assert_eq!(lines_of_repetitions(Vec::new()), []);
    }

    proptest! {
        #[test]
        fn exact_line_is_recovered(
            base in 0u32..1 << 30,
            slope in 0u32..1 << 20,
            tasks in prop::collection::btree_set(1u64..2_000_000, 2..6),
            repetitions in 1usize..4,
        ) {
            // All of these whole numbers are below 2^53: floating point is exact.
            let points: Vec<Point> = tasks
                .iter()
                .flat_map(|&tasks| vec![tasks; repetitions])
                .map(|tasks| Point { tasks, y: f64::from(base) + f64::from(slope) * tasks as f64 })
                .collect();
            let expected = Line { slope: f64::from(slope), base: f64::from(base) };
            prop_assert_eq!(line(&points), Some(expected));
        }

        #[test]
        fn point_order_does_not_change_the_line(
            (ordered, shuffled) in prop::collection::vec((1u64..9, 0.0..1e9f64), 0..20)
                .prop_flat_map(|points| (Just(points.clone()), Just(points).prop_shuffle()))
        ) {
            prop_assert_eq!(line(&points(&ordered)), line(&points(&shuffled)));
        }
    }
}
