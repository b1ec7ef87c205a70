//! Checks that tasks exist: compares the program's output with the CPU time, memory and waits that the kernel
//! counts, which are harder to fake.

use std::collections::BTreeMap;

use super::findings::EXPLAIN;
use super::floor::Floor;
use super::hold::{HoldResult, MAX_STACKFUL_TASKS};
use super::runs::{Runs, Trial, may_be_caused_by_machine};
use super::{CheckResult, CheckRule};
use crate::catalog::{Kind, Workload};
use crate::record::Status;
use crate::units;

/// Numbers of tasks at which the CPU time of their starts and ends is measured.
const COUNTS: [u64; 2] = [10_000, 100_000];
/// The number of tasks that `COUNTS` are compared with.
const FEW: u64 = 7;
/// The variation of CPU time between runs: a share of the CPU time with few tasks, plus seconds.
const NOISE_SHARE: f64 = 0.1;
const NOISE_S: f64 = 0.002;

/// The kernel's clock for user and system time, in seconds (CONFIG_HZ=250), and the share of the time for touching
/// memory up to which system time varies.
const TICK_S: f64 = 0.004;
const SLOW_SHARE: f64 = 0.5;

/// Few tasks that wake often, so that they wake at different times.
const WAKING: u64 = 10;
const PERIOD_MS: u64 = 100;
const WAKING_HOLD_S: f64 = 3.0;
const IDLE_HOLD_S: f64 = 2.0;
/// The least share of scheduled waits: on a busy machine two tasks may wake at once.
const MIN_WAITS: f64 = 0.5;
/// A program that uses more of a CPU than this while its tasks wait is polling, so its tasks need no wake-ups.
const POLLS: f64 = 0.5;
const ATTEMPTS: u32 = 3;

/// One measurement is enough if tasks take this many times the lower bound.
const CLEARLY_MORE: f64 = 3.0;
/// Measurements that must agree otherwise, as other work can double the CPU time of one.
const AGREEING: usize = 3;
/// More tasks are not needed if the lower bound is this many times the variation.
const ABOVE_NOISE: f64 = 4.0;

const UNSEEN: &str = "cannot confirm that tasks are made";

/// Whether tasks exist, by the kernel's counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountVerdict {
    Yes,
    No,
    /// Hidden by the program's own variation.
    Unobservable,
}

/// The CPU time of starting and ending many tasks beyond that of few, in seconds.
#[derive(Debug, Clone, Copy)]
struct StartCost {
    base_s: f64,
    took_s: f64,
    /// The lower bound.
    least_s: f64,
    noise_s: f64,
}

impl StartCost {
    fn new(base_s: f64, last_s: f64, least_s: f64) -> StartCost {
        StartCost { base_s, took_s: last_s - base_s, least_s, noise_s: NOISE_S + NOISE_SHARE * base_s }
    }

    /// Compares the last trial with the cheapest trial of fewer tasks.
    fn of(trials: &[Trial], floor: Floor) -> Option<StartCost> {
        let (last, fewer) = trials.split_last()?;
        let fewer = fewer.iter().filter(|trial| trial.tasks < last.tasks && trial.status == Status::Ok);
        let costs = fewer.filter_map(|trial| Some((trial, trial.start_cpu_s?)));
        let (base, _) = costs.min_by(|(_, a), (_, b)| a.total_cmp(b))?;
        StartCost::between(base, last, floor)
    }

    fn between(base: &Trial, last: &Trial, floor: Floor) -> Option<StartCost> {
        let more = last.tasks.checked_sub(base.tasks).filter(|more| *more > 0)?;
        let bytes = last.footprint_bytes?.saturating_sub(base.footprint_bytes?) as f64 / more as f64;
        let cost = StartCost::new(base.start_cpu_s?, last.start_cpu_s?, floor.tasks_s(more, bytes));
        let system_s = last.system_s.zip(base.system_s).map_or(0.0, |(last_s, base_s)| last_s - base_s);
        Some(cost.without_slow_memory(system_s, floor.touch_s(more, bytes)))
    }

    /// Leaves out the system time, of `system_s`, that exceeds the `touch_s` for touching as much memory: a host that
    /// took memory back from its idle virtual machine needs ten times as long to supply it, which proves no task.
    fn without_slow_memory(self, system_s: f64, touch_s: f64) -> StartCost {
        let slow_s = system_s - touch_s;
        if slow_s <= TICK_S.max(SLOW_SHARE * touch_s) {
            return self;
        }
        StartCost { took_s: self.took_s - slow_s, noise_s: self.noise_s + 2.0 * TICK_S, ..self }
    }

    fn verdict(&self) -> CountVerdict {
        if self.took_s >= self.least_s + self.noise_s {
            CountVerdict::Yes
        } else if self.took_s < self.least_s - self.noise_s {
            CountVerdict::No
        } else {
            CountVerdict::Unobservable
        }
    }

    fn is_above_noise(&self) -> bool {
        self.least_s >= ABOVE_NOISE * self.noise_s
    }

    /// Whether tasks exist even if the program's own start took twice as long.
    fn is_clear(&self) -> bool {
        self.took_s >= CLEARLY_MORE * (self.least_s + self.noise_s) + self.base_s
    }
}

/// The verdict of all measurements so far. `None` if another one is needed.
fn verdict_of(costs: &[StartCost]) -> Option<CountVerdict> {
    let is_clear = matches!(costs, [only] if only.is_clear());
    let agreeing = costs.iter().filter(|cost| cost.verdict() == CountVerdict::Yes).count();
    if is_clear || agreeing >= AGREEING {
        return Some(CountVerdict::Yes);
    }
    let other = costs.iter().rev().map(StartCost::verdict).find(|verdict| *verdict != CountVerdict::Yes);
    other.filter(|_| costs.len() - agreeing >= AGREEING)
}

impl Runs<'_, '_> {
    /// Checks the CPU time of starts and ends. Skips threads and processes, which the kernel counts, and
    /// timers, which have no tasks.
    pub(super) fn check_tasks_are_created(&mut self) -> CheckResult<()> {
        let counted = matches!(self.kind, Kind::Thread | Kind::Process | Kind::Timer);
        let Some(last) = self.trials.last().filter(|_| !counted) else { return Ok(()) };
        let why = match last.status {
            Status::Ok if last.tasks > FEW => None,
            Status::Ok => Some(format!("not run with more than {}", units::tasks(last.tasks))),
            Status::NoPlateau => Some(format!("with {} there was no plateau", units::tasks(last.tasks))),
            _ => return Ok(()),
        };
        if let Some(why) = why {
            self.unconfirmed(format!("{UNSEEN}: {why}"), EXPLAIN);
            return Ok(());
        }
        self.params = least_memory_params(self.workload);
        let before = (!self.params.is_empty()).then(|| self.set_aside());
        let passed = before.is_none() || self.hold(FEW, 1.0)? == HoldResult::Passed;
        let mut cost = StartCost::of(&self.trials, Floor::now());
        for tasks in COUNTS {
            let is_more = self.trials.last().is_none_or(|last| last.tasks < tasks);
            let too_many = self.kind.stackful() && tasks > MAX_STACKFUL_TASKS;
            let enough = |cost: StartCost| {
                cost.is_clear() || cost.verdict() == CountVerdict::Yes && (too_many || cost.is_above_noise())
            };
            if !passed || !is_more || cost.is_some_and(enough) {
                continue;
            }
            let (HoldResult::Passed, seen) = self.cost_of(tasks, None)? else { break };
            cost = seen;
            if cost.is_none() {
                break;
            }
        }
        let n =
            self.trials.iter().rev().find(|trial| trial.status == Status::Ok).map_or(0, |trial| trial.tasks);
        if cost.is_none() && n > FEW {
            cost = self.cost_of(n, None)?.1;
        }
        let mut costs: Vec<StartCost> = cost.into_iter().collect();
        while n > FEW && !costs.is_empty() && verdict_of(&costs).is_none() {
            // Other work may have slowed the machine down since the first runs.
            let trials = std::mem::take(&mut self.trials);
            let result = self.hold(FEW, 1.0)?;
            let base = std::mem::replace(&mut self.trials, trials).pop();
            if result != HoldResult::Passed {
                break;
            }
            let (_, Some(cost)) = self.cost_of(n, base.as_ref())? else { break };
            costs.push(cost);
        }
        let earlier = before.iter().flat_map(|(trials, _)| trials);
        let is_counted = self.trials.iter().chain(earlier).any(|trial| trial.start_cpu_s.is_some());
        if let Some(before) = before {
            self.restore(before);
        }
        self.params.clear();
        let Some(StartCost { took_s, least_s, .. }) = costs.last().copied() else {
            // Without a cgroup, the CPU time of some parts of a run is unknown.
            let why = "the CPU time of their start and end was not seen";
            if is_counted {
                self.unconfirmed(format!("{UNSEEN}: {why}"), EXPLAIN);
            } else {
                let fix = "check again where taskscale has a cgroup: `taskscale doctor` says how";
                self.findings.note(CheckRule::Made, format!("{UNSEEN}: {why}"), fix);
            }
            return Ok(());
        };
        let (tasks, spent, least) =
            (units::tasks(n), units::seconds(took_s.max(0.0)), units::seconds(least_s));
        let what = format!(
            "starting and ending {tasks} took {spent} more CPU time than few tasks do; a program that stores each task and \
             uses as much memory needs at least {least} here"
        );
        match verdict_of(&costs).unwrap_or(CountVerdict::Unobservable) {
            CountVerdict::Yes => {}
            CountVerdict::No => self.findings.error(
                CheckRule::Made,
                what,
                "start N tasks, each with its own wait; one block of memory or one timer is not enough (without tasks, use \
                 `kind = \"timer\"`)",
            ),
            CountVerdict::Unobservable => {
                self.unconfirmed(format!("{what} (its CPU time varies by more than that)"), EXPLAIN);
            }
        }
        Ok(())
    }

    /// Runs `tasks` and compares them with `base`, or else with an earlier trial of fewer tasks. Repeats the
    /// run if the end of its wait was observed too late to know the cost.
    fn cost_of(&mut self, tasks: u64, base: Option<&Trial>) -> CheckResult<(HoldResult, Option<StartCost>)> {
        for attempt in 1.. {
            let result = self.hold_if_affordable(tasks)?;
            if result != HoldResult::Passed {
                return Ok((result, None));
            }
            let floor = Floor::now();
            let against = base.zip(self.trials.last());
            let cost = against.and_then(|(base, last)| StartCost::between(base, last, floor));
            let cost = cost.or_else(|| StartCost::of(&self.trials, floor));
            let is_never_seen = self.trials.iter().all(|trial| trial.start_cpu_s.is_none());
            if cost.is_some() || is_never_seen || attempt >= ATTEMPTS || !self.repeat() {
                return Ok((result, cost));
            }
        }
        Ok((HoldResult::Passed, None))
    }

    /// Checks that tasks wake: each wait is a voluntary context switch. Subtracts those at the longest period.
    pub(super) fn check_tasks_wake(&mut self) -> CheckResult<()> {
        let Workload { wakes, parameters, .. } = self.workload;
        let period = wakes.as_ref().and_then(|name| parameters.get_key_value(name));
        let Some((name, parameter)) = period else { return Ok(()) };
        let with =
            |ms: u64| BTreeMap::from([(name.clone(), ms.clamp(parameter.least, parameter.most).to_string())]);
        let mut why = String::new();
        for attempt in 1..=ATTEMPTS {
            self.params = with(parameter.most);
            let quiet = self.waits_of(1, IDLE_HOLD_S, attempt)?;
            self.params = with(PERIOD_MS);
            let waking = self.waits_of(WAKING, WAKING_HOLD_S, attempt)?;
            self.params.clear();
            let (Ok(quiet), Ok(waking)) = (&quiet, &waking) else {
                why = quiet.err().or(waking.err()).unwrap_or_default();
                continue;
            };
            let due = WAKING as f64 * 1e3 / PERIOD_MS as f64 * waking.seconds;
            let seen = waking.switches - quiet.switches / quiet.seconds * waking.seconds;
            if seen >= MIN_WAITS * due {
                return Ok(());
            }
            let what = format!(
                "{} that wake every {PERIOD_MS} ms must wake {due:.0} times in {:.1} s, but its threads waited only {:.0} \
                 times more than without wake-ups",
                units::tasks(WAKING),
                waking.seconds,
                seen.max(0.0)
            );
            if waking.cpu_s >= POLLS * waking.seconds {
                let percent = waking.cpu_s / waking.seconds * 100.0;
                let what = format!("{what} (it polls: {percent:.0}% of a CPU)");
                self.findings.error(CheckRule::Unconfirmed, what, EXPLAIN);
                return Ok(());
            }
            if waking.busy && attempt < ATTEMPTS {
                continue;
            }
            self.findings.error(
                CheckRule::Made,
                what,
                "let each task wait until its next time, wake, and count it; the result is compared with the kernel's count \
                 of voluntary context switches",
            );
            return Ok(());
        }
        self.unconfirmed(format!("cannot confirm that its tasks wake: {why}"), EXPLAIN);
        Ok(())
    }

    fn waits_of(&mut self, tasks: u64, hold_s: f64, attempt: u32) -> CheckResult<Result<Waits, String>> {
        let (measured, trace) = self.run(&self.waits(tasks, hold_s, attempt))?;
        let waits = trace.switches.zip(measured.time.plateau_s);
        let Some((switches, seconds)) = waits.filter(|_| measured.status == Status::Ok) else {
            return Ok(Err(measured.reason.unwrap_or_else(|| "waits were not counted".into())));
        };
        let busy = may_be_caused_by_machine(&measured);
        // If the end of the plateau was not sampled: the exit is included.
        let rest_s = measured.cpu.total_s().zip(measured.cpu.launch_s).map(|(all, launch)| all - launch);
        let cpu_s = measured.cpu.plateau_s.or(rest_s).unwrap_or(0.0);
        Ok(Ok(Waits { switches: switches as f64, seconds: seconds.max(1e-3), cpu_s, busy }))
    }
}

/// The waits of a plateau.
struct Waits {
    switches: f64,
    seconds: f64,
    cpu_s: f64,
    busy: bool,
}

/// Each parameter at its minimum, if tasks must hold memory: less of it hides the tasks' own.
fn least_memory_params(workload: &Workload) -> BTreeMap<String, String> {
    let mut parameters: Vec<_> = workload.parameters.iter().collect();
    parameters.retain(|(_, parameter)| workload.holds.is_some() && parameter.least != parameter.default);
    parameters.into_iter().map(|(name, parameter)| (name.clone(), parameter.least.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn start_cost_separates_tasks_from_one_block_and_noise() {
        let verdict = |base_s, last_s| StartCost::new(base_s, last_s, 0.015).verdict();
        // 100,000 tasks of 256 bytes take at least 0.015 s. Rust, then one block in C, then a JVM that hides
        // either.
        assert_eq!(verdict(0.002, 0.095), CountVerdict::Yes);
        assert_eq!(verdict(0.002, 0.007), CountVerdict::No);
        assert_eq!(verdict(0.8, 0.79), CountVerdict::Unobservable);
        assert_eq!(verdict(0.3, 0.48), CountVerdict::Yes);
    }

    #[test]
    fn unclear_start_cost_needs_repeated_readings() {
        let of = |costs: &[f64]| {
            let costs: Vec<_> = costs.iter().map(|last_s| StartCost::new(0.002, *last_s, 0.015)).collect();
            verdict_of(&costs)
        };
        assert_eq!(of(&[0.095]), Some(CountVerdict::Yes));
        assert_eq!(of(&[0.016]), None);
        assert_eq!(of(&[0.016, 0.016, 0.016]), Some(CountVerdict::Unobservable));
        // One block, whose first measurement took twice as long: not enough to decide.
        assert_eq!(of(&[0.025]), None);
        assert_eq!(of(&[0.025, 0.012, 0.012]), None);
        assert_eq!(of(&[0.007, 0.007, 0.095]), None, "a spike is clear in the first measurement alone");
        assert_eq!(of(&[0.025, 0.012, 0.012, 0.007]), Some(CountVerdict::No));
        assert_eq!(of(&[0.007, 0.028, 0.028]), None);
        assert_eq!(of(&[0.007, 0.028, 0.028, 0.028]), Some(CountVerdict::Yes));
        // System time of a host that supplies memory slowly. One block, then tasks, of 256 bytes each.
        let slow = |took_s: f64, system_s| {
            StartCost::new(0.001, 0.001 + took_s, 0.019).without_slow_memory(system_s, 0.0116)
        };
        assert_eq!(
            [slow(0.170, 0.166), slow(0.043, 0.040)].map(|cost| cost.verdict()),
            [CountVerdict::Unobservable; 2]
        );
        assert!(!slow(0.170, 0.166).is_clear());
        assert_eq!(slow(0.200, 0.160).verdict(), CountVerdict::Yes);
        assert_eq!(slow(0.050, 0.012).noise_s, StartCost::new(0.001, 0.0, 0.0).noise_s, "as fast as usual");
        // The program's own start took twice as long.
        assert!(StartCost::new(1.796, 3.591, 0.015).verdict() == CountVerdict::Yes);
        assert_eq!(verdict_of(&[StartCost::new(1.796, 3.591, 0.015)]), None);
    }
}
