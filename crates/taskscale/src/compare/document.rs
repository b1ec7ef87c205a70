//! The document of a comparison: changes first, the rest below.

use super::model::{Change, Comparison, Decision, Judged, JudgedSide, Verdict};
use super::words;
use crate::document::{Column, Document, DocumentRow, Emphasis, NONE, Table, TableCell, from_to};
use crate::metrics::MetricDef;
use crate::units;

pub fn document(comparison: &Comparison) -> Document {
    let mut document = Document::new(words::title(comparison));
    document.text(words::summary(comparison), Emphasis::Plain);
    if let Some(gate) = words::gate(comparison) {
        document.text(gate, comparison.gate().map_or(Emphasis::Plain, emphasis));
    }
    if comparison.differences.is_empty() {
        document.text("Machine, versions and programs are the same.", Emphasis::Quiet);
    }
    let differences = comparison.differences.iter();
    document.table(Table::of_facts(differences.map(|of| {
        (of.what.as_str(), vec![("base".to_owned(), of.base.as_str()), ("new".to_owned(), of.new.as_str())])
    })));
    document.table(outcomes(comparison));
    let undecided = comparison.undecided.iter();
    let undecided = undecided.map(|of| (of.case.clone(), words::reason_and_plan(of))).collect();
    document.table(of_cases([("undecided", Emphasis::Doubtful, undecided)]));
    let gated = comparison.fail_above.is_some();
    let mut columns = vec![
        Column::words("entry"),
        Column::figures("N"),
        Column::figures("base").drop_priority(1),
        Column::figures("new").drop_priority(2),
        Column::figures("ratio"),
        Column::figures("95% interval").drop_priority(0),
        Column::words("verdict"),
    ];
    columns.extend(gated.then(|| Column::words("gate")));
    let mut table = Table::new(columns);
    // Changes and open decisions come first.
    let first = |judged: &Judged| {
        judged.verdict.is_change() || matches!(judged.decision, Some(Decision::Fail | Decision::Undecided))
    };
    for changed in [true, false] {
        for &metric in &comparison.metrics {
            let some_first = comparison.of_metric(metric).any(first);
            let rest = if some_first && !changed { ": the rest" } else { "" };
            let section = table.section(format!("{}{rest}", metric.heading));
            section.folded = !changed;
            let mut judged: Vec<&Judged> = comparison.of_metric(metric).collect();
            judged.retain(|judged| first(judged) == changed);
            judged.sort_by_key(|judged| (judged.decision != Some(Decision::Fail), judged.verdict.better()));
            section.rows = judged.into_iter().map(|judged| row(metric, judged, gated)).collect();
        }
    }
    document.table(table);
    document.notes = words::notes(comparison);
    document
}

fn emphasis(decision: Decision) -> Emphasis {
    match decision {
        Decision::Pass => Emphasis::Good,
        Decision::Fail => Emphasis::Bad,
        Decision::Undecided => Emphasis::Doubtful,
    }
}

fn outcomes(comparison: &Comparison) -> Table {
    let sections = [
        (Change::Fails, Emphasis::Bad),
        (Change::OkLessOften, Emphasis::Doubtful),
        (Change::Works, Emphasis::Good),
        (Change::StillFails, Emphasis::Quiet),
    ];
    of_cases(sections.map(|(change, emphasis)| {
        let of_change = comparison.outcomes.iter().filter(|outcome| outcome.change == change);
        let cases = of_change.map(|outcome| (words::place_of_outcome(outcome), words::became(outcome)));
        (change.name(), emphasis, cases.collect())
    }))
}

/// A case and its text.
type CaseText = (String, String);

fn of_cases<const N: usize>(sections: [(&str, Emphasis, Vec<CaseText>); N]) -> Table {
    let mut table = Table::new(Column::of_texts());
    for (heading, emphasis, cases) in sections {
        let row = |(case, text): CaseText| DocumentRow::text(TableCell::name(case), text, Emphasis::Plain);
        let section = table.section(heading);
        section.emphasis = emphasis;
        section.rows = cases.into_iter().map(row).collect();
    }
    table
}

fn row(metric: &'static MetricDef, judged: &Judged, gated: bool) -> DocumentRow {
    let verdict = match judged.verdict {
        verdict if verdict.worse() => Emphasis::Bad,
        verdict if verdict.better() => Emphasis::Good,
        Verdict::Unclear => Emphasis::Doubtful,
        _ => Emphasis::Quiet,
    };
    let ratio = if judged.verdict.is_change() { Emphasis::Plain } else { Emphasis::Quiet };
    let value = |side: &JudgedSide| side.value.map(|value| metric.show_finely(value));
    let mut cells = vec![
        TableCell::name(from_to(&judged.base_entry, &judged.new_entry)),
        TableCell::plain(judged.tasks.map_or("all".to_owned(), units::count)),
        TableCell::figure(value(&judged.base), Emphasis::Quiet),
        TableCell::figure(value(&judged.new), Emphasis::Quiet),
        TableCell::figure(judged.ratio.map(|ratio| units::decimal(ratio, 3)), ratio),
        TableCell::figure(judged.ratio_interval.map(|interval| interval.text(words::bound)), Emphasis::Quiet),
        TableCell::Text(judged.verdict.name().to_owned(), verdict),
    ];
    if gated {
        let decision = judged.decision.map(|decision| (decision.name(), emphasis(decision)));
        let (text, emphasis) = decision.unwrap_or((NONE, Emphasis::Quiet));
        cells.push(TableCell::Text(text.to_owned(), emphasis));
    }
    let row = DocumentRow::of(cells);
    match &judged.reason {
        Some(reason) => row.note("", reason, Emphasis::Doubtful),
        None => row,
    }
}
