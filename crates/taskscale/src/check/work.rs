//! Runs programs that work: lines, counts and exits, and whether operations are performed at all.
//!
//! Twice the operations must take about twice as long. If tasks are threads or processes, the kernel must have created as
//! many as the operations need. It counts those of the whole machine, so never too few.

use std::time::Duration;

use super::findings::{EXPLAIN, ON_A_BUSY_MACHINE};
use super::floor::Floor;
use super::judge_work::{judge, with};
use super::runs::{RunRequest, Runs, Trial, line};
use super::{CheckResult, CheckRule};
use crate::catalog::{Kind, expected_creations};
use crate::record::{Status, Warning};
use crate::units;
use taskscale_measure::{Measurement, Scenario, WorkParams};

/// Operations per task of the first runs.
pub(super) const FEW_ROUNDS: u64 = 7;
/// The most tasks of every program.
const MANY_TASKS: u64 = 1_000;
/// The longest predicted run, in seconds.
const LONGEST_S: f64 = 30.0;
/// Attempts of a run on a busy machine.
const ATTEMPTS: u32 = 4;
const TIMEOUT: Duration = Duration::from_secs(120);
/// The time limit in multiples of the prediction, as the machine may be busy.
const SLOWER: f64 = 8.0;
/// The shortest CPU time that can be compared with that of twice the operations, in seconds.
const MIN_CPU_S: f64 = 0.3;
/// The same for wall time, in seconds, if operations wait more than they work.
const LONG_ENOUGH_S: f64 = 2.0;
/// The shortest measurable CPU time, in seconds.
const MEASURABLE_S: f64 = 0.05;
/// The largest growth of operations between runs.
const MAX_GROWTH: f64 = 100.0;
/// Bounds of (cost of 2N operations) ÷ (cost of N): a running compiler lowers it, a collector raises it.
const MIN_RATIO: f64 = 1.4;
const MAX_RATIO: f64 = 3.0;
/// On a busy machine a ratio above this proves neither missing nor growing work: the cost of tasks that hand over to each
/// other depends on where they run, and programs compete for caches.
const CLEAR_RATIO: f64 = 1.15;
/// Operations grow until the shared warm-up is small in them, up to a pair whose larger run costs
/// `DOMINANT_S` seconds, by at most `MAX_STEP` at a time. HotSpot's compilers alone use about 2 s of CPU.
const DOMINANT_S: f64 = 10.0;
const MAX_STEP: f64 = 16.0;
/// The smallest cost of an operation, as a share of allocating and freeing an object: a quarter, as a message needs no
/// object. The fastest of 62 programs (Node.js promises) needs twice such an object, an empty loop a twentieth.
const MIN_SHARE: f64 = 0.25;
/// The least memory kept by operations, in bytes, that is measurable beside the program's own.
const MEASURABLE_BYTES: u64 = 16 << 20;

/// A run and its cost.
#[derive(Clone, Copy)]
pub(super) struct WorkCost {
    operations: u64,
    /// From `ready` to `done`, in seconds.
    wall_s: f64,
    cpu_s: f64,
    /// CPU before `ready` and after `done`.
    outside_s: f64,
    /// Threads and processes created on the machine meanwhile.
    created: Option<u64>,
    /// Whether the machine was busy.
    busy: bool,
}

impl WorkCost {
    /// The cost of its operations: CPU time, or wall time if they wait.
    fn cost(&self) -> (f64, &'static str) {
        if self.cpu_s >= MEASURABLE_S || self.wall_s < LONG_ENOUGH_S {
            (self.cpu_s, "of CPU time")
        } else {
            (self.wall_s, "from `ready` to `done`")
        }
    }
}

/// What the cost of twice the operations shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CostGrowth {
    Twofold,
    /// Operations are skipped or merged.
    Less,
    /// Operations become more expensive.
    More,
    /// A busy machine may be the cause.
    Inconclusive,
}

impl CostGrowth {
    /// `pair`: some operations, and twice as many. `last`: the last run, after which no more operations were run.
    fn of(pair: [&WorkCost; 2], last: &WorkCost) -> CostGrowth {
        let [less_s, more_s] = pair.map(|run| run.cost().0);
        let ratio = more_s / less_s.max(1e-9);
        let busy = last.busy || pair.iter().any(|run| run.busy);
        match ratio {
            MIN_RATIO..=MAX_RATIO => CostGrowth::Twofold,
            // An idle machine would have run more operations.
            _ if busy && (ratio >= CLEAR_RATIO || last.wall_s >= LONGEST_S) => CostGrowth::Inconclusive,
            ..MIN_RATIO => CostGrowth::Less,
            _ => CostGrowth::More,
        }
    }
}

impl Runs<'_, '_> {
    /// Runs every N, then twice the operations. Returns the CPU time per operation in ns, if measurable.
    pub fn work_all(&mut self) -> CheckResult<Option<f64>> {
        let default = &self.workload.tasks;
        let fewest = default.first().copied().unwrap_or(1);
        let many = default.iter().copied().filter(|tasks| *tasks <= MANY_TASKS).max().unwrap_or(fewest);
        let operations = FEW_ROUNDS * fewest;
        // A failure with few tasks would repeat with many.
        let Some(mut few) = self.work(fewest, operations)? else { return Ok(None) };
        // Finds files written to the home folder.
        self.run_at_an_empty_home(&self.request(fewest, operations, TIMEOUT))?;
        let mut tasks = fewest;
        // Not a multiple of the tasks, if there is more than one.
        let rounds = |tasks: u64| tasks * 2 + if self.workload.whole_trees { 0 } else { tasks / 2 };
        for more in [fewest * 10, many] {
            if more <= tasks {
                continue;
            }
            let (seconds, bytes) = self.predicted(more, rounds(more));
            if seconds > LONGEST_S || self.memory_bytes.is_some_and(|most| bytes > most) {
                self.note_not_run(CheckRule::Limit, more, (seconds, bytes));
                break;
            }
            // The runs compared below start and end as many tasks as `few`.
            let Some(of_more) = self.work(more, rounds(more))? else { return Ok(None) };
            (tasks, few) = (more, of_more);
        }
        self.twice(tasks, few)
    }

    fn request(&self, tasks: u64, operations: u64, time: Duration) -> RunRequest<'static> {
        let all_alive = self.workload.all_alive;
        let scenario = Scenario::Work(WorkParams { operations, all_alive, ..WorkParams::default() });
        RunRequest { tasks, scenario, arguments: None, time }
    }

    /// Runs the operations. Returns their cost if the run succeeded.
    pub(super) fn work(&mut self, tasks: u64, operations: u64) -> CheckResult<Option<WorkCost>> {
        let predicted_s = self.predicted(tasks, operations).0;
        let time = TIMEOUT.max(Duration::from_secs_f64(SLOWER * predicted_s));
        let request = self.request(tasks, operations, time);
        for attempt in 1.. {
            let run = self.run(&request)?;
            let found = judge(tasks, operations, &run);
            let cost = work_cost(operations, self.created, &run.0);
            match self.keep(&request, (run.0, found), attempt < ATTEMPTS) {
                None => {}
                Some(Status::Ok) => {
                    self.check_created(tasks, operations);
                    return Ok(cost);
                }
                Some(_) => return Ok(None),
            }
        }
        Ok(None)
    }

    /// Predicted seconds and bytes of a run.
    fn predicted(&self, tasks: u64, operations: u64) -> (f64, u64) {
        let seen = self.trials.iter().filter_map(|trial| Some((trial.operations? as f64, trial.work_s?)));
        let seen: Vec<(f64, f64)> = seen.collect();
        let launch_s = line(tasks, &self.trials, |trial| trial.launch_s);
        let work_s = seen.first().zip(seen.last()).map_or(0.0, |((few, few_s), (more, more_s))| {
            // Without the one-time cost of the first operations.
            let each_s = if more > few { ((more_s - few_s) / (more - few)).max(0.0) } else { more_s / more };
            (more_s + each_s * (operations as f64 - more)).max(0.0)
        });
        let bytes = line(tasks, &self.trials, |trial| trial.peak_bytes.map(|bytes| bytes as f64));
        (launch_s + work_s, bytes as u64)
    }

    /// Finds threads and processes that were not created. The count of the machine is never too low.
    fn check_created(&mut self, tasks: u64, operations: u64) {
        let (Kind::Thread | Kind::Process, Some(count)) = (self.kind, self.created) else { return };
        let due = expected_creations(self.workload, tasks, operations);
        let (with, kind) = (with(tasks, operations), self.kind.name());
        let [needed, created] = [due, count].map(units::grouped);
        let what = format!(
            "{with}: kind is {kind}, which needs {needed} of them, but the whole machine created {created} threads and \
             processes meanwhile"
        );
        match CreatedTasks::of(count, due) {
            // If not even the start of the program is counted, the kernel does not count here.
            CreatedTasks::Fewer if count > 0 => self.findings.error(
                CheckRule::Kind,
                what,
                "create one for each task and operation, as the workload describes, without reuse; or use another `kind`",
            ),
            CreatedTasks::Unobservable if due >= MANY_TASKS => {
                self.findings.note(CheckRule::Kind, format!("{what}: {MAYBE_OTHERS}"), WHEN_OTHERS_ARE_IDLE);
            }
            CreatedTasks::Fewer | CreatedTasks::OneForEach | CreatedTasks::Unobservable => {}
        }
    }

    /// Compares enough operations with twice as many.
    fn twice(&mut self, tasks: u64, few: WorkCost) -> CheckResult<Option<f64>> {
        let most = self.workload.most_operations / 2 / tasks * tasks;
        let mut operations = (tasks * FEW_ROUNDS).min(most).max(tasks);
        // CPU time of fewer operations outside `ready` and `done`, if that was more than inside.
        let mut outside_before: Option<f64> = None;
        let too_long = self.predicted(tasks, operations).0 > LONGEST_S;
        let mut once = loop {
            // Many tasks may need minutes for what few do in a second.
            if too_long {
                break few;
            }
            let Some(run) = self.work(tasks, operations)? else { return Ok(None) };
            let outside_s = (run.outside_s - few.outside_s).max(0.0);
            // Few operations are mostly one-time cost.
            let cpu_s = (run.cpu_s - few.cpu_s).max(outside_s);
            let elsewhere = outside_s >= MIN_CPU_S && outside_s > run.cpu_s;
            // A slow start on a busy machine does not grow with the operations.
            if elsewhere && outside_before.is_some_and(|before| outside_s > MIN_RATIO * before) {
                let [inside, outside] = [run.cpu_s, outside_s].map(units::seconds);
                self.findings.error(
                    CheckRule::Work,
                    format!(
                        "{}: {inside} of CPU time between `ready` and `done`, but {outside} before and after, which grow \
                         with the operations",
                        with(tasks, operations)
                    ),
                    "print and flush `ready` before the first operation, and `done` after the last: only the time between them counts",
                );
                return Ok(None);
            }
            outside_before = Some(outside_s).filter(|_| elsewhere);
            let enough = cpu_s >= MIN_CPU_S && !elsewhere;
            if enough || run.wall_s >= LONG_ENOUGH_S || operations >= most {
                break run;
            }
            let growth = (1.5 * MIN_CPU_S / cpu_s.max(1e-9)).clamp(2.0, MAX_GROWTH);
            let in_time = (1.5 * LONG_ENOUGH_S / run.wall_s.max(1e-9)).max(2.0);
            operations = ((operations as f64 * growth.min(in_time)) as u64).min(most) / tasks * tasks;
        };
        let used = self.check_cost(tasks, (once.operations, once.cpu_s));
        if !used || once.cpu_s < MEASURABLE_S && once.wall_s < LONG_ENOUGH_S {
            return Ok(None);
        }
        let mut pair = None;
        while once.wall_s < LONGEST_S && 2 * once.operations <= self.workload.most_operations {
            let operations = 2 * once.operations;
            let Some(double) = self.work(tasks, operations)? else { return Ok(None) };
            let (more, less) = (double.cost(), once.cost());
            pair = Some([once, double]);
            if CostGrowth::of([&once, &double], &double) == CostGrowth::Twofold {
                self.check_extra_threads(tasks, [&once, &double]);
                // Operations that mostly wait have little CPU time.
                let is_measurable = once.cpu_s >= MEASURABLE_S && double.cpu_s > once.cpu_s;
                if !is_measurable {
                    let (with, cpu) = (with(tasks, double.operations), units::seconds(double.cpu_s));
                    let what = format!(
                        "{with}: {cpu} of CPU time, too little to confirm that operations are performed"
                    );
                    self.unconfirmed(what, EXPLAIN);
                    return Ok(None);
                }
                let (operations, cpu_s) = (double.operations - once.operations, double.cpu_s - once.cpu_s);
                let used = self.check_cost(tasks, (operations, cpu_s));
                return Ok(used.then(|| cpu_s * 1e9 / operations as f64));
            }
            let outweighed = more.0 >= DOMINANT_S || double.wall_s >= LONGEST_S;
            // The one-time cost, such as a compiler, still outweighs the operations.
            let each_s = (more.0 - less.0).max(0.0) / once.operations as f64;
            let wanted = 2.0 * more.0 / (each_s * double.operations as f64).max(1e-9);
            // The next pair is the last, and no longer than needed.
            let bound = (DOMINANT_S / more.0.max(1e-9)).min(LONGEST_S / double.wall_s.max(1e-9)) / 2.0;
            let growth = wanted.min(bound).clamp(1.0, MAX_STEP);
            let operations = (double.operations as f64 * growth) as u64 / tasks * tasks;
            once = double;
            if outweighed {
                break;
            }
            if growth > 1.5 && operations <= most {
                let Some(more) = self.work(tasks, operations)? else { return Ok(None) };
                once = more;
            }
        }
        let Some([less, more]) = pair else {
            if once.wall_s >= LONGEST_S {
                let (with, time) = (with(tasks, once.operations), units::seconds(once.wall_s));
                let what = format!("{with}: {time}, so twice the operations were not run");
                let fix = "none in the entry: its tasks are expensive, or the machine is busy";
                self.findings.note(CheckRule::Work, what, fix);
            }
            return Ok(None);
        };
        let growth = CostGrowth::of([&less, &more], &once);
        let with = with(tasks, less.operations);
        let ((less_s, of), (more_s, _)) = (less.cost(), more.cost());
        let [less, more] = [less_s, more_s].map(units::seconds);
        let what = format!("{with}: {less} {of}, and {more} for twice the operations");
        match growth {
            CostGrowth::Twofold => {}
            CostGrowth::Less => self.findings.error(CheckRule::Work, what, NOT_PERFORMED),
            CostGrowth::More => self.findings.warning(
                CheckRule::Work,
                what,
                "find what grows with the number of operations: something that each adds and keeps, or searches",
            ),
            CostGrowth::Inconclusive => {
                let what = format!("{what}: {ON_A_BUSY_MACHINE}");
                self.findings.note(CheckRule::Work, what, "check again on an idle machine");
            }
        }
        Ok(None)
    }

    /// Whether operations used the CPU time and memory that they need at least.
    fn check_cost(&mut self, tasks: u64, (operations, cpu_s): (u64, f64)) -> bool {
        let (each_ns, object_ns) = (cpu_s * 1e9 / operations as f64, Floor::now().object_ns);
        if each_ns < MIN_SHARE * object_ns {
            let [each, object] = [each_ns, object_ns].map(|ns| units::significant(ns, 2));
            let (with, cpu) = (with(tasks, operations), units::seconds(cpu_s));
            let what = format!(
                "{with}: {cpu} of CPU time, or {each} ns per operation, is too little (allocating and freeing an object takes \
                 {object} ns here)"
            );
            self.findings.error(CheckRule::Work, what, NOT_PERFORMED);
            return false;
        }
        let kept = |trial: &Trial| trial.operations.unwrap_or(0) * self.workload.keeps;
        let passed = self.trials.iter().filter(|trial| trial.status == Status::Ok);
        let most = passed.max_by_key(|trial| kept(trial));
        let Some((trial, peak)) = most.and_then(|trial| Some((trial, trial.peak_bytes?))) else {
            return true;
        };
        if kept(trial) >= MEASURABLE_BYTES && peak < kept(trial) {
            let with = with(trial.tasks, trial.operations.unwrap_or(0));
            let [used, added] = [peak, kept(trial)].map(units::bytes);
            let what = format!("{with}: peak memory was {used}, but the operations add at least {added}");
            let fix = "add each item, and keep all of them until `done`";
            self.findings.error(CheckRule::Work, what, fix);
            return false;
        }
        true
    }

    /// Finds one thread per operation in both runs, although tasks are not threads. Other programs do not create twice as
    /// many just when twice the operations run.
    fn check_extra_threads(&mut self, tasks: u64, pair: [&WorkCost; 2]) {
        if matches!(self.kind, Kind::Thread | Kind::Process) {
            return;
        }
        let due = |run: &WorkCost| expected_creations(self.workload, tasks, run.operations);
        if due(pair[0]) < MANY_TASKS || due(pair[1]) < 2 * due(pair[0]) {
            return;
        }
        let verdicts = pair
            .map(|run| run.created.map_or(CreatedTasks::Fewer, |count| CreatedTasks::of(count, due(run))));
        let (with, kind) = (with(tasks, pair[1].operations), self.kind.name());
        let created = units::grouped(pair[1].created.unwrap_or(0));
        let what = format!(
            "{with}: kind is {kind}, but the machine created {created} threads and processes meanwhile"
        );
        // Other programs may create as many, in both runs.
        let busy = pair.iter().any(|run| run.busy);
        if verdicts == [CreatedTasks::OneForEach; 2] && !busy {
            let fix = "use `kind = \"thread\"` or `kind = \"process\"`, or start tasks of the runtime";
            self.findings.error(CheckRule::Kind, what, fix);
        } else if !verdicts.contains(&CreatedTasks::Fewer) {
            self.findings.note(CheckRule::Kind, format!("{what}: {MAYBE_OTHERS}"), WHEN_OTHERS_ARE_IDLE);
        }
    }
}

const MAYBE_OTHERS: &str = "other programs may have created them";
const WHEN_OTHERS_ARE_IDLE: &str = "check again while no other program creates many threads or processes";

/// The created threads and processes against those that are needed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CreatedTasks {
    /// The program did not create all of them.
    Fewer,
    OneForEach,
    /// Many more were created on the machine: by which program is unknown.
    Unobservable,
}

impl CreatedTasks {
    fn of(created: u64, due: u64) -> CreatedTasks {
        match created {
            count if count < due => CreatedTasks::Fewer,
            count if count <= due + due / 2 => CreatedTasks::OneForEach,
            _ => CreatedTasks::Unobservable,
        }
    }
}

const NOT_PERFORMED: &str = "perform each operation as the workload describes, with a task for each if it requires one; do not skip or merge operations";

fn work_cost(operations: u64, created: Option<u64>, measured: &Measurement) -> Option<WorkCost> {
    let work = measured.work.as_ref()?;
    let (wall_s, cpu_s) = (work.wall_s?, work.cpu_s?);
    let all_s = measured.cpu.user_s.zip(measured.cpu.system_s).map_or(cpu_s, |(user, system)| user + system);
    let busy = [Warning::MachineBusy, Warning::CpuStarved];
    Some(WorkCost {
        operations,
        wall_s,
        cpu_s,
        outside_s: (all_s - cpu_s).max(0.0),
        created,
        busy: measured.warnings.iter().any(|warning| busy.contains(warning)),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ambiguous_cost_growth_is_inconclusive_on_busy_machine() {
        let cost = |(cpu_s, busy)| WorkCost {
            operations: 7,
            wall_s: cpu_s,
            cpu_s,
            outside_s: 0.0,
            created: None,
            busy,
        };
        let growth = |less, more| {
            let pair = [less, more].map(cost);
            CostGrowth::of([&pair[0], &pair[1]], &pair[1])
        };
        use CostGrowth::{Inconclusive, Less, More, Twofold};
        for (less_s, more_s, idle, busy) in [
            // Elixir while three checks ran beside each other.
            (5.9, 18.8, More, Inconclusive),
            (5.9, 11.9, Twofold, Twofold),
            (5.9, 7.9, Less, Inconclusive),
            (5.9, 5.9, Less, Less),
            (29.0, 31.0, Less, Inconclusive),
        ] {
            assert_eq!(growth((less_s, false), (more_s, false)), idle, "{less_s} s, {more_s} s");
            for (first, second) in [(true, false), (false, true), (true, true)] {
                let growth = growth((less_s, first), (more_s, second));
                assert_eq!(growth, busy, "{less_s} s, {more_s} s, busy: {first}, {second}");
            }
        }
        // A third run on a busy machine took so long that no other pair was run.
        let [less, more, last] = [(2.0, false), (2.0, false), (31.0, true)].map(cost);
        assert_eq!(CostGrowth::of([&less, &more], &last), Inconclusive);
    }

    #[test]
    fn threads_of_other_programs_make_the_count_unobservable() {
        assert_eq!(
            [14_000, 14_120].map(|count| CreatedTasks::of(count, 14_000)),
            [CreatedTasks::OneForEach; 2]
        );
        assert_eq!(CreatedTasks::of(13_999, 14_000), CreatedTasks::Fewer, "some task had none");
        // Another program makes threads on the same machine.
        assert_eq!(CreatedTasks::of(153_861, 14_000), CreatedTasks::Unobservable);
    }
}
