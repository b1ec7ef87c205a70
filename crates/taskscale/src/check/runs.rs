//! Runs one program of any shape, each run in its own cgroup and folder, and reports what is left behind.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::error::temp_folder;
use super::findings::{CHECK_AGAIN, ON_A_BUSY_MACHINE};
use super::{CheckError, CheckResult, CheckRule, Findings, Severity};
use crate::campaign::Prepared;
use crate::catalog::{Kind, Program, Workload, with_tasks};
use crate::record::{Cell, Series, Status, Warning};
use crate::report::command_line;
use crate::units;
use taskscale_measure::{LocalRunner, Measurement, RunDetails, RunEnd, Scenario};

/// Steps before a thousand tasks, which may be too many or too slow.
pub(super) const FEWER: [u64; 2] = [50, 200];

/// The most repeats of a program's runs on a busy machine. More do not help if the machine is always busy.
const MAX_REPEATS: u32 = 12;

/// One run of the check.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    pub tasks: u64,
    /// The wait of each task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hold_s: Option<f64>,
    /// The requested operations.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub operations: Option<u64>,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Until `alive`, or `ready`.
    pub launch_s: Option<f64>,
    /// CPU time of launch and exit, without the plateau.
    #[serde(skip)]
    pub start_cpu_s: Option<f64>,
    /// System time of the whole run.
    #[serde(skip)]
    pub system_s: Option<f64>,
    /// From `ready` to `done`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_s: Option<f64>,
    /// CPU time from `ready` to `done`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work_cpu_s: Option<f64>,
    /// While all tasks wait, or at `ready`.
    pub footprint_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    pub threads: Option<u64>,
    pub processes: Option<u64>,
}

/// A run, and what else was observed of it.
pub(super) type TracedRun = (Measurement, RunDetails);

/// How a program is run.
pub(super) struct RunRequest<'o> {
    pub tasks: u64,
    pub scenario: Scenario,
    /// Replaces the regular arguments.
    pub arguments: Option<&'o [String]>,
    pub time: Duration,
}

/// Runs one entry's program of one workload.
pub(super) struct Runs<'a, 'r> {
    runner: &'a mut LocalRunner<'r>,
    pub(super) prepared: &'a Prepared,
    pub(super) command: &'a [String],
    pub kind: Kind,
    pub(super) library_faults: &'a BTreeMap<String, String>,
    pub workload: &'a Workload,
    pub memory_bytes: Option<u64>,
    /// Parameters that differ from the default.
    pub params: BTreeMap<String, String>,
    /// An empty home folder.
    home: tempfile::TempDir,
    /// The tasks of the trial whose launch was repeated.
    pub relaunched: Option<u64>,
    repeats: u32,
    /// Whether the machine was busy or paused in the last run, and in any run.
    is_busy: bool,
    was_busy: bool,
    /// Threads and processes created on the machine during the last run.
    pub created: Option<u64>,
    left: BTreeSet<String>,
    left_at_home: Vec<String>,
    /// For each run, whether processes outlived the program.
    left_processes: Vec<bool>,
    /// The runs whose counts were checked.
    pub trials: Vec<Trial>,
    pub findings: Findings,
}

impl<'a, 'r> Runs<'a, 'r> {
    pub fn new(
        runner: &'a mut LocalRunner<'r>,
        program: &Program<'a>,
        prepared: &'a Prepared,
        command: &'a [String],
        memory_bytes: Option<u64>,
    ) -> CheckResult<Runs<'a, 'r>> {
        Ok(Runs {
            runner,
            prepared,
            command,
            kind: program.entry.kind,
            library_faults: &program.entry.workloads[&program.workload.name].library_faults,
            workload: program.workload,
            memory_bytes,
            params: BTreeMap::new(),
            home: temp_folder("taskscale-check-")?,
            relaunched: None,
            repeats: 0,
            is_busy: false,
            was_busy: false,
            created: None,
            left: BTreeSet::new(),
            left_at_home: Vec::new(),
            left_processes: Vec::new(),
            trials: Vec::new(),
            findings: Findings::default(),
        })
    }

    /// Parameters that differ from the default, as a command line.
    pub(super) fn words(&self) -> String {
        let words = self.params.iter().flat_map(|(name, value)| [format!("--{name}"), value.clone()]);
        command_line(&words.collect::<Vec<_>>())
    }

    /// Runs the program in its own cgroup and folder.
    pub fn run(&mut self, request: &RunRequest) -> CheckResult<TracedRun> {
        self.run_at(request, None)
    }

    /// Runs the program with an empty home folder, and records files left there.
    pub fn run_at_an_empty_home(&mut self, request: &RunRequest) -> CheckResult<TracedRun> {
        let home = self.home.path().to_owned();
        let ran = self.run_at(request, Some(&home))?;
        let names = std::fs::read_dir(&home).into_iter().flatten().flatten();
        self.left_at_home = names.map(|child| child.file_name().to_string_lossy().into_owned()).collect();
        Ok(ran)
    }

    fn run_at(&mut self, request: &RunRequest, home: Option<&Path>) -> CheckResult<TracedRun> {
        let part = Series { workload: self.workload.name.clone(), params: self.params.clone(), cpus: None };
        let cell = Cell { entry: self.prepared.facts.name.clone(), part, tasks: request.tasks };
        let scenario = request.scenario.clone();
        let mut spec = self.prepared.spec(&cell, scenario, self.memory_bytes, request.time);
        spec.env.extend(home.map(|home| ("HOME".to_owned(), home.to_string_lossy().into_owned())));
        if let Some(arguments) = request.arguments {
            spec.command = with_tasks(self.command, request.tasks);
            spec.command.extend_from_slice(arguments);
        }
        let before = created_so_far();
        let (end, details) = self.runner.run_in_detail(&spec)?;
        self.created = before.zip(created_so_far()).map(|(before, after)| after - before);
        let RunEnd::Measured(measured) = end else { return Err(CheckError::Interrupted) };
        // A pause of the machine, not a launch that needs a longer wait.
        let wait = request.scenario.wait();
        let in_time = |launch_s| wait.is_some_and(|wait| launch_s + wait.plateau_s <= wait.hold_s);
        let is_paused =
            details.unobservable && (details.unheard || measured.time.launch_s.is_some_and(in_time));
        self.is_busy = measured.warnings.contains(&Warning::MachineBusy)
            || measured.status == Status::NoPlateau && is_paused;
        self.was_busy |= self.is_busy;
        self.left.extend(details.files_left.iter().cloned());
        Ok((*measured, details))
    }

    /// Whether the last trial passed.
    pub fn passed(&self) -> bool {
        self.trials.last().is_some_and(|trial| trial.status == Status::Ok)
    }

    /// Takes the trials and findings so far, to collect others separately.
    pub fn set_aside(&mut self) -> (Vec<Trial>, Findings) {
        (std::mem::take(&mut self.trials), std::mem::take(&mut self.findings))
    }

    /// Restores these trials and findings, and adds the findings since, prefixed with the parameters.
    pub fn restore(&mut self, (trials, findings): (Vec<Trial>, Findings)) {
        let found = std::mem::replace(&mut self.findings, findings);
        self.findings.take(found.with(&self.words()));
        self.trials = trials;
    }

    /// Records a run with its findings, and returns its status. `None` if the run is to be repeated, as a busy
    /// machine may have caused the findings.
    pub fn keep(
        &mut self,
        request: &RunRequest,
        (measured, mut found): (Measurement, Findings),
        may_repeat: bool,
    ) -> Option<Status> {
        let status = measured.status;
        if found.blame_time(status) && may_be_caused_by_machine(&measured) {
            if may_repeat && self.repeat() {
                return None;
            }
            // In the last attempt the fault is the program's, unless another run had a plateau.
            let had_plateau = self.trials.iter().any(|trial| trial.status == Status::Ok);
            if may_repeat || status == Status::NoPlateau && had_plateau {
                found.are_inconclusive(status);
            }
        }
        self.findings.take(found);
        self.left_processes.push(measured.warnings.contains(&Warning::LeftProcesses));
        self.trials.push(trial(request, measured));
        Some(status)
    }

    /// Whether to repeat a run that the machine may have spoiled.
    pub fn repeat(&mut self) -> bool {
        self.repeats += 1;
        self.repeats <= MAX_REPEATS
    }

    /// Whether to retry with a longer wait. Counts as a repeat if the machine was busy.
    pub fn may_try_longer(&mut self) -> bool {
        !self.is_busy || self.repeat()
    }

    /// Reports that something cannot be confirmed. The fix is to check again if the machine was ever busy.
    pub fn unconfirmed(&mut self, what: impl std::fmt::Display, fix: &str) {
        let (what, fix) = match self.was_busy {
            false => (what.to_string(), fix),
            true => (format!("{what}: {ON_A_BUSY_MACHINE}"), CHECK_AGAIN),
        };
        self.findings.error(CheckRule::Unconfirmed, what, fix);
    }

    /// What to say of `tasks` that were not run, with the predicted seconds and bytes.
    pub fn too_expensive(&self, tasks: u64, (seconds, bytes): (f64, u64)) -> String {
        let most = units::counted(self.trials.last().map_or(0, |trial| trial.tasks), "task");
        let (time, memory) = (units::seconds(seconds), units::bytes(bytes));
        format!("not run with more than {most}: {tasks} need about {time} and {memory} here")
    }

    /// Notes that `tasks` were not run, with the predicted seconds and bytes.
    pub fn note_not_run(&mut self, rule: CheckRule, tasks: u64, needed: (f64, u64)) {
        let what = self.too_expensive(tasks, needed);
        self.findings.note(rule, what, "none in the entry: its tasks are expensive, or the machine is busy");
    }

    /// Reports files and processes left by the runs.
    pub fn check_leftovers(&mut self) {
        let findings = &mut self.findings;
        let fix = "wait for all child processes, and kill those that do not exit";
        let runs = self.left_processes.len();
        match self.left_processes.iter().filter(|left| **left).count() {
            0 => {}
            times if 2 * times > runs => {
                findings.error(CheckRule::Processes, "processes outlive the program", fix);
            }
            // A helper that exits shortly after its parent, on a busy machine.
            times => {
                let what = format!("processes outlived the program shortly in {times} of {runs} runs");
                findings.note(CheckRule::Processes, what, fix);
            }
        }
        let left: Vec<String> = self.left.iter().cloned().collect();
        let fix = "delete them before the program exits, or disable what writes them";
        findings.list(Severity::Error, CheckRule::Files, "leaves files in its working folder", &left, fix);
        let (what, left) = ("leaves files in the user's home", &self.left_at_home);
        let fix = "disable what writes them, usually with a variable in `env`: a run must not see files of an earlier one";
        findings.list(Severity::Warning, CheckRule::Files, what, left, fix);
    }
}

/// The record of a run.
pub(super) fn trial(request: &RunRequest, measured: Measurement) -> Trial {
    let work = measured.work.as_ref();
    Trial {
        tasks: request.tasks,
        hold_s: request.scenario.wait().map(|wait| wait.hold_s),
        operations: request.scenario.work().map(|work| work.operations),
        status: measured.status,
        launch_s: measured.time.launch_s,
        start_cpu_s: measured.cpu.launch_s.zip(measured.cpu.drain_s).map(|(launch, drain)| launch + drain),
        system_s: measured.cpu.system_s,
        work_s: work.and_then(|work| work.wall_s),
        work_cpu_s: work.and_then(|work| work.cpu_s),
        footprint_bytes: measured.memory.plateau.map(|plateau| plateau.footprint_bytes),
        peak_bytes: measured.memory.peak_bytes.filter(|_| work.is_some()),
        threads: measured.threads,
        processes: measured.processes,
        reason: measured.reason,
    }
}

/// Threads and processes created on this machine since it booted.
fn created_so_far() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    text.lines().find_map(|line| line.strip_prefix("processes "))?.trim().parse().ok()
}

/// Whether a busy machine may have caused the failure. Crashes, exit codes and missing exits also happen on an idle one.
pub(super) fn may_be_caused_by_machine(seen: &Measurement) -> bool {
    let of_time = match seen.status {
        Status::TimedOut => seen.done.is_none(),
        _ => seen.exit_code == Some(0),
    };
    of_time && seen.warnings.contains(&Warning::MachineBusy)
}

/// The value predicted for `tasks`, on a line through the first and the last trial that never falls.
pub(super) fn line(tasks: u64, trials: &[Trial], of: impl Fn(&Trial) -> Option<f64>) -> f64 {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return 0.0 };
    let share = (tasks.saturating_sub(first.tasks)) as f64 / (last.tasks - first.tasks).max(1) as f64;
    let (from, to) = (of(first).unwrap_or(0.0), of(last).unwrap_or(0.0));
    from + (to - from).max(0.0) * share
}

/// A passed run without measured values.
#[cfg(test)]
pub(super) fn test_trial(tasks: u64) -> Trial {
    Trial {
        tasks,
        hold_s: Some(2.0),
        operations: None,
        status: Status::Ok,
        reason: None,
        launch_s: None,
        start_cpu_s: None,
        system_s: None,
        work_s: None,
        work_cpu_s: None,
        footprint_bytes: None,
        peak_bytes: None,
        threads: None,
        processes: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_predicted_linearly() {
        let trial = |tasks, launch_s, bytes| Trial {
            launch_s: Some(launch_s),
            footprint_bytes: Some(bytes),
            ..test_trial(tasks)
        };
        // A Node.js worker: 40 ms and 8 MB each.
        let predicted = |trials: &[Trial]| {
            let bytes = line(1000, trials, |trial| trial.footprint_bytes.map(|bytes| bytes as f64));
            (line(1000, trials, |trial| trial.launch_s), bytes as u64)
        };
        let (launch_s, bytes) = predicted(&[trial(1, 0.1, 40 << 20), trial(7, 0.34, 88 << 20)]);
        assert!((launch_s - 40.06).abs() < 0.01, "{launch_s}");
        assert_eq!(bytes, (40 + 8 * 999) << 20);
        // Values that fall with N are predicted to stay the same.
        assert_eq!(predicted(&[trial(1, 0.3, 9), trial(7, 0.2, 8)]), (0.3, 9));
    }
}
