//! Whether a run holds under its cap, and if not, why: from samples alone. Pure.

use serde::Serialize;

use super::question::Question;
use crate::record::{Sample, Status};
use crate::stats::{Point, line};
use crate::units;

/// A launch and drain may take this long in any case, in seconds: a machine has its hiccups.
const LEAST_ALLOWANCE_S: f64 = 10.0;
/// A run whose peak is below this share of its cap never felt it.
const UNTOUCHED: f64 = 0.97;

/// Why a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Cause {
    /// The kernel ended it for want of memory.
    Memory,
    /// The program itself said that it was out of memory: its runtime takes only a part of it for its heap.
    OwnHeap,
    /// It took much longer than with memory to spare.
    Slow,
    /// It took longer than any run may.
    Time,
    /// A limit of the system.
    SystemLimit,
    /// It failed in another way.
    Other,
}

impl Cause {
    /// Whether memory is the reason: `None` where only a run with memory to spare can tell.
    pub fn is_memory(self) -> Option<bool> {
        match self {
            Cause::Memory | Cause::OwnHeap => Some(true),
            Cause::SystemLimit | Cause::Time => Some(false),
            Cause::Slow | Cause::Other => None,
        }
    }
}

/// What a run says about its cap.
#[derive(Debug, Clone, PartialEq)]
pub enum Verdict {
    /// All tasks were alive at once and ended well, in time.
    Holds,
    Fails(Cause, String),
    /// Its tasks waited too short a time to be alive together: to be run again with a longer hold.
    Unsettled,
}

impl Verdict {
    pub fn cause(&self) -> Option<Cause> {
        match self {
            Verdict::Fails(cause, _) => Some(*cause),
            _ => None,
        }
    }
}

/// What programs say when their heap is full.
const HEAP_FULL: [&str; 16] = [
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
fn heap_full(sample: &Sample) -> Option<&str> {
    let tail = sample.stderr_tail.as_deref()?;
    tail.lines()
        .map(str::trim)
        .find(|line| HEAP_FULL.iter().any(|words| line.contains(words)) && !line.contains("native thread"))
}

/// How long launch and drain of `tasks` may take under a cap, in seconds, by what runs before took with memory to spare.
pub fn allowance_s(question: &Question, before: &[Sample], tasks: u64) -> f64 {
    let took = |sample: &Sample| -> Option<Point> {
        let y = sample.time.launch_s? + sample.time.drain_s?;
        (sample.status == Status::Ok).then_some(Point { tasks: sample.tasks, y })
    };
    let spare: Vec<Point> = before.iter().filter(|sample| !touched(sample)).filter_map(took).collect();
    // At the same N the slowest counts; of others a line, which is never less than the slowest of fewer tasks.
    let same = spare.iter().filter(|point| point.tasks == tasks).map(|point| point.y).reduce(f64::max);
    let fewer = spare.iter().filter(|point| point.tasks <= tasks).map(|point| point.y).fold(0.0, f64::max);
    let foreseen = same.unwrap_or_else(|| {
        let line = line(&spare).map_or(0.0, |line| line.base + line.slope * tasks as f64);
        line.max(fewer)
    });
    (question.slowdown * foreseen).max(LEAST_ALLOWANCE_S)
}

/// Whether a run felt its cap: its peak came near to it.
pub fn touched(sample: &Sample) -> bool {
    match (sample.memory.peak_bytes, sample.memory.cap_bytes) {
        (Some(peak), Some(cap)) => peak as f64 >= UNTOUCHED * cap as f64,
        _ => true,
    }
}

/// Judges a run. `allowance_s` is what [`allowance_s`] gave before it.
pub fn judge(question: &Question, sample: &Sample, allowance_s: f64) -> Verdict {
    let fails = |cause, text: String| Verdict::Fails(cause, text);
    let cap = sample.memory.cap_bytes.unwrap_or(0);
    let time_bound = sample.hold_s + allowance_s >= question.time_cap_s;
    let slow = |took: String| {
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
            let took = launch_s.unwrap_or(0.0) + sample.time.drain_s.unwrap_or(0.0);
            if took > allowance_s {
                return slow(format!("took {}", units::seconds(took)));
            }
            if sample.memory.plateau.is_none() { Verdict::Unsettled } else { Verdict::Holds }
        }
        Status::Partial => match launch_s.filter(|launch| *launch > allowance_s) {
            Some(launch) => slow(format!("took more than {}", units::seconds(launch))),
            None => Verdict::Unsettled,
        },
        Status::KilledOom => {
            fails(Cause::Memory, format!("killed for want of memory under {}", units::bytes(cap)))
        }
        Status::TimedOut => slow("did not end in time".into()),
        Status::Limit => fails(Cause::SystemLimit, reason(sample)),
        Status::Failed | Status::Crashed => match heap_full(sample) {
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
        Status::Unavailable => fails(Cause::Other, reason(sample)),
    }
}

fn reason(sample: &Sample) -> String {
    sample.reason.clone().unwrap_or_else(|| sample.status.name().to_owned())
}
