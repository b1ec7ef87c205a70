//! What an entry is: the words that keep unlike things apart in a comparison.

use serde::{Deserialize, Serialize};

/// What one task is to its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// An OS thread.
    Thread,
    /// A process.
    Process,
    /// A green thread with its own stack: goroutine, virtual thread, fiber.
    Stackful,
    /// An async task that keeps its state in an object.
    Stackless,
    /// One of many futures inside one task.
    Future,
    /// A timer without a task.
    Timer,
    /// A black-box program.
    Program,
}

impl Kind {
    pub const ALL: [Kind; 7] = [
        Kind::Thread,
        Kind::Process,
        Kind::Stackful,
        Kind::Stackless,
        Kind::Future,
        Kind::Timer,
        Kind::Program,
    ];

    /// The name used in manifests, records and tables.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Thread => "thread",
            Kind::Process => "process",
            Kind::Stackful => "stackful",
            Kind::Stackless => "stackless",
            Kind::Future => "future",
            Kind::Timer => "timer",
            Kind::Program => "program",
        }
    }

    /// Whether a task has a stack of its own, so that it can wait from within any depth of calls.
    pub fn stackful(self) -> bool {
        matches!(self, Kind::Thread | Kind::Process | Kind::Stackful)
    }
}

/// Whether an entry is what the language's users would write, or has been turned for the benchmark.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Style {
    Idiomatic,
    Tuned,
}

impl Style {
    pub fn name(self) -> &'static str {
        match self {
            Style::Idiomatic => "idiomatic",
            Style::Tuned => "tuned",
        }
    }
}

/// Who sends what one member of a chat room says to the others: designs that differ in memory and CPU.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum FanOut {
    /// A queue and a writer per member.
    Queue,
    /// The sender's task writes to each member's socket.
    Direct,
    /// The library's own broadcast.
    Library,
}

impl FanOut {
    pub fn name(self) -> &'static str {
        match self {
            FanOut::Queue => "queue",
            FanOut::Direct => "direct",
            FanOut::Library => "library",
        }
    }
}
