//! Why an entry could not be built.

use std::io;
use std::path::{Path, PathBuf};

use crate::hint::hints;

/// Why an entry could not be built.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum BuildError {
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: io::Error },
    #[error("program not found in PATH: `{program}` (for `{command}`)")]
    #[strum(message = "`taskscale list --missing` shows what to install")]
    NoProgram { command: String, program: String },
    #[error("`{command}` failed ({status}; log: {log})\n{tail}")]
    Failed { command: String, status: String, log: PathBuf, tail: String },
    #[error("{title} is {found}, and its `{workload}` needs {minimum}")]
    TooOld { title: String, found: String, workload: String, minimum: String },
    #[error("cannot pin {library} {version}: {why}")]
    Pin { library: String, version: String, why: String },
    #[error("interrupted: {0}")]
    Stopped(String),
    #[error("no program after the build: {0} (missing or not executable)")]
    #[strum(message = "the build commands in runtime.toml do not create what `run` names")]
    NoResult(PathBuf),
}

hints!(BuildError {
    BuildError::Io { error, .. } => error.hint(),
});

pub(super) fn at<T>(what: &'static str, path: &Path, result: io::Result<T>) -> Result<T, BuildError> {
    result.map_err(|error| BuildError::Io { what, path: path.to_owned(), error })
}
