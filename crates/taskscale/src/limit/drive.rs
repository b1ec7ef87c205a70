//! Takes the runs that a search asks for, and keeps each.

use std::collections::BTreeMap;
use std::time::Duration;

use super::LimitError;
use super::answer::{Answer, answer};
use super::outcome::Outcome;
use super::rate::OPEN_S;
use super::search::{ClassifiedRun, HOLD, NextRun, baseline_of, replay};
use super::search_spec::{SearchSpec, fill_in};
use super::trial_point::{RATE, TrialPoint};
use crate::campaign::{
    HoldPredictor, PlannedRun, Prepared, estimated_reading_s, sample_of, serving_at_rate, serving_in_a_moment,
};
use crate::catalog::{Shape, expected_check, period_s, with_tasks};
use crate::record::{Campaign, Cell, Plan, Sample, Series, Store};
use taskscale_measure::{Bounds, HoldParams, RunEnd, RunSpec, Runner, Scenario, WorkParams};

/// A warm-up that takes longer tells nothing more.
const WARM_UP_TIME: Duration = Duration::from_secs(20);
/// No program of the protocol writes more than a few hundred bytes.
const OUTPUT_CAP_BYTES: u64 = 16 << 20;
/// A launch with little memory takes longer than one with much: the hold is longer by this factor.
const LITTLE_MEMORY: f64 = 1.5;

/// How the searches ended.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct SearchEnd {
    pub interrupted: bool,
    /// Runs taken in this start.
    pub measured: usize,
}

/// Receives progress.
pub trait SearchObserver {
    fn warm_up(&mut self, _entry: &str) {}
    /// A run begins, the so-manieth of its entry.
    fn run_begins(&mut self, _entry: &str, _order: &NextRun, _hold_s: f64, _position: usize) {}
    fn run_ended(&mut self, _seen: &ClassifiedRun) {}
    /// Nothing is left to run of an entry.
    fn answered(&mut self, _answer: &Answer) {}
}

impl SearchObserver for () {}

/// Searches entry after entry, as far as `samples` does not yet have the runs, and appends to both.
pub fn run(
    campaign: &Campaign,
    search_spec: &SearchSpec,
    prepared: &[Prepared],
    runner: &mut dyn Runner,
    store: &mut Store,
    samples: &mut Vec<Sample>,
    observer: &mut dyn SearchObserver,
) -> Result<SearchEnd, LimitError> {
    let mut outcome = SearchEnd::default();
    for entry in prepared {
        let Ok(command) = &entry.command else { continue };
        let name = &entry.facts.name;
        let mut own: Vec<Sample> = samples.iter().filter(|sample| *sample.entry == **name).cloned().collect();
        let mut warm = false;
        loop {
            let search = replay(search_spec, entry.facts.kind, &own);
            let Some(next_run) = search.next else { break };
            let allowed_s = baseline_of(search_spec, &search.seen, next_run.trial_point.tasks).allowance_s;
            if !warm {
                warm = true;
                observer.warm_up(name);
                let one = TrialPoint { tasks: 1, cap_bytes: search_spec.room_bytes, rate_per_s: None };
                let spec = spec(search_spec, &campaign.plan, entry, command, one, 1.0, WARM_UP_TIME);
                // Whatever it brings about: the measured runs will tell.
                if matches!(runner.run(&spec)?, RunEnd::Interrupted) {
                    return Ok(SearchEnd { interrupted: true, ..outcome });
                }
            }
            let hold_s = hold_s(&search.seen, entry, &next_run);
            let time_s = (hold_s + allowed_s).min(search_spec.time_cap_s);
            let time = Duration::from_secs_f64(time_s);
            let spec = spec(search_spec, &campaign.plan, entry, command, next_run.trial_point, hold_s, time);
            observer.run_begins(name, &next_run, hold_s, own.len() + 1);
            let RunEnd::Measured(measurement) = runner.run(&spec)? else {
                return Ok(SearchEnd { interrupted: true, ..outcome });
            };
            let params = params_at(&campaign.plan, &next_run.trial_point);
            let part = Series { params, ..campaign.plan.series() };
            let last = own.last().filter(|_| next_run.again);
            let run = PlannedRun {
                // Each run but another attempt is one of its own: none stands for another.
                repetition: last
                    .map_or(own.iter().map(|s| s.repetition).max().unwrap_or(0) + 1, |s| s.repetition),
                cell: Cell { entry: name.clone(), part, tasks: next_run.trial_point.tasks },
                double: false,
            };
            let attempt = last.map_or(1, |last| last.attempt + 1);
            let sample = sample_of(campaign, &run, entry, &spec, attempt, *measurement);
            store.append(&sample)?;
            samples.push(sample.clone());
            own.push(sample);
            outcome.measured += 1;
            if let Some(seen) = replay(search_spec, entry.facts.kind, &own).seen.last() {
                observer.run_ended(seen);
            }
        }
        observer.answered(&answer(search_spec, &entry.facts, &own));
    }
    Ok(outcome)
}

/// How long tasks wait: for another attempt as long as the last one showed to be needed.
fn hold_s(seen: &[ClassifiedRun], entry: &Prepared, next_run: &NextRun) -> f64 {
    let mut holds = HoldPredictor::new(HOLD);
    let facts = &entry.facts;
    holds.register(&facts.name, facts.kind);
    // Not from those that were too slow: no other run would have to wait for that.
    let good = seen.iter().filter(|run| run.outcome == Outcome::Passes);
    good.for_each(|run| holds.observe(run.sample));
    let again = seen.last().filter(|_| next_run.again).and_then(|last| holds.retry_hold_s(last.sample));
    again.unwrap_or_else(|| {
        let shortest = holds.initial_hold_s(&facts.name, 1);
        let first = holds.initial_hold_s(&facts.name, next_run.trial_point.tasks);
        if first > shortest { (first * LITTLE_MEMORY).ceil() } else { first }
    })
}

/// What the workload is given in a run: the rate as `-p` would put it there, but also where it is the workload's own,
/// as it is what such a run is about.
fn params_at(plan: &Plan, trial_point: &TrialPoint) -> BTreeMap<String, String> {
    let mut params = plan.params.clone();
    params.extend(trial_point.rate_per_s.map(|rate| (RATE.to_owned(), rate.to_string())));
    params
}

fn spec(
    search_spec: &SearchSpec,
    plan: &Plan,
    entry: &Prepared,
    command: &[String],
    trial_point: TrialPoint,
    hold_s: f64,
    time: Duration,
) -> RunSpec {
    let tasks = trial_point.tasks;
    let params = params_at(plan, &trial_point);
    let scenario = match plan.shape {
        Shape::Hold => Scenario::Hold(HoldParams {
            hold_s,
            plateau_s: HOLD.plateau_s(),
            period_s: entry.workload.as_ref().and_then(|workload| period_s(workload, &params)),
            reading_s: estimated_reading_s(entry.facts.kind, tasks),
        }),
        Shape::Serve => match &entry.workload {
            Some(workload) => match trial_point.rate_per_s {
                Some(_) => serving_at_rate(workload, &params, tasks, OPEN_S),
                None => serving_in_a_moment(workload, &params, tasks),
            },
            // A program that is not of the catalog has no shape.
            None => Scenario::Hold(HoldParams::default()),
        },
        // One operation for each task: that many are there at once, and that is what is asked.
        Shape::Work => Scenario::Work(WorkParams {
            operations: tasks,
            all_alive: entry.workload.as_ref().is_some_and(|workload| workload.all_alive),
            ..WorkParams::default()
        }),
    };
    let command = [with_tasks(command, tasks), scenario.arguments(tasks, &params)].concat();
    let right = |workload| expected_check(workload, tasks, scenario.operations(), &params);
    let check = entry.workload.as_ref().and_then(right);
    let mut env: BTreeMap<String, String> = entry.facts.env.clone();
    let of_entry = search_spec.entry_env.get(&entry.facts.name);
    for (name, value) in of_entry.into_iter().flatten().chain(&search_spec.env) {
        // What cannot be filled in was refused before the first run.
        env.insert(name.clone(), fill_in(value, trial_point.cap_bytes).unwrap_or_else(|_| value.clone()));
    }
    RunSpec {
        command,
        env,
        kind: entry.facts.kind,
        tasks,
        scenario,
        check,
        cpus: None,
        bounds: Bounds { memory_bytes: Some(trial_point.cap_bytes), time, output_bytes: OUTPUT_CAP_BYTES },
    }
}
