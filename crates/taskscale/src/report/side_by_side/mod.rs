//! Several campaigns side by side: what differs between them, and their values in one table.
//!
//! Shows what was measured without a verdict; `compare` gives verdicts.

mod document;

pub use document::document;

use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

use super::estimate::ValueEstimate;
use super::footnotes;
use super::model::{EntryInfo, Report, Row};
use crate::catalog::Shape;
use crate::metrics::{self, MetricDef};
use crate::record::{Hold, MemorySource, Series};
use crate::stats::{CONFIDENCE, Welch};
use crate::units;

/// The metrics that are shown by default.
pub const DEFAULT_METRICS: [&MetricDef; 4] =
    [&metrics::FOOTPRINT, &metrics::BYTES_PER_TASK, &metrics::WALL_PER_OP, &metrics::CPU_PER_OP];

/// A fact of every campaign, in their order. `None` where a campaign does not have it.
struct Fact {
    name: String,
    values: Vec<Option<String>>,
}

impl Fact {
    fn differs(&self) -> bool {
        self.values.iter().any(|value| *value != self.values[0])
    }
}

/// One metric at one number of tasks, or of whole entries.
struct MetricTable {
    /// `10k tasks`, `park, 10k tasks`, or the metric's name for a metric of whole entries.
    heading: String,
    part: Series,
    /// Absent for a metric of whole entries.
    tasks: Option<u64>,
    metric: &'static MetricDef,
    /// Whether there is a table of more tasks, which says more.
    is_of_fewer_tasks: bool,
    lines: Vec<EntryLine>,
}

struct EntryLine {
    entry: EntryInfo,
    /// In the order of the campaigns.
    found: Vec<CampaignValue>,
}

/// What a campaign has to say of one figure.
#[derive(Debug, Clone, PartialEq)]
enum CampaignValue {
    /// Not part of this campaign.
    Absent,
    /// A status in place of a value: no repetition was ok, or memory is nonlinear.
    Fell(String),
    Estimate {
        estimate: ValueEstimate,
        sources: Vec<MemorySource>,
    },
}

impl CampaignValue {
    fn estimate(&self) -> Option<ValueEstimate> {
        match self {
            CampaignValue::Estimate { estimate, .. } => Some(*estimate),
            _ => None,
        }
    }
}

/// The difference of a figure from the first campaign's.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Shift {
    /// As a share of the first: 0.04 is 4% more.
    share: f64,
    /// Whether the 95% interval of the ratio includes 1, so that it may be chance.
    doubtful: bool,
}

/// In place of the slope of nonlinear memory.
const NO_LINE: &str = "not linear";

/// Beside a change that may be chance.
const DOUBTFUL: &str = "~";

impl Shift {
    /// `None` where there is nothing to compare: no figure, a base of 0, or memory measured in other ways.
    fn between(metric: &'static MetricDef, first: &CampaignValue, other: &CampaignValue) -> Option<Shift> {
        let (
            CampaignValue::Estimate { estimate: a, sources: from },
            CampaignValue::Estimate { estimate: b, sources: to },
        ) = (first, other)
        else {
            return None;
        };
        if a.value <= 0.0 || (metric.source_dependent && from != to) {
            return None;
        }
        let welch = a.logs.zip(b.logs).and_then(|(a, b)| Welch::between(&a, &b));
        let doubtful = welch.is_some_and(|welch| {
            let ratio = welch.ratio_interval(CONFIDENCE);
            ratio.low <= 1.0 && 1.0 <= ratio.high
        });
        Some(Shift { share: b.value / a.value - 1.0, doubtful })
    }

    /// `+4.1%`.
    fn show(self) -> String {
        let percent = units::decimal(self.share * 100.0, 1);
        let sign = if self.share > 0.0 && percent != "0.0" { "+" } else { "" };
        format!("{sign}{percent}%")
    }
}

/// The campaign's letter: A to Z, then AA and so on.
fn letter(mut i: usize) -> String {
    let mut letters = Vec::new();
    loop {
        letters.push(b'A' + (i % 26) as u8);
        if i < 26 {
            break;
        }
        i = i / 26 - 1;
    }
    letters.iter().rev().map(|&byte| char::from(byte)).collect()
}

/// The place of the campaign of each report: parts of one campaign follow each other, and share its name.
fn places(reports: &[Report]) -> Vec<usize> {
    let mut place = 0;
    let next = |position: usize| {
        place += usize::from(position > 0 && reports[position].campaign != reports[position - 1].campaign);
        place
    };
    (0..reports.len()).map(next).collect()
}

/// Number of campaigns that the reports belong to.
pub fn campaigns(reports: &[Report]) -> usize {
    places(reports).last().map_or(0, |last| last + 1)
}

fn facts(reports: &[Report]) -> Vec<Fact> {
    let places = places(reports);
    // Of a campaign all parts say the same, but for what they are of.
    let of = |name: &str, value: &dyn Fn(&Report) -> Option<String>| {
        let mut values: Vec<Option<String>> = vec![None; campaigns(reports)];
        for (report, place) in reports.iter().zip(&places) {
            values[*place] = match (values[*place].take(), value(report)) {
                (Some(before), Some(own)) if !before.split(" and ").any(|said| said == own) => {
                    Some(format!("{before} and {own}"))
                }
                (before, own) => before.or(own),
            };
        }
        Fact { name: name.to_owned(), values }
    };
    let mut facts = vec![
        of("results", &|report| Some(report.campaign.clone())),
        of("measured", &|report| {
            Some(format!("{} {} UTC", report.created_at.date(), report.created_at.time_of_day()))
        }),
        of("measured by", &|report| Some(report.by?.name().to_owned())),
        of("host", &|report| Some(report.machine.hostname.clone())),
        of("CPU", &|report| {
            Some(format!("{}, {}", report.machine.cpu, units::counted(report.machine.cpus, "CPU")))
        }),
        of("memory", &|report| Some(units::bytes(report.machine.memory_bytes))),
        of("swap", &|report| Some(units::bytes(report.machine.swap_bytes))),
        of("OS", &|report| Some(report.machine.os.clone())),
        of("kernel", &|report| {
            Some(format!("Linux {} {}", report.machine.kernel, report.machine.architecture))
        }),
        of("huge pages", &|report| report.machine.transparent_huge_pages.clone()),
        of("CPU governor", &|report| report.machine.cpu_governor.clone()),
        of("memory by", &|report| {
            let sources: Vec<&str> = report.memory_sources.iter().map(|count| count.source.name()).collect();
            (!sources.is_empty()).then(|| sources.join(", "))
        }),
        of("taskscale", &|report| Some(report.taskscale.clone())),
        of("workload", &|report| Some(report.series().to_string())),
        of("wait", &|report| {
            Some(match report.hold {
                Hold::Chosen { plateau_s } => format!("chosen for a plateau of {plateau_s} s"),
                Hold::Fixed { seconds } => format!("{seconds} s"),
            })
        }),
        of("repetitions", &|report| Some(report.repetitions.to_string())),
        of("warnings", &|report| {
            let warnings = &report.machine.warnings;
            (!warnings.is_empty()).then(|| warnings.join("; "))
        }),
    ];
    facts.extend(versions(reports));
    facts.retain(|fact| fact.values.iter().any(Option::is_some));
    facts
}

/// Versions of the entries that several campaigns have, by runtime. A runtime whose entries have versions of their own,
/// for their libraries, has several.
fn versions(reports: &[Report]) -> Vec<Fact> {
    let mut by_entry: BTreeMap<&str, Vec<Option<String>>> = BTreeMap::new();
    for (report, i) in reports.iter().zip(places(reports)) {
        for entry in entries(report) {
            let values = by_entry.entry(&entry.name).or_insert_with(|| vec![None; campaigns(reports)]);
            values[i].clone_from(&entry.version);
        }
    }
    let mut facts: Vec<Fact> = Vec::new();
    for (entry, values) in by_entry {
        let name = entry.split('/').next().unwrap_or(entry);
        let shared = values.iter().flatten().count() > 1;
        if shared && !facts.iter().any(|fact| fact.name == name && fact.values == values) {
            facts.push(Fact { name: name.to_owned(), values });
        }
    }
    facts
}

/// The entries with rows, each as often as it has one.
fn entries(report: &Report) -> impl Iterator<Item = &EntryInfo> {
    report.groups.iter().flat_map(|group| &group.rows).map(|row| &row.entry)
}

/// The tables of the metrics, with only what two campaigns or more have; everything where they have nothing in common.
fn tables(reports: &[Report], metrics: &[&'static MetricDef]) -> Vec<MetricTable> {
    let mut tables = all_tables(reports, metrics);
    let shared =
        |line: &EntryLine| line.found.iter().filter(|found| **found != CampaignValue::Absent).count() > 1;
    if tables.iter().any(|table| table.lines.iter().any(shared)) {
        for table in &mut tables {
            table.lines.retain(shared);
        }
        tables.retain(|table| !table.lines.is_empty());
    }
    // The most tasks of those that are left, of each metric and part.
    for i in 0..tables.len() {
        let most = |other: &MetricTable| other.metric == tables[i].metric && other.part == tables[i].part;
        tables[i].is_of_fewer_tasks = tables[i + 1..].iter().any(most);
    }
    tables
}

/// What one campaign alone has, which is not shown beside others: one sentence for each campaign.
fn alone(reports: &[Report], tables: &[MetricTable]) -> Vec<String> {
    let shown: BTreeSet<&str> =
        tables.iter().flat_map(|table| &table.lines).map(|line| line.entry.name.as_str()).collect();
    let numbers: BTreeSet<u64> = tables.iter().filter_map(|table| table.tasks).collect();
    let own = reports.iter().zip(places(reports)).filter_map(|(report, i)| {
        let mut names: Vec<String> = Vec::new();
        for entry in entries(report).filter(|entry| !shown.contains(entry.name.as_str())) {
            if !names.contains(&entry.name) {
                names.push(entry.name.clone());
            }
        }
        let tasks = report.groups.iter().map(|group| group.tasks);
        let tasks = tasks.filter(|tasks| !numbers.is_empty() && !numbers.contains(tasks));
        let tasks: Vec<String> = tasks.map(units::count).collect();
        let mut parts = Vec::new();
        if !names.is_empty() {
            parts.push(footnotes::named(&names));
        }
        if !tasks.is_empty() {
            parts.push(format!("N = {}", tasks.join(", ")));
        }
        (!parts.is_empty()).then(|| format!("Only in {}, so not shown: {}.", letter(i), parts.join("; ")))
    });
    own.collect()
}

/// The tables of the metrics, each by part and number of tasks where it has one.
fn all_tables(reports: &[Report], metrics: &[&'static MetricDef]) -> Vec<MetricTable> {
    let parts: BTreeMap<Series, Shape> =
        reports.iter().map(|report| (report.series(), report.shape)).collect();
    let mut tables = Vec::new();
    for &metric in metrics {
        for (part, _) in parts.iter().filter(|(_, shape)| metric.is_of(**shape)) {
            let with_workload = |heading: String| match parts.len() {
                1 => heading,
                _ => format!("{part}, {heading}"),
            };
            let numbers: Vec<Option<u64>> = if metric.per_entry() {
                vec![None]
            } else {
                let of_part = reports.iter().filter(|report| report.series() == *part);
                let all: BTreeSet<u64> =
                    of_part.flat_map(|report| report.groups.iter().map(|group| group.tasks)).collect();
                all.into_iter().map(Some).collect()
            };
            for tasks in numbers {
                let lines = lines(reports, metric, part, tasks);
                let heading = match tasks {
                    Some(tasks) => units::tasks(tasks),
                    None => "growth with N".to_owned(),
                };
                if !lines.is_empty() {
                    tables.push(MetricTable {
                        heading: with_workload(heading),
                        part: part.clone(),
                        tasks,
                        metric,
                        is_of_fewer_tasks: false,
                        lines,
                    });
                }
            }
        }
    }
    tables
}

fn lines(
    reports: &[Report],
    metric: &'static MetricDef,
    part: &Series,
    tasks: Option<u64>,
) -> Vec<EntryLine> {
    let mut lines: Vec<EntryLine> = Vec::new();
    let places = reports.iter().zip(places(reports));
    for (report, i) in places.filter(|(report, _)| report.series() == *part) {
        for (entry, found) in found_by_entry(report, metric, tasks) {
            let line = match lines.iter_mut().position(|line| line.entry.name == entry.name) {
                Some(at) => &mut lines[at],
                None => {
                    let found = vec![CampaignValue::Absent; campaigns(reports)];
                    lines.push(EntryLine { entry: entry.clone(), found });
                    let last = lines.len() - 1;
                    &mut lines[last]
                }
            };
            line.found[i] = found;
        }
    }
    // By the first campaign that has a figure; what has none anywhere comes last.
    let place =
        |line: &EntryLine| line.found.iter().find_map(CampaignValue::estimate).map(|estimate| estimate.value);
    lines.sort_by(|a, b| match (place(a), place(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        (Some(_), None) => Ordering::Less,
        (None, Some(_)) => Ordering::Greater,
        (None, None) => Ordering::Equal,
    });
    lines
}

/// What one campaign has of a metric, by entry.
fn found_by_entry<'a>(
    report: &'a Report,
    metric: &'static MetricDef,
    tasks: Option<u64>,
) -> Vec<(&'a EntryInfo, CampaignValue)> {
    let Some(tasks) = tasks else {
        let figures = report.growth.iter().filter_map(|growth| {
            let estimate = ValueEstimate::in_growth(metric, growth)?;
            if growth.is_nonlinear() {
                return Some((&growth.entry, CampaignValue::Fell(NO_LINE.to_owned())));
            }
            let rows = report.groups.iter().flat_map(|group| &group.rows);
            let own = rows.filter(|row| row.entry.name == growth.entry.name && row.ok_runs > 0);
            let sources: BTreeSet<MemorySource> =
                own.flat_map(|row| row.memory_sources.iter().copied()).collect();
            Some((
                &growth.entry,
                CampaignValue::Estimate { estimate, sources: sources.into_iter().collect() },
            ))
        });
        return figures.collect();
    };
    let rows = report.groups.iter().filter(|group| group.tasks == tasks).flat_map(|group| &group.rows);
    rows.map(|row| (&row.entry, found_in(row, metric))).collect()
}

fn found_in(row: &Row, metric: &'static MetricDef) -> CampaignValue {
    match ValueEstimate::in_row(metric, row).filter(|_| row.ok_runs > 0) {
        Some(estimate) => CampaignValue::Estimate { estimate, sources: row.memory_sources.clone() },
        None if row.ok_runs > 0 => CampaignValue::Absent,
        None => CampaignValue::Fell(row.status.clone()),
    }
}

/// What a reader must know to read the tables right.
fn notes_of(tables: &[MetricTable], reports: &[Report]) -> Vec<String> {
    let entries = tables.iter().flat_map(|table| &table.lines).map(|line| &line.entry);
    let mut notes = alone(reports, tables);
    notes.extend(footnotes::marks(entries, std::iter::empty()));
    let shifts = || {
        let lines = tables.iter().flat_map(|table| table.lines.iter().map(move |line| (table.metric, line)));
        lines.flat_map(|(metric, line)| {
            line.found
                .iter()
                .skip(1)
                .map(move |other| (Shift::between(metric, &line.found[0], other), line, other))
        })
    };
    if shifts().any(|(shift, ..)| shift.is_some_and(|shift| shift.doubtful)) {
        notes.push(format!(
            "{DOUBTFUL} the 95% interval of the ratio includes 1: the difference may be chance."
        ));
    }
    if shifts().any(|(shift, line, other)| {
        shift.is_none() && other.estimate().is_some() && line.found[0].estimate().is_some()
    }) {
        notes.push("Memory from different sources (memory by) is not compared.".to_owned());
    }
    if tables.iter().any(|table| {
        table.lines.iter().any(|line| line.found.iter().any(|found| matches!(found, CampaignValue::Fell(_))))
    }) {
        notes.push(
            "A status in place of a value: no run was ok. The report of that folder alone shows why."
                .to_owned(),
        );
    }
    if reports.iter().any(|report| report.repetitions > 1) {
        notes.push("Values are medians of the repetitions that were ok.".to_owned());
    }
    let places = reports.iter().zip(places(reports));
    for (report, i) in places.filter(|(report, _)| report.unmeasured_runs > 0) {
        let runs = units::counted(report.unmeasured_runs, "run");
        notes.push(format!("{} is incomplete: {runs} of its plan not measured yet.", letter(i)));
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::Spread;

    #[test]
    fn letters_go_on_after_z() {
        assert_eq!([0, 1, 25, 26, 27, 701, 702].map(letter), ["A", "B", "Z", "AA", "AB", "ZZ", "AAA"]);
    }

    #[test]
    fn a_change_is_told_with_its_doubt() {
        let found = |values: &[f64], source| CampaignValue::Estimate {
            estimate: ValueEstimate::from(Spread::of(values).unwrap()),
            sources: vec![source],
        };
        let a = found(&[98.0, 100.0, 103.0], MemorySource::CgroupV2);
        // Its range reaches into that of the first.
        let near = found(&[102.0, 102.0, 104.0], MemorySource::CgroupV2);
        let far = found(&[49.0, 50.0, 51.0], MemorySource::CgroupV2);
        let other = found(&[102.0], MemorySource::Proc);
        let shown = |metric, b: &CampaignValue| {
            Shift::between(metric, &a, b).map(|shift| format!("{}, {}", shift.show(), shift.doubtful))
        };
        assert_eq!(shown(&metrics::FOOTPRINT, &near).as_deref(), Some("+2.0%, true"));
        assert_eq!(shown(&metrics::FOOTPRINT, &far).as_deref(), Some("-50.0%, false"));
        assert_eq!(shown(&metrics::FOOTPRINT, &a).as_deref(), Some("0.0%, true"));
        assert_eq!(shown(&metrics::FOOTPRINT, &other), None, "bytes of two sources");
        assert_eq!(shown(&metrics::CPU, &other).as_deref(), Some("+2.0%, false"));
        assert_eq!(shown(&metrics::CPU, &CampaignValue::Fell("limit".to_owned())), None);
    }
}
