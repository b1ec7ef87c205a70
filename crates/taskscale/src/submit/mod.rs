//! Submission of results, and the rules for a repository of results.
//!
//! [`examine`] checks results, [`anonymize`] anonymizes them, [`write_submission`] writes them with a checksum, and
//! [`pull_request`] writes the text of the pull request. Must not know the command line or how a run is measured.

mod anonymize;
mod badges;
mod document;
mod examine;
mod folder;
#[cfg(test)]
mod forgery_tests;
mod machine;
mod plausible;
mod programs;
mod repository;
mod runs;
mod sample;
#[cfg(test)]
mod tests;
mod verify;
mod withdraw;

pub use anonymize::{Identity, anonymize};
pub use badges::{Badge, Candidate, badges};
pub use document::{CheckedFolder, checked, pull_request, verified};
pub use examine::{examine, names_left};
pub use folder::{SubmittedResults, campaigns_below, place, read, write_submission};
pub use machine::class;
pub use plausible::{Footprints, compare};
pub use programs::{changed_programs, wrong_checks};
pub use repository::{check_candidate, check_folders};
pub use verify::{DrawnCase, VERIFICATION, Verification, draw, judge};
pub use withdraw::{WITHDRAWN, Withdrawal};

use std::io;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;
use strum::EnumMessage;

use crate::document::first_few;
use crate::files::if_there;
use crate::record::read_document;

/// A rule for submitted results, with the sentence that pull requests show. Its message says what to do if it is broken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
#[derive(strum::IntoStaticStr, strum::VariantArray, strum::EnumMessage)]
#[strum(serialize_all = "kebab-case")]
pub enum SubmissionRule {
    /// Every line of samples.jsonl is a sample of these results.
    Lines,
    /// The samples match the plan, each once.
    Plan,
    /// Every case of the plan was measured.
    #[strum(message = "re-run the same `taskscale run … -o DIR` to measure what is missing")]
    Whole,
    /// All runs have one memory source and one cap, and each entry has one version.
    Alike,
    /// Fewer than 5% of the runs were on a busy machine.
    #[strum(message = "measure again into a new folder on an idle machine (check with `taskscale doctor`)")]
    Quiet,
    /// The values of each sample are consistent.
    Figures,
    /// The values are plausible for real runs.
    #[strum(
        message = "measure again with the released taskscale; if the values stay, open an issue: a bound may be wrong"
    )]
    Plausible,
    /// The runs do not overlap.
    Times,
    /// Programs, titles, reasons and links are those of the catalog.
    #[strum(
        message = "measure with the unchanged catalog (`--catalog embedded`), or contribute your program first: docs/guides/add-a-runtime.md"
    )]
    Programs,
    /// No host, user or path of the machine is in them.
    #[strum(message = "submit with `taskscale submit`, which removes them")]
    Names,
    /// The results are marked as submitted, not as the project's.
    #[strum(message = "submit with `taskscale submit`, without --by project")]
    Origin,
    /// The checksum matches the files.
    #[serde(rename = "seal")]
    #[strum(
        serialize = "seal",
        message = "restore the files as `taskscale submit` wrote them, or submit the results again"
    )]
    Checksum,
    /// The results were not submitted before.
    #[strum(message = "keep one of the two")]
    Once,
}

named!(SubmissionRule);

impl SubmissionRule {
    /// What to do if the rule is broken.
    fn fix(self) -> &'static str {
        self.get_message().unwrap_or(
            "submit the files exactly as taskscale wrote them; if it wrote them so, report a bug and measure again",
        )
    }
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Violation {
    pub rule: SubmissionRule,
    /// What is wrong, and where, without an end mark.
    pub what: String,
    /// What to do about it.
    pub fix: &'static str,
}

impl Violation {
    pub fn new(rule: SubmissionRule, what: impl Into<String>) -> Violation {
        Violation { rule, what: what.into(), fix: rule.fix() }
    }

    /// One finding for several violations of a rule: the first few in words, and the number of others.
    fn of_many<T>(
        rule: SubmissionRule,
        all: impl IntoIterator<Item = T>,
        what: impl FnMut(T) -> String,
    ) -> Option<Violation> {
        let mut all = all.into_iter().peekable();
        all.peek()?;
        Some(Violation::new(rule, first_few(all, NAMED, "; ", what)))
    }
}

/// Number of violations that a finding names.
const NAMED: usize = 3;

/// Reads a JSON record. `None` if the file does not exist.
fn read_record<T: DeserializeOwned>(path: &Path) -> io::Result<Option<T>> {
    let text = if_there(read_document(path))?;
    Ok(text.map(|text| serde_json::from_slice(&text)).transpose()?)
}
