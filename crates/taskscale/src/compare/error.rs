//! Why two campaigns cannot be compared, or a gate has no answer.

use crate::units;

/// Why two campaigns cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("the campaigns are of different workloads: {base} has {base_workload}, {new} has {new_workload}")]
    Workloads { base: String, base_workload: String, new: String, new_workload: String },
    #[error("{folder} has no entry `{entry}`{}", did_you_mean(nearest))]
    NoEntry { folder: String, entry: String, nearest: Option<String>, there: Vec<String> },
    #[error("no cell was measured in both {base} and {new}")]
    NothingInCommon { base: String, new: String },
    #[error("{}", not_judged(cells, *judged, *of))]
    NotJudged { cells: Vec<String>, judged: usize, of: usize },
}

/// How many cells a message names before it says "and N more".
const NAMED: usize = 8;

fn not_judged(cells: &[String], judged: usize, of: usize) -> String {
    let mut text =
        format!("--fail-above has no answer: {judged} of {} could be judged", units::counted(of, "cell"));
    if cells.is_empty() {
        text.push_str(", as their runs differ too much from each other");
    }
    for cell in cells.iter().take(NAMED) {
        text.push_str(&format!("\n  {cell}"));
    }
    if cells.len() > NAMED {
        text.push_str(&format!("\n  and {} more", cells.len() - NAMED));
    }
    text
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}
