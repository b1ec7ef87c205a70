//! The sheet of several results folders.

use super::super::model::Report;
use super::super::sheet::names;
use super::{DOUBTFUL, Found, MetricTable, Shift, campaigns, facts, letter, notes_of, tables};
use crate::figures::{Better, Figure};
use crate::sheet::{Column, Field, NONE, Sheet, SheetRow, Table, Tone};

pub fn sheet(reports: &[Report], metrics: &[&'static Figure]) -> Sheet {
    let mut sheet = Sheet::new(format!("{} results side by side", campaigns(reports)));
    let (differing, same): (Vec<_>, Vec<_>) = facts(reports).into_iter().partition(|fact| fact.differs());
    sheet.table(Table::of_facts(differing.iter().map(|fact| {
        let values = fact.values.iter().enumerate();
        let values = values.map(|(i, value)| (letter(i), value.as_deref().unwrap_or(NONE)));
        (fact.name.as_str(), values.collect())
    })));
    let same = same.iter().filter_map(|fact| Some(format!("{} {}", fact.name, fact.values[0].as_deref()?)));
    let same = same.collect::<Vec<_>>().join(" · ");
    if !same.is_empty() {
        sheet.text(format!("Same in all: {same}."), Tone::Quiet);
    }

    let tables = tables(reports, metrics);
    let mut columns = vec![Column::words("entry"), Column::words("kind").spare(0)];
    columns.extend((0..campaigns(reports)).map(|i| Column::figures(letter(i))));
    let shift = |i| Column::figures(format!("{} vs {}", letter(i), letter(0))).spare(1);
    columns.extend((1..campaigns(reports)).map(shift));
    let mut table = Table::new(columns);
    for of_metric in &tables {
        let section = table.section(format!("{}: {}", of_metric.heading, of_metric.metric.heading));
        // The most tasks are the answer.
        section.folded = of_metric.is_of_fewer_tasks;
        section.rows = rows_of(of_metric);
    }
    sheet.table(table);
    sheet.notes = notes_of(&tables, reports);
    sheet
}

fn rows_of(table: &MetricTable) -> Vec<SheetRow> {
    let row = |line: &super::EntryLine| {
        let tone = if line.entry.reference { Tone::Quiet } else { Tone::Plain };
        let found = line.found.iter().map(|found| match found {
            Found::Absent => Field::figure(None, tone),
            Found::Fell(status) => Field::Text(status.clone(), Tone::Bad),
            Found::Estimate { estimate, .. } => Field::Text(table.metric.show(estimate.value), tone),
        });
        let others = line.found.iter().skip(1);
        let shifts = others.map(|other| match Shift::between(table.metric, &line.found[0], other) {
            None => Field::plain(""),
            Some(shift) => {
                let less = shift.share < 0.0;
                let tone = match table.metric.better {
                    _ if shift.doubtful => Tone::Quiet,
                    _ if shift.share == 0.0 => Tone::Plain,
                    Better::Less if less => Tone::Good,
                    Better::More if !less => Tone::Good,
                    Better::Less | Better::More => Tone::Bad,
                };
                Field::Marked(shift.show(), tone, shift.doubtful.then(|| DOUBTFUL.to_owned()))
            }
        });
        SheetRow::of(names(&line.entry, tone).into_iter().chain(found).chain(shifts).collect())
    };
    table.lines.iter().map(row).collect()
}
