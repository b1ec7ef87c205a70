//! Judges one run at one N: its status, its lines, its waits and its exit.

use super::runs::{FEWER, RunRequest, TracedRun};
use super::{CheckRule, Findings, Severity};
use crate::record::{Status, Warning};
use crate::units;
use taskscale_measure::Measurement;

/// The delay of `alive` on a busy machine, in seconds.
const HEARD_LATE_S: f64 = 0.25;
/// `alive` and `done` within this time, in seconds, came from one buffer.
const UNFLUSHED_S: f64 = 0.05;
/// The longest time from `done` to exit, in seconds.
const LINGER_S: f64 = 5.0;

/// Judges one run at one N whose tasks wait. With `ends_together` all waits end at once, counted from the start of
/// the program.
pub(super) fn judge(request: &RunRequest, ends_together: bool, run: &TracedRun) -> Findings {
    let mut findings = Findings::default();
    let (seen, details) = run;
    let (tasks, hold_s) = (request.tasks, request.scenario.hold_s());
    let with = format!("with {}", units::tasks(tasks));
    let many = tasks >= FEWER[0];
    if !is_ok_or_limit(&with, many, seen, &mut findings) {
        let reason = seen.reason.as_deref().unwrap_or("unknown reason");
        let (severity, (rule, fix)) = match seen.status {
            Status::NoPlateau if details.unobservable => {
                (Severity::Warning, (CheckRule::Counts, "none in the entry; check again on an idle machine"))
            }
            _ => (Severity::Error, fault(tasks, hold_s, run)),
        };
        let wait =
            if seen.status == Status::Partial { format!(" that wait {hold_s} s") } else { String::new() };
        findings.add(severity, rule, format!("{with}{wait}: {reason}"), fix);
    }
    lines(&with, &details.output, HOLD, &mut findings);
    if matches!(seen.status, Status::Ok | Status::Partial) {
        waits(&with, hold_s, ends_together, run, &mut findings);
        linger(&with, run, &mut findings);
    }
    for warning in &seen.warnings {
        match warning {
            Warning::PlateauGrew => findings.note(
                CheckRule::Memory,
                format!("{with}: memory grew by more than 5% after `alive`"),
                "print `alive` when the last task has started and allocated everything; a running collector or compiler is fine",
            ),
            Warning::PlateauFell => findings.note(
                CheckRule::Memory,
                format!("{with}: memory fell by more than 5% while all tasks waited"),
                "keep every task and its memory until all have waited; a collector that returns memory is fine",
            ),
            Warning::PlateauNotQuiet if many => findings.note(
                CheckRule::Quiet,
                format!("{with}: not idle while all tasks waited (it used CPU, or its memory changed)"),
                "wait without polling; a collector or compiler that runs for a while is fine",
            ),
            _ => {}
        }
    }
    findings
}

/// Whether the run was ok or only hit a limit of the machine, which is reported as a note.
pub(super) fn is_ok_or_limit(with: &str, many: bool, seen: &Measurement, findings: &mut Findings) -> bool {
    let fix = match seen.status {
        Status::Ok => return true,
        Status::Limit => "none in the entry; raise the limit of the machine",
        Status::KilledOom if many => {
            "none in the entry, if a task really needs this much; check on a machine with more memory"
        }
        _ => return false,
    };
    let reason = seen.reason.as_deref().unwrap_or("unknown reason");
    findings.note(CheckRule::Limit, format!("{with}: {reason}"), fix);
    true
}

/// The broken rule and its fix, if the run did not end by itself. `late` fixes a timeout, `large` a memory
/// kill.
pub(super) fn end_fault(
    status: Status,
    late: &'static str,
    large: &'static str,
) -> Option<(CheckRule, &'static str)> {
    Some(match status {
        Status::Unavailable => (CheckRule::Build, NO_PROGRAM),
        Status::TimedOut => (CheckRule::Exit, late),
        Status::Crashed => (CheckRule::Exit, CRASHED),
        Status::KilledOom => (CheckRule::Memory, large),
        _ => return None,
    })
}

pub(super) const NO_PROGRAM: &str = "let `run` name a program that `build` creates, or one in PATH";
pub(super) const CRASHED: &str =
    "run the command by hand (`taskscale build ENTRY` prints it) and fix the crash";

/// The rule that a failed run broke, and the fix.
fn fault(tasks: u64, hold_s: f64, (seen, details): &TracedRun) -> (CheckRule, &'static str) {
    let whole = seen.exit_code == Some(0);
    let gap_s = details.done_s.zip(seen.time.launch_s).map(|(done, alive)| done - alive);
    let reason = seen.reason.as_deref().unwrap_or_default();
    let claims = seen.status == Status::Failed && reason.contains("kernel");
    let late = "exit as soon as all tasks have ended; do not wait for input";
    let large = "find memory that does not belong to tasks: a few tasks cannot need this much";
    if let Some(fault) = end_fault(seen.status, late, large) {
        return fault;
    }
    match seen.status {
        Status::Partial if seen.alive == Some(tasks) => (
            CheckRule::Counts,
            "wake each task once per period, at times that are fixed from the start, and count each wake-up",
        ),
        Status::Partial => (
            CheckRule::Counts,
            "count each task when it starts; the N-th one prints `alive K`, where K is N minus the tasks that have ended",
        ),
        _ if !whole => (
            CheckRule::Exit,
            "exit with 0 when all N tasks completed; print the reason of a failure as the last line of standard error",
        ),
        _ if seen.alive.is_none() => (
            CheckRule::Protocol,
            "print `alive K` once, when the last of the N tasks has started, and flush standard output",
        ),
        _ if seen.alive.is_some_and(|alive| alive > tasks) => {
            (CheckRule::Counts, "print `alive K` with N minus the tasks that have ended, at most N")
        }
        _ if seen.done != Some(tasks) => (
            CheckRule::Counts,
            "print `done K` once at the end, with the number of completed tasks; run exactly N tasks",
        ),
        _ if seen.time.wall_s.is_some_and(|wall_s| wall_s < hold_s) => {
            (CheckRule::Wait, "let each task wait from its own start, for the seconds of the second argument")
        }
        _ if gap_s.is_some_and(|gap_s| gap_s < UNFLUSHED_S) => {
            (CheckRule::Protocol, "flush standard output after `alive` (pipes are block-buffered)")
        }
        Status::NoPlateau => (
            CheckRule::Counts,
            "print `alive` when the last task has started and allocated everything; on a busy machine, check again",
        ),
        _ if claims => {
            (CheckRule::Kind, "start an OS thread (or process) for each task, or use another `kind`")
        }
        _ => {
            (CheckRule::Protocol, "print each line once, with one whole number (docs/reference/protocol.md)")
        }
    }
}

/// The line that comes before `done`, and the fix.
type Before = (&'static str, &'static str);

const HOLD: Before =
    ("alive", "print `alive` when the last task starts, and `done` after all tasks have ended");

/// Checks the order of lines, and that there are no others.
pub(super) fn lines(with: &str, output: &[u8], (word, fix): Before, findings: &mut Findings) {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let place = |word: &str| lines.iter().position(|line| line.split(' ').next() == Some(word));
    if let (Some(first), Some(done)) = (place(word), place("done"))
        && done < first
    {
        findings.error(CheckRule::Protocol, format!("{with}: `done` is printed before `{word}`"), fix);
    }
    let known = ["alive", "ready", "done", "failed", "check", "metric", "histogram"];
    if let Some(stray) = lines.iter().find(|line| !known.contains(&line.split(' ').next().unwrap_or(""))) {
        let stray: String = stray.chars().take(60).collect();
        let what = format!("{with}: unexpected output: {stray:?}");
        let fix = "print only protocol lines to standard output, everything else to standard error";
        findings.error(CheckRule::Protocol, what, fix);
    }
}

/// Checks the waits of a successful run.
fn waits(with: &str, hold_s: f64, ends_together: bool, run: &TracedRun, findings: &mut Findings) {
    let (seen, details) = run;
    let (Some(alive_s), Some(done_s)) = (seen.time.launch_s, details.done_s) else { return };
    let waited_s = done_s - alive_s;
    // Many tasks may take long to end.
    let few = seen.alive.is_some_and(|alive| alive < 50);
    // The verdict rejects tasks that ended too early. This is less certain: a program that counts its tasks only after the
    // last one has started prints `alive` late.
    let early = !ends_together && waited_s < hold_s - HEARD_LATE_S - alive_s / 2.0 && alive_s < hold_s;
    let (severity, fix) = if early {
        (Severity::Warning, "let each task wait from its own start, for the seconds of the second argument")
    } else if few && waited_s > 2.0 * hold_s + 2.0 {
        (Severity::Error, "take the wait from the second argument, and let all tasks wait at the same time")
    } else if few && waited_s > hold_s + 1.0 {
        (Severity::Warning, "find what takes so long: coarse timers, or a slow exit")
    } else {
        return;
    };
    let what =
        format!("{with}: `done` came {waited_s:.2} s after `alive`, but each task must wait {hold_s} s");
    findings.add(severity, CheckRule::Wait, what, fix);
}

/// Reports a program that exits long after `done`.
pub(super) fn linger(with: &str, (seen, details): &TracedRun, findings: &mut Findings) {
    let Some(done_s) = details.done_s else { return };
    if let Some(wall_s) = seen.time.wall_s.filter(|wall_s| wall_s - done_s > LINGER_S) {
        let what = format!("{with}: exited {:.1} s after `done`", wall_s - done_s);
        let fix = "exit right after `done`";
        findings.warning(CheckRule::Exit, what, fix);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(output: &str) -> Vec<String> {
        let mut findings = Findings::default();
        lines("with 1 task", output.as_bytes(), HOLD, &mut findings);
        findings.sorted().into_iter().map(|finding| finding.what).collect()
    }

    #[test]
    fn wrong_order_and_unexpected_output_are_detected() {
        assert_eq!(found("alive 1\nmetric a 1 s\ndone 1\n"), [""; 0]);
        assert_eq!(found("done 1\r\nalive 1\r\n"), ["with 1 task: `done` is printed before `alive`"]);
        assert_eq!(
            found("hello \u{1b}[1m\nalive 1\ndone 1\n"),
            ["with 1 task: unexpected output: \"hello \\u{1b}[1m\""]
        );
    }
}
