//! Why two results folders cannot be compared.

use crate::hint::hints;

/// Why two results folders cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::EnumMessage)]
pub enum CompareError {
    #[error("different workloads: {base} has {base_workload}, {new} has {new_workload}")]
    #[strum(message = "measure both with the same workload: `taskscale run -w WORKLOAD`")]
    Workloads { base: String, base_workload: String, new: String, new_workload: String },
    #[error("no entry `{entry}` in {folder}{nearest}")]
    NoEntry { folder: String, entry: String, nearest: String, there: Vec<String> },
    #[error("no case in common: {base} and {new}")]
    #[strum(
        message = "measure the same entries at the same -n, or compare two entries with --base-entry and --new-entry"
    )]
    NothingInCommon { base: String, new: String },
    #[error("not comparable: different {}", what.join(", "))]
    #[strum(
        message = "measure both on one machine with one taskscale, or compare them all the same: --across"
    )]
    Across { what: Vec<String> },
    #[error("recorded twice: repetition {repetition} of {case} (in {folder})")]
    #[strum(message = "measure again into a new folder: -o DIR")]
    Twice { folder: String, case: String, repetition: u32 },
}

hints!(CompareError {
    CompareError::NoEntry { there, .. } => Some(format!("its entries are {}", there.join(", "))),
});
