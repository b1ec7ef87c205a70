//! Judges one run of work: its status, its lines and its exit.

use super::judge::{end_fault, is_ok_or_limit, lines, linger};
use super::runs::{FEWER, TracedRun};
use super::{CheckRule, Findings};
use crate::units;

const READY: &str =
    "print `ready` once, after all preparation and before the first operation, and flush standard output";
const DONE: &str = "print `done K` once, with the number of completed operations; run exactly as many as requested, even if they are not a multiple of the tasks";

/// Judges one run at one N.
pub(super) fn judge(tasks: u64, operations: u64, run: &TracedRun) -> Findings {
    let mut findings = Findings::default();
    let (seen, details) = run;
    let with = with(tasks, operations);
    if !is_ok_or_limit(&with, tasks >= FEWER[0], seen, &mut findings) {
        let (rule, fix) = fault(tasks, operations, run);
        let reason = seen.reason.as_deref().unwrap_or("unknown reason");
        findings.error(rule, format!("{with}: {reason}"), fix);
    }
    lines(&with, &details.output, ("ready", READY), &mut findings);
    linger(&with, run, &mut findings);
    findings
}

/// The tasks and operations of a run, as text.
pub(super) fn with(tasks: u64, operations: u64) -> String {
    format!("with {} and {}", units::tasks(tasks), units::counted(operations, "operation"))
}

/// The rule that a failed run broke, and the fix.
fn fault(tasks: u64, operations: u64, (seen, details): &TracedRun) -> (CheckRule, &'static str) {
    let check = seen.work.as_ref().and_then(|work| work.check.as_ref());
    let printed = |word: &str| {
        let text = String::from_utf8_lossy(&details.output);
        text.lines().filter(|line| line.split(' ').next() == Some(word)).count()
    };
    let late = "exit as soon as all operations are done; do not wait for input";
    let large = "free what a finished operation used: a few tasks cannot need this much";
    if let Some(fault) = end_fault(seen.status, late, large) {
        return fault;
    }
    match () {
        _ if seen.exit_code != Some(0) => (
            CheckRule::Exit,
            "exit with 0 when all operations are done; print the reason of a failure as the last line of standard error",
        ),
        _ if seen.plateau_from.is_none() => (CheckRule::Protocol, READY),
        _ if printed("ready") > 1 || printed("done") > 1 => {
            (CheckRule::Protocol, "print each line once (docs/reference/protocol.md)")
        }
        _ if seen.done != Some(operations) => (CheckRule::Counts, DONE),
        _ if seen.alive.is_some_and(|alive| alive != tasks) => {
            (CheckRule::Counts, "print `alive K` with the number of tasks that wait at the gate: all of them")
        }
        _ if check.is_none() => (
            CheckRule::Protocol,
            "print `check C` once, with the result of the operations (docs/reference/protocol.md)",
        ),
        _ if !details.done_before_ready => (
            CheckRule::Work,
            "do what the workload describes, and compute `check` from the results of the tasks",
        ),
        _ => (
            CheckRule::Protocol,
            "print `ready` before the work and `done` after it (docs/reference/protocol.md)",
        ),
    }
}
