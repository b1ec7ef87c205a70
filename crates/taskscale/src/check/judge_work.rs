//! What one run of work says of a program: its status, its lines and its end.

use super::judge::{lines, linger};
use super::runs::FEWER;
use super::{Findings, Rule};
use crate::measure::{Measurement, Trace};
use crate::record::Status;
use crate::units;

const READY: &str =
    "print `ready` once, when all is prepared and before the first operation, and flush standard output";
const DONE: &str = "print `done K` once, K being the operations that were done: as many as it is asked for, also where they are no multiple of the tasks";

/// What one run at one N says of the program.
pub(super) fn judge(
    (tasks, operations): (u64, u64),
    seen: &Measurement,
    trace: &Trace,
    findings: &mut Findings,
) {
    let with = with(tasks, operations);
    let reason = || seen.reason.clone().unwrap_or_else(|| "no reason is known".into());
    let many = tasks >= FEWER[0];
    match seen.status {
        Status::Ok => {}
        Status::Limit => findings.note(
            Rule::Limit,
            format!("{with}: {}", reason()),
            "nothing in the entry: lift the machine's limit",
        ),
        Status::KilledOom if many => findings.note(
            Rule::Limit,
            format!("{with}: {}", reason()),
            "nothing in the entry, if a task really takes that much: check where there is more memory",
        ),
        _ => {
            let (rule, fix) = fault(tasks, operations, seen, trace);
            findings.error(rule, format!("{with}: {}", reason()), fix);
        }
    }
    lines(&with, &trace.output, ("ready", READY), findings);
    linger(&with, seen, trace, findings);
}

/// The numbers that a program was given.
pub(super) fn with(tasks: u64, operations: u64) -> String {
    format!("with {} and {}", units::tasks(tasks), units::counted(operations, "operation"))
}

/// The rule that a failed run broke, and how to fix it.
fn fault(tasks: u64, operations: u64, seen: &Measurement, trace: &Trace) -> (Rule, &'static str) {
    let check = seen.work.as_ref().and_then(|work| work.check.as_ref());
    let said = |word: &str| {
        let text = String::from_utf8_lossy(&trace.output);
        text.lines().filter(|line| line.split(' ').next() == Some(word)).count()
    };
    match seen.status {
        Status::Unavailable => {
            (Rule::Build, "`run` must name a program that its `build` makes, or that is in PATH")
        }
        Status::TimedOut => {
            (Rule::Exit, "exit as soon as every operation is done; nothing may wait for input or for ever")
        }
        Status::Crashed => {
            (Rule::Exit, "run the command by hand (`taskscale build ENTRY` prints it) and fix the crash")
        }
        Status::KilledOom => {
            (Rule::Memory, "a few tasks cannot need that much: keep nothing of an operation that is over")
        }
        _ if seen.exit_code != Some(0) => (
            Rule::Exit,
            "exit with 0 when all operations were done; the last line of standard error should say what went wrong",
        ),
        _ if seen.plateau_from.is_none() => (Rule::Protocol, READY),
        _ if said("ready") > 1 || said("done") > 1 => {
            (Rule::Protocol, "say each line once: docs/reference/protocol.md has them all")
        }
        _ if seen.done != Some(operations) => (Rule::Counts, DONE),
        _ if seen.alive.is_some_and(|alive| alive != tasks) => {
            (Rule::Counts, "K of `alive K` is the tasks that wait at the gate: all of them")
        }
        _ if check.is_none() => (
            Rule::Protocol,
            "print `check C` once, C being what the workload's operations come to: docs/reference/protocol.md",
        ),
        _ if trace.done_s.zip(seen.time.launch_s).is_some_and(|(done, ready)| done >= ready) => (
            Rule::Work,
            "do what the workload says, and sum up what the tasks gave back: `check` is made of that",
        ),
        _ => (
            Rule::Protocol,
            "say `ready` before the work and `done` after it: docs/reference/protocol.md has all lines",
        ),
    }
}
