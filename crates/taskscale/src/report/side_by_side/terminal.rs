//! Several campaigns as tables for the terminal.

use super::super::RenderOptions;
use super::super::footnotes;
use super::super::model::Report;
use super::super::sanitize::safe;
use super::super::terminal::{BAD, GOOD, PLAIN, Page, QUIET, SHORT, STRONG, left, right};
use super::super::terminal_table::{Align, Cell as Shown, Column, Grid};
use super::{Cell, Change, campaigns, change_heading, facts, letter, notes_of, tables};
use crate::figures::Figure;

pub fn render(reports: &[Report], metrics: &[&'static Figure], options: RenderOptions) -> String {
    let page = Page::new(options);
    let mut out = String::new();
    page.paragraph(&mut out, &format!("{} campaigns side by side", campaigns(reports)), STRONG);
    let facts = facts(reports);
    let mut grid = Grid::new(vec![left("fact"), left("campaign"), left("value")]);
    grid.heading(Shown::new("what differs", STRONG), QUIET);
    for fact in facts.iter().filter(|fact| fact.differs()) {
        for (i, value) in fact.values.iter().enumerate() {
            let name = if i == 0 { safe(&fact.name).into_owned() } else { String::new() };
            let value = safe(value.as_deref().unwrap_or("-")).into_owned();
            grid.over(vec![Shown::new(name, PLAIN), Shown::new(letter(i), QUIET)], value, PLAIN);
        }
    }
    page.put(&mut out, &grid);
    let same: Vec<String> = (facts.iter().filter(|fact| !fact.differs()))
        .filter_map(|fact| Some(format!("{} {}", safe(&fact.name), safe(fact.values[0].as_deref()?))))
        .collect();
    if !same.is_empty() {
        out.push('\n');
        page.paragraph(&mut out, &format!("The same in all: {}.", same.join(" · ")), QUIET);
    }
    let tables = tables(reports, metrics);
    let mut columns = vec![left("entry"), Column { spare: Some(0), ..left("kind") }];
    columns.extend((0..campaigns(reports)).map(|i| right(letter(i), None)));
    columns.extend((1..campaigns(reports)).map(|i| right(change_heading(i), Some(1))));
    debug_assert!(columns.iter().skip(2).all(|column| column.align == Align::Right));
    let mut grid = Grid::new(columns);
    for shown in &tables {
        let heading = format!("{} · {}", safe(&shown.heading), shown.metric.heading);
        grid.heading(Shown::new(heading, STRONG), QUIET);
        for line in &shown.lines {
            let style = if line.entry.reference { QUIET } else { PLAIN };
            let mut cells = vec![
                Shown::new(safe(&line.entry.name).into_owned(), style),
                Shown::new(footnotes::kind_with_marks(&line.entry), QUIET),
            ];
            cells.extend(line.cells.iter().map(|cell| match cell {
                Cell::Absent => Shown::new("-", QUIET),
                Cell::Fell(status) => Shown::new(safe(status).into_owned(), BAD),
                Cell::Estimate { estimate, .. } => Shown::new(shown.metric.show(estimate.value), style),
            }));
            let change = |cell| Change::between(shown.metric, &line.cells[0], cell);
            cells.extend(line.cells.iter().skip(1).map(|cell| match change(cell) {
                None => Shown::new("", QUIET),
                Some(change) => {
                    let style = match change.share {
                        _ if change.overlaps => QUIET,
                        share if share > 0.0 => SHORT,
                        _ => GOOD,
                    };
                    // The mark has a place of its own, so that figures stand below each other.
                    let text = change.show();
                    Shown::new(if change.overlaps { text } else { format!("{text}  ") }, style)
                }
            }));
            grid.row(cells);
        }
    }
    let left_out = page.put(&mut out, &grid);
    out.push('\n');
    for note in notes_of(&tables, reports, |text| safe(text).into_owned()) {
        page.bullet(&mut out, &note);
    }
    page.left_out(&mut out, &left_out);
    out
}
