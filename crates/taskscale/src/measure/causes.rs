//! The first rules of a verdict: what brought a run to its end, whatever its program had to prove. Pure.
//!
//! Causes come before effects, and both judges have them from here, in this order. docs/reference/protocol.md numbers them.

use super::launcher::Word;
use super::limit_met::{limit_met, limit_proved};
use super::limits::{Met, ThreadRoom};
use super::verdict::{EndedBy, Observed, RunVerdict};
use crate::record::Status;

/// The cause of a run's end, if one is known: rules 1 to 4. `fell_short`: whether the run ended as it should not have,
/// for which a limit of the system may be the reason; with what is to be said of it.
pub(super) fn cause(seen: &Observed, fell_short: Option<String>) -> Option<RunVerdict> {
    not_started(seen)
        .or_else(|| ran_out_of_memory(seen))
        .or_else(|| launcher_lost(seen))
        .or_else(|| met_a_limit(seen, fell_short))
}

/// Rule 1: a program that could not be executed.
fn not_started(seen: &Observed) -> Option<RunVerdict> {
    let Word::Refused { why, errno } = seen.end else { return None };
    let missing = matches!(errno, Some(libc::ENOENT | libc::EACCES | libc::ENOEXEC));
    let status = if missing { Status::Unavailable } else { Status::Failed };
    Some(RunVerdict::new(status, format!("the program could not be started: {why}")))
}

/// Rule 2: killed for lack of memory, or stuck in it.
fn ran_out_of_memory(seen: &Observed) -> Option<RunVerdict> {
    let want = seen.want;
    let stuck = want.out_of_memory && seen.ended_by == Some(EndedBy::TimeOut);
    if want.oom_kills == 0 && !stuck && seen.ended_by != Some(EndedBy::MemoryCap) {
        return None;
    }
    let reason = match seen.memory_cap_bytes {
        // The kernel ended it, but for lack of memory elsewhere.
        Some(cap) if want.oom_kills > 0 && !want.cap_met => format!(
            "killed for lack of memory, though it never met its cap of {} MiB: the machine, or another control group \
             that it was in, had none left",
            cap >> 20
        ),
        Some(cap) => {
            format!("ran out of memory under the cap of {} MiB (--memory-cap allows more)", cap >> 20)
        }
        None => "ran out of memory".to_owned(),
    };
    Some(RunVerdict::new(Status::KilledOom, reason))
}

/// Rule 3: the launcher is gone, and the program with it. Whether the program did that or somebody else cannot be told.
fn launcher_lost(seen: &Observed) -> Option<RunVerdict> {
    (seen.ended_by == Some(EndedBy::LauncherLost)).then(|| {
        let reason = "ended with the process that had started it (the launcher), which was killed: by the program, or \
                      by somebody else on this machine";
        RunVerdict::new(Status::Crashed, reason)
    })
}

/// Rule 4: it fell short, and the evidence names a limit.
fn met_a_limit(seen: &Observed, fell_short: Option<String>) -> Option<RunVerdict> {
    let met = match seen.ended_by {
        Some(EndedBy::Hopeless) => {
            let bound = seen.limits.bound_to_meet(seen.kind, seen.tasks).map(ThreadRoom::told)?;
            let (time_s, most) = (seen.time_cap_s, seen.evidence.threads);
            return Some(limit_verdict(
                bound,
                &format!("; ended after {time_s} s with {most} threads started"),
            ));
        }
        // What did not end by itself did not get as far as it could: a number at which it was ended proves nothing.
        Some(EndedBy::TimeOut | EndedBy::OutputCap) => limit_proved(seen.limits, &seen.evidence),
        _ => limit_met(seen.limits, seen.kind, &seen.evidence).filter(|_| fell_short.is_some()),
    };
    Some(limit_verdict(met?, &fell_short.unwrap_or_default()))
}

fn limit_verdict(met: Met, detail: &str) -> RunVerdict {
    let remedy = met.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
    RunVerdict {
        status: Status::Limit,
        reason: Some(format!("{}{detail}{remedy}", met.sentence)),
        limit: Some(met.limit),
    }
}

/// Rule 6: it wrote more than a run may.
pub(super) fn wrote_too_much(seen: &Observed) -> Option<RunVerdict> {
    (seen.ended_by == Some(EndedBy::OutputCap)).then(|| {
        let bytes = seen.output_cap_bytes;
        RunVerdict::new(Status::Failed, format!("ended because it wrote more than {bytes} bytes of output"))
    })
}

/// For the reason of a time-out: that the run stood at its cap. No proof, as a cache of files may have filled it.
pub(super) fn stood_at_cap(seen: &Observed) -> String {
    match seen.memory_cap_bytes.filter(|_| seen.stood_at_cap) {
        Some(cap) => format!(
            "; it stood at its memory cap of {} MiB, which may be why (--memory-cap allows more)",
            cap >> 20
        ),
        None => String::new(),
    }
}
