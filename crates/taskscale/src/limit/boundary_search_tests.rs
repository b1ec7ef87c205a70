//! Searches against scripted boundaries: exact, noisy, far from the prediction, and none at all.

use proptest::prelude::*;

use super::super::prediction::predict_tasks;
use super::*;
use crate::stats::Point;

/// Half of `--precision 2%`.
pub const COUNTS: Search = Search {
    passes: PassingSide::Below,
    bounds: (1, 1_000_000_000_000),
    precision: 0.01,
    radix: 10.0,
    blind: LONGEST_STEP,
};
pub const BYTES: Search = Search {
    passes: PassingSide::Above,
    bounds: (1 << 20, 16 << 30),
    precision: 0.01,
    radix: 2.0,
    blind: LONGEST_STEP,
};

/// Runs a search against an oracle, with at most `most` probes. The oracle gives pass or fail and a prediction.
fn drive(
    search: &Search,
    pilots: &[u64],
    most: usize,
    mut oracle: impl FnMut(u64) -> (bool, Option<Prediction>),
) -> (Vec<Probe>, SearchStep) {
    let mut probes = Vec::new();
    let mut predicted = None;
    let mut pilots = pilots.iter();
    loop {
        let value = match search.next(&probes) {
            SearchStep::Try(value) => {
                let failed = probes.iter().any(|probe: &Probe| !probe.passed);
                pilots.next().copied().filter(|_| !failed).unwrap_or(value)
            }
            end => return (probes, end),
        };
        assert!(search.bounds.0 <= value && value <= search.bounds.1, "{value} is out of bounds");
        assert!(probes.iter().all(|probe| probe.value != value), "{value} is tried twice: {probes:?}");
        if probes.len() == most {
            return (probes, SearchStep::Try(value));
        }
        let (passed, prediction) = oracle(value);
        predicted = prediction.or(predicted);
        probes.push(Probe { value, passed, confirms: false, prediction: predicted });
    }
}

fn predicted(value: f64) -> Option<Prediction> {
    Some(Prediction { value, doubt: 0.0 })
}

#[track_caller]
fn found(step: SearchStep) -> Bracket {
    match step {
        SearchStep::Found(bracket) => bracket,
        other => panic!("not found: {other:?}"),
    }
}

/// A program's memory: a fixed cost, bytes per task, and a vector that doubles at powers of two.
struct LinearProgram {
    base: f64,
    per_task: f64,
    doubling: f64,
    cap: f64,
    noise: f64,
    rng: fastrand::Rng,
    seen: Vec<Point>,
}

impl LinearProgram {
    fn needs(&self, tasks: u64) -> f64 {
        let n = tasks as f64;
        self.base + self.per_task * n + self.doubling * (tasks.next_power_of_two() as f64)
    }

    /// One run: whether it passes, and the predicted boundary.
    fn run(&mut self, tasks: u64) -> (bool, Option<Prediction>) {
        let wobble = 1.0 + self.noise * (2.0 * self.rng.f64() - 1.0);
        let used = self.needs(tasks) * wobble;
        let passed = used <= self.cap;
        if passed {
            self.seen.push(Point { tasks, y: used });
        }
        (passed, predict_tasks(&self.seen, self.cap))
    }
}

#[test]
fn linear_program_is_searched_in_at_most_five_runs() {
    let mut program = LinearProgram {
        base: 2.1e6,
        per_task: 456.0,
        doubling: 0.0,
        cap: 512e6,
        noise: 0.0,
        rng: fastrand::Rng::with_seed(1),
        seen: Vec::new(),
    };
    let (probes, step) = drive(&COUNTS, &[1, 10_000], 8, |tasks| program.run(tasks));
    let bracket = found(step);
    assert!(program.needs(bracket.passing) <= 512e6 && program.needs(bracket.failing) > 512e6);
    assert!(bracket.width() <= 0.01, "{bracket:?}");
    assert!(probes.len() <= 5, "{probes:?}");
}

#[test]
fn large_probed_values_are_round_numbers() {
    let (probes, _) = drive(&COUNTS, &[], 60, |tasks| (tasks <= 1_234_567, None));
    assert!(probes.iter().filter(|probe| probe.value > 1_000_000).all(|probe| probe.value % 1_000 == 0));
    let (probes, _) = drive(&BYTES, &[], 60, |bytes| (bytes >= 123 << 20, None));
    assert!(probes.iter().filter(|probe| probe.value > 64 << 20).all(|probe| probe.value % (64 << 10) == 0));
}

#[test]
fn the_boundary_is_found_without_predictions() {
    for boundary in [1u64, 2, 7, 99, 12_345, 999_999_999_998] {
        let (probes, step) = drive(&COUNTS, &[], 60, |tasks| (tasks <= boundary, None));
        let bracket = found(step);
        assert!(bracket.passing <= boundary && boundary < bracket.failing, "{bracket:?} for {boundary}");
        assert!(bracket.width() <= 0.01 || bracket.failing - bracket.passing == 1, "{bracket:?}");
        assert!(probes.len() <= 22, "{} probes for {boundary}", probes.len());
    }
}

#[test]
fn small_boundaries_are_exact() {
    let (_, step) = drive(&COUNTS, &[1, 10], 30, |tasks| (tasks <= 41, predicted(36.0)));
    assert_eq!(found(step), Bracket { passing: 41, failing: 42 });
}

#[test]
fn searches_report_that_nothing_or_everything_passes() {
    assert_eq!(drive(&COUNTS, &[], 30, |_| (false, None)).1, SearchStep::NothingPasses);
    assert_eq!(drive(&BYTES, &[], 30, |_| (false, None)).1, SearchStep::NothingPasses);
    assert_eq!(drive(&COUNTS, &[], 30, |_| (true, predicted(1e30))).1, SearchStep::EverythingPasses);
    assert_eq!(drive(&BYTES, &[], 30, |_| (true, predicted(f64::NAN))).1, SearchStep::EverythingPasses);
}

#[test]
fn failures_override_passes_at_equal_or_harder_values() {
    let probes = [(100, true), (200, true), (150, false), (200, false), (149, true), (150, true)]
        .map(|(value, passed)| Probe { value, passed, confirms: false, prediction: None });
    assert_eq!(COUNTS.ends(&probes), (Some(149), Some(150)));
    assert_eq!(COUNTS.next(&probes), SearchStep::Found(Bracket { passing: 149, failing: 150 }));
    let probes = [(300, true), (100, true), (200, false)].map(|(value, passed)| Probe {
        value,
        passed,
        confirms: false,
        prediction: None,
    });
    assert_eq!(Search { bounds: (1, 1000), ..BYTES }.ends(&probes), (Some(300), Some(200)));
}

/// A prediction that is always wrong costs runs, not the answer.
#[test]
fn wrong_predictions_only_cost_runs() {
    for wrong in [0.01, 0.5, 0.97, 1.03, 2.0, 100.0] {
        let (probes, step) =
            drive(&COUNTS, &[1, 10_000], 30, |tasks| (tasks <= 500_000, predicted(500_000.0 * wrong)));
        let bracket = found(step);
        assert!(bracket.passing <= 500_000 && 500_000 < bracket.failing);
        assert!(probes.len() <= 22, "{} probes with predictions × {wrong}", probes.len());
    }
}

/// Sorted run counts. The promise: 1% in eight runs, pilots included, if memory grows linearly with usual
/// scatter.
fn runs_needed(noise: f64, doubling: f64) -> Vec<usize> {
    let mut runs = Vec::new();
    let mut rng = fastrand::Rng::with_seed(7);
    for case in 0..4_000 {
        let cap = (64u64 << 20) as f64 * 2f64.powf(rng.f64() * 5.0);
        let per_task = 10f64.powf(1.2 + rng.f64() * 3.5);
        let mut program = LinearProgram {
            base: cap * (0.005 + 0.5 * rng.f64()),
            per_task,
            doubling: doubling * per_task,
            cap,
            noise,
            rng: fastrand::Rng::with_seed(case),
            seen: Vec::new(),
        };
        let (probes, step) = drive(&COUNTS, &[1, 10_000], 30, |tasks| program.run(tasks));
        let bracket = found(step);
        assert!(bracket.width() <= 0.01 || bracket.failing - bracket.passing == 1);
        runs.push(probes.len());
    }
    runs.sort_unstable();
    runs
}

#[test]
fn eight_runs_usually_reach_one_percent_precision() {
    // Uniform scatter, as a share: repetitions of a case scatter by 0.1 to 0.5%.
    for noise in [0.0, 0.001] {
        let runs = runs_needed(noise, 0.0);
        let all_but_few = runs[runs.len() * 999 / 1000];
        assert!(all_but_few <= 8 && runs[runs.len() - 1] <= 10, "{noise}: {:?}", &runs[runs.len() - 9..]);
        assert!(runs[runs.len() / 2] <= 6, "{noise}: half need more than {}", runs[runs.len() / 2]);
    }
    let runs = runs_needed(0.005, 0.0);
    assert!(runs[runs.len() * 98 / 100] <= 8, "{:?}", &runs[runs.len() * 97 / 100..]);
}

/// A vector that doubles grows in steps that a line cannot predict: a few runs more.
#[test]
fn stepwise_memory_growth_adds_only_a_few_runs() {
    let runs = runs_needed(0.002, 0.05);
    assert!(
        runs[runs.len() * 9 / 10] <= 9 && runs[runs.len() - 1] <= 14,
        "{:?}",
        &runs[runs.len() * 9 / 10..]
    );
}

proptest! {
    /// With any answers of the oracle, every probe is strictly between the ends, and the search ends.
    #[test]
    fn search_ends_for_any_outcomes(
        answers in prop::collection::vec((any::<bool>(), prop::option::of((-1e3..1e12f64, -1.0..9.0f64))), 80),
        above: bool,
        precision in 0.0001..0.3f64,
    ) {
        let search = Search { precision, ..if above { BYTES } else { COUNTS } };
        let mut answers = answers.into_iter();
        let (probes, step) = drive(&search, &[], 80, |_| {
            let (passed, prediction) = answers.next().unwrap_or((false, None));
            (passed, prediction.map(|(value, doubt)| Prediction { value, doubt }))
        });
        prop_assert!(!matches!(step, SearchStep::Try(_)), "no end after {} probes", probes.len());
    }

    /// A boundary with noise around it: the bracket is found within the noise.
    #[test]
    fn a_noisy_boundary_is_found_within_its_noise(
        boundary in 1_000u64..10_000_000,
        noise in 0.0..0.05f64,
        off in 0.9..1.1f64,
        seed: u64,
    ) {
        let mut rng = fastrand::Rng::with_seed(seed);
        let (probes, step) = drive(&COUNTS, &[1, 10_000], 40, |tasks| {
            let now = boundary as f64 * (1.0 + noise * (2.0 * rng.f64() - 1.0));
            (tasks as f64 <= now, predicted(boundary as f64 * off))
        });
        let bracket = found(step);
        prop_assert!(bracket.passing as f64 >= boundary as f64 * (1.0 - noise - 0.011), "{probes:?}");
        prop_assert!(bracket.failing as f64 <= boundary as f64 * (1.0 + noise + 0.011) + 1.0, "{probes:?}");
    }

    #[test]
    fn replayed_searches_take_the_same_steps(boundary in 1u64..1_000_000, off in 0.8..1.2f64) {
        let oracle = |tasks: u64| (tasks <= boundary, predicted(boundary as f64 * off));
        let (probes, _) = drive(&COUNTS, &[], 40, oracle);
        for cut in 1..probes.len() {
            prop_assert_eq!(COUNTS.next(&probes[..cut]), SearchStep::Try(probes[cut].value));
        }
    }
}
