//! Runs of programs that work: lines, counts and ends, and whether operations are made at all.
//!
//! Twice the operations must take about twice as long. Where tasks are threads or processes, the kernel must have made
//! as many as the operations need: it counts those of the whole machine, and so never too few.

use std::collections::BTreeMap;
use std::time::Duration;

use super::floor::Floor;
use super::judge_work::{judge, with};
use super::runs::{Order, Runs, Trial, line, may_be_the_machines, not_tried, trial};
use super::{CheckError, Findings, Rule};
use crate::catalog::{Kind, expected_to_make};
use crate::measure::{Course, Measurement, WorkOrder};
use crate::record::{Status, Warning};
use crate::units;

/// Operations of the first runs, for each task.
pub(super) const FEW_ROUNDS: u64 = 7;
/// The most tasks that every program is tried with.
const MANY_TASKS: u64 = 1_000;
/// A run that is foreseen to take longer, in seconds, is not waited for.
const LONGEST_S: f64 = 30.0;
/// A run that seems to have been kept from its work by others is made again so often.
const ATTEMPTS: u32 = 4;
const PATIENCE: Duration = Duration::from_secs(120);
/// What was foreseen to take so long is given so many times as much: another run may have the CPUs meanwhile.
const SLOWER: f64 = 8.0;
/// Operations that take less than this, in seconds of CPU, are too few to compare them with twice as many.
const LEAST_CPU_S: f64 = 0.3;
/// Nor does it take longer than this, in seconds, where they wait more than they work.
const LONG_ENOUGH_S: f64 = 2.0;
/// What can still be told from nothing, in seconds of CPU.
const TELLABLE_S: f64 = 0.05;
/// From one run to the next operations grow by no more than this.
const MOST_GROWTH: f64 = 100.0;
/// Twice the operations take so many times as much: a compiler at work makes it less, a collector more.
const LEAST_RATIO: f64 = 1.4;
const MOST_RATIO: f64 = 3.0;
/// While other work has the CPUs, what takes so many times as much is not taken for work that is not done: tasks that hand
/// over to each other cost more or less by where they happen to run.
const TELLING_RATIO: f64 = 1.15;
/// Operations are doubled until a warm-up that all runs share weighs little in them, but not beyond a pair of which the
/// larger costs so many seconds; in between they grow by so much at most. HotSpot's compilers alone take some 2 s of CPU.
const OUTWEIGHED_S: f64 = 10.0;
const MOST_STEP: f64 = 16.0;
/// An operation takes no less than this share of what an object takes that is allocated and freed: a quarter, as a message
/// needs none. The fastest of 62 programs (Node.js promises) takes twice as much as such an object, an empty loop a
/// twentieth.
const LEAST_SHARE: f64 = 0.25;
/// The memory that operations keep can be told from what a program takes for itself, in bytes.
const TELLABLE_BYTES: u64 = 16 << 20;

/// A run, and what it took.
pub(super) struct Took {
    operations: u64,
    /// From `ready` to `done`, in seconds.
    wall_s: f64,
    cpu_s: f64,
    /// CPU before `ready` and after `done`.
    outside_s: f64,
    /// Threads and processes that the machine made meanwhile.
    made: Option<u64>,
    /// Whether other work had the CPUs as well.
    busy: bool,
}

impl Took {
    /// What its operations cost: CPU, or time where they wait.
    fn cost(&self) -> (f64, &'static str) {
        if self.cpu_s >= TELLABLE_S || self.wall_s < LONG_ENOUGH_S {
            (self.cpu_s, "of CPU")
        } else {
            (self.wall_s, "from `ready` to `done`")
        }
    }
}

impl Runs<'_, '_> {
    /// Every N, and twice the operations; also the CPU time of an operation in nanoseconds, where it could be told.
    pub fn work_all(&mut self, findings: &mut Findings) -> Result<(Vec<Trial>, Option<f64>), CheckError> {
        let mut trials = Vec::new();
        let default = &self.workload.tasks;
        let fewest = default.first().copied().unwrap_or(1);
        let many = default.iter().copied().filter(|tasks| *tasks <= MANY_TASKS).max().unwrap_or(fewest);
        let operations = FEW_ROUNDS * fewest;
        let Some(mut few) = self.work(fewest, operations, &mut trials, findings)? else {
            // What fails with few tasks has nothing to say with many.
            return Ok((trials, None));
        };
        // What is written there is looked at; with the user's own it ran.
        self.run_at_an_empty_home(&self.order(fewest, operations, PATIENCE))?;
        let mut tasks = fewest;
        // Never a multiple of the tasks, were there more than one.
        let rest = |tasks: u64| if self.workload.whole_trees { 0 } else { tasks / 2 };
        let rounds = |tasks: u64| tasks * 2 + rest(tasks);
        for more in [fewest * 10, many] {
            if more <= tasks {
                continue;
            }
            let (seconds, bytes) = self.foreseen(more, rounds(more), &trials);
            if seconds > LONGEST_S || self.memory_bytes.is_some_and(|most| bytes > most) {
                not_tried(Rule::Limit, more, &trials, (seconds, bytes), findings);
                break;
            }
            // What it takes to start and to end so many tasks is in both runs.
            let Some(of_more) = self.work(more, rounds(more), &mut trials, findings)? else {
                return Ok((trials, None));
            };
            (tasks, few) = (more, of_more);
        }
        let cost_ns = self.twice(tasks, few, &mut trials, findings)?;
        Ok((trials, cost_ns))
    }

    fn order(&self, tasks: u64, operations: u64, time: Duration) -> Order<'static> {
        let all_alive = self.workload.all_alive;
        let course = Course::Work(WorkOrder { operations, all_alive, ..WorkOrder::default() });
        Order { tasks, course, arguments: None, time }
    }

    /// Does so many operations, and says what they took where all was well.
    pub(super) fn work(
        &mut self,
        tasks: u64,
        operations: u64,
        trials: &mut Vec<Trial>,
        findings: &mut Findings,
    ) -> Result<Option<Took>, CheckError> {
        let foreseen_s = self.foreseen(tasks, operations, trials).0;
        let time = PATIENCE.max(Duration::from_secs_f64(SLOWER * foreseen_s));
        let order = self.order(tasks, operations, time);
        for attempt in 1.. {
            let (measured, trace) = self.run(&order)?;
            let mut found = Findings::default();
            judge((tasks, operations), &measured, &trace, &mut found);
            if attempt < ATTEMPTS && found.blame_time() && may_be_the_machines(&measured) {
                continue;
            }
            findings.take(found);
            self.left_processes.push(measured.warnings.contains(&Warning::LeftProcesses));
            let took = took(operations, self.made, &measured);
            if measured.status == Status::Ok {
                self.look_at_what_was_made(tasks, operations, findings);
            }
            let passed = measured.status == Status::Ok;
            trials.push(trial(&order, measured));
            return Ok(took.filter(|_| passed));
        }
        Ok(None)
    }

    /// Seconds and bytes of such a run, by what others took.
    fn foreseen(&self, tasks: u64, operations: u64, trials: &[Trial]) -> (f64, u64) {
        let seen: Vec<(f64, f64)> =
            trials.iter().filter_map(|trial| Some((trial.operations? as f64, trial.work_s?))).collect();
        let launch_s = line(tasks, trials, |trial| trial.launch_s);
        let work_s = match (seen.first(), seen.last()) {
            (Some((few, few_s)), Some((more, more_s))) => {
                // What the first operations take once is no part of the others.
                let each_s =
                    if more > few { ((more_s - few_s) / (more - few)).max(0.0) } else { more_s / more };
                (more_s + each_s * (operations as f64 - more)).max(0.0)
            }
            _ => 0.0,
        };
        let seconds = launch_s + work_s;
        let bytes = line(tasks, trials, |trial| trial.peak_bytes.map(|bytes| bytes as f64));
        (seconds, bytes as u64)
    }

    /// Threads and processes that were never made: others on the machine make more of them, and never fewer.
    fn look_at_what_was_made(&self, tasks: u64, operations: u64, findings: &mut Findings) {
        let (Kind::Thread | Kind::Process, Some(made)) = (self.kind, self.made) else { return };
        let due = expected_to_make(self.workload, tasks, operations, &BTreeMap::new());
        let what = || {
            format!(
                "{}: kind is {}, and so {} of them were due, but the kernel made {} threads and processes on the whole \
                 machine meanwhile",
                with(tasks, operations),
                self.kind.name(),
                units::grouped(due),
                units::grouped(made)
            )
        };
        match Made::of(made, due) {
            // Where not even the start of the program shows, nothing is counted here.
            Made::Fewer if made > 0 => findings.error(
                Rule::Kind,
                what(),
                "make one for each task and each operation as the workload says, and keep none to use again; or give another `kind`",
            ),
            Made::Untold if due >= MANY_TASKS => {
                findings.note(Rule::Kind, format!("{}: {UNTOLD}", what()), OTHERS_MAKE_MANY);
            }
            Made::Fewer | Made::OneForEach | Made::Untold => {}
        }
    }

    /// Enough operations to be timed, and twice as many.
    fn twice(
        &mut self,
        tasks: u64,
        few: Took,
        trials: &mut Vec<Trial>,
        findings: &mut Findings,
    ) -> Result<Option<f64>, CheckError> {
        let most = self.workload.most_operations / 2 / tasks * tasks;
        let mut operations = (tasks * FEW_ROUNDS).min(most).max(tasks);
        // What fewer operations took outside of their time, where that was more than within it.
        let mut outside_before: Option<f64> = None;
        let too_long = self.foreseen(tasks, operations, trials).0 > LONGEST_S;
        let mut once = loop {
            // What each of few tasks does in a second, each of many may take minutes for.
            if too_long {
                break few;
            }
            let Some(took) = self.work(tasks, operations, trials, findings)? else { return Ok(None) };
            let outside_s = (took.outside_s - few.outside_s).max(0.0);
            // What few operations take is mostly what the first of all take once.
            let cpu_s = (took.cpu_s - few.cpu_s).max(outside_s);
            let elsewhere = outside_s >= LEAST_CPU_S && outside_s > took.cpu_s;
            // A start that took longer than the one before, on a busy machine, does not grow with the operations.
            if elsewhere && outside_before.is_some_and(|before| outside_s > LEAST_RATIO * before) {
                findings.error(
                    Rule::Work,
                    format!(
                        "{}: took {} of CPU between `ready` and `done`, and {} before and after, which few operations do not",
                        with(tasks, operations),
                        units::seconds(took.cpu_s),
                        units::seconds(outside_s)
                    ),
                    "say `ready` and flush it before the first operation, and `done` after the last: the work is timed between them",
                );
                return Ok(None);
            }
            outside_before = Some(outside_s).filter(|_| elsewhere);
            let enough = cpu_s >= LEAST_CPU_S && !elsewhere;
            if enough || took.wall_s >= LONG_ENOUGH_S || operations >= most {
                break took;
            }
            let growth = (1.5 * LEAST_CPU_S / cpu_s.max(1e-9)).clamp(2.0, MOST_GROWTH);
            let in_time = (1.5 * LONG_ENOUGH_S / took.wall_s.max(1e-9)).max(2.0);
            operations = ((operations as f64 * growth.min(in_time)) as u64).min(most) / tasks * tasks;
        };
        let used = self.look_at_what_was_used(tasks, (once.operations, once.cpu_s), trials, findings);
        if !used || once.cpu_s < TELLABLE_S && once.wall_s < LONG_ENOUGH_S {
            return Ok(None);
        }
        let mut ratio = None;
        while once.wall_s < LONGEST_S && 2 * once.operations <= self.workload.most_operations {
            let operations = 2 * once.operations;
            let Some(double) = self.work(tasks, operations, trials, findings)? else { return Ok(None) };
            let (more, less) = (double.cost(), once.cost());
            ratio = Some((more.0 / less.0.max(1e-9), less, more, once.operations));
            let fair = (LEAST_RATIO..=MOST_RATIO).contains(&(more.0 / less.0.max(1e-9)));
            if fair {
                self.look_at_what_came_of_itself(tasks, [&once, &double], findings);
                // What mostly waits has no CPU time to speak of.
                let told = once.cpu_s >= TELLABLE_S && double.cpu_s > once.cpu_s;
                if !told {
                    findings.unconfirmed(format!(
                        "{}: {} of CPU: too little to tell whether operations are made",
                        with(tasks, double.operations),
                        units::seconds(double.cpu_s)
                    ));
                    return Ok(None);
                }
                let (operations, cpu_s) = (double.operations - once.operations, double.cpu_s - once.cpu_s);
                let used = self.look_at_what_was_used(tasks, (operations, cpu_s), trials, findings);
                return Ok(used.then(|| cpu_s * 1e9 / operations as f64));
            }
            let outweighed = more.0 >= OUTWEIGHED_S || double.wall_s >= LONGEST_S;
            // What is taken once, by a compiler at work, still weighs more than the operations, if they take anything.
            let each_s = (more.0 - less.0).max(0.0) / once.operations as f64;
            let wanted = 2.0 * more.0 / (each_s * double.operations as f64).max(1e-9);
            // The pair to come ends the comparison, and is no longer than it must be.
            let bound = (OUTWEIGHED_S / more.0.max(1e-9)).min(LONGEST_S / double.wall_s.max(1e-9)) / 2.0;
            let growth = wanted.min(bound).clamp(1.0, MOST_STEP);
            let operations = (double.operations as f64 * growth) as u64 / tasks * tasks;
            once = double;
            if outweighed {
                break;
            }
            if growth > 1.5 && operations <= most {
                let Some(more) = self.work(tasks, operations, trials, findings)? else { return Ok(None) };
                once = more;
            }
        }
        let Some((ratio, (less_s, of), (more_s, _), operations)) = ratio else {
            if once.wall_s >= LONGEST_S {
                findings.note(
                    Rule::Work,
                    format!(
                        "{} it took {}: whether twice as many take twice as long was not tried",
                        with(tasks, once.operations),
                        units::seconds(once.wall_s)
                    ),
                    "nothing in the entry: its tasks are expensive, or the machine is busy",
                );
            }
            return Ok(None);
        };
        let what = format!(
            "{} it took {} {of}, and twice as many took {}",
            with(tasks, operations),
            units::seconds(less_s),
            units::seconds(more_s)
        );
        let untold = once.wall_s >= LONGEST_S || ratio >= TELLING_RATIO;
        if ratio < LEAST_RATIO && once.busy && untold {
            // It would have been asked for more, had it been let work.
            findings.note(
                Rule::Work,
                format!("{what}: whether operations are made cannot be told while other work has the CPUs"),
                "check it again when the machine is quiet",
            );
        } else if ratio < LEAST_RATIO {
            findings.error(Rule::Work, what, NOT_MADE);
        } else {
            findings.warning(
                Rule::Work,
                what,
                "find out what grows with the number of operations: something of each that is kept, or searched",
            );
        }
        Ok(None)
    }

    /// Whether operations took the CPU time and the memory that they cannot do without.
    fn look_at_what_was_used(
        &self,
        tasks: u64,
        (operations, cpu_s): (u64, f64),
        trials: &[Trial],
        findings: &mut Findings,
    ) -> bool {
        let (each_ns, object_ns) = (cpu_s * 1e9 / operations as f64, Floor::here().object_ns);
        if each_ns < LEAST_SHARE * object_ns {
            findings.error(
                Rule::Work,
                format!(
                    "{}: {} of CPU, which is {} ns an operation: nothing is made in so little time (to allocate and to free \
                     an object takes {} ns here)",
                    with(tasks, operations),
                    units::seconds(cpu_s),
                    units::significant(each_ns, 2),
                    units::significant(object_ns, 2)
                ),
                NOT_MADE,
            );
            return false;
        }
        let kept = |trial: &Trial| trial.operations.unwrap_or(0) * self.workload.keeps;
        let most = trials.iter().filter(|trial| trial.status == Status::Ok).max_by_key(|trial| kept(trial));
        let Some((trial, peak)) = most.and_then(|trial| Some((trial, trial.peak_bytes?))) else {
            return true;
        };
        if kept(trial) >= TELLABLE_BYTES && peak < kept(trial) {
            findings.error(
                Rule::Work,
                format!(
                    "{}: memory never was more than {}, and what operations add takes {} at least",
                    with(trial.tasks, trial.operations.unwrap_or(0)),
                    units::bytes(peak),
                    units::bytes(kept(trial))
                ),
                "add each entry, and keep all of them until `done`",
            );
            return false;
        }
        true
    }

    /// As many threads as operations in both runs, where tasks are said to be no such: others do not make twice as many
    /// just when twice as many are due, and about as many.
    fn look_at_what_came_of_itself(&self, tasks: u64, pair: [&Took; 2], findings: &mut Findings) {
        if matches!(self.kind, Kind::Thread | Kind::Process) {
            return;
        }
        let due = |took: &Took| expected_to_make(self.workload, tasks, took.operations, &BTreeMap::new());
        if due(pair[0]) < MANY_TASKS || due(pair[1]) < 2 * due(pair[0]) {
            return;
        }
        let made = pair.map(|took| took.made.map_or(Made::Fewer, |made| Made::of(made, due(took))));
        let what = format!(
            "{}: kind is {}, but the kernel made {} threads and processes meanwhile",
            with(tasks, pair[1].operations),
            self.kind.name(),
            units::grouped(pair[1].made.unwrap_or(0))
        );
        // Others may happen to make as many, in both runs.
        let busy = pair.iter().any(|took| took.busy);
        if made == [Made::OneForEach; 2] && !busy {
            findings.error(
                Rule::Kind,
                what,
                "give `kind = \"thread\"` or `kind = \"process\"`, or start tasks of the runtime instead",
            );
        } else if !made.contains(&Made::Fewer) {
            findings.note(Rule::Kind, format!("{what}: {UNTOLD}"), OTHERS_MAKE_MANY);
        }
    }
}

const UNTOLD: &str = "whether they are the program's cannot be told";
const OTHERS_MAKE_MANY: &str = "check it again while nothing else on the machine starts many programs";

/// What threads and processes that the kernel made say of those that were due.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Made {
    /// The program did not make all of them.
    Fewer,
    OneForEach,
    /// The kernel counts those of the whole machine: where half as many more were made, who made them is not known.
    Untold,
}

impl Made {
    fn of(made: u64, due: u64) -> Made {
        match made {
            made if made < due => Made::Fewer,
            made if made <= due + due / 2 => Made::OneForEach,
            _ => Made::Untold,
        }
    }
}

const NOT_MADE: &str = "do each operation as the workload says, one task for each where it says so: none left out, none taken together with another";

fn took(operations: u64, made: Option<u64>, measured: &Measurement) -> Option<Took> {
    let work = measured.work.as_ref()?;
    let (wall_s, cpu_s) = (work.wall_s?, work.cpu_s?);
    let all_s = measured.cpu.user_s.zip(measured.cpu.system_s).map_or(cpu_s, |(user, system)| user + system);
    let busy = [Warning::MachineBusy, Warning::CpuStarved];
    Some(Took {
        operations,
        wall_s,
        cpu_s,
        outside_s: (all_s - cpu_s).max(0.0),
        made,
        busy: measured.warnings.iter().any(|warning| busy.contains(warning)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn threads_that_others_made_are_nobodys_kind() {
        assert_eq!([14_000, 14_120].map(|made| Made::of(made, 14_000)), [Made::OneForEach; 2]);
        assert_eq!(Made::of(13_999, 14_000), Made::Fewer, "some task had none");
        // Another program makes threads on the same machine.
        assert_eq!(Made::of(153_861, 14_000), Made::Untold);
    }
}
