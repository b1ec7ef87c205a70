//! The comparison as Markdown for a pull request: what changed is seen at once, the rest is folded away.

use super::model::{Cell, Change, Comparison};
use super::words;
use crate::figures::Figure;
use crate::report::markdown::{Table, code, prose};
use crate::report::phrases::REASON;
use crate::report::sanitize::brief;

pub fn render(comparison: &Comparison) -> String {
    let mut out = String::new();
    out.push_str(&format!("### taskscale compare: {}\n\n", words::summary(comparison)));
    if let Some(gate) = words::gate(comparison) {
        out.push_str(&format!("**{gate}**\n\n"));
    }
    out.push_str(&format!("{}\n\n", words::title(comparison, prose)));
    if comparison.differences.is_empty() {
        out.push_str("Machine, versions and programs are the same.\n\n");
    } else {
        let mut table = Table::new();
        for name in ["what differs", "base", "new"] {
            table.column(name, false);
        }
        for difference in &comparison.differences {
            let shown = |text: &str| prose(&brief(text, REASON));
            table.row(vec![shown(&difference.what), shown(&difference.base), shown(&difference.new)]);
        }
        table.put(&mut out);
    }
    for change in [Change::Fails, Change::OkLessOften, Change::Works, Change::StillFails] {
        let lines: Vec<String> = comparison
            .outcomes
            .iter()
            .filter(|outcome| outcome.change == change)
            .map(|outcome| {
                format!("- {}\n", words::outcome(outcome, code, |text| prose(&brief(text, REASON))))
            })
            .collect();
        if !lines.is_empty() {
            out.push_str(&format!("**{}**\n\n{}\n", change.name(), lines.concat()));
        }
    }
    let changed = |cell: &&Cell| words::is_change(cell.verdict);
    for &metric in &comparison.metrics {
        let cells: Vec<&Cell> = words::ordered(comparison, metric).into_iter().filter(changed).collect();
        rows(&mut out, metric, &cells);
    }
    let rest = comparison.cells.iter().filter(|cell| !changed(cell)).count();
    out.push_str(&format!("<details><summary>Same or unclear: {rest}; notes</summary>\n\n"));
    for &metric in &comparison.metrics {
        let cells: Vec<&Cell> =
            words::ordered(comparison, metric).into_iter().filter(|cell| !changed(cell)).collect();
        rows(&mut out, metric, &cells);
    }
    for note in words::notes(comparison, prose) {
        out.push_str(&format!("- {note}\n"));
    }
    out.push_str("\n</details>\n");
    out
}

fn rows(out: &mut String, metric: &'static Figure, cells: &[&Cell]) {
    if cells.is_empty() {
        return;
    }
    let reasons = cells.iter().any(|cell| cell.reason.is_some());
    out.push_str(&format!("#### {}\n\n", words::heading(metric)));
    let mut table = Table::new();
    table.column("entry", false);
    for name in ["N", "base", "new", "ratio", "95 % interval"] {
        table.column(name, true);
    }
    table.column("verdict", false);
    if reasons {
        table.column("why", false);
    }
    for cell in cells {
        let verdict = cell.verdict.name();
        let mut row = vec![
            code(&cell.entries()),
            words::tasks(cell),
            words::figure(metric, cell.base.value),
            words::figure(metric, cell.new.value),
            words::ratio(cell),
            words::interval(cell.ratio_interval),
            if cell.verdict.worse() { format!("**{verdict}**") } else { verdict.to_owned() },
        ];
        if reasons {
            row.push(prose(cell.reason.as_deref().unwrap_or_default()));
        }
        table.row(row);
    }
    table.put(out);
}
