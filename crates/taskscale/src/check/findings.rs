//! The findings of a check.

use serde::Serialize;
use strum::IntoStaticStr;

use crate::document::first_of;
use crate::record::Status;

/// The severity of a finding.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum Severity {
    /// Results would be wrong or not reproducible, or would disturb others.
    Error,
    /// It works, but reviewers will ask for it.
    Warning,
    /// Worth knowing. The entry needs no fix.
    Note,
}

/// The fix if a claim cannot be confirmed from outside.
pub(super) const EXPLAIN: &str =
    "explain in the manifest why it cannot be confirmed from outside: `workloads.NAME.unconfirmed = \"…\"`";
pub(super) const ON_A_BUSY_MACHINE: &str = "inconclusive on a busy machine";
pub(super) const CHECK_AGAIN: &str = "check again on an idle machine; what no machine can confirm is explained in the manifest: \
     `workloads.NAME.unconfirmed = \"…\"`";

/// Rules that may be broken only because the machine is busy.
const OF_TIME: [CheckRule; 4] = [CheckRule::Wait, CheckRule::Exit, CheckRule::Counts, CheckRule::Kind];

/// What is checked. Names are stable: scripts may use them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CheckRule {
    /// The lines on standard output.
    Protocol,
    /// The counts in the protocol lines.
    Counts,
    /// Tasks wait as long as they must.
    Wait,
    /// All operations run between `ready` and `done`, with the right result.
    Work,
    /// Tasks and operations exist, by the kernel's counts.
    Made,
    /// The kernel's counts cannot confirm a claim.
    Unconfirmed,
    /// Exits in time, with the right code.
    Exit,
    /// Wrong arguments are refused.
    Arguments,
    /// The memory of a task.
    Memory,
    /// `kind` agrees with the kernel's counts.
    Kind,
    /// `parallel` agrees with the kernel's counts.
    Parallel,
    /// The program is idle while all tasks wait.
    Quiet,
    /// Leaves no files.
    Files,
    /// Leaves no processes.
    Processes,
    /// The build.
    Build,
    /// Dependencies are pinned.
    Pinned,
    /// The manifest and the files beside it.
    Manifest,
    /// A limit of the machine, not a fault of the program.
    Limit,
}

named!(Severity, CheckRule);

/// One finding.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    pub severity: Severity,
    pub rule: CheckRule,
    /// What was observed.
    pub what: String,
    /// How to fix it.
    pub fix: String,
}

/// The findings of one check, without duplicates.
#[derive(Debug, Default)]
pub struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        severity: Severity,
        rule: CheckRule,
        what: impl Into<String>,
        fix: impl Into<String>,
    ) {
        let finding = Finding { severity, rule, what: what.into(), fix: fix.into() };
        // Keeps one finding of a fault at several N, with the highest severity.
        let is_same = |other: &Finding| {
            other.rule == rule && without_numbers(&other.what) == without_numbers(&finding.what)
        };
        match self.0.iter_mut().find(|other| is_same(other)) {
            Some(known) if finding.severity < known.severity => *known = finding,
            Some(_) => {}
            None => self.0.push(finding),
        }
    }

    pub(super) fn error(&mut self, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Error, rule, what, fix);
    }

    pub(super) fn warning(&mut self, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Warning, rule, what, fix);
    }

    pub(super) fn note(&mut self, rule: CheckRule, what: impl Into<String>, fix: impl Into<String>) {
        self.add(Severity::Note, rule, what, fix);
    }

    /// Adds a finding about the first five of these names, if there are any.
    pub(super) fn list(
        &mut self,
        severity: Severity,
        rule: CheckRule,
        what: &str,
        names: &[String],
        fix: &str,
    ) {
        if !names.is_empty() {
            self.add(severity, rule, format!("{what}: {}", first_of(names, 5)), fix);
        }
    }

    /// A reason in the manifest turns unconfirmed findings into notes.
    pub(super) fn explain(&mut self, why: Option<&str>) {
        let Some(why) = why else { return };
        let mut is_needed = false;
        for found in self.0.iter_mut().filter(|found| found.rule == CheckRule::Unconfirmed) {
            found.severity = Severity::Note;
            found.fix = format!("none needed; the manifest explains it: {why}");
            is_needed = true;
        }
        if !is_needed {
            let what = "`unconfirmed` in the manifest is not needed: everything was confirmed";
            self.warning(CheckRule::Unconfirmed, what, "remove it");
        }
    }

    pub(super) fn take(&mut self, others: Findings) {
        for Finding { severity, rule, what, fix } in others.0 {
            self.add(severity, rule, what, fix);
        }
    }

    /// The same findings, prefixed with these words.
    pub(super) fn with(self, words: &str) -> Findings {
        let prefixed = |finding: Finding| Finding { what: format!("{words}, {}", finding.what), ..finding };
        Findings(self.0.into_iter().map(prefixed).collect())
    }

    /// Whether a finding blames the program for what a busy machine can cause.
    pub(super) fn blame_time(&self, ended: Status) -> bool {
        self.0.iter().any(|found| found.severity != Severity::Note && is_of_time(found.rule, ended))
    }

    /// Marks errors that a busy machine can cause as unconfirmed.
    pub(super) fn are_inconclusive(&mut self, ended: Status) {
        let errors = self.0.iter_mut().filter(|found| found.severity == Severity::Error);
        for found in errors.filter(|found| is_of_time(found.rule, ended)) {
            found.rule = CheckRule::Unconfirmed;
            found.what = format!("{}: {ON_A_BUSY_MACHINE}", found.what);
            CHECK_AGAIN.clone_into(&mut found.fix);
        }
    }

    /// Most severe first.
    pub fn sorted(mut self) -> Vec<Finding> {
        self.0.sort();
        self.0
    }
}

/// Whether a busy machine can break a rule in a run that ended so. Without a plateau, `alive` may have come with `done`
/// because the program was slow, not because it did not flush its output.
fn is_of_time(rule: CheckRule, ended: Status) -> bool {
    OF_TIME.contains(&rule) || rule == CheckRule::Protocol && ended == Status::NoPlateau
}

/// `what` without its numbers, to recognize the same fault at another N.
fn without_numbers(what: &str) -> String {
    let detail =
        what.strip_prefix("with ").and_then(|rest| rest.split_once(": ")).map_or(what, |(_, detail)| detail);
    detail.chars().filter(|char| !char.is_ascii_digit() && !['.', ','].contains(char)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unconfirmed_findings_are_errors_unless_explained() {
        let severity = |findings: &Findings| findings.0[0].severity;
        let mut open = Findings::default();
        open.error(CheckRule::Unconfirmed, "its operations take no CPU time", EXPLAIN);
        open.explain(None);
        assert_eq!(severity(&open), Severity::Error);
        open.explain(Some("they wait for a device"));
        assert_eq!(severity(&open), Severity::Note);
        let mut late = Findings::default();
        late.error(CheckRule::Wait, "`done` came late", "wait as long as it must");
        late.error(CheckRule::Files, "leaves files", "delete them");
        late.are_inconclusive(Status::Ok);
        let rules: Vec<CheckRule> = late.0.iter().map(|found| found.rule).collect();
        assert_eq!(rules, [CheckRule::Unconfirmed, CheckRule::Files], "{late:?}");
        let mut at_end = Findings::default();
        at_end.error(CheckRule::Protocol, "`alive` was printed only at the end", "flush standard output");
        assert!(!at_end.blame_time(Status::Ok) && at_end.blame_time(Status::NoPlateau));
        at_end.are_inconclusive(Status::NoPlateau);
        assert_eq!(at_end.0[0].rule, CheckRule::Unconfirmed);
        let mut confirmed = Findings::default();
        confirmed.explain(Some("they wait for a device"));
        assert_eq!(severity(&confirmed), Severity::Warning, "a reason for nothing");
    }
}
