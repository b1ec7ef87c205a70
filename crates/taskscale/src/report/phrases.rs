//! Phrases around values.

use std::collections::BTreeMap;

use super::model::{FailureGroup, Growth, Report, Row};
use crate::document::{joined, safe};
use crate::metrics::per_task;
use crate::record::Machine;
use crate::stats::{Spread, Step};
use crate::units;

/// Before the bytes per task of nonlinear memory.
pub const NO_LINE: &str = "~";

/// The mark of fitted values where memory is nonlinear.
pub fn line_mark(linear: Option<bool>) -> &'static str {
    if linear == Some(false) { NO_LINE } else { "" }
}

/// Parameters as one field: `bytes=64 every=1`.
pub fn params(params: &BTreeMap<String, String>) -> String {
    joined(params.iter().map(|(name, value)| format!("{name}={value}")), " ")
}

/// The letter of a campaign among several: A to Z, then AA and so on.
pub fn letter(i: usize) -> String {
    let last = char::from(b'A' + (i % 26) as u8);
    if i < 26 { last.to_string() } else { letter(i / 26 - 1) + &last.to_string() }
}

/// `183 runs in 1 h 02 m`.
pub fn runs_in_time<'a>(reports: impl Iterator<Item = &'a Report> + Clone) -> String {
    let runs = units::counted(reports.clone().map(|report| report.runs).sum::<u64>(), "run");
    let at_least = if reports.clone().any(|report| report.measured_s_is_low) { "at least " } else { "" };
    let time = units::seconds(reports.map(|report| report.measured_s).fold(0.0, |sum, s| sum + s));
    format!("{runs} in {at_least}{time}")
}

/// `AMD EPYC 7B13, 2 CPUs`.
pub fn processor(machine: &Machine) -> String {
    format!("{}, {}", machine.cpu, units::counted(machine.cpus, "CPU"))
}

/// `AMD EPYC 7B13, 2 CPUs, Linux 6.18.5`, sanitized.
pub fn platform(machine: &Machine) -> String {
    safe(&format!("{}, Linux {}", processor(machine), machine.kernel)).into_owned()
}

/// Numbers of tasks: `1, 10k, 1M`.
pub fn counts(tasks: &[u64]) -> String {
    joined(tasks.iter().map(|n| units::count(*n)), ", ")
}

/// Bytes per task, marked if memory is nonlinear.
pub fn slope_text(slope: f64, linear: Option<bool>) -> String {
    format!("{}{}", line_mark(linear), per_task(slope))
}

/// The largest deviation of a median from the line: `+70% at 100k`.
pub fn worst_text(growth: &Growth) -> Option<String> {
    let worst = growth.worst?;
    let at = units::count(worst.tasks);
    let Some(off) = worst.off else { return Some(format!("below 0 at {at}")) };
    let decimals = usize::from(off.abs() < 0.0995);
    let percent = units::decimal(off * 100.0, decimals);
    Some(match percent.as_str() {
        "0.0" | "-0.0" => "<0.1%".to_owned(),
        _ => format!("{}{percent}% at {at}", if off > 0.0 { "+" } else { "" }),
    })
}

/// For nonlinear memory: the largest deviation, and the cost of one more task from each N to the next.
pub fn nonlinear_text(growth: &Growth) -> Option<String> {
    let worst = growth.worst.filter(|_| growth.is_nonlinear())?;
    let at = units::count(worst.tasks);
    let lies = match worst.off {
        Some(off) => {
            let side = if off > 0.0 { "above" } else { "below" };
            format!("the median at {at} is {}% {side} the fit", units::decimal(off.abs() * 100.0, 0))
        }
        None => format!("the fit is below 0 at {at}"),
    };
    let text =
        |step: &Step| format!("{} B up to {}", per_task(step.bytes_per_task), units::count(step.to_tasks));
    let steps = joined(growth.steps.iter().map(text), ", ");
    Some(format!("not linear ({lies}). Cost of one more task: {steps}"))
}

/// The smallest MAD that is shown, as a share of the median.
pub const SHOWN_SPREAD: f64 = 0.01;

/// The MAD in percent of the median, if it is not small: `±2.7%`.
pub fn mad_text(spread: &Spread) -> Option<String> {
    let share = spread.relative_mad().filter(|share| *share >= SHOWN_SPREAD)?;
    Some(format!("±{}%", units::decimal(share * 100.0, 1)))
}

/// Repetitions of a row that failed with the same status, in words.
pub struct FailureLine {
    /// How they ended: `partial, 998,112 of 1,000,000 alive`.
    pub head: String,
    /// Why, as recorded; not yet sanitized.
    pub reason: String,
}

/// The repetitions that were not ok, in words.
pub fn failure_lines(row: &Row) -> Vec<FailureLine> {
    let of = |failure: &FailureGroup| {
        let reason = failure.reason();
        let mut head = failure.status.name().to_owned();
        if row.shortfalls.len() > 1 {
            head.push_str(&format!(" ({} of {})", failure.runs, units::counted(row.runs, "run")));
        }
        if let Some(alive) = failure.short_alive {
            let shown = units::grouped(alive);
            // Most reasons include it.
            if !reason.contains(&shown) && !reason.contains(&alive.to_string()) {
                head.push_str(&format!(", {shown} of {} alive", units::grouped(row.tasks)));
            }
        }
        FailureLine { head, reason }
    };
    row.shortfalls.iter().map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_continue_with_aa_after_z() {
        assert_eq!([0, 1, 25, 26, 27, 701, 702].map(letter), ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]);
    }
}
