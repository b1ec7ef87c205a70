//! The answers of limit searches, as tables and JSON show them.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::boundary_search::Bracket;
use super::confirm::SearchStatus;
use super::outcome::{Cause, ClassifiedRun, Outcome, Purpose};
use super::rate;
use super::search::{SearchState, controlled, need, replay};
use super::search_spec::{Find, SearchSpec, TrialPoint};
use crate::catalog::{Kind, Shape};
use crate::metrics::{CPU, CPU_PER_MESSAGE, DRAIN, LATENCY_P50, LATENCY_P99, LAUNCH, MetricDef, PEAK, WALL};
use crate::record::{Campaign, EntryFacts, Machine, MemorySource, OpenLoad, Sample, Status, Warning};
use crate::stats::{Point, Spread, fit, median};
use crate::units;

/// Schema version of a search's JSON report.
pub const LIMIT_SCHEMA: u32 = 1;

/// All answers of a results folder.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LimitReport {
    pub schema: u32,
    pub taskscale: String,
    pub created_at: String,
    pub command: Vec<String>,
    pub machine: Machine,
    pub workload: String,
    /// The workload's shape, `hold` if absent.
    #[serde(skip_serializing_if = "Shape::is_hold")]
    pub shape: Shape,
    #[serde(rename = "question")]
    pub search_spec: SearchSpec,
    pub memory_sources: BTreeSet<MemorySource>,
    /// In the order of the campaign.
    pub answers: Vec<Answer>,
    /// Caveats on the answers.
    pub notes: Vec<String>,
}

/// The answer for one entry.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Answer {
    pub entry: String,
    pub kind: Kind,
    pub version: Option<String>,
    pub state: SearchStatus,
    /// Tasks that pass in `memory_bytes`: the most found, or the requested number. Absent until all confirming runs
    /// passed.
    pub tasks: Option<u64>,
    /// Memory in which `tasks` pass, in bytes: the given amount, or the least found. Absent likewise.
    pub memory_bytes: Option<u64>,
    /// The highest rate found that passes over `tasks` connections, in messages per second. Only in searches
    /// for it. Absent likewise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u64>,
    /// The confirming runs of the answer, or those of the last candidate.
    pub tried: Option<ConfirmingRuns>,
    /// The last run that confirms the answer.
    pub holds: Option<ShownRun>,
    /// The failed run nearest to the answer.
    pub fails: Option<ShownRun>,
    /// The farthest run that passed at or beyond the failed one: the boundary is not sharp.
    pub sometimes: Option<ShownRun>,
    /// Distance from the answer to the failed run, as a share of the answer.
    pub width: Option<f64>,
    /// What limits the answer, in words.
    pub limited_by: Option<String>,
    /// Whether memory limits the answer.
    pub by_memory: Option<bool>,
    /// Memory ÷ tasks at the answer, in bytes, including a share of the fixed cost.
    pub memory_per_task: Option<f64>,
    /// The slope of the footprint over N, in bytes per task. Only in searches for the most tasks.
    pub bytes_per_task: Option<f64>,
    /// Latency and CPU time at the answer. Only in searches for the highest rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at_rate: Option<AtRate>,
    /// Number of runs, without the warm-up.
    pub runs: usize,
    /// Number of runs that `most_runs` bounds: those of the search, with pilots and repeated attempts, and failed
    /// confirming runs.
    pub runs_of_search: usize,
    /// CPU time by memory, ascending. Only in searches for the least memory.
    pub curve: Vec<CurvePoint>,
    /// Why the entry could not run, if so.
    pub unavailable: Option<String>,
    /// Every run in order.
    pub probes: Vec<ShownRun>,
}

/// The confirming runs of one value. The run that led to the value does not count, as it was selected because it
/// passed.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct ConfirmingRuns {
    #[serde(flatten)]
    pub trial_point: TrialPoint,
    pub held: usize,
    pub runs: usize,
}

/// One run, as it is shown.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ShownRun {
    #[serde(flatten)]
    pub trial_point: TrialPoint,
    pub purpose: Purpose,
    pub holds: bool,
    /// Why the run failed.
    pub cause: Option<Cause>,
    pub reason: Option<String>,
    pub status: Status,
    pub footprint_bytes: Option<u64>,
    pub peak_bytes: Option<u64>,
    pub launch_s: Option<f64>,
    pub drain_s: Option<f64>,
    pub wall_s: Option<f64>,
    pub cpu_s: Option<f64>,
    /// What the clients measured. Only in searches for the highest rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoad>,
}

/// Medians of the confirming runs of a rate.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct AtRate {
    pub latency_p50_us: Option<f64>,
    pub latency_p99_us: Option<f64>,
    /// CPU time of the server per message, in microseconds.
    pub cpu_us_per_message: Option<f64>,
}

/// The runs with one memory limit.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CurvePoint {
    pub memory_bytes: u64,
    /// Whether memory was unlimited (all that is available).
    pub roomy: bool,
    pub runs: usize,
    pub held: usize,
    /// Medians of the runs that passed.
    pub cpu_s: Option<f64>,
    pub launch_s: Option<f64>,
    pub drain_s: Option<f64>,
    pub wall_s: Option<f64>,
    pub peak_bytes: Option<f64>,
    /// CPU time ÷ CPU time with unlimited memory.
    pub times_roomy: Option<f64>,
    /// Least and greatest ratio over all pairs of runs. Absent if either side is a single run.
    pub times_roomy_range: Option<[f64; 2]>,
    /// Why runs failed: the last reason.
    pub reason: Option<String>,
}

impl Answer {
    /// The confirmed value.
    pub fn trial_point(&self) -> Option<TrialPoint> {
        let (tasks, cap_bytes) = self.tasks.zip(self.memory_bytes)?;
        Some(TrialPoint { tasks, cap_bytes, rate_per_s: self.rate_per_s })
    }
}

impl LimitReport {
    pub fn build(campaign: &Campaign, search_spec: &SearchSpec, samples: &[Sample]) -> LimitReport {
        let of = |facts: &EntryFacts| {
            let own: Vec<Sample> = samples.iter().filter(|s| *s.entry == facts.name).cloned().collect();
            answer(search_spec, facts, &own)
        };
        LimitReport {
            schema: LIMIT_SCHEMA,
            taskscale: campaign.taskscale.clone(),
            created_at: campaign.created_at.date(),
            command: campaign.command.clone(),
            machine: campaign.machine.clone(),
            workload: campaign.plan.series().to_string(),
            shape: campaign.plan.shape,
            search_spec: search_spec.clone(),
            memory_sources: samples.iter().map(|sample| sample.memory.source).collect(),
            answers: campaign.entries.iter().map(of).collect(),
            notes: notes(samples),
        }
    }

    /// Whether an entry that could run has no answer, or a less precise one than requested.
    pub fn is_incomplete(&self) -> bool {
        self.answers.iter().any(|answer| {
            answer.unavailable.is_none()
                && matches!(answer.state, SearchStatus::Unfinished | SearchStatus::Undecided)
        })
    }
}

fn notes(samples: &[Sample]) -> Vec<String> {
    let warnings = [
        Warning::MachineNotLocked,
        Warning::MachineBusy,
        Warning::Swapped,
        Warning::PlateauNotQuiet,
        Warning::PlateauGrew,
    ];
    let note = |warning: Warning| {
        let count = samples.iter().filter(|sample| sample.warnings.contains(&warning)).count();
        let runs = units::counted(samples.len(), "run");
        (count > 0).then(|| format!("{} ({count} of {runs}).", warning.text()))
    };
    warnings.into_iter().filter_map(note).collect()
}

pub(super) fn answer(search_spec: &SearchSpec, facts: &EntryFacts, samples: &[Sample]) -> Answer {
    let search = replay(search_spec, facts.kind, samples);
    let boundary = search.boundary;
    let value = |run: &ClassifiedRun| search_spec.find.value(run.trial_point);
    let last = |wanted: Option<u64>, holds: bool| {
        search.seen.iter().rev().find(|run| {
            Some(value(run)) == wanted
                && run.purpose != Purpose::Control
                && if holds { run.outcome == Outcome::Passes } else { run.outcome.cause().is_some() }
        })
    };
    let failed = last(boundary.failing, false);
    let confirmed = boundary.confirmed.map(|value| search_spec.trial_point(value));
    let limit = failed.and_then(|failed| limited_by(search_spec, &search, failed));
    let (limited_by, by_memory) = limit.unzip();
    let ends = boundary.confirmed.zip(boundary.failing);
    // In a search for a rate, memory is unlimited.
    let scarce = confirmed.filter(|trial_point| trial_point.rate_per_s.is_none());
    let per_task = scarce.map(|trial_point| trial_point.cap_bytes as f64 / trial_point.tasks as f64);
    Answer {
        entry: facts.name.clone(),
        kind: facts.kind,
        version: facts.version.clone(),
        state: search.state,
        tasks: confirmed.map(|trial_point| trial_point.tasks),
        memory_bytes: confirmed.map(|trial_point| trial_point.cap_bytes),
        rate_per_s: confirmed.and_then(|trial_point| trial_point.rate_per_s),
        tried: search.tried.map(|(value, tally)| ConfirmingRuns {
            trial_point: search_spec.trial_point(value),
            held: tally.passed,
            runs: tally.probes,
        }),
        holds: last(boundary.confirmed, true).map(shown),
        fails: failed.map(shown),
        sometimes: last(boundary.sometimes, true).map(shown),
        width: ends.map(|(passing, failing)| Bracket { passing, failing }.width()),
        limited_by,
        by_memory: by_memory.flatten(),
        memory_per_task: per_task,
        bytes_per_task: slope(&search).filter(|_| matches!(search_spec.find, Find::MostTasks { .. })),
        at_rate: confirmed.and_then(|at| at.rate_per_s).map(|rate| at_rate(&search.seen, rate)),
        runs: samples.len(),
        runs_of_search: search.spent,
        curve: curve(search_spec, &search),
        unavailable: facts.unavailable.clone(),
        probes: search.seen.iter().map(shown).collect(),
    }
}

fn shown(run: &ClassifiedRun) -> ShownRun {
    let ClassifiedRun { sample, trial_point, purpose, .. } = *run;
    let (cause, reason) = match &run.outcome {
        Outcome::Fails(cause, reason) => (Some(*cause), Some(reason.clone())),
        Outcome::Inconclusive(_, why) => (None, Some(format!("inconclusive: {why}"))),
        Outcome::Unsettled => (None, Some("the wait was too short; repeated with a longer one".to_owned())),
        Outcome::Passes => (None, None),
    };
    ShownRun {
        trial_point,
        purpose,
        holds: run.outcome == Outcome::Passes,
        cause,
        reason,
        status: sample.status,
        footprint_bytes: sample.memory.plateau.as_ref().map(|plateau| plateau.footprint_bytes),
        peak_bytes: sample.memory.peak_bytes,
        launch_s: sample.time.launch_s,
        drain_s: sample.time.drain_s,
        wall_s: sample.time.wall_s,
        cpu_s: sample.cpu.total_s(),
        open: trial_point.rate_per_s.and_then(|_| rate::open(sample).cloned()),
    }
}

fn at_rate(seen: &[ClassifiedRun], rate: u64) -> AtRate {
    let of_rate = seen.iter().filter(|run| run.trial_point.rate_per_s == Some(rate));
    let confirming = of_rate.filter(|run| run.purpose == Purpose::Confirm && run.outcome == Outcome::Passes);
    let samples: Vec<&Sample> = confirming.map(|run| run.sample).collect();
    let middle = |of: &MetricDef| median(&of.values(&samples));
    AtRate {
        latency_p50_us: middle(&LATENCY_P50),
        latency_p99_us: middle(&LATENCY_P99),
        cpu_us_per_message: middle(&CPU_PER_MESSAGE),
    }
}

/// What limits the answer, in a few words, and whether that is memory.
fn limited_by(
    search_spec: &SearchSpec,
    search: &SearchState,
    failed: &ClassifiedRun,
) -> Option<(String, Option<bool>)> {
    let cause = failed.outcome.cause()?;
    let by_memory = cause.is_memory().or(match search_spec.find {
        // The first run had unlimited memory, and passed.
        Find::LeastMemory { .. } if failed.trial_point.cap_bytes < search_spec.room_bytes => {
            Some(search.seen.iter().any(|run| run.outcome == Outcome::Passes))
        }
        Find::LeastMemory { .. } => None,
        Find::MostTasks { .. } => controlled(&search.seen, failed.sample.tasks),
        Find::HighestRate { .. } => None,
    });
    let limit = failed.sample.limit.as_ref().map(|limit| limit.name.clone());
    let text = match (by_memory, cause) {
        (_, Cause::Memory) => "memory".to_owned(),
        (_, Cause::OwnHeap) => "its own heap".to_owned(),
        (_, Cause::Rate) => "rate".to_owned(),
        (_, Cause::Clients) => "clients (taskscale's own)".to_owned(),
        (_, Cause::Latency) => "latency".to_owned(),
        (_, Cause::MissingTasks) => "missing tasks".to_owned(),
        (Some(true), Cause::Slow) => "memory (too slow)".to_owned(),
        (Some(true), _) => "memory (failed)".to_owned(),
        (Some(false), Cause::Time) => "time, not memory".to_owned(),
        (Some(false), Cause::SystemLimit) => {
            format!("{}, not memory", limit.unwrap_or_else(|| "the system".into()))
        }
        (Some(false), _) => "not memory".to_owned(),
        (None, _) => "unknown".to_owned(),
    };
    Some((text, by_memory))
}

/// Bytes per task by the line through the runs that passed, if memory grows linearly.
fn slope(search: &SearchState) -> Option<f64> {
    let points: Vec<Point> = search
        .seen
        .iter()
        .filter(|run| run.outcome == Outcome::Passes && run.purpose != Purpose::Control)
        .filter_map(|run| {
            let bytes = match run.sample.work {
                Some(_) => need(run.sample)?,
                None => run.sample.memory.plateau.as_ref()?.footprint_bytes as f64,
            };
            Some(Point { tasks: run.sample.tasks, y: bytes })
        })
        .collect();
    let fit = fit(&points).filter(|fit| fit.linear() != Some(false))?;
    Some(fit.line.slope).filter(|slope| *slope > 0.0)
}

fn curve(search_spec: &SearchSpec, search: &SearchState) -> Vec<CurvePoint> {
    if !matches!(search_spec.find, Find::LeastMemory { .. }) {
        return Vec::new();
    }
    // The runs that passed, and why others failed.
    let mut by_memory: BTreeMap<u64, (Vec<&Sample>, Vec<&String>)> = BTreeMap::new();
    for run in &search.seen {
        let (held, failed) = by_memory.entry(run.trial_point.cap_bytes).or_default();
        match &run.outcome {
            Outcome::Passes => held.push(run.sample),
            Outcome::Fails(_, reason) => failed.push(reason),
            Outcome::Unsettled | Outcome::Inconclusive(..) => {}
        }
    }
    let middle = |samples: &[&Sample], metric: &MetricDef| median(&metric.values(samples));
    let cpu = |samples: &[&Sample]| Spread::of(&CPU.values(samples));
    let has_range = |cpu: &Spread| cpu.readings > 1 && cpu.min > 0.0;
    let roomy = by_memory.get(&search_spec.room_bytes).and_then(|(held, _)| cpu(held));
    let point = |(&memory_bytes, (held, failed)): (&u64, &(Vec<&Sample>, Vec<&String>))| {
        let runs = held.len() + failed.len();
        let is_roomy = memory_bytes == search_spec.room_bytes;
        let own = cpu(held);
        let both = own.zip(roomy).filter(|(_, roomy)| roomy.median > 0.0);
        let ranges = both.filter(|(own, roomy)| !is_roomy && has_range(own) && has_range(roomy));
        (runs > 0).then(|| CurvePoint {
            memory_bytes,
            roomy: is_roomy,
            runs,
            held: held.len(),
            cpu_s: own.map(|own| own.median),
            launch_s: middle(held, &LAUNCH),
            drain_s: middle(held, &DRAIN),
            wall_s: middle(held, &WALL),
            peak_bytes: middle(held, &PEAK),
            times_roomy: both.map(|(own, roomy)| own.median / roomy.median),
            times_roomy_range: ranges.map(|(own, roomy)| [own.min / roomy.max, own.max / roomy.min]),
            reason: failed.last().map(|reason| (*reason).clone()),
        })
    };
    by_memory.iter().filter_map(point).collect()
}
