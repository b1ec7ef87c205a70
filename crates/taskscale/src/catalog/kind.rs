//! The classes of entries: kind, style and fan-out. Comparisons group by them.

use serde::{Deserialize, Serialize};

/// What one task is in its runtime.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Serialize,
    Deserialize,
    strum::IntoStaticStr,
    strum::VariantArray,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// An OS thread.
    Thread,
    /// A process.
    Process,
    /// A green thread with its own stack: goroutine, virtual thread, fiber.
    Stackful,
    /// An async task that keeps its state in an object.
    Stackless,
    /// One of many futures in one task.
    Future,
    /// A timer without a task.
    Timer,
    /// A black-box program.
    Program,
}

impl Kind {
    /// What tables group such entries under.
    pub fn title(self) -> &'static str {
        match self {
            Kind::Thread => "OS threads",
            Kind::Process => "Processes",
            Kind::Stackful => "Green threads",
            Kind::Stackless => "Async tasks",
            Kind::Future => "Futures in one task",
            Kind::Timer => "Timers",
            Kind::Program => "Programs",
        }
    }

    /// The name used in manifests, records and tables.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a task has its own stack, so that it can wait at any depth of calls.
    pub fn stackful(self) -> bool {
        matches!(self, Kind::Thread | Kind::Process | Kind::Stackful)
    }
}

/// Whether an entry is written as users of the language would write it, or tuned for the benchmark.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, strum::IntoStaticStr,
)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Style {
    Idiomatic,
    Tuned,
}

impl Style {
    pub fn name(self) -> &'static str {
        self.into()
    }
}

/// How a chat server sends a message to the other members of a room; the designs differ in memory and CPU time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
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
        self.into()
    }
}
