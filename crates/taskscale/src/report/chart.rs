//! How the footprint of each entry grows, as bars: one for each number of tasks.
//!
//! The bars begin at 0 and are linear, so that lengths compare like values. Knows nothing of terminals.

use anstyle::{AnsiColor, Style};

use super::model::{Growth, Report, Row};
use super::phrases::{mad_text, nonlinear_text};
use crate::document::{Bars, RenderOptions, bar, painted, safe};
use crate::metrics::{BASE, BYTES_PER_TASK, per_task};
use crate::stats::Spread;
use crate::units;

/// Length of the longest bar in columns, where there is room.
const LONGEST: usize = 60;
const SHORTEST: usize = 10;

/// The characters for the program's part of a bar and the kernel's.
fn ink(bars: Bars) -> (&'static str, &'static str) {
    match bars {
        Bars::Plain | Bars::Hidden => ("#", "."),
        Bars::Blocks => ("█", "░"),
    }
}

/// The charts of entries that were measured at two N or more; may be empty.
pub fn chart(report: &Report, options: RenderOptions) -> String {
    let mut out = String::new();
    for growth in &report.growth {
        let rows = report.rows_of(&growth.entry.name);
        let rows: Vec<_> = rows.filter_map(|row| Some((row, row.footprint_bytes?))).collect();
        if rows.len() >= 2 {
            entry(&mut out, growth, &rows, options);
        }
    }
    out
}

fn entry(out: &mut String, growth: &Growth, rows: &[(&Row, Spread)], options: RenderOptions) {
    let strong = Style::new().bold();
    let quiet = Style::new().dimmed();
    out.push_str(&painted(&safe(&growth.entry.name), strong, options.color));
    out.push_str(&sentence(growth));
    out.push('\n');

    let texts = |(row, spread): &(&Row, Spread)| {
        let partial = if row.ok_runs == 0 { " (partial)" } else { "" };
        let mad = mad_text(spread).map(|mad| format!(" {mad}")).unwrap_or_default();
        [format!("{}{partial}", units::tasks(row.tasks)), units::bytes(spread.median as u64), mad]
    };
    let lines: Vec<[String; 3]> = rows.iter().map(texts).collect();
    let widest = |column: usize| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0);
    let [label_width, size_width, spread_width] = [0, 1, 2].map(widest);
    let taken = 2 + label_width + 2 + size_width + spread_width + 2;
    let room = options.width.saturating_sub(taken).clamp(SHORTEST, LONGEST);
    let largest = rows.iter().map(|(_, spread)| spread.median).fold(0.0, f64::max);
    for (of, [label, size, spread]) in rows.iter().zip(&lines) {
        let (program, kernel) = parts(of, largest, room, options.bars);
        let line = format!(
            "  {label:>label_width$}  {size:>size_width$}{}  {}{}",
            painted(&format!("{spread:<spread_width$}"), quiet, options.color),
            painted(&program, AnsiColor::Cyan.on_default(), options.color),
            painted(&kernel, AnsiColor::Yellow.on_default(), options.color),
        );
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let (program, kernel) = ink(options.bars);
    let key = format!("{program} program  {kernel} kernel memory (linear scale from 0)");
    out.push_str(&painted(&format!("  {key}"), quiet, options.color));
    out.push('\n');
}

/// `: fixed 1.95 MiB + 4,012 B per task (95% interval 3,990 to 4,034)`.
fn sentence(growth: &Growth) -> String {
    if let Some(text) = nonlinear_text(growth) {
        return format!(": {text}");
    }
    let (Some(base), Some(slope)) = (growth.base_bytes, growth.bytes_per_task) else {
        return String::new();
    };
    let interval = growth.bytes_per_task_interval.map_or_else(
        || " (no interval: fewer than 2 repetitions)".to_owned(),
        |interval| format!(" (95% interval {})", interval.text(per_task)),
    );
    format!(": fixed {} + {} per task{interval}", BASE.text(base), BYTES_PER_TASK.text(slope))
}

/// The bars of the program and of kernel memory. Every nonzero value is visible.
fn parts((row, spread): &(&Row, Spread), largest: f64, room: usize, bars: Bars) -> (String, String) {
    let footprint = spread.median;
    let share = footprint / largest.max(1.0);
    let whole = (share * room as f64).round() as usize;
    if whole == 0 {
        return (bar(share, room, bars), String::new());
    }
    let kernel_share = row.kernel_bytes.map_or(0.0, |kernel| kernel / footprint.max(1.0));
    let kernel = ((whole as f64 * kernel_share).round() as usize).min(whole);
    (ink(bars).0.repeat(whole - kernel), ink(bars).1.repeat(kernel))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Kind;
    use crate::report::fixture;

    fn shown(tasks: &[u64], options: RenderOptions) -> String {
        let mut campaign = fixture::campaign(vec![fixture::facts("my-server", Kind::Program)]);
        campaign.plan.tasks = tasks.to_vec();
        let samples: Vec<_> = tasks
            .iter()
            .flat_map(|n| (1..=3).map(move |r| fixture::sample("my-server", *n, r, 4 << 20, 4_000)))
            .collect();
        chart(&Report::build(&campaign, &samples), options)
    }

    #[test]
    fn bars_are_proportional_to_values() {
        insta::assert_snapshot!(shown(
            &[1, 10_000, 100_000],
            RenderOptions { color: false, width: 80, bars: Bars::Blocks }
        ));
    }

    #[test]
    fn bars_shrink_to_narrow_terminals() {
        let text = shown(&[1, 10_000, 100_000], RenderOptions { color: false, width: 50, bars: Bars::Plain });
        let bars = text.lines().filter(|line| line.contains('#') && line.contains("tasks "));
        assert!(bars.clone().count() == 2 && bars.clone().all(|line| line.chars().count() <= 50), "{text}");
    }

    #[test]
    fn a_chart_needs_two_task_counts() {
        assert_eq!(shown(&[10_000], RenderOptions::default()), "");
    }
}
