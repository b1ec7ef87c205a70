//! The comparison as CSV: one line for each metric of each case, one for each case that failed on a side, and
//! one for each that NEW lacks.

use super::model::{Comparison, Decision, Judged, OutcomeChange};
use super::words;
use crate::document::csv::{CsvColumn, figure, table, text, whole};

struct CompareCsvLine<'a> {
    comparison: &'a Comparison,
    of: LineSubject<'a>,
}

enum LineSubject<'a> {
    Judged(&'a Judged),
    Outcome(&'a OutcomeChange),
    /// A case that was ok in BASE, and that NEW lacks.
    Missing(&'a str),
}

impl CompareCsvLine<'_> {
    fn any(
        &self,
        judged: fn(&Judged) -> String,
        outcome: fn(&OutcomeChange) -> String,
        missing: fn(&str) -> String,
    ) -> String {
        match self.of {
            LineSubject::Judged(of) => judged(of),
            LineSubject::Outcome(of) => outcome(of),
            LineSubject::Missing(case) => missing(case),
        }
    }

    /// A field that missing cases lack.
    fn either(&self, judged: fn(&Judged) -> String, outcome: fn(&OutcomeChange) -> String) -> String {
        self.any(judged, outcome, |_| String::new())
    }

    /// A field of judged metrics, empty for outcomes.
    fn judged(&self, field: fn(&Judged) -> String) -> String {
        self.either(field, |_| String::new())
    }

    /// The gate's decision on this line.
    fn gate(&self) -> &'static str {
        let decision = match self.of {
            LineSubject::Judged(judged) => judged.decision,
            LineSubject::Outcome(outcome) => {
                let gated = self.comparison.fail_above.is_some();
                (gated && self.comparison.fails(outcome)).then_some(Decision::Fail)
            }
            LineSubject::Missing(_) => {
                let gated = self.comparison.fail_above.is_some() && !self.comparison.allow_missing;
                gated.then_some(Decision::Fail)
            }
        };
        decision.map_or("", Decision::name)
    }
}

fn reason(reason: &Option<String>) -> String {
    text(reason.as_deref().unwrap_or_default())
}

fn columns<'a>() -> [CsvColumn<CompareCsvLine<'a>>; 21] {
    [
        ("metric", |line| {
            line.any(|of| of.metric.name.to_owned(), |_| "outcome".to_owned(), |_| "outcome".to_owned())
        }),
        ("base_entry", |line| {
            let entry = |case: &str| text(case.split(" × ").next().unwrap_or_default());
            line.any(|of| text(&of.base_entry), |of| text(&of.base_entry), entry)
        }),
        ("new_entry", |line| line.either(|of| text(&of.new_entry), |of| text(&of.new_entry))),
        ("tasks", |line| line.either(|of| whole(of.tasks), |of| whole(of.tasks))),
        ("base", |line| line.either(|of| figure(of.base.value), |of| text(&of.base))),
        ("new", |line| line.either(|of| figure(of.new.value), |of| text(&of.new))),
        ("base_runs", |line| line.judged(|of| of.base.runs.to_string())),
        ("new_runs", |line| line.judged(|of| of.new.runs.to_string())),
        ("ratio", |line| line.judged(|of| figure(of.ratio))),
        ("ratio_low95", |line| line.judged(|of| figure(of.ratio_interval.map(|interval| interval.low)))),
        ("ratio_high95", |line| line.judged(|of| figure(of.ratio_interval.map(|interval| interval.high)))),
        ("verdict_confidence", |line| match line.of {
            LineSubject::Judged(_) => figure(Some(line.comparison.verdict_confidence)),
            LineSubject::Outcome(_) | LineSubject::Missing(_) => String::new(),
        }),
        ("verdict_low", |line| line.judged(|of| figure(of.verdict_interval.map(|interval| interval.low)))),
        ("verdict_high", |line| line.judged(|of| figure(of.verdict_interval.map(|interval| interval.high)))),
        ("margin", |line| line.judged(|of| figure(Some(of.margin)))),
        ("verdict", |line| {
            let missing = |_: &str| "missing".to_owned();
            line.any(|of| of.verdict.name().to_owned(), |of| of.change.name().to_owned(), missing)
        }),
        ("threshold", |line| line.judged(|of| figure(of.threshold))),
        ("gate", |line| line.gate().to_owned()),
        ("repetitions_needed", |line| line.judged(|of| whole(of.repetitions_needed.map(u64::from)))),
        ("reason", |line| {
            line.any(|of| reason(&of.reason), |of| reason(&of.reason), |case| text(&words::missing(case)))
        }),
        ("workload", |line| text(&line.comparison.workload)),
    ]
}

/// All series, one after the other. Each line names its own.
pub fn render(parts: &[Comparison]) -> String {
    let lines = parts.iter().flat_map(|comparison| {
        let judged = comparison.cells.iter().map(LineSubject::Judged);
        let missing = comparison.missing.iter().map(|case| LineSubject::Missing(case));
        let all = judged.chain(comparison.outcomes.iter().map(LineSubject::Outcome)).chain(missing);
        all.map(move |of| CompareCsvLine { comparison, of })
    });
    table(&columns(), lines)
}
