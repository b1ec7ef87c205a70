//! The report as comma-separated values: one line per entry and number of tasks, and one per unavailable entry.

use super::model::{EntryInfo, Growth, Report, Row};
use super::phrases::params;
use crate::catalog::FanOut;
use crate::document::csv::{CsvColumn, figure, table, text, whole};
use crate::document::joined;
use crate::metrics::{self, MetricDef};
use crate::stats::Spread;

/// A row, or an entry that has none.
struct ReportCsvLine<'a> {
    report: &'a Report,
    entry: &'a EntryInfo,
    row: Option<&'a Row>,
    unavailable: Option<&'a str>,
}

impl ReportCsvLine<'_> {
    /// A value of the entry's fit; `None` without a row.
    fn of_growth<T>(&self, read: fn(&Growth) -> Option<T>) -> Option<T> {
        read(self.report.growth_of(&self.row?.entry.name)?)
    }

    fn reason(&self) -> String {
        let shortfalls = self.row.into_iter().flat_map(|row| &row.shortfalls);
        let said = shortfalls.map(|failure| format!("{}: {}", failure.status, failure.reason()));
        joined(said.chain(self.unavailable.map(str::to_owned)), "; ")
    }
}

type ReportCsvColumn<'a> = (String, Box<dyn Fn(&ReportCsvLine<'a>) -> String + 'a>);

/// What an entry is and how its runs ended.
fn outcome<'a>() -> [CsvColumn<ReportCsvLine<'a>>; 17] {
    [
        ("campaign", |line| text(&line.report.campaign)),
        ("created_at", |line| line.report.created_at.to_string()),
        ("hostname", |line| text(&line.report.machine.hostname)),
        ("workload", |line| text(&line.report.workload)),
        ("tasks", |line| whole(line.row.map(|row| row.tasks))),
        ("entry", |line| text(&line.entry.name)),
        ("kind", |line| line.entry.kind.name().to_owned()),
        ("style", |line| line.entry.style.name().to_owned()),
        ("fan_out", |line| line.entry.fan_out.map_or("", FanOut::name).to_owned()),
        ("parallel", |line| line.entry.parallel.to_string()),
        ("reference", |line| line.entry.reference.to_string()),
        ("version", |line| text(line.entry.version.as_deref().unwrap_or_default())),
        ("status", |line| text(line.row.map_or("unavailable", |row| &row.status))),
        ("ranked", |line| whole(line.row.map(|row| row.ranked))),
        ("runs", |line| whole(line.row.map(|row| row.runs))),
        ("ok_runs", |line| whole(line.row.map(|row| row.ok_runs))),
        ("short_alive", |line| whole(line.row.and_then(|row| row.short_alive))),
    ]
}

/// The ratio to the best, the fit over N and the origin of the values.
fn context<'a>() -> [CsvColumn<ReportCsvLine<'a>>; 18] {
    [
        ("threads_median", |line| figure(line.row.and_then(|row| row.threads))),
        ("times_best", |line| figure(line.row.and_then(|row| row.times_best))),
        ("times_best_of", |line| whole(line.row.map(|_| line.report.rank.name()))),
        ("bytes_per_task", |line| figure(line.row.and_then(|row| row.bytes_per_task))),
        ("bytes_per_task_low95", |line| figure(line.of_growth(|of| Some(of.bytes_per_task_interval?.low)))),
        ("bytes_per_task_high95", |line| figure(line.of_growth(|of| Some(of.bytes_per_task_interval?.high)))),
        ("straight", |line| whole(line.row.and_then(|row| row.linear))),
        ("off_line", |line| figure(line.of_growth(|of| of.worst?.off))),
        ("off_line_tasks", |line| whole(line.of_growth(|of| Some(of.worst?.tasks)))),
        ("base_bytes", |line| figure(line.of_growth(|of| of.base_bytes))),
        ("base_bytes_low95", |line| figure(line.of_growth(|of| Some(of.base_bytes_interval?.low)))),
        ("base_bytes_high95", |line| figure(line.of_growth(|of| Some(of.base_bytes_interval?.high)))),
        ("growth_runs", |line| whole(line.of_growth(|of| Some(of.points)))),
        ("memory_source", |line| {
            let sources = line.row.into_iter().flat_map(|row| &row.memory_sources);
            joined(sources.map(|source| source.name()), " ")
        }),
        ("reason", |line| text(&line.reason())),
        ("params", |line| text(&params(&line.report.params))),
        ("cpus", |line| whole(line.report.cpus)),
        ("shape", |line| line.report.shape.name().to_owned()),
    ]
}

/// The columns of a metric: its first statistics.
fn of_metric<'a>((metric, number): (&'static MetricDef, usize)) -> impl Iterator<Item = ReportCsvColumn<'a>> {
    type Statistic = (&'static str, fn(Spread) -> f64);
    const STATISTICS: [Statistic; 4] = [
        ("median", |spread| spread.median),
        ("min", |spread| spread.min),
        ("max", |spread| spread.max),
        ("mad", |spread| spread.mad),
    ];
    STATISTICS.into_iter().take(number).map(move |(name, statistic)| -> ReportCsvColumn<'a> {
        let field = move |line: &ReportCsvLine<'a>| {
            figure(line.row.and_then(|row| row.spreads.of(metric)).map(statistic))
        };
        (format!("{}_{name}", metric.field), Box::new(field))
    })
}

/// Readers may rely on positions, so the columns of later metrics come last.
fn columns<'a>() -> Vec<ReportCsvColumn<'a>> {
    use metrics::{CPU, CPU_PER_OP, FOOTPRINT, KERNEL, LAUNCH, OPS_PER_S, PEAK, RSS_PEAK, WALL, WALL_PER_OP};
    let held =
        [(&FOOTPRINT, 4), (&KERNEL, 1), (&PEAK, 3), (&RSS_PEAK, 1), (&LAUNCH, 3), (&WALL, 3), (&CPU, 3)];
    let worked = [(&WALL_PER_OP, 3), (&CPU_PER_OP, 3), (&OPS_PER_S, 1)];
    let later = metrics::ALL.map(|metric| (metric, 3)).into_iter().filter(|(metric, _)| {
        !metric.per_entry() && held.iter().chain(&worked).all(|(earlier, _)| earlier != metric)
    });
    let plain = |(name, field): CsvColumn<ReportCsvLine<'a>>| -> ReportCsvColumn<'a> {
        (name.to_owned(), Box::new(field))
    };
    let excess = |line: &ReportCsvLine<'a>| figure(line.of_growth(|of| of.excess_bytes));
    let mut columns: Vec<ReportCsvColumn> = outcome().map(plain).into();
    columns.extend(held.into_iter().flat_map(of_metric));
    columns.extend(context().map(plain));
    columns.extend(worked.into_iter().flat_map(of_metric));
    columns.push(("bytes_beyond".to_owned(), Box::new(excess)));
    columns.extend(later.flat_map(of_metric));
    columns
}

/// All reports, one after another. Each line names its results.
pub fn render(reports: &[Report]) -> String {
    let lines = reports.iter().flat_map(|report| {
        let line = move |entry, row, unavailable| ReportCsvLine { report, entry, row, unavailable };
        let rows = report.rows().map(move |row| line(&row.entry, Some(row), None));
        let missing = report.unavailable.iter();
        rows.chain(missing.map(move |missing| line(&missing.entry, None, Some(&*missing.reason))))
    });
    table(&columns(), lines)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn every_metric_has_a_column_and_positions_are_stable() {
        let names: Vec<String> = columns().into_iter().map(|(name, _)| name).collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
        for metric in metrics::ALL.into_iter().filter(|metric| !metric.per_entry()) {
            assert!(names.contains(&format!("{}_median", metric.field)), "{}", metric.name);
        }
        let at = |place: usize| names[place].as_str();
        assert_eq!(
            (at(0), at(17), at(35), at(60)),
            ("campaign", "footprint_bytes_median", "threads_median", "bytes_beyond")
        );
    }
}
