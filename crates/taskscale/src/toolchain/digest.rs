//! Digests of a runtime's sources, with the toolchain that builds them.

use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};
use walkdir::{DirEntry, WalkDir};

use super::environment;
use super::error::{BuildError, at};
use super::find::Toolchain;
use crate::catalog::Runtime;

/// SHA-256, in hexadecimal digits, over everything that can change the build of any entry: each file of the
/// runtime's folder but its README, the toolchain's version and folder, and the variables of
/// `TASKSCALE_BUILD_ENV`.
pub fn source_digest(runtime: &Runtime, toolchain: &Toolchain) -> Result<String, BuildError> {
    let mut digest = Digester::of(toolchain);
    digest.add_files(&runtime.folder, list_files(&runtime.folder)?)?;
    digest.add_environment();
    Ok(digest.finish())
}

/// A digest of parts, each with its length, so that moving bytes from one part to the next changes it.
pub(super) struct Digester(Sha256);

impl Digester {
    pub fn of(toolchain: &Toolchain) -> Digester {
        let mut digest = Digester(Sha256::new());
        digest.add(toolchain.version.as_bytes());
        digest.add(toolchain.home.as_deref().unwrap_or(Path::new("")).to_string_lossy().as_bytes());
        digest
    }

    pub fn add(&mut self, bytes: &[u8]) {
        self.0.update((bytes.len() as u64).to_le_bytes());
        self.0.update(bytes);
    }

    /// Adds the names (inside `folder`) and contents of files, sorted by name.
    pub fn add_files(&mut self, folder: &Path, mut files: Vec<PathBuf>) -> Result<(), BuildError> {
        files.sort();
        for path in files {
            let name = path.strip_prefix(folder).unwrap_or(&path);
            self.add(name.to_string_lossy().as_bytes());
            self.add(&at("read", &path, fs::read(&path))?);
        }
        Ok(())
    }

    /// Adds the variables of `TASKSCALE_BUILD_ENV`, if any.
    pub fn add_environment(&mut self) {
        for (name, value) in environment::extra() {
            self.add(name.as_bytes());
            self.add(value.as_bytes());
        }
    }

    pub fn finish(self) -> String {
        self.0.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
    }
}

/// The files that builds use: no hidden ones and no README.md.
pub(super) fn list_files(folder: &Path) -> Result<Vec<PathBuf>, BuildError> {
    let mut files = Vec::new();
    let is_hidden = |child: &DirEntry| child.file_name().to_string_lossy().starts_with('.');
    let walk = WalkDir::new(folder).into_iter();
    for child in walk.filter_entry(|child| child.depth() == 0 || !is_hidden(child)) {
        let child = at("read", folder, child.map_err(Into::into))?;
        // Linked files are built from too. Linked folders are not followed, as they could lead anywhere, or in
        // circles.
        if child.file_name() != "README.md" && !child.file_type().is_dir() && child.path().is_file() {
            files.push(child.into_path());
        }
    }
    Ok(files)
}
