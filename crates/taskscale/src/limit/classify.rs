//! Classifies a run under a memory cap: pass, or fail and why. Pure: uses samples alone.

use super::outcome::{Cause, Outcome, heap_full, reason};
use super::rate;
use super::search_spec::{Find, SearchSpec, cap_of};
use crate::catalog::{Kind, Shape};
use crate::record::{Sample, Status, Warning};
use crate::stats::{Point, line};
use crate::units;

/// Launch and drain may always take this long, in seconds, whatever they take with unlimited memory.
const MIN_ALLOWANCE_S: f64 = 10.0;
/// A run whose peak is below this share of its cap was not limited by it.
const UNTOUCHED: f64 = 0.97;

/// A run slowed by too little memory takes more than this many times the usual CPU time.
const MORE_WORK: f64 = 1.5;

/// Time and CPU time of a run with unlimited memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Baseline {
    /// Most time that launch, work and drain may take together, in seconds.
    pub allowance_s: f64,
    /// CPU time, in seconds.
    pub cpu_s: f64,
}

/// Time and CPU time of `tasks`, estimated from runs with unlimited memory.
pub fn baseline(search_spec: &SearchSpec, spare: &[&Sample], tasks: u64) -> Baseline {
    Baseline {
        allowance_s: (search_spec.slowdown * predicted(spare, tasks, took)).max(MIN_ALLOWANCE_S),
        cpu_s: predicted(spare, tasks, |sample| sample.cpu.total_s()),
    }
}

/// Time of launch, work and drain, in seconds, without the wait.
fn took(sample: &Sample) -> Option<f64> {
    let worked_s = sample.work.as_ref().and_then(|work| work.wall_s).unwrap_or(0.0);
    Some(sample.time.launch_s? + worked_s + sample.time.drain_s?)
}

/// The maximum at the same N, or else the line through all points, but not below the maximum of fewer tasks.
fn predicted(spare: &[&Sample], tasks: u64, of: impl Fn(&Sample) -> Option<f64>) -> f64 {
    let points: Vec<Point> = spare
        .iter()
        .filter(|sample| sample.status == Status::Ok)
        .filter_map(|sample| Some(Point { tasks: sample.tasks, y: of(sample)? }))
        .collect();
    let most = |wanted: &dyn Fn(u64) -> bool| {
        points.iter().filter(|point| wanted(point.tasks)).map(|point| point.y).reduce(f64::max)
    };
    most(&|n| n == tasks).unwrap_or_else(|| {
        let line = line(&points).map_or(0.0, |line| line.base + line.slope * tasks as f64);
        line.max(most(&|n| n <= tasks).unwrap_or(0.0))
    })
}

/// Whether the peak of a run came close to its cap.
pub fn touched(sample: &Sample) -> bool {
    let peak_and_cap = sample.memory.peak_bytes.zip(sample.memory.cap_bytes);
    peak_and_cap.is_none_or(|(peak, cap)| peak as f64 >= UNTOUCHED * cap as f64)
}

/// Classifies a run. `baseline`: the result of [`baseline`] from all known runs.
pub fn classify(search_spec: &SearchSpec, kind: Kind, sample: &Sample, baseline: Baseline) -> Outcome {
    if let Find::HighestRate { p99_us, .. } = search_spec.find {
        return rate::classify(sample, p99_us);
    }
    let allowance_s = baseline.allowance_s;
    let cap = cap_of(sample);
    let time_bound = sample.hold_s + allowance_s >= search_spec.time_cap_s;
    let slow = |took: String| {
        // Too little memory causes work: garbage collections, and pages dropped and read again. A run without more work
        // than usual, on a busy machine, only waited for CPUs.
        let worked = sample.cpu.total_s().is_none_or(|cpu_s| cpu_s > MORE_WORK * baseline.cpu_s + 0.1);
        if sample.warnings.contains(&Warning::MachineBusy) && !worked {
            return Outcome::Inconclusive(Cause::Slow, "too slow on a busy machine".to_owned());
        }
        if time_bound {
            let most = units::seconds(search_spec.time_cap_s);
            return Outcome::Fails(Cause::Time, format!("not done within {most} (raise --timeout)"));
        }
        let (allowed, times) = (units::seconds(allowance_s), search_spec.slowdown);
        let why = format!(
            "too slow: launch and drain {took}, allowed: {allowed} ({times} times that with unlimited memory, or \
             {MIN_ALLOWANCE_S} s)"
        );
        Outcome::Fails(Cause::Slow, why)
    };
    let launch_s = sample.time.launch_s;
    match sample.status {
        Status::Ok => {
            let took = took(sample).unwrap_or(0.0);
            if took > allowance_s {
                return slow(format!("took {}", units::seconds(took)));
            }
            // Work has no plateau, but `ok` includes its operations and check.
            let seen = sample.memory.plateau.is_some() || sample.work.is_some();
            if seen { outcome_of_ok(kind, sample, cap) } else { Outcome::Unsettled }
        }
        Status::Partial | Status::NoPlateau => match launch_s.filter(|launch| *launch > allowance_s) {
            Some(launch) => slow(format!("took more than {}", units::seconds(launch))),
            None => Outcome::Unsettled,
        },
        Status::KilledOom => {
            Outcome::Fails(Cause::Memory, format!("killed: out of memory at {}", units::bytes(cap)))
        }
        Status::TimedOut => {
            let ran_s = sample.time.wall_s.unwrap_or(0.0);
            if !time_bound && ran_s + 1.0 < sample.hold_s + allowance_s {
                let why = "its timeout was too short";
                return Outcome::Inconclusive(Cause::Slow, why.to_owned());
            }
            slow("did not finish in time".into())
        }
        Status::Limit => Outcome::Fails(Cause::SystemLimit, reason(sample)),
        _ => match heap_full(sample) {
            Some(line) => {
                let peak = sample.memory.peak_bytes.map_or_else(|| "?".into(), units::bytes);
                let line: String = line.chars().take(160).collect();
                let cap = units::bytes(cap);
                let why = format!("its own heap was full with {peak} of {cap} in use: {line}");
                Outcome::Fails(Cause::OwnHeap, why)
            }
            // It failed far below its cap, perhaps by chance.
            None if !touched(sample) => Outcome::Inconclusive(Cause::Other, reason(sample)),
            None => Outcome::Fails(Cause::Other, reason(sample)),
        },
    }
}

/// The outcome of a run that is `ok`: failed if memory was swapped or tasks were missing, inconclusive if it
/// still grew.
fn outcome_of_ok(kind: Kind, sample: &Sample, cap: u64) -> Outcome {
    let warned = |warning| sample.warnings.contains(&warning);
    let swapped = sample.memory.plateau.as_ref().and_then(|plateau| plateau.swap_bytes).unwrap_or(0);
    if warned(Warning::Swapped) || swapped > 0 {
        let why = format!("swapped out in part: {} is not enough", units::bytes(cap));
        return Outcome::Fails(Cause::Memory, why);
    }
    if sample.work.is_none() && sample.alive != Some(sample.tasks) {
        return Outcome::Fails(Cause::Other, "`alive` was never printed with all tasks".to_owned());
    }
    let shape = match (&sample.work, &sample.load) {
        (Some(_), _) => Shape::Work,
        (None, Some(_)) => Shape::Serve,
        (None, None) => Shape::Hold,
    };
    let (least, plateau) = (shape.least_bytes_per_task(kind), sample.memory.plateau.as_ref());
    if plateau.is_some_and(|plateau| (plateau.footprint_bytes as f64) < least * sample.tasks as f64) {
        let why = format!(
            "less than {least} B of memory per task, the minimum of its kind: tasks are missing (or `kind` in its \
             manifest is wrong)"
        );
        return Outcome::Fails(Cause::MissingTasks, why);
    }
    if warned(Warning::PlateauGrew) {
        return Outcome::Inconclusive(Cause::Other, Warning::PlateauGrew.text().to_owned());
    }
    Outcome::Passes
}
