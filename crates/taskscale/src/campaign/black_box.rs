//! The user's own command line with the numbers of a case filled in.

use std::collections::BTreeMap;
use std::fs::{self, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sha2::{Digest, Sha256};

use taskscale_measure::{BlackBoxCommand, LoadCommand};

/// Largest file, in bytes, whose content is digested. Larger files are digested by size and modification time.
const LARGEST_DIGESTED: u64 = 64 << 20;

/// Placeholder for the number of tasks.
pub const TASKS: &str = "{tasks}";
/// Placeholder for how long each task waits, in whole seconds.
pub const SECONDS: &str = "{seconds}";

/// A black-box program, before the number of tasks is known.
#[derive(Debug, Clone)]
pub struct BlackBoxTemplate {
    pub black_box: BlackBoxCommand,
    /// Variables on top of the clean environment. Values from the caller's environment may be secrets and are
    /// not recorded.
    pub env: BTreeMap<String, String>,
}

impl BlackBoxTemplate {
    /// Command line, variables and black-box command of one run.
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

/// SHA-256, in hexadecimal digits, over the program, its standard input, `settings`, and files that its
/// arguments name (a script, a configuration). Results resume only if it is unchanged.
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
