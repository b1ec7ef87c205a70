//! The classes of entries: kind, style and fan-out. Comparisons group by them.

use serde::{Deserialize, Serialize};

/// What one task is in its runtime.
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
    /// One of many futures in one task.
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

    /// The title within a sentence.
    pub fn in_sentence(self) -> String {
        let title = self.title();
        if title.starts_with("OS") { title.to_owned() } else { title.to_lowercase() }
    }

    /// What distinguishes its tasks.
    pub fn about(self) -> &'static str {
        match self {
            Kind::Thread => "scheduled by the kernel",
            Kind::Process => "each with its own memory",
            Kind::Stackful => "goroutines, virtual threads, fibers: each with a stack",
            Kind::Stackless => "scheduled by the runtime, without a stack",
            Kind::Future => "polled by the task that awaits them",
            Kind::Timer => "without tasks",
            Kind::Program => "black-box programs, each with its own tasks",
        }
    }

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

    /// Whether a task has its own stack, so that it can wait at any depth of calls.
    pub fn stackful(self) -> bool {
        matches!(self, Kind::Thread | Kind::Process | Kind::Stackful)
    }
}

/// Whether an entry is written as users of the language would write it, or tuned for the benchmark.
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

/// How a chat server sends a message to the other members of a room; the designs differ in memory and CPU time.
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
