//! The sheet of a comparison: changes first, the rest below.

use super::model::{Change, Comparison, Decision, Judged, Verdict};
use super::words;
use crate::figures::Figure;
use crate::sheet::{Column, Field, NONE, Sheet, SheetRow, Table, Tone};

pub fn sheet(comparison: &Comparison) -> Sheet {
    let mut sheet = Sheet::new(words::title(comparison));
    sheet.text(words::summary(comparison), Tone::Plain);
    if let Some(gate) = words::gate(comparison) {
        sheet.text(gate, comparison.gate().map_or(Tone::Plain, tone));
    }
    if comparison.differences.is_empty() {
        sheet.text("Machine, versions and programs are the same.", Tone::Quiet);
    }
    let differences = comparison.differences.iter();
    sheet.table(Table::of_facts(differences.map(|of| {
        (of.what.as_str(), vec![("base".to_owned(), of.base.as_str()), ("new".to_owned(), of.new.as_str())])
    })));
    sheet.table(outcomes(comparison));
    sheet.table(undecided(comparison));
    let gated = comparison.fail_above.is_some();
    let mut columns = vec![
        Column::words("entry"),
        Column::figures("N"),
        Column::figures("base").spare(1),
        Column::figures("new").spare(2),
        Column::figures("ratio"),
        Column::figures("95% interval").spare(0),
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
            let heading = words::heading(metric);
            let some_first = comparison.of_metric(metric).any(first);
            let rest = if some_first && !changed { ": the rest" } else { "" };
            let section = table.section(format!("{heading}{rest}"));
            section.folded = !changed;
            let mut judged: Vec<&Judged> = comparison.of_metric(metric).collect();
            judged.retain(|judged| first(judged) == changed);
            judged.sort_by_key(|judged| (judged.decision != Some(Decision::Fail), judged.verdict.better()));
            section.rows = judged.into_iter().map(|judged| row(metric, judged, gated)).collect();
        }
    }
    sheet.table(table);
    sheet.notes = words::notes(comparison);
    sheet
}

fn tone(decision: Decision) -> Tone {
    match decision {
        Decision::Pass => Tone::Good,
        Decision::Fail => Tone::Bad,
        Decision::Undecided => Tone::Doubtful,
    }
}

/// The undecided cases, with the command that would decide each.
fn undecided(comparison: &Comparison) -> Table {
    let mut table = Table::new(vec![Column::words("entry"), Column::prose("")]);
    let section = table.section("undecided");
    section.tone = Tone::Doubtful;
    let rows = comparison.undecided.iter().map(|undecided| {
        let case = Field::Name(undecided.case.clone(), Tone::Plain);
        SheetRow::of(vec![case]).remark("", words::reason_and_plan(undecided), Tone::Plain)
    });
    section.rows = rows.collect();
    table
}

fn outcomes(comparison: &Comparison) -> Table {
    let mut table = Table::new(vec![Column::words("entry"), Column::prose("")]);
    for (change, tone) in [
        (Change::Fails, Tone::Bad),
        (Change::OkLessOften, Tone::Doubtful),
        (Change::Works, Tone::Good),
        (Change::StillFails, Tone::Quiet),
    ] {
        let section = table.section(change.name());
        section.tone = tone;
        let of_change = comparison.outcomes.iter().filter(|outcome| outcome.change == change);
        let rows = of_change.map(|outcome| {
            let place = Field::Name(words::place_of_outcome(outcome), Tone::Plain);
            SheetRow::of(vec![place]).remark("", words::became(outcome), Tone::Plain)
        });
        section.rows = rows.collect();
    }
    table
}

fn row(metric: &'static Figure, judged: &Judged, gated: bool) -> SheetRow {
    let verdict = match judged.verdict {
        verdict if verdict.worse() => Tone::Bad,
        verdict if verdict.better() => Tone::Good,
        Verdict::Unclear => Tone::Doubtful,
        _ => Tone::Quiet,
    };
    let mut fields = vec![
        Field::Name(judged.entries(), Tone::Plain),
        Field::plain(words::tasks(judged)),
        Field::quiet(words::figure(metric, judged.base.value)),
        Field::quiet(words::figure(metric, judged.new.value)),
        Field::Text(words::ratio(judged), if judged.verdict.is_change() { Tone::Plain } else { Tone::Quiet }),
        Field::quiet(words::interval(judged.ratio_interval)),
        Field::Text(judged.verdict.name().to_owned(), verdict),
    ];
    if gated {
        let decision = judged.decision.map(|decision| (decision.name(), tone(decision)));
        let (text, tone) = decision.unwrap_or((NONE, Tone::Quiet));
        fields.push(Field::Text(text.to_owned(), tone));
    }
    let row = SheetRow::of(fields);
    match &judged.reason {
        Some(reason) => row.remark("", reason, Tone::Doubtful),
        None => row,
    }
}
