//! The document of several results folders.

use super::super::document::names;
use super::super::model::Report;
use super::{CampaignValue, DOUBTFUL, MetricTable, Shift, campaigns, facts, letter, notes_of, tables};
use crate::document::{Column, Document, DocumentRow, Emphasis, NONE, Table, TableCell};
use crate::metrics::{Better, MetricDef};

pub fn document(reports: &[Report], metrics: &[&'static MetricDef]) -> Document {
    let mut document = Document::new(format!("{} results side by side", campaigns(reports)));
    let (differing, same): (Vec<_>, Vec<_>) = facts(reports).into_iter().partition(|fact| fact.differs());
    document.table(Table::of_facts(differing.iter().map(|fact| {
        let values = fact.values.iter().enumerate();
        let values = values.map(|(i, value)| (letter(i), value.as_deref().unwrap_or(NONE)));
        (fact.name.as_str(), values.collect())
    })));
    let same = same.iter().filter_map(|fact| Some(format!("{} {}", fact.name, fact.values[0].as_deref()?)));
    let same = same.collect::<Vec<_>>().join(" · ");
    if !same.is_empty() {
        document.text(format!("Same in all: {same}."), Emphasis::Quiet);
    }

    let tables = tables(reports, metrics);
    let mut columns = vec![Column::words("entry"), Column::words("kind").drop_priority(0)];
    columns.extend((0..campaigns(reports)).map(|i| Column::figures(letter(i))));
    let shift = |i| Column::figures(format!("{} vs {}", letter(i), letter(0))).drop_priority(1);
    columns.extend((1..campaigns(reports)).map(shift));
    let mut table = Table::new(columns);
    for of_metric in &tables {
        let section = table.section(format!("{}: {}", of_metric.heading, of_metric.metric.heading));
        // The most tasks are the answer.
        section.folded = of_metric.is_of_fewer_tasks;
        section.rows = rows_of(of_metric);
    }
    document.table(table);
    document.notes = notes_of(&tables, reports);
    document
}

fn rows_of(table: &MetricTable) -> Vec<DocumentRow> {
    let row = |line: &super::EntryLine| {
        let emphasis = if line.entry.reference { Emphasis::Quiet } else { Emphasis::Plain };
        let found = line.found.iter().map(|found| match found {
            CampaignValue::Absent => TableCell::figure(None, emphasis),
            CampaignValue::Fell(status) => TableCell::Text(status.clone(), Emphasis::Bad),
            CampaignValue::Estimate { estimate, .. } => {
                TableCell::Text(table.metric.show(estimate.value), emphasis)
            }
        });
        let others = line.found.iter().skip(1);
        let shifts = others.map(|other| match Shift::between(table.metric, &line.found[0], other) {
            None => TableCell::plain(""),
            Some(shift) => {
                let less = shift.share < 0.0;
                let emphasis = match table.metric.better {
                    _ if shift.doubtful => Emphasis::Quiet,
                    _ if shift.share == 0.0 => Emphasis::Plain,
                    Better::Less if less => Emphasis::Good,
                    Better::More if !less => Emphasis::Good,
                    Better::Less | Better::More => Emphasis::Bad,
                };
                TableCell::Marked(shift.show(), emphasis, shift.doubtful.then(|| DOUBTFUL.to_owned()))
            }
        });
        DocumentRow::of(names(&line.entry, emphasis).into_iter().chain(found).chain(shifts).collect())
    };
    table.lines.iter().map(row).collect()
}
