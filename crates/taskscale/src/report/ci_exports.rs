//! The report for services that keep a history of values: github-action-benchmark and Bencher.
//!
//! Both keep one value per name and compare it with the last. So only cases with all tasks alive have a value: fewer
//! tasks cost less, and would look like progress. What is left out is returned to the caller.

use std::collections::BTreeMap;

use serde::Serialize;

use super::error::ExportError;
use super::estimate::ValueEstimate;
use super::model::{EntryInfo, Report};
use super::phrases::{platform, worst_text};
use super::sanitize::safe;
use crate::catalog::Shape;
use crate::document::{csv, json};
use crate::metrics::{
    self, Better, CPU, CPU_PER_MESSAGE, LATENCY_P99, LAUNCH, MESSAGES_PER_S, MetricDef, Unit,
};
use crate::units;

/// The metrics exported by default. Without the wall time of tasks that wait, which is mostly the wait, and
/// without the CPU of a whole run of work, whose number of operations depends on the machine.
fn default_metrics(shape: Shape) -> Vec<&'static MetricDef> {
    let more: Vec<&MetricDef> = match shape {
        Shape::Hold => vec![&LAUNCH, &CPU],
        Shape::Serve => vec![&CPU_PER_MESSAGE, &LATENCY_P99, &MESSAGES_PER_S],
        Shape::Work => Vec::new(),
    };
    [metrics::compared(shape), &more].concat()
}

/// A text that ends in a newline, and what is missing in it, each with the reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Export {
    pub text: String,
    pub left_out: Vec<String>,
}

struct ExportValue<'a> {
    report: &'a Report,
    entry: &'a EntryInfo,
    cell: String,
    metric: &'static MetricDef,
    estimate: ValueEstimate,
    /// Repetitions or, for a metric of whole entries, runs that feed it.
    runs: u64,
}

/// `go/goroutine sleep 10k`, without tasks for a metric of whole entries: the same in every campaign, whatever else is
/// measured.
fn cell(report: &Report, entry: &EntryInfo, tasks: Option<u64>) -> String {
    let tasks = tasks.map(|tasks| format!(" {}", units::count(tasks))).unwrap_or_default();
    format!("{} {}{tasks}", safe(&entry.name), safe(&report.series().to_string()))
}

/// One element of the JSON that github-action-benchmark reads under `tool: customSmallerIsBetter`.
///
/// <https://github.com/benchmark-action/github-action-benchmark#examples>, and `BenchmarkResult` in its
/// `src/extract.ts`: `value` is a number, `range` and `extra` are texts that its chart shows with it.
#[derive(Debug, Serialize)]
struct GithubBenchmark {
    name: String,
    unit: &'static str,
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    range: Option<String>,
    extra: String,
}

/// JSON for github-action-benchmark, with the selected metrics or the defaults of each shape. MiB rather than
/// bytes: its charts do not shorten numbers.
pub fn github(reports: &[Report], metrics: &[&'static MetricDef]) -> Result<Export, ExportError> {
    if let Some(metric) = metrics.iter().find(|metric| metric.better == Better::More) {
        return Err(ExportError::MoreIsBetter(metric.name));
    }
    let (mut values, left_out) = values(reports, metrics)?;
    values.retain(|value| value.metric.better == Better::Less);
    if values.is_empty() {
        return Err(ExportError::NoValues);
    }
    let benchmark = |value: &ExportValue| {
        let (unit, divisor) = value.metric.shown_unit();
        let show = |value: f64| csv::figure(Some(significant(value / divisor)));
        GithubBenchmark {
            name: format!("{} {}", value.cell, value.metric.name),
            unit,
            value: rounded(value.estimate.value / divisor),
            range: value.estimate.range.map(|range| range.text(show)),
            extra: extra(value),
        }
    };
    let benchmarks: Vec<GithubBenchmark> = values.iter().map(benchmark).collect();
    Ok(Export { text: json::pretty(&benchmarks), left_out })
}

/// Rounds to six decimals: microseconds, and bytes in MiB. The rest is floating-point noise.
fn rounded(value: f64) -> f64 {
    (value * 1e6).round() / 1e6
}

/// Rounds to four significant digits, for text that people read.
fn significant(value: f64) -> f64 {
    if value == 0.0 {
        return 0.0;
    }
    let scale = 10f64.powf(3.0 - value.abs().log10().floor());
    (value * scale).round() / scale
}

/// The tooltip of a value, to explain a jump: entry, runs, machine and memory source.
fn extra(value: &ExportValue) -> String {
    let title = safe(&value.entry.title).into_owned();
    let mut lines = vec![title, units::counted(value.runs, "run"), platform(&value.report.machine)];
    lines.extend(value.report.usual_source().map(|source| format!("memory by {}", source.name())));
    lines.join("\n")
}

/// A metric in Bencher Metric Format: <https://bencher.dev/docs/reference/bencher-metric-format/>.
#[derive(Debug, Serialize)]
struct BencherMetric {
    value: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    lower_value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    upper_value: Option<f64>,
}

/// The measure's slug. It includes the unit, as Bencher creates unknown measures without a unit.
fn measure(figure: &MetricDef) -> String {
    let unit = match figure.unit {
        Unit::Bytes => "-bytes",
        Unit::Seconds => "-seconds",
        Unit::BytesPerTask | Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => "",
    };
    format!("{}{unit}", figure.name)
}

/// JSON in Bencher Metric Format, for `bencher run --adapter json`.
pub fn bencher(reports: &[Report], metrics: &[&'static MetricDef]) -> Result<Export, ExportError> {
    let (values, left_out) = values(reports, metrics)?;
    let mut benchmarks: BTreeMap<String, BTreeMap<String, BencherMetric>> = BTreeMap::new();
    for value in &values {
        let ValueEstimate { value: middle, range, .. } = value.estimate;
        let metric = BencherMetric {
            value: rounded(middle),
            lower_value: range.map(|range| rounded(range.low)),
            upper_value: range.map(|range| rounded(range.high)),
        };
        benchmarks.entry(value.cell.clone()).or_default().insert(measure(value.metric), metric);
    }
    Ok(Export { text: json::pretty(&benchmarks), left_out })
}

fn values<'a>(
    reports: &'a [Report],
    asked: &[&'static MetricDef],
) -> Result<(Vec<ExportValue<'a>>, Vec<String>), ExportError> {
    let mut values = Vec::new();
    let mut left_out = Vec::new();
    for report in reports {
        let metrics = if asked.is_empty() { default_metrics(report.shape) } else { asked.to_vec() };
        for row in report.rows() {
            let (entry, cell) = (&row.entry, cell(report, &row.entry, Some(row.tasks)));
            if row.ok_runs == 0 {
                left_out.push(format!("{cell} ({})", row.status));
                continue;
            }
            for &metric in metrics.iter().filter(|metric| metric.is_of(report.shape) && !metric.per_entry()) {
                if row.client_limited && metric == &MESSAGES_PER_S {
                    left_out.push(format!("{cell} {} (limited by the clients)", metric.name));
                } else if let Some(spread) = row.spreads.of(metric) {
                    let (cell, estimate, runs) = (cell.clone(), spread.into(), u64::from(row.ok_runs));
                    values.push(ExportValue { report, entry, cell, metric, estimate, runs });
                } else {
                    left_out.push(format!("{cell} {} (no value)", metric.name));
                }
            }
        }
        for growth in &report.growth {
            let (entry, cell) = (&growth.entry, cell(report, &growth.entry, None));
            if let Some(worst) = worst_text(growth).filter(|_| growth.is_nonlinear()) {
                let of_line = metrics.iter().filter(|metric| metric.per_entry());
                left_out
                    .extend(of_line.map(|metric| format!("{cell} {} (not linear: {worst})", metric.name)));
                continue;
            }
            for &metric in &metrics {
                if let Some(estimate) = ValueEstimate::in_growth(metric, growth) {
                    let (cell, runs) = (cell.clone(), growth.points);
                    values.push(ExportValue { report, entry, cell, metric, estimate, runs });
                }
            }
        }
        for missing in &report.unavailable {
            left_out.push(format!("{} (unavailable)", cell(report, &missing.entry, None)));
        }
    }
    values.retain(|value| value.estimate.value.is_finite());
    let mut seen: BTreeMap<(&str, &str), &str> = BTreeMap::new();
    for value in &values {
        if let Some(first) = seen.insert((&value.cell, value.metric.name), &value.report.campaign) {
            return Err(ExportError::Twice {
                name: value.cell.clone(),
                first: first.to_owned(),
                second: value.report.campaign.clone(),
            });
        }
    }
    if values.is_empty() { Err(ExportError::NoValues) } else { Ok((values, left_out)) }
}
