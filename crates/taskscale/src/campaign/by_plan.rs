//! The strategy of a campaign: warms up each program, then repeats each missing run until its tuner accepts the
//! sample.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::time::Duration;

use super::cross_check;
use super::drive::{NextStep, ScheduledRun, Strategy};
use super::plan::{PlannedRun, planned_runs};
use super::prepare::Prepared;
use super::run_spec::WARM_UP_TIME;
use super::run_tuner::{RunTuner, warm_up};
use crate::record::{Campaign, Cell, Sample, Series};
use crate::units;
use taskscale_load::Elsewhere;
use taskscale_measure::{RunSpec, Scenario};

/// Tasks of a warm-up: enough to touch every page of code that a run needs.
const WARM_UP_TASKS: u64 = 1_000;

/// How a campaign is run. Results record it, and resume as they started unless it is asked for again.
#[derive(Debug, Clone, Default)]
pub struct RunSettings {
    /// Of the order of runs. `None`: random for new results.
    pub seed: Option<u64>,
    pub memory_cap_bytes: Option<u64>,
    /// Timeout of one run. `None`: chosen by the run's tuner.
    pub time_cap: Option<Duration>,
    /// Where the clients of servers run, if on another machine.
    pub clients: Option<Elsewhere>,
}

/// Receives progress, for a progress bar.
pub trait CampaignObserver {
    fn warm_up(&mut self, entry: &str);
    /// A run begins. `left_s` estimates the time until the end of the campaign, in seconds.
    fn run_begins(
        &mut self,
        run: &PlannedRun,
        scenario: &Scenario,
        attempt: u32,
        done: usize,
        all: usize,
        left_s: f64,
    );
    /// A run ended. `seen` are all samples so far.
    fn run_ended(&mut self, sample: &Sample, seen: &[Sample]);
}

/// Makes every run that the samples lack.
pub struct ByPlan<'a> {
    settings: &'a RunSettings,
    observer: &'a mut dyn CampaignObserver,
    tuners: BTreeMap<Series, RunTuner<'a>>,
    /// Programs that are not yet warm, each with its first run.
    cold: VecDeque<(PlannedRun, &'a Prepared)>,
    left: VecDeque<PendingRun<'a>>,
    planned: usize,
    /// The number of samples that the tuners have observed.
    observed: usize,
}

/// An unfinished run: its next attempt, with new parameters if those of the last attempt were too small.
struct PendingRun<'a> {
    run: PlannedRun,
    entry: &'a Prepared,
    attempt: u32,
    scenario: Option<Scenario>,
}

impl<'a> ByPlan<'a> {
    /// `kept` are the samples of earlier starts.
    pub fn new(
        campaign: &'a Campaign,
        prepared: &'a [Prepared],
        settings: &'a RunSettings,
        kept: &[Sample],
        observer: &'a mut dyn CampaignObserver,
    ) -> ByPlan<'a> {
        let mut tuners: BTreeMap<Series, RunTuner> = campaign
            .plans()
            .map(|plan| {
                let of_plan = || prepared.iter().filter(|entry| entry.name(campaign).1 == plan.workload);
                let mut tuner = RunTuner::new(plan, of_plan().find_map(|entry| entry.workload.as_ref()));
                of_plan().for_each(|entry| tuner.holds.register(&entry.facts.name, entry.facts.kind));
                (plan.series(), tuner)
            })
            .collect();
        for sample in kept {
            tuners.get_mut(&sample.series()).into_iter().for_each(|tuner| tuner.observe(sample));
        }
        let ready = |cell: &Cell| {
            let of_cell = |entry: &&Prepared| entry.name(campaign) == (&cell.entry, &cell.part.workload);
            prepared.iter().find(of_cell).filter(|entry| entry.command.is_ok())
        };
        let mut planned = 0;
        let pending = |run: PlannedRun| {
            let entry = ready(&run.cell)?;
            planned += 1;
            let last = kept.iter().filter(|sample| run.has(sample)).max_by_key(|sample| sample.attempt);
            let (attempt, scenario) = match last {
                None => (1, None),
                Some(last) => (last.attempt + 1, Some(tuners[&run.cell.part].retry(last)?)),
            };
            Some(PendingRun { run, entry, attempt, scenario })
        };
        let left: VecDeque<PendingRun> = planned_runs(campaign).filter_map(pending).collect();
        let mut seen = BTreeSet::new();
        let first = left.iter().filter(|pending| seen.insert(pending.entry.name(campaign)));
        let cold = first.map(|pending| (pending.run.clone(), pending.entry)).collect();
        ByPlan { settings, observer, tuners, cold, left, planned, observed: kept.len() }
    }

    fn warm_up(&self, run: &PlannedRun, entry: &Prepared) -> RunSpec {
        let time = self.settings.time_cap.map_or(WARM_UP_TIME, |cap| cap.min(WARM_UP_TIME));
        // A user's program may not support WARM_UP_TASKS: it warms up with the smallest requested number.
        let tasks = if entry.black_box.is_none() { WARM_UP_TASKS } else { run.cell.tasks };
        let scenario = warm_up(entry.workload.as_ref(), tasks).with_clients(self.settings.clients.as_ref());
        entry.spec(&Cell { tasks, ..run.cell.clone() }, scenario, self.settings.memory_cap_bytes, time)
    }

    /// Learns from the last run, and finishes it unless it needs another attempt.
    fn observe(&mut self, sample: &Sample, seen: &[Sample]) {
        self.observer.run_ended(sample, seen);
        let scenario = self.tuners.get_mut(&sample.series()).and_then(|tuner| {
            tuner.observe(sample);
            tuner.retry(sample)
        });
        match self.left.front_mut().filter(|_| scenario.is_some()) {
            Some(pending) => (pending.attempt, pending.scenario) = (sample.attempt + 1, scenario),
            None => drop(self.left.pop_front()),
        }
    }
}

impl Strategy for ByPlan<'_> {
    fn next(&mut self, seen: &[Sample]) -> Option<NextStep> {
        if let Some((run, entry)) = self.cold.pop_front() {
            self.observer.warm_up(&run.cell.entry);
            return Some(NextStep::WarmUp(self.warm_up(&run, entry)));
        }
        let new = &seen[self.observed..];
        self.observed = seen.len();
        new.iter().for_each(|sample| self.observe(sample, seen));
        loop {
            let PendingRun { run, entry, attempt, scenario } = self.left.front_mut()?;
            let tuner = &self.tuners[&run.cell.part];
            // The second run of a pair has nothing to double if the first failed.
            let Some(scenario) = scenario.take().or_else(|| tuner.initial(run)) else {
                self.left.pop_front();
                continue;
            };
            let scenario = scenario.with_clients(self.settings.clients.as_ref());
            let (run, entry, attempt) = (run.clone(), *entry, *attempt);
            log::info!("{}", tuner.why(&run, &scenario, attempt));
            let time_cap = self.settings.time_cap;
            let time = time_cap.unwrap_or_else(|| units::duration(tuner.time_cap_s(&scenario)));
            let left_s =
                self.left.iter().map(|left| estimate_s(&self.tuners[&left.run.cell.part], &left.run)).sum();
            let done = self.planned - self.left.len();
            self.observer.run_begins(&run, &scenario, attempt, done, self.planned, left_s);
            let spec = entry.spec(&run.cell, scenario, self.settings.memory_cap_bytes, time);
            return Some(NextStep::Measure(Box::new(ScheduledRun { run, attempt, spec })));
        }
    }

    fn review(&self, sample: &mut Sample, seen: &[Sample]) {
        cross_check::cross_check(sample, seen);
    }
}

/// Estimated time of a run in seconds: its wait, work or load, plus 0.1 s and 1 µs per task for launch and
/// drain.
fn estimate_s(tuner: &RunTuner, run: &PlannedRun) -> f64 {
    tuner.predicted_s(run) + 0.1 + run.cell.tasks as f64 / 1e6
}
