//! What an entry is: the words that keep unlike things apart in a comparison.

use serde::{Deserialize, Serialize};

/// What one task is to its runtime.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// A thread of the operating system.
    Thread,
    /// A process of the operating system.
    Process,
    /// A task with a stack of its own, switched by the runtime: goroutine, virtual thread, fiber.
    Stackful,
    /// A compiled or interpreted async task that keeps its state in an object.
    Stackless,
    /// One of many futures inside one task.
    Future,
    /// A timer, and no task at all.
    Timer,
    /// Whatever a program that is not of the catalogue makes of a task. No manifest may say it.
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
    /// A queue for each member, and a writer that empties it.
    Queue,
    /// The task of the sender writes to each member's socket.
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
