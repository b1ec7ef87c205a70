//! The course of a campaign: warm up, run each cell that is left, keep each sample.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::time::Duration;

use super::contradiction;
use super::hold::HoldKeeper;
use super::plan::{Cell, cells};
use super::prepare::Prepared;
use crate::measure::{Bounds, MeasureError, Measurement, RunEnd, RunSpec, Runner};
use crate::record::{Campaign, Cpu, Memory, SCHEMA_VERSION, Sample, Store, StoreError, Time};

/// Tasks of a warm-up: enough to touch every page of code that a run needs.
const WARM_UP_TASKS: u64 = 1_000;
/// A warm-up that takes longer tells nothing more.
const WARM_UP_TIME: Duration = Duration::from_secs(20);
/// No program of the protocol writes more than a few hundred bytes.
const OUTPUT_CAP_BYTES: u64 = 16 << 20;
/// A program that knows nothing of us may write a log, of a line or two for each task. It is read and let go.
const FOREIGN_OUTPUT_CAP_BYTES: u64 = 64 << 20;

/// What a campaign's runs may take of the machine.
#[derive(Debug, Clone)]
pub struct Settings {
    pub memory_cap_bytes: Option<u64>,
    /// Time-out of one run; by default long for its hold.
    pub time_cap: Option<Duration>,
}

/// What stops a campaign.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(
        "{folder} holds another campaign: {what}; choose another folder with -o, or leave -o out for a new one"
    )]
    Another { folder: PathBuf, what: String },
}

/// How a campaign ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Outcome {
    pub interrupted: bool,
    /// Cells measured before this start.
    pub kept: usize,
    /// Cells measured in this start.
    pub measured: usize,
}

/// Is told what happens, for a progress bar.
pub trait Observer {
    fn warm_up(&mut self, _entry: &str) {}
    /// A run begins; `left_s` estimates the time until the campaign's end.
    fn run_begins(
        &mut self,
        _cell: &Cell,
        _hold_s: f64,
        _attempt: u32,
        _done: usize,
        _all: usize,
        _left_s: f64,
    ) {
    }
    fn run_ended(&mut self, _sample: &Sample) {}
}

/// No observer.
impl Observer for () {}

/// Runs every cell of `campaign` that `samples` does not yet have, and appends to both.
pub fn run(
    campaign: &Campaign,
    prepared: &[Prepared],
    settings: &Settings,
    runner: &mut dyn Runner,
    store: &mut Store,
    samples: &mut Vec<Sample>,
    observer: &mut dyn Observer,
) -> Result<Outcome, CampaignError> {
    let ready: BTreeMap<&str, (&Prepared, &Vec<String>)> = prepared
        .iter()
        .filter_map(|entry| Some((entry.facts.name.as_str(), (entry, entry.command.as_ref().ok()?))))
        .collect();
    let mut holds = HoldKeeper::new(campaign.plan.hold);
    prepared.iter().for_each(|entry| holds.meet(&entry.facts.name, entry.facts.kind));
    samples.iter().for_each(|sample| holds.learn(sample));

    let cells: Vec<Cell> = cells(&campaign.plan, campaign.seed)
        .into_iter()
        .filter(|cell| ready.contains_key(cell.entry.as_str()))
        .collect();
    let next: Vec<(&Cell, Option<(u32, f64)>)> =
        cells.iter().map(|cell| (cell, next_attempt(cell, samples, &holds))).collect();
    let left: Vec<(&Cell, Option<f64>, u32)> = next
        .iter()
        .filter_map(|(cell, next)| {
            let (attempt, hold_s) = (*next)?;
            Some((*cell, (attempt > 1).then_some(hold_s), attempt))
        })
        .collect();
    let mut outcome = Outcome { kept: cells.len() - left.len(), ..Outcome::default() };

    let mut warm = BTreeSet::new();
    for (cell, ..) in &left {
        if !warm.insert(cell.entry.as_str()) {
            continue;
        }
        let (entry, command) = ready[cell.entry.as_str()];
        observer.warm_up(&cell.entry);
        let time = settings.time_cap.map_or(WARM_UP_TIME, |cap| cap.min(WARM_UP_TIME));
        let bounds = Bounds { time, ..bounds(settings, 0.0) };
        let mut spec = match entry.external.is_none() {
            true => spec(campaign, entry, command, WARM_UP_TASKS, 0.0, bounds),
            // What a program makes of a thousand tasks nobody knows; that it can do the fewest asked for is foreseen.
            false => spec(campaign, entry, command, cell.tasks, 0.0, bounds),
        };
        spec.plateau_s = 0.0;
        // Whatever it brings about: the measured runs will tell.
        if matches!(runner.run(&spec)?, RunEnd::Interrupted) {
            return Ok(Outcome { interrupted: true, ..outcome });
        }
    }

    for (index, (cell, hold, attempt)) in left.iter().enumerate() {
        let (entry, command) = ready[cell.entry.as_str()];
        let first = || if entry.takes_hold() { holds.first_hold_s(&cell.entry, cell.tasks) } else { 0.0 };
        let mut hold_s = hold.unwrap_or_else(first);
        let mut attempt = *attempt;
        loop {
            log::info!("hold {hold_s} s: {}", holds.why(&cell.entry, cell.tasks, attempt));
            let left_s: f64 = left[index..].iter().map(|(cell, ..)| estimate_s(&holds, cell)).sum();
            observer.run_begins(cell, hold_s, attempt, outcome.kept + index, cells.len(), left_s);
            let mut spec = spec(campaign, entry, command, cell.tasks, hold_s, bounds(settings, hold_s));
            spec.reading_s = holds.predict_reading_s(&cell.entry, cell.tasks);
            let RunEnd::Measured(measurement) = runner.run(&spec)? else {
                return Ok(Outcome { interrupted: true, ..outcome });
            };
            let mut sample = sample_of(campaign, cell, entry, &spec, attempt, *measurement);
            contradiction::heed(&mut sample, samples);
            store.append(&sample)?;
            holds.learn(&sample);
            observer.run_ended(&sample);
            let next = holds.next_hold_s(&sample);
            samples.push(sample);
            match next {
                Some(longer) => (hold_s, attempt) = (longer, attempt + 1),
                None => break,
            }
        }
        outcome.measured += 1;
    }
    Ok(outcome)
}

/// What is left of a cell: the next attempt and its hold, or nothing.
fn next_attempt(cell: &Cell, samples: &[Sample], holds: &HoldKeeper) -> Option<(u32, f64)> {
    let last = samples
        .iter()
        .filter(|s| s.entry == cell.entry && s.tasks == cell.tasks && s.repetition == cell.repetition)
        .max_by_key(|sample| sample.attempt);
    match last {
        None => Some((1, 0.0)),
        Some(last) => holds.next_hold_s(last).map(|hold_s| (last.attempt + 1, hold_s)),
    }
}

/// How long a cell will take: its hold, and about as much again for the launch's excess and the drain of large N.
fn estimate_s(holds: &HoldKeeper, cell: &Cell) -> f64 {
    holds.first_hold_s(&cell.entry, cell.tasks) + 0.1 + cell.tasks as f64 / 1e6
}

fn bounds(settings: &Settings, hold_s: f64) -> Bounds {
    Bounds {
        memory_bytes: settings.memory_cap_bytes,
        // Generous: a runtime that launches 1 M tasks in 25 s where 3 s were foreseen must be able to finish.
        time: settings.time_cap.unwrap_or_else(|| Duration::from_secs_f64(120.0 + 3.0 * hold_s)),
        output_bytes: OUTPUT_CAP_BYTES,
    }
}

fn spec(
    campaign: &Campaign,
    entry: &Prepared,
    command: &[String],
    tasks: u64,
    hold_s: f64,
    bounds: Bounds,
) -> RunSpec {
    let (command, env, external) = match &entry.external {
        Some(template) => template.fill(command, tasks, hold_s),
        None => {
            let numbers = [tasks.to_string(), format!("{}", hold_s as u64)];
            (command.iter().cloned().chain(numbers).collect(), entry.facts.env.clone(), None)
        }
    };
    let mut bounds = bounds;
    if external.is_some() {
        bounds.output_bytes = FOREIGN_OUTPUT_CAP_BYTES;
    }
    RunSpec {
        command,
        env,
        kind: entry.facts.kind,
        tasks,
        hold_s,
        plateau_s: campaign.plan.hold.plateau_s(),
        reading_s: 0.0,
        bounds,
        external,
    }
}

/// The sample of a run.
pub fn sample_of(
    campaign: &Campaign,
    cell: &Cell,
    entry: &Prepared,
    spec: &RunSpec,
    attempt: u32,
    measured: Measurement,
) -> Sample {
    Sample {
        schema: SCHEMA_VERSION,
        entry: cell.entry.clone(),
        workload: campaign.plan.workload.clone(),
        tasks: cell.tasks,
        hold_s: spec.hold_s,
        repetition: cell.repetition,
        attempt,
        started_at: measured.started_at,
        status: measured.status,
        reason: measured.reason,
        limit: measured.limit,
        alive: measured.alive,
        done: measured.done,
        failed: measured.failed,
        plateau_from: measured.plateau_from,
        stopped: measured.stopped,
        load_command: spec
            .external
            .as_ref()
            .and_then(|external| Some(external.load.as_ref()?.command.clone())),
        exit_code: measured.exit_code,
        signal: measured.signal,
        command: spec.command.clone(),
        version: entry.facts.version.clone(),
        threads: measured.threads,
        processes: measured.processes,
        time: Time { ..measured.time },
        cpu: Cpu { ..measured.cpu },
        memory: Memory { ..measured.memory },
        metrics: measured.metrics,
        warnings: measured.warnings,
        stderr_tail: measured.stderr_tail,
        campaign: campaign.id.clone(),
    }
}
