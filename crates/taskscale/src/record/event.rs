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
    /// The line of something that happens now.
    pub fn now(event: Event) -> EventLine {
        EventLine { schema: SCHEMA_VERSION, at: Timestamp::now(), event }
    }
}

/// Something that happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "kebab-case")]
pub enum Event {
    /// What will be measured, once taskscale knows what can run here.
    Plan {
        /// The campaign's folder.
        folder: String,
        /// Of the first part.
        plan: Plan,
        /// Of further parts: other workloads, parameters or numbers of CPUs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        further_plans: Vec<Plan>,
        seed: u64,
        /// Repetitions of cells that can run here, those measured before included.
        runs: u64,
        /// Samples that the folder holds already.
        kept_samples: u64,
    },
    /// taskscale starts preparing an entry, or has prepared it: built, or found in the cache.
    Build {
        entry: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        workload: Option<String>,
        state: BuildState,
        /// The command that runs it, less what taskscale appends; where it is ready.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        command: Option<Vec<String>>,
        /// The version of its toolchain, where that was found.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        version: Option<String>,
        /// Why it cannot run.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        reason: Option<String>,
    },
    /// A run that is not measured, so that the pages of the program are there for those that are.
    WarmUp { entry: String },
    /// A run begins.
    RunStarted {
        entry: String,
        workload: String,
        tasks: u64,
        repetition: u32,
        attempt: u32,
        /// How long each task is told to wait, in seconds; 0 where it is told nothing of the kind.
        hold_s: f64,
        /// Of work: how many operations are to be done.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        operations: Option<u64>,
        /// Repetitions of cells that are done, of how many.
        done: u64,
        runs: u64,
        /// Estimate of the time until all are done, in seconds.
        left_s: f64,
    },
    /// A run has ended; its sample is on the disk.
    RunEnded { sample: Box<Sample> },
    /// The answer of a limit search for an entry. `tasks` and `memory_bytes` are the answer, if one is confirmed.
    Answer {
        entry: String,
        /// `found`, `undecided`, `nothing-holds` or `everything-holds`.
        state: String,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tasks: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        memory_bytes: Option<u64>,
        /// Runs that were to confirm the answer, or the last value that was to be one.
        confirming_runs: u64,
        /// How many of them held.
        confirming_held: u64,
        /// What failed nearest to it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fails_tasks: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fails_memory_bytes: Option<u64>,
        /// What held although it asked for as much as that or more: the edge is not sharp.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sometimes_tasks: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sometimes_memory_bytes: Option<u64>,
        /// Messages in a second: the answer, where the highest rate was looked for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        rate_per_s: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        fails_rate_per_s: Option<u64>,
        #[serde(default, skip_serializing_if = "Option::is_none")]
        sometimes_rate_per_s: Option<u64>,
        /// The same in a sentence.
        text: String,
    },
    /// Something that a person would read.
    Message { level: Level, text: String },
    /// The request failed.
    Error {
        message: String,
        /// A command or a cause, where there is one.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        hint: Option<String>,
    },
    /// The last line.
    End { exit_code: u8 },
}

/// How far an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum BuildState {
    /// Preparation has started.
    Started,
    /// It can be run.
    Ready,
    /// Its toolchain is missing or too old.
    Unavailable,
    /// The toolchain is there, and yet the build failed.
    Failed,
}

/// How much a message matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// Single steps; only with `--verbose`.
    Detail,
    /// Progress.
    Info,
    /// A caveat on results, or something was left out.
    Warning,
}
