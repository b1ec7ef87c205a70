//! Sheets as tables for people, and as CSV.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use taskscale_measure::{Kind, Metric};

use super::sheet::{PerTask, Sheet, UNEXPLAINED};
use crate::document::csv::{self, CsvColumn};
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell, joined};
use crate::metrics::per_task;
use crate::units;

/// The sheet of a program, with facts about the program and its runs.
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
    /// Name of the adapter, and why it was selected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub adapter: Option<(String, String)>,
    /// What the program printed in `metric` lines, such as the size of a future.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub metrics: BTreeMap<String, Metric>,
    #[serde(flatten)]
    pub sheet: Sheet,
    /// Caveats, one sentence each.
    pub notes: Vec<String>,
}

impl Explanation {
    fn title(&self) -> String {
        let tasks = joined(self.tasks.iter().map(|tasks| units::count(*tasks)), " → ");
        let (slope, runs) = (per_task(self.sheet.slope.bytes), units::counted(self.repetitions, "run"));
        format!("{} · {} · {slope} B per task (slope {tasks}, {runs})", self.entry, self.workload)
    }

    fn share(&self, of: &PerTask) -> f64 {
        if self.sheet.slope.bytes == 0.0 { 0.0 } else { of.bytes / self.sheet.slope.bytes }
    }

    /// The sources of the numbers, in a sentence or two.
    fn provenance(&self) -> String {
        let Some((adapter, why)) = &self.adapter else {
            return "Sources: mappings of the processes, and the kernel's account.".to_owned();
        };
        let moved = self.sheet.moved.map(|moved| format!(" It moved the slope by {:+.1}%.", moved * 100.0));
        format!("Adapter: {adapter}, in runs of its own, as {why}.{}", moved.unwrap_or_default())
    }
}

fn row(explanation: &Explanation, name: &str, what: &str, of: &PerTask, emphasis: Emphasis) -> DocumentRow {
    let share = explanation.share(of);
    DocumentRow::of(vec![
        TableCell::Text(name.to_owned(), emphasis),
        TableCell::Text(per_task(of.bytes), emphasis),
        TableCell::Text(format!("{}%", units::decimal(share * 100.0, 0)), emphasis),
        TableCell::quiet(of.interval.map(|interval| interval.text(per_task)).unwrap_or_default()),
        TableCell::quiet(what),
        TableCell::Bar(share.clamp(0.0, 1.0), emphasis),
    ])
}

/// A table for each sheet, for people.
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
            rows.iter().map(|of| row(explanation, &of.name, of.group.text(), &of.per_task, Emphasis::Plain));
        let left = row(explanation, UNEXPLAINED, "", &explanation.sheet.unexplained, Emphasis::Doubtful);
        table.section("").rows = rows.chain([left]).collect();
        document.table(table);
        document.text(explanation.provenance(), Emphasis::Quiet);
        for (name, metric) in &explanation.metrics {
            let text = format!("The program says: {name} {} {}.", metric.value, metric.unit);
            document.text(text, Emphasis::Quiet);
        }
        for note in &explanation.notes {
            document.text(note.clone(), Emphasis::Doubtful);
        }
        all.blocks.extend(document.blocks);
    }
    all
}

/// CSV with a line for each row, one for the whole slope and one for the unexplained rest.
pub fn table(explanations: &[Explanation]) -> String {
    type PartLine<'e> = (&'e Explanation, &'e str, &'static str, &'e PerTask);
    let columns: [CsvColumn<PartLine>; 9] = [
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
            sheet.rows.iter().map(move |row| (explanation, &*row.name, row.group.text(), &row.per_task));
        let left = (explanation, UNEXPLAINED, "", &sheet.unexplained);
        std::iter::once(whole).chain(rows).chain([left])
    });
    csv::table(&columns, lines)
}

#[cfg(test)]
mod tests {
    use super::super::sheet::{PartSource, SheetRow};
    use super::*;
    use crate::document::RenderOptions;
    use crate::stats::Interval;

    fn sheets() -> Vec<Explanation> {
        let of =
            |bytes: f64| PerTask { bytes, interval: Some(Interval { low: bytes - 1.0, high: bytes + 1.0 }) };
        let row = |name: &str, group: PartSource, bytes: f64| SheetRow {
            name: name.to_owned(),
            group,
            per_task: of(bytes),
        };
        let rows = vec![
            row("blocks of 264 B", PartSource::Live, 256.0),
            row("gaps between blocks", PartSource::Unused, 176.0),
            row("kernel objects, not divided further", PartSource::Kernel, 8.5),
        ];
        vec![Explanation {
            entry: "rust/tokio-spawn".to_owned(),
            kind: Kind::Stackless,
            workload: "sleep".to_owned(),
            version: Some("1.54".to_owned()),
            tasks: vec![10_000, 100_000],
            repetitions: 3,
            adapter: Some(("malloc".to_owned(), "libc.so.6 is mapped".to_owned())),
            metrics: BTreeMap::from([(
                "future".to_owned(),
                Metric { value: 128.0, unit: "bytes".to_owned() },
            )]),
            sheet: Sheet { slope: of(440.0), rows, unexplained: of(-0.5), moved: Some(0.012) },
            notes: vec!["the adapter knows too little".to_owned()],
        }]
    }

    #[test]
    fn explanation_shows_each_part_and_the_adapter() {
        insta::assert_snapshot!(document(&sheets()).terminal(RenderOptions::default()));
    }

    #[test]
    fn csv_has_total_part_and_unexplained_rows() {
        let text = table(&sheets());
        let lines: Vec<&str> = text.lines().collect();
        let expected = "rust/tokio-spawn,sleep,10000 100000,blocks of 264 B,in use,256,255,257,";
        assert!(lines.len() == 6 && lines[2].starts_with(expected), "{text}");
        assert!(lines[1].contains(",all,") && lines[5].contains(",unexplained,"), "{text}");
    }
}
