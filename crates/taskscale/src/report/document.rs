//! The document of one campaign.
//!
//! One unit per column, so that values can be compared at a glance; one heading per N.

use super::columns::{ShownFigure, columns};
use super::footnotes;
use super::headline::Headline;
use super::model::{EntryInfo, Rank, Report, Row};
use super::overview::{Factor, Overview, overview};
use super::phrases::{failure_lines, mad_text, nonlinear_text, slope_text, worst_text};
use super::rank::Standing;
use super::speedup::speedups;
use crate::catalog::{FanOut, Kind};
use crate::document::{
    Block, Column, Document, DocumentRow, Emphasis, RowNote, Table, TableCell, TableSection, joined,
    shortened,
};
use crate::metrics::{BASE, BYTES_PER_TASK, MetricDef};
use crate::stats::{Interval, Spread};
use crate::units;

/// Multiples of the best are highlighted from this one up.
const HIGHLIGHT_RATIO: f64 = 3.0;

/// How much a document shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// The overview of several series, and the first of them at its N in the overview: at most 120 lines.
    #[default]
    Brief,
    /// Every series at every N.
    Whole,
    /// The fits of memory, wall times and all notes as well.
    Stats,
}

/// Most notes of a document without `--stats`, besides those that explain marks.
const NOTES: usize = 3;

/// Most lines for the rows of both tables of a brief document, which has at most 120 lines.
const BRIEF_ROWS: usize = 80;
/// Most remarks below its overview, and most names in each.
const BRIEF_REMARKS: usize = 4;
const BRIEF_NAMES: usize = 8;
/// Characters of a shortened note on a row, and of one line of a note.
const BRIEF_NOTE: usize = 48;
const NOTE_LINE: usize = 60;

/// The series of one campaign, one below the other. Common facts are above the first and below the last.
pub fn document(reports: &[Report], detail: Detail) -> Document {
    let overview = overview(reports);
    let brief = detail == Detail::Brief && overview.is_some();
    let mut document = Document::default();
    if let (Some(overview), Some(report)) = (&overview, reports.first()) {
        document = Document::new("overview");
        document.text(footnotes::machine(&report.machine), Emphasis::Quiet);
        document.table(of_overview(overview, report.rank));
        let releases = footnotes::releases(overview.lines.iter().map(|line| line.entry));
        let (remarks, names) = if brief { (BRIEF_REMARKS, BRIEF_NAMES) } else { (usize::MAX, usize::MAX) };
        for remark in overview.remarks(names).into_iter().chain(releases).take(remarks) {
            document.text(remark, Emphasis::Quiet);
        }
    }
    let shown = if brief { &reports[..1] } else { reports };
    let first = |nth: usize| nth == 0 && overview.is_none();
    let named = |(nth, report): (usize, &Report)| {
        (report.series().to_string(), part(report, first(nth), brief, detail))
    };
    let parts = Document::together(shown.iter().enumerate().map(named).collect());
    document.blocks.extend(parts.blocks);
    let left_out = if brief { fit(&mut document) } else { 0 };
    (document.notes, document.details) = (parts.notes, parts.details);
    if detail != Detail::Stats {
        document.notes.truncate(NOTES);
    }
    for mark in shown.iter().flat_map(footnotes::all_marks) {
        if !document.notes.contains(&mark) {
            document.notes.push(mark);
        }
    }
    if brief {
        let others = joined(reports[1..].iter().map(|report| report.series().to_string()), "; ");
        let left_out = match left_out {
            0 => String::new(),
            rows => format!("The best of each kind; {} not shown. ", units::counted(rows, "row")),
        };
        document.text(
            format!("{left_out}More: --part NAME ({others}), or --stats for everything."),
            Emphasis::Quiet,
        );
    }
    speedups(reports).into_iter().for_each(|table| document.table(table));
    document.provenance = footnotes::provenance(reports);
    document.command = reports.first().map(|report| report.command.clone()).unwrap_or_default();
    document
}

/// Keeps as many of the best rows of each kind as fit, with notes of one line. Returns the number of rows left
/// out.
fn fit(document: &mut Document) -> usize {
    let note_lines = |note: &RowNote| (note.head.len() + note.text.len()).div_ceil(NOTE_LINE);
    let row_lines = |row: &DocumentRow| row.notes.iter().map(note_lines).sum::<usize>().max(1);
    let tables = document.blocks.iter_mut().filter_map(|block| match block {
        Block::Table(table) => Some(table),
        _ => None,
    });
    let mut sections: Vec<&mut TableSection> = tables.flat_map(|table| &mut table.sections).collect();
    let rows = || sections.iter().flat_map(|section| &section.rows);
    if rows().map(row_lines).sum::<usize>() <= BRIEF_ROWS {
        return 0;
    }
    let kinds: Vec<usize> = sections
        .iter()
        .flat_map(|section| section.rows.split(|row| row.heading).map(<[DocumentRow]>::len))
        .collect();
    let lines = |most: usize| kinds.iter().map(|rows| 1 + rows.min(&most)).sum::<usize>();
    let most = (1..=BRIEF_ROWS).rev().find(|most| lines(*most) <= BRIEF_ROWS).unwrap_or(1);
    let mut left_out = 0;
    for section in &mut sections {
        for row in &mut section.rows {
            row.notes.truncate(1);
            row.notes.iter_mut().for_each(|note| note.text = shortened(&note.text, BRIEF_NOTE).into_owned());
        }
        let mut of_kind = 0;
        section.rows.retain(|row| {
            of_kind = if row.heading { 0 } else { of_kind + 1 };
            left_out += usize::from(of_kind > most);
            of_kind <= most
        });
    }
    left_out
}

fn part(report: &Report, first: bool, brief: bool, detail: Detail) -> Document {
    let mut document = Document::new(footnotes::title(report));
    if first {
        document.text(footnotes::machine(&report.machine), Emphasis::Quiet);
    }
    document.text(footnotes::scenario(report), Emphasis::Quiet);
    let mut table = groups(report, detail);
    if brief {
        // The N of the overview, or the largest if the series is not there.
        let tasks = report.representative_tasks().map(units::tasks);
        let shown = table.sections.iter().rposition(|section| Some(&section.heading) == tasks.as_ref());
        let shown = shown.unwrap_or(table.sections.len().saturating_sub(1));
        table.sections = table.sections.drain(..).skip(shown).take(1).collect();
        table.sections.iter_mut().for_each(|section| section.folded = false);
    }
    document.table(table);
    let entries = report.rows().map(|row| &row.entry);
    // The overview above already has them.
    if let Some(releases) = footnotes::releases(entries).filter(|_| !brief) {
        document.text(releases, Emphasis::Quiet);
    }
    let tasks = report.representative_tasks().filter(|_| brief);
    let ranked = report.groups.iter().rfind(|group| {
        tasks.is_none_or(|tasks| group.tasks == tasks) && group.rows.iter().any(|row| row.ranked)
    });
    if let Some(group) = ranked {
        let answer = Headline::of(report, group, report.rank, false).answer.concat();
        document.text(answer.replace('\u{a0}', " "), Emphasis::Plain);
    }
    if detail == Detail::Stats && report.growth.iter().any(|growth| growth.bytes_per_task.is_some()) {
        document.table(growth(report));
    }
    document.table(unavailable(report));
    let marks = footnotes::all_marks(report);
    document.notes = footnotes::notes(report);
    document.notes.retain(|note| !marks.contains(note));
    let version = |of: &super::Version| format!("{}: {}", of.runtime, of.version);
    document.details = report.versions.iter().map(version).collect();
    document
}

/// The table of the main job.
fn groups(report: &Report, detail: Detail) -> Table {
    let headline = report.headline();
    let bar = headline.name.split('-').next().unwrap_or_default();
    let mut heads = vec![Column::words("entry"), Column::figures(headline.heading)];
    let columns = columns(report, detail == Detail::Stats);
    // Only chat servers have a fan-out.
    let fan_out = report.rows().any(|row| row.entry.fan_out.is_some());
    if fan_out {
        heads.insert(1, Column::words("fan-out").drop_priority(1));
    }
    // Ranked together, kinds alternate: rows name them.
    let by_kind = report.rank == Rank::Kind;
    if !by_kind {
        heads.insert(1, Column::words("kind"));
    }
    heads.extend(columns.iter().map(|(metric, drop_priority)| Column {
        short: metric.narrow(report.shape).into(),
        ..Column::figures(metric.heading).drop_priority(*drop_priority)
    }));
    // The bar repeats the headline, so it is dropped before most values.
    heads.extend([Column::figures("vs best"), Column::bars(bar).drop_priority(2)]);
    let mut table = Table::new(heads);
    for group in report.groups.iter().filter(|group| !group.rows.is_empty()) {
        let largest = group.rows.iter().filter_map(Row::median).fold(0.0, f64::max);
        let section = table.section(units::tasks(group.tasks));
        let mut kind = None;
        for row in &group.rows {
            if by_kind && kind.replace(row.entry.kind) != Some(row.entry.kind) {
                section.rows.push(DocumentRow::heading(row.entry.kind.title()));
            }
            section.rows.push(of_row(report, row, largest, &columns, fan_out));
        }
    }
    // The largest N is the answer: fold the others.
    table.sections.iter_mut().rev().skip(1).for_each(|section| section.folded = true);
    table
}

fn of_row(report: &Report, row: &Row, largest: f64, columns: &[ShownFigure], fan_out: bool) -> DocumentRow {
    let emphasis = emphasis(&row.entry);
    let mut shown = DocumentRow::of(vec![entry_field(&row.entry, emphasis)]);
    if report.rank != Rank::Kind {
        shown.cells.push(TableCell::quiet(row.entry.kind.title()));
    }
    let unusual = footnotes::unusual_source(report, &row.memory_sources);
    if row.ok_runs < row.runs {
        shown.flag = Some(row.status.clone());
    } else if unusual.is_some() {
        shown.flag = Some(Standing::OtherSource.text().to_owned());
    }
    if !row.has_figures() {
        for failure in failure_lines(row) {
            shown = shown.note(failure.head, failure.reason, Emphasis::Bad);
        }
        return match shown.notes.is_empty() {
            true => shown.note("", "ok, but nothing was measured", Emphasis::Bad),
            false => shown,
        };
    }
    if fan_out {
        let text = row.entry.fan_out.map_or("", FanOut::name).to_owned();
        shown.cells.push(TableCell::Text(text, Emphasis::Quiet));
    }
    shown.cells.push(spread_cell(report.headline(), row.headline, emphasis));
    // Selected metrics are always shown.
    let is_shown = |metric| !report.shown.is_empty() || row.is_news(metric);
    shown.cells.extend(columns.iter().map(|(metric, _)| match is_shown(metric) {
        true => TableCell::figure(row.text(metric), emphasis),
        false => TableCell::quiet(""),
    }));
    shown.cells.push(match row.times_best {
        // The best itself, and what equals it.
        Some(1.0) => TableCell::Text("1.00".to_owned(), Emphasis::Good),
        Some(times) => TableCell::Text(units::significant(times, 3), emphasis),
        None if row.entry.reference => TableCell::quiet(footnotes::REFERENCE),
        None => TableCell::figure(None, emphasis),
    });
    let share = row.median().filter(|_| largest > 0.0).map_or(0.0, |median| median / largest);
    shown.cells.push(TableCell::Bar(share, if row.ranked { Emphasis::Plain } else { Emphasis::Quiet }));
    for (nth, failure) in failure_lines(row).into_iter().enumerate() {
        let some = nth == 0 && row.ok_runs > 0;
        let lead = if some { format!("{}; ", row.status) } else { String::new() };
        shown = shown.note(lead + &failure.head, failure.reason, Emphasis::Doubtful);
    }
    match unusual {
        Some(source) => shown.note("", format!("memory by {source}: not ranked"), Emphasis::Doubtful),
        None => shown,
    }
}

/// A median, with the MAD of its repetitions unless that is small.
pub(crate) fn spread_cell(metric: &MetricDef, spread: Option<Spread>, emphasis: Emphasis) -> TableCell {
    let Some(spread) = spread else { return TableCell::figure(None, emphasis) };
    TableCell::Marked(metric.show(spread.median), emphasis, mad_text(&spread))
}

/// `go/goroutine 1.26`.
fn entry_field(entry: &EntryInfo, emphasis: Emphasis) -> TableCell {
    let version = entry.shown_version.as_ref().map(|version| format!(" {version}")).unwrap_or_default();
    TableCell::Entry(entry.name.clone(), format!("{}{version}", footnotes::marks_of(entry)), emphasis)
}

/// References are dimmed.
pub(crate) fn emphasis(entry: &EntryInfo) -> Emphasis {
    if entry.reference { Emphasis::Quiet } else { Emphasis::Plain }
}

/// Name and kind.
pub(crate) fn names(entry: &EntryInfo) -> [TableCell; 2] {
    // A timer is the least like a task, so it is marked.
    let of_kind = if entry.kind == Kind::Timer { Emphasis::Doubtful } else { Emphasis::Quiet };
    [
        TableCell::Name(entry.name.clone(), emphasis(entry)),
        TableCell::Text(format!("{}{}", entry.kind.title(), footnotes::marks_of(entry)), of_kind),
    ]
}

/// Fixed cost and bytes per task.
fn growth(report: &Report) -> Table {
    let mut columns = vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures(BASE.heading),
        Column::figures("95% interval").drop_priority(0),
        Column::figures(BYTES_PER_TASK.heading),
        Column::figures("95% interval").drop_priority(2),
    ];
    let held = report.holds_bytes;
    columns.extend(held.map(|held| Column::figures(format!("over {} B", units::grouped(held)))));
    columns.extend([Column::figures("deviation"), Column::figures("runs").drop_priority(1)]);
    let rows = report.growth.iter().map(|growth| {
        let own = emphasis(&growth.entry);
        let off = if growth.is_nonlinear() { Emphasis::Doubtful } else { Emphasis::Quiet };
        let base = |bytes: f64| BASE.show(bytes);
        let slope = |bytes: f64| slope_text(bytes, growth.linear);
        let interval = |of: Option<Interval>, metric: &MetricDef| {
            TableCell::figure(of.map(|of| of.text(|bound| metric.show(bound))), Emphasis::Quiet)
        };
        let mut cells = Vec::from(names(&growth.entry));
        cells.extend([
            TableCell::figure(growth.base_bytes.map(base), own),
            interval(growth.base_bytes_interval, &BASE),
            TableCell::figure(growth.bytes_per_task.map(slope), own),
            interval(growth.bytes_per_task_interval, &BYTES_PER_TASK),
        ]);
        cells.extend(held.map(|_| TableCell::figure(growth.excess_bytes.map(slope), own)));
        cells.extend([
            TableCell::figure(worst_text(growth), off),
            TableCell::quiet(units::grouped(growth.points)),
        ]);
        let row = DocumentRow::of(cells);
        match nonlinear_text(growth) {
            Some(text) => row.note("", text, Emphasis::Doubtful),
            None => row,
        }
    });
    Table::of(columns, "growth with N", rows)
}

fn unavailable(report: &Report) -> Table {
    let row = |missing: &super::Unavailable| {
        DocumentRow::text(entry_field(&missing.entry, Emphasis::Plain), &missing.reason, Emphasis::Plain)
    };
    Table::of(Column::of_texts(), "not available here", report.unavailable.iter().map(row))
}

/// Each entry against the best, of its kind or of all, in every workload.
fn of_overview(overview: &Overview, rank: Rank) -> Table {
    let by_kind = rank == Rank::Kind;
    let mut columns = vec![Column::words("entry")];
    columns.extend((!by_kind).then(|| Column::words("kind")));
    columns.extend(overview.columns.iter().enumerate().map(|(nth, (part, tasks))| {
        // On a narrow terminal the last go first, never the first.
        let drop_priority = (nth > 0).then(|| u8::MAX - nth.min(254) as u8);
        Column::figures(format!("{part} {}", units::count(*tasks))).drop_priority(drop_priority)
    }));
    let mut rows = Vec::new();
    let mut kind = None;
    for line in &overview.lines {
        if by_kind && kind.replace(line.entry.kind) != Some(line.entry.kind) {
            rows.push(DocumentRow::heading(line.entry.kind.title()));
        }
        let factors = line.factors.iter().map(|factor| match factor {
            Factor::Times(1.0) => TableCell::Text("1.00".to_owned(), Emphasis::Good),
            Factor::Times(times) => {
                let emphasis = if *times >= HIGHLIGHT_RATIO { Emphasis::Doubtful } else { Emphasis::Plain };
                TableCell::Text(units::significant(*times, 3), emphasis)
            }
            Factor::Unranked(why) => TableCell::Text(why.clone(), Emphasis::Bad),
            Factor::Absent => TableCell::figure(None, Emphasis::Quiet),
        });
        let mut cells = vec![entry_field(line.entry, Emphasis::Plain)];
        cells.extend((!by_kind).then(|| TableCell::quiet(line.entry.kind.title())));
        cells.extend(factors);
        rows.push(DocumentRow::of(cells));
    }
    Table::of(columns, format!("vs {}", rank.best()), rows)
}
