//! Chooses the parameters of runs: how long tasks wait, or the number of operations, from earlier runs. Pure.

use super::hold::HoldPredictor;
use super::operations::{OperationCalibrator, SHORT};
use super::plan::PlannedRun;
use super::serving::{serving, serving_briefly};
use crate::catalog::{Shape, Workload, period_s};
use crate::record::{Plan, Sample, Status, Warning};
use taskscale_load::LoadOrder;
use taskscale_measure::{HoldParams, Scenario, WorkParams};

/// Rough time in which a server accepts a connection, in seconds.
const CONNECT_S: f64 = 0.0005;
/// Maximum attempts for a server that fails on a busy machine, or whose plateau is not seen.
const MAX_ATTEMPTS_TO_SERVE: u32 = 3;

/// Chooses the parameters of one series of a campaign.
#[derive(Debug)]
pub struct RunTuner<'a> {
    plan: &'a Plan,
    workload: Option<&'a Workload>,
    pub holds: HoldPredictor,
    operations: OperationCalibrator,
}

impl<'a> RunTuner<'a> {
    /// `workload` is absent for black-box programs.
    pub fn new(plan: &'a Plan, workload: Option<&'a Workload>) -> RunTuner<'a> {
        let most = workload.map_or(u64::MAX, |workload| workload.most_operations);
        RunTuner {
            plan,
            workload,
            holds: HoldPredictor::new(plan.hold),
            operations: OperationCalibrator::new(plan.hold.work_s(), most),
        }
    }

    /// Learns from a run of its series.
    pub fn observe(&mut self, sample: &Sample) {
        self.holds.observe(sample);
        self.operations.observe(sample);
    }

    /// The parameters of the first attempt of a run. `None` if there is nothing to double.
    pub fn initial(&self, run: &PlannedRun) -> Option<Scenario> {
        let (entry, tasks) = (&run.cell.entry, run.cell.tasks);
        Some(match self.plan.shape {
            Shape::Hold => self.wait(entry, tasks, self.holds.initial_hold_s(entry, tasks)),
            Shape::Work if run.double => {
                let (operations, once_s) = self.operations.once(entry, tasks, run.repetition)?;
                self.work(2 * operations, Some(once_s))
            }
            Shape::Work => self.work(self.operations.initial(entry, tasks), None),
            Shape::Serve => serving(self.workload?, &self.plan.params, tasks, self.plan.hold),
        })
    }

    /// The parameters of another attempt, if those of `sample` were too small. `None` if the sample is final.
    pub fn retry(&self, sample: &Sample) -> Option<Scenario> {
        match self.plan.shape {
            Shape::Hold => Some(self.wait(&sample.entry, sample.tasks, self.holds.retry_hold_s(sample)?)),
            Shape::Work => Some(self.work(self.operations.retry(sample)?, None)),
            Shape::Serve => {
                let doubtful = match sample.status {
                    // CPU-starved clients do not read, and a server may disconnect clients that do not.
                    Status::Failed => sample.warnings.contains(&Warning::MachineBusy),
                    // As for waiting tasks: in another attempt it may become idle, or be observed.
                    Status::NoPlateau => true,
                    _ => false,
                };
                let again = doubtful && sample.attempt < MAX_ATTEMPTS_TO_SERVE;
                let workload = self.workload.filter(|_| again)?;
                Some(serving(workload, &self.plan.params, sample.tasks, self.plan.hold))
            }
        }
    }

    /// Predicted time of a run without launch and end, in seconds.
    pub fn predicted_s(&self, run: &PlannedRun) -> f64 {
        match self.plan.shape {
            Shape::Hold => self.holds.initial_hold_s(&run.cell.entry, run.cell.tasks),
            Shape::Work => self.plan.hold.work_s() * if run.double { 2.5 } else { 1.5 },
            Shape::Serve => {
                let scenario = self.initial(run);
                let serve = scenario.as_ref().and_then(Scenario::serve);
                let talk_s = serve.map_or(0.0, |serve| serve.order.talk_s());
                3.0 * self.plan.hold.plateau_s() + talk_s + run.cell.tasks as f64 * CONNECT_S
            }
        }
    }

    /// The default timeout of a run, in seconds. Generous: a runtime that launches 1M tasks in 25 s where 3 s were
    /// estimated must be able to finish.
    pub fn time_cap_s(&self, scenario: &Scenario) -> f64 {
        match scenario {
            Scenario::Work(_) => self.plan.hold.work_cap_s(),
            Scenario::Serve(serve) => {
                let order = &serve.order;
                120.0 + 3.0 * order.talk_s() + 10.0 * CONNECT_S * order.connections as f64
            }
            Scenario::Hold(wait) | Scenario::BlackBox(_, wait) => 120.0 + 3.0 * wait.hold_s,
        }
    }

    /// How the parameters of a run were chosen, for `--verbose`.
    pub fn why(&self, run: &PlannedRun, scenario: &Scenario, attempt: u32) -> String {
        match scenario {
            Scenario::Work(work) if run.double => {
                format!("{} operations, twice those of the first run", work.operations)
            }
            Scenario::Work(work) => {
                format!("{} operations, to take {} s", work.operations, self.plan.hold.work_s())
            }
            Scenario::Serve(serve) => {
                let LoadOrder { connections, active, closed_s, open_s, rate, .. } = &serve.order;
                let active = active.min(connections);
                let rate = match rate {
                    Some(rate) => format!("{rate} messages/s"),
                    None => "10%, 50% and 90% of that rate".to_owned(),
                };
                let closed =
                    format!("{connections} connections, {active} messages in flight for {closed_s} s");
                format!("{closed}, then {rate} for {open_s} s")
            }
            Scenario::Hold(wait) | Scenario::BlackBox(_, wait) => {
                let why = self.holds.why(&run.cell.entry, run.cell.tasks, attempt);
                format!("wait {} s: {why}", wait.hold_s)
            }
        }
    }

    fn wait(&self, entry: &str, tasks: u64, hold_s: f64) -> Scenario {
        Scenario::Hold(HoldParams {
            hold_s,
            plateau_s: self.plan.hold.plateau_s(),
            period_s: self.workload.and_then(|workload| period_s(workload, &self.plan.params)),
            reading_s: self.holds.predict_reading_s(entry, tasks),
        })
    }

    fn work(&self, operations: u64, once_s: Option<f64>) -> Scenario {
        let least_s = SHORT * self.plan.hold.work_s();
        let all_alive = self.workload.is_some_and(|workload| workload.all_alive);
        Scenario::Work(WorkParams { operations, once_s, least_s, all_alive })
    }
}

/// An unmeasured run that brings the files of later runs into the page cache: no wait, one operation per task,
/// or a few messages.
pub fn warm_up(workload: Option<&Workload>, tasks: u64) -> Scenario {
    match workload.map(|workload| (workload, workload.shape)) {
        None | Some((_, Shape::Hold)) => Scenario::Hold(HoldParams::default()),
        Some((workload, Shape::Serve)) => serving_briefly(workload, tasks),
        Some((_, Shape::Work)) => Scenario::Work(WorkParams { operations: tasks, ..WorkParams::default() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::tests::carried_workloads;
    use crate::record::{Hold, test_sample};

    #[test]
    fn servers_are_retried_on_busy_machines_or_without_a_plateau() {
        let workloads = carried_workloads();
        let chat = workloads.iter().find(|workload| workload.name == "chat");
        let hold = Hold::Chosen { plateau_s: 1.0 };
        let plan =
            Plan { shape: Shape::Serve, ..Plan::of_holds("chat", vec!["x/y".to_owned()], vec![20], 1, hold) };
        let tuner = RunTuner::new(&plan, chat);
        let mut sample = test_sample("x/y", 20);
        sample.status = Status::Failed;
        assert!(tuner.retry(&sample).is_none(), "nobody else is to blame");
        sample.warnings.push(Warning::MachineBusy);
        assert!(
            matches!(tuner.retry(&sample), Some(Scenario::Serve(serve)) if serve.order.connections == 20)
        );
        sample.attempt = MAX_ATTEMPTS_TO_SERVE;
        assert!(tuner.retry(&sample).is_none());
        (sample.attempt, sample.status) = (1, Status::Crashed);
        assert!(tuner.retry(&sample).is_none(), "a crash is its own");
        (sample.warnings, sample.status) = (Vec::new(), Status::NoPlateau);
        assert!(tuner.retry(&sample).is_some(), "its plateau was not seen");
    }
}
