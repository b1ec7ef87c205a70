//! Several campaigns as Markdown.

use super::super::footnotes;
use super::super::markdown::{Table, code, prose};
use super::super::model::Report;
use super::{Cell, Change, campaigns, change_heading, facts, letter, notes_of, tables};
use crate::figures::Figure;

pub fn render(reports: &[Report], metrics: &[&'static Figure]) -> String {
    let mut out = format!("### taskscale: {} campaigns side by side\n\n", campaigns(reports));
    let facts = facts(reports);
    let mut table = Table::new();
    table.column("", false);
    for i in 0..campaigns(reports) {
        table.column(letter(i), false);
    }
    for fact in facts.iter().filter(|fact| fact.differs()) {
        let values = fact.values.iter().map(|value| prose(value.as_deref().unwrap_or("-")));
        table.row(std::iter::once(prose(&fact.name)).chain(values).collect());
    }
    table.put(&mut out);
    let same: Vec<String> = (facts.iter().filter(|fact| !fact.differs()))
        .filter_map(|fact| Some(format!("{} {}", prose(&fact.name), prose(fact.values[0].as_deref()?))))
        .collect();
    if !same.is_empty() {
        out.push_str(&format!("The same in all: {}.\n\n", same.join(" · ")));
    }
    let tables = tables(reports, metrics);
    // The most tasks are the answer and stay open; fewer can be unfolded.
    let (folded, open): (Vec<_>, Vec<_>) = tables.iter().partition(|table| table.is_of_fewer_tasks);
    for shown in open.into_iter().chain(folded.into_iter().rev()) {
        let heading = format!("{}: {}", prose(&shown.heading), shown.metric.heading);
        out.push_str(&match shown.is_of_fewer_tasks {
            true => format!("<details><summary>{heading}</summary>\n\n"),
            false => format!("#### {heading}\n\n"),
        });
        let mut table = Table::new();
        table.column("entry", false);
        table.column("kind", false);
        for i in 0..campaigns(reports) {
            table.column(letter(i), true);
        }
        for i in 1..campaigns(reports) {
            table.column(change_heading(i), true);
        }
        for line in &shown.lines {
            let mut cells = vec![code(&line.entry.name), footnotes::kind_with_marks(&line.entry)];
            cells.extend(line.cells.iter().map(|cell| match cell {
                Cell::Absent => String::new(),
                Cell::Fell(status) => prose(status),
                Cell::Estimate { estimate, .. } => shown.metric.show(estimate.value),
            }));
            let change = |cell| Change::between(shown.metric, &line.cells[0], cell).map(Change::show);
            // "~" would begin struck-through text where two stand in one cell; here there is never more than one.
            cells.extend(line.cells.iter().skip(1).map(|cell| change(cell).unwrap_or_default()));
            table.row(cells);
        }
        table.put(&mut out);
        if shown.is_of_fewer_tasks {
            out.push_str("</details>\n\n");
        }
    }
    for note in notes_of(&tables, reports, prose) {
        out.push_str(&format!("- {note}\n"));
    }
    out
}
