//! The files of a runtime's folder, before and after a build.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use walkdir::{DirEntry, WalkDir};

use super::{CheckRule, Findings, Severity};

/// The files below a folder, each with its size and modification time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceFiles(BTreeMap<PathBuf, (u64, Option<SystemTime>)>);

impl SourceFiles {
    /// Reads everything below `folder`. Skips unreadable files: the build will fail on them.
    pub fn of(folder: &Path) -> SourceFiles {
        let state = |file: DirEntry| {
            let meta = file.metadata().ok()?;
            let name = file.path().strip_prefix(folder).ok()?.to_owned();
            Some((name, (meta.len(), meta.modified().ok())))
        };
        let files = WalkDir::new(folder).into_iter().flatten();
        SourceFiles(files.filter(|child| !child.file_type().is_dir()).filter_map(state).collect())
    }

    /// Reports files that changed since.
    pub(super) fn check(&self, folder: &Path, findings: &mut Findings) {
        let now = SourceFiles::of(folder);
        let changed: Vec<String> = now
            .0
            .iter()
            .filter(|(path, state)| self.0.get(*path) != Some(*state))
            .chain(self.0.iter().filter(|(path, _)| !now.0.contains_key(*path)))
            .map(|(path, _)| path.display().to_string())
            .collect();
        let what = "writes into the source folder";
        let fix = "write to `{out}` or `{shared}`; if the toolchain writes beside the source, copy the source there first";
        findings.list(Severity::Error, CheckRule::Files, what, &changed, fix);
    }
}
