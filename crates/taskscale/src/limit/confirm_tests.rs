//! Whole searches for boundaries that are not sharp: how often their answers pass again.

use proptest::prelude::*;

use super::super::boundary_search::tests::{BYTES, COUNTS};
use super::super::prediction::predict_tasks;
use super::*;
use crate::stats::Point;

const MAX_RUNS: usize = 16;

/// Runs a search to its end. The oracle decides whether a probe passes, and predicts the boundary.
fn drive(
    search: &Search,
    pilots: &[u64],
    times: usize,
    mut oracle: impl FnMut(u64) -> (bool, Option<super::super::boundary_search::Prediction>),
) -> (Vec<Probe>, ConfirmStage) {
    let mut probes: Vec<Probe> = Vec::new();
    loop {
        let spent = probes.iter().filter(|probe| !probe.confirms || !probe.passed).count();
        let pilot = pilots.get(probes.len()).filter(|_| probes.iter().all(|probe| probe.passed));
        let stage = match pilot {
            Some(value) => ConfirmStage::Search(*value),
            None => search.stage(&probes, times, spent < MAX_RUNS),
        };
        let (value, confirms) = match stage {
            ConfirmStage::Search(value) => (value, false),
            ConfirmStage::Confirm(value) => (value, true),
            end => return (probes, end),
        };
        assert!(search.bounds.0 <= value && value <= search.bounds.1, "{value} is out of bounds");
        let (passed, prediction) = oracle(value);
        let prediction = prediction.or(probes.last().and_then(|probe| probe.prediction));
        probes.push(Probe { value, passed, confirms, prediction });
        assert!(probes.len() <= MAX_RUNS * times.max(2), "no end: {probes:?}");
    }
}

/// A program whose memory grows linearly, and scatters with this standard deviation, as a share.
struct Scattered {
    base: f64,
    per_task: f64,
    cap: f64,
    deviation: f64,
    rng: fastrand::Rng,
    needs: Vec<Point>,
}

impl Scattered {
    fn of(seed: u64, deviation: f64) -> Scattered {
        let mut rng = fastrand::Rng::with_seed(seed);
        let cap = (64u64 << 20) as f64 * 2f64.powf(rng.f64() * 5.0);
        let base = cap * (0.005 + 0.3 * rng.f64());
        Scattered {
            base,
            per_task: 10f64.powf(1.2 + 3.0 * rng.f64()),
            cap,
            deviation,
            rng,
            needs: Vec::new(),
        }
    }

    fn run(&mut self, tasks: u64) -> bool {
        // Box and Muller.
        let radius = (-2.0 * (1.0 - self.rng.f64()).ln()).sqrt();
        let normal = radius * (std::f64::consts::TAU * self.rng.f64()).cos();
        let need = (self.base + self.per_task * tasks as f64) * (1.0 + self.deviation * normal);
        if need <= self.cap {
            self.needs.push(Point { tasks, y: need });
        }
        need <= self.cap
    }
}

/// The shares of five more runs each that pass at confirmed answers, and at the unconfirmed ends of searches.
fn rates(deviation: f64, times: usize) -> (f64, f64) {
    const SEARCHES: u64 = 300;
    let (mut held, mut stated, mut held_unconfirmed, mut runs) = (0, 0, 0, 0);
    for seed in 0..SEARCHES {
        let mut program = Scattered::of(seed, deviation);
        let mut end = None;
        let (probes, _) = drive(&COUNTS, &[1, 10_000], times, |tasks| {
            (program.run(tasks), predict_tasks(&program.needs, program.cap))
        });
        for count in 3..probes.len() {
            if let SearchStep::Found(bracket) = COUNTS.next(&probes[..count]) {
                end = end.or(Some(bracket.passing));
            }
        }
        if let Some(answer) = COUNTS.boundary(&probes, times).confirmed {
            stated += 5;
            held += (0..5).filter(|_| program.run(answer)).count();
        }
        if let Some(end) = end {
            runs += 5;
            held_unconfirmed += (0..5).filter(|_| program.run(end)).count();
        }
    }
    assert!(stated as u64 >= 5 * SEARCHES * 97 / 100, "{stated} for {deviation}");
    (held as f64 / f64::from(stated), held_unconfirmed as f64 / f64::from(runs))
}

/// The promise of docs/reference/limit-method.md: how often an answer passes again, by a program's scatter.
#[test]
fn confirmed_answers_pass_again_at_the_documented_rate() {
    for (deviation, times, promised) in [
        (0.001, 3, 0.995),
        (0.003, 3, 0.99),
        (0.005, 3, 0.97),
        (0.01, 3, 0.92),
        (0.02, 3, 0.86),
        (0.02, 10, 0.95),
    ] {
        let (held, unconfirmed) = rates(deviation, times);
        assert!(
            held >= promised,
            "scatter {deviation}, {times} runs: {held} held, {unconfirmed} unconfirmed"
        );
        // Without confirmation, the answer would be the last value that passed once.
        assert!(held > unconfirmed, "{held} against {unconfirmed}");
    }
}

/// From 10% on, the margin on a logarithmic scale must not exceed the requested distance.
#[test]
fn low_precision_searches_end_with_an_answer() {
    for precision in [0.025, 0.05, 0.1, 0.2, 0.25] {
        for search in [Search { precision, ..COUNTS }, Search { precision, ..BYTES }] {
            let passes = |value| (value <= 12_345_678) == (search.passes == PassingSide::Below);
            let (probes, stage) = drive(&search, &[], 3, |value| (passes(value), None));
            assert_eq!(stage, ConfirmStage::End(SearchStatus::Found), "{precision}: {probes:?}");
        }
    }
}

#[test]
fn sharp_boundary_needs_only_the_requested_confirming_runs() {
    for times in [1, 3, 5] {
        let mut program = Scattered::of(1, 0.0);
        let (probes, end) = drive(&COUNTS, &[1, 10_000], times, |tasks| {
            (program.run(tasks), predict_tasks(&program.needs, program.cap))
        });
        assert_eq!(end, ConfirmStage::End(SearchStatus::Found));
        assert_eq!(probes.iter().filter(|probe| probe.confirms).count(), times);
        assert!(probes.len() <= 6 + times, "{probes:?}");
        assert_eq!(COUNTS.boundary(&probes, times).sometimes, None);
    }
}

#[test]
fn small_boundaries_are_exact() {
    for boundary in [1, 2, 7, 41] {
        let (probes, end) = drive(&COUNTS, &[], 3, |tasks| (tasks <= boundary, None));
        assert_eq!(
            (end, COUNTS.boundary(&probes, 3).confirmed),
            (ConfirmStage::End(SearchStatus::Found), Some(boundary))
        );
    }
}

/// The chance of 3 of 3 at a success rate of `p`, and the rate that is refuted at 95%, as in
/// docs/reference/limit-method.md.
#[test]
fn documented_confirmation_probabilities_are_correct() {
    let seen = |p: f64| p.powi(3);
    assert_eq!([0.95, 0.9, 0.8, 0.5].map(|p| (seen(p) * 100.0).round()), [86.0, 73.0, 51.0, 13.0]);
    let refuted = |times: f64| (0.05f64.powf(1.0 / times) * 100.0).round();
    assert_eq!([3.0, 5.0, 10.0, 29.0].map(refuted), [37.0, 55.0, 74.0, 90.0]);
}

proptest! {
    /// With any answers of probes, a search ends. A found answer was confirmed, is before all failed values,
    /// and is as near to them as requested or as the blur allows.
    #[test]
    fn found_answers_are_confirmed_and_near_failures(
        answers in prop::collection::vec(any::<bool>(), 120),
        above: bool,
        times in 1usize..6,
        boundary in 2_000_000u64..1_000_000_000,
    ) {
        let search = if above { BYTES } else { COUNTS };
        let mut answers = answers.into_iter();
        // Far from the boundary probes are certain, near it they are arbitrary.
        let (probes, end) = drive(&search, &[], times, |value| {
            let far = value as f64 / boundary as f64;
            let passed = match (far > 1.1, far < 0.9) {
                (true, _) => above,
                (_, true) => !above,
                _ => answers.next().unwrap_or(false),
            };
            (passed, None)
        });
        let boundary = search.boundary(&probes, times);
        if let Some(confirmed) = boundary.confirmed {
            let own = tally(&probes, confirmed);
            prop_assert!(own.passed >= times && own.passed == own.probes);
            prop_assert!(probes.iter().all(|t| t.passed || search.difficulty(confirmed) < search.difficulty(t.value)));
        }
        match end {
            ConfirmStage::End(SearchStatus::Found) => prop_assert!(search.is_near(boundary.confirmed.unwrap(), boundary.failing.unwrap(), &boundary)),
            ConfirmStage::End(SearchStatus::Undecided) => {}
            other => prop_assert!(false, "{other:?}"),
        }
        // Resumed at any point, the search takes the same steps.
        for cut in 1..probes.len() {
            let spent = probes[..cut].iter().filter(|probe| !probe.confirms || !probe.passed).count();
            let next = search.stage(&probes[..cut], times, spent < MAX_RUNS);
            let value = probes[cut].value;
            prop_assert_eq!(next, if probes[cut].confirms { ConfirmStage::Confirm(value) } else { ConfirmStage::Search(value) });
        }
    }
}
