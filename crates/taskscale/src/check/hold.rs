//! Runs programs whose tasks wait, at several N, and checks lines, counts, waits and exits.

use std::time::Duration;

use super::judge::judge;
use super::runs::{FEWER, RunRequest, Runs, line};
use super::{CheckResult, CheckRule, sanity};
use crate::campaign::{estimated_reading_s, hold_for_launch, longer_hold_s};
use crate::catalog::period_s;
use crate::record::Status;
use taskscale_measure::{HoldParams, Measurement, Scenario};

/// The numbers of tasks of every entry.
const COUNTS: [u64; 3] = [1, 7, 1000];
/// Larger numbers of tasks, run while memory growth is within noise.
const LARGER: [u64; 2] = [10_000, 100_000];
/// Footprint growth is noise up to this many bytes, or up to this share of the fixed cost.
const GROWTH_BYTES: u64 = 4 << 20;
const GROWTH_SHARE: f64 = 0.1;
/// Tasks with a longer predicted launch, in seconds, are not run.
const LONGEST_LAUNCH_S: f64 = 30.0;
/// Launches whose ratio to the wait differs by less than this may come in waves.
const SAME_WAVES: f64 = 0.1;
/// Attempts at a run whose launch takes longer than predicted, or whose machine is busy.
const ATTEMPTS: u32 = 4;
/// The shortest wait of many tasks, in seconds.
const MANY_HOLD_S: f64 = 2.0;
/// A plateau of this length, in seconds, is enough to read memory.
const PLATEAU_S: f64 = 0.5;
/// The most tasks with stacks: each needs two memory mappings, so 100k would hit vm.max_map_count.
pub(super) const MAX_STACKFUL_TASKS: u64 = 10_000;

impl Runs<'_, '_> {
    /// A run of `tasks`. Later attempts have a longer time limit, as the machine may have been busy.
    pub(super) fn waits(&self, tasks: u64, hold_s: f64, attempt: u32) -> RunRequest<'static> {
        let reading_s = estimated_reading_s(self.kind, tasks);
        let period_s = period_s(self.workload, &self.params);
        RunRequest {
            tasks,
            scenario: Scenario::Hold(HoldParams { hold_s, plateau_s: PLATEAU_S, period_s, reading_s }),
            arguments: None,
            time: Duration::from_secs_f64(30.0 + 4.0 * hold_s) * attempt,
        }
    }

    /// Runs every N, and a wait of 0 s.
    pub fn check_all_counts(&mut self) -> CheckResult<()> {
        // Different waits, so that a program with a fixed wait fails.
        let mut least_s = 1.0;
        for tasks in [COUNTS[0], COUNTS[1]] {
            match self.hold(tasks, least_s)? {
                HoldResult::Passed => {}
                // A failure with few tasks would repeat with many.
                HoldResult::Failed => return Ok(()),
                HoldResult::TooExpensive(needed) => {
                    // One task tells nothing of how they are counted.
                    let fix = "start tasks faster, or check again on an idle machine";
                    self.unconfirmed(self.too_expensive(tasks, needed), fix);
                    return Ok(());
                }
            }
            least_s = self.trials.last().and_then(|trial| trial.hold_s).unwrap_or(least_s) + 1.0;
        }
        self.check_zero_wait()?;
        let mut result = self.many()?;
        for tasks in LARGER {
            let too_many = self.kind.stackful() && tasks > MAX_STACKFUL_TASKS;
            if result != HoldResult::Passed || self.has_grown() || too_many {
                break;
            }
            result = self.hold_if_affordable(tasks)?;
            if let HoldResult::TooExpensive(needed) = result {
                self.note_not_run(CheckRule::Memory, tasks, needed);
            }
        }
        Ok(())
    }

    /// Runs seven tasks that wait 0 s, with an empty home folder.
    fn check_zero_wait(&mut self) -> CheckResult<()> {
        let request = self.waits(COUNTS[1], 0.0, 1);
        let (measured, _) = self.run_at_an_empty_home(&request)?;
        let good = |measured: &Measurement| {
            measured.exit_code == Some(0) && measured.done == Some(COUNTS[1]) && measured.alive.is_some()
        };
        if good(&measured) {
            return Ok(());
        }
        // Again with the user's home folder: the toolchain may be there.
        let (measured, _) = self.run(&request)?;
        if !good(&measured) {
            let why = measured.reason.unwrap_or_else(|| "`alive` or `done 7` is missing".into());
            let what = format!("with 7 tasks that wait 0 s: {why}");
            let fix =
                "support a wait of 0 s: print `alive K` (K may be less than N) and `done N`, and exit with 0";
            self.findings.error(CheckRule::Wait, what, fix);
        }
        Ok(())
    }

    /// Runs 1,000 tasks, or fewer if they need too much time or memory.
    fn many(&mut self) -> CheckResult<HoldResult> {
        let most = COUNTS[2];
        let result = self.hold_if_affordable(most)?;
        if !matches!(result, HoldResult::TooExpensive(_)) {
            return Ok(result);
        }
        // A prediction from few tasks is inaccurate, and the machine may have been busy: approach in steps.
        for tasks in FEWER.into_iter().chain([most]) {
            let result = self.hold_if_affordable(tasks)?;
            if let HoldResult::TooExpensive((launch_s, _)) = result {
                let (predicted_s, bytes) = self.predicted_hold(most);
                self.note_not_run(CheckRule::Limit, most, (predicted_s.max(launch_s), bytes));
            }
            if result != HoldResult::Passed {
                return Ok(result);
            }
        }
        Ok(HoldResult::Passed)
    }

    /// Runs `tasks` if their predicted time and memory are acceptable. Other load only lengthens a launch: one
    /// that seems too long is repeated up to three times, and the shortest counts.
    pub(super) fn hold_if_affordable(&mut self, tasks: u64) -> CheckResult<HoldResult> {
        for attempt in 2.. {
            let needed @ (launch_s, bytes) = self.predicted_hold(tasks);
            if self.memory_bytes.is_some_and(|most| bytes > most) {
                return Ok(HoldResult::TooExpensive(needed));
            }
            let last = self.trials.last().map(|last| (last.tasks, last.hold_s.unwrap_or(MANY_HOLD_S)));
            let Some((last, hold_s)) = last.filter(|_| launch_s > LONGEST_LAUNCH_S) else {
                return self.hold(tasks, MANY_HOLD_S);
            };
            if attempt > ATTEMPTS || self.relaunched == Some(last) {
                self.relaunched = Some(last);
                return Ok(HoldResult::TooExpensive(needed));
            }
            let (again, _) = self.run(&self.waits(last, hold_s, attempt))?;
            if let Some(launch_s) = self.trials.last_mut().and_then(|last| last.launch_s.as_mut()) {
                *launch_s = again.time.launch_s.map_or(*launch_s, |again| again.min(*launch_s));
            }
        }
        Ok(HoldResult::Failed)
    }

    /// Runs `tasks` with a wait that covers their launch, at least `least_s` seconds.
    pub(super) fn hold(&mut self, tasks: u64, least_s: f64) -> CheckResult<HoldResult> {
        let (launch_s, bytes) = self.predicted_hold(tasks);
        let reading_s = estimated_reading_s(self.kind, tasks);
        let mut hold_s = hold_for_launch(launch_s, reading_s, PLATEAU_S).max(least_s);
        let mut launches = LateLaunches { is_first: self.trials.is_empty(), first_waves: None };
        for attempt in 1.. {
            let request = self.waits(tasks, hold_s, attempt);
            let run = self.run(&request)?;
            let measured = &run.0;
            let late = measured.time.launch_s.filter(|launch_s| {
                let short = launch_s + PLATEAU_S > hold_s;
                measured.status == Status::NoPlateau
                    || short && matches!(measured.status, Status::Ok | Status::Partial)
            });
            if let Some(launch_s) = late {
                let longer_s = longer_hold_s(hold_s, measured.status, launch_s, reading_s, PLATEAU_S);
                let Some(next_s) = launches.next_hold_s(launch_s, hold_s, longer_s, run.1.unheard) else {
                    return Ok(HoldResult::TooExpensive((launch_s, bytes)));
                };
                if attempt < ATTEMPTS && self.may_try_longer() {
                    hold_s = next_s;
                    continue;
                }
            }
            let found = judge(&request, self.workload.ends_together, &run);
            if let Some(status) = self.keep(&request, (run.0, found), attempt < ATTEMPTS) {
                return Ok(if status == Status::Ok { HoldResult::Passed } else { HoldResult::Failed });
            }
        }
        Ok(HoldResult::Failed)
    }

    /// Whether memory grew by more than noise.
    fn has_grown(&self) -> bool {
        let large = self.trials.last().and_then(|trial| trial.footprint_bytes);
        let base = sanity::base(&self.trials.iter().collect::<Vec<_>>());
        base.zip(large).is_none_or(|((_, base), large)| {
            large.saturating_sub(base) > GROWTH_BYTES.max((base as f64 * GROWTH_SHARE) as u64)
        })
    }

    /// Predicted launch in seconds and memory in bytes of `tasks`: a line through the first and last trial.
    fn predicted_hold(&self, tasks: u64) -> (f64, u64) {
        let bytes = line(tasks, &self.trials, |trial| trial.footprint_bytes.map(|bytes| bytes as f64));
        (line(tasks, &self.trials, |trial| trial.launch_s), bytes as u64)
    }
}

/// The result of running a number of tasks.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum HoldResult {
    Passed,
    Failed,
    /// Not run or given up: the launch takes too long, in seconds, or memory is too small for these bytes.
    TooExpensive((f64, u64)),
}

/// The launches of one N after which too little of the wait was left. All times are in seconds.
struct LateLaunches {
    /// Whether no run has been judged yet: then this one is, as there is nothing else to report.
    is_first: bool,
    /// The first long launch, in multiples of its wait.
    first_waves: Option<f64>,
}

impl LateLaunches {
    /// The wait of the next attempt, or `None` if so many tasks take too long to start.
    ///
    /// If only some tasks can wait at a time, the others start when those end: the launch is a number of waves, each as
    /// long as the wait. A slow launch does not depend on the wait. One during which the machine was paused says nothing.
    fn next_hold_s(&mut self, launch_s: f64, hold_s: f64, longer_s: f64, paused: bool) -> Option<f64> {
        if paused {
            return Some(hold_s);
        }
        if launch_s <= LONGEST_LAUNCH_S || self.is_first {
            return Some(longer_s);
        }
        let waves = launch_s / hold_s;
        let in_waves = (waves / *self.first_waves.get_or_insert(waves) - 1.0).abs() < SAME_WAVES;
        in_waves.then_some(longer_s)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONGER_S: f64 = 99.0;

    /// The waits that follow these launches, each with its wait and whether the machine was paused.
    fn after(is_first: bool, launches: &[(f64, f64, bool)]) -> Vec<Option<f64>> {
        let mut late = LateLaunches { is_first, first_waves: None };
        let next = |(launch_s, hold_s, paused): &_| late.next_hold_s(*launch_s, *hold_s, LONGER_S, *paused);
        launches.iter().map(next).collect()
    }

    #[test]
    fn launch_proportional_to_wait_is_retried_with_longer_wait() {
        // 200 tasks, only 8 at a time.
        let pool = [(48.0, 2.0, false), (73.4, 3.0, false), (2400.0, 98.0, false)];
        assert_eq!(after(false, &pool), [Some(LONGER_S); 3]);
        // 1,000 workers on a busy machine: one launch says nothing.
        let slow = [(80.0, 55.0, false), (140.0, 105.0 + 16.0, false)];
        assert_eq!(after(false, &slow), [Some(LONGER_S), None]);
    }

    /// A program that flushes its lines only at the end launches for as long as it waits. A pause made that 33 s.
    #[test]
    fn launch_slowed_by_a_pause_is_repeated() {
        let heard_late = [(33.3, 1.0, true), (1.0, 1.0, false)];
        assert_eq!(after(false, &heard_late), [Some(1.0), Some(LONGER_S)]);
        // The program was paused as well: it looks like a slow launch, and the first run is judged.
        let all_paused = [(33.3, 1.0, false), (61.0, 61.0, false)];
        assert_eq!(after(true, &all_paused), [Some(LONGER_S); 2]);
        assert_eq!(after(false, &all_paused), [Some(LONGER_S), None]);
    }
}
