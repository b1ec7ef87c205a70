//! Whether a gate passes: one failure makes it fail, else one undecided case makes it undecided. A gate that decided
//! nothing is undecided as well.

use super::model::{Change, Comparison, Decision, OutcomeChange, Undecided};
use super::plan::command;
use super::side::Side;
use super::words;
use crate::units;

impl Comparison {
    /// Metrics of cases with a verdict: larger, smaller or the same.
    pub fn judged(&self) -> usize {
        self.cells.iter().filter(|cell| cell.verdict != super::Verdict::Unclear).count()
    }

    fn decided(&self, decision: Decision) -> usize {
        self.cells.iter().filter(|cell| cell.decision == Some(decision)).count()
    }

    /// The outcome of `--fail-above`, if it was given.
    pub fn gate(&self) -> Option<Decision> {
        let failures = self.failures?;
        Some(match self.undecided.is_empty() && self.decided(Decision::Pass) > 0 {
            _ if failures > 0 => Decision::Fail,
            true => Decision::Pass,
            false => Decision::Undecided,
        })
    }

    /// The number of metrics and outcomes that fail, and of cases that NEW has not measured.
    pub(super) fn count_failures(&self) -> u64 {
        let outcomes = self.outcomes.iter().filter(|outcome| self.fails(outcome)).count();
        let missing = if self.allow_missing { 0 } else { self.missing.len() };
        (self.decided(Decision::Fail) + outcomes + missing) as u64
    }

    /// Whether an outcome makes a gate fail.
    pub fn fails(&self, outcome: &OutcomeChange) -> bool {
        match outcome.change {
            Change::Fails => true,
            Change::OkLessOften => !self.allow_missing,
            Change::Works | Change::StillFails => false,
        }
    }

    /// The cases that `--fail-above` could not decide.
    pub(super) fn find_undecided(&self, base: &Side) -> Vec<Undecided> {
        let cells = self.cells.iter().filter(|cell| cell.decision == Some(Decision::Undecided));
        let mut found: Vec<Undecided> = cells
            .map(|cell| Undecided {
                case: format!("{}, {}", words::place(cell), cell.metric.name),
                reason: words::why_undecided(cell),
                repetitions: cell.repetitions_needed,
                command: cell.repetitions_needed.map(|repetitions| command(base, cell, repetitions)),
            })
            .collect();
        if !self.allow_missing {
            let missing = base.unmeasured().into_iter().map(|(entry, tasks)| Undecided {
                case: format!("{entry} × {}", units::count(tasks)),
                reason: "planned in BASE, but not measured".to_owned(),
                repetitions: None,
                command: None,
            });
            found.extend(missing);
        }
        found
    }
}
