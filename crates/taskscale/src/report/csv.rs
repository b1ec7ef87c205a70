//! The report as comma-separated values: one line per entry and number of tasks, and one per unavailable entry.
//!
//! Quoted as in RFC 4180, but lines end in LF alone, for the tools that people pipe it through. A figure that is
//! unknown is an empty field.

use super::model::{Entry, Report, Row};
use super::sanitize::safe;
use crate::figures;
use crate::stats::{Interval, Spread};

const HEADER: [&str; 59] = [
    "campaign",
    "created_at",
    "hostname",
    "workload",
    "tasks",
    "entry",
    "kind",
    "style",
    "parallel",
    "reference",
    "version",
    "status",
    "ranked",
    "runs",
    "ok_runs",
    "short_alive",
    "footprint_bytes_median",
    "footprint_bytes_min",
    "footprint_bytes_max",
    "footprint_bytes_mad",
    "kernel_bytes_median",
    "peak_bytes_median",
    "peak_bytes_min",
    "peak_bytes_max",
    "rss_peak_bytes_median",
    "launch_s_median",
    "launch_s_min",
    "launch_s_max",
    "wall_s_median",
    "wall_s_min",
    "wall_s_max",
    "cpu_s_median",
    "cpu_s_min",
    "cpu_s_max",
    "threads_median",
    "times_best",
    "times_best_of",
    "bytes_per_task",
    "bytes_per_task_low95",
    "bytes_per_task_high95",
    "straight",
    "off_line",
    "off_line_tasks",
    "base_bytes",
    "base_bytes_low95",
    "base_bytes_high95",
    "growth_runs",
    "memory_source",
    "reason",
    "params",
    "cpus",
    "shape",
    "wall_ns_per_op_median",
    "wall_ns_per_op_min",
    "wall_ns_per_op_max",
    "cpu_ns_per_op_median",
    "cpu_ns_per_op_min",
    "cpu_ns_per_op_max",
    "ops_per_s_median",
];

/// All campaigns, one after the other: each line says which it is of.
pub fn render(reports: &[Report]) -> String {
    let mut out = String::new();
    line(&mut out, HEADER);
    for report in reports {
        for row in report.groups.iter().flat_map(|group| &group.rows) {
            line(&mut out, fields(report, row));
        }
        for missing in &report.unavailable {
            let mut fields = start(report, None, &missing.entry, "unavailable");
            fields.resize(HEADER.len() - 11, String::new());
            fields.push(text(&missing.reason));
            fields.extend(part(report));
            fields.resize(HEADER.len(), String::new());
            line(&mut out, fields);
        }
    }
    out
}

fn start(report: &Report, tasks: Option<u64>, entry: &Entry, status: &str) -> Vec<String> {
    vec![
        text(&report.campaign),
        report.created_at.to_string(),
        text(&report.machine.hostname),
        text(&report.workload),
        tasks.map(|tasks| tasks.to_string()).unwrap_or_default(),
        text(&entry.name),
        entry.kind.name().to_owned(),
        entry.style.name().to_owned(),
        entry.parallel.to_string(),
        entry.reference.to_string(),
        text(entry.version.as_deref().unwrap_or_default()),
        text(status),
    ]
}

fn fields(report: &Report, row: &Row) -> Vec<String> {
    let footprint = row.footprint_bytes;
    let growth = report.growth_of(&row.entry.name);
    let least = |spread: Option<Spread>| figure(spread.map(|spread| spread.min));
    let most = |spread: Option<Spread>| figure(spread.map(|spread| spread.max));
    let low = |interval: Option<Interval>| figure(interval.map(|interval| interval.low));
    let high = |interval: Option<Interval>| figure(interval.map(|interval| interval.high));
    let slope = growth.and_then(|growth| growth.bytes_per_task_interval);
    let base = growth.and_then(|growth| growth.base_bytes_interval);
    let worst = growth.and_then(|growth| growth.worst);
    let sources: Vec<&str> = row.memory_sources.iter().map(|source| source.name()).collect();
    let reasons: Vec<String> = row
        .shortfalls
        .iter()
        .map(|shortfall| format!("{}: {}", shortfall.status, shortfall.reason()))
        .collect();

    let mut fields = start(report, Some(row.tasks), &row.entry, &row.status);
    fields.extend([
        row.ranked.to_string(),
        row.runs.to_string(),
        row.ok_runs.to_string(),
        row.short_alive.map(|alive| alive.to_string()).unwrap_or_default(),
        figure(footprint.map(|spread| spread.median)),
        least(footprint),
        most(footprint),
        figure(footprint.map(|spread| spread.mad)),
        figure(row.kernel_bytes),
        figure(row.peak_bytes),
        least(row.spreads.of(&figures::PEAK)),
        most(row.spreads.of(&figures::PEAK)),
        figure(row.rss_peak_bytes),
        figure(row.launch_s),
        least(row.spreads.of(&figures::LAUNCH)),
        most(row.spreads.of(&figures::LAUNCH)),
        figure(row.wall_s),
        least(row.spreads.of(&figures::WALL)),
        most(row.spreads.of(&figures::WALL)),
        figure(row.cpu_s),
        least(row.spreads.of(&figures::CPU)),
        most(row.spreads.of(&figures::CPU)),
        figure(row.threads),
        figure(row.times_best),
        report.rank.name().to_owned(),
        figure(row.bytes_per_task),
        low(slope),
        high(slope),
        row.straight.map(|straight| straight.to_string()).unwrap_or_default(),
        figure(worst.and_then(|worst| worst.off)),
        worst.map(|worst| worst.tasks.to_string()).unwrap_or_default(),
        figure(growth.and_then(|growth| growth.base_bytes)),
        low(base),
        high(base),
        growth.map(|growth| growth.points.to_string()).unwrap_or_default(),
        sources.join(" "),
        text(&reasons.join("; ")),
    ]);
    fields.extend(part(report));
    for per_op in [&figures::WALL_PER_OP, &figures::CPU_PER_OP] {
        let spread = row.spreads.of(per_op);
        fields.extend([figure(spread.map(|spread| spread.median)), least(spread), most(spread)]);
    }
    fields.push(figure(row.spreads.median(&figures::OPS_PER_S)));
    fields
}

/// What tells a part from others of the same workload.
fn part(report: &Report) -> [String; 3] {
    let params: Vec<String> = report.params.iter().map(|(name, value)| format!("{name}={value}")).collect();
    [
        text(&params.join(" ")),
        report.cpus.map(|cpus| cpus.to_string()).unwrap_or_default(),
        report.shape.name().to_owned(),
    ]
}

/// Six decimals at most: microseconds, and more than bytes need.
pub fn figure(value: Option<f64>) -> String {
    let Some(value) = value.filter(|value| value.is_finite()) else { return String::new() };
    let text = format!("{value:.6}");
    match text.trim_end_matches('0').trim_end_matches('.') {
        "-0" => "0".to_owned(),
        text => text.to_owned(),
    }
}

/// A text that a spreadsheet will not take for a formula: such a one begins with an apostrophe instead.
///
/// OWASP, CSV injection: a cell is run where it begins with `=`, `+`, `-`, `@`, a tab or a carriage return. The last
/// two are gone after [`safe`], as are leading spaces, which some programs skip.
pub fn text(text: &str) -> String {
    let text = safe(text);
    let text = text.trim_start();
    if text.starts_with(['=', '+', '-', '@', '＝', '＋', '－', '＠']) {
        format!("'{text}")
    } else {
        text.to_owned()
    }
}

/// One record.
pub fn line(out: &mut String, fields: impl IntoIterator<Item = impl AsRef<str>>) {
    for (i, field) in fields.into_iter().enumerate() {
        if i > 0 {
            out.push(',');
        }
        let field = field.as_ref();
        if field.contains(['"', ',', '\n', '\r']) {
            out.push('"');
            out.push_str(&field.replace('"', "\"\""));
            out.push('"');
        } else {
            out.push_str(field);
        }
    }
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_formulas() {
        assert_eq!(text("=1+1"), "'=1+1");
        assert_eq!(text("\t@SUM(A1)"), "'@SUM(A1)");
        assert_eq!(text("a-b"), "a-b");
    }

    #[test]
    fn quotes_as_in_the_rfc() {
        let mut out = String::new();
        line(&mut out, ["a,b", "say \"x\"", "", "plain"]);
        assert_eq!(out, "\"a,b\",\"say \"\"x\"\"\",,plain\n");
    }

    #[test]
    fn figures_are_kept_whole() {
        assert_eq!(figure(Some(436_000_000.0)), "436000000");
        assert_eq!(figure(Some(-412.25)), "-412.25");
        assert_eq!(figure(Some(0.1 + 0.2)), "0.3");
        assert_eq!(figure(Some(-1e-9)), "0");
        assert_eq!(figure(Some(100.0)), "100");
        assert_eq!(figure(Some(f64::NAN)), "");
        assert_eq!(figure(None), "");
    }
}
