//! Phrases around figures.

use super::model::{Growth, Row, Shortfall};
use crate::figures::per_task;
use crate::sheet::NONE;
use crate::stats::{Interval, Spread};
use crate::units::{self, mib};

/// Before the bytes per task of a line that is none.
pub const NO_LINE: &str = "≈";

/// Bytes per task of a line, marked where it is none.
pub fn slope_text(slope: f64, straight: Option<bool>) -> String {
    let mark = if straight == Some(false) { NO_LINE } else { "" };
    format!("{mark}{}", per_task(slope))
}

/// How far the median lies off the line where it is farthest: `+70 % at 100k`.
pub fn worst_text(growth: &Growth) -> Option<String> {
    let worst = growth.worst?;
    let at = units::count(worst.tasks);
    let Some(off) = worst.off else { return Some(format!("below 0 at {at}")) };
    let decimals = usize::from(off.abs() < 0.0995);
    let percent = units::decimal(off * 100.0, decimals);
    Some(match percent.as_str() {
        "0.0" | "-0.0" => "<0.1 %".to_owned(),
        _ => format!("{}{percent} % at {at}", if off > 0.0 { "+" } else { "" }),
    })
}

/// What is said in place of a line that is none: what one more task took from each number of tasks to the next.
/// `None` where the line is one.
pub fn bent_text(growth: &Growth) -> Option<String> {
    let worst = growth.worst.filter(|_| growth.bent())?;
    let lies = match worst.off {
        Some(off) => {
            let side = if off > 0.0 { "above" } else { "below" };
            format!("the median lies {} % {side} it", units::decimal(off.abs() * 100.0, 0))
        }
        None => "it is below 0".to_owned(),
    };
    let steps: Vec<String> = growth
        .steps
        .iter()
        .map(|step| format!("{} B to {}", per_task(step.bytes_per_task), units::count(step.to_tasks)))
        .collect();
    let from = growth.steps.first().map(|step| units::count(step.from_tasks)).unwrap_or_default();
    let at = units::count(worst.tasks);
    Some(format!("no line: at {at} {lies}; from {from} on a task more takes {}", steps.join(", ")))
}

/// Base, its interval, slope, its interval, how far off the line is.
pub fn growth_texts(growth: &Growth) -> [String; 5] {
    let none = || NONE.to_owned();
    let base = |bytes: f64| units::decimal(mib(bytes), 2);
    let interval = |interval: Option<Interval>, show: fn(f64) -> String| match interval {
        Some(Interval { low, high }) => format!("{} to {}", show(low), show(high)),
        None => none(),
    };
    [
        growth.base_bytes.map_or_else(none, base),
        interval(growth.base_bytes_interval, base),
        growth.bytes_per_task.map_or_else(none, |slope| slope_text(slope, growth.straight)),
        interval(growth.bytes_per_task_interval, per_task),
        worst_text(growth).unwrap_or_else(none),
    ]
}

/// What a task takes beyond what it was told to hold.
pub fn beyond_text(growth: &Growth) -> String {
    growth.bytes_beyond.map_or_else(|| NONE.to_owned(), |bytes| slope_text(bytes, growth.straight))
}

/// MAD in per cent of the median: `0.7`.
pub fn relative(spread: &Spread) -> Option<String> {
    spread.relative_mad().map(|share| units::decimal(share * 100.0, 1))
}

/// What is told of the repetitions of a row that ended alike and not well.
pub struct Told {
    /// What became of them: `partial, 998,112 of 1,000,000 alive`.
    pub head: String,
    /// Why, as recorded: not yet safe to show.
    pub reason: String,
}

/// What is told of the repetitions that were not ok.
pub fn told(row: &Row) -> Vec<Told> {
    let of = |shortfall: &Shortfall| {
        let reason = shortfall.reason();
        let mut head = shortfall.status.name().to_owned();
        if row.shortfalls.len() > 1 {
            head.push_str(&format!(" ({} of {})", shortfall.runs, units::counted(row.runs, "run")));
        }
        if let Some(alive) = shortfall.short_alive {
            let shown = units::grouped(alive);
            // Most reasons say it themselves.
            if !reason.contains(&shown) && !reason.contains(&alive.to_string()) {
                head.push_str(&format!(", {shown} of {} alive", units::grouped(row.tasks)));
            }
        }
        Told { head, reason }
    };
    row.shortfalls.iter().map(of).collect()
}
