//! Why two campaigns cannot be compared.

/// Why two campaigns cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("the campaigns are of different workloads: {base} has {base_workload}, {new} has {new_workload}")]
    Workloads { base: String, base_workload: String, new: String, new_workload: String },
    #[error("{folder} has no entry `{entry}`{}", did_you_mean(nearest))]
    NoEntry { folder: String, entry: String, nearest: Option<String>, there: Vec<String> },
    #[error("no case was measured in both {base} and {new}")]
    NothingInCommon { base: String, new: String },
    #[error("the sides differ in {}", what.join(", "))]
    Across { what: Vec<String> },
    #[error("{folder}: repetition {repetition} of {case} was recorded twice")]
    Twice { folder: String, case: String, repetition: u32 },
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}
