//! Why the specification of a search cannot be used.

use std::path::PathBuf;

use crate::hint::{self, Hint};

/// Version of the shape of `limit.json`.
pub const SEARCH_SPEC_SCHEMA: u32 = 1;

/// Why the specification of a search cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("not a limit.json of taskscale: {path} ({error})")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("unknown schema: {found} in {path} (this taskscale reads up to {SEARCH_SPEC_SCHEMA})")]
    Newer { path: PathBuf, found: u64 },
    #[error("cannot resume the search in {folder}: {what}")]
    Another { folder: PathBuf, what: String },
}

impl Hint for LimitError {
    fn hint(&self) -> Option<String> {
        let some = |hint: &str| Some(hint.to_owned());
        match self {
            LimitError::Io { error, .. } => error.hint(),
            LimitError::Malformed { .. } => {
                some("restore limit.json from a copy, or search into a new folder: -o DIR")
            }
            LimitError::Newer { .. } => some(hint::NEWER),
            LimitError::Another { .. } => some(hint::OTHER_RESULTS),
        }
    }
}
