//! Kinds of tasks.

use serde::{Deserialize, Serialize};
use strum::{IntoStaticStr, VariantArray};

/// What one task is in its runtime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, IntoStaticStr, VariantArray)]
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
    #[default]
    Program,
}

impl Kind {
    /// The heading of such entries in tables.
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

    /// What distinguishes tasks of this kind.
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
        self.into()
    }

    /// Whether a task has its own stack, so that it can wait at any depth of calls.
    pub fn stackful(self) -> bool {
        matches!(self, Kind::Thread | Kind::Process | Kind::Stackful)
    }
}
