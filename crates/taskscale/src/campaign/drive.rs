//! Runs a campaign: warms up, runs each missing case, stores each sample.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use taskscale_load::Elsewhere;

use super::cross_check;
use super::plan::{PlannedRun, planned_runs};
use super::prepare::Prepared;
use super::run_tuner::{RunTuner, warm_up};
use crate::catalog::{expected_check, with_tasks};
use crate::record::{Campaign, Cell, SCHEMA_VERSION, Sample, Series, Store, StoreError, StringInterner};
use taskscale_measure::{Bounds, MeasureError, Measurement, RunEnd, RunSpec, Runner, Scenario};

/// Tasks of a warm-up: enough to touch every page of code that a run needs.
const WARM_UP_TASKS: u64 = 1_000;
/// A warm-up that takes longer tells nothing more.
const WARM_UP_TIME: Duration = Duration::from_secs(20);
/// No program of the protocol writes more than a few hundred bytes.
const OUTPUT_CAP_BYTES: u64 = 16 << 20;
/// A program that knows nothing of us may write a log, of a line or two for each task. It is read and let go.
const BLACK_BOX_OUTPUT_CAP_BYTES: u64 = 64 << 20;

/// Limits on the runs of a campaign.
#[derive(Debug, Clone)]
pub struct CampaignSettings {
    pub memory_cap_bytes: Option<u64>,
    /// Timeout of one run; by default long for its wait.
    pub time_cap: Option<Duration>,
    /// Where the clients of servers run, if on another machine.
    pub clients: Option<Elsewhere>,
}

/// Why measuring stopped.
#[derive(Debug, thiserror::Error)]
pub enum CampaignError {
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot resume the results in {folder}: {what}")]
    Another { folder: PathBuf, what: String },
}

/// How measuring ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct CampaignEnd {
    pub interrupted: bool,
    /// Cases measured before this start.
    pub kept: usize,
    /// Cases measured in this start.
    pub measured: usize,
}

/// Receives progress, for a progress bar.
pub trait CampaignObserver {
    fn warm_up(&mut self, _entry: &str) {}
    /// A run begins; `left_s` estimates the time until the campaign's end.
    fn run_begins(
        &mut self,
        _run: &PlannedRun,
        _course: &Scenario,
        _attempt: u32,
        _done: usize,
        _all: usize,
        _left_s: f64,
    ) {
    }
    fn run_ended(&mut self, _sample: &Sample) {}
}

/// No observer.
impl CampaignObserver for () {}

/// Runs every case of `campaign` that `samples` lacks, and appends to both.
pub fn run(
    campaign: &Campaign,
    prepared: &[Prepared],
    settings: &CampaignSettings,
    runner: &mut dyn Runner,
    store: &mut Store,
    samples: &mut Vec<Sample>,
    observer: &mut dyn CampaignObserver,
) -> Result<CampaignEnd, CampaignError> {
    let prepared_for = |cell: &Cell| -> Option<(&Prepared, &[String])> {
        let of_cell = |entry: &&Prepared| entry.name(campaign) == (&cell.entry, &cell.part.workload);
        let entry = prepared.iter().find(of_cell)?;
        Some((entry, entry.command.as_ref().ok()?))
    };
    let mut tuners: BTreeMap<Series, RunTuner> = campaign
        .plans()
        .map(|plan| {
            let of_plan = || prepared.iter().filter(|entry| entry.name(campaign).1 == plan.workload);
            let mut tuner = RunTuner::new(plan, of_plan().find_map(|entry| entry.workload.as_ref()));
            of_plan().for_each(|entry| tuner.register(&entry.facts.name, entry.facts.kind));
            (plan.series(), tuner)
        })
        .collect();
    for sample in samples.iter() {
        tuners.get_mut(&sample.series()).into_iter().for_each(|tuner| tuner.observe(sample));
    }

    let all: Vec<PlannedRun> =
        planned_runs(campaign).into_iter().filter(|run| prepared_for(&run.cell).is_some()).collect();
    let planned = all.len();
    // What is done already is not held for as long as the rest takes.
    let left: Vec<(PlannedRun, NextAttempt)> = all
        .into_iter()
        .filter_map(|run| next_attempt(&run, samples, &tuners[&run.cell.part]).map(|again| (run, again)))
        .collect();
    let mut outcome = CampaignEnd { kept: planned - left.len(), ..CampaignEnd::default() };

    let mut warm = BTreeSet::new();
    for (run, _) in &left {
        let Some((entry, command)) = prepared_for(&run.cell) else { continue };
        if !warm.insert(entry.name(campaign)) {
            continue;
        }
        observer.warm_up(&run.cell.entry);
        let time = settings.time_cap.map_or(WARM_UP_TIME, |cap| cap.min(WARM_UP_TIME));
        let bounds = Bounds { time, ..bounds(settings, time) };
        // What a program of a user's makes of a thousand tasks nobody knows; that it can do the fewest asked for is
        // predicted.
        let tasks = if entry.black_box.is_none() { WARM_UP_TASKS } else { run.cell.tasks };
        let scenario = warm_up(entry.workload.as_ref(), tasks).with_clients(settings.clients.as_ref());
        let spec = spec(&Cell { tasks, ..run.cell.clone() }, entry, command, scenario, bounds);
        // Whatever it brings about: the measured runs will tell.
        if matches!(runner.run(&spec)?, RunEnd::Interrupted) {
            return Ok(CampaignEnd { interrupted: true, ..outcome });
        }
    }

    let mut interner = StringInterner::default();
    for (index, (run, again)) in left.iter().enumerate() {
        let Some((entry, command)) = prepared_for(&run.cell) else { continue };
        let mut again = again.clone();
        loop {
            let tuner = &tuners[&run.cell.part];
            let attempt = again.attempt;
            let Some(scenario) = again.scenario.take().or_else(|| tuner.initial(run)) else { break };
            let scenario = scenario.with_clients(settings.clients.as_ref());
            log::info!("{}", tuner.why(run, &scenario, attempt));
            let left_s = left[index..].iter().map(|(run, _)| estimate_s(&tuners[&run.cell.part], run)).sum();
            observer.run_begins(run, &scenario, attempt, outcome.kept + index, planned, left_s);
            let bounds = bounds(settings, Duration::from_secs_f64(tuner.time_cap_s(&scenario)));
            let spec = spec(&run.cell, entry, command, scenario, bounds);
            let RunEnd::Measured(measurement) = runner.run(&spec)? else {
                return Ok(CampaignEnd { interrupted: true, ..outcome });
            };
            let mut sample = sample_of(campaign, run, entry, &spec, attempt, *measurement);
            cross_check::cross_check(&mut sample, samples);
            store.append(&sample)?;
            observer.run_ended(&sample);
            let longer = tuners.get_mut(&run.cell.part).and_then(|tuner| {
                tuner.observe(&sample);
                tuner.retry(&sample)
            });
            samples.push(interner.intern(sample));
            match longer {
                Some(scenario) => again = NextAttempt { attempt: attempt + 1, scenario: Some(scenario) },
                None => break,
            }
        }
        outcome.measured += 1;
    }
    Ok(outcome)
}

/// Which attempt of a run comes next, and what it is asked for where the one before it was too little.
#[derive(Clone)]
struct NextAttempt {
    attempt: u32,
    scenario: Option<Scenario>,
}

/// What is left of a run: its next attempt, or nothing.
fn next_attempt(run: &PlannedRun, samples: &[Sample], tuner: &RunTuner) -> Option<NextAttempt> {
    let last = samples.iter().filter(|sample| run.has(sample)).max_by_key(|sample| sample.attempt);
    match last {
        None => Some(NextAttempt { attempt: 1, scenario: None }),
        Some(last) => tuner
            .retry(last)
            .map(|scenario| NextAttempt { attempt: last.attempt + 1, scenario: Some(scenario) }),
    }
}

/// How long a run will take: its hold, or its work, and about as much again for the launch's excess and the drain of
/// large N.
fn estimate_s(tuner: &RunTuner, run: &PlannedRun) -> f64 {
    tuner.predicted_s(run) + 0.1 + run.cell.tasks as f64 / 1e6
}

fn bounds(settings: &CampaignSettings, time: Duration) -> Bounds {
    Bounds {
        memory_bytes: settings.memory_cap_bytes,
        time: settings.time_cap.unwrap_or(time),
        output_bytes: OUTPUT_CAP_BYTES,
    }
}

fn spec(cell: &Cell, entry: &Prepared, command: &[String], scenario: Scenario, bounds: Bounds) -> RunSpec {
    let (tasks, cpus) = (cell.tasks, cell.part.cpus);
    match &entry.black_box {
        Some(template) => {
            // One that is not told how long to wait is let stand as long as it takes.
            let mut wait = scenario.wait().copied().unwrap_or_default();
            wait.hold_s = if entry.takes_hold() { wait.hold_s } else { 0.0 };
            let (command, env, black_box) = template.fill(command, tasks, wait.hold_s);
            let bounds = Bounds { output_bytes: BLACK_BOX_OUTPUT_CAP_BYTES, ..bounds };
            let scenario = Scenario::BlackBox(Box::new(black_box), wait);
            RunSpec { command, env, kind: entry.facts.kind, tasks, scenario, check: None, cpus, bounds }
        }
        None => {
            let params = &cell.part.params;
            let right = |workload| expected_check(workload, tasks, scenario.operations(), params);
            RunSpec {
                command: [with_tasks(command, tasks), scenario.arguments(tasks, params)].concat(),
                env: entry.facts.env.clone(),
                kind: entry.facts.kind,
                tasks,
                check: entry.workload.as_ref().and_then(right),
                scenario,
                cpus,
                bounds,
            }
        }
    }
}

/// The command of the load, where one is started.
fn load_command(scenario: &Scenario) -> Option<Vec<String>> {
    Some(scenario.black_box()?.load.as_ref()?.command.clone())
}

/// The sample of a run.
pub fn sample_of(
    campaign: &Campaign,
    run: &PlannedRun,
    entry: &Prepared,
    spec: &RunSpec,
    attempt: u32,
    measurement: Measurement,
) -> Sample {
    Sample {
        schema: SCHEMA_VERSION,
        entry: run.cell.entry.as_str().into(),
        workload: run.cell.part.workload.as_str().into(),
        tasks: run.cell.tasks,
        hold_s: spec.hold_s(),
        repetition: run.repetition,
        attempt,
        measurement,
        load_command: load_command(&spec.scenario),
        command: spec.command.as_slice().into(),
        version: entry.facts.version.as_deref().map(Arc::from),
        campaign: campaign.id.as_deref().map(Arc::from),
        params: run.cell.part.params.clone(),
        cpus: run.cell.part.cpus,
    }
}
