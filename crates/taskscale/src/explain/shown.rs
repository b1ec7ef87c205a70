//! Sheets for people, and for spreadsheets.

use serde::{Deserialize, Serialize};
use taskscale_measure::Kind;

use super::sheet::{PartSource, PerTask, Sheet};
use crate::document::csv::{self, CsvColumn};
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell};
use crate::units;

/// A sheet, and what it is of.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Explanation {
    /// `runtime/entry`, or the name of a program.
    pub entry: String,
    pub kind: Kind,
    pub workload: String,
    /// The version of the toolchain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<String>,
    pub tasks: Vec<u64>,
    pub repetitions: u32,
    /// The adapter that was asked, and why that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<(String, String)>,
    #[serde(flatten)]
    pub sheet: Sheet,
    /// What a reader must know, a sentence each.
    pub notes: Vec<String>,
}

impl Explanation {
    fn title(&self) -> String {
        let tasks: Vec<String> = self.tasks.iter().map(|tasks| units::count(*tasks)).collect();
        format!(
            "{} · {} · {} B per task (slope {}, {})",
            self.entry,
            self.workload,
            bytes(self.sheet.slope.bytes),
            tasks.join(" → "),
            units::counted(self.repetitions, "run"),
        )
    }

    fn share(&self, of: &PerTask) -> f64 {
        if self.sheet.slope.bytes == 0.0 { 0.0 } else { of.bytes / self.sheet.slope.bytes }
    }

    /// How the numbers came about.
    fn provenance(&self) -> String {
        let Some((adapter, why)) = &self.adapter else {
            return "Sources: mappings of the processes, and the cgroup's account of the kernel.".to_owned();
        };
        let moved = self.sheet.moved.map(|moved| format!(" It moved the slope by {:+.1}%.", moved * 100.0));
        format!("Adapter: {adapter}, in runs of its own, as {why}.{}", moved.unwrap_or_default())
    }
}

/// Where a row is from, in a word or two.
pub(super) fn source(group: PartSource) -> &'static str {
    match group {
        PartSource::Live => "in use",
        PartSource::Unused => "unused",
        PartSource::Mapped => "mapped",
        PartSource::Kernel => "kernel",
    }
}

/// `2,048`, or with a decimal where that is much of it.
pub(super) fn bytes(value: f64) -> String {
    if value.abs() < 9.95 {
        return units::decimal(value, 1);
    }
    let sign = if value < 0.0 { "-" } else { "" };
    format!("{sign}{}", units::grouped(value.abs().round() as u64))
}

fn interval(of: &PerTask) -> String {
    of.interval
        .map(|interval| format!("{} to {}", bytes(interval.low), bytes(interval.high)))
        .unwrap_or_default()
}

fn row(explanation: &Explanation, name: &str, what: &str, of: &PerTask, emphasis: Emphasis) -> DocumentRow {
    let share = explanation.share(of);
    DocumentRow::of(vec![
        TableCell::Text(name.to_owned(), emphasis),
        TableCell::Text(bytes(of.bytes), emphasis),
        TableCell::Text(format!("{}%", units::decimal(share * 100.0, 0)), emphasis),
        TableCell::quiet(interval(of)),
        TableCell::quiet(what),
        TableCell::Bar(share.clamp(0.0, 1.0), emphasis),
    ])
}

/// For people: a table for each sheet.
pub fn document(explanations: &[Explanation]) -> Document {
    let mut all = Document::default();
    for explanation in explanations {
        let mut document = Document::new(explanation.title());
        let mut table = Table::new(vec![
            Column::words("part"),
            Column::figures("B/task"),
            Column::figures("share"),
            Column::figures("95% interval").drop_priority(1),
            Column::words("").drop_priority(3),
            Column::bars("").drop_priority(2),
        ]);
        let rows = &explanation.sheet.rows;
        let rows =
            rows.iter().map(|of| row(explanation, &of.name, source(of.group), &of.per_task, Emphasis::Plain));
        let left = row(explanation, "unexplained", "", &explanation.sheet.unexplained, Emphasis::Doubtful);
        table.section("").rows = rows.chain([left]).collect();
        document.table(table);
        document.text(explanation.provenance(), Emphasis::Quiet);
        for note in &explanation.notes {
            document.text(note.clone(), Emphasis::Doubtful);
        }
        all.blocks.extend(document.blocks);
    }
    all
}

/// One line for each row, for the whole slope, and for what is unexplained.
pub fn table(explanations: &[Explanation]) -> String {
    type Line<'e> = (&'e Explanation, &'e str, &'static str, &'e PerTask);
    let columns: [CsvColumn<Line>; 9] = [
        ("entry", |(of, ..)| csv::text(&of.entry)),
        ("workload", |(of, ..)| csv::text(&of.workload)),
        ("tasks", |(of, ..)| of.tasks.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")),
        ("part", |(_, name, ..)| csv::text(name)),
        ("source", |(_, _, source, _)| (*source).to_owned()),
        ("bytes_per_task", |(.., of)| csv::figure(Some(of.bytes))),
        ("low", |(.., of)| csv::figure(of.interval.map(|interval| interval.low))),
        ("high", |(.., of)| csv::figure(of.interval.map(|interval| interval.high))),
        ("share", |(whole, .., of)| csv::figure(Some(whole.share(of)))),
    ];
    let lines = explanations.iter().flat_map(|explanation| {
        let sheet = &explanation.sheet;
        let whole = (explanation, "all", "", &sheet.slope);
        let rows =
            sheet.rows.iter().map(move |row| (explanation, &*row.name, source(row.group), &row.per_task));
        let left = (explanation, "unexplained", "", &sheet.unexplained);
        std::iter::once(whole).chain(rows).chain([left])
    });
    csv::table(&columns, lines)
}
