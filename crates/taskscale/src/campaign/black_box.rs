//! The user's own command line with the numbers of a case filled in.

use std::collections::BTreeMap;

use taskscale_measure::{BlackBoxCommand, LoadCommand};

/// Placeholder for the number of tasks.
pub const TASKS: &str = "{tasks}";
/// Placeholder for how long each task waits, in whole seconds.
pub const SECONDS: &str = "{seconds}";

/// A black-box program, before the number of tasks is known.
#[derive(Debug, Clone)]
pub struct BlackBoxTemplate {
    pub black_box: BlackBoxCommand,
    /// Variables on top of the clean environment: more than is recorded where some are the caller's secrets.
    pub env: BTreeMap<String, String>,
}

impl BlackBoxTemplate {
    /// Command line, variables and the rest, for one run.
    pub(super) fn fill(
        &self,
        command: &[String],
        tasks: u64,
        hold_s: f64,
    ) -> (Vec<String>, BTreeMap<String, String>, BlackBoxCommand) {
        let (tasks, seconds) = (tasks.to_string(), (hold_s as u64).to_string());
        let filled = |text: &String| text.replace(TASKS, &tasks).replace(SECONDS, &seconds);
        let load = self.black_box.load.as_ref().map(|load| LoadCommand {
            command: load.command.iter().map(filled).collect(),
            stands: load.stands,
        });
        (
            command.iter().map(filled).collect(),
            self.env.iter().map(|(name, value)| (name.clone(), filled(value))).collect(),
            BlackBoxCommand { load, ..self.black_box.clone() },
        )
    }
}
