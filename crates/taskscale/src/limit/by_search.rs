//! The strategy of a search: runs what [`replay`] requests, one entry after the other.

use std::collections::VecDeque;
use std::time::Duration;

use super::answer::{Answer, answer};
use super::outcome::{ClassifiedRun, Outcome};
use super::rate::OPEN_S;
use super::search::{HOLD, NextRun, allowed, replay};
use super::search_spec::{RATE, SearchSpec, TrialPoint, fill_in};
use crate::campaign::{
    HoldPredictor, NextStep, PlannedRun, Prepared, ScheduledRun, Strategy, WARM_UP_TIME, estimated_reading_s,
    serving_at_rate, serving_in_a_moment,
};
use crate::catalog::{Params, Shape, period_s};
use crate::record::{Cell, Plan, Sample};
use crate::units;
use taskscale_measure::{HoldParams, RunSpec, Scenario, WorkParams};

/// Waits are longer by this factor, as a launch with little memory is slower.
const LITTLE_MEMORY: f64 = 1.5;

/// Receives progress.
pub trait SearchObserver {
    fn warm_up(&mut self, _entry: &str) {}
    /// A run begins. `position` is its number among those of its entry, from 1.
    fn run_begins(&mut self, _entry: &str, _next_run: &NextRun, _hold_s: f64, _position: usize) {}
    fn run_ended(&mut self, _seen: &ClassifiedRun) {}
    /// An entry has no more runs.
    fn answered(&mut self, _answer: &Answer) {}
}

/// Searches one entry after the other, and runs only what the samples lack.
pub struct BySearch<'a> {
    plan: &'a Plan,
    search_spec: &'a SearchSpec,
    observer: &'a mut dyn SearchObserver,
    /// Entries without an answer.
    left: VecDeque<&'a Prepared>,
    /// Whether the first of these entries is warm.
    is_warm: bool,
    /// Whether this strategy requested the run of the last sample.
    is_running: bool,
}

impl<'a> BySearch<'a> {
    pub fn new(
        plan: &'a Plan,
        search_spec: &'a SearchSpec,
        prepared: &'a [Prepared],
        observer: &'a mut dyn SearchObserver,
    ) -> BySearch<'a> {
        let left = prepared.iter().filter(|entry| entry.command.is_ok()).collect();
        BySearch { plan, search_spec, observer, left, is_warm: false, is_running: false }
    }

    /// The run at a point of the search, and its case.
    fn spec(
        &self,
        entry: &Prepared,
        trial_point: TrialPoint,
        hold_s: f64,
        time: Duration,
    ) -> (Cell, RunSpec) {
        let tasks = trial_point.tasks;
        let mut part = self.plan.series();
        // Records the rate even if it is the workload's default, as it is the searched value.
        part.params.extend(trial_point.rate_per_s.map(|rate| (RATE.to_owned(), rate.to_string())));
        let scenario = self.scenario(entry, &part.params, trial_point, hold_s);
        let cell = Cell { entry: entry.facts.name.clone(), part, tasks };
        let mut spec = entry.spec(&cell, scenario, Some(trial_point.cap_bytes), time);
        let of_entry = self.search_spec.entry_env.get(&entry.facts.name);
        for (name, value) in of_entry.into_iter().flatten().chain(&self.search_spec.env) {
            // Invalid values were refused before the first run.
            let value = fill_in(value, trial_point.cap_bytes).unwrap_or_else(|_| value.clone());
            spec.env.insert(name.clone(), value);
        }
        (cell, spec)
    }

    fn scenario(&self, entry: &Prepared, params: &Params, trial_point: TrialPoint, hold_s: f64) -> Scenario {
        let (tasks, workload) = (trial_point.tasks, entry.workload.as_ref());
        match (self.plan.shape, workload) {
            (Shape::Hold, _) => Scenario::Hold(HoldParams {
                hold_s,
                plateau_s: HOLD.plateau_s(),
                period_s: workload.and_then(|workload| period_s(workload, params)),
                reading_s: estimated_reading_s(entry.facts.kind, tasks),
            }),
            (Shape::Serve, Some(workload)) if trial_point.rate_per_s.is_some() => {
                serving_at_rate(workload, params, tasks, OPEN_S)
            }
            (Shape::Serve, Some(workload)) => serving_in_a_moment(workload, params, tasks),
            // A black-box program has no shape.
            (Shape::Serve, None) => Scenario::Hold(HoldParams::default()),
            // One operation per task, so that all tasks are alive at once.
            (Shape::Work, _) => Scenario::Work(WorkParams {
                operations: tasks,
                all_alive: workload.is_some_and(|workload| workload.all_alive),
                ..WorkParams::default()
            }),
        }
    }
}

impl Strategy for BySearch<'_> {
    fn next(&mut self, seen: &[Sample]) -> Option<NextStep> {
        loop {
            let entry = *self.left.front()?;
            let name = &entry.facts.name;
            let own: Vec<Sample> = seen.iter().filter(|sample| *sample.entry == **name).cloned().collect();
            let search = replay(self.search_spec, entry.facts.kind, &own);
            if let Some(last) = search.seen.last().filter(|_| std::mem::take(&mut self.is_running)) {
                self.observer.run_ended(last);
            }
            let Some(next_run) = search.next else {
                self.observer.answered(&answer(self.search_spec, &entry.facts, &own));
                self.left.pop_front();
                self.is_warm = false;
                continue;
            };
            if !self.is_warm {
                self.is_warm = true;
                self.observer.warm_up(name);
                let room_bytes = self.search_spec.room_bytes;
                let one = TrialPoint { tasks: 1, cap_bytes: room_bytes, rate_per_s: None };
                return Some(NextStep::WarmUp(self.spec(entry, one, 1.0, WARM_UP_TIME).1));
            }
            let hold_s = hold_s(&search.seen, entry, &next_run);
            let allowed_s = allowed(self.search_spec, &search.seen, next_run.trial_point).allowance_s;
            let time = units::duration((hold_s + allowed_s).min(self.search_spec.time_cap_s));
            let (cell, spec) = self.spec(entry, next_run.trial_point, hold_s, time);
            self.observer.run_begins(name, &next_run, hold_s, own.len() + 1);
            self.is_running = true;
            // Each run is a repetition of its own, except for another attempt.
            let (repetition, attempt) = match own.last().filter(|_| next_run.again) {
                Some(last) => (last.repetition, last.attempt + 1),
                None => (own.iter().map(|sample| sample.repetition).max().unwrap_or(0) + 1, 1),
            };
            let run = PlannedRun { repetition, cell, double: false };
            return Some(NextStep::Measure(Box::new(ScheduledRun { run, attempt, spec })));
        }
    }
}

/// The wait of tasks, in seconds: for another attempt, as long as the last one showed to be needed.
fn hold_s(seen: &[ClassifiedRun], entry: &Prepared, next_run: &NextRun) -> f64 {
    let mut holds = HoldPredictor::new(HOLD);
    let facts = &entry.facts;
    holds.register(&facts.name, facts.kind);
    // Only from runs that passed: too slow ones would lengthen all waits.
    let good = seen.iter().filter(|run| run.outcome == Outcome::Passes);
    good.for_each(|run| holds.observe(run.sample));
    let again = seen.last().filter(|_| next_run.again).and_then(|last| holds.retry_hold_s(last.sample));
    again.unwrap_or_else(|| {
        let shortest = holds.initial_hold_s(&facts.name, 1);
        let first = holds.initial_hold_s(&facts.name, next_run.trial_point.tasks);
        if first > shortest { (first * LITTLE_MEMORY).ceil() } else { first }
    })
}
