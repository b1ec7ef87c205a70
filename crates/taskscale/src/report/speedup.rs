//! The speed-up with more CPUs: series of a campaign that differ only in the number of CPUs.

use std::collections::BTreeMap;

use super::model::{Report, Row};
use crate::catalog::Shape;
use crate::document::{Column, DocumentRow, Emphasis, Table, TableCell};
use crate::record::Series;
use crate::units;

/// A table for each workload of the shape `work` that was run on several numbers of CPUs: the speed-up of each
/// entry over the fewest.
pub fn speedups(reports: &[Report]) -> Vec<Table> {
    let mut tables = Vec::new();
    let alike = |a: &Report, b: &Report| a.workload == b.workload && a.params == b.params;
    for (position, report) in reports.iter().enumerate() {
        let seen = reports[..position].iter().any(|before| alike(before, report));
        let mut parts: Vec<&Report> = reports.iter().filter(|other| alike(other, report)).collect();
        if seen || parts.len() < 2 || report.shape != Shape::Work {
            continue;
        }
        // All CPUs last.
        parts.sort_by_key(|part| part.cpus.unwrap_or(u32::MAX));
        let costs: Vec<_> = parts.iter().map(|part| costs(part)).collect();
        let row = |row: &Row| {
            let case = (&*row.entry.name, row.tasks);
            let first = costs[0].get(&case)?;
            let times = costs.iter().map(|costs| Some(first / costs.get(&case)?));
            let times = times.map(|times| Some(format!("{}×", units::decimal(times?, 2))));
            let names = [TableCell::name(&row.entry.name), TableCell::quiet(units::count(row.tasks))];
            let times = times.map(|times| TableCell::figure(times, Emphasis::Plain));
            Some(DocumentRow::of(names.into_iter().chain(times).collect()))
        };
        let cpus = parts.iter().map(|part| match part.cpus {
            Some(cpus) => units::counted(cpus, "CPU"),
            None => "all CPUs".to_owned(),
        });
        let mut columns = vec![Column::words("entry"), Column::figures("tasks")];
        columns.extend(cpus.map(Column::figures));
        let heading = format!("{}: speed-up with CPUs", Series { cpus: None, ..report.series() });
        tables.push(Table::of(columns, heading, parts[0].rows().filter_map(row)));
    }
    tables
}

/// What an operation costs ranked entries, by entry and number of tasks.
fn costs(report: &Report) -> BTreeMap<(&str, u64), f64> {
    let ranked = report.rows().filter(|row| row.ranked);
    ranked.filter_map(|row| Some(((&*row.entry.name, row.tasks), row.median()?))).collect()
}
