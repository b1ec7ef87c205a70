//! Several results side by side: what differs between them, and their values in one table, without verdicts.

use std::collections::{BTreeMap, BTreeSet};

use super::readings::of_lines;
use crate::catalog::{Shape, reading_order};
use crate::metrics::{self, MetricDef};
use crate::record::Series;
use crate::report::facts::facts;
use crate::report::{EntryInfo, Report, Row, RunConditions, letter};
use crate::stats::{self, CONFIDENCE, Point, Spread, Welch};
use crate::units;

/// A fact of every campaign, in their order. `None` where a campaign does not have it.
pub(super) struct SeveralFact {
    pub(super) name: String,
    pub(super) values: Vec<Option<String>>,
}

/// One metric at one number of tasks, or of whole entries.
pub(super) struct MetricTable {
    /// `10k tasks`, `park, 10k tasks`, or `growth with N` for a metric of whole entries.
    pub(super) heading: String,
    series: Series,
    /// Absent for a metric of whole entries.
    pub(super) tasks: Option<u64>,
    pub(super) metric: &'static MetricDef,
    /// Whether another table has more tasks, so that this one is folded.
    pub(super) is_of_fewer_tasks: bool,
    pub(super) lines: Vec<EntryLine>,
}

pub(super) struct EntryLine {
    pub(super) entry: EntryInfo,
    /// In the order of the campaigns. `None` if the entry is not part of one.
    pub(super) found: Vec<Option<CampaignValue>>,
}

#[derive(Debug, Clone, PartialEq)]
pub(super) enum CampaignValue {
    /// A status in place of a value: no repetition was ok, or memory is nonlinear.
    Fell(String),
    Spread(Spread, Box<RunConditions>),
}

/// The difference of a value from the first campaign's.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Shift {
    pub(super) ratio: f64,
    /// Whether the 95% interval of the ratio includes 1, so that it may be chance.
    pub(super) doubtful: bool,
}

impl EntryLine {
    fn is_shared(&self) -> bool {
        self.found.iter().flatten().count() > 1
    }

    /// `None` if there is nothing to compare: no value, or a base of 0. An error says why two values are not comparable.
    pub(super) fn shift(&self, metric: &'static MetricDef, to: usize) -> Option<Result<Shift, String>> {
        let (CampaignValue::Spread(a, before), CampaignValue::Spread(b, after)) =
            (self.found[0].as_ref()?, self.found[to].as_ref()?)
        else {
            return None;
        };
        let names = [letter(0), letter(to)];
        let why = before.differ_for(after, metric, names.each_ref().map(String::as_str));
        if let Some(why) = why.or_else(|| before.operations_differ_for(after, metric)) {
            return Some(Err(why));
        }
        let (value, base) = (b.geometric_mean(), a.geometric_mean());
        if base <= 0.0 {
            return None;
        }
        let welch = a.logs.zip(b.logs).and_then(|(a, b)| Welch::between(&a, &b));
        let interval = welch.map(|welch| welch.ratio_interval(CONFIDENCE));
        let doubtful = interval.is_none_or(|ratio| ratio.low <= 1.0 && 1.0 <= ratio.high);
        Some(Ok(Shift { ratio: value / base, doubtful }))
    }

    /// The value of the first campaign that has one.
    fn place(&self) -> Option<f64> {
        self.found.iter().flatten().find_map(|found| match found {
            CampaignValue::Spread(spread, _) => Some(spread.geometric_mean()),
            CampaignValue::Fell(_) => None,
        })
    }
}

/// Each report with the index of its campaign. The series of one campaign follow each other.
pub(super) fn placed(reports: &[Report]) -> impl Iterator<Item = (usize, &Report)> + Clone {
    reports.iter().enumerate().scan(0, move |place, (position, report)| {
        *place += usize::from(position > 0 && report.campaign != reports[position - 1].campaign);
        Some((*place, report))
    })
}

/// Number of campaigns that the reports belong to.
pub fn campaigns(reports: &[Report]) -> usize {
    placed(reports).last().map_or(0, |(last, _)| last + 1)
}

/// All facts. Values that differ between the series of a campaign are joined.
pub(super) fn several_facts(reports: &[Report]) -> Vec<SeveralFact> {
    let mut all: Vec<SeveralFact> = Vec::new();
    for (place, report) in placed(reports) {
        for (at, (name, value)) in facts(report).into_iter().enumerate() {
            if at == all.len() {
                all.push(SeveralFact { name: name.to_owned(), values: vec![None; campaigns(reports)] });
            }
            let known = &mut all[at].values[place];
            *known = match (known.take(), value) {
                (Some(before), Some(own)) if !before.split(" and ").any(|said| said == own) => {
                    Some(format!("{before} and {own}"))
                }
                (before, own) => before.or(own),
            };
        }
    }
    all.extend(versions(reports));
    all.retain(|fact| fact.values.iter().any(Option::is_some));
    all
}

/// Versions of the entries that several campaigns have, by runtime. A runtime whose entries have their own
/// versions, for their libraries, has several facts.
fn versions(reports: &[Report]) -> Vec<SeveralFact> {
    let mut by_entry: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
    for (place, report) in placed(reports) {
        for row in report.rows() {
            let values = by_entry.entry(&row.entry.name).or_insert_with(|| vec![None; campaigns(reports)]);
            values[place].clone_from(&row.entry.version);
        }
    }
    let mut facts: Vec<SeveralFact> = Vec::new();
    for (entry, values) in by_entry {
        let name = entry.split('/').next().unwrap_or(entry);
        let shared = values.iter().flatten().count() > 1;
        if shared && !facts.iter().any(|fact| fact.name == name && fact.values == values) {
            facts.push(SeveralFact { name: name.to_owned(), values });
        }
    }
    facts
}

/// The tables of the requested metrics, or of each shape's default ones. They have only entries that two or
/// more campaigns share, or all entries if none is shared.
pub(super) fn tables(reports: &[Report], asked: &[&'static MetricDef]) -> Vec<MetricTable> {
    let usual = || [Shape::Hold, Shape::Work].map(metrics::compared).concat();
    let shows = |metric: &'static MetricDef, shape| match asked {
        [] => metrics::compared(shape).contains(&metric),
        _ => metric.is_of(shape),
    };
    let series: BTreeMap<(usize, Series), Shape> = reports
        .iter()
        .map(|report| ((reading_order(&report.workload), report.series()), report.shape))
        .collect();
    let mut tables = Vec::new();
    for metric in if asked.is_empty() { usual() } else { asked.to_vec() } {
        for ((_, of), _) in series.iter().filter(|(_, shape)| shows(metric, **shape)) {
            let own = || placed(reports).filter(|(_, report)| report.series() == *of);
            for tasks in numbers(own(), metric) {
                let heading = tasks.map_or_else(|| "growth with N".to_owned(), units::tasks);
                let heading = if series.len() == 1 { heading } else { format!("{of}, {heading}") };
                let lines = lines(own(), campaigns(reports), metric, tasks);
                let series = of.clone();
                tables.push(MetricTable { heading, series, tasks, metric, is_of_fewer_tasks: false, lines });
            }
        }
    }
    if tables.iter().any(|table| table.lines.iter().any(EntryLine::is_shared)) {
        tables.iter_mut().for_each(|table| table.lines.retain(EntryLine::is_shared));
    }
    tables.retain(|table| !table.lines.is_empty());
    // Marks all tables of a metric and series except the one with the most tasks.
    for i in 0..tables.len() {
        let most = |other: &MetricTable| other.metric == tables[i].metric && other.series == tables[i].series;
        tables[i].is_of_fewer_tasks = tables[i + 1..].iter().any(most);
    }
    tables
}

/// The numbers of tasks with values of a metric; `None` for one of whole entries.
pub(super) fn numbers<'a>(
    reports: impl Iterator<Item = (usize, &'a Report)>,
    metric: &MetricDef,
) -> BTreeSet<Option<u64>> {
    match metric.per_entry() {
        true => BTreeSet::from([None]),
        false => reports.flat_map(|(_, report)| report.groups.iter().map(|of| Some(of.tasks))).collect(),
    }
}

/// A line for each entry. `reports`: each with the position of its campaign.
pub(super) fn lines<'a>(
    reports: impl Iterator<Item = (usize, &'a Report)> + Clone,
    campaigns: usize,
    metric: &'static MetricDef,
    tasks: Option<u64>,
) -> Vec<EntryLine> {
    let mut lines: Vec<EntryLine> = Vec::new();
    for (place, report) in reports.clone() {
        let found = match tasks {
            Some(tasks) => at(report, metric, tasks),
            None => through_shared_tasks(report, metric, reports.clone()),
        };
        for (entry, found) in found {
            let known = lines.iter().position(|line| line.entry.name == entry.name);
            let known = known.unwrap_or_else(|| {
                lines.push(EntryLine { entry: entry.clone(), found: vec![None; campaigns] });
                lines.len() - 1
            });
            lines[known].found[place] = found;
        }
    }
    // Entries without any value come last.
    lines.sort_by(|a, b| metric.better.order(a.place(), b.place()));
    lines
}

/// What was found of each entry; `None` if it has no value of the metric.
type FoundByEntry<'a> = Vec<(&'a EntryInfo, Option<CampaignValue>)>;

/// The values of a metric at one N, by entry.
fn at<'a>(report: &'a Report, metric: &'static MetricDef, tasks: u64) -> FoundByEntry<'a> {
    let of = |row: &'a Row| {
        let spread = row.spreads.of(metric).filter(|_| row.ok_runs > 0);
        let found = match spread {
            Some(spread) => Some(CampaignValue::Spread(spread, Box::new(row.conditions.clone()))),
            None => (row.ok_runs == 0).then(|| CampaignValue::Fell(row.status.clone())),
        };
        (&row.entry, found)
    };
    let groups = report.groups.iter().filter(|group| group.tasks == tasks);
    groups.flat_map(|group| &group.rows).map(of).collect()
}

/// The values of a metric of whole entries, by entry. Lines are fitted through the numbers of tasks that all campaigns
/// with the entry have: lines through different numbers would not be comparable.
fn through_shared_tasks<'a>(
    report: &'a Report,
    metric: &'static MetricDef,
    reports: impl Iterator<Item = (usize, &'a Report)> + Clone,
) -> FoundByEntry<'a> {
    let found = report.growth.iter().map(|growth| {
        let name = &growth.entry.name;
        let is_shared = |(_, point): &&(u32, Point)| {
            let mut all = reports.clone().filter_map(|(_, other)| other.growth_of(name));
            all.all(|other| other.tasks.contains(&point.tasks))
        };
        let shared: Vec<(u32, Point)> = growth.readings.iter().filter(is_shared).copied().collect();
        let points: Vec<Point> = shared.iter().map(|(_, point)| *point).collect();
        let found = match stats::fit(&points).and_then(|fit| fit.linear()) {
            // A growth that the report withholds is no value here either.
            _ if growth.bytes_per_task.is_none() => None,
            Some(false) => Some(CampaignValue::Fell("not linear".to_owned())),
            _ => Spread::of(&of_lines(metric, shared))
                .map(|spread| CampaignValue::Spread(spread, Box::new(growth.conditions.clone()))),
        };
        (&growth.entry, found)
    });
    found.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::MemorySource;
    use crate::report::Report;
    use crate::report::fixture::everything;

    #[test]
    fn overlapping_or_single_run_changes_are_doubtful() {
        let (campaign, samples) = everything();
        let mut run = samples[0].clone();
        let mut found = |values: &[f64], source| {
            run.memory.source = source;
            Some(CampaignValue::Spread(Spread::of(values).unwrap(), Box::new(RunConditions::of(&[&run]))))
        };
        let entry = Report::build(&campaign, &samples).groups[0].rows[0].entry.clone();
        let line = EntryLine {
            entry,
            found: vec![
                found(&[98.0, 100.0, 103.0], MemorySource::CgroupV2),
                // Its range overlaps that of the first.
                found(&[102.0, 102.0, 104.0], MemorySource::CgroupV2),
                found(&[49.0, 50.0, 51.0], MemorySource::CgroupV2),
                found(&[102.0], MemorySource::Proc),
                Some(CampaignValue::Fell("limit".to_owned())),
            ],
        };
        let rounded = |shift: Shift| ((shift.ratio * 100.0).round(), shift.doubtful);
        let shift = |metric, to| line.shift(metric, to)?.ok().map(rounded);
        assert_eq!(shift(&metrics::FOOTPRINT, 1), Some((102.0, true)));
        assert_eq!(shift(&metrics::FOOTPRINT, 2), Some((50.0, false)));
        assert_eq!(shift(&metrics::FOOTPRINT, 0), Some((100.0, true)));
        assert_eq!(shift(&metrics::FOOTPRINT, 3), None, "bytes of two sources");
        assert_eq!(shift(&metrics::CPU, 3), Some((102.0, true)), "one run may be anything");
        assert_eq!(shift(&metrics::CPU, 4), None);
    }
}
