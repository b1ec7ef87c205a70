//! What one run at one N says of a program: its status, its lines, its waits and its end.

use super::runs::FEWER;
use super::{Findings, Rule};
use crate::measure::{Measurement, Trace};
use crate::record::{Status, Warning};
use crate::units;

/// `alive` may be heard this much later than it was said, in seconds: the machine may be busy.
const HEARD_LATE_S: f64 = 0.25;
/// `alive` and `done` this close together, in seconds, came out of one buffer.
const UNFLUSHED_S: f64 = 0.05;
/// A program that lives on for longer than this after `done`, in seconds, has something left to do.
const LINGER_S: f64 = 5.0;

/// What the tasks were told to wait.
#[derive(Debug, Clone, Copy)]
pub(super) struct Told {
    /// In seconds.
    pub hold_s: f64,
    /// All waits end at once, so long after the program began.
    pub together: bool,
}

/// What one run at one N says of the program.
pub(super) fn judge(tasks: u64, told: Told, seen: &Measurement, trace: &Trace, findings: &mut Findings) {
    let Told { hold_s, .. } = told;
    let with = format!("with {}", units::tasks(tasks));
    let reason = || seen.reason.clone().unwrap_or_else(|| "no reason is known".into());
    let many = tasks >= FEWER[0];
    match seen.status {
        Status::Ok => {}
        Status::Limit => {
            findings.note(Rule::Limit, format!("{with}: {}", reason()), "nothing in the entry: lift the machine's limit")
        }
        Status::KilledOom if many => findings.note(
            Rule::Limit,
            format!("{with}: {}", reason()),
            "nothing in the entry, if a task really takes that much: check where there is more memory",
        ),
        Status::Partial if seen.alive == Some(tasks) => findings.error(
            Rule::Counts,
            format!("{with} that wait {hold_s} s: {}", reason()),
            "let each task wake once in every period, at instants that are fixed from the beginning, and count it",
        ),
        Status::Partial => findings.error(
            Rule::Counts,
            format!("{with} that wait {hold_s} s: {}", reason()),
            "count each task in when it starts, and let the one that makes the count N say `alive K`, K being N less those that are over",
        ),
        Status::NoPlateau if trace.untold => findings.warning(
            Rule::Counts,
            format!("{with}: {}", reason()),
            "nothing in the entry: check it again when the machine is quiet",
        ),
        status => {
            let (rule, fix) = fault(tasks, hold_s, status, seen, trace);
            findings.error(rule, format!("{with}: {}", reason()), fix);
        }
    }
    lines(&with, &trace.output, HOLD, findings);
    if matches!(seen.status, Status::Ok | Status::Partial) {
        times(&with, told, seen, trace, findings);
    }
    for warning in &seen.warnings {
        match warning {
            Warning::PlateauGrew => findings.note(
                Rule::Memory,
                format!("{with}: memory grew by more than 5 % after `alive`"),
                "say `alive` when the last task has started and holds all that it will hold; a collector or compiler at work is no fault",
            ),
            Warning::PlateauNotQuiet if many => findings.note(
                Rule::Quiet,
                format!("{with}: it was not quiet while all tasks waited: it went on using CPU, or its memory changed"),
                "wait without polling; a collector or compiler that works on for a while is no fault",
            ),
            _ => {}
        }
    }
}

/// The rule that a failed run broke, and how to fix it.
fn fault(tasks: u64, hold_s: f64, status: Status, seen: &Measurement, trace: &Trace) -> (Rule, &'static str) {
    let whole = seen.exit_code == Some(0);
    let gap_s = trace.done_s.zip(seen.time.launch_s).map(|(done, alive)| done - alive);
    let claims = match seen.status {
        Status::Failed => seen.reason.as_deref().is_some_and(|reason| reason.contains("kernel")),
        _ => false,
    };
    match status {
        Status::Unavailable => {
            (Rule::Build, "`run` must name a program that its `build` makes, or that is in PATH")
        }
        Status::TimedOut => {
            (Rule::Exit, "exit as soon as every task is over; nothing may wait for input or for ever")
        }
        Status::Crashed => {
            (Rule::Exit, "run the command by hand (`taskscale build ENTRY` prints it) and fix the crash")
        }
        Status::KilledOom => {
            (Rule::Memory, "a few tasks cannot need that much: look for memory that is not the tasks'")
        }
        _ if !whole => (
            Rule::Exit,
            "exit with 0 when all N tasks completed; the last line of standard error should say what went wrong",
        ),
        _ if seen.alive.is_none() => (
            Rule::Protocol,
            "print `alive K` once, when the last of the N tasks has started, and flush standard output",
        ),
        _ if seen.alive.is_some_and(|alive| alive > tasks) => {
            (Rule::Counts, "K of `alive K` is N less the tasks that are over: never more than N")
        }
        _ if seen.done != Some(tasks) => (
            Rule::Counts,
            "print `done K` once at the end, K being the tasks that completed; run exactly the N that it is asked for",
        ),
        _ if seen.time.wall_s.is_some_and(|wall_s| wall_s < hold_s) => {
            (Rule::Wait, "let each task wait for the seconds of the second argument, from its own start")
        }
        _ if gap_s.is_some_and(|gap_s| gap_s < UNFLUSHED_S) => {
            (Rule::Protocol, "flush standard output after `alive`: a pipe is buffered by the block")
        }
        Status::NoPlateau => (
            Rule::Counts,
            "say `alive` when the last task has started and holds all that it will hold; on a busy machine, try again",
        ),
        _ if claims => {
            (Rule::Kind, "start a thread (or process) of the system for each task, or give another `kind`")
        }
        _ => (
            Rule::Protocol,
            "say each line once, with one whole number: docs/reference/protocol.md has them all",
        ),
    }
}

/// The line that comes before `done`, and how to have it so.
type Before = (&'static str, &'static str);

const HOLD: Before = ("alive", "say `alive` when the last task starts, and `done` after every task is over");

/// Order, and nothing else on standard output.
pub(super) fn lines(with: &str, output: &[u8], before: Before, findings: &mut Findings) {
    let text = String::from_utf8_lossy(output);
    let lines: Vec<&str> = text.lines().map(str::trim_end).filter(|line| !line.is_empty()).collect();
    let place = |word: &str| lines.iter().position(|line| line.split(' ').next() == Some(word));
    let (word, fix) = before;
    if let (Some(first), Some(done)) = (place(word), place("done"))
        && done < first
    {
        findings.error(Rule::Protocol, format!("{with}: says `done` before `{word}`"), fix);
    }
    let known = ["alive", "ready", "done", "failed", "check", "metric", "histogram"];
    if let Some(stray) = lines.iter().find(|line| !known.contains(&line.split(' ').next().unwrap_or(""))) {
        let stray: String = stray.chars().take(60).collect();
        findings.error(
            Rule::Protocol,
            format!("{with}: writes {stray:?} to standard output"),
            "write everything but the protocol's lines to standard error",
        );
    }
}

/// Waits and ends, of a run that says that all was well.
fn times(with: &str, told: Told, seen: &Measurement, trace: &Trace, findings: &mut Findings) {
    let Told { hold_s, together } = told;
    let (Some(alive_s), Some(done_s)) = (seen.time.launch_s, trace.done_s) else { return };
    let waited_s = done_s - alive_s;
    // That no task can be due before the hold is over is the verdict's to judge. This is less certain: a program that
    // counts its tasks only after the last one has started says `alive` late.
    if !together && waited_s < hold_s - HEARD_LATE_S - alive_s / 2.0 && alive_s < hold_s {
        findings.warning(
            Rule::Wait,
            format!(
                "{with}: `done` came {waited_s:.2} s after `alive`, although each task was to wait {hold_s} s"
            ),
            "let each task wait for the seconds of the second argument, from its own start",
        );
    }
    // The more tasks, the longer their end may take.
    let few = seen.alive.is_some_and(|alive| alive < 50);
    if few && waited_s > 2.0 * hold_s + 2.0 {
        findings.error(
            Rule::Wait,
            format!(
                "{with}: `done` came {waited_s:.2} s after `alive`, although each task was to wait {hold_s} s"
            ),
            "take the wait from the second argument, and let all tasks wait at the same time",
        );
    } else if few && waited_s > hold_s + 1.0 {
        findings.warning(
            Rule::Wait,
            format!(
                "{with}: `done` came {waited_s:.2} s after `alive`, although each task was to wait {hold_s} s"
            ),
            "find out what takes so long: timers of coarse resolution, or an end that is slow",
        );
    }
    linger(with, seen, trace, findings);
}

/// What goes on for long after `done`.
pub(super) fn linger(with: &str, seen: &Measurement, trace: &Trace, findings: &mut Findings) {
    let Some(done_s) = trace.done_s else { return };
    if let Some(wall_s) = seen.time.wall_s.filter(|wall_s| wall_s - done_s > LINGER_S) {
        findings.warning(
            Rule::Exit,
            format!("{with}: lived on for {:.1} s after `done`", wall_s - done_s),
            "exit right after `done`",
        );
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
    fn order_and_strays_are_seen() {
        assert_eq!(found("alive 1\nmetric a 1 s\ndone 1\n"), [""; 0]);
        assert_eq!(found("done 1\r\nalive 1\r\n"), ["with 1 task: says `done` before `alive`"]);
        assert_eq!(
            found("hello \u{1b}[1m\nalive 1\ndone 1\n"),
            ["with 1 task: writes \"hello \\u{1b}[1m\" to standard output"]
        );
    }
}
