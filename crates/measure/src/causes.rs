//! The first rules of a verdict: why a run ended. Pure.
//!
//! Causes come before effects. Both kinds of verdict apply these rules in this order, as docs/reference/protocol.md numbers them.

use super::launcher::ProgramEnd;
use super::limit_detection::{detect_limit, proven_limit};
use super::limits::{DetectedLimit, ThreadHeadroom};
use super::observed::{EndedBy, Observed, RunVerdict};
use crate::Status;
use crate::units::grouped;

/// Why a run ended, if known: rules 1 to 4. `fell_short` is set if a system limit could explain the failure; its text
/// is how far the run got.
pub(super) fn cause(seen: &Observed, fell_short: Option<String>) -> Option<RunVerdict> {
    not_started(seen)
        .or_else(|| ran_out_of_memory(seen))
        .or_else(|| launcher_lost(seen))
        .or_else(|| hit_a_limit(seen, fell_short))
}

/// Rule 1: a program that could not be executed.
fn not_started(seen: &Observed) -> Option<RunVerdict> {
    let Some(ProgramEnd::Refused { why, errno }) = seen.end else { return None };
    let missing = matches!(errno, Some(libc::ENOENT | libc::EACCES | libc::ENOEXEC));
    let status = if missing { Status::Unavailable } else { Status::Failed };
    Some(RunVerdict::new(status, format!("the program could not be started: {why}")))
}

/// Rule 2: killed because memory was exhausted, or stuck waiting for memory.
fn ran_out_of_memory(seen: &Observed) -> Option<RunVerdict> {
    let want = seen.want;
    let stuck = want.out_of_memory && seen.ended_by == Some(EndedBy::TimeOut);
    if want.oom_kills == 0 && !stuck && seen.ended_by != Some(EndedBy::MemoryCap) {
        return None;
    }
    let reason = match seen.spec.bounds.memory_bytes {
        // The kernel killed it because memory was exhausted elsewhere.
        Some(cap) if want.oom_kills > 0 && !want.cap_hit => format!(
            "killed by the kernel: the machine or a parent cgroup was out of memory (the run was below its own cap of \
             {} MiB)",
            cap >> 20
        ),
        Some(cap) => {
            format!("out of memory: hit the cap of {} MiB (raise --memory-cap)", cap >> 20)
        }
        None => "out of memory".to_owned(),
    };
    Some(RunVerdict::new(Status::KilledOom, reason))
}

/// Rule 3: the launcher was killed, and the program with it. The killer is unknown.
fn launcher_lost(seen: &Observed) -> Option<RunVerdict> {
    (seen.ended_by == Some(EndedBy::LauncherLost)).then(|| {
        let reason =
            "killed together with its launcher, which was killed by the program or by another process";
        RunVerdict::new(Status::Crashed, reason)
    })
}

/// Rule 4: it failed, and the evidence names a limit.
fn hit_a_limit(seen: &Observed, fell_short: Option<String>) -> Option<RunVerdict> {
    let met = match seen.ended_by {
        Some(EndedBy::Doomed) => {
            let bound =
                seen.limits.exceeds_limit(seen.spec.kind, seen.spec.tasks).map(ThreadHeadroom::into_hit)?;
            let (time_s, most) = (seen.time_cap_s, seen.evidence.threads);
            let why = format!("{}; killed after {time_s} s with {} threads", bound.why, grouped(most));
            let sentence = format!("would {}", bound.sentence);
            return Some(limit_verdict(DetectedLimit { sentence, why, ..bound }, ""));
        }
        // A run that taskscale ended could have gone further: how far it got proves nothing.
        Some(EndedBy::TimeOut | EndedBy::OutputCap) => proven_limit(seen.limits, &seen.evidence),
        _ => detect_limit(seen.limits, seen.spec.kind, &seen.evidence).filter(|_| fell_short.is_some()),
    };
    Some(limit_verdict(met?, &fell_short.unwrap_or_default()))
}

fn limit_verdict(met: DetectedLimit, detail: &str) -> RunVerdict {
    let remedy = met.remedy.map(|remedy| format!("; {remedy}")).unwrap_or_default();
    RunVerdict {
        status: Status::Limit,
        reason: Some(format!("{}{detail}{}{remedy}", met.sentence, met.why)),
        limit: Some(met.limit),
    }
}

/// Rule 6: returns the reason of failure if the program wrote more output than a run may.
pub(super) fn require_little_output(seen: &Observed) -> Result<(), String> {
    if seen.ended_by == Some(EndedBy::OutputCap) {
        let most = grouped(seen.spec.bounds.output_bytes);
        return Err(format!("killed: wrote more than {most} bytes of output"));
    }
    Ok(())
}

/// For the reason of a timeout: memory was at its cap. This proves nothing, as page cache may have filled it.
pub(super) fn cap_note(seen: &Observed) -> String {
    let Some(cap) = seen.spec.bounds.memory_bytes.filter(|_| seen.stood_at_cap) else { return String::new() };
    format!("; memory was at its cap of {} MiB, which may be why (raise --memory-cap)", cap >> 20)
}
