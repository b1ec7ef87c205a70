//! Kinds of tasks.

use serde::{Deserialize, Serialize};
use strum::{EnumMessage, IntoStaticStr, VariantArray};

/// What one task is in its runtime.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, EnumMessage, IntoStaticStr, VariantArray)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Kind {
    /// An OS thread.
    #[strum(message = "OS threads", detailed_message = "scheduled by the kernel")]
    Thread,
    /// A process.
    #[strum(message = "Processes", detailed_message = "each with its own memory")]
    Process,
    /// A green thread with its own stack: goroutine, virtual thread, fiber.
    #[strum(
        message = "Green threads",
        detailed_message = "goroutines, virtual threads, fibers: each with a stack"
    )]
    Stackful,
    /// An async task that keeps its state in an object.
    #[strum(message = "Async tasks", detailed_message = "scheduled by the runtime, without a stack")]
    Stackless,
    /// One of many futures in one task.
    #[strum(message = "Futures in one task", detailed_message = "polled by the task that awaits them")]
    Future,
    /// A timer without a task.
    #[strum(message = "Timers", detailed_message = "without tasks")]
    Timer,
    /// A black-box program.
    #[strum(message = "Programs", detailed_message = "black-box programs, each with its own tasks")]
    #[default]
    Program,
}

impl Kind {
    /// The heading of such entries in tables.
    pub fn title(self) -> &'static str {
        self.get_message().unwrap_or_default()
    }

    /// The title within a sentence.
    pub fn in_sentence(self) -> String {
        let title = self.title();
        if title.starts_with("OS") { title.to_owned() } else { title.to_lowercase() }
    }

    /// What distinguishes tasks of this kind.
    pub fn about(self) -> &'static str {
        self.get_detailed_message().unwrap_or_default()
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_has_a_title_and_a_description() {
        assert!(Kind::VARIANTS.iter().all(|kind| !kind.title().is_empty() && !kind.about().is_empty()));
    }
}
