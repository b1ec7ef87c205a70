//! Classifies a run: status and reason, from the observations. Pure.

use super::causes::{cap_note, cause, require_little_output};
use super::evidence::Provenance;
use super::launcher::ProgramEnd;
use super::observed::{EndedBy, Observed, RunVerdict};
use super::protocol::Printed;
use super::stderr_summary::last_line;
use super::{Scenario, WorkParams};
use crate::Kind;
use crate::Status;
use crate::units::{counted, grouped};

/// Classifies a run. The rules are numbered in docs/reference/protocol.md; the first that applies decides.
pub fn classify(seen: &Observed) -> RunVerdict {
    by_the_rules(seen).unwrap_or_else(RunVerdict::failed)
}

/// The verdict. `Err(reason)` is short for the status `failed`; `Ok` may be any status.
fn by_the_rules(seen: &Observed) -> Result<RunVerdict, String> {
    let printed = seen.printed;
    let n = seen.spec.tasks;
    let (code, signal) = match seen.end {
        Some(ProgramEnd::Exited { code, signal, .. }) => (*code, *signal),
        _ => (None, None),
    };
    let short = code != Some(0) || printed.failed.is_some_and(|failed| failed > 0);
    let started = seen.evidence.started;
    let started = started.map(|started| format!(" after {} of {} tasks", grouped(started), grouped(n)));
    if let Some(verdict) = cause(seen, short.then(|| started.unwrap_or_default())) {
        return Ok(verdict);
    }
    if matches!(seen.ended_by, Some(EndedBy::TimeOut | EndedBy::Doomed)) {
        let begun = printed.alive.is_some() || printed.ready;
        let phase = match (begun, printed.done, &seen.spec.scenario) {
            (_, Some(_), _) if begun => "`done` was printed, but the program did not exit",
            (true, _, Scenario::Work(_)) if printed.ready => "operations were still running",
            (true, ..) => "tasks were still waiting or ending",
            (false, ..) => "tasks were still starting",
        };
        let cap = cap_note(seen);
        let reason = format!("killed after {} s: {phase} (raise --timeout){cap}", seen.time_cap_s);
        return Ok(RunVerdict::new(Status::TimedOut, reason));
    }
    require_little_output(seen)?;
    let last = last_line(seen.evidence.stderr);
    if let Some(signal) = signal {
        let reason = format!("killed by {}{last}", signal_name(signal));
        return Ok(RunVerdict::new(Status::Crashed, reason));
    }
    if short {
        let reason = match (printed.failed, code) {
            (Some(failed), _) if failed > 0 => match &seen.spec.scenario {
                Scenario::Work(work) => {
                    format!("{} of {} operations failed", grouped(failed), grouped(work.operations))
                }
                _ => format!("{} of {} tasks failed", grouped(failed), grouped(n)),
            },
            (_, Some(code)) => format!("exited with code {code}"),
            _ => "did not exit".to_owned(),
        };
        return Err(format!("{reason}{last}"));
    }
    if let Some(breach) = &printed.breach {
        return Err(format!("protocol error: {breach}"));
    }
    match &seen.spec.scenario {
        Scenario::Work(work) => classify_work(seen, work),
        waits => classify_hold(seen, waits.hold_s()),
    }
}

/// Operations: they began after `ready`, all of them finished, and their result is correct.
fn classify_work(seen: &Observed, work: &WorkParams) -> Result<RunVerdict, String> {
    let printed = seen.printed;
    if !printed.ready {
        return Err("protocol error: `ready` was never printed, so the start of the work is unknown".into());
    }
    require_done(printed, work.operations, "operation")?;
    if !seen.done_after_ready {
        return Err("protocol error: `done` was printed before `ready`".into());
    }
    require_check(seen)?;
    seen.plateau.require_all_inside()?;
    let Some(alive) = printed.alive else {
        return if work.all_alive { Err(NEVER_ALIVE.into()) } else { Ok(OK) };
    };
    require_at_most(alive, seen.spec.tasks)?;
    if work.all_alive && printed.alive_late {
        return Err(
            "protocol error: `alive` was printed after `ready`, so tasks still started when the work began"
                .into(),
        );
    }
    require_counted(seen, alive)?;
    Ok(partial(seen, alive).unwrap_or(OK))
}

/// Returns the reason of failure unless exactly this many were done.
fn require_done(printed: &Printed, wanted: u64, noun: &str) -> Result<(), String> {
    match printed.done {
        None => Err("protocol error: exited with code 0, but `done` was never printed".into()),
        Some(done) if done != wanted => {
            let wanted = counted(wanted, noun);
            Err(format!("exited with code 0 but printed `done {done}` for {wanted}"))
        }
        Some(_) => Ok(()),
    }
}

/// Returns the reason of failure unless the result is correct.
fn require_check(seen: &Observed) -> Result<(), String> {
    let Some(right) = &seen.spec.check else { return Ok(()) };
    match seen.printed.check.as_deref() {
        Some(check) if check == right => Ok(()),
        Some(check) => Err(format!("wrong result: printed `check {check}`, expected {right}")),
        None => Err("protocol error: `check` was never printed, so the result cannot be checked".into()),
    }
}

const NEVER_ALIVE: &str =
    "protocol error: `alive` was never printed, so there is no proof that all tasks ran at the same time";

/// Returns the reason of failure if more tasks were alive than there are.
pub(super) fn require_at_most(alive: u64, tasks: u64) -> Result<(), String> {
    if alive > tasks {
        return Err(format!("protocol error: printed `alive {alive}` for {}", counted(tasks, "task")));
    }
    Ok(())
}

/// Tasks that wait: all N were alive at the same time and waited as long as they were asked to.
fn classify_hold(seen: &Observed, hold_s: f64) -> Result<RunVerdict, String> {
    let (printed, n) = (seen.printed, seen.spec.tasks);
    let alive = printed.alive.ok_or(NEVER_ALIVE)?;
    require_at_most(alive, n)?;
    require_done(printed, n, "task")?;
    require_check(seen)?;
    // Tasks that did not wait were never alive at the same time, whatever the program prints.
    if let Some(wall_s) = seen.wall_s.filter(|wall| *wall < hold_s) {
        return Err(format!("exited after {wall_s:.2} s, but its tasks must wait {hold_s} s"));
    }
    if let Some(done_s) = seen.done_s.filter(|done_s| *done_s < hold_s) {
        return Err(format!("printed `done {n}` after {done_s:.2} s, but its tasks must wait {hold_s} s"));
    }
    seen.plateau.require_all_inside()?;
    require_counted(seen, alive)?;
    if let Some(verdict) = partial(seen, alive).or_else(|| woken(seen, hold_s)) {
        return Ok(verdict);
    }
    let provenance = if seen.spec.scenario.wakes() { Provenance::Woke } else { Provenance::Printed };
    Ok(unless_doubted(seen.plateau.doubt(provenance)))
}

/// A verdict if tasks woke less often than once per period, or the program reports impossible wake-ups.
fn woken(seen: &Observed, hold_s: f64) -> Option<RunVerdict> {
    let period_s = seen.spec.scenario.wait()?.period_s?;
    let failed = |reason: String| Some(RunVerdict::failed(reason));
    let Some(counts) = seen.printed.histograms.get(LATE) else {
        return failed(format!(
            "protocol error: `histogram {LATE}` was never printed, so its wake-ups are unknown"
        ));
    };
    let (launch_s, wall_s) = seen.launch_s.zip(seen.wall_s)?;
    let ticks = counts.iter().fold(0_u64, |sum, count| sum.saturating_add(*count));
    // `due` counts from `alive` until the first task's wait is over. `most` covers the whole run, as early
    // tasks wake while others still start.
    let due = (seen.spec.tasks as f64 * (hold_s - launch_s).max(0.0) / period_s).floor();
    let most = (seen.spec.tasks as f64 * (wall_s / period_s + 1.0)).ceil();
    if ticks as f64 > most {
        return failed(format!("reported {ticks} wake-ups, but at most {most} were scheduled"));
    }
    let latest_s = counts.iter().rposition(|count| *count > 0).map_or(0.0, late_at_least_s);
    if latest_s > wall_s {
        return failed(format!("reported a wake-up {latest_s} s late, but the run took {wall_s:.2} s"));
    }
    // Allow for one missing wake-up, which may fall between two periods.
    (ticks as f64 + 1.0 < WOKEN_SHARE * due).then(|| {
        let share = ticks as f64 / due * 100.0;
        let reason = format!("could not keep up: its tasks woke {ticks} of {due} times ({share:.1}%)");
        RunVerdict::new(Status::Partial, reason)
    })
}

/// Histogram of how late tasks woke: bucket b counts 2^(b-1) to 2^b microseconds, bucket 0 less than 1.
const LATE: &str = "late_us";
/// The smallest share of the scheduled wake-ups that passes.
const WOKEN_SHARE: f64 = 0.99;

/// The least lateness of a bucket, in seconds.
fn late_at_least_s(bucket: usize) -> f64 {
    if bucket == 0 { 0.0 } else { 2_f64.powi(bucket as i32 - 1) / 1e6 }
}

/// Returns the reason of failure if the kernel counts fewer threads or processes than the program prints.
pub(super) fn require_counted(seen: &Observed, alive: u64) -> Result<(), String> {
    // A late count may miss tasks that have ended.
    let Some((threads, processes)) = seen.counted.filter(|_| !seen.plateau.late) else { return Ok(()) };
    let (counted, one, many) = match seen.spec.kind {
        Kind::Thread => (threads, "thread", "threads"),
        Kind::Process => (processes, "process", "processes"),
        _ => return Ok(()),
    };
    if counted >= alive {
        return Ok(());
    }
    let what = if counted == 1 { one } else { many };
    Err(format!("printed `alive {alive}`, but the kernel counts {counted} {what}"))
}

fn partial(seen: &Observed, alive: u64) -> Option<RunVerdict> {
    let n = seen.spec.tasks;
    (alive < n).then(|| {
        let reason = format!(
            "{} of {} tasks were alive at once: the first ended before the last started",
            grouped(alive),
            grouped(n)
        );
        RunVerdict::new(Status::Partial, reason)
    })
}

const OK: RunVerdict = RunVerdict { status: Status::Ok, reason: None, limit: None };

/// `ok`, or `no-plateau` with the reason.
pub(super) fn unless_doubted(doubt: Option<String>) -> RunVerdict {
    match doubt {
        Some(reason) => RunVerdict::new(Status::NoPlateau, reason),
        None => OK,
    }
}

pub(super) fn signal_name(number: i32) -> String {
    signal_hook::low_level::signal_name(number).map_or_else(|| format!("signal {number}"), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cgroup::MemoryWant;
    use crate::evidence::PlateauQuality;
    use crate::limit_detection::LimitEvidence;
    use crate::limits::SystemLimits;
    use crate::observed::spec_of_ten;
    use crate::{HoldParams, RunSpec};

    fn printed(alive: u64, done: u64) -> Printed {
        Printed { alive: Some(alive), done: Some(done), ..Printed::default() }
    }

    /// Ten tasks that wait two seconds.
    fn waiting() -> RunSpec {
        let scenario = Scenario::Hold(HoldParams { hold_s: 2.0, ..HoldParams::default() });
        spec_of_ten(Kind::Stackless, scenario)
    }

    fn verdict(printed: &Printed, end: &ProgramEnd, change: impl FnOnce(&mut Observed)) -> (Status, String) {
        of_spec(&waiting(), printed, end, change)
    }

    fn of_spec(
        spec: &RunSpec,
        printed: &Printed,
        end: &ProgramEnd,
        change: impl FnOnce(&mut Observed),
    ) -> (Status, String) {
        let limits = SystemLimits { pid_max: Some(1000), ..SystemLimits::default() };
        let mut seen = Observed {
            spec,
            printed,
            end: Some(end),
            ended_by: None,
            want: MemoryWant::default(),
            stood_at_cap: false,
            time_cap_s: 60.0,
            wall_s: Some(2.1),
            done_s: Some(2.1),
            launch_s: Some(0.1),
            counted: Some((3, 1)),
            plateau: PlateauQuality { read: true, ..PlateauQuality::default() },
            done_after_ready: true,
            evidence: LimitEvidence::default(),
            limits: &limits,
        };
        change(&mut seen);
        let verdict = classify(&seen);
        (verdict.status, verdict.reason.unwrap_or_default())
    }

    #[test]
    fn a_correct_run_is_ok() {
        assert_eq!(verdict(&printed(10, 10), &ProgramEnd::exited(Some(0), None), |_| {}).0, Status::Ok);
    }

    #[test]
    fn false_claims_are_detected() {
        let good_end = ProgramEnd::exited(Some(0), None);
        let threads = RunSpec { kind: Kind::Thread, ..waiting() };
        let (status, reason) = of_spec(&threads, &printed(10, 10), &good_end, |_| {});
        assert_eq!(
            (status, reason.as_str()),
            (Status::Failed, "printed `alive 10`, but the kernel counts 3 threads")
        );
        assert_eq!(verdict(&printed(11, 10), &good_end, |_| {}).0, Status::Failed);
        let (status, reason) = verdict(&printed(10, 10), &good_end, |seen| seen.wall_s = Some(0.5));
        assert_eq!(
            (status, reason.as_str()),
            (Status::Failed, "exited after 0.50 s, but its tasks must wait 2 s")
        );
        let (status, reason) = verdict(&printed(10, 10), &good_end, |seen| seen.done_s = Some(0.1));
        assert_eq!(
            (status, reason.as_str()),
            (Status::Failed, "printed `done 10` after 0.10 s, but its tasks must wait 2 s")
        );
        let silent = Printed::default();
        assert!(verdict(&silent, &good_end, |_| {}).1.contains("`alive`"));
    }

    #[test]
    fn late_count_yields_no_plateau() {
        let late = PlateauQuality { read: true, late: true, ..PlateauQuality::default() };
        let threads = RunSpec { kind: Kind::Thread, ..waiting() };
        let (status, reason) =
            of_spec(&threads, &printed(10, 10), &ProgramEnd::exited(Some(0), None), |seen| {
                seen.plateau = late
            });
        assert_eq!(status, Status::NoPlateau);
        assert!(reason.contains("before memory was read"), "{reason}");
    }

    #[test]
    fn leaving_the_cgroup_is_a_failure() {
        let left = PlateauQuality { escaped: 1, ..PlateauQuality::default() };
        let (status, reason) =
            verdict(&printed(10, 10), &ProgramEnd::exited(Some(0), None), |seen| seen.plateau = left);
        assert_eq!(status, Status::Failed);
        assert!(reason.starts_with("1 process left"), "{reason}");
    }

    #[test]
    fn work_is_judged_by_its_result() {
        let scenario = Scenario::Work(WorkParams { operations: 10, ..WorkParams::default() });
        let good = Printed { ready: true, done: Some(10), check: Some("45".into()), ..Printed::default() };
        let work = spec_of_ten(Kind::Stackless, scenario);
        let due = RunSpec { check: Some("45".to_owned()), ..work.clone() };
        let judged = |printed: &Printed| of_spec(&due, printed, &ProgramEnd::exited(Some(0), None), |_| {});
        assert_eq!(judged(&good).0, Status::Ok);
        for (printed, reason) in [
            (Printed { ready: false, ..good.clone() }, "`ready`"),
            (Printed { done: None, ..good.clone() }, "`done`"),
            (Printed { done: Some(9), ..good.clone() }, "`done 9` for 10 operations"),
            (Printed { check: None, ..good.clone() }, "`check`"),
            (Printed { check: Some("44".into()), ..good.clone() }, "expected 45"),
            (Printed { alive: Some(11), ..good.clone() }, "`alive 11` for 10 tasks"),
        ] {
            let (status, text) = judged(&printed);
            assert_eq!(status, Status::Failed, "{text}");
            assert!(text.contains(reason), "{text}");
        }
        assert_eq!(judged(&Printed { alive: Some(7), ..good.clone() }).0, Status::Partial);
        let early = |seen: &mut Observed| seen.done_after_ready = false;
        assert_eq!(of_spec(&work, &good, &ProgramEnd::exited(Some(0), None), early).0, Status::Failed);
        let late = |seen: &mut Observed| seen.ended_by = Some(EndedBy::TimeOut);
        let (status, text) = of_spec(
            &work,
            &Printed { done: None, ..good },
            &ProgramEnd::exited(None, Some(libc::SIGKILL)),
            late,
        );
        assert_eq!(status, Status::TimedOut);
        assert!(text.contains("operations"), "{text}");
    }

    #[test]
    fn work_with_all_tasks_alive_begins_at_alive() {
        let all_alive =
            Scenario::Work(WorkParams { operations: 10, all_alive: true, ..WorkParams::default() });
        let all_alive = spec_of_ten(Kind::Stackless, all_alive);
        let judged = |text: &str| {
            let mut printed = Printed::default();
            for line in text.lines() {
                printed.take(line);
            }
            of_spec(&all_alive, &printed, &ProgramEnd::exited(Some(0), None), |_| {})
        };
        assert_eq!(judged("alive 10\nready\ndone 10").0, Status::Ok);
        for (text, reason) in [
            ("ready\ndone 10", "`alive` was never printed"),
            ("ready\nalive 10\ndone 10", "`alive` was printed after `ready`"),
        ] {
            let (status, why) = judged(text);
            assert_eq!(status, Status::Failed, "{text}");
            assert!(why.contains(reason), "{why}");
        }
    }

    #[test]
    fn check_value_of_waiting_tasks_is_verified() {
        let due = RunSpec { check: Some("45".to_owned()), ..waiting() };
        let judged = |check: Option<&str>| {
            let printed = Printed { check: check.map(str::to_owned), ..printed(10, 10) };
            of_spec(&due, &printed, &ProgramEnd::exited(Some(0), None), |_| {})
        };
        assert_eq!(judged(Some("45")).0, Status::Ok);
        assert!(judged(Some("44")).1.contains("expected 45"));
        assert!(judged(None).1.contains("`check`"));
    }

    #[test]
    fn wakes_of_tasks_are_checked() {
        // Ten tasks that wake every 0.1 s, from 0.1 s to 2 s: 190 times.
        let wait = HoldParams { hold_s: 2.0, period_s: Some(0.1), ..HoldParams::default() };
        let waking = spec_of_ten(Kind::Stackless, Scenario::Hold(wait));
        let judged = |counts: &[u64]| {
            let histograms = [("late_us".to_owned(), counts.to_vec())].into_iter();
            let printed = Printed {
                histograms: histograms.filter(|(_, c)| !c.is_empty()).collect(),
                ..printed(10, 10)
            };
            of_spec(&waking, &printed, &ProgramEnd::exited(Some(0), None), |_| {})
        };
        assert_eq!(judged(&[0, 100, 90]).0, Status::Ok);
        assert_eq!(judged(&[0, 100, 88]).0, Status::Ok);
        let (status, reason) = judged(&[0, 100, 80]);
        assert_eq!(
            (status, reason.contains("180 of 190 times (94.7%)")),
            (Status::Partial, true),
            "{reason}"
        );
        // Many woke before the last was started.
        let slow = |seen: &mut Observed| seen.launch_s = Some(1.5);
        let early =
            Printed { histograms: [("late_us".to_owned(), vec![0, 100, 90])].into(), ..printed(10, 10) };
        assert_eq!(of_spec(&waking, &early, &ProgramEnd::exited(Some(0), None), slow).0, Status::Ok);
        assert!(judged(&[]).1.contains("`histogram late_us`"));
        assert!(judged(&[0, 1000]).1.contains("1000 wake-ups"));
        assert!(judged(&[u64::MAX, u64::MAX]).1.contains("wake-ups"));
        let mut late = vec![0; 32];
        (late[0], late[31]) = (189, 1);
        assert!(judged(&late).1.contains("s late"), "{:?}", judged(&late));
    }

    #[test]
    fn a_crash_is_reported_with_the_last_line_of_stderr() {
        let killed = ProgramEnd::exited(None, Some(libc::SIGKILL));
        let (status, reason) =
            verdict(&printed(10, 0), &killed, |seen| seen.evidence.stderr = "one\nit broke\n");
        assert_eq!((status, reason.as_str()), (Status::Crashed, "killed by SIGKILL; stderr: it broke"));
    }

    #[test]
    fn fewer_alive_than_requested_is_partial() {
        assert_eq!(verdict(&printed(7, 10), &ProgramEnd::exited(Some(0), None), |_| {}).0, Status::Partial);
    }

    #[test]
    fn limits_are_named_only_for_failed_runs() {
        let refused = |seen: &mut Observed| seen.evidence.refused_threads = Some(1);
        assert_eq!(verdict(&printed(10, 10), &ProgramEnd::exited(Some(0), None), refused).0, Status::Ok);
        let (status, reason) = verdict(&printed(10, 10), &ProgramEnd::exited(Some(1), None), refused);
        assert_eq!(status, Status::Limit);
        assert!(reason.starts_with("hit kernel.pid_max = 1000"), "{reason}");
    }

    #[test]
    fn timeout_reason_names_the_stage_reached() {
        let killed = ProgramEnd::exited(None, Some(libc::SIGKILL));
        for (printed, stage) in [
            (Printed::default(), "tasks were still starting"),
            (Printed { alive: Some(10), ..Printed::default() }, "tasks were still waiting or ending"),
            (printed(10, 10), "`done` was printed"),
        ] {
            let (status, reason) = verdict(&printed, &killed, |seen| seen.ended_by = Some(EndedBy::TimeOut));
            assert_eq!(status, Status::TimedOut);
            assert!(reason.starts_with("killed after 60 s: ") && reason.contains(stage), "{reason}");
        }
    }

    #[test]
    fn a_missing_program_is_unavailable() {
        let refused = ProgramEnd::Refused { why: "No such file".into(), errno: Some(libc::ENOENT) };
        assert_eq!(verdict(&Printed::default(), &refused, |_| {}).0, Status::Unavailable);
    }
}
