//! The errors that end a check.

use crate::hint::hints;
use taskscale_measure::MeasureError;

/// Why a check stopped early.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum CheckError {
    #[error("interrupted")]
    Interrupted,
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: std::path::PathBuf, error: std::io::Error },
}

pub type CheckResult<T> = Result<T, CheckError>;

hints!(CheckError {
    CheckError::Measure(error) => error.hint(),
    CheckError::Io { error, .. } => error.hint(),
});

/// A new temporary folder, removed when dropped.
pub(super) fn temp_folder(prefix: &str) -> CheckResult<tempfile::TempDir> {
    tempfile::Builder::new().prefix(prefix).tempdir().map_err(|error| CheckError::Io {
        what: "create a folder in",
        path: std::env::temp_dir(),
        error,
    })
}
