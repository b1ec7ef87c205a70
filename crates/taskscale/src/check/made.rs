//! Checks that tasks exist: the kernel's counts against the program's output. Printing costs nothing; CPU time, memory and
//! waits do.

use std::collections::BTreeMap;

use super::floor::Floor;
use super::hold::HoldResult;
use super::runs::{Runs, Trial, may_be_the_machines};
use super::{CheckError, CheckRule};
use crate::catalog::{Kind, Workload};
use crate::record::Status;
use crate::units;

/// Numbers of tasks at which the CPU time of their starts and ends is measured.
const COUNTS: [u64; 2] = [10_000, 100_000];
/// A small number before them, with parameters at their minimum.
const FEW: u64 = 7;
/// The variation of CPU time between runs: a share of that with few tasks, and seconds.
const NOISE_SHARE: f64 = 0.1;
const NOISE_S: f64 = 0.002;

/// Tasks that wake: few, and often, so that they wake at different times.
const WAKING: u64 = 10;
const PERIOD_MS: u64 = 100;
const WAKING_HOLD_S: f64 = 3.0;
const QUIET_HOLD_S: f64 = 2.0;
/// The share of scheduled waits that suffices: on a busy machine two tasks may wake at once.
const LEAST_WAITS: f64 = 0.5;
/// A program that uses more CPU than this while its tasks wait polls, and does not need to wake.
const POLLS: f64 = 0.5;
const ATTEMPTS: u32 = 3;

/// What the kernel's counts show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum CountVerdict {
    Yes,
    No,
    /// Hidden by the program's own variation.
    Unobservable,
}

/// Launch and end of the last trial against the smallest of those with fewer tasks: CPU time in seconds of each, and what
/// the tasks take at least.
fn compare(trials: &[Trial], floor: Floor) -> Option<(CountVerdict, f64, f64)> {
    let (last, fewer) = trials.split_last()?;
    let fewer = fewer.iter().filter(|trial| trial.tasks < last.tasks && trial.status == Status::Ok);
    let base = fewer.filter(|trial| trial.start_cpu_s.is_some());
    let base = base.min_by(|a, b| a.start_cpu_s.unwrap_or(0.0).total_cmp(&b.start_cpu_s.unwrap_or(0.0)))?;
    let more = last.tasks - base.tasks;
    let bytes = last.footprint_bytes?.saturating_sub(base.footprint_bytes?) as f64 / more as f64;
    let (base_s, last_s) = (base.start_cpu_s?, last.start_cpu_s?);
    let least_s = floor.tasks_s(more, bytes);
    Some((judge(base_s, last_s, least_s), last_s - base_s, least_s))
}

fn judge(base_s: f64, last_s: f64, least_s: f64) -> CountVerdict {
    let (took_s, noise_s) = (last_s - base_s, NOISE_S + NOISE_SHARE * base_s);
    if took_s >= least_s + noise_s {
        CountVerdict::Yes
    } else if took_s < least_s - noise_s {
        CountVerdict::No
    } else {
        CountVerdict::Unobservable
    }
}

impl Runs<'_, '_> {
    /// By the CPU time of their starts and ends. Threads and processes are counted by the kernel, and a timer is no task.
    pub(super) fn look_whether_tasks_are_made(&mut self) -> Result<(), CheckError> {
        let counted = matches!(self.kind, Kind::Thread | Kind::Process | Kind::Timer);
        if counted || !self.passed() || self.trials.last().is_some_and(|trial| trial.tasks <= FEW) {
            return Ok(());
        }
        self.params = least_held(self.workload);
        let before = (!self.params.is_empty()).then(|| self.apart());
        let passed = before.is_none() || self.hold(FEW, 1.0)? == HoldResult::Well;
        let mut outcome = compare(&self.trials, Floor::here());
        for tasks in COUNTS {
            let is_more = self.trials.last().is_none_or(|last| last.tasks < tasks);
            if !passed || !is_more || outcome.is_some_and(|(made, ..)| made == CountVerdict::Yes) {
                continue;
            }
            if self.hold_if_affordable(tasks)? != HoldResult::Well {
                break;
            }
            outcome = compare(&self.trials, Floor::here());
        }
        let n =
            self.trials.iter().rev().find(|trial| trial.status == Status::Ok).map_or(0, |trial| trial.tasks);
        if let Some(before) = before {
            self.rejoin(before);
        }
        self.params.clear();
        let Some((made, took_s, least_s)) = outcome else { return Ok(()) };
        let what = format!(
            "starting and ending {} took {} more CPU time than few tasks do; a program that stores each task and uses as \
             much memory needs at least {} here",
            units::tasks(n),
            units::seconds(took_s.max(0.0)),
            units::seconds(least_s)
        );
        match made {
            CountVerdict::Yes => {}
            CountVerdict::No => self.findings.error(
                CheckRule::Made,
                what,
                "start N tasks, each with its own wait; one block of memory or one timer is not enough (without tasks, use \
                 `kind = \"timer\"`)",
            ),
            CountVerdict::Unobservable => {
                let why = "the CPU time with few tasks varies by more than that";
                self.findings.unconfirmed(format!("{what} ({why})"));
            }
        }
        Ok(())
    }

    /// Tasks that wake have waited before: by voluntary context switches, less those that the runtime makes without tasks
    /// that are due.
    pub(super) fn look_whether_tasks_wake(&mut self) -> Result<(), CheckError> {
        let Some((name, parameter)) =
            self.workload.wakes.as_ref().and_then(|name| Some((name, self.workload.parameters.get(name)?)))
        else {
            return Ok(());
        };
        let with =
            |ms: u64| BTreeMap::from([(name.clone(), ms.clamp(parameter.least, parameter.most).to_string())]);
        let mut why = String::new();
        for attempt in 1..=ATTEMPTS {
            self.params = with(parameter.most);
            let quiet = self.waits_of(1, QUIET_HOLD_S, attempt)?;
            self.params = with(PERIOD_MS);
            let waking = self.waits_of(WAKING, WAKING_HOLD_S, attempt)?;
            self.params.clear();
            let (Ok(quiet), Ok(waking)) = (&quiet, &waking) else {
                why = quiet.err().or(waking.err()).unwrap_or_default();
                continue;
            };
            let due = WAKING as f64 * 1e3 / PERIOD_MS as f64 * waking.seconds;
            let seen = waking.switches - quiet.switches / quiet.seconds * waking.seconds;
            if seen >= LEAST_WAITS * due {
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
                self.findings.unconfirmed(format!("{what} (it polls: {percent:.0}% of a CPU)"));
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
        self.findings.unconfirmed(format!("cannot confirm that its tasks wake: {why}"));
        Ok(())
    }

    fn waits_of(
        &mut self,
        tasks: u64,
        hold_s: f64,
        attempt: u32,
    ) -> Result<Result<Waits, String>, CheckError> {
        let (measured, trace) = self.tasks(tasks, hold_s, attempt)?;
        let unknown = || measured.reason.clone().unwrap_or_else(|| "waits were not counted".into());
        let waits = trace.switches.zip(measured.time.plateau_s);
        Ok(match waits.filter(|_| measured.status == Status::Ok) {
            Some((switches, seconds)) => {
                let busy = may_be_the_machines(&measured);
                // Its end is in it, where it came before the plateau was looked at once more.
                let rest_s =
                    measured.cpu.total_s().zip(measured.cpu.launch_s).map(|(all, launch)| all - launch);
                let cpu_s = measured.cpu.plateau_s.or(rest_s).unwrap_or(0.0);
                Ok(Waits { switches: switches as f64, seconds: seconds.max(1e-3), cpu_s, busy })
            }
            None => Err(unknown()),
        })
    }
}

/// The waits of a plateau.
struct Waits {
    switches: f64,
    seconds: f64,
    cpu_s: f64,
    busy: bool,
}

/// Each parameter at its minimum, for tasks that must hold something: their own memory is visible then.
fn least_held(workload: &Workload) -> BTreeMap<String, String> {
    let mut parameters: Vec<_> = workload.parameters.iter().collect();
    parameters.retain(|(_, parameter)| workload.holds.is_some() && parameter.least != parameter.default);
    parameters.into_iter().map(|(name, parameter)| (name.clone(), parameter.least.to_string())).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_distinguished_from_one_block_and_from_noise() {
        // 100,000 tasks of 256 bytes take 0.015 s at least. Rust, one block in C, and a JVM that hides either.
        assert_eq!(judge(0.002, 0.095, 0.015), CountVerdict::Yes);
        assert_eq!(judge(0.002, 0.007, 0.015), CountVerdict::No);
        assert_eq!(judge(0.8, 0.79, 0.015), CountVerdict::Unobservable);
        assert_eq!(judge(0.3, 0.48, 0.015), CountVerdict::Yes);
    }
}
