//! The files of a runtime's folder, before and after a build.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::runs::listed;
use super::{CheckRule, Findings};

/// The files of a folder with size and time of change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFiles(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl SourceFiles {
    /// Reads everything below `folder`. Skips what cannot be read: the build will fail on it.
    pub fn of(folder: &Path) -> SourceFiles {
        let mut files = BTreeMap::new();
        list(folder, folder, &mut files);
        SourceFiles(files)
    }

    /// Compares with the current files.
    pub(super) fn look(&self, folder: &Path, findings: &mut Findings) {
        let now = SourceFiles::of(folder);
        let changed: Vec<String> = now
            .0
            .iter()
            .filter(|(path, state)| self.0.get(*path) != Some(*state))
            .chain(self.0.iter().filter(|(path, _)| !now.0.contains_key(*path)))
            .map(|(path, _)| path.display().to_string())
            .collect();
        if !changed.is_empty() {
            findings.error(
                CheckRule::Files,
                format!("writes into the source folder: {}", listed(&changed)),
                "write to `{out}` or `{shared}`; if the toolchain writes beside the source, copy the source there first",
            );
        }
    }
}

fn list(folder: &Path, root: &Path, files: &mut BTreeMap<PathBuf, (u64, Option<SystemTime>)>) {
    for child in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = child.path();
        let Ok(meta) = path.symlink_metadata() else { continue };
        if meta.is_dir() {
            list(&path, root, files);
        } else {
            let name = path.strip_prefix(root).unwrap_or(&path).to_owned();
            files.insert(name, (meta.len(), meta.modified().ok()));
        }
    }
}
