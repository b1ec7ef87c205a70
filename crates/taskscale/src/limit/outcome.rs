//! The outcomes of runs, and what runs are for.

use serde::Serialize;

use super::search_spec::TrialPoint;
use crate::record::Sample;

/// Why a run fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
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
    /// It has less memory per task than any task of its kind needs.
    MissingTasks,
    /// It failed in another way.
    Other,
}

named!(Cause);

impl Cause {
    /// Whether memory is the cause. `None` if only a run with unlimited memory can tell.
    pub fn is_memory(self) -> Option<bool> {
        match self {
            Cause::Memory | Cause::OwnHeap => Some(true),
            Cause::SystemLimit
            | Cause::Time
            | Cause::Rate
            | Cause::Clients
            | Cause::Latency
            | Cause::MissingTasks => Some(false),
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
    /// Inconclusive, and why: to be repeated. If it stays inconclusive, the run fails with this cause.
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

/// What programs print when their heap is full. "MemoryError" also matches `OutOfMemoryError` (JVM) and
/// `NoMemoryError` (Ruby), "out of memory" also `heap out of memory` (Node.js).
const HEAP_FULL: [&str; 15] = [
    "Java heap space",
    "GC overhead limit exceeded",
    "OutOfMemoryException",
    "out of memory",
    "Out of memory",
    "memory allocation of",
    "cannot allocate memory",
    "Cannot allocate memory",
    "MemoryError",
    "bad_alloc",
    "ENOMEM",
    "Allowed memory size",
    "eheap_alloc",
    "heap exhausted",
    "heap overflow",
];

/// The line of standard error that reports a full heap. Excludes refused threads, which a JVM reports likewise.
pub(super) fn heap_full(sample: &Sample) -> Option<&str> {
    let tail = sample.stderr_tail.as_deref()?;
    tail.lines()
        .map(str::trim)
        .find(|line| HEAP_FULL.iter().any(|words| line.contains(words)) && !line.contains("native thread"))
}

pub(super) fn reason(sample: &Sample) -> String {
    sample.reason.clone().unwrap_or_else(|| sample.status.name().to_owned())
}

/// The purpose of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Purpose {
    /// The first runs: for the line through memory, with unlimited memory, or at the first rate.
    Pilot,
    Search,
    /// Confirms the value that the search found, `--repetitions` times.
    Confirm,
    /// A failed value with unlimited memory: checks whether memory is the cause.
    Control,
    /// Measures CPU time by memory.
    Curve,
}

named!(Purpose);

/// A run, its purpose and its outcome.
#[derive(Debug, Clone)]
pub struct ClassifiedRun<'a> {
    pub sample: &'a Sample,
    pub trial_point: TrialPoint,
    pub purpose: Purpose,
    pub outcome: Outcome,
}
