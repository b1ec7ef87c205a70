//! The rows of the page: values, and whether they are ranked.

use super::super::build::feeding;
use super::super::model::{FailureGroup, Row};
use super::super::rank::{AT_LEAST, NO_VALUE, Standing};
use super::model::{Figure, PageChanges, PageException, PageGap, PageRow, PageShortfall};
use crate::document::joined;
use crate::metrics::{self, MetricDef};
use crate::record::{MemorySource, Sample, Warning};
use crate::stats::{Spread, middle_two};
use crate::units::grouped;

/// The row of an entry at one N. `entry`: its position; `cell`: its samples.
pub fn page_row(
    entry: usize,
    row: Row,
    cell: &[&Sample],
    metrics: &[&'static MetricDef],
    usual: Option<MemorySource>,
) -> PageRow {
    // For work, times are those of the first run of each pair.
    let fed: Vec<&Sample> = feeding(cell).into_iter().filter(|sample| !sample.is_double()).collect();
    let figure = |of: Spread| Figure(of.median, of.min, of.max, of.mad, of.readings);
    let shortfall = |failure: &FailureGroup| PageShortfall {
        status: failure.status,
        runs: failure.runs,
        reason: failure.reason(),
    };
    PageRow {
        entry,
        tasks: row.tasks,
        runs: row.runs,
        ok_runs: row.ok_runs,
        // Metrics that depend on the memory source are in `exceptions`.
        standing: row.standing(&metrics::WALL, usual),
        exceptions: exceptions(&row, metrics, usual),
        remarks: remarks(&row),
        gap: gap(&row, cell),
        figures: metrics.iter().map(|metric| row.spreads.of(metric).map(figure)).collect(),
        changes: PageChanges::new(),
        threads: row.threads,
        parts: row.parts,
        time: phases(&fed, |sample| {
            let time = &sample.time;
            (time.wall_s, [time.launch_s, time.plateau_s, time.drain_s])
        }),
        cpu: phases(&fed, |sample| {
            let cpu = &sample.cpu;
            (cpu.total_s(), [cpu.launch_s, cpu.plateau_s, cpu.drain_s])
        }),
        load_curve: row.load_curve,
        shortfalls: row.shortfalls.iter().map(shortfall).collect(),
        status: row.status,
        memory_sources: row.memory_sources,
    }
}

/// The metrics of a row that are not ranked, by reason: memory source or saturated clients.
fn exceptions(row: &Row, metrics: &[&'static MetricDef], usual: Option<MemorySource>) -> Vec<PageException> {
    let sources = || joined(row.memory_sources.iter().map(|source| source.name()), " and ");
    let of = |standing: Standing, reason: String, sign: &'static str| {
        let metrics = metrics.iter().filter(|metric| row.standing(metric, usual) == standing);
        PageException { standing, metrics: metrics.map(|metric| metric.name).collect(), reason, sign }
    };
    let all = [
        of(Standing::OtherSource, format!("not comparable: memory source {}", sources()), ""),
        of(Standing::LowerBound, "limited by the clients: the server may handle more".to_owned(), AT_LEAST),
    ];
    all.into_iter().filter(|exception| !exception.metrics.is_empty()).collect()
}

/// Why metrics have no value, unless the row just lacks the metric.
fn gap(row: &Row, cell: &[&Sample]) -> Option<PageGap> {
    let short = cell.iter().any(|sample| sample.warnings.contains(&Warning::WorkShort));
    match row.shortfalls.first().filter(|_| row.ok_runs == 0) {
        Some(failure) => Some(PageGap(row.status.clone(), failure.reason())),
        None => short.then(|| PageGap(NO_VALUE.into(), Warning::WorkShort.text().into())),
    }
}

fn remarks(row: &Row) -> Vec<String> {
    let mut remarks: Vec<String> =
        row.entry.unverified.iter().map(|why| format!("unverified: {why}")).collect();
    if row.ok_runs > 0 && row.ok_runs < row.runs {
        remarks.push(format!("{} of {} runs ok", row.ok_runs, row.runs));
    }
    if let Some(alive) = row.short_alive.filter(|_| row.ok_runs == 0) {
        remarks.push(format!("{} of {} alive", grouped(alive), grouped(row.tasks)));
    }
    remarks.extend(row.shortfalls.iter().map(|failure| format!("{}: {}", failure.status, failure.reason())));
    remarks
}

/// The time of a run, and of its launch, plateau and drain, in seconds.
type PhasedTime = (Option<f64>, [Option<f64>; 3]);

/// The phases of the run with the median time, in seconds, or the mean of the two middle runs if their number
/// is even.
///
/// Medians of phases do not add up to the median of the whole. The phases of the middle run do.
fn phases(fed: &[&Sample], of: fn(&Sample) -> PhasedTime) -> Option<[f64; 3]> {
    let run = |sample: &&Sample| match of(sample) {
        (Some(whole), [Some(launch), Some(plateau), Some(drain)]) => Some((whole, [launch, plateau, drain])),
        _ => None,
    };
    let mut runs: Vec<(f64, [f64; 3])> = fed.iter().filter_map(run).collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let ((_, lower), (_, upper)) = middle_two(&runs)?;
    Some([0, 1, 2].map(|phase| lower[phase].midpoint(upper[phase])))
}
