//! The search for one entry: derives the next run from the runs so far. Pure.
//!
//! An interrupted search resumes by deriving the next run from its samples. Each run's purpose follows from
//! earlier ones.

use std::collections::BTreeSet;
use std::f64::consts::LN_2;

use super::boundary_search::{LONGEST_STEP, PassingSide, Prediction, Probe, Search};
use super::classify::{Baseline, baseline, classify, touched};
use super::confirm::{Boundary, ConfirmStage, PassCount, SearchStatus, tally};
use super::outcome::{Cause, ClassifiedRun, Outcome, Purpose};
use super::prediction::{predict_memory, predict_tasks};
use super::rate;
use super::search_spec::{Find, SearchSpec, TrialPoint, cap_of};
use crate::campaign::HoldPredictor;
use crate::catalog::Kind;
use crate::record::{Hold, Sample, Status};
use crate::stats::Point;

/// The plateau of each run: all tasks are alive at once for at least this many seconds.
pub const HOLD: Hold = Hold::Chosen { plateau_s: 0.5 };
/// The second number of tasks, large enough for a line.
const PILOT_TASKS: u64 = 10_000;
/// The same if each task takes a thread or process.
const PILOT_THREADS: u64 = 1_000;
/// No program takes a larger number of tasks.
const MAX_TASKS: u64 = u32::MAX as u64;
/// The first rate of a search, in messages per second.
const FIRST_RATE: u64 = 1_000;
/// The least and greatest rate that clients can send, unless specified, in messages per second.
const RATES: (u64, u64) = (1, 10_000_000);
/// The least memory tried, in bytes: no program runs in less.
const MIN_MEMORY: u64 = 256 << 10;
/// The memory sizes of the curve, in multiples of the answer.
const CURVE: [f64; 6] = [1.05, 1.1, 1.25, 1.5, 2.0, 4.0];
/// A size within this share of a memory size of the curve replaces it if it was run already.
const SAME_MEMORY: f64 = 0.02;

/// The most inconclusive runs of a value that are repeated.
const MAX_INCONCLUSIVE: usize = 2;

/// The next run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct NextRun {
    pub purpose: Purpose,
    pub trial_point: TrialPoint,
    /// Whether it is another attempt of the last run, whose wait was too short.
    pub again: bool,
}

/// The runs of one entry so far, and the state that they lead to.
#[derive(Debug)]
pub struct SearchState<'a> {
    pub seen: Vec<ClassifiedRun<'a>>,
    pub state: SearchStatus,
    /// The confirmed value, the failed one, and values that passed beyond it.
    pub boundary: Boundary,
    /// The last candidate, and how many of its confirming runs passed.
    pub tried: Option<(u64, PassCount)>,
    /// Runs that count towards `most_runs`.
    pub spent: usize,
    /// `None` if nothing remains to be run.
    pub next: Option<NextRun>,
}

/// Follows a search through the samples of one entry, in the order in which they were taken.
pub fn replay<'a>(search_spec: &SearchSpec, kind: Kind, samples: &'a [Sample]) -> SearchState<'a> {
    let mut seen: Vec<ClassifiedRun> = Vec::new();
    let mut next = decide(search_spec, kind, &seen);
    for sample in samples {
        let trial_point = search_spec.find.trial_point_of(sample);
        let purpose = match (next.1, search_spec.find) {
            // The run may be another one if the repetitions or the precision have changed since.
            (Some(next_run), _) if next_run.trial_point == trial_point => next_run.purpose,
            (_, Find::MostTasks { memory_bytes }) if trial_point.cap_bytes != memory_bytes => {
                Purpose::Control
            }
            _ => Purpose::Search,
        };
        seen.push(ClassifiedRun { sample, trial_point, purpose, outcome: Outcome::Unsettled });
        // New runs may change the baseline, and with it the outcomes of earlier runs.
        let outcomes: Vec<Outcome> = seen
            .iter()
            .map(|run| {
                let baseline = allowed(search_spec, &seen, run.trial_point);
                let outcome = classify(search_spec, kind, run.sample, baseline);
                if outcome == Outcome::Unsettled && !may_wait_longer(run.sample) {
                    let why = "no wait was long enough for all tasks to be alive at once";
                    return Outcome::Fails(Cause::Other, why.to_owned());
                }
                outcome
            })
            .collect();
        seen.iter_mut().zip(outcomes).for_each(|(run, outcome)| run.outcome = outcome);
        settle_inconclusive(&mut seen);
        next = decide(search_spec, kind, &seen);
    }
    let probes = probes(search_spec, &seen);
    let boundary = search(search_spec).boundary(&probes, search_spec.repetitions as usize);
    let last = || probes.iter().rev().find(|probe| probe.confirms).map(|probe| probe.value);
    let tried = boundary.confirmed.or_else(last).map(|value| (value, tally(&probes, value)));
    let spent = spent(&seen);
    SearchState { state: next.0, boundary, tried, spent, next: next.1, seen }
}

/// Whether a run whose wait was too short may be repeated with a longer one.
fn may_wait_longer(sample: &Sample) -> bool {
    HoldPredictor::new(HOLD).retry_hold_s(sample).is_some()
}

/// The number of runs that `most_runs` bounds: of the search, and failed confirming or curve runs.
fn spent(seen: &[ClassifiedRun]) -> usize {
    let counts = |run: &&ClassifiedRun| match run.purpose {
        Purpose::Pilot | Purpose::Search => true,
        Purpose::Confirm | Purpose::Curve => run.outcome.cause().is_some(),
        Purpose::Control => false,
    };
    seen.iter().filter(counts).count()
}

/// Turns inconclusive runs into failures if a value has too many, or if another value failed in the same way each time.
fn settle_inconclusive(seen: &mut [ClassifiedRun]) {
    let mut inconclusive: Vec<TrialPoint> = Vec::new();
    let mut failing: BTreeSet<Status> = BTreeSet::new();
    for run in seen {
        let Outcome::Inconclusive(cause, why) = &run.outcome else { continue };
        let (cause, status) = (*cause, run.sample.status);
        let before = inconclusive.iter().filter(|other| **other == run.trial_point).count();
        if before >= MAX_INCONCLUSIVE {
            run.outcome = Outcome::Fails(cause, format!("{why}, {} times", MAX_INCONCLUSIVE + 1));
            failing.extend((cause == Cause::Other && status != Status::Ok).then_some(status));
        } else if failing.contains(&status) {
            run.outcome = Outcome::Fails(cause, why.clone());
        }
        inconclusive.push(run.trial_point);
    }
}

/// Allowed time and usual CPU time at a point of the search, from pilot and control runs. Runs with all memory, which others
/// are compared with, are ended only by the timeout, unless all runs have it.
pub fn allowed(search_spec: &SearchSpec, seen: &[ClassifiedRun], trial_point: TrialPoint) -> Baseline {
    let (room, time_cap_s) = (search_spec.room_bytes, search_spec.time_cap_s);
    if let Find::HighestRate { .. } = search_spec.find {
        // Late messages are what the search measures, so only the timeout ends a run.
        return Baseline { allowance_s: time_cap_s, cpu_s: 0.0 };
    }
    let spare = seen.iter().filter(|run| match search_spec.find {
        Find::MostTasks { .. } => matches!(run.purpose, Purpose::Pilot | Purpose::Control),
        _ => run.trial_point.cap_bytes == room,
    });
    let spare: Vec<&Sample> = spare.map(|run| run.sample).collect();
    let usual = baseline(search_spec, &spare, trial_point.tasks);
    let all_have_it = matches!(search_spec.find, Find::MostTasks { memory_bytes } if memory_bytes == room);
    let is_free = trial_point.cap_bytes == room && !all_have_it;
    Baseline { allowance_s: if is_free { time_cap_s } else { usual.allowance_s }, ..usual }
}

fn search(search_spec: &SearchSpec) -> Search {
    let search = Search {
        passes: PassingSide::Below,
        bounds: (search_spec.least_tasks, MAX_TASKS),
        // The other half is the margin of the answer.
        precision: search_spec.precision / 2.0,
        radix: 10.0,
        blind: LONGEST_STEP,
    };
    match search_spec.find {
        Find::MostTasks { .. } => search,
        Find::LeastMemory { .. } => {
            let bounds = (MIN_MEMORY, search_spec.room_bytes);
            Search { passes: PassingSide::Above, bounds, radix: 2.0, ..search }
        }
        // Without a prediction, at most doubles: a server far behind takes long to end.
        Find::HighestRate { .. } => {
            Search { bounds: search_spec.rates.unwrap_or(RATES), blind: LN_2, ..search }
        }
    }
}

/// The runs as probes, each with the prediction at that time.
fn probes(search_spec: &SearchSpec, seen: &[ClassifiedRun]) -> Vec<Probe> {
    let probe = |(position, run): (usize, &ClassifiedRun)| {
        let settled = matches!(run.outcome, Outcome::Passes | Outcome::Fails(..));
        if !settled || run.purpose == Purpose::Control {
            return None;
        }
        let so_far = &seen[..=position];
        let value = search_spec.find.value(run.trial_point);
        let prediction = match search_spec.find {
            Find::MostTasks { memory_bytes } => most_tasks(so_far, memory_bytes),
            Find::LeastMemory { .. } => least_memory(so_far),
            Find::HighestRate { .. } => rate::predict(so_far),
        };
        let confirms = matches!(run.purpose, Purpose::Confirm | Purpose::Curve);
        Some(Probe { value, passed: run.outcome == Outcome::Passes, confirms, prediction })
    };
    seen.iter().enumerate().filter_map(probe).collect()
}

/// Predicts the N at which the line through the needs of runs reaches the cap.
fn most_tasks(seen: &[ClassifiedRun], cap_bytes: u64) -> Option<Prediction> {
    let runs = || seen.iter().filter(|run| run.purpose != Purpose::Control);
    // If memory is not the cause, only the program's count of failed tasks predicts the boundary.
    let nearest = runs().filter(|run| run.outcome.cause().is_some()).min_by_key(|run| run.sample.tasks);
    if let Some(nearest) = nearest.filter(|run| run.outcome.cause() != Some(Cause::Memory)) {
        match (nearest.outcome.cause(), nearest.sample.failed) {
            (Some(Cause::SystemLimit | Cause::OwnHeap), Some(failed)) if failed < nearest.sample.tasks => {
                let value = (nearest.sample.tasks - failed) as f64;
                return Some(Prediction { value, doubt: 0.0 });
            }
            (Some(Cause::OwnHeap), _) => {}
            _ => return None,
        }
    }
    let needs: Vec<Point> = runs()
        .filter(|run| run.outcome == Outcome::Passes)
        .filter_map(|run| Some(Point { tasks: run.sample.tasks, y: need(run.sample)? }))
        .collect();
    // A program whose own heap is full never reaches the cap: it fails at the same peak again.
    let own = runs()
        .filter(|run| run.outcome.cause() == Some(Cause::OwnHeap))
        .filter_map(|run| run.sample.memory.peak_bytes);
    let end = own.fold(cap_bytes, u64::min);
    predict_tasks(&needs, end as f64)
}

/// The memory that a run needs, in bytes: its peak if that is below the cap, or else its charge at the plateau,
/// without page cache that the kernel can reclaim.
pub(super) fn need(sample: &Sample) -> Option<f64> {
    // Work has no plateau to read memory at: its peak is what it needs.
    if sample.work.is_some() {
        return sample.memory.peak_bytes.map(|bytes| bytes as f64);
    }
    let plateau = sample.memory.plateau.as_ref()?;
    // The charge includes unmapped page cache. The footprint includes file pages charged elsewhere.
    let charge = plateau.group_bytes.unwrap_or(plateau.footprint_bytes);
    let cache = charge.saturating_sub(plateau.footprint_bytes);
    let peak = sample.memory.peak_bytes.filter(|_| !touched(sample));
    Some(peak.map_or(charge, |peak| peak.max(charge)).saturating_sub(cache) as f64)
}

fn least_memory(seen: &[ClassifiedRun]) -> Option<Prediction> {
    let holds = seen.iter().filter(|run| run.outcome == Outcome::Passes).map(|run| run.sample);
    let tightest = holds.min_by_key(|sample| cap_of(sample))?;
    let file_bytes = tightest.memory.plateau.as_ref().map_or(0, |plateau| plateau.file_bytes);
    predict_memory(need(tightest)?, file_bytes as f64, touched(tightest))
}

/// The status of a search after some runs, and the next run.
fn decide(search_spec: &SearchSpec, kind: Kind, seen: &[ClassifiedRun]) -> (SearchStatus, Option<NextRun>) {
    let run_at = |purpose, trial_point, again| {
        (SearchStatus::Unfinished, Some(NextRun { purpose, trial_point, again }))
    };
    if let Some(last) = seen.last()
        && last.outcome == Outcome::Unsettled
        && may_wait_longer(last.sample)
    {
        return run_at(last.purpose, last.trial_point, true);
    }
    let next_run = |purpose, value| run_at(purpose, search_spec.trial_point(value), false);
    // A program whose tasks are missing passes with any number of them.
    if seen.iter().any(|run| run.outcome.cause() == Some(Cause::MissingTasks)) {
        return (SearchStatus::NothingHolds, None);
    }
    let probes = probes(search_spec, seen);
    if let Some(pilot) = pilot(search_spec, kind, &probes) {
        return next_run(Purpose::Pilot, pilot);
    }
    let (search, times) = (search(search_spec), search_spec.repetitions as usize);
    if let Some(tasks) = control(search_spec, seen, search.ends(&probes).1) {
        let trial_point = TrialPoint { cap_bytes: search_spec.room_bytes, ..search_spec.trial_point(tasks) };
        return run_at(Purpose::Control, trial_point, false);
    }
    let state = match search.stage(&probes, times, spent(seen) < search_spec.most_runs as usize) {
        ConfirmStage::Search(value) => return next_run(Purpose::Search, value),
        ConfirmStage::Confirm(value) => return next_run(Purpose::Confirm, value),
        ConfirmStage::End(state) => state,
    };
    let least = search.boundary(&probes, times).confirmed;
    match (search_spec.find, curve(search_spec, &probes, least)) {
        (Find::LeastMemory { .. }, Some(cap_bytes)) => next_run(Purpose::Curve, cap_bytes),
        _ => (state, None),
    }
}

/// The first values, which need no prediction.
fn pilot(search_spec: &SearchSpec, kind: Kind, probes: &[Probe]) -> Option<u64> {
    match (search_spec.find, probes) {
        (Find::MostTasks { .. }, []) => Some(search_spec.least_tasks),
        (Find::MostTasks { .. }, [one]) if one.passed => {
            let is_of_system = matches!(kind, Kind::Thread | Kind::Process);
            let usual = if is_of_system { PILOT_THREADS } else { PILOT_TASKS };
            // Parameters may require more.
            Some(usual.max(search_spec.least_tasks.saturating_mul(2)))
        }
        (Find::LeastMemory { .. }, []) => Some(search_spec.room_bytes),
        (Find::HighestRate { .. }, []) => {
            let (least, most) = search_spec.rates.unwrap_or(RATES);
            Some(FIRST_RATE.max(least).min(most))
        }
        _ => None,
    }
}

/// The tasks to run with unlimited memory if it is unknown whether memory caused the failure. Runs at once, as
/// its duration also sets the allowed time of other runs.
fn control(search_spec: &SearchSpec, seen: &[ClassifiedRun], failing: Option<u64>) -> Option<u64> {
    let failing = failing?;
    let Find::MostTasks { memory_bytes } = search_spec.find else { return None };
    let runs = seen.iter().filter(|run| run.purpose != Purpose::Control && run.sample.tasks == failing);
    // The cause of the last failed run.
    let cause = runs.rev().find_map(|run| run.outcome.cause())?;
    let open = cause.is_memory().is_none() && search_spec.room_bytes > memory_bytes;
    (open && controlled(seen, failing).is_none()).then_some(failing)
}

/// Whether `tasks` pass with unlimited memory, by control runs with at least as many tasks that passed, or at most as
/// many that failed.
pub fn controlled(seen: &[ClassifiedRun], tasks: u64) -> Option<bool> {
    let controls = || seen.iter().filter(|run| run.purpose == Purpose::Control);
    if controls().any(|run| run.outcome == Outcome::Passes && run.sample.tasks >= tasks) {
        return Some(true);
    }
    controls().any(|run| run.outcome.cause().is_some() && run.sample.tasks <= tasks).then_some(false)
}

/// The next memory size of the curve, in bytes. Each is run as often as the answer.
fn curve(search_spec: &SearchSpec, probes: &[Probe], least: Option<u64>) -> Option<u64> {
    let least = least? as f64;
    let times = |value: u64| probes.iter().filter(|probe| probe.value == value).count();
    // Runs are grouped by their exact memory, so choose the near size that has the most runs.
    let near = |wanted: f64| {
        let values = probes.iter().map(|probe| probe.value);
        let page = 64 << 10;
        values
            .filter(|value| (*value as f64 / wanted - 1.0).abs() <= SAME_MEMORY)
            .max_by_key(|value| times(*value))
            .unwrap_or((wanted as u64).div_ceil(page) * page)
    };
    CURVE
        .into_iter()
        .map(|times| least * times)
        .filter(|wanted| *wanted < search_spec.room_bytes as f64 * (1.0 - SAME_MEMORY))
        .map(near)
        .chain([search_spec.room_bytes])
        .find(|value| times(*value) < search_spec.repetitions as usize)
}

#[cfg(test)]
#[path = "search_tests.rs"]
pub(super) mod tests;
