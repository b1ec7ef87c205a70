//! Classifies a run under a memory cap: pass, or fail and why. From samples alone; pure.

use serde::Serialize;

use super::rate;
use super::search_spec::{Find, SearchSpec};
use crate::record::{Sample, Status, Warning};
use crate::stats::{Point, line};
use crate::units;

/// Launch and drain may always take this long, in seconds, whatever they take with unlimited memory.
const LEAST_ALLOWANCE_S: f64 = 10.0;
/// A run whose peak is below this share of its cap was not limited by it.
const UNTOUCHED: f64 = 0.97;

/// A run that too little memory makes slow takes more than this many times the usual CPU time.
const MORE_WORK: f64 = 1.5;

/// Why a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The kernel killed it: out of memory.
    Memory,
    /// The program itself reported that its heap was full: its runtime uses only part of the memory for its heap.
    OwnHeap,
    /// It took much longer than with unlimited memory.
    Slow,
    /// It took longer than the timeout.
    Time,
    /// Messages arrived at a lower rate than requested.
    Rate,
    /// The clients were too busy to reach the rate.
    Clients,
    /// Messages arrived at the rate, but too many of them late.
    Latency,
    /// It hit a system limit.
    SystemLimit,
    /// It failed in another way.
    Other,
}

impl Cause {
    pub fn name(self) -> &'static str {
        match self {
            Cause::Memory => "memory",
            Cause::OwnHeap => "own-heap",
            Cause::Slow => "slow",
            Cause::Time => "time",
            Cause::Rate => "rate",
            Cause::Clients => "clients",
            Cause::Latency => "latency",
            Cause::SystemLimit => "system-limit",
            Cause::Other => "other",
        }
    }

    /// Whether memory is the cause: `None` where only a run with unlimited memory can tell.
    pub fn is_memory(self) -> Option<bool> {
        match self {
            Cause::Memory | Cause::OwnHeap => Some(true),
            Cause::SystemLimit | Cause::Time | Cause::Rate | Cause::Clients | Cause::Latency => Some(false),
            Cause::Slow | Cause::Other => None,
        }
    }
}

/// The outcome of a run under its cap.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// Pass: all tasks were alive at once and finished in time.
    Passes,
    Fails(Cause, String),
    /// The wait was too short for all tasks to be alive at once: to be repeated with a longer one.
    Unsettled,
    /// Inconclusive, and why: to be repeated. If it always is, the run fails with this cause.
    Inconclusive(Cause, String),
}

impl Outcome {
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Outcome::Fails(cause, _) => Some(*cause),
            _ => None,
        }
    }
}

/// What programs print when their heap is full.
const HEAP_FULL: [&str; 18] = [
    "Java heap space",
    "GC overhead limit exceeded",
    "OutOfMemoryError",
    "OutOfMemoryException",
    "heap out of memory",
    "out of memory",
    "Out of memory",
    "memory allocation of",
    "cannot allocate memory",
    "Cannot allocate memory",
    "MemoryError",
    "bad_alloc",
    "ENOMEM",
    "NoMemoryError",
    "Allowed memory size",
    "eheap_alloc",
    "heap exhausted",
    "heap overflow",
];

/// The line of standard error that reports a full heap. A refused thread is another cause, although a JVM calls it out
/// of memory as well.
pub(super) fn heap_full(sample: &Sample) -> Option<&str> {
    let tail = sample.stderr_tail.as_deref()?;
    tail.lines()
        .map(str::trim)
        .find(|line| HEAP_FULL.iter().any(|words| line.contains(words)) && !line.contains("native thread"))
}

/// Time and CPU time of a run with unlimited memory.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Baseline {
    /// Most time that launch, work and drain may take together, in seconds.
    pub allowance_s: f64,
    /// CPU time, in seconds.
    pub cpu_s: f64,
}

/// Time and CPU time of `tasks`, estimated from runs with unlimited memory.
pub fn baseline<'a>(
    search_spec: &SearchSpec,
    spare: impl Iterator<Item = &'a Sample> + Clone,
    tasks: u64,
) -> Baseline {
    Baseline {
        allowance_s: (search_spec.slowdown * predicted(spare.clone(), tasks, took)).max(LEAST_ALLOWANCE_S),
        cpu_s: predicted(spare, tasks, |sample| sample.cpu.total_s()),
    }
}

/// Time of launch, work and drain, in seconds, without the wait.
fn took(sample: &Sample) -> Option<f64> {
    let worked_s = sample.work.as_ref().and_then(|work| work.wall_s).unwrap_or(0.0);
    Some(sample.time.launch_s? + worked_s + sample.time.drain_s?)
}

/// The maximum at the same N, or else a line through the others, but not below the maximum of fewer tasks.
fn predicted<'a>(
    spare: impl Iterator<Item = &'a Sample>,
    tasks: u64,
    of: impl Fn(&Sample) -> Option<f64>,
) -> f64 {
    let points: Vec<Point> = spare
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
    match (sample.memory.peak_bytes, sample.memory.cap_bytes) {
        (Some(peak), Some(cap)) => peak as f64 >= UNTOUCHED * cap as f64,
        _ => true,
    }
}

/// Classifies a run. `baseline`: the result of [`baseline`] by all runs known.
pub fn classify(search_spec: &SearchSpec, sample: &Sample, baseline: Baseline) -> Outcome {
    if let Find::HighestRate { p99_us, .. } = search_spec.find {
        return rate::classify(sample, p99_us);
    }
    let allowance_s = baseline.allowance_s;
    let fails = |cause, text: String| Outcome::Fails(cause, text);
    let cap = sample.memory.cap_bytes.unwrap_or(0);
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
            fails(Cause::Time, format!("not done within {most} (raise --timeout)"))
        } else {
            fails(
                Cause::Slow,
                format!(
                    "too slow: launch and drain {took}, allowed: {} ({} times that with unlimited memory, or \
                     {LEAST_ALLOWANCE_S} s)",
                    units::seconds(allowance_s),
                    search_spec.slowdown
                ),
            )
        }
    };
    let launch_s = sample.time.launch_s;
    match sample.status {
        Status::Ok => {
            let took = took(sample).unwrap_or(0.0);
            if took > allowance_s {
                return slow(format!("took {}", units::seconds(took)));
            }
            // Work has no plateau: its operations were done, and its check says so.
            let seen = sample.memory.plateau.is_some() || sample.work.is_some();
            if seen { outcome_of_ok(sample, cap) } else { Outcome::Unsettled }
        }
        Status::Partial | Status::NoPlateau => match launch_s.filter(|launch| *launch > allowance_s) {
            Some(launch) => slow(format!("took more than {}", units::seconds(launch))),
            None => Outcome::Unsettled,
        },
        Status::KilledOom => fails(Cause::Memory, format!("killed: out of memory at {}", units::bytes(cap))),
        Status::TimedOut => {
            let ran_s = sample.time.wall_s.unwrap_or(0.0);
            if !time_bound && ran_s + 1.0 < sample.hold_s + allowance_s {
                let why = "its timeout was too short";
                return Outcome::Inconclusive(Cause::Slow, why.to_owned());
            }
            slow("did not finish in time".into())
        }
        Status::Limit => fails(Cause::SystemLimit, reason(sample)),
        _ => match heap_full(sample) {
            Some(line) => {
                let peak = sample.memory.peak_bytes.map_or_else(|| "?".into(), units::bytes);
                let line: String = line.chars().take(160).collect();
                fails(
                    Cause::OwnHeap,
                    format!("its own heap was full with {peak} of {} in use: {line}", units::bytes(cap)),
                )
            }
            None => fails(Cause::Other, reason(sample)),
        },
    }
}

/// The outcome of a run that is `ok`: inconclusive or failed where part of its memory was elsewhere or tasks were
/// missing.
fn outcome_of_ok(sample: &Sample, cap: u64) -> Outcome {
    let warned = |warning| sample.warnings.contains(&warning);
    let swapped = sample.memory.plateau.as_ref().and_then(|plateau| plateau.swap_bytes).unwrap_or(0);
    if warned(Warning::Swapped) || swapped > 0 {
        let why = format!("swapped out in part: {} is not enough", units::bytes(cap));
        return Outcome::Fails(Cause::Memory, why);
    }
    if sample.work.is_none() && sample.alive != Some(sample.tasks) {
        return Outcome::Fails(Cause::Other, "`alive` was never printed with all tasks".to_owned());
    }
    if warned(Warning::PlateauGrew) {
        return Outcome::Inconclusive(Cause::Other, Warning::PlateauGrew.text().to_owned());
    }
    Outcome::Passes
}

pub(super) fn reason(sample: &Sample) -> String {
    sample.reason.clone().unwrap_or_else(|| sample.status.name().to_owned())
}
