//! Why two results folders cannot be compared.

use crate::hint::Hint;

/// Why two results folders cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("different workloads: {base} has {base_workload}, {new} has {new_workload}")]
    Workloads { base: String, base_workload: String, new: String, new_workload: String },
    #[error("no entry `{entry}` in {folder}{}", did_you_mean(nearest))]
    NoEntry { folder: String, entry: String, nearest: Option<String>, there: Vec<String> },
    #[error("no case in common: {base} and {new}")]
    NothingInCommon { base: String, new: String },
    #[error("not comparable: different {}", what.join(", "))]
    Across { what: Vec<String> },
    #[error("recorded twice: repetition {repetition} of {case} (in {folder})")]
    Twice { folder: String, case: String, repetition: u32 },
}

impl Hint for CompareError {
    fn hint(&self) -> Option<String> {
        let some = |hint: &str| Some(hint.to_owned());
        match self {
            CompareError::Workloads { .. } => {
                some("measure both with the same workload: `taskscale run -w WORKLOAD`")
            }
            CompareError::NoEntry { there, .. } => Some(format!("its entries are {}", there.join(", "))),
            CompareError::NothingInCommon { .. } => some(
                "measure the same entries at the same -n, or compare two entries with --base-entry and --new-entry",
            ),
            CompareError::Across { .. } => {
                some("measure both on one machine with one taskscale, or compare them all the same: --across")
            }
            CompareError::Twice { .. } => some("measure again into a new folder: -o DIR"),
        }
    }
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}
