//! What is said of a comparison.

use super::model::{Change, Comparison, Gate, Judged, OutcomeChange};
use crate::figures::{Figure, Unit, per_task};
use crate::sheet::NONE;
use crate::stats::Interval;
use crate::units::{self, mib};

/// `sleep: A → B`.
pub fn title(comparison: &Comparison) -> String {
    let side = |origin: &super::Origin| match &origin.entry {
        Some(entry) => format!("{entry} ({})", origin.folder),
        None => origin.folder.clone(),
    };
    format!("{}: {} → {}", comparison.workload, side(&comparison.base), side(&comparison.new))
}

/// `1 larger, 11 same, 2 unclear, 1 fails now; judged 12 of 14 cells`.
pub fn summary(comparison: &Comparison) -> String {
    let mut parts: Vec<String> =
        comparison.counts().iter().map(|(verdict, count)| format!("{count} {}", verdict.name())).collect();
    for change in [Change::Fails, Change::OkLessOften, Change::Works] {
        let count = comparison.outcomes.iter().filter(|outcome| outcome.change == change).count();
        if count > 0 {
            parts.push(format!("{count} {}", change.name()));
        }
    }
    if parts.is_empty() {
        return "nothing can be compared".to_owned();
    }
    format!(
        "{}; judged {} of {}",
        parts.join(", "),
        comparison.judged(),
        units::counted(comparison.cells.len(), "cell")
    )
}

/// The unit that a metric's figures are shown in, as a part of its heading.
pub fn heading(metric: &'static Figure) -> String {
    match metric.unit {
        Unit::Bytes => format!("{}, MiB", metric.name),
        Unit::BytesPerTask => "bytes per task".to_owned(),
        Unit::Seconds => format!("{}, s", metric.name),
        Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => metric.heading.to_owned(),
    }
}

/// A figure without its unit.
pub fn figure(metric: &'static Figure, value: Option<f64>) -> String {
    let Some(value) = value else { return NONE.to_owned() };
    match metric.unit {
        Unit::Bytes => units::decimal(mib(value), 2),
        Unit::BytesPerTask => per_task(value),
        Unit::Seconds => units::decimal(value, 3),
        Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => metric.show(value),
    }
}

pub fn ratio(cell: &Judged) -> String {
    cell.ratio.map_or_else(|| NONE.to_owned(), |ratio| units::decimal(ratio, 3))
}

/// Of the ratio: `1.047 to 1.053`.
pub fn interval(interval: Option<Interval>) -> String {
    interval.map_or_else(
        || NONE.to_owned(),
        |Interval { low, high }| format!("{} to {}", bound(low), bound(high)),
    )
}

/// Of few wild runs an interval may be so wide that its bounds say nothing.
fn bound(value: f64) -> String {
    if value >= 1_000.0 { ">1000".to_owned() } else { units::decimal(value, 3) }
}

pub fn tasks(cell: &Judged) -> String {
    cell.tasks.map_or_else(|| "all".to_owned(), units::count)
}

/// `rust/thread × 10k`, or `rust/thread` of all numbers of tasks.
fn place_of(entries: &str, tasks: Option<u64>) -> String {
    let tasks = tasks.map(|tasks| format!(" × {}", units::count(tasks))).unwrap_or_default();
    format!("{entries}{tasks}")
}

pub fn place(judged: &Judged) -> String {
    place_of(&judged.entries(), judged.tasks)
}

pub fn place_of_outcome(outcome: &OutcomeChange) -> String {
    place_of(&outcome.entries(), outcome.tasks)
}

/// `5/5 ok → timed-out: ended after 3 s`.
pub fn became(outcome: &OutcomeChange) -> String {
    let reason = outcome.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} → {}{reason}", outcome.base, outcome.new)
}

/// What a reader must know to read the table right.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    if !comparison.only_base.is_empty() {
        notes.push(format!("Only in BASE, so not compared: {}.", comparison.only_base.join(", ")));
    }
    if !comparison.unjudged.is_empty() {
        notes.push(format!("To be judged, and cannot be: {}.", comparison.unjudged.join(", ")));
    }
    if !comparison.only_new.is_empty() {
        notes.push(format!("Only in NEW, so not compared: {}.", comparison.only_new.join(", ")));
    }
    let times = comparison.metrics.iter().any(|metric| metric.unit.is_time());
    for (origin, side) in [(&comparison.base, "BASE"), (&comparison.new, "NEW")] {
        if times && origin.busy_runs > 0 {
            notes.push(format!(
                "Other work kept the machine busy during {} of {} of {side}: times say more of that than of programs.",
                origin.busy_runs,
                units::counted(origin.runs, "run"),
            ));
        }
    }
    notes.push(format!(
        "Ratio: the new figure over the base, of medians over the ok runs{}. 95 % interval by bootstrap over \
         repetitions.",
        if comparison.metrics.iter().any(|metric| metric.of_line()) {
            " and of lines through them"
        } else {
            ""
        },
    ));
    let margins: Vec<String> = [(false, "memory"), (true, "time")]
        .into_iter()
        .filter_map(|(is_time, name)| {
            let alike = |cell: &&Judged| cell.metric.unit.is_time() == is_time;
            let least = comparison.cells.iter().filter(alike).map(|cell| cell.margin).reduce(f64::min)?;
            Some(format!("{} of {name}", percent(least)))
        })
        .collect();
    notes.push(format!(
        "More or less takes an interval of {} confidence, by Holm's procedure as {} are judged at once, that lies \
         wholly beyond the margin ({}; of small figures more); same takes a 95 % interval wholly within it; unclear \
         is the rest.",
        percent(comparison.verdict_confidence),
        comparison.cells.iter().filter(|cell| cell.ratio.is_some()).count(),
        if margins.is_empty() { "none".to_owned() } else { margins.join(", ") },
    ));
    notes
}

/// 0.05 as `5 %`, 0.99917 as `99.917 %`.
pub fn percent(share: f64) -> String {
    let text = format!("{:.3}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// One line on whether the gate holds; `None` where there is none.
pub fn gate(comparison: &Comparison) -> Option<String> {
    let above = percent(comparison.fail_above?);
    let of = format!("{} of {} judged", comparison.judged(), units::counted(comparison.cells.len(), "cell"));
    Some(match (comparison.gate()?, comparison.regressions?) {
        (Gate::Open, _) => format!("no regression above {above} ({of})"),
        (Gate::Undecided, _) => format!("no answer: {of}, and no regression above {above} among them"),
        (Gate::Closed, 1) => format!("1 regression above {above} ({of})"),
        (Gate::Closed, many) => format!("{many} regressions above {above} ({of})"),
    })
}

/// One line for each regression that the gate fails for, as recorded.
pub fn regressions(comparison: &Comparison) -> Vec<String> {
    if comparison.fail_above.is_none() {
        return Vec::new();
    }
    let cells = comparison.cells.iter().filter(|cell| cell.regression).map(|cell| {
        format!(
            "{}: {} {} → {}, ratio {} (95 %: {})",
            place(cell),
            heading(cell.metric),
            figure(cell.metric, cell.base.value),
            figure(cell.metric, cell.new.value),
            ratio(cell),
            interval(cell.ratio_interval),
        )
    });
    let failing = comparison.outcomes.iter().filter(|outcome| comparison.closes(outcome));
    let missing = comparison.missing.iter().filter(|_| !comparison.allow_missing);
    cells
        .chain(failing.map(|failing| format!("{}: {}", place_of_outcome(failing), became(failing))))
        .chain(missing.map(|cell| format!("{cell}: measured in BASE and not in NEW")))
        .collect()
}
