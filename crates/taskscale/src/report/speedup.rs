//! The speed-up with more CPUs: series of a campaign that differ only in their number.

use std::collections::BTreeMap;

use super::model::Report;
use crate::catalog::Shape;

/// One workload on several numbers of CPUs.
pub struct Speedup {
    /// The part, less its CPUs.
    pub name: String,
    /// Ascending; all CPUs last.
    pub cpus: Vec<Option<u32>>,
    pub lines: Vec<SpeedupLine>,
}

/// One entry at one number of tasks.
pub struct SpeedupLine {
    pub entry: String,
    pub tasks: u64,
    /// How many times as fast as on the fewest CPUs, in the order of the table's.
    pub times: Vec<Option<f64>>,
}

/// A table for each workload of the shape `work` that was run on several numbers of CPUs.
pub fn speedups(reports: &[Report]) -> Vec<Speedup> {
    let mut tables = Vec::new();
    let alike = |a: &Report, b: &Report| a.workload == b.workload && a.params == b.params;
    for (position, report) in reports.iter().enumerate() {
        let seen = reports[..position].iter().any(|before| alike(before, report));
        let mut parts: Vec<&Report> = reports.iter().filter(|other| alike(other, report)).collect();
        if seen || parts.len() < 2 || report.shape != Shape::Work {
            continue;
        }
        parts.sort_by_key(|part| part.cpus.unwrap_or(u32::MAX));
        let costs = |part: &&Report| -> BTreeMap<(String, u64), f64> {
            let rows = part.groups.iter().flat_map(|group| &group.rows).filter(|row| row.ranked);
            rows.filter_map(|row| Some(((row.entry.name.clone(), row.tasks), row.headline?.median))).collect()
        };
        let costs: Vec<_> = parts.iter().map(costs).collect();
        let line = |row: &super::model::Row| {
            let case = (row.entry.name.clone(), row.tasks);
            let first = costs[0].get(&case)?;
            let times = costs.iter().map(|costs| Some(first / costs.get(&case)?)).collect();
            Some(SpeedupLine { entry: case.0, tasks: case.1, times })
        };
        let lines = parts[0].groups.iter().flat_map(|group| &group.rows).filter_map(line).collect();
        let mut part = report.series();
        part.cpus = None;
        let cpus = parts.iter().map(|part| part.cpus).collect();
        tables.push(Speedup { name: part.to_string(), cpus, lines });
    }
    tables
}
