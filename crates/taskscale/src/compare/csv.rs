//! The comparison as comma-separated values: one line for each metric of each cell, and one for each cell that did not
//! end well on both sides.

use super::model::{Cell, Comparison, OutcomeChange};
use crate::report::csv::{figure, line, text};
use crate::stats::Interval;

const HEADER: [&str; 19] = [
    "metric",
    "base_entry",
    "new_entry",
    "tasks",
    "base",
    "new",
    "base_runs",
    "new_runs",
    "ratio",
    "ratio_low95",
    "ratio_high95",
    "verdict_confidence",
    "verdict_low",
    "verdict_high",
    "margin",
    "verdict",
    "regression",
    "reason",
    "workload",
];

/// All parts, one after the other: each line says which it is of.
pub fn render(parts: &[Comparison]) -> String {
    let mut out = HEADER.join(",");
    out.push('\n');
    for part in parts {
        part.cells.iter().for_each(|cell| line(&mut out, of_cell(part, cell)));
        part.outcomes.iter().for_each(|outcome| line(&mut out, of_outcome(part, outcome)));
    }
    out
}

fn of_cell(comparison: &Comparison, cell: &Cell) -> Vec<String> {
    let bounds = |interval: Option<Interval>| {
        [figure(interval.map(|interval| interval.low)), figure(interval.map(|interval| interval.high))]
    };
    let [low95, high95] = bounds(cell.ratio_interval);
    let [low, high] = bounds(cell.verdict_interval);
    let fields = vec![
        cell.metric.name.to_owned(),
        text(&cell.base_entry),
        text(&cell.new_entry),
        cell.tasks.map(|tasks| tasks.to_string()).unwrap_or_default(),
        figure(cell.base.value),
        figure(cell.new.value),
        cell.base.runs.to_string(),
        cell.new.runs.to_string(),
        figure(cell.ratio),
        low95,
        high95,
        figure(Some(comparison.verdict_confidence)),
        low,
        high,
        figure(Some(cell.margin)),
        cell.verdict.name().to_owned(),
        cell.regression.to_string(),
        text(cell.reason.as_deref().unwrap_or_default()),
        text(&comparison.workload),
    ];
    debug_assert_eq!(fields.len(), HEADER.len());
    fields
}

fn of_outcome(comparison: &Comparison, outcome: &OutcomeChange) -> Vec<String> {
    let mut fields = vec![
        "outcome".to_owned(),
        text(&outcome.base_entry),
        text(&outcome.new_entry),
        outcome.tasks.map(|tasks| tasks.to_string()).unwrap_or_default(),
        text(&outcome.base),
        text(&outcome.new),
    ];
    fields.resize(HEADER.len() - 4, String::new());
    fields.extend([
        outcome.change.name().to_owned(),
        (comparison.fail_above.is_some() && comparison.closes(outcome)).to_string(),
        text(outcome.reason.as_deref().unwrap_or_default()),
        text(&comparison.workload),
    ]);
    fields
}
