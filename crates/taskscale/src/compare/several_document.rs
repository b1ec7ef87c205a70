//! The document of several results.

use std::collections::{BTreeMap, BTreeSet};

use super::several::{CampaignValue, EntryLine, MetricTable, campaigns, placed, several_facts, tables};
use super::words::change;
use crate::document::{Column, Document, DocumentRow, Emphasis, NONE, Table, TableCell, joined};
use crate::metrics::{Better, MetricDef};
use crate::report::document::{emphasis, names};
use crate::report::{Report, footnotes, letter};
use crate::units;

/// Marks a change that may be chance.
pub(super) const DOUBTFUL: &str = "~";
pub(super) const DOUBT: &str =
    "~ the difference may be chance: the 95% interval of the ratio includes 1, or a side has one run.";

/// The reports of several campaigns side by side, by these metrics.
pub fn side_by_side(reports: &[Report], metrics: &[&'static MetricDef]) -> Document {
    let mut document = Document::new(format!("{} results side by side", campaigns(reports)));
    let same = |fact: &super::several::SeveralFact| fact.values.iter().all(|value| *value == fact.values[0]);
    let (same, differing): (Vec<_>, Vec<_>) = several_facts(reports).into_iter().partition(same);
    document.table(Table::of_facts(differing.iter().map(|fact| {
        let values = fact.values.iter().enumerate();
        let values = values.map(|(i, value)| (letter(i), value.as_deref().unwrap_or(NONE)));
        (fact.name.as_str(), values.collect())
    })));
    let same = same.iter().filter_map(|fact| Some(format!("{} {}", fact.name, fact.values[0].as_deref()?)));
    let same = joined(same, " · ");
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
        // The largest N matters most.
        section.folded = of_metric.is_of_fewer_tasks;
        section.rows = of_metric.lines.iter().map(|line| row(of_metric.metric, line)).collect();
    }
    document.table(table);
    document.notes = notes(&tables, reports);
    document
}

fn row(metric: &'static MetricDef, line: &EntryLine) -> DocumentRow {
    let emphasis = emphasis(&line.entry);
    let found = line.found.iter().map(|found| match found {
        None => TableCell::figure(None, emphasis),
        Some(CampaignValue::Fell(status)) => TableCell::Text(status.clone(), Emphasis::Bad),
        Some(CampaignValue::Spread(spread, _)) => {
            TableCell::Text(metric.show(spread.geometric_mean()), emphasis)
        }
    });
    let shifts = (1..line.found.len()).map(|to| {
        let Some(Ok(shift)) = line.shift(metric, to) else { return TableCell::plain("") };
        let emphasis = match metric.better {
            _ if shift.doubtful => Emphasis::Quiet,
            _ if shift.ratio == 1.0 => Emphasis::Plain,
            better if (better == Better::Less) == (shift.ratio < 1.0) => Emphasis::Good,
            _ => Emphasis::Bad,
        };
        TableCell::Marked(change(shift.ratio), emphasis, shift.doubtful.then(|| DOUBTFUL.to_owned()))
    });
    DocumentRow::of(names(&line.entry).into_iter().chain(found).chain(shifts).collect())
}

/// The notes that readers need to interpret the tables.
fn notes(tables: &[MetricTable], reports: &[Report]) -> Vec<String> {
    let lines = || tables.iter().flat_map(|table| table.lines.iter().map(|line| (table.metric, line)));
    let mut notes = alone(reports, tables);
    notes.extend(footnotes::marks(lines().map(|(_, line)| &line.entry), std::iter::empty()));
    let shifts = || {
        lines().flat_map(|(metric, line)| {
            (1..line.found.len()).filter_map(move |to| Some((line, line.shift(metric, to)?)))
        })
    };
    if shifts().any(|(_, shift)| shift.is_ok_and(|shift| shift.doubtful)) {
        notes.push(DOUBT.to_owned());
    }
    let mut incomparable: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for (line, shift) in shifts() {
        let Err(why) = shift else { continue };
        let names = incomparable.entry(why).or_default();
        if !names.contains(&&*line.entry.name) {
            names.push(&line.entry.name);
        }
    }
    let because =
        |(why, names): (_, Vec<&str>)| format!("Not compared: {why} ({}).", footnotes::named(&names));
    notes.extend(incomparable.into_iter().map(because));
    let fell = |found: &CampaignValue| matches!(found, CampaignValue::Fell(_));
    if lines().any(|(_, line)| line.found.iter().flatten().any(fell)) {
        notes.push(
            "A status in place of a value: no run was ok. The report of that folder alone shows why."
                .to_owned(),
        );
    }
    if reports.iter().any(|report| report.repetitions > 1) {
        notes.push("Values are geometric means of the repetitions that were ok, as in `compare`.".to_owned());
    }
    for (i, report) in placed(reports).filter(|(_, report)| report.unmeasured_runs > 0) {
        let runs = units::counted(report.unmeasured_runs, "run");
        notes.push(format!("{} is incomplete: {runs} of its plan not measured yet.", letter(i)));
    }
    notes
}

/// What only one campaign has, and is not shown: one sentence for each report.
fn alone(reports: &[Report], tables: &[MetricTable]) -> Vec<String> {
    let shown: BTreeSet<&str> =
        tables.iter().flat_map(|table| &table.lines).map(|line| line.entry.name.as_str()).collect();
    let numbers: BTreeSet<u64> = tables.iter().filter_map(|table| table.tasks).collect();
    let own = placed(reports).filter_map(|(i, report)| {
        let names = report.names_where(|row| !shown.contains(row.entry.name.as_str()));
        let tasks = report.groups.iter().map(|group| group.tasks);
        let tasks = tasks.filter(|tasks| !numbers.is_empty() && !numbers.contains(tasks));
        let tasks = joined(tasks.map(units::count), ", ");
        let mut parts = Vec::new();
        parts.extend((!names.is_empty()).then(|| footnotes::named(&names)));
        parts.extend((!tasks.is_empty()).then(|| format!("N = {tasks}")));
        (!parts.is_empty()).then(|| format!("Only in {}, so not shown: {}.", letter(i), parts.join("; ")))
    });
    own.collect()
}
