//! Why a site has nothing to show.

use std::path::PathBuf;

use crate::hint::Hint;

/// Why a site has nothing to show.
#[derive(Debug, thiserror::Error)]
pub enum SiteError {
    /// The searched folder cannot be used.
    #[error("{0}")]
    Folder(String),
    #[error("no results in {0}")]
    NoResults(PathBuf),
}

impl Hint for SiteError {
    fn hint(&self) -> Option<String> {
        Some("run `taskscale --quick` first, or name a folder that contains results folders".to_owned())
    }
}
