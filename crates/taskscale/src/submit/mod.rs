//! A campaign made ready to be handed in, and what a repository of campaigns is held to.
//!
//! [`examine`] says what speaks against a campaign, [`stripped`] takes out of it whose machine it was, [`sealed`] and
//! [`hand_in`] keep it, and [`pull_request`] says it to those who are asked to take it. Must not know the command line or
//! how a run is measured.

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

/// What a campaign is held to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// Every line of samples.jsonl is a sample of this campaign.
    Lines,
    /// The samples are of the plan, each once.
    Plan,
    /// Every cell of the plan was measured.
    Whole,
    /// All runs are of one source of memory, of one cap, and of an entry in one version.
    Alike,
    /// Fewer than a twentieth of the runs had other work beside them.
    Quiet,
    /// What one sample says does not contradict itself.
    Figures,
    /// They can be those of real runs, as far as other runs tell.
    Plausible,
    /// Runs came one after the other.
    Times,
    /// The programs are those of the catalogue.
    Programs,
    /// Nothing says whose machine it was.
    Names,
    /// Who hands it in does not speak for the project.
    Origin,
    /// The files are as they were handed in.
    Seal,
    /// It is there once.
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

    /// What was looked at, in a few words.
    pub fn about(self) -> &'static str {
        match self {
            Rule::Lines => "every line is a sample of this campaign",
            Rule::Plan => "the samples are of the plan, each once",
            Rule::Whole => "every cell of the plan was measured",
            Rule::Alike => "one source of memory, one cap, one version of each entry",
            Rule::Quiet => "fewer than 5 % of the runs had other work beside them",
            Rule::Figures => "the figures of each sample agree with each other",
            Rule::Plausible => "the figures can be those of real runs",
            Rule::Times => "the runs came one after the other",
            Rule::Programs => "programs, titles, reasons and links are those of the catalog",
            Rule::Names => "no host, user or path of the machine",
            Rule::Origin => "it says who measured it, and not that the project did",
            Rule::Seal => "the files are as they were handed in",
            Rule::Once => "it was not handed in before",
        }
    }

    /// What to do where it does not hold.
    pub fn fix(self) -> &'static str {
        match self {
            Rule::Lines | Rule::Plan | Rule::Alike | Rule::Figures | Rule::Times => {
                "hand in what taskscale wrote, as it wrote it; if it wrote this, measure again, and report it"
            }
            Rule::Plausible => {
                "measure again with the released taskscale; if the figures stay, open an issue with them: a bound may be wrong"
            }
            Rule::Whole => "the same `taskscale run … -o DIR` goes on with what is missing",
            Rule::Quiet => {
                "measure again, into a new folder, while nothing else runs (`taskscale doctor` names what does)"
            }
            Rule::Programs => {
                "measure with the catalogue as it is (`--catalog embedded`), or hand in your program first: \
                 docs/guides/add-a-runtime.md"
            }
            Rule::Names => "hand it in with `taskscale submit`, which takes them out",
            Rule::Origin => "hand it in with `taskscale submit`, without --by project",
            Rule::Seal => "restore the files as `taskscale submit` wrote them, or hand the campaign in anew",
            Rule::Once => "keep one of the two",
        }
    }
}

/// Something that speaks against a campaign.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    pub rule: Rule,
    /// What, and where: one sentence without its end.
    pub what: String,
}

impl Finding {
    pub fn new(rule: Rule, what: impl Into<String>) -> Finding {
        Finding { rule, what: what.into() }
    }

    /// One finding of many of a rule: the first few, and how many more.
    fn of_many(rule: Rule, all: impl IntoIterator<Item = String>) -> Option<Finding> {
        let mut all = all.into_iter();
        let named: Vec<String> = all.by_ref().take(NAMED).collect();
        let more = all.count();
        let more = if more > 0 { format!("; and {more} more") } else { String::new() };
        (!named.is_empty()).then(|| Finding::new(rule, named.join("; ") + &more))
    }
}

/// How many of a kind are named.
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
