//! The notes below the tables.
//!
//! Only those that apply to this report. Texts from results are as recorded.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::model::{EntryInfo, Growth, PlateauCount, Rank, Report, Row, SourceCount};
use super::phrases::{NO_LINE, counts, processor, runs_in_time};
use crate::catalog::{Kind, Shape, Style, release_series};
use crate::document::{by_key, capitalized, first_few, joined};
use crate::record::{By, Hold, Machine, MemorySource, OWN_WORKLOAD};
use crate::stats::OFF;
use crate::units::{self, counted};

/// Marks a tuned entry.
pub const TUNED: &str = "†";
/// Marks an entry whose tasks share one CPU.
pub const ONE_CPU: &str = "‡";
/// Marks an entry that its authors could not run.
pub const UNVERIFIED: &str = "§";
/// In place of "vs best" of a reference line.
pub const REFERENCE: &str = "ref";

/// Number of entries that a note names before "and N more".
const NAMED: usize = 4;

/// The marks of an entry: `†‡`.
pub fn marks_of(entry: &EntryInfo) -> String {
    let tuned = if entry.style == Style::Tuned { TUNED } else { "" };
    let one_cpu = if entry.parallel { "" } else { ONE_CPU };
    let unverified = if entry.unverified.is_some() { UNVERIFIED } else { "" };
    format!("{tuned}{one_cpu}{unverified}")
}

/// What distinguishes an entry from a usual one of its kind, in words.
pub fn qualities(style: Style, reference: bool, parallel: bool, unverified: bool) -> Vec<&'static str> {
    let tuned = (style == Style::Tuned).then_some("tuned");
    let others = [reference.then_some("reference"), (!parallel).then_some("one CPU")];
    tuned.into_iter().chain(others.into_iter().flatten()).chain(unverified.then_some("unverified")).collect()
}

/// `sleep · N = 1, 10k, 1M · 3 repetitions`.
pub fn title(report: &Report) -> String {
    let repetitions = counted(report.repetitions, "repetition");
    format!("{} · N = {} · {repetitions}", report.series(), counts(&report.tasks))
}

/// The machine, in one line.
pub fn machine(machine: &Machine) -> String {
    let mut parts = vec![
        processor(machine),
        units::bytes(machine.memory_bytes),
        machine.os.clone(),
        format!("Linux {} {}", machine.kernel, machine.architecture),
    ];
    parts.extend(machine.transparent_huge_pages.as_ref().map(|pages| format!("THP {pages}")));
    parts.join(" · ")
}

/// Whether connections had carried a message before memory was read; false in old results.
fn is_used(report: &Report) -> bool {
    report.rows().any(|row| !row.load_curve.is_empty())
}

/// How long tasks waited, or how many operations they did.
pub fn scenario(report: &Report) -> String {
    let hold = report.hold;
    match (&report.operation, hold) {
        (Some(operation), _) => format!(
            "An operation: {operation}. A first run does enough operations for {} s, a second run twice that \
             number.",
            hold.work_s()
        ),
        _ if report.shape == Shape::Serve && !is_used(report) => format!(
            "All clients connect and stay idle for at least {} s. An open loop at a fixed rate follows, then a closed \
             loop. Every message is verified.",
            hold.plateau_s()
        ),
        _ if report.shape == Shape::Serve => format!(
            "All clients connect, send one message each and stay idle for at least {} s. A closed loop of {} s finds \
             the capacity, then open loops of {} s follow. Every message is verified.",
            hold.plateau_s(),
            hold.closed_s(),
            hold.open_s()
        ),
        (None, Hold::Chosen { plateau_s }) if report.workload == OWN_WORKLOAD => {
            format!("The program stays at its plateau for at least {plateau_s} s.")
        }
        (None, Hold::Chosen { plateau_s }) => {
            format!("All tasks are alive at the same time for at least {plateau_s} s.")
        }
        (None, Hold::Fixed { seconds }) => {
            format!("Each task waits {seconds} s, even if some have not started by then.")
        }
    }
}

/// Provenance: version, day, number and time of runs, seed and plan.
pub fn provenance(parts: &[Report]) -> Option<String> {
    let report = parts.first()?;
    Some(format!(
        "taskscale {} · {} · {} · seed {} · plan {}",
        report.taskscale,
        report.created_at.date(),
        runs_in_time(parts.iter()),
        report.seed,
        report.plan_digest.chars().take(12).collect::<String>(),
    ))
}

/// The notes that apply to this report, the most important first.
pub fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.unmeasured_runs > 0 {
        let runs = counted(report.unmeasured_runs, "run");
        notes.push(format!("Incomplete: {runs} of the plan not measured yet."));
    }
    if report.by == Some(By::HandedIn) {
        notes.push("Submitted by the community.".to_owned());
    }
    if report.stray_samples > 0 {
        let samples = counted(report.stray_samples, "sample");
        notes.push(format!("{samples} ignored: of an entry or workload outside the plan."));
    }
    notes.extend(mixed_sources(report));
    if report.rows().any(|row| row.ok_runs > 0 && row.ok_runs < row.runs) {
        notes.push("Values include only the repetitions that were ok.".to_owned());
    }
    let (short, others): (Vec<&Row>, Vec<&Row>) = report
        .rows()
        .filter(|row| row.ok_runs == 0 && row.has_figures())
        .partition(|row| row.short_alive.is_some());
    if !short.is_empty() {
        notes.push("Rows with fewer than N tasks alive are not ranked: N tasks would cost more.".to_owned());
    }
    if !others.is_empty() {
        notes.push("Rows without an ok run are not ranked.".to_owned());
    }
    let has_no_cost = |row: &Row| row.ok_runs == row.runs && row.headline.is_none();
    if report.shape == Shape::Work && report.rows().any(has_no_cost) {
        notes.push(
            "Rows without a cost: the work was too short to time reliably (doubling it did not take longer)."
                .to_owned(),
        );
    }
    notes.extend(plateaus(report));
    notes.extend(all_marks(report));
    for count in &report.warnings {
        notes.push(warned(count.text, &counted(count.runs, "run"), &named(&count.entries)));
    }
    notes.extend(of_machine(report));
    notes.extend(vs_best(report));
    notes.push(reading(report));
    notes
}

/// The meaning of each mark in the tables of this report.
pub fn all_marks(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.growth.iter().any(Growth::is_nonlinear) {
        notes.push(format!("{NO_LINE} memory is not linear in N: do not extrapolate."));
    }
    let missing = report.unavailable.iter().map(|missing| &missing.entry);
    notes.extend(marks(report.rows().map(|row| &row.entry), missing));
    if report.rows().any(|row| row.entry.reference) {
        notes.push(format!("{REFERENCE}: a reference line, never ranked."));
    }
    notes
}

/// Warnings about the machine.
pub fn of_machine(report: &Report) -> Vec<String> {
    report.machine.warnings.iter().map(|warning| format!("This machine: {warning}")).collect()
}

/// `CPU-starved in 54 runs (go/goroutine): times are inflated.`, from the text of a warning.
fn warned(text: &str, runs: &str, entries: &str) -> String {
    let (effect, rest) = text.split_at(text.find(": ").unwrap_or(text.len()));
    format!("{} in {runs} ({entries}){rest}.", capitalized(effect))
}

/// The meaning of the marks of these entries; for `missing` entries only the mark `unverified`.
pub fn marks<'a>(
    entries: impl Iterator<Item = &'a EntryInfo> + Clone,
    missing: impl Iterator<Item = &'a EntryInfo>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if entries.clone().any(|entry| entry.style == Style::Tuned) {
        notes.push(format!("{TUNED} tuned for the benchmark, unlike typical programs of that language."));
    }
    if entries.clone().any(|entry| !entry.parallel) {
        notes.push(format!("{ONE_CPU} all its tasks share one CPU."));
    }
    let unverified: BTreeSet<_> = entries
        .clone()
        .chain(missing)
        .filter_map(|entry| Some((entry.unverified.as_ref()?, &entry.name)))
        .collect();
    for (why, names) in by_key(unverified.into_iter()) {
        let is = if names.len() == 1 { "is" } else { "are" };
        notes.push(format!(
            "{UNVERIFIED} {} {is} unverified: {why}.",
            joined(names.iter().map(|name| name.as_str()), ", ")
        ));
    }
    notes
}

/// When the series of these entries came out, the newest first: one sentence below a table.
pub fn releases<'a>(entries: impl Iterator<Item = &'a EntryInfo>) -> Option<String> {
    let series = entries.filter_map(|entry| release_series(&entry.name, entry.version.as_deref()?));
    let by_release: BTreeSet<_> =
        series.map(|series| (Reverse(series.released), series.to_string())).collect();
    let named = by_release.iter().map(|(Reverse(released), series)| format!("{series} ({released})"));
    (by_release.len() > 1).then(|| format!("Releases compared: {}.", joined(named, ", ")))
}

fn reading(report: &Report) -> String {
    let values = match report.repetitions {
        0 | 1 => "",
        _ => "Values are medians, ± the median absolute deviation in %. ",
    };
    let of_shape = match report.shape {
        Shape::Hold => "Footprint: all memory while all tasks wait, including kernel memory.",
        Shape::Serve if !is_used(report) => {
            "Footprint: all memory of the server, including kernel memory, before the first message. Connections may \
             lack their buffers, so there is no B/conn. Latency runs from the scheduled send time until every receiver \
             has the message. msgs/s: the capacity, with clients on the same CPUs."
        }
        Shape::Serve => {
            "Footprint: all memory of the server, including kernel memory, after every connection has carried a message. \
             CPU µs/msg and latency: at 50% of capacity, or at --rate. Latency runs from the scheduled send time until \
             every receiver has the message. msgs/s: the capacity, with clients on the same CPUs."
        }
        Shape::Work => {
            "Cost per operation = (second run − first run) ÷ extra operations, so start-up and warm-up cancel out. CPU: \
             all threads together. Peak: the most memory at any time."
        }
    };
    let mut text = format!("{values}{of_shape}");
    if report.growth.iter().any(|growth| growth.bytes_per_task.is_some()) {
        text.push_str(
            " Footprint = fixed + N × B/task, fitted to all ok runs of an entry (weighted Theil-Sen, 95% intervals by \
             Student's t over repetitions).",
        );
    }
    if report.growth.iter().any(Growth::is_nonlinear) {
        text.push_str(&format!(
            " {NO_LINE}: a median is over {}% off the fit, as with garbage-collected heaps.",
            units::decimal(OFF * 100.0, 0),
        ));
    }
    text
}

fn mixed_sources(report: &Report) -> Option<String> {
    let usual = report.usual_source().filter(|_| report.memory_sources.len() > 1)?;
    let count = |of: &SourceCount| format!("{} ({})", of.source.name(), counted(of.runs, "run"));
    let others = report.names_where(|row| row.memory_sources.iter().any(|source| *source != usual));
    Some(format!(
        "Memory sources differ: {}. Their values are not comparable to the byte, so only rows measured by {} are \
         ranked, not {}.",
        joined(report.memory_sources.iter().map(count), ", "),
        usual.name(),
        named(&others),
    ))
}

/// How plateaus were found in runs whose number of live tasks is unknown, as neither program nor load reported
/// it.
fn plateaus(report: &Report) -> Option<String> {
    let unknown = report.plateaus.iter().filter(|count| count.alive_unknown > 0);
    let way = |of: &PlateauCount| format!("{} ({})", of.from.text(), counted(of.alive_unknown, "run"));
    let ways = joined(unknown.map(way), "; ");
    let note = "The number of live tasks is unknown, as the program does not print it. Its plateau was found";
    (report.shape != Shape::Work && !ways.is_empty()).then(|| format!("{note} {ways}."))
}

/// What "vs best" compares, if there are several kinds.
fn vs_best(report: &Report) -> Option<String> {
    let kinds: BTreeSet<Kind> = report.rows().map(|row| row.entry.kind).collect();
    if kinds.len() < 2 {
        return None;
    }
    let best = match report.rank {
        Rank::Kind => "\"vs best\" compares within a kind.",
        Rank::All => "\"vs best\" compares across kinds, which do different things.",
    };
    Some(best.to_owned())
}

/// The memory source of a row that differs from the report's main source.
pub fn unusual_source(report: &Report, sources: &[MemorySource]) -> Option<String> {
    let usual = report.usual_source()?;
    let differs = sources.iter().any(|source| *source != usual);
    differs.then(|| joined(sources.iter().map(|source| source.name()), " and "))
}

/// The first few names, and the number of others.
pub fn named(entries: &[impl AsRef<str>]) -> String {
    first_few(entries, NAMED, ", ", |name| name.as_ref().to_owned())
}
