//! The user's own command line with the numbers of a case filled in.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use taskscale_measure::{BlackBoxCommand, LoadCommand};

/// Files named in the command line are part of what the program is: up to this size all they have, above it their size
/// and when they were changed.
const LARGEST_DIGESTED: u64 = 64 << 20;

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

/// Changes when the program or how it is run may have changed, so that results do not resume. Files that the command line
/// names (a script, a configuration) belong to the program.
pub fn black_box_digest(
    program: &Path,
    arguments: &[String],
    black_box: &BlackBoxCommand,
    settings: &[u8],
) -> String {
    let folder = black_box.folder.as_deref().unwrap_or(Path::new(""));
    let mut digest = Sha256::new();
    let named = arguments.iter().map(|word| folder.join(word)).chain(black_box.stdin.clone());
    for path in std::iter::once(program.to_owned()).chain(named) {
        let Some(facts) = fs::metadata(&path).ok().filter(Metadata::is_file) else { continue };
        if facts.len() <= LARGEST_DIGESTED {
            // An executable may be unreadable.
            digest.update(fs::read(&path).unwrap_or_default());
        } else {
            let changes = [facts.size().cast_signed(), facts.mtime(), facts.mtime_nsec()];
            changes.into_iter().for_each(|number| digest.update(number.to_le_bytes()));
        }
    }
    digest.update(settings);
    digest.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}
