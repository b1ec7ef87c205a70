//! How single figures are written, alike in the terminal's tables and in Markdown's.

use super::model::{Growth, Row, Shortfall};
use crate::stats::{Interval, Spread};
use crate::units::{self, mib};

/// Characters of a reason that are shown; the whole of it is in the record.
pub const REASON: usize = 400;

/// Shown where there is no figure.
pub const NONE: &str = "-";

/// Bytes per task: whole bytes, or one decimal where those would say nothing.
pub fn per_task(slope: f64) -> String {
    units::decimal(slope, usize::from(slope.abs() < 99.95))
}

/// Base, its interval, slope, its interval.
pub fn growth_texts(growth: &Growth) -> [String; 4] {
    let none = || NONE.to_owned();
    let base = |bytes: f64| units::decimal(mib(bytes), 2);
    let interval = |interval: Option<Interval>, show: fn(f64) -> String| match interval {
        Some(Interval { low, high }) => format!("{} to {}", show(low), show(high)),
        None => none(),
    };
    [
        growth.base_bytes.map_or_else(none, base),
        interval(growth.base_bytes_interval, base),
        growth.bytes_per_task.map_or_else(none, per_task),
        interval(growth.bytes_per_task_interval, per_task),
    ]
}

/// Seconds with two decimals: what is below a hundredth says so instead of passing for nothing.
pub fn time_text(seconds: f64) -> String {
    if seconds > 0.0 && seconds < 0.005 { "<0.01".to_owned() } else { units::decimal(seconds, 2) }
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
            head.push_str(&format!(" ({} of {} runs)", shortfall.runs, row.runs));
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
