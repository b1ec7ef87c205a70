//! Events for machines: one line of standard error each, under `--json`.

use serde::{Deserialize, Serialize};

use super::{Plan, SCHEMA_VERSION, Sample, Timestamp};

/// One line: a JSON object with the name of its event.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct EventLine {
    /// Version of this record's shape.
    pub schema: u32,
    /// When it happened, by the wall clock, in UTC.
    #[cfg_attr(test, schemars(with = "String"))]
    pub at: Timestamp,
    #[serde(flatten)]
    pub event: Event,
}

impl EventLine {
    /// The line of an event that happens now.
    pub fn now(event: Event) -> EventLine {
        EventLine { schema: SCHEMA_VERSION, at: Timestamp::now(), event }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// Once, when taskscale knows what can run.
    Plan {
        /// The results folder.
        folder: String,
        /// The first series.
        plan: Plan,
        /// Further series.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further_plans: Vec<Plan>,
        /// Seed of the random order.
        seed: u64,
        /// Repetitions of all cases that can run here, kept ones included.
        runs: u64,
        /// Samples that the folder already has.
        kept_samples: u64,
    },
    /// An entry is prepared: first `started`, then its result.
    Build {
        /// The entry.
        entry: String,
        /// The workload of the program, if there are several.
        workload: Option<String>,
        /// `started`, then `ready`, `unavailable` (missing toolchain) or `failed`.
        state: BuildState,
        /// If ready: the command, without the appended arguments.
        command: Option<Vec<String>>,
        /// Version of the toolchain.
        version: Option<String>,
        /// Why it cannot run.
        reason: Option<String>,
    },
    /// Before the unmeasured run of an entry.
    WarmUp { entry: String },
    /// Before a run.
    RunStarted {
        /// The entry.
        entry: String,
        /// The workload.
        workload: String,
        /// N.
        tasks: u64,
        /// From 1.
        repetition: u32,
        /// From 1.
        attempt: u32,
        /// How long each task waits, otherwise 0.
        hold_s: f64,
        /// Work: operations to do.
        operations: Option<u64>,
        /// Repetitions finished before this one.
        done: u64,
        /// Total number of repetitions.
        runs: u64,
        /// Estimated time until the end.
        left_s: f64,
    },
    /// When its sample is on disk.
    RunEnded { sample: Box<Sample> },
    /// `taskscale limit`: when an entry is finished.
    Answer {
        /// The entry.
        entry: String,
        /// `found`, `undecided`, `nothing-holds` or `everything-holds`.
        state: String,
        /// Tasks that passed, once confirmed: the most found, or the number asked for.
        tasks: Option<u64>,
        /// Memory in which `tasks` passed, once confirmed: the least found, or the amount given.
        memory_bytes: Option<u64>,
        /// Confirming runs of the answer, or of the last candidate.
        confirming_runs: u64,
        /// Confirming runs that passed.
        confirming_held: u64,
        /// Tasks of the failed run nearest to the answer.
        fails_tasks: Option<u64>,
        /// Memory of the failed run nearest to the answer.
        fails_memory_bytes: Option<u64>,
        /// Tasks of the farthest run that passed at or beyond the failed one: the boundary is not sharp.
        sometimes_tasks: Option<u64>,
        /// Memory of the farthest run that passed at or beyond the failed one.
        sometimes_memory_bytes: Option<u64>,
        /// Highest rate that passed, once confirmed.
        rate_per_s: Option<u64>,
        /// Rate of the failed run nearest to the answer.
        fails_rate_per_s: Option<u64>,
        /// Rate of the farthest run that passed at or beyond the failed one.
        sometimes_rate_per_s: Option<u64>,
        /// The answer in a sentence.
        text: String,
    },
    /// A message that taskscale prints as text without `--json`.
    Message { level: Level, text: String },
    /// The command failed.
    Error {
        /// What is wrong.
        message: String,
        /// What to do.
        hint: Option<String>,
    },
    /// The last line.
    End { exit_code: u8 },
}

/// State of an entry's preparation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BuildState {
    /// Preparation has started.
    Started,
    /// The entry can run.
    Ready,
    /// Its toolchain is missing or too old.
    Unavailable,
    /// The toolchain exists, but the build failed.
    Failed,
}

/// Importance of a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Single steps, only with `--verbose`.
    Detail,
    /// Progress.
    Info,
    /// A caveat on results, or something was left out.
    Warning,
}
