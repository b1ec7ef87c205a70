//! Whether a run holds under its cap, and if not, why: from samples alone. Pure.

use serde::Serialize;

use super::question::{Find, Question};
use super::rate;
use crate::record::{Sample, Status, Warning};
use crate::stats::{Point, line};
use crate::units;

/// A launch and drain may take this long in any case, in seconds: a machine has its hiccups.
const LEAST_ALLOWANCE_S: f64 = 10.0;
/// A run whose peak is below this share of its cap never felt it.
const UNTOUCHED: f64 = 0.97;

/// A run that is slow for lack of memory takes more than so many times the usual CPU time.
const MORE_WORK: f64 = 1.5;

/// Why a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The kernel ended it for lack of memory.
    Memory,
    /// The program itself said that it was out of memory: its runtime takes only a part of it for its heap.
    OwnHeap,
    /// It took much longer than with memory to spare.
    Slow,
    /// It took longer than any run may.
    Time,
    /// Messages came at a lower rate than they were due.
    Rate,
    /// The clients were too busy to reach the rate.
    Clients,
    /// They came at the rate, and too many of them late.
    Latency,
    /// A limit of the system.
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

    /// Whether memory is the reason: `None` where only a run with memory to spare can tell.
    pub fn is_memory(self) -> Option<bool> {
        match self {
            Cause::Memory | Cause::OwnHeap => Some(true),
            Cause::SystemLimit | Cause::Time | Cause::Rate | Cause::Clients | Cause::Latency => Some(false),
            Cause::Slow | Cause::Other => None,
        }
    }
}

/// What a run says about its cap.
#[derive(Debug, Clone, PartialEq)]
pub enum Proof {
    /// All tasks were alive at once and ended well, in time.
    Holds,
    Fails(Cause, String),
    /// Its tasks waited too short a time to be alive together: to be run again with a longer hold.
    Unsettled,
    /// It says nothing about its cap, and why. To be run again; what it fails of if that is so each time.
    Void(Cause, String),
}

impl Proof {
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Proof::Fails(cause, _) => Some(*cause),
            _ => None,
        }
    }
}

/// What programs say when their heap is full.
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

/// The line in which a program says that its heap is full. A thread that the system refuses is another matter, though a
/// JVM calls that out of memory as well.
pub(super) fn heap_full(sample: &Sample) -> Option<&str> {
    let tail = sample.stderr_tail.as_deref()?;
    tail.lines()
        .map(str::trim)
        .find(|line| HEAP_FULL.iter().any(|words| line.contains(words)) && !line.contains("native thread"))
}

/// What a run takes that has memory to spare.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Usual {
    /// How long launch and drain, and work, may take at most, in seconds.
    pub allowance_s: f64,
    /// CPU time, in seconds.
    pub cpu_s: f64,
}

/// What a run of `tasks` takes, by runs that had memory to spare.
pub fn usual<'a>(question: &Question, spare: impl Iterator<Item = &'a Sample> + Clone, tasks: u64) -> Usual {
    Usual {
        allowance_s: (question.slowdown * foreseen(spare.clone(), tasks, took)).max(LEAST_ALLOWANCE_S),
        cpu_s: foreseen(spare, tasks, |sample| sample.cpu.total_s()),
    }
}

/// How long the run was at work: its wait is not.
fn took(sample: &Sample) -> Option<f64> {
    let worked_s = sample.work.as_ref().and_then(|work| work.wall_s).unwrap_or(0.0);
    Some(sample.time.launch_s? + worked_s + sample.time.drain_s?)
}

/// At the same N the most counts; of others a line, which is never less than the most of fewer tasks.
fn foreseen<'a>(
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

/// Whether a run felt its cap: its peak came near to it.
pub fn touched(sample: &Sample) -> bool {
    match (sample.memory.peak_bytes, sample.memory.cap_bytes) {
        (Some(peak), Some(cap)) => peak as f64 >= UNTOUCHED * cap as f64,
        _ => true,
    }
}

/// Judges a run. `usual` is what [`usual`] gives by all that is known.
pub fn judge(question: &Question, sample: &Sample, usual: Usual) -> Proof {
    if let Find::HighestRate { p99_us, .. } = question.find {
        return rate::judge(sample, p99_us);
    }
    let allowance_s = usual.allowance_s;
    let fails = |cause, text: String| Proof::Fails(cause, text);
    let cap = sample.memory.cap_bytes.unwrap_or(0);
    let time_bound = sample.hold_s + allowance_s >= question.time_cap_s;
    let slow = |took: String| {
        // A lack of memory makes work: collections, and pages taken and read again. Without more work than usual, on a
        // machine that was busy with others, it had to wait for them.
        let worked = sample.cpu.total_s().is_none_or(|cpu_s| cpu_s > MORE_WORK * usual.cpu_s + 0.1);
        if sample.warnings.contains(&Warning::MachineBusy) && !worked {
            return Proof::Void(Cause::Slow, "too slow while others kept the machine busy".to_owned());
        }
        if time_bound {
            let most = units::seconds(question.time_cap_s);
            fails(Cause::Time, format!("not done within {most}, the most that a run may take (--timeout)"))
        } else {
            fails(
                Cause::Slow,
                format!(
                    "too slow: launch and drain {took}, allowed are {} ({} times what they take with memory to \
                     spare, or {LEAST_ALLOWANCE_S} s)",
                    units::seconds(allowance_s),
                    question.slowdown
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
            if seen { proved(sample, cap) } else { Proof::Unsettled }
        }
        Status::Partial | Status::NoPlateau => match launch_s.filter(|launch| *launch > allowance_s) {
            Some(launch) => slow(format!("took more than {}", units::seconds(launch))),
            None => Proof::Unsettled,
        },
        Status::KilledOom => {
            fails(Cause::Memory, format!("killed for lack of memory under {}", units::bytes(cap)))
        }
        Status::TimedOut => {
            let ran_s = sample.time.wall_s.unwrap_or(0.0);
            if !time_bound && ran_s + 1.0 < sample.hold_s + allowance_s {
                let why = "ended sooner than is now known to be fair";
                return Proof::Void(Cause::Slow, why.to_owned());
            }
            slow("did not end in time".into())
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

/// What a run that ended well proves: nothing of its cap where part of it was elsewhere, or not all of it was there.
fn proved(sample: &Sample, cap: u64) -> Proof {
    let warned = |warning| sample.warnings.contains(&warning);
    let swapped = sample.memory.plateau.as_ref().and_then(|plateau| plateau.swap_bytes).unwrap_or(0);
    if warned(Warning::Swapped) || swapped > 0 {
        let why = format!("part of it was swapped out: {} alone were not enough", units::bytes(cap));
        return Proof::Fails(Cause::Memory, why);
    }
    if sample.work.is_none() && sample.alive != Some(sample.tasks) {
        return Proof::Fails(Cause::Other, "it did not say that all its tasks were alive at once".to_owned());
    }
    if warned(Warning::PlateauGrew) {
        return Proof::Void(Cause::Other, Warning::PlateauGrew.text().to_owned());
    }
    Proof::Holds
}

pub(super) fn reason(sample: &Sample) -> String {
    sample.reason.clone().unwrap_or_else(|| sample.status.name().to_owned())
}
