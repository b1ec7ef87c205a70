//! Submission of results, and the rules for a repository of results.
//!
//! [`examine`] checks results, [`stripped`] anonymizes them, [`hand_in`] writes them with a checksum, and
//! [`pull_request`] writes the text of the pull request. Must not know the command line or how a run is measured.

mod examine;
mod folder;
#[cfg(test)]
mod forgery_tests;
mod machine;
mod marks;
mod plausible;
mod programs;
mod runs;
mod sample;
mod sheet;
mod strip;
#[cfg(test)]
mod tests;
mod verify;
mod withdraw;

pub use examine::{examine, names_left};
pub use folder::{Published, campaigns_below, hand_in, place, read};
pub use machine::class;
pub use marks::{Candidate, Mark, marks};
pub use plausible::{Compared, Footprints, compare};
pub use programs::changed_programs;
pub use sheet::{Checked, checked, pull_request};
pub use strip::{Stripped, Whose, stripped};
pub use verify::{DrawnCase, VERIFICATION, Verification, VerifiedCase, draw, judge};
pub use withdraw::{WITHDRAWN, Withdrawal};

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

/// A rule that submitted results must meet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Every line of samples.jsonl is a sample of these results.
    Lines,
    /// The samples match the plan, each once.
    Plan,
    /// Every case of the plan was measured.
    Whole,
    /// All runs have the same memory source and cap, and each entry has one version.
    Alike,
    /// Fewer than 5% of the runs were on a busy machine.
    Quiet,
    /// The values of each sample are consistent.
    Figures,
    /// The values are plausible, compared with other runs.
    Plausible,
    /// The runs do not overlap.
    Times,
    /// The programs are those of the catalog.
    Programs,
    /// The results are anonymized.
    Names,
    /// The results are marked as submitted, not as the project's.
    Origin,
    /// The checksum matches the files.
    Seal,
    /// The results were not submitted before.
    Once,
}

impl Rule {
    pub const ALL: [Rule; 13] = [
        Rule::Lines,
        Rule::Plan,
        Rule::Whole,
        Rule::Alike,
        Rule::Quiet,
        Rule::Figures,
        Rule::Plausible,
        Rule::Times,
        Rule::Programs,
        Rule::Names,
        Rule::Origin,
        Rule::Seal,
        Rule::Once,
    ];

    pub fn name(self) -> &'static str {
        match self {
            Rule::Lines => "lines",
            Rule::Plan => "plan",
            Rule::Whole => "whole",
            Rule::Alike => "alike",
            Rule::Quiet => "quiet",
            Rule::Figures => "figures",
            Rule::Plausible => "plausible",
            Rule::Times => "times",
            Rule::Programs => "programs",
            Rule::Names => "names",
            Rule::Origin => "origin",
            Rule::Seal => "seal",
            Rule::Once => "once",
        }
    }

    /// The rule in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Rule::Lines => "every line is a sample of these results",
            Rule::Plan => "the samples match the plan, each once",
            Rule::Whole => "every case of the plan was measured",
            Rule::Alike => "one memory source, one cap, one version of each entry",
            Rule::Quiet => "fewer than 5% of the runs were on a busy machine",
            Rule::Figures => "the values of each sample are consistent",
            Rule::Plausible => "the values are plausible for real runs",
            Rule::Times => "the runs do not overlap",
            Rule::Programs => "programs, titles, reasons and links are those of the catalog",
            Rule::Names => "no host, user or path of the machine",
            Rule::Origin => "marked as submitted, not as measured by the project",
            Rule::Seal => "the checksum matches the files",
            Rule::Once => "not submitted before",
        }
    }

    /// What to do where the rule is broken.
    pub fn fix(self) -> &'static str {
        match self {
            Rule::Lines | Rule::Plan | Rule::Alike | Rule::Figures | Rule::Times => {
                "submit the files exactly as taskscale wrote them; if it wrote them so, report a bug and measure again"
            }
            Rule::Plausible => {
                "measure again with the released taskscale; if the values stay, open an issue: a bound may be wrong"
            }
            Rule::Whole => "re-run the same `taskscale run … -o DIR` to measure what is missing",
            Rule::Quiet => {
                "measure again into a new folder on an idle machine (check with `taskscale doctor`)"
            }
            Rule::Programs => {
                "measure with the unchanged catalog (`--catalog embedded`), or contribute your program first: \
                 docs/guides/add-a-runtime.md"
            }
            Rule::Names => "submit with `taskscale submit`, which removes them",
            Rule::Origin => "submit with `taskscale submit`, without --by project",
            Rule::Seal => "restore the files as `taskscale submit` wrote them, or submit the results again",
            Rule::Once => "keep one of the two",
        }
    }
}

/// A broken rule.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rule,
    /// What is wrong, and where, without an end mark.
    pub what: String,
}

impl Finding {
    pub fn new(rule: Rule, what: impl Into<String>) -> Finding {
        Finding { rule, what: what.into() }
    }

    /// One finding for several violations of a rule: the first few, and the number of others, which are not put into
    /// words.
    fn of_many<T>(
        rule: Rule,
        all: impl IntoIterator<Item = T>,
        what: impl FnMut(T) -> String,
    ) -> Option<Finding> {
        let mut all = all.into_iter();
        let named: Vec<String> = all.by_ref().take(NAMED).map(what).collect();
        let more = all.count();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| Finding::new(rule, named.join("; ") + &more))
    }
}

/// Number of violations that a finding names.
const NAMED: usize = 3;

impl Serialize for Finding {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut finding = serializer.serialize_struct("Finding", 3)?;
        finding.serialize_field("rule", self.rule.name())?;
        finding.serialize_field("what", &self.what)?;
        finding.serialize_field("fix", self.rule.fix())?;
        finding.end()
    }
}
