//! The words of a comparison.

use super::judge::MAX_REPETITIONS;
use super::model::{Change, Comparison, Decision, Judged, JudgedSide, OutcomeChange, Undecided};
use crate::document::{csv, from_to, joined};
use crate::report::footnotes;
use crate::units;

/// `sleep: A → B`.
pub fn title(comparison: &Comparison) -> String {
    let side = |origin: &super::ComparedResults| match &origin.entry {
        Some(entry) => format!("{entry} ({})", origin.folder),
        None => origin.folder.clone(),
    };
    format!("{}: {} → {}", comparison.workload, side(&comparison.base), side(&comparison.new))
}

/// `1 larger, 11 same, 2 unclear, 1 fails now; judged 12 of 14 comparisons`.
pub fn summary(comparison: &Comparison) -> String {
    let verdicts = comparison.counts().into_iter().map(|(verdict, count)| (count, verdict.name()));
    let changes = [Change::Fails, Change::OkLessOften, Change::Works].map(|change| {
        let of_change = comparison.outcomes.iter().filter(|outcome| outcome.change == change);
        (of_change.count(), change.name())
    });
    let parts = verdicts.chain(changes).filter(|(count, _)| *count > 0);
    let parts = joined(parts.map(|(count, name)| format!("{count} {name}")), ", ");
    if parts.is_empty() {
        return "nothing could be compared".to_owned();
    }
    let all = units::counted(comparison.cells.len(), "comparison");
    format!("{parts}; judged {} of {all}", comparison.judged())
}

/// A bound of an interval. With few scattered runs it may be meaningless.
pub fn bound(value: f64) -> String {
    if value >= 1_000.0 { ">1000".to_owned() } else { units::decimal(value, 3) }
}

/// `rust/thread × 10k`, or `rust/thread` for all N.
fn place_of(base: &str, new: &str, tasks: Option<u64>) -> String {
    let tasks = tasks.map(|tasks| format!(" × {}", units::count(tasks))).unwrap_or_default();
    from_to(base, new) + &tasks
}

pub fn place(judged: &Judged) -> String {
    place_of(&judged.base_entry, &judged.new_entry, judged.tasks)
}

pub fn place_of_outcome(outcome: &OutcomeChange) -> String {
    place_of(&outcome.base_entry, &outcome.new_entry, outcome.tasks)
}

/// `5/5 ok → timed-out: killed after 3 s`.
pub fn became(outcome: &OutcomeChange) -> String {
    let reason = outcome.reason.as_deref().map(|reason| format!(": {reason}")).unwrap_or_default();
    format!("{} → {}{reason}", outcome.base, outcome.new)
}

/// The notes below the table.
pub fn notes(comparison: &Comparison) -> Vec<String> {
    let mut notes = Vec::new();
    for (side, only) in [("BASE", &comparison.only_base), ("NEW", &comparison.only_new)] {
        if !only.is_empty() {
            notes.push(format!("Only in {side}, so not compared: {}.", footnotes::named(only)));
        }
    }
    let times = comparison.metrics.iter().any(|metric| metric.unit.is_time());
    for (origin, side) in [(&comparison.base, "BASE"), (&comparison.new, "NEW")] {
        if times && origin.busy_runs > 0 {
            let (busy, runs) = (origin.busy_runs, units::counted(origin.runs, "run"));
            notes.push(format!(
                "{side} was measured on a busy machine in {busy} of {runs}: times are inflated."
            ));
        }
    }
    notes.push(
        "Values are geometric means of repetitions. The interval is that of their ratio (Welch's t on logarithms)."
            .to_owned(),
    );
    let margin = |(is_time, name): (bool, &str)| {
        let alike = comparison.cells.iter().filter(|cell| cell.metric.unit.is_time() == is_time);
        let least = alike.map(|cell| cell.margin).reduce(f64::min)?;
        Some(format!("{} of {name}", percent(least)))
    };
    let margins = joined([(false, "memory"), (true, "time")].into_iter().filter_map(margin), " and ");
    if !margins.is_empty() {
        let tested = comparison.cells.iter().filter(|cell| cell.verdict_interval.is_some());
        notes.push(format!(
            "`larger` and `smaller` are beyond chance (Holm's procedure over {}) and beyond {margins}. Differences up to \
             64 KiB or 2 ms are `same`.",
            units::counted(tested.count(), "comparison"),
        ));
    }
    notes
}

/// 0.05 as `5%`.
pub fn percent(share: f64) -> String {
    format!("{}%", csv::figure(Some(share * 100.0)))
}

/// A ratio as a change: 1.047 as `+4.7%`.
pub fn change(ratio: f64) -> String {
    if ratio >= 1_000.0 {
        return "more than 1000 times".to_owned();
    }
    let percent = units::decimal((ratio - 1.0) * 100.0, 1);
    let sign = if percent.starts_with('-') || percent == "0.0" { "" } else { "+" };
    format!("{sign}{percent}%")
}

/// `+4.7% (95% CI +4.1% to +5.3%)`.
fn change_of(cell: &Judged) -> Option<String> {
    let interval = cell.ratio_interval.map(|interval| format!(" (95% CI {})", interval.text(change)));
    Some(format!("{}{}", change(cell.ratio?), interval.unwrap_or_default()))
}

/// Why `--fail-above` cannot decide a case.
pub fn why_undecided(cell: &Judged) -> String {
    let change = change_of(cell);
    match (&cell.reason, cell.repetitions_needed) {
        (Some(reason), _) => reason.clone(),
        (None, Some(_)) => change.unwrap_or_default(),
        (None, None) => {
            let change = change.map(|change| format!("{change}, ")).unwrap_or_default();
            format!("{change}cannot decide near the threshold with {MAX_REPETITIONS} repetitions")
        }
    }
}

/// `java/virtual-thread × 1M, footprint: +2.1% (…); needs 9 repetitions: taskscale run … -r 9`.
pub fn undecided(undecided: &Undecided) -> String {
    format!("{}: {}", undecided.case, reason_and_plan(undecided))
}

pub fn reason_and_plan(Undecided { reason, repetitions, command, .. }: &Undecided) -> String {
    match (repetitions, command) {
        (Some(repetitions), Some(command)) => {
            format!("{reason}; needs {}: {command}", units::counted(*repetitions, "repetition"))
        }
        _ => reason.clone(),
    }
}

/// The outcome of `--fail-above` in one line, if it was given.
pub fn gate(comparison: &Comparison) -> Option<String> {
    let above = percent(comparison.fail_above?);
    let asked = comparison.cells.iter().filter(|cell| cell.decision.is_some()).count();
    let of = units::counted(asked, "comparison");
    let undecided = comparison.undecided.len();
    Some(match comparison.gate()? {
        Decision::Pass => format!("pass: no regression above {above} in {of}"),
        Decision::Undecided if undecided == 0 => "undecided: nothing could be compared".to_owned(),
        Decision::Undecided => {
            format!("undecided: no regression above {above} found in {of}, {undecided} not decided")
        }
        Decision::Fail => {
            let failures = units::counted(comparison.failures?, "regression");
            let rest = if undecided > 0 { format!("; {undecided} not decided") } else { String::new() };
            format!("fail: {failures} above {above} in {of}{rest}")
        }
    })
}

/// Why a case that only BASE has fails the gate.
pub fn missing(case: &str) -> String {
    format!("{case}: measured in BASE, missing in NEW")
}

/// One line for each regression that fails `--fail-above`, as recorded.
pub fn regressions(comparison: &Comparison) -> Vec<String> {
    if comparison.fail_above.is_none() {
        return Vec::new();
    }
    let failing = comparison.cells.iter().filter(|cell| cell.decision == Some(Decision::Fail));
    let cells = failing.map(|cell| {
        let of =
            |side: &JudgedSide| side.value.map(|value| cell.metric.show_finely(value)).unwrap_or_default();
        let (base, new, change) = (of(&cell.base), of(&cell.new), change_of(cell).unwrap_or_default());
        format!("{}: {} {base} → {new}, {change}", place(cell), cell.metric.heading)
    });
    let failing = comparison.outcomes.iter().filter(|outcome| comparison.fails(outcome));
    let cases = comparison.missing.iter().filter(|_| !comparison.allow_missing);
    cells
        .chain(failing.map(|failing| format!("{}: {}", place_of_outcome(failing), became(failing))))
        .chain(cases.map(|case| missing(case)))
        .collect()
}
