//! Whether memory is linear: how far the readings deviate from the line.
//!
//! A garbage-collected heap grows in leaps, and an allocator in chunks. A slope can be fitted to anything, and its
//! interval shows how well the repetitions agree, not whether memory is linear in N.

use serde::Serialize;

use super::line::medians;
use super::{Line, Point, line};

/// Memory is nonlinear if the median at some N deviates from the line by more than this share.
///
/// A significance test (lack of fit against the scatter of repetitions) would not help: if repetitions agree to
/// the page, it rejects a line that is 0.1% off. Readers use the line to compute `base + N × slope`, so the
/// bound is on the error of that value, as in an equivalence test (Schuirmann 1987). In 69 programs at 1, 10k,
/// 100k and 1M tasks, the deviation was 0 to 2% without a garbage collector (15% for one whose allocator takes
/// whole segments), 1 to 7% for goroutines and BEAM processes, 7 to 12% for .NET heaps, 20% for Node.js and 50
/// to 100% for the JVM. Noise of 2% per reading cannot reach 10%.
pub const OFF: f64 = 0.10;

/// A line, with how well it fits.
#[derive(Debug, Clone, PartialEq)]
pub struct Fit {
    pub line: Line,
    /// The N whose median deviates most. `None` for fewer than three N, which always look linear.
    pub worst: Option<WorstPoint>,
    /// Bytes per task from each N to the next, ascending, for nonlinear memory.
    pub steps: Vec<Step>,
}

/// The footprint at one number of tasks, compared with the fitted line.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct WorstPoint {
    pub tasks: u64,
    /// Median of the runs.
    pub footprint_bytes: f64,
    /// Value of the line.
    pub line_bytes: f64,
    /// Deviation of the median from the line, as a share of the line. Negative if below. Null if the line is
    /// not above 0.
    pub off: Option<f64>,
}

/// Bytes per task between the medians at two consecutive numbers of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Step {
    pub from_tasks: u64,
    pub to_tasks: u64,
    pub bytes_per_task: f64,
}

impl WorstPoint {
    fn distance(&self) -> f64 {
        self.off.map_or(f64::INFINITY, f64::abs)
    }
}

impl Fit {
    /// Whether all medians are within [`OFF`] of the line. `None` for fewer than three N.
    pub fn linear(&self) -> Option<bool> {
        self.worst.map(|worst| worst.distance() <= OFF)
    }
}

/// The [`line`] through the points, with how well it fits.
pub fn fit(points: &[Point]) -> Option<Fit> {
    let line = line(points)?;
    let medians = medians(points);
    let against = |point: &Point| {
        let line_bytes = line.base + line.slope * point.tasks as f64;
        let off = (line_bytes > 0.0).then(|| point.y / line_bytes - 1.0);
        WorstPoint { tasks: point.tasks, footprint_bytes: point.y, line_bytes, off }
    };
    let farthest = medians.iter().map(against).max_by(|a, b| a.distance().total_cmp(&b.distance()));
    Some(Fit {
        line,
        worst: farthest.filter(|_| medians.len() > 2),
        steps: medians
            .windows(2)
            .map(|pair| Step {
                from_tasks: pair[0].tasks,
                to_tasks: pair[1].tasks,
                bytes_per_task: (pair[1].y - pair[0].y) / (pair[1].tasks - pair[0].tasks) as f64,
            })
            .collect(),
    })
}

/// The predicted `y` at `tasks`: on the line, or if memory is nonlinear, interpolated between medians and
/// extrapolated by the nearest step. `None` without a line.
pub fn predicted(points: &[Point], tasks: u64) -> Option<f64> {
    let fit = fit(points)?;
    if fit.linear() != Some(false) {
        return Some(fit.line.base + fit.line.slope * tasks as f64);
    }
    let step = fit.steps.iter().find(|step| tasks <= step.to_tasks).or(fit.steps.last())?;
    let from = medians(points).into_iter().find(|point| point.tasks == step.from_tasks)?;
    Some(from.y + step.bytes_per_task * (tasks as f64 - step.from_tasks as f64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const DECADES: [u64; 4] = [1, 10_000, 100_000, 1_000_000];

    /// Readings at 1, 10k, 100k and 1M tasks, each `repetitions` times.
    fn readings(repetitions: usize, mut y: impl FnMut(u64) -> f64) -> Vec<Point> {
        let tasks = DECADES.iter().flat_map(|&tasks| vec![tasks; repetitions]);
        tasks.map(|tasks| Point { tasks, y: y(tasks) }).collect()
    }

    fn of(medians: [f64; 4]) -> Vec<Point> {
        let at = |tasks| medians[DECADES.iter().position(|known| *known == tasks).unwrap()];
        readings(3, at)
    }

    #[test]
    fn two_numbers_of_tasks_cannot_show_linearity() {
        let points = [Point { tasks: 1, y: 1e6 }, Point { tasks: 10, y: 9e6 }];
        let points = [points, points].concat();
        let fit = fit(&points).unwrap();
        assert_eq!((fit.worst, fit.linear()), (None, None));
    }

    /// Footprints of `java/virtual-thread` and `rust/tokio-spawn` (results/2026-11-21-posts), in bytes.
    #[test]
    fn java_heap_is_nonlinear_and_tokio_is_linear() {
        let points = of([47.0e6, 77.0e6, 237.0e6, 992.6e6]);
        let java = fit(&points).unwrap();
        let worst = java.worst.unwrap();
        assert_eq!((worst.tasks, java.linear()), (100_000, Some(false)));
        assert!((0.6..0.8).contains(&worst.off.unwrap()), "{worst:?}");
        let steps: Vec<u64> = java.steps.iter().map(|step| step.bytes_per_task as u64).collect();
        assert_eq!(steps, [3_000, 1_777, 839]);
        let points = of([3.05e6, 7.6e6, 48.7e6, 459.5e6]);
        let tokio = fit(&points).unwrap();
        assert_eq!(tokio.linear(), Some(true));
        assert!(tokio.worst.unwrap().off.unwrap().abs() < 0.01);
    }

    #[test]
    fn negative_slopes_are_not_linear() {
        assert_eq!(fit(&of([9e6, 2e6, 1e6, -9e6])).unwrap().linear(), Some(false));
    }

    #[test]
    fn nonlinear_memory_is_drawn_through_medians() {
        let java = of([47.0e6, 77.0e6, 237.0e6, 992.6e6]);
        for (tasks, bytes) in [(10_000, 77.0e6), (55_000, 157.0e6), (1_000_000, 992.6e6)] {
            let seen = predicted(&java, tasks).unwrap();
            assert!((seen / bytes - 1.0).abs() < 0.01, "{tasks}: {seen}");
        }
        // Beyond the last N: by the last step.
        let beyond = predicted(&java, 2_000_000).unwrap();
        assert!((beyond / (992.6e6 + 839.6e6) - 1.0).abs() < 0.01, "{beyond}");
        assert_eq!(predicted(&java[..3], 10), None);
    }

    proptest! {
        #[test]
        fn noise_does_not_make_memory_nonlinear(
            base in 1e5..1e9f64,
            slope in 10.0..50_000.0f64,
            repetitions in 1usize..6,
            seed in any::<u64>(),
        ) {
            let mut rng = fastrand::Rng::with_seed(seed);
            let points = readings(repetitions, |tasks| {
                (base + slope * tasks as f64) * (0.98 + 0.04 * rng.f64())
            });
            let fit = fit(&points).unwrap();
            prop_assert_eq!(fit.linear(), Some(true), "{:?}", fit.worst);
        }

        /// Headroom that a collector keeps at one N and not at another.
        #[test]
        fn memory_jump_at_one_count_is_not_linear(
            base in 1e5..1e8f64,
            slope in 10.0..50_000.0f64,
            repetitions in 1usize..4,
            leap in prop_oneof![0.3..0.8f64, 1.25..3.0f64],
            at in 1usize..3,
        ) {
            let points = readings(repetitions, |tasks| {
                let y = base + slope * tasks as f64;
                if tasks == DECADES[at] { y * leap } else { y }
            });
            let fit = fit(&points).unwrap();
            prop_assert_eq!(fit.linear(), Some(false));
            prop_assert_eq!(fit.worst.unwrap().tasks, DECADES[at]);
        }

        /// Memory allocated in powers of two, at 1 to 8 tasks.
        #[test]
        fn power_of_two_growth_is_not_linear(chunk in 1e5..1e8f64) {
            let points: Vec<Point> = (1..=8u64)
                .map(|tasks| Point { tasks, y: chunk * tasks.next_power_of_two() as f64 })
                .collect();
            prop_assert_eq!(fit(&points).unwrap().linear(), Some(false));
        }
    }
}
