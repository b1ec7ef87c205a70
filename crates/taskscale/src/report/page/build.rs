//! Builds the data of the page from campaigns and their samples.

use std::collections::{BTreeMap, BTreeSet};
use std::mem::take;

use super::super::build::feeding;
use super::super::colour::colour_of;
use super::super::footnotes;
use super::super::model::{Report, Row};
use super::model::{
    PAGE_SCHEMA, PageCampaign, PageData, PageEntry, PageFile, PageRow, PageShortfall, Samples,
};
use super::published::published;
use crate::metrics::{self, MetricDef};
use crate::record::{Campaign, EntryFacts, Sample, Series, Source, Warning, last_attempts};

/// Characters of what a program wrote to standard error that a page carries; the whole of it is in the record.
const STDERR: usize = 600;

impl Default for PageData {
    /// Of no campaign yet.
    fn default() -> PageData {
        PageData {
            schema: PAGE_SCHEMA,
            taskscale: env!("CARGO_PKG_VERSION").to_owned(),
            entries: Vec::new(),
            figures: shown().map(|figure| figure.field).collect(),
            campaigns: Vec::new(),
            published: Vec::new(),
            sources: Vec::new(),
        }
    }
}

impl PageData {
    /// Adds a campaign, each series by itself, under its name, or else its machine and day.
    ///
    /// Old results have no sources of programs. For them `catalog` returns today's sources of a workload and an entry;
    /// they are marked, as they may have changed.
    pub fn add(
        &mut self,
        campaign: &Campaign,
        samples: &[Sample],
        name: Option<&str>,
        catalog: impl Fn(&str, &str) -> Vec<Source>,
    ) {
        let day = || format!("{}, {}", campaign.machine.hostname, campaign.created_at.date());
        let name = name.map_or_else(day, str::to_owned);
        for (campaign, samples) in campaign.parts(samples) {
            let mut report = Report::build(&campaign, &samples).named(&name);
            let part = report.series();
            let positions: BTreeMap<&str, usize> =
                campaign.entries.iter().map(|facts| &*facts.name).zip(0..).collect();
            let notes = footnotes::notes(&report);
            let of_report = take(&mut report.groups).into_iter().flat_map(|group| group.rows);
            let rows = rows(of_report, &positions, &samples, &part);
            let samples = columns(&positions, &samples, &part);
            let of_catalog = |name: &str| catalog(&part.workload, name);
            let entries = campaign.entries.into_iter().map(|facts| self.program(facts, of_catalog)).collect();
            let part = part.to_string();
            self.campaigns.push(PageCampaign { report, part, notes, entries, rows, samples });
        }
        self.published = published(|workload, name| {
            let mut of_workload = self.campaigns.iter().filter(|page| page.report.workload == workload);
            of_workload.any(|page| page.entries.iter().any(|of| self.entries[of.entry].name == name))
        });
    }

    /// What a workload makes of an entry; what is the same for all of them goes where it stands once.
    fn program(&mut self, mut facts: EntryFacts, catalog: impl Fn(&str) -> Vec<Source>) -> PageEntry {
        let recorded = take(&mut facts.sources);
        let sources_recorded = !recorded.is_empty();
        let files = if sources_recorded { recorded } else { catalog(&facts.name) };
        let file = |Source { path, text }| PageFile { path, text: position(&mut self.sources, text) };
        // Why it could not run is the report's to say.
        (facts.workload, facts.program_digest, facts.unavailable) = (None, None, None);
        PageEntry {
            sources: files.into_iter().map(file).collect(),
            colour: colour_of(&facts.runtime),
            sources_recorded,
            build: take(&mut facts.build),
            run: take(&mut facts.run),
            digest: facts.digest.take(),
            entry: position(&mut self.entries, facts),
        }
    }
}

/// Where a value stands in a list that has each once.
fn position<T: PartialEq>(list: &mut Vec<T>, value: T) -> usize {
    list.iter().position(|known| *known == value).unwrap_or_else(|| {
        list.push(value);
        list.len() - 1
    })
}

fn rows(
    of_report: impl Iterator<Item = Row>,
    positions: &BTreeMap<&str, usize>,
    samples: &[&Sample],
    part: &Series,
) -> Vec<PageRow> {
    let mut cells: BTreeMap<(&str, u64), Vec<&Sample>> = BTreeMap::new();
    for sample in last_attempts(samples).into_iter().filter(|sample| sample.is_of(part)) {
        cells.entry((&sample.entry, sample.tasks)).or_default().push(sample);
    }
    let of = |row: Row| {
        let position = *positions.get(&*row.entry.name)?;
        let cell = cells.get(&(&*row.entry.name, row.tasks)).cloned().unwrap_or_default();
        Some(page_row(position, row, &cell))
    };
    of_report.filter_map(of).collect()
}

/// The figures of a row: of the others the page knows more, what a footprint is made of and how phases follow.
fn shown() -> impl Iterator<Item = &'static MetricDef> {
    let all = metrics::ALL.into_iter();
    all.filter(|figure| !figure.per_entry() && ![&metrics::ANON, &metrics::DRAIN].contains(figure))
}

fn page_row(entry: usize, row: Row, cell: &[&Sample]) -> PageRow {
    // Of work, times are of the first run of each pair.
    let fed: Vec<&Sample> = feeding(cell).into_iter().filter(|sample| !sample.is_double()).collect();
    let warnings: BTreeSet<Warning> = cell.iter().flat_map(|sample| &sample.warnings).copied().collect();
    PageRow {
        entry,
        tasks: row.tasks,
        runs: row.runs,
        ok_runs: row.ok_runs,
        ranked: row.ranked,
        short_alive: row.short_alive,
        figures: shown().map(|figure| Some(row.spreads.of(figure)?.into())).collect(),
        threads: row.threads,
        parts: row.parts,
        time: phases(
            &fed,
            |sample| sample.time.wall_s,
            |Sample { time, .. }| [time.launch_s, time.plateau_s, time.drain_s],
        ),
        cpu: phases(
            &fed,
            |sample| sample.cpu.total_s(),
            |Sample { cpu, .. }| [cpu.launch_s, cpu.plateau_s, cpu.drain_s],
        ),
        load_curve: row.load_curve,
        client_limited: row.client_limited,
        shortfalls: row
            .shortfalls
            .iter()
            .map(|failure| PageShortfall {
                status: failure.status,
                runs: failure.runs,
                reason: failure.reason(),
            })
            .collect(),
        warnings: warnings.into_iter().collect(),
        status: row.status,
        memory_sources: row.memory_sources,
    }
}

/// The phases of the run in the middle, by its whole time; the mean of the two middle ones where their number is even.
///
/// Medians of phases do not add up to the median of the whole. The phases of the middle run do.
fn phases(
    fed: &[&Sample],
    whole: fn(&Sample) -> Option<f64>,
    phases: fn(&Sample) -> [Option<f64>; 3],
) -> Option<[f64; 3]> {
    let run = |sample: &&Sample| match phases(sample) {
        [Some(launch), Some(plateau), Some(drain)] => Some((whole(sample)?, [launch, plateau, drain])),
        _ => None,
    };
    let mut runs: Vec<(f64, [f64; 3])> = fed.iter().filter_map(run).collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let upper = runs.get(runs.len() / 2)?.1;
    let lower = runs[(runs.len() - 1) / 2].1;
    Some([0, 1, 2].map(|phase| lower[phase].midpoint(upper[phase])))
}

/// A number of a sample, under its name in the record.
type SampleNumber = (&'static str, fn(&Sample) -> Option<f64>);

macro_rules! of_plateau {
    ($field:ident) => {
        (
            concat!("memory.plateau.", stringify!($field)),
            (|sample| {
                let plateau = sample.memory.plateau.as_ref()?;
                Option::<u64>::from(plateau.$field).map(|bytes| bytes as f64)
            }) as fn(&Sample) -> Option<f64>,
        )
    };
}

const NUMBERS: &[SampleNumber] = &[
    ("alive", |sample| count(sample.alive)),
    ("done", |sample| count(sample.done)),
    ("failed", |sample| count(sample.failed)),
    ("exit_code", |sample| sample.exit_code.map(f64::from)),
    ("signal", |sample| sample.signal.map(f64::from)),
    ("threads", |sample| count(sample.threads)),
    ("processes", |sample| count(sample.processes)),
    ("time.launch_s", |sample| sample.time.launch_s),
    ("time.plateau_s", |sample| sample.time.plateau_s),
    ("time.drain_s", |sample| sample.time.drain_s),
    ("time.wall_s", |sample| sample.time.wall_s),
    ("time.plateau_read_at_s", |sample| sample.time.plateau_read_at_s),
    ("cpu.user_s", |sample| sample.cpu.user_s),
    ("cpu.system_s", |sample| sample.cpu.system_s),
    ("cpu.launch_s", |sample| sample.cpu.launch_s),
    ("cpu.plateau_s", |sample| sample.cpu.plateau_s),
    ("cpu.drain_s", |sample| sample.cpu.drain_s),
    ("work.operations", |sample| count(sample.work.as_ref().map(|work| work.operations))),
    ("work.wall_s", |sample| sample.work.as_ref()?.wall_s),
    ("work.cpu_s", |sample| sample.work.as_ref()?.cpu_s),
    ("memory.peak_bytes", |sample| count(sample.memory.peak_bytes)),
    ("memory.rss_peak_bytes", |sample| count(sample.memory.rss_peak_bytes)),
    ("memory.cap_bytes", |sample| count(sample.memory.cap_bytes)),
    of_plateau!(footprint_bytes),
    of_plateau!(anon_bytes),
    of_plateau!(shmem_bytes),
    of_plateau!(file_bytes),
    of_plateau!(kernel_bytes),
    of_plateau!(kernel_stack_bytes),
    of_plateau!(page_tables_bytes),
    of_plateau!(slab_bytes),
    of_plateau!(sock_bytes),
    of_plateau!(rss_bytes),
    of_plateau!(pss_bytes),
    of_plateau!(swap_bytes),
    of_plateau!(lazy_free_bytes),
    of_plateau!(group_bytes),
];

fn count(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

/// Values of samples, each once.
#[derive(Default)]
struct Distinct<T> {
    positions: BTreeMap<T, u32>,
}

impl<T: Ord> Distinct<T> {
    fn position(&mut self, value: T) -> u32 {
        let next = self.positions.len() as u32;
        *self.positions.entry(value).or_insert(next)
    }

    fn in_order(self) -> Vec<T> {
        let mut values: Vec<(T, u32)> = self.positions.into_iter().collect();
        values.sort_by_key(|(_, position)| *position);
        values.into_iter().map(|(value, _)| value).collect()
    }
}

fn columns(positions: &BTreeMap<&str, usize>, samples: &[&Sample], part: &Series) -> Samples {
    let own: Vec<(u32, &Sample)> = samples
        .iter()
        .filter(|sample| sample.is_of(part))
        .filter_map(|sample| Some((*positions.get(sample.entry.as_str())? as u32, *sample)))
        .collect();
    let (mut texts, mut commands) = (Distinct::default(), Distinct::default());
    let mut columns = Samples {
        count: own.len(),
        entry: own.iter().map(|(entry, _)| *entry).collect(),
        tasks: column(&own, |sample| sample.tasks),
        repetition: column(&own, |sample| sample.repetition),
        attempt: column(&own, |sample| sample.attempt),
        status: column(&own, |sample| sample.status),
        started_at: column(&own, |sample| sample.started_at.unix_s()),
        hold_s: column(&own, |sample| sample.hold_s),
        command: column(&own, |sample| commands.position(sample.command.to_vec())),
        version: column(&own, |sample| sample.version.as_deref().map(|text| texts.position(text.to_owned()))),
        reason: column(&own, |sample| sample.reason.clone().map(|text| texts.position(text))),
        stderr_tail: column(&own, |sample| {
            sample.stderr_tail.as_deref().map(|text| texts.position(tail(text)))
        }),
        metrics: column(&own, |sample| metrics(sample).map(|text| texts.position(text))),
        warnings: column(&own, |sample| sample.warnings.clone()),
        memory_source: column(&own, |sample| sample.memory.source),
        ..Samples::default()
    };
    for (name, number) in NUMBERS {
        let column: Vec<f64> = own.iter().map(|(_, sample)| number(sample).unwrap_or(f64::NAN)).collect();
        if column.iter().any(|value| value.is_finite()) {
            columns.numbers.insert(name, column);
        }
    }
    columns.texts = texts.in_order();
    columns.commands = commands.in_order();
    columns
}

fn column<T>(own: &[(u32, &Sample)], mut of: impl FnMut(&Sample) -> T) -> Vec<T> {
    own.iter().map(|(_, sample)| of(sample)).collect()
}

/// The end of what a program wrote: that is where the error stands.
fn tail(text: &str) -> String {
    let length = text.chars().count();
    match length > STDERR {
        true => format!("…{}", text.chars().skip(length - STDERR).collect::<String>()),
        false => text.to_owned(),
    }
}

/// `rate 2.5 tasks/s, …`.
fn metrics(sample: &Sample) -> Option<String> {
    let metrics: Vec<String> = sample
        .metrics
        .iter()
        .map(|(name, metric)| format!("{name} {} {}", metric.value, metric.unit).trim_end().to_owned())
        .collect();
    (!metrics.is_empty()).then(|| metrics.join(", "))
}
