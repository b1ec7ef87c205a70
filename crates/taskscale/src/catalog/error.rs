//! Why a catalog is invalid.

use std::path::PathBuf;

use crate::document::quoted;
use crate::hint::hints;

/// Why a catalog is invalid.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum CatalogError {
    #[error(
        "no catalog found (no runtimes/*/runtime.toml in this folder or above, and none is built into this taskscale)"
    )]
    #[strum(message = "run it in a checkout of taskscale, or name a catalog: --catalog DIR")]
    NotFound,
    #[error("cannot unpack the built-in catalog into {path}: {error}")]
    #[strum(message = "set TASKSCALE_CACHE to a writable folder, or name a catalog: --catalog DIR")]
    Unpack { path: PathBuf, error: std::io::Error },
    #[error("catalog not trusted: {folder} ({why}, and it was not named with --catalog)")]
    Untrusted { folder: PathBuf, why: String },
    #[error("cannot read {path}: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{path}:{line}:{column}: {message}")]
    #[strum(message = "docs/reference/manifest.md explains every key of runtime.toml")]
    Invalid { path: PathBuf, line: usize, column: usize, message: String },
    #[error("no runtime in catalog {folder} (expected folders with a runtime.toml)")]
    #[strum(message = "name the folder above them: --catalog DIR")]
    Empty {
        folder: PathBuf,
        /// A catalog that the user may have meant.
        below: Option<PathBuf>,
    },
}

hints!(CatalogError {
    CatalogError::Untrusted { folder, .. } => {
        let folder = quoted(&folder.display().to_string());
        Some(format!(
            "if you trust it, use it with `--catalog {folder}`; `--catalog embedded` uses taskscale's own"
        ))
    },
    CatalogError::Unreadable { error, .. } => error.hint(),
    CatalogError::Empty { below: Some(below), .. } => {
        Some(format!("did you mean {}?", below.display()))
    },
});
