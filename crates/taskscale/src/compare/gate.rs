//! Whether a gate holds: what closes it, and what it could not judge. A gate that judged nothing has found nothing.

use super::model::{Change, Comparison, Gate, Judged, OutcomeChange, Verdict};
use super::side::Side;
use super::words;
use crate::figures;
use crate::units;

impl Comparison {
    /// Cells with a verdict: those that are larger, smaller or the same, beyond doubt.
    pub fn judged(&self) -> usize {
        self.cells.iter().filter(|cell| cell.verdict != Verdict::Unclear).count()
    }

    /// How the gate stands; `None` where there is none.
    pub fn gate(&self) -> Option<Gate> {
        self.fail_above?;
        Some(match (self.regressions(), self.unjudged.is_empty() && self.judged() > 0) {
            (0, true) => Gate::Open,
            (0, false) => Gate::Undecided,
            _ => Gate::Closed,
        })
    }

    /// How many things close the gate.
    pub(super) fn regressions(&self) -> u64 {
        self.regressions.unwrap_or(0)
    }

    /// Cells and outcomes that close the gate, and the cells that NEW has not measured.
    pub(super) fn count_regressions(&self) -> u64 {
        let worse = self.cells.iter().filter(|cell| cell.regression).count();
        let outcomes = self.outcomes.iter().filter(|outcome| self.closes(outcome)).count();
        let missing = if self.allow_missing { 0 } else { self.missing.len() };
        (worse + outcomes + missing) as u64
    }

    /// Whether an outcome closes a gate.
    pub fn closes(&self, outcome: &OutcomeChange) -> bool {
        match outcome.change {
            Change::Fails => true,
            Change::OkLessOften => !self.allow_missing,
            Change::Works | Change::StillFails => false,
        }
    }

    /// Whether a gate has to answer for this cell, and cannot. Noise is an answer: what it hides is not beyond doubt.
    fn wants(&self, cell: &Judged) -> bool {
        // A slope says nothing that the footprints which it is made of do not, where those are judged themselves.
        let covered = cell.metric.of_line() && self.metrics.contains(&&figures::FOOTPRINT);
        cell.verdict == Verdict::Unclear && cell.reason.is_some() && !covered
    }

    /// What a gate should have judged and could not, one sentence each.
    pub(super) fn find_unjudged(&self, base: &Side) -> Vec<String> {
        let mut found: Vec<String> = Vec::new();
        for cell in self.cells.iter().filter(|cell| self.wants(cell)) {
            let reason = cell.reason.as_deref().unwrap_or_default();
            found.push(format!("{}, {}: {reason}", words::place(cell), cell.metric.name));
        }
        if !self.allow_missing {
            let missing = base.unmeasured().into_iter();
            found.extend(missing.map(|(entry, tasks)| {
                format!("{entry} × {}: planned in BASE, but not measured there", units::count(tasks))
            }));
        }
        found
    }
}
