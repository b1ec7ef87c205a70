//! What a reader must know to read the figures right: the sentences below the tables.
//!
//! Only those that this report calls for. Texts from results are as they were recorded.

use std::collections::BTreeSet;

use super::model::{Entry, Growth, Report};
use super::phrases::NO_LINE;
use super::rank::Rank;
use crate::catalog::{Kind, Shape, Style};
use crate::record::{By, Hold, MemorySource, OWN_WORKLOAD};
use crate::stats::OFF;
use crate::units::{self, counted};

/// Beside the kind of a tuned entry.
pub const TUNED: &str = "†";
/// Beside the kind of an entry whose tasks share one CPU.
pub const ONE_CPU: &str = "‡";
/// Beside the kind of an entry that its authors could not try.
pub const UNVERIFIED: &str = "§";
/// Instead of "× best" of a reference line.
pub const REFERENCE: &str = "ref";

/// How many entries a note names before it says "and N more".
const NAMED: usize = 4;

/// The kind with the marks of its entry: `stackless†`.
pub fn kind_with_marks(entry: &Entry) -> String {
    let tuned = if entry.style == Style::Tuned { TUNED } else { "" };
    let one_cpu = if entry.parallel { "" } else { ONE_CPU };
    let unverified = if entry.unverified.is_some() { UNVERIFIED } else { "" };
    format!("{}{tuned}{one_cpu}{unverified}", entry.kind.name())
}

/// `sleep · N = 1, 10k, 1M · 3 repetitions`.
pub fn title(report: &Report) -> String {
    let tasks: Vec<String> = report.tasks.iter().map(|&n| units::count(n)).collect();
    let times = u64::from(report.repetitions);
    format!("{} · N = {} · {}", report.part(), tasks.join(", "), counted(times, "repetition"))
}

/// The machine, in one line.
pub fn machine(report: &Report) -> String {
    let machine = &report.machine;
    let mut parts = vec![
        format!("{}, {}", machine.cpu, counted(machine.cpus, "CPU")),
        units::bytes(machine.memory_bytes),
        machine.os.clone(),
        format!("Linux {} {}", machine.kernel, machine.architecture),
    ];
    if let Some(pages) = &machine.transparent_huge_pages {
        parts.push(format!("THP {pages}"));
    }
    parts.join(" · ")
}

/// Whether connections had carried a message before memory was read, as in results since open loops follow the capacity.
fn is_used(report: &Report) -> bool {
    report.groups.iter().flat_map(|group| &group.rows).any(|row| !row.load_curve.is_empty())
}

/// How long tasks waited, or what was done how often.
pub fn course(report: &Report) -> String {
    if let Some(operation) = &report.operation {
        return format!(
            "An operation: {}. So many that they last {} s or longer, and then twice as many.",
            operation,
            report.hold.work_s()
        );
    }
    if report.shape == Shape::Serve {
        let hold = report.hold;
        if !is_used(report) {
            return format!(
                "All clients connect and rest for {} s or longer. An open loop at a fixed rate follows, then a closed \
                 loop. Every message is verified.",
                hold.plateau_s()
            );
        }
        return format!(
            "All clients connect, send one message each and rest for {} s or longer. A closed loop of {} s finds the \
             capacity; open loops of {} s follow. Every message is verified.",
            hold.plateau_s(),
            hold.closed_s(),
            hold.open_s()
        );
    }
    match report.hold {
        Hold::Chosen { plateau_s } if report.workload == OWN_WORKLOAD => {
            format!("The program is let stand at its plateau for {plateau_s} s or longer.")
        }
        Hold::Chosen { plateau_s } => {
            format!("Tasks wait until all have been alive together for {plateau_s} s or longer.")
        }
        Hold::Fixed { seconds } => {
            format!("Each task waits {seconds} s, whether all are alive by then or not.")
        }
    }
}

/// Where the report comes from: version, day, seed, how much was measured.
pub fn provenance(parts: &[Report]) -> Option<String> {
    let report = parts.first()?;
    let runs: u64 = parts.iter().map(|part| part.runs).sum();
    let measured_s: f64 = parts.iter().map(|part| part.measured_s).sum();
    Some(format!(
        "taskscale {} · {} · {} in {} · seed {} · plan {}",
        report.taskscale,
        report.created_at.date(),
        counted(runs, "run"),
        units::seconds(measured_s),
        report.seed,
        report.plan_digest.chars().take(12).collect::<String>(),
    ))
}

/// The notes that this report calls for, the gravest first.
pub fn notes(report: &Report) -> Vec<String> {
    let mut notes = Vec::new();
    if report.unmeasured_runs > 0 {
        let runs = counted(report.unmeasured_runs, "run");
        notes.push(format!("Incomplete: {runs} of the plan not measured yet."));
    }
    if report.by == Some(By::HandedIn) {
        notes.push("Measured by the community, and submitted.".to_owned());
    }
    if report.stray_samples > 0 {
        let samples = counted(report.stray_samples, "sample");
        notes.push(format!("{samples} left out: not of an entry and the workload of this campaign."));
    }
    notes.extend(mixed_sources(report));
    let rows = || report.groups.iter().flat_map(|group| &group.rows);
    if rows().any(|row| row.ok_runs > 0 && row.ok_runs < row.runs) {
        notes.push("Where only some repetitions were ok, the figures are of those.".to_owned());
    }
    if rows().any(|row| row.ok_runs == 0 && row.has_figures()) {
        notes.push(
            "Rows with fewer than N tasks alive cost less than N tasks would: they are not ranked."
                .to_owned(),
        );
    }
    if report.shape == Shape::Work && rows().any(|row| row.ok_runs > 0 && row.headline.is_none()) {
        notes.push(
            "No cost where twice as many operations took no longer, or the first were too short to be timed: other \
             things took longer than they."
                .to_owned(),
        );
    }
    notes.extend(plateaus(report));
    notes.extend(kinds(report));
    let missing = report.unavailable.iter().map(|missing| &missing.entry);
    notes.extend(marks(rows().map(|row| &row.entry), missing));
    if rows().any(|row| row.entry.reference) {
        notes.push(format!("{REFERENCE}: a reference line, never ranked."));
    }
    notes.push(reading(report));
    for count in &report.warnings {
        let entries = named(&count.entries);
        notes.push(format!("{} in {} ({entries}).", capitalised(count.text), counted(count.runs, "run")));
    }
    notes.extend(report.machine.warnings.iter().map(|warning| format!("This machine: {warning}")));
    notes
}

/// What the marks beside the kinds of these entries mean. Of those that are `missing`, only that they are unverified.
pub fn marks<'a>(
    entries: impl Iterator<Item = &'a Entry> + Clone,
    missing: impl Iterator<Item = &'a Entry>,
) -> Vec<String> {
    let mut notes = Vec::new();
    if entries.clone().any(|entry| entry.style == Style::Tuned) {
        notes.push(format!(
            "{TUNED} tuned for the benchmark: not what the language's users would write first."
        ));
    }
    if entries.clone().any(|entry| !entry.parallel) {
        notes.push(format!("{ONE_CPU} its tasks run on one CPU at a time."));
    }
    let unverified: BTreeSet<_> = entries
        .clone()
        .chain(missing)
        .filter_map(|entry| Some((&entry.name, entry.unverified.as_ref()?)))
        .collect();
    for (name, why) in unverified {
        notes.push(format!("{UNVERIFIED} {name} is unverified: {why}."));
    }
    notes
}

fn reading(report: &Report) -> String {
    let mut text = if report.repetitions > 1 {
        "Figures are medians; ± is the median absolute deviation, in % of the median. ".to_owned()
    } else {
        String::new()
    };
    match report.shape {
        Shape::Hold => {
            text.push_str("Footprint: all memory, the kernel's part included, while all tasks wait.");
        }
        Shape::Serve if !is_used(report) => text.push_str(
            "Footprint: all memory of the server, kernel memory included, before the first message: connections may \
             lack their buffers, so there is no B/conn. Latency runs from the scheduled send time until every receiver \
             has the message. msgs/s: the capacity, with clients on the same CPUs.",
        ),
        Shape::Serve => text.push_str(
            "Footprint: all memory of the server, kernel memory included, after every connection has carried a message. \
             CPU µs/msg and latency: at 50% of capacity, or at --rate; latency runs from the scheduled send time until \
             every receiver has the message. msgs/s: the capacity, with clients on the same CPUs.",
        ),
        Shape::Work => text.push_str(
            "An operation costs what twice as many took more, divided by how many more they were: start-up and \
             warm-up are in both runs, and cancel. CPU: of all threads together. Peak: the most memory at any time.",
        ),
    }
    if report.growth.iter().any(|growth| growth.bytes_per_task.is_some()) {
        text.push_str(
            " Base and B/task: the line footprint = base + N × B/task through all ok runs of an entry (weighted \
             Theil-Sen; 95% intervals by Student's t over the lines of single repetitions).",
        );
    }
    if report.growth.iter().any(Growth::bent) {
        text.push_str(&format!(
            " {NO_LINE}: no line. A median lies more than {} % off it, as those of collected heaps do: it says \
             what the largest N took, has no interval, and foretells nothing.",
            units::decimal(OFF * 100.0, 0),
        ));
    }
    text
}

fn mixed_sources(report: &Report) -> Option<String> {
    let usual = report.memory_sources.first()?;
    if report.memory_sources.len() < 2 {
        return None;
    }
    let sources: Vec<String> = report
        .memory_sources
        .iter()
        .map(|count| format!("{} ({})", count.source.name(), counted(count.runs, "run")))
        .collect();
    let mut others: Vec<String> = Vec::new();
    for row in report.groups.iter().flat_map(|group| &group.rows) {
        if row.memory_sources.iter().any(|source| *source != usual.source)
            && !others.contains(&row.entry.name)
        {
            others.push(row.entry.name.clone());
        }
    }
    Some(format!(
        "Memory was measured in different ways: {}. Figures of different sources are not comparable to the byte; \
         only rows measured by {} alone are ranked, not those of {}.",
        sources.join(", "),
        usual.source.name(),
        named(&others),
    ))
}

/// How plateaus were known, where no program or load said `alive`: the figures are of as many tasks as there were.
fn plateaus(report: &Report) -> Option<String> {
    if report.shape == Shape::Work {
        return None;
    }
    let unknown: u64 = report.plateaus.iter().map(|count| count.alive_unknown).sum();
    if unknown == 0 {
        return None;
    }
    let ways: Vec<String> = report
        .plateaus
        .iter()
        .filter(|count| count.alive_unknown > 0)
        .map(|count| format!("{} ({})", count.from.text(), counted(count.alive_unknown, "run")))
        .collect();
    Some(format!(
        "Alive: unknown. The program does not say how many of its tasks were alive; its plateau was found {}.",
        ways.join("; ")
    ))
}

/// What the kinds in the table mean, where there is more than one.
fn kinds(report: &Report) -> Option<String> {
    let rows = report.groups.iter().flat_map(|group| &group.rows);
    let kinds: BTreeSet<Kind> = rows.map(|row| row.entry.kind).collect();
    if kinds.len() < 2 {
        return None;
    }
    let meanings: Vec<String> =
        kinds.iter().map(|kind| format!("{} = {}", kind.name(), meaning(*kind))).collect();
    let best = match report.rank {
        Rank::Kind => "× best is against the best of the same kind",
        Rank::All => "× best is against the best of all, unlike as they are",
    };
    Some(format!("Unlike kinds stand side by side; {best}. {}.", capitalised(&meanings.join("; "))))
}

fn meaning(kind: Kind) -> &'static str {
    match kind {
        Kind::Thread => "a thread of the operating system",
        Kind::Process => "a process",
        Kind::Stackful => "a task with a stack of its own (goroutine, virtual thread, fiber)",
        Kind::Stackless => "an async task without a stack",
        Kind::Future => "one of many futures inside one task",
        Kind::Timer => "a timer, and no task at all",
        Kind::Program => "a program of its own, whatever it makes of a task",
    }
}

/// The source of a row that is not all of the report's usual source, where sources are mixed.
pub fn unusual_source(report: &Report, sources: &[MemorySource]) -> Option<String> {
    let usual = report.memory_sources.first()?.source;
    if sources.iter().all(|source| *source == usual) {
        return None;
    }
    let names: Vec<&str> = sources.iter().map(|source| source.name()).collect();
    Some(names.join(" and "))
}

/// The names, the first few of them.
pub fn named(entries: &[String]) -> String {
    let mut names: Vec<String> = entries.iter().take(NAMED).cloned().collect();
    if entries.len() > NAMED {
        names.push(format!("and {} more", entries.len() - NAMED));
    }
    names.join(", ")
}

fn capitalised(text: &str) -> String {
    let mut chars = text.chars();
    chars.next().map_or_else(String::new, |first| first.to_uppercase().chain(chars).collect())
}
