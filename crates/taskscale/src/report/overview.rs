//! Entries × workloads: how many times the best of its kind each entry takes.

use std::collections::BTreeMap;

use super::model::{EntryInfo, Report, Row};
use crate::document::first_of;
use crate::record::Series;

/// Multiples of the best from which the shade of a cell becomes darker.
pub const HEAT_STEPS: [f64; 5] = [1.1, 1.5, 2.0, 5.0, 10.0];

/// One value for each entry and workload.
pub struct Overview<'a> {
    /// The series in order, each with the N that is shown.
    pub columns: Vec<(String, u64)>,
    /// Entries with two or more of these series, the cheapest first. By kind, unless ranked together.
    pub lines: Vec<OverviewLine<'a>>,
    /// Names of the entries with a single series, by its position in `columns`.
    pub singles: BTreeMap<usize, Vec<&'a str>>,
}

impl Overview<'_> {
    /// Sentences on entries that are not in the table and on empty cells, with at most `most` names each.
    pub fn remarks(&self, most: usize) -> Vec<String> {
        let name = |nth: usize| self.columns[nth].0.as_str();
        let only = |(nth, entries): (&usize, &Vec<&str>)| {
            format!("Only in {}: {}.", name(*nth), first_of(entries, most))
        };
        let mut remarks: Vec<String> = self.singles.iter().map(only).collect();
        for line in &self.lines {
            let empty = line.factors.iter().enumerate().filter(|(_, factor)| **factor == Factor::Absent);
            let empty: Vec<&str> = empty.map(|(nth, _)| name(nth)).collect();
            // An entry without a reason was not selected.
            if let Some(why) = line.entry.omitted.as_ref().filter(|_| !empty.is_empty()) {
                remarks.push(format!("{} has no {}: {why}.", line.entry.name, empty.join(", ")));
            }
        }
        remarks
    }
}

pub struct OverviewLine<'a> {
    pub entry: &'a EntryInfo,
    pub factors: Vec<Factor>,
}

impl OverviewLine<'_> {
    /// Positions of the columns that have a result.
    fn measured(&self) -> impl Iterator<Item = usize> {
        self.factors.iter().enumerate().filter(|(_, factor)| **factor != Factor::Absent).map(|(nth, _)| nth)
    }
}

#[derive(Debug, Clone, PartialEq)]
pub enum Factor {
    /// The headline as a multiple of the best of the entry's kind.
    Times(f64),
    /// The status, or why it is not ranked.
    Unranked(String),
    /// No result: the entry lacks the workload or was not selected.
    Absent,
}

/// At the N that represents each series. `None` if there are fewer than two workloads to show.
pub fn overview(reports: &[Report]) -> Option<Overview<'_>> {
    overview_at(reports, None)
}

/// At a selected N, where a series has it.
pub fn overview_at(reports: &[Report], selected: Option<u64>) -> Option<Overview<'_>> {
    let mut shown: Vec<&Report> = Vec::new();
    for report in reports {
        // Of several numbers of CPUs, show the largest.
        let alike = |other: &&Report| other.workload == report.workload && other.params == report.params;
        let cpus = |report: &Report| report.cpus.unwrap_or(u32::MAX);
        match shown.iter().position(alike) {
            Some(at) if cpus(shown[at]) < cpus(report) => shown[at] = report,
            Some(_) => {}
            None => shown.push(report),
        }
    }
    if shown.len() < 2 {
        return None;
    }
    let tasks = |report: &&Report| {
        selected.filter(|tasks| report.tasks.contains(tasks)).or_else(|| report.representative_tasks())
    };
    let tasks: Vec<u64> = shown.iter().map(tasks).collect::<Option<_>>()?;
    let mut lines: BTreeMap<&str, OverviewLine> = BTreeMap::new();
    for (nth, (report, tasks)) in shown.iter().zip(&tasks).enumerate() {
        for row in report.rows().filter(|row| row.tasks == *tasks && !row.entry.reference) {
            let line = lines.entry(&row.entry.name).or_insert_with(|| OverviewLine {
                entry: &row.entry,
                factors: vec![Factor::Absent; shown.len()],
            });
            line.factors[nth] = factor(report, row);
        }
    }
    let (mut lines, single): (Vec<_>, Vec<_>) =
        lines.into_values().partition(|line| line.measured().count() > 1);
    let mut singles: BTreeMap<usize, Vec<&str>> = BTreeMap::new();
    for line in &single {
        singles.entry(line.measured().next()?).or_default().push(&line.entry.name);
    }
    let scope = |line: &OverviewLine| shown[0].rank.scope(line.entry.kind);
    lines.sort_by(|a, b| scope(a).cmp(&scope(b)).then(mean(a).total_cmp(&mean(b))));
    let name = |report: &&Report| match shown.iter().all(|other| other.cpus == report.cpus) {
        true => Series { cpus: None, ..report.series() }.to_string(),
        false => report.series().to_string(),
    };
    Some(Overview { columns: shown.iter().map(name).zip(tasks).collect(), lines, singles })
}

fn factor(report: &Report, row: &Row) -> Factor {
    row.times_best.map_or_else(|| Factor::Unranked(row.unranked(report).to_owned()), Factor::Times)
}

/// The logarithm of the geometric mean of its factors, which weighs all workloads equally.
fn mean(line: &OverviewLine) -> f64 {
    let log = |factor: &Factor| if let Factor::Times(times) = factor { Some(times.ln()) } else { None };
    let logs: Vec<f64> = line.factors.iter().filter_map(log).collect();
    if logs.is_empty() { f64::INFINITY } else { logs.iter().sum::<f64>() / logs.len() as f64 }
}
