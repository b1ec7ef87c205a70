//! Campaigns with a scripted runner in place of programs.

use std::collections::BTreeMap;
use std::path::Path;

use super::*;
use crate::record::{
    Campaign, EntryFacts, Hold, Machine, Plan, Sample, Status, Store, Time, load, test_campaign, test_facts,
    test_measurement,
};
use taskscale_measure::{MeasureError, Measurement, RunEnd, RunSpec, Runner, Scenario};

/// No observer.
impl CampaignObserver for () {
    fn warm_up(&mut self, _: &str) {}
    fn run_begins(&mut self, _: &PlannedRun, _: &Scenario, _: u32, _: usize, _: usize, _: f64) {}
    fn run_ended(&mut self, _: &Sample, _: &[Sample]) {}
}

/// Launches `tasks_per_s` tasks per second, and stops the campaign after `interrupt_after` runs.
struct Scripted {
    tasks_per_s: f64,
    interrupt_after: Option<usize>,
    runs: Vec<(String, u64, f64)>,
}

impl Scripted {
    fn new(tasks_per_s: f64) -> Scripted {
        Scripted { tasks_per_s, interrupt_after: None, runs: Vec::new() }
    }

    /// Runs except warm-ups.
    fn measured(&self) -> Vec<(String, u64, f64)> {
        self.runs.iter().filter(|(_, _, hold_s)| *hold_s > 0.0).cloned().collect()
    }
}

impl Runner for Scripted {
    fn run(&mut self, spec: &RunSpec) -> Result<RunEnd, MeasureError> {
        if self.interrupt_after.is_some_and(|runs| self.runs.len() >= runs) {
            return Ok(RunEnd::Interrupted);
        }
        self.runs.push((spec.command[0].clone(), spec.tasks, spec.scenario.hold_s()));
        let launch_s = spec.tasks as f64 / self.tasks_per_s;
        let alive = if launch_s > spec.scenario.hold_s() { spec.tasks / 2 } else { spec.tasks };
        let status = if alive < spec.tasks { Status::Partial } else { Status::Ok };
        Ok(RunEnd::Measured(Box::new(Measurement {
            alive: Some(alive),
            done: Some(spec.tasks),
            exit_code: Some(0),
            time: Time {
                launch_s: Some(launch_s),
                plateau_s: Some((spec.scenario.hold_s() - launch_s).max(0.0)),
                ..Time::default()
            },
            ..test_measurement(status)
        })))
    }
}

fn entry(name: &str) -> Prepared {
    Prepared {
        facts: EntryFacts { digest: Some("1".into()), ..test_facts(name) },
        command: Ok(vec![name.to_owned()]),
        workload: None,
        black_box: None,
    }
}

fn campaign(hold: Hold, repetitions: u32) -> Campaign {
    let plan =
        Plan::of_holds("sleep", vec!["x/a".into(), "x/b".into()], vec![1, 1_000_000], repetitions, hold);
    Campaign {
        machine: Machine { hostname: "here".into(), ..Machine::default() },
        plan_digest: plan_digest(&plan, &[]),
        plan,
        entries: vec![entry("x/a").facts, entry("x/b").facts],
        ..test_campaign()
    }
}

fn drive(campaign: &Campaign, folder: &Path, runner: &mut Scripted) -> (RunsEnd, Vec<Sample>) {
    let (mut store, mut samples) = if crate::record::holds_campaign(folder) {
        let (store, loaded) = Store::reopen(folder).unwrap();
        (store, loaded.samples)
    } else {
        let store = Store::claim(folder).unwrap();
        store.write_campaign(campaign).unwrap();
        (store, Vec::new())
    };
    let settings = RunSettings::default();
    let prepared = [entry("x/a"), entry("x/b")];
    let mut observer = ();
    let mut by_plan = ByPlan::new(campaign, &prepared, &settings, &samples, &mut observer);
    let outcome = super::drive(&mut by_plan, campaign, runner, &mut store, &mut samples).unwrap();
    drop(store);
    assert_eq!(load(folder).unwrap().samples, samples, "what is on the disk is what was measured");
    (outcome, samples)
}

const CHOSEN: Hold = Hold::Chosen { plateau_s: 1.0 };

#[test]
fn every_entry_is_warmed_up_once_and_every_cell_runs() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Scripted::new(1e7);
    let (outcome, samples) = drive(&campaign(CHOSEN, 3), folder.path(), &mut runner);
    assert_eq!(outcome, RunsEnd::Complete);
    assert_eq!(samples.len(), 12);
    assert_eq!(runner.runs.iter().filter(|(_, tasks, hold_s)| (*tasks, *hold_s) == (1000, 0.0)).count(), 2);
}

#[test]
fn a_short_hold_is_repeated_and_remembered() {
    let folder = tempfile::tempdir().unwrap();
    // 1M tasks take 10 s, which a run of one task does not predict.
    let mut runner = Scripted::new(1e5);
    let (_, samples) = drive(&campaign(CHOSEN, 2), folder.path(), &mut runner);
    let large: Vec<(u32, u32, Status)> = samples
        .iter()
        .filter(|sample| sample.tasks == 1_000_000 && &*sample.entry == "x/a")
        .map(|sample| (sample.repetition, sample.attempt, sample.status))
        .collect();
    assert_eq!(large, [(1, 1, Status::Partial), (1, 2, Status::Ok), (2, 1, Status::Ok)]);
    let counted = crate::record::last_attempts(&samples);
    assert!(counted.iter().all(|sample| sample.status == Status::Ok && sample.time.plateau_s >= Some(1.0)));
}

#[test]
fn runs_with_a_fixed_hold_are_never_repeated() {
    let folder = tempfile::tempdir().unwrap();
    let mut runner = Scripted::new(5e4);
    let (_, samples) = drive(&campaign(Hold::Fixed { seconds: 10 }, 1), folder.path(), &mut runner);
    assert_eq!(samples.len(), 4);
    assert_eq!(samples.iter().filter(|sample| sample.status == Status::Partial).count(), 2);
    assert!(runner.measured().iter().all(|(_, _, hold_s)| *hold_s == 10.0));
}

#[test]
fn interruption_at_any_run_resumes_to_the_same_cells() {
    let plan = campaign(CHOSEN, 2);
    let whole = tempfile::tempdir().unwrap();
    let (_, all) = drive(&plan, whole.path(), &mut Scripted::new(1e5));
    let cell = |sample: &Sample| (sample.entry.clone(), sample.tasks, sample.repetition, sample.attempt);
    let mut expected: Vec<_> = all.iter().map(cell).collect();
    expected.sort();
    for cut in 0..all.len() + 4 {
        let folder = tempfile::tempdir().unwrap();
        let mut runner = Scripted { interrupt_after: Some(cut), ..Scripted::new(1e5) };
        let (outcome, kept) = drive(&plan, folder.path(), &mut runner);
        assert_eq!(outcome == RunsEnd::Interrupted, cut < all.len() + 2, "two of the runs are warm-ups");
        let mut again = Scripted::new(1e5);
        let (outcome, samples) = drive(&plan, folder.path(), &mut again);
        assert_eq!(outcome, RunsEnd::Complete);
        assert_eq!(again.measured().len(), all.len() - kept.len(), "nothing is measured twice");
        let mut cells: Vec<_> = samples.iter().map(cell).collect();
        cells.sort();
        assert_eq!(cells, expected, "cut after {cut} runs");
    }
}

#[test]
fn placeholders_are_filled_in_for_other_programs() {
    use taskscale_measure::{BlackBoxCommand, LoadAliveWhen, LoadCommand};
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>();
    let black_box = BlackBoxCommand {
        load: Some(LoadCommand { command: words(&["sh", "{tasks}"]), stands: LoadAliveWhen::Alive }),
        told_hold: true,
        ..BlackBoxCommand::default()
    };
    let env = BTreeMap::from([("N".to_owned(), "{tasks}".to_owned())]);
    let template = BlackBoxTemplate { black_box, env };
    let command = words(&["x", "--n={tasks}", "{seconds}", "{port}"]);
    let (command, env, black_box) = template.fill(&command, 1000, 3.0);
    assert_eq!(command, ["x", "--n=1000", "3", "{port}"]);
    assert_eq!(env["N"], "1000");
    assert_eq!(black_box.load.unwrap().command, ["sh", "1000"]);
}
