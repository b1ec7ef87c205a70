//! Why the specification of a search cannot be used.

use std::path::PathBuf;

use strum::EnumMessage;

use crate::hint::Hint;

/// Schema version of `limit.json`.
pub const SEARCH_SPEC_SCHEMA: u32 = 1;

/// Why the specification of a search cannot be used.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum LimitError {
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("not a limit.json of taskscale: {path} ({error})")]
    #[strum(message = "restore limit.json from a copy, or search into a new folder: -o DIR")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("unknown schema: {found} in {path} (this taskscale reads up to {SEARCH_SPEC_SCHEMA})")]
    #[strum(message = "install the taskscale that wrote it, or a newer one")]
    Newer { path: PathBuf, found: u64 },
    #[error("cannot resume the search in {folder}: {what}")]
    #[strum(message = "choose another folder with -o, or omit -o for a new one")]
    Another { folder: PathBuf, what: String },
}

impl Hint for LimitError {
    fn hint(&self) -> Option<String> {
        match self {
            LimitError::Io { error, .. } => error.hint(),
            _ => self.get_message().map(str::to_owned),
        }
    }
}
