//! The sheet of one campaign.
//!
//! One unit per column, so that values can be compared at a glance; one heading per N.

use super::columns::{ShownFigure, columns};
use super::footnotes;
use super::model::{Entry, Report, Row};
use super::overview::{Factor, Overview, overview};
use super::phrases::{self, bent_text, beyond_text, brief_version, growth_texts, relative, told};
use super::rank::Rank;
use super::speedup::speedups;
use crate::catalog::{FanOut, Kind};
use crate::figures;
use crate::sheet::{self, Column, Field, Sheet, Table, Tone};
use crate::units;

/// Factors of the best from this one on stand out.
const SEVERAL: f64 = 3.0;

/// How much a sheet shows.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Detail {
    /// Of several series the overview, and the first at its largest N.
    #[default]
    Brief,
    /// Every series at every N.
    Whole,
    /// The fits of memory, wall times and all notes as well.
    Stats,
}

/// A smaller deviation of repetitions is not shown.
const SHOWN_SPREAD: f64 = 0.01;

/// Notes of a sheet, unless it has all.
const NOTES: usize = 3;

/// The series of one campaign, one below the other. Common facts are above the first and below the last.
pub fn sheet(reports: &[Report], detail: Detail) -> Sheet {
    let overview = overview(reports);
    let brief = detail == Detail::Brief && overview.is_some();
    let mut sheet = Sheet::default();
    if let (Some(overview), Some(report)) = (&overview, reports.first()) {
        sheet = Sheet::new("overview");
        sheet.text(footnotes::machine(report), Tone::Quiet);
        sheet.table(of_overview(overview));
    }
    let shown = if brief { &reports[..1] } else { reports };
    let first = |nth: usize| nth == 0 && overview.is_none();
    let parts = shown.iter().enumerate();
    let parts = Sheet::together(
        parts
            .map(|(nth, report)| (report.part().to_string(), part(report, first(nth), brief, detail)))
            .collect(),
    );
    sheet.blocks.extend(parts.blocks);
    (sheet.notes, sheet.details) = (parts.notes, parts.details);
    if detail != Detail::Stats {
        sheet.notes.truncate(NOTES);
    }
    if brief {
        let others: Vec<String> = reports[1..].iter().map(|report| report.part().to_string()).collect();
        sheet.text(
            format!("More: --part NAME ({}), or --stats for everything.", others.join("; ")),
            Tone::Quiet,
        );
    }
    speedup(&mut sheet, reports);
    sheet.provenance = footnotes::provenance(reports);
    sheet.command = reports.first().map(|report| report.command.clone()).unwrap_or_default();
    sheet
}

fn part(report: &Report, first: bool, brief: bool, detail: Detail) -> Sheet {
    let mut sheet = Sheet::new(footnotes::title(report));
    if first {
        sheet.text(footnotes::machine(report), Tone::Quiet);
    }
    sheet.text(footnotes::course(report), Tone::Quiet);
    let mut table = groups(report, detail);
    if brief {
        table.sections.drain(..table.sections.len().saturating_sub(1));
    }
    sheet.table(table);
    if let Some(sentence) = phrases::least(report) {
        sheet.text(sentence, Tone::Plain);
    }
    if detail == Detail::Stats && report.growth.iter().any(|growth| growth.bytes_per_task.is_some()) {
        sheet.table(growth(report));
    }
    sheet.table(unavailable(report));
    sheet.notes = footnotes::notes(report);
    let version = |of: &super::Version| format!("{}: {}", of.runtime, of.version);
    sheet.details = report.versions.iter().map(version).collect();
    sheet
}

/// The table of the main job.
fn groups(report: &Report, detail: Detail) -> Table {
    let headline = report.headline();
    let bar = headline.name.split('-').next().unwrap_or_default();
    let mut heads = vec![Column::words("entry"), Column::figures(headline.heading)];
    // Each looks at all rows.
    let (columns, fan_out) = (columns(report, detail == Detail::Stats), has_fan_out(report));
    if fan_out {
        heads.insert(1, Column::words("fan-out").spare(1));
    }
    // Ranked together, kinds alternate.
    let by_kind = report.rank == Rank::Kind;
    if !by_kind {
        heads.insert(1, Column::words("kind"));
    }
    heads.extend(columns.iter().map(|column| Column {
        short: column.short.into(),
        ..Column::figures(column.figure.heading).spare(column.spare)
    }));
    // The headline as a bar: dropped before a value that is shown nowhere else.
    heads.extend([Column::figures("vs best"), Column::bars(bar).spare(2)]);
    let mut table = Table::new(heads);
    for group in report.groups.iter().filter(|group| !group.rows.is_empty()) {
        let medians = group.rows.iter().filter_map(|row| row.headline).map(|spread| spread.median);
        let largest = medians.fold(0.0, f64::max);
        let section = table.section(units::tasks(group.tasks));
        let mut kind = None;
        for row in &group.rows {
            if by_kind && kind.replace(row.entry.kind) != Some(row.entry.kind) {
                section.rows.push(sheet::SheetRow::heading(row.entry.kind.title()));
            }
            section.rows.push(of_row(report, row, largest, &columns, fan_out));
        }
    }
    // The most tasks are the answer.
    table.sections.iter_mut().rev().skip(1).for_each(|section| section.folded = true);
    table
}

/// Whether chat servers with different designs are in the table.
fn has_fan_out(report: &Report) -> bool {
    report.groups.iter().flat_map(|group| &group.rows).any(|row| row.entry.fan_out.is_some())
}

fn of_row(
    report: &Report,
    row: &Row,
    largest: f64,
    columns: &[ShownFigure],
    fan_out: bool,
) -> sheet::SheetRow {
    let tone = tone(&row.entry);
    let mut shown = sheet::SheetRow::of(vec![entry_field(&row.entry, tone)]);
    if report.rank != Rank::Kind {
        shown.fields.push(Field::quiet(row.entry.kind.title()));
    }
    let unusual = footnotes::unusual_source(report, &row.memory_sources);
    if row.ok_runs < row.runs {
        shown.flag = Some(row.status.clone());
    } else if unusual.is_some() {
        shown.flag = Some("other source".to_owned());
    }
    if !row.has_figures() {
        shown =
            told(row).into_iter().fold(shown, |shown, told| shown.remark(told.head, told.reason, Tone::Bad));
        return match shown.remarks.is_empty() {
            true => shown.remark("", "ok, but nothing was measured", Tone::Bad),
            false => shown,
        };
    }
    if fan_out {
        let text = row.entry.fan_out.map_or("", FanOut::name).to_owned();
        shown.fields.push(Field::Text(text, Tone::Quiet));
    }
    shown.fields.push(match row.headline {
        Some(spread) => {
            let share = spread.relative_mad().filter(|share| *share >= SHOWN_SPREAD);
            let share = share.and_then(|_| relative(&spread)).map(|share| format!("±{share}%"));
            Field::Marked(report.headline().show(spread.median), tone, share)
        }
        None => Field::figure(None, tone),
    });
    shown.fields.extend(columns.iter().map(|column| match column.where_it_differs {
        true if !differs(row, column.figure) => Field::quiet(""),
        _ => Field::figure(row.text(column.figure), tone),
    }));
    shown.fields.push(match row.times_best {
        // The best itself, and what equals it.
        Some(1.0) => Field::Text("1.00".to_owned(), Tone::Good),
        Some(times) => Field::Text(units::decimal(times, 2), tone),
        None if row.entry.reference => Field::quiet(footnotes::REFERENCE),
        None => Field::figure(None, tone),
    });
    let share = row.headline.filter(|_| largest > 0.0).map_or(0.0, |spread| spread.median / largest);
    shown.fields.push(Field::Bar(share, if row.ranked { Tone::Plain } else { Tone::Quiet }));
    for (nth, told) in told(row).into_iter().enumerate() {
        let some = nth == 0 && row.ok_runs > 0;
        let lead = if some { format!("{}; ", row.status) } else { String::new() };
        shown = shown.remark(lead + &told.head, told.reason, Tone::Doubtful);
    }
    match unusual {
        Some(source) => shown.remark("", format!("memory by {source}: not ranked"), Tone::Doubtful),
        None => shown,
    }
}

/// Where kernel memory is a large part of the footprint, or RSS is far from it.
const DIFFERENCE: f64 = 0.1;

/// Whether a part of the memory, or another reading of it, is news beside the footprint.
pub(super) fn differs(row: &Row, figure: &figures::Figure) -> bool {
    let (Some(whole), Some(value)) = (row.footprint_bytes, row.spreads.median(figure)) else { return false };
    let share = value / whole.median;
    if figure == &figures::KERNEL { share > DIFFERENCE } else { (share - 1.0).abs() > DIFFERENCE }
}

/// `go/goroutine 1.26`.
fn entry_field(entry: &Entry, tone: Tone) -> Field {
    let version = entry.version.as_deref().and_then(brief_version);
    let version = version.map(|version| format!(" {version}")).unwrap_or_default();
    Field::Entry(entry.name.clone(), format!("{}{version}", footnotes::marks_of(entry)), tone)
}

fn tone(entry: &Entry) -> Tone {
    if entry.reference { Tone::Quiet } else { Tone::Plain }
}

pub(super) fn names(entry: &Entry, tone: Tone) -> [Field; 2] {
    // A timer is the least like a task, so it is marked.
    let of_kind = if entry.kind == Kind::Timer { Tone::Doubtful } else { Tone::Quiet };
    [Field::Name(entry.name.clone(), tone), Field::Text(footnotes::kind_with_marks(entry), of_kind)]
}

/// Fixed cost and bytes per task.
fn growth(report: &Report) -> Table {
    let mut heads = vec![
        Column::words("entry"),
        Column::words("kind"),
        Column::figures("fixed MiB"),
        Column::figures("95% interval").spare(0),
        Column::figures("B/task"),
        Column::figures("95% interval").spare(2),
        Column::figures("deviation"),
        Column::figures("runs").spare(1),
    ];
    if let Some(held) = report.holds_bytes {
        heads.insert(6, Column::figures(format!("over {} B", units::grouped(held))));
    }
    let mut table = Table::new(heads);
    let rows = report.growth.iter().map(|growth| {
        let tone = tone(&growth.entry);
        let [base, base_interval, slope, slope_interval, off] = growth_texts(growth);
        let mut row = sheet::SheetRow::of(names(&growth.entry, tone).into());
        row.fields.extend([
            Field::Text(base, tone),
            Field::quiet(base_interval),
            Field::Text(slope, tone),
            Field::quiet(slope_interval),
            Field::Text(off, if growth.bent() { Tone::Doubtful } else { Tone::Quiet }),
            Field::quiet(units::grouped(growth.points)),
        ]);
        if report.holds_bytes.is_some() {
            // After entry, kind and what the line is.
            row.fields.insert(row.fields.len() - 2, Field::Text(beyond_text(growth), tone));
        }
        match bent_text(growth) {
            Some(text) => row.remark("", text, Tone::Doubtful),
            None => row,
        }
    });
    table.section("growth with N").rows = rows.collect();
    table
}

fn unavailable(report: &Report) -> Table {
    let mut table = Table::new(vec![Column::words("entry"), Column::prose("")]);
    let row = |missing: &super::Unavailable| {
        let entry = entry_field(&missing.entry, Tone::Plain);
        sheet::SheetRow::of(vec![entry]).remark("", &missing.reason, Tone::Plain)
    };
    table.section("not available here").rows = report.unavailable.iter().map(row).collect();
    table
}

/// Each entry against the best of its kind, in every workload.
fn of_overview(overview: &Overview) -> Table {
    let column = |(part, tasks): &(String, u64)| Column::figures(format!("{part} {}", units::count(*tasks)));
    let heads = [Column::words("entry")];
    let mut table = Table::new(heads.into_iter().chain(overview.columns.iter().map(column)).collect());
    let mut rows = Vec::new();
    let mut kind = None;
    for line in &overview.lines {
        if kind.replace(line.entry.kind) != Some(line.entry.kind) {
            rows.push(sheet::SheetRow::heading(line.entry.kind.title()));
        }
        let factors = line.factors.iter().map(|factor| match factor {
            Factor::Times(1.0) => Field::Text("1.00".to_owned(), Tone::Good),
            Factor::Times(times) => {
                let tone = if *times >= SEVERAL { Tone::Doubtful } else { Tone::Plain };
                Field::Text(units::significant(*times, 3), tone)
            }
            Factor::Unranked(why) => Field::Text(why.clone(), Tone::Bad),
            Factor::Absent => Field::figure(None, Tone::Quiet),
        });
        let entry = entry_field(line.entry, Tone::Plain);
        rows.push(sheet::SheetRow::of(std::iter::once(entry).chain(factors).collect()));
    }
    table.section("vs best of its kind").rows = rows;
    table
}

/// The speed-up with more CPUs.
fn speedup(sheet: &mut Sheet, reports: &[Report]) {
    for speedup in speedups(reports) {
        let cpus = speedup.cpus.iter().map(|cpus| match cpus {
            Some(cpus) => units::counted(*cpus, "CPU"),
            None => "all CPUs".to_owned(),
        });
        let heads = [Column::words("entry"), Column::figures("tasks")];
        let mut table = Table::new(heads.into_iter().chain(cpus.map(Column::figures)).collect());
        let rows = speedup.lines.iter().map(|line| {
            let times =
                line.times.iter().map(|times| times.map(|times| format!("{}×", units::decimal(times, 2))));
            let names =
                [Field::Name(line.entry.clone(), Tone::Plain), Field::quiet(units::count(line.tasks))];
            let times = times.map(|times| Field::figure(times, Tone::Plain));
            sheet::SheetRow::of(names.into_iter().chain(times).collect())
        });
        table.section(format!("{}: speed-up with CPUs", speedup.name)).rows = rows.collect();
        sheet.table(table);
    }
}
