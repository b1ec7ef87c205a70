//! Runs at several N: lines, counts, waits, ends, and what is left behind.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::judge::judge;
use super::{CheckError, Findings, Rule, Subject};
use crate::campaign::{foreseen_reading_s, hold_for_launch};
use crate::catalog::Kind;
use crate::measure::{Bounds, Course, LocalRunner, Measurement, RunEnd, RunSpec, Trace, Wait};
use crate::record::{Status, Warning};
use crate::units;

/// The counts that every entry is tried at.
const COUNTS: [u64; 3] = [1, 7, 1000];
/// Counts at which memory is looked at while its growth cannot be told from noise.
const LARGER: [u64; 2] = [10_000, 100_000];
/// Where a thousand tasks may be too many for this machine or for patience: fewer before.
pub(super) const FEWER: [u64; 2] = [50, 200];
/// Growth of the footprint that no noise explains, in bytes, and as a share of the base.
const GROWTH_BYTES: u64 = 4 << 20;
const GROWTH_SHARE: f64 = 0.1;
/// A launch that is foreseen to be longer than this, in seconds, is not waited for.
const LONGEST_LAUNCH_S: f64 = 30.0;
/// A launch that proves longer than foreseen is given a longer hold this often.
const ATTEMPTS: u32 = 4;
/// The shortest hold of many tasks, in seconds.
const MANY_HOLD_S: f64 = 2.0;
/// A plateau of this length, in seconds, is enough to read memory.
const PLATEAU_S: f64 = 0.5;
/// Two memory areas a task, in kinds with stacks: beyond this the machine's limits would be tried, not the program.
const MOST_WITH_STACK: u64 = 10_000;

/// One run of the check.
#[derive(Debug, Clone, Serialize)]
pub struct Trial {
    pub tasks: u64,
    pub hold_s: f64,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    pub launch_s: Option<f64>,
    pub footprint_bytes: Option<u64>,
    pub threads: Option<u64>,
    pub processes: Option<u64>,
}

/// Runs one entry's program.
pub(super) struct Runs<'a, 'r> {
    runner: &'a mut LocalRunner<'r>,
    command: &'a [String],
    env: BTreeMap<String, String>,
    kind: Kind,
    memory_bytes: Option<u64>,
    /// An empty folder in the place of the user's.
    home: tempfile::TempDir,
    /// The trial whose launch was looked at again, by its tasks.
    looked_again: Option<u64>,
    left: Vec<String>,
    left_at_home: Vec<String>,
    /// Of each run in turn: whether processes outlived the program.
    left_processes: Vec<bool>,
}

impl<'a, 'r> Runs<'a, 'r> {
    pub fn new(
        runner: &'a mut LocalRunner<'r>,
        subject: &Subject,
        command: &'a [String],
        memory_bytes: Option<u64>,
    ) -> Result<Runs<'a, 'r>, CheckError> {
        let home = tempfile::Builder::new().prefix("taskscale-check-").tempdir();
        let home = home.map_err(|error| CheckError::Io {
            what: "create a folder in",
            path: std::env::temp_dir(),
            error,
        })?;
        let env = subject.entry.env.clone();
        Ok(Runs {
            runner,
            command,
            env,
            kind: subject.entry.kind,
            memory_bytes,
            home,
            looked_again: None,
            left: Vec::new(),
            left_at_home: Vec::new(),
            left_processes: Vec::new(),
        })
    }

    /// Runs the program with these arguments, in a group and a folder of its own.
    pub fn run(
        &mut self,
        arguments: &[String],
        tasks: u64,
        hold_s: f64,
        home: Option<&Path>,
        time: Duration,
    ) -> Result<(Measurement, Trace), CheckError> {
        let mut env = self.env.clone();
        env.extend(home.map(|home| ("HOME".to_owned(), home.to_string_lossy().into_owned())));
        let spec = RunSpec {
            command: [self.command, arguments].concat(),
            env,
            kind: self.kind,
            tasks,
            course: Course::Hold(Wait {
                hold_s,
                plateau_s: PLATEAU_S,
                reading_s: foreseen_reading_s(self.kind, tasks),
            }),
            cpus: None,
            bounds: Bounds { memory_bytes: self.memory_bytes, time, output_bytes: 1 << 20 },
        };
        let (end, trace) = self.runner.run_traced(&spec)?;
        let RunEnd::Measured(measured) = end else { return Err(CheckError::Interrupted) };
        self.left.extend(trace.files_left.iter().cloned());
        Ok((*measured, trace))
    }

    /// A later attempt is given more time: the machine may have had none for the first.
    fn tasks(&mut self, tasks: u64, hold_s: f64, attempt: u32) -> Result<(Measurement, Trace), CheckError> {
        let arguments = [tasks.to_string(), format!("{}", hold_s as u64)];
        let time = Duration::from_secs_f64(30.0 + 4.0 * hold_s) * attempt;
        self.run(&arguments, tasks, hold_s, None, time)
    }

    /// Every N, and a wait of no time.
    pub fn all(&mut self, findings: &mut Findings) -> Result<Vec<Trial>, CheckError> {
        let mut trials = Vec::new();
        // Different waits: a program with a wait of its own choice meets one of them at most.
        let mut least_s = 1.0;
        for tasks in [COUNTS[0], COUNTS[1]] {
            if !self.hold(tasks, least_s, &mut trials, findings)? {
                // What fails with few tasks has nothing to say with many.
                return Ok(trials);
            }
            least_s = trials.last().map_or(least_s, |trial| trial.hold_s) + 1.0;
        }
        self.no_wait(findings)?;
        let mut passed = self.many(&mut trials, findings)?;
        for tasks in LARGER {
            if !passed || self.grown(&trials) || (self.kind.stackful() && tasks > MOST_WITH_STACK) {
                break;
            }
            if !self.affordable(tasks, &mut trials)? {
                not_tried(Rule::Memory, tasks, &trials, findings);
                break;
            }
            passed = self.hold(tasks, MANY_HOLD_S, &mut trials, findings)?;
        }
        Ok(trials)
    }

    /// Seven tasks that wait for no time, with an empty home: nothing may be written there.
    fn no_wait(&mut self, findings: &mut Findings) -> Result<(), CheckError> {
        let arguments = [COUNTS[1].to_string(), "0".to_owned()];
        let time = Duration::from_secs(30);
        let home = self.home.path().to_owned();
        let (measured, _) = self.run(&arguments, COUNTS[1], 0.0, Some(&home), time)?;
        let names = std::fs::read_dir(&home).into_iter().flatten().flatten();
        let names: Vec<String> =
            names.map(|child| child.file_name().to_string_lossy().into_owned()).collect();
        self.left_at_home = names;
        let good = |measured: &Measurement| {
            measured.exit_code == Some(0) && measured.done == Some(COUNTS[1]) && measured.alive.is_some()
        };
        if good(&measured) {
            return Ok(());
        }
        // With the user's own home it may well run: its toolchain may live there.
        let (measured, _) = self.run(&arguments, COUNTS[1], 0.0, None, time)?;
        if !good(&measured) {
            let why = measured.reason.unwrap_or_else(|| "it did not say `alive` and `done 7`".into());
            findings.error(
                Rule::Wait,
                format!("with 7 tasks that wait 0 s: {why}"),
                "allow a wait of 0 s: `alive K` (K may be less than N then) and `done N`, exit code 0",
            );
        }
        Ok(())
    }

    /// 1,000 tasks, or fewer where so many are foreseen to need more time or memory than there is.
    fn many(&mut self, trials: &mut Vec<Trial>, findings: &mut Findings) -> Result<bool, CheckError> {
        let most = COUNTS[2];
        if self.affordable(most, trials)? {
            return self.hold(most, MANY_HOLD_S, trials, findings);
        }
        // A few tasks say little of a thousand, and the machine may have been busy: ask more and more of them.
        let mut passed = true;
        for tasks in FEWER.into_iter().chain([most]) {
            if !self.affordable(tasks, trials)? {
                not_tried(Rule::Limit, most, trials, findings);
                return Ok(false);
            }
            passed = passed && self.hold(tasks, MANY_HOLD_S, trials, findings)?;
            if !passed {
                break;
            }
        }
        Ok(passed)
    }

    /// Whether so many tasks are foreseen to need neither too long nor too much. Other work can only lengthen a launch:
    /// what seems too long is looked at again, once for each trial, and the shortest counts.
    fn affordable(&mut self, tasks: u64, trials: &mut [Trial]) -> Result<bool, CheckError> {
        for attempt in 2.. {
            let (launch_s, bytes) = foreseen(tasks, trials);
            let too_much = self.memory_bytes.is_some_and(|most| bytes > most);
            let Some(last) = trials.last_mut().filter(|_| launch_s > LONGEST_LAUNCH_S && !too_much) else {
                return Ok(!too_much);
            };
            if attempt > ATTEMPTS || self.looked_again == Some(last.tasks) {
                self.looked_again = Some(last.tasks);
                return Ok(false);
            }
            let (again, _) = self.tasks(last.tasks, last.hold_s, attempt)?;
            let shorter = |launch_s: f64| again.time.launch_s.map_or(launch_s, |again| again.min(launch_s));
            last.launch_s = last.launch_s.map(shorter);
        }
        Ok(false)
    }

    /// Runs `tasks` with a hold of at least `least_s` that is long enough, and says whether all was well.
    fn hold(
        &mut self,
        tasks: u64,
        least_s: f64,
        trials: &mut Vec<Trial>,
        findings: &mut Findings,
    ) -> Result<bool, CheckError> {
        let (launch_s, _) = foreseen(tasks, trials);
        let reading_s = foreseen_reading_s(self.kind, tasks);
        let mut hold_s = hold_for_launch(launch_s, reading_s, PLATEAU_S).max(least_s);
        for attempt in 1.. {
            let (measured, trace) = self.tasks(tasks, hold_s, attempt)?;
            let late = measured.time.launch_s.filter(|launch_s| {
                let short = launch_s + PLATEAU_S > hold_s;
                measured.status == Status::NoPlateau
                    || short && matches!(measured.status, Status::Ok | Status::Partial)
            });
            if let (Some(launch_s), true) = (late, attempt < ATTEMPTS) {
                hold_s = hold_for_launch(launch_s, reading_s, PLATEAU_S).max((hold_s * 1.5).ceil());
                continue;
            }
            let mut found = Findings::default();
            judge(tasks, hold_s, &measured, &trace, &mut found);
            if attempt < ATTEMPTS && found.blame_time() && may_be_the_machines(&measured) {
                continue;
            }
            findings.take(found);
            self.left_processes.push(measured.warnings.contains(&Warning::LeftProcesses));
            let passed = measured.status == Status::Ok;
            trials.push(trial(tasks, hold_s, measured));
            return Ok(passed);
        }
        Ok(false)
    }

    /// Whether memory has grown by more than noise.
    fn grown(&self, trials: &[Trial]) -> bool {
        let footprint = |trial: Option<&Trial>| trial.and_then(|trial| trial.footprint_bytes);
        match (footprint(trials.first()), footprint(trials.last())) {
            (Some(base), Some(large)) => {
                large.saturating_sub(base) > GROWTH_BYTES.max((base as f64 * GROWTH_SHARE) as u64)
            }
            _ => true,
        }
    }

    /// Files and processes, once all runs are over.
    pub fn look_at_what_is_left(&self, findings: &mut Findings) {
        let fix = "wait for every process that it starts, and end what does not end by itself";
        match self.left_processes.iter().filter(|left| **left).count() {
            0 => {}
            times if times == self.left_processes.len() => {
                findings.error(Rule::Processes, "processes outlive the program", fix);
            }
            // A helper that ends a moment after its parent, on a busy machine.
            times => findings.note(
                Rule::Processes,
                format!(
                    "in {times} of {} runs processes were still there a moment after its end",
                    self.left_processes.len()
                ),
                fix,
            ),
        }
        let mut left = self.left.clone();
        left.sort();
        left.dedup();
        if !left.is_empty() {
            findings.error(
                Rule::Files,
                format!("leaves files in its working folder: {}", listed(&left)),
                "remove them before it exits, or turn off what writes them",
            );
        }
        if !self.left_at_home.is_empty() {
            findings.warning(
                Rule::Files,
                format!("leaves files in the user's home: {}", listed(&self.left_at_home)),
                "turn off what writes them, mostly by a variable in `env`: a run should not find what an earlier one left",
            );
        }
    }
}

/// At most five of them.
pub(super) fn listed(names: &[String]) -> String {
    let shown = names.iter().take(5).cloned().collect::<Vec<_>>().join(", ");
    if names.len() > 5 { format!("{shown} and {} more", names.len() - 5) } else { shown }
}

fn trial(tasks: u64, hold_s: f64, measured: Measurement) -> Trial {
    Trial {
        tasks,
        hold_s,
        status: measured.status,
        reason: measured.reason,
        launch_s: measured.time.launch_s,
        footprint_bytes: measured.memory.plateau.map(|plateau| plateau.footprint_bytes),
        threads: measured.threads,
        processes: measured.processes,
    }
}

/// Whether a machine that had no time for the program may have made it look bad. What it did by itself (a crash, an exit
/// code, an end that never came although all was done) it would have done on a quiet one as well.
fn may_be_the_machines(seen: &Measurement) -> bool {
    let of_time = match seen.status {
        Status::TimedOut => seen.done.is_none(),
        _ => seen.exit_code == Some(0),
    };
    of_time && seen.warnings.contains(&Warning::MachineBusy)
}

/// Why there was no run of `tasks`.
fn not_tried(rule: Rule, tasks: u64, trials: &[Trial], findings: &mut Findings) {
    let (launch_s, bytes) = foreseen(tasks, trials);
    findings.note(
        rule,
        format!(
            "not tried with more than {} tasks: {tasks} would take about {} and {} here",
            trials.last().map_or(0, |trial| trial.tasks),
            units::seconds(launch_s),
            units::bytes(bytes)
        ),
        "nothing in the entry: its tasks are expensive, or the machine is busy",
    );
}

/// Launch in seconds and memory in bytes of `tasks`, by a line through the first and the last trial.
fn foreseen(tasks: u64, trials: &[Trial]) -> (f64, u64) {
    let (Some(first), Some(last)) = (trials.first(), trials.last()) else { return (0.0, 0) };
    let share = (tasks.saturating_sub(first.tasks)) as f64 / (last.tasks - first.tasks).max(1) as f64;
    let line = |from: f64, to: f64| from + (to - from).max(0.0) * share;
    let launch_s = line(first.launch_s.unwrap_or(0.0), last.launch_s.unwrap_or(0.0));
    let bytes = |trial: &Trial| trial.footprint_bytes.unwrap_or(0) as f64;
    (launch_s, line(bytes(first), bytes(last)) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thousand_tasks_are_foreseen_by_a_line() {
        let trial = |tasks, launch_s, bytes| Trial {
            tasks,
            hold_s: 1.0,
            status: Status::Ok,
            reason: None,
            launch_s: Some(launch_s),
            footprint_bytes: Some(bytes),
            threads: None,
            processes: None,
        };
        // A Node.js worker: 40 ms and 8 MB each.
        let (launch_s, bytes) = foreseen(1000, &[trial(1, 0.1, 40 << 20), trial(7, 0.34, 88 << 20)]);
        assert!((launch_s - 40.06).abs() < 0.01, "{launch_s}");
        assert_eq!(bytes, (40 + 8 * 999) << 20);
        // What takes no longer with more tasks is no line that falls.
        assert_eq!(foreseen(1000, &[trial(1, 0.3, 9), trial(7, 0.2, 8)]), (0.3, 9));
    }
}
