//! Why results cannot be submitted.

use std::path::PathBuf;

use crate::hint::hints;

/// Why results cannot be submitted, whatever is in them.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum SubmitError {
    #[error("cannot submit {0}: a search of `taskscale limit`")]
    #[strum(message = "submit results of `taskscale run`")]
    Search(PathBuf),
}

hints!(SubmitError {});
