//! From a campaign and its samples to what the page shows of it.

use std::collections::{BTreeMap, BTreeSet};

use super::super::build::feeding;
use super::super::footnotes;
use super::super::model::{Report, Row};
use super::super::sanitize::command_line;
use super::model::{
    Figure, Figures, PageCampaign, PageDetails, PageEntry, PageFile, PageGrowth, PageRow, PageShortfall,
    PageSource, PageWarning, Parts, Phases, Samples, brief,
};
use crate::figures;
use crate::record::{Campaign, EntryFacts, Part, Sample, Source, Warning, last_attempts};
use crate::stats::Spread;

/// Characters of what a program wrote to standard error that a page carries; the whole of it is in the record.
const STDERR: usize = 600;

impl PageCampaign {
    /// Sums a campaign up, with each of its samples.
    pub fn build(campaign: &Campaign, samples: &[Sample]) -> PageCampaign {
        let report = Report::build(campaign, samples);
        let positions: BTreeMap<&str, usize> = campaign
            .entries
            .iter()
            .enumerate()
            .map(|(position, facts)| (facts.name.as_str(), position))
            .collect();
        let part = report.part();
        let last = last_attempts(samples);
        let rows = report
            .groups
            .iter()
            .flat_map(|group| &group.rows)
            .filter_map(|of_report| {
                let cell: Vec<&Sample> = last
                    .iter()
                    .copied()
                    .filter(|sample| {
                        sample.entry == of_report.entry.name
                            && sample.tasks == of_report.tasks
                            && sample.is_of(&part)
                    })
                    .collect();
                Some(row(*positions.get(of_report.entry.name.as_str())?, of_report, &cell))
            })
            .collect();
        let mut page = PageCampaign {
            label: label(campaign),
            taskscale: campaign.taskscale.clone(),
            created_at: campaign.created_at,
            command: command_line(&campaign.command),
            seed: campaign.seed.to_string(),
            plan_digest: campaign.plan_digest.clone(),
            workload: report.workload.clone(),
            part: part.to_string(),
            shape: report.shape,
            operation: report.operation.clone(),
            tasks: report.tasks.clone(),
            repetitions: report.repetitions,
            hold: report.hold,
            machine: report.machine.clone(),
            runs: report.runs,
            measured_s: brief(report.measured_s),
            unmeasured_runs: report.unmeasured_runs,
            notes: footnotes::notes(&report),
            memory_sources: report
                .memory_sources
                .iter()
                .map(|count| PageSource { source: count.source, runs: count.runs })
                .collect(),
            warnings: report
                .warnings
                .iter()
                .map(|count| PageWarning {
                    warning: count.warning,
                    text: count.text.to_owned(),
                    runs: count.runs,
                })
                .collect(),
            entries: campaign.entries.iter().map(|facts| entry(facts, &report)).collect(),
            rows,
            details: PageDetails { source_texts: Vec::new(), samples: columns(&positions, samples, &part) },
        };
        for (position, facts) in campaign.entries.iter().enumerate() {
            page.add_sources(position, &facts.sources);
        }
        page
    }
}

impl PageCampaign {
    /// Adds the sources of entries that a campaign, made by an older taskscale, did not record: `sources` gives an
    /// entry's files by its full name. They are marked, as they may have changed since.
    pub fn with_sources(mut self, sources: impl Fn(&str) -> Vec<Source>) -> PageCampaign {
        let files: Vec<Vec<Source>> = self
            .entries
            .iter()
            .map(|entry| if entry.sources_recorded { Vec::new() } else { sources(&entry.name) })
            .collect();
        for (position, files) in files.into_iter().enumerate() {
            self.add_sources(position, &files);
        }
        self
    }

    fn add_sources(&mut self, entry: usize, files: &[Source]) {
        let texts = &mut self.details.source_texts;
        for file in files {
            let known = texts.iter().position(|text| *text == file.text);
            let text = known.unwrap_or_else(|| {
                texts.push(file.text.clone());
                texts.len() - 1
            });
            self.entries[entry].sources.push(PageFile { path: file.path.clone(), text });
        }
    }
}

/// The machine and the day.
fn label(campaign: &Campaign) -> String {
    format!("{}, {}", campaign.machine.hostname, campaign.created_at.strftime("%Y-%m-%d"))
}

fn entry(facts: &EntryFacts, report: &Report) -> PageEntry {
    let growth = report.growth.iter().find(|growth| growth.entry.name == facts.name);
    let unavailable = report.unavailable.iter().find(|missing| missing.entry.name == facts.name);
    PageEntry {
        name: facts.name.clone(),
        title: facts.title.clone(),
        runtime: facts.runtime.clone(),
        runtime_title: facts.runtime_title.clone(),
        url: facts.url.clone(),
        kind: facts.kind,
        stackful: facts.kind.stackful(),
        parallel: facts.parallel,
        style: facts.style,
        reference: facts.reference,
        posts: facts.posts,
        unverified: facts.unverified.clone(),
        why: facts.why.clone(),
        notes: facts.notes.clone(),
        version: facts.version.clone(),
        unavailable: unavailable.map(|missing| missing.reason.clone()),
        build: facts.build.iter().map(|command| command_line(command)).collect(),
        run: command_line(&facts.run),
        env: facts.env.clone(),
        digest: facts.digest.clone(),
        sources: Vec::new(),
        sources_recorded: !facts.sources.is_empty(),
        growth: growth.and_then(|growth| {
            Some(PageGrowth {
                base_bytes: brief(growth.base_bytes?),
                base_bytes_interval: growth.base_bytes_interval.map(Into::into),
                bytes_per_task: brief(growth.bytes_per_task?),
                bytes_per_task_interval: growth.bytes_per_task_interval.map(Into::into),
                straight: growth.straight,
                worst_tasks: growth.worst.map(|worst| worst.tasks),
                worst_off: growth.worst.and_then(|worst| worst.off).map(brief),
                tasks: growth.tasks.clone(),
                steps: growth.steps.iter().map(|step| brief(step.bytes_per_task)).collect(),
            })
        }),
    }
}

fn row(entry: usize, of_report: &Row, cell: &[&Sample]) -> PageRow {
    // Of work, figures of memory and of times are of the first run of each pair.
    let fed: Vec<&Sample> = feeding(cell).into_iter().filter(|sample| !sample.is_double()).collect();
    let figure = |figure: &figures::Figure| of_report.spreads.of(figure).map(Figure::from);
    let threads: Vec<f64> = fed.iter().filter_map(|sample| Some(sample.threads? as f64)).collect();
    let warnings: BTreeSet<Warning> = cell.iter().flat_map(|sample| &sample.warnings).copied().collect();
    PageRow {
        entry,
        tasks: of_report.tasks,
        runs: of_report.runs,
        ok_runs: of_report.ok_runs,
        status: of_report.status.clone(),
        ranked: of_report.ranked,
        short_alive: of_report.short_alive,
        memory_sources: of_report.memory_sources.clone(),
        figures: Figures {
            footprint_bytes: figure(&figures::FOOTPRINT),
            kernel_bytes: figure(&figures::KERNEL),
            peak_bytes: figure(&figures::PEAK),
            rss_peak_bytes: figure(&figures::RSS_PEAK),
            launch_s: figure(&figures::LAUNCH),
            wall_s: figure(&figures::WALL),
            cpu_s: figure(&figures::CPU),
            wall_ns_per_op: figure(&figures::WALL_PER_OP),
            cpu_ns_per_op: figure(&figures::CPU_PER_OP),
            ops_per_s: figure(&figures::OPS_PER_S),
            threads: Spread::of(&threads).map(Figure::from),
        },
        parts: middle(&fed, |sample| figures::FOOTPRINT.read(sample), parts, |[a, b]| Parts::mean(a, b)),
        time: middle(&fed, |sample| sample.time.wall_s, time, |[a, b]| Phases::mean(a, b)),
        cpu: middle(&fed, |sample| sample.cpu.total_s(), cpu, |[a, b]| Phases::mean(a, b)),
        shortfalls: of_report
            .shortfalls
            .iter()
            .map(|shortfall| PageShortfall {
                status: shortfall.status,
                runs: shortfall.runs,
                reason: shortfall.reason(),
            })
            .collect(),
        warnings: warnings.into_iter().collect(),
    }
}

/// What the run in the middle is made of, by a figure; the mean of the two middle ones where their number is even.
///
/// Medians of parts do not add up to the median of the whole. The parts of the middle run do.
fn middle<T: Copy>(
    fed: &[&Sample],
    figure: impl Fn(&Sample) -> Option<f64>,
    parts: impl Fn(&Sample) -> Option<T>,
    mean: impl Fn([T; 2]) -> T,
) -> Option<T> {
    let mut runs: Vec<(f64, T)> =
        fed.iter().filter_map(|sample| Some((figure(sample)?, parts(sample)?))).collect();
    runs.sort_by(|a, b| a.0.total_cmp(&b.0));
    let upper = runs.get(runs.len() / 2)?.1;
    Some(if runs.len() % 2 == 1 { upper } else { mean([runs[runs.len() / 2 - 1].1, upper]) })
}

impl Parts {
    fn mean(a: Parts, b: Parts) -> Parts {
        let mean = |of: fn(Parts) -> f64| brief(of(a).midpoint(of(b)));
        Parts {
            anon_bytes: mean(|parts| parts.anon_bytes),
            shmem_bytes: mean(|parts| parts.shmem_bytes),
            file_bytes: mean(|parts| parts.file_bytes),
            kernel_stack_bytes: mean(|parts| parts.kernel_stack_bytes),
            page_tables_bytes: mean(|parts| parts.page_tables_bytes),
            sock_bytes: mean(|parts| parts.sock_bytes),
            kernel_rest_bytes: mean(|parts| parts.kernel_rest_bytes),
        }
    }
}

impl Phases {
    fn of(launch: Option<f64>, plateau: Option<f64>, drain: Option<f64>) -> Option<Phases> {
        Some(Phases { launch_s: brief(launch?), plateau_s: brief(plateau?), drain_s: brief(drain?) })
    }

    fn mean(a: Phases, b: Phases) -> Phases {
        let mean = |of: fn(Phases) -> f64| brief(of(a).midpoint(of(b)));
        Phases {
            launch_s: mean(|phases| phases.launch_s),
            plateau_s: mean(|phases| phases.plateau_s),
            drain_s: mean(|phases| phases.drain_s),
        }
    }
}

fn parts(sample: &Sample) -> Option<Parts> {
    let plateau = sample.memory.plateau.as_ref()?;
    let items = [plateau.kernel_stack_bytes, plateau.page_tables_bytes, plateau.sock_bytes];
    let itemised: u64 = items.iter().flatten().fold(0, |sum, item| sum.saturating_add(*item));
    // Items are read beside the sum, not with it: they may exceed it by a little, and a bar by nothing.
    let share = match plateau.kernel_bytes {
        kernel if itemised > kernel => kernel as f64 / itemised as f64,
        _ => 1.0,
    };
    let item = |item: Option<u64>| (item.unwrap_or(0) as f64 * share).round();
    let [kernel_stack_bytes, page_tables_bytes, sock_bytes] = items.map(item);
    Some(Parts {
        anon_bytes: plateau.anon_bytes as f64,
        shmem_bytes: plateau.shmem_bytes as f64,
        file_bytes: plateau.file_bytes as f64,
        kernel_stack_bytes,
        page_tables_bytes,
        sock_bytes,
        kernel_rest_bytes: plateau.kernel_bytes.saturating_sub(itemised) as f64,
    })
}

fn time(sample: &Sample) -> Option<Phases> {
    Phases::of(sample.time.launch_s, sample.time.plateau_s, sample.time.drain_s)
}

fn cpu(sample: &Sample) -> Option<Phases> {
    Phases::of(sample.cpu.launch_s, sample.cpu.plateau_s, sample.cpu.drain_s)
}

/// A number of a sample, under its name in the record.
type Number = (&'static str, fn(&Sample) -> Option<f64>);

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

const NUMBERS: &[Number] = &[
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

/// The texts of samples, each once.
#[derive(Default)]
struct Texts {
    positions: BTreeMap<String, usize>,
    texts: Vec<String>,
}

impl Texts {
    fn position(&mut self, text: String) -> usize {
        let next = self.texts.len();
        *self.positions.entry(text).or_insert_with_key(|text| {
            self.texts.push(text.clone());
            next
        })
    }
}

fn columns(positions: &BTreeMap<&str, usize>, samples: &[Sample], part: &Part) -> Samples {
    let own: Vec<(usize, &Sample)> = samples
        .iter()
        .filter(|sample| sample.is_of(part))
        .filter_map(|sample| Some((*positions.get(sample.entry.as_str())?, sample)))
        .collect();
    let mut texts = Texts::default();
    let mut columns = Samples { count: own.len(), ..Samples::default() };
    for (entry, sample) in &own {
        columns.entry.push(*entry);
        columns.tasks.push(sample.tasks);
        columns.repetition.push(sample.repetition);
        columns.attempt.push(sample.attempt);
        columns.status.push(sample.status);
        columns.started_at.push(sample.started_at.as_second());
        columns.hold_s.push(sample.hold_s);
        columns.command.push(texts.position(command_line(&sample.command)));
        columns.version.push(sample.version.clone().map(|text| texts.position(text)));
        columns.reason.push(sample.reason.clone().map(|text| texts.position(text)));
        columns.stderr_tail.push(sample.stderr_tail.as_deref().map(|text| texts.position(tail(text))));
        columns.metrics.push(metrics(sample).map(|text| texts.position(text)));
        columns.warnings.push(sample.warnings.clone());
        columns.memory_source.push(sample.memory.source);
    }
    for (name, number) in NUMBERS {
        let column: Vec<f64> =
            own.iter().map(|(_, sample)| number(sample).map_or(f64::NAN, rounded)).collect();
        if column.iter().any(|value| value.is_finite()) {
            columns.numbers.insert(name, column);
        }
    }
    columns.texts = texts.texts;
    columns
}

/// Microseconds; whole numbers stay as they are.
fn rounded(value: f64) -> f64 {
    if value.fract() == 0.0 { value } else { (value * 1e6).round() / 1e6 }
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
