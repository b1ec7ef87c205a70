//! Classifies the run of a program that is not in the catalog: its status and the reason. Pure.
//!
//! Such a program proves nothing by itself. taskscale can observe whether it became ready and whether it still ran at
//! the end of the plateau. Then the run is `ok`, and `alive` is unknown unless the program or its load printed it.

use std::net::SocketAddr;

use super::black_box::{BlackBoxCommand, Ready};
use super::causes::{cap_note, cause, require_little_output};
use super::classify::{require_at_most, require_counted, signal_name, unless_doubted};
use super::evidence::{Provenance, Quiescence};
use super::launcher::ProgramEnd;
use super::observed::{EndedBy, Observed, RunVerdict};
use super::stderr_summary::last_line;
use crate::Status;
use crate::units::grouped;

/// The observations of one run that its verdict rests on.
pub struct BlackBoxEvidence<'a> {
    pub run: &'a Observed<'a>,
    pub black_box: &'a BlackBoxCommand,
    /// Whether the program became ready, before any load.
    pub ready: bool,
    /// Whether the plateau was read.
    pub read: bool,
    /// Whether the plateau was only inferred from an idle program.
    pub inferred: bool,
    /// Whether taskscale stopped it after the plateau.
    pub stopped: bool,
    pub alive: Option<u64>,
    /// What printed `done` or `failed K` before memory was read, and which of the two: tasks had already ended.
    pub over_early: Option<(&'static str, &'static str)>,
    /// Processes that remained when the first had exited by itself.
    pub left_processes: usize,
    /// The address of the server, where a process outside of the run listens or has connections.
    pub other_server: Option<SocketAddr>,
    /// The load, where one was started.
    pub load: Option<LoadEvidence>,
}

/// The observations of the load.
pub struct LoadEvidence {
    /// Its end, where it ended by itself.
    pub end: Option<ProgramEnd>,
    /// Whether its launcher was killed, and the load with it.
    pub launcher_lost: bool,
    pub stderr: String,
}

/// Classifies such a run. The rules are numbered in docs/reference/protocol.md; the first that applies decides.
pub fn classify_black_box(seen: &BlackBoxEvidence) -> RunVerdict {
    by_the_rules(seen).unwrap_or_else(RunVerdict::failed)
}

/// The verdict. `Err(reason)` is short for the status `failed`; `Ok` may be any status.
fn by_the_rules(seen: &BlackBoxEvidence) -> Result<RunVerdict, String> {
    let run = seen.run;
    let serves = run.spec.scenario.serve().is_some();
    let own_end = if seen.stopped { None } else { own_end(seen) };
    let load_end =
        seen.load.as_ref().and_then(|load| load_end(load, if serves { "the clients" } else { "the load" }));
    let few = seen.alive.is_some_and(|alive| alive < run.spec.tasks);
    let short = own_end.is_some() || load_end.is_some() || few;
    let all = grouped(run.spec.tasks);
    let alive =
        seen.alive.filter(|_| few).map(|alive| format!(" with {} of {all} tasks alive", grouped(alive)));
    if let Some(verdict) = cause(run, short.then(|| alive.unwrap_or_default())) {
        return Ok(verdict);
    }
    if matches!(run.ended_by, Some(EndedBy::TimeOut | EndedBy::Doomed)) {
        return Ok(timed_out(seen));
    }
    require_little_output(run)?;
    run.plateau.require_all_inside()?;
    if let Some(address) = seen.other_server {
        return Err(format!(
            "a process outside of the run listens at {address} or has its connections: its memory is missing (start \
             the server itself, and no other at that port)"
        ));
    }
    // Any program may begin a line with `done`. One that begins a line with `alive` uses the protocol.
    let by_its_word = matches!(seen.black_box.ready, Ready::Itself) && seen.load.is_none();
    let held_to_it = serves || by_its_word && run.printed.bad_alive;
    if let Some(breach) = run.printed.breach.as_ref().filter(|_| held_to_it) {
        return Err(format!("protocol error: {breach}"));
    }
    // A server that exits makes its clients fail: its own end is the cause.
    if let Some(verdict) = own_end {
        return Ok(verdict);
    }
    if let Some(reason) = load_end {
        return Err(reason);
    }
    if let Some((who, word)) = seen.over_early {
        return Err(format!("{who} printed `{word}` before memory was read: its tasks had ended"));
    }
    if let Some(alive) = seen.alive {
        require_at_most(alive, run.spec.tasks)?;
        if few {
            let reason = format!("{} of {all} tasks were alive at once", grouped(alive));
            return Ok(RunVerdict::new(Status::Partial, reason));
        }
        if serves {
            require_counted(run, alive)?;
        }
    }
    Ok(unless_doubted(doubt(seen)))
}

/// Why the plateau is in doubt, and the option that helps.
fn doubt(seen: &BlackBoxEvidence) -> Option<String> {
    let provenance = match (seen.alive, seen.inferred) {
        (Some(_), _) => Provenance::Printed,
        (None, false) => Provenance::Named,
        (None, true) => Provenance::Inferred,
    };
    let why = seen.run.plateau.doubt(provenance)?;
    if seen.run.plateau.quiescence == Quiescence::AtWork && !seen.stopped {
        return Some(format!(
            "the program used the CPU after memory was read, and ended before its plateau was over (keep it running, or {})",
            seen.black_box.ready.hint()
        ));
    }
    let settle_s = seen.black_box.settle.as_secs_f64();
    let hint = match (seen.run.plateau.quiescence, &seen.black_box.ready) {
        (Quiescence::Quiet | Quiescence::Starved | Quiescence::HeldBack, _) | (_, Ready::Listening) => {
            return Some(why);
        }
        (_, Ready::Itself) => {
            format!("raise --settle above {settle_s} s, or {}", seen.black_box.ready.hint())
        }
        _ => format!("raise --settle above {settle_s} s"),
    };
    Some(format!("{why} ({hint})"))
}

fn timed_out(seen: &BlackBoxEvidence) -> RunVerdict {
    let cap_s = seen.run.time_cap_s;
    let ready = &seen.black_box.ready;
    let last = last_line(seen.run.evidence.stderr);
    let what = if !seen.ready {
        format!("{}{last} ({})", ready.awaited(), ready.hint())
    } else if seen.run.spec.scenario.serve().is_some() {
        let phase = if seen.read { "clients were still sending" } else { "clients were still connecting" };
        format!("{phase}{last} (raise --timeout)")
    } else if seen.load.is_some() && !seen.read {
        format!("the load never printed `alive K` and never became idle{last} (set --with-ready-after)")
    } else if !seen.read {
        "the program was not idle yet (raise --timeout or lower --settle)".to_owned()
    } else {
        "the program did not exit at the time given by {seconds} (without {seconds}, taskscale stops it after the \
         plateau)"
            .to_owned()
    };
    let reason = format!("killed after {cap_s} s: {what}{}", cap_note(seen.run));
    RunVerdict::new(Status::TimedOut, reason)
}

/// The verdict on a program that ended by itself, if its end was a failure.
fn own_end(seen: &BlackBoxEvidence) -> Option<RunVerdict> {
    let run = seen.run;
    let Some(ProgramEnd::Exited { code, signal, .. }) = run.end else { return None };
    let when = match (seen.ready, seen.read) {
        (false, _) => ", before it was ready",
        (true, false) => ", before it was idle",
        (true, true) => "",
    };
    let last = last_line(run.evidence.stderr);
    let after = run.wall_s.map(|wall_s| format!(" after {wall_s:.2} s")).unwrap_or_default();
    if let Some(signal) = signal {
        let reason = format!("killed by {}{after}{when}{last}", signal_name(*signal));
        return Some(RunVerdict::new(Status::Crashed, reason));
    }
    if *code != Some(0) {
        let code = code.map_or("without a code".to_owned(), |code| format!("with code {code}"));
        return Some(RunVerdict::failed(format!("exited {code}{after}{when}{last}")));
    }
    if run.spec.scenario.serve().is_some() {
        return Some(RunVerdict::failed(format!(
            "exited with code 0{after}, before the clients finished{last}"
        )));
    }
    if !seen.read {
        let left = seen.left_processes;
        let why = if left > 0 {
            format!(
                "it left {left} processes in the background; keep it in the foreground (nginx: -g 'daemon off;'; \
                 redis-server: --daemonize no)"
            )
        } else if matches!(seen.black_box.ready, Ready::Itself) {
            "it was never idle for 0.5 s, so there was no plateau to read; let its tasks wait longer (taskscale \
             replaces {seconds} by a suitable time) or keep the program running"
                .to_owned()
        } else {
            seen.black_box.ready.awaited()
        };
        return Some(RunVerdict::failed(format!("exited with code 0{after}{when}: {why}{last}")));
    }
    let hold_s = run.spec.scenario.hold_s();
    let early = seen.black_box.told_hold && run.wall_s.is_some_and(|wall_s| wall_s < hold_s);
    early
        .then(|| RunVerdict::failed(format!("exited with code 0{after}, but its tasks must wait {hold_s} s")))
}

/// The reason of failure if the load ended by itself, as its tasks ended with it.
fn load_end(load: &LoadEvidence, who: &str) -> Option<String> {
    let last = last_line(&load.stderr);
    if load.launcher_lost {
        let reason = "killed together with its launcher, which was killed by the load or by another process";
        return Some(format!("{who}: {reason}{last}"));
    }
    Some(match load.end.as_ref()? {
        ProgramEnd::Refused { why, .. } => format!("{who} could not be started: {why}"),
        ProgramEnd::Exited { signal: Some(signal), .. } => {
            format!("{who}: killed by {}{last}", signal_name(*signal))
        }
        ProgramEnd::Exited { code: Some(0), .. } => {
            format!("{who} exited before the plateau was over; keep its tasks until taskscale stops it{last}")
        }
        ProgramEnd::Exited { code, .. } => {
            format!("{who} exited with code {}{last}", code.unwrap_or_default())
        }
    })
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::Kind;
    use crate::black_box::LinePattern;
    use crate::cgroup::MemoryWant;
    use crate::evidence::PlateauQuality;
    use crate::limit_detection::LimitEvidence;
    use crate::limits::SystemLimits;
    use crate::observed::spec_of_ten;
    use crate::protocol::Printed;
    use crate::{HoldParams, Scenario};

    /// The verdict on a run that was read and stopped, after `change`.
    fn verdict<'a>(
        ready: Ready,
        end: &'a ProgramEnd,
        stderr: &'a str,
        ended_by: Option<EndedBy>,
        change: impl FnOnce(&mut BlackBoxEvidence),
    ) -> (Status, String) {
        verdict_of(&Printed::default(), ready, end, stderr, ended_by, change)
    }

    fn verdict_of<'a>(
        printed: &'a Printed,
        ready: Ready,
        end: &'a ProgramEnd,
        stderr: &'a str,
        ended_by: Option<EndedBy>,
        change: impl FnOnce(&mut BlackBoxEvidence),
    ) -> (Status, String) {
        let limits =
            SystemLimits { open_files: Some(1024), open_files_hard: Some(4096), ..SystemLimits::default() };
        let black_box = BlackBoxCommand {
            ready,
            load: None,
            told_hold: false,
            folder: None,
            stdin: None,
            full_environment: false,
            settle: Duration::from_secs(10),
        };
        let scenario = Scenario::BlackBox(Box::new(black_box.clone()), HoldParams::default());
        let spec = spec_of_ten(Kind::Program, scenario);
        let observed = Observed {
            spec: &spec,
            printed,
            end: Some(end),
            ended_by,
            want: MemoryWant::default(),
            stood_at_cap: false,
            time_cap_s: 60.0,
            wall_s: Some(2.1),
            done_s: None,
            launch_s: Some(0.1),
            counted: Some((1, 1)),
            plateau: PlateauQuality { read: true, ..PlateauQuality::default() },
            done_after_ready: false,
            evidence: LimitEvidence { stderr, ..LimitEvidence::default() },
            limits: &limits,
        };
        let mut seen = BlackBoxEvidence {
            run: &observed,
            black_box: &black_box,
            ready: true,
            read: true,
            inferred: true,
            stopped: true,
            alive: None,
            over_early: None,
            left_processes: 0,
            other_server: None,
            load: None,
        };
        change(&mut seen);
        let verdict = classify_black_box(&seen);
        (verdict.status, verdict.reason.unwrap_or_default())
    }

    #[test]
    fn a_stopped_black_box_is_ok_with_any_exit_code() {
        for end in [
            ProgramEnd::exited(Some(0), None),
            ProgramEnd::exited(Some(143), None),
            ProgramEnd::exited(None, Some(libc::SIGKILL)),
        ] {
            assert_eq!(verdict(Ready::Itself, &end, "", None, |_| {}), (Status::Ok, String::new()));
        }
    }

    #[test]
    fn an_exit_before_the_reading_is_reported_with_a_remedy() {
        let early = |seen: &mut BlackBoxEvidence| {
            seen.stopped = false;
            seen.ready = false;
            seen.read = false;
        };
        let (status, reason) =
            verdict(Ready::Itself, &ProgramEnd::exited(Some(3), None), "no config\n", None, early);
        assert_eq!(status, Status::Failed);
        assert_eq!(reason, "exited with code 3 after 2.10 s, before it was ready; stderr: no config");
        let (status, reason) = verdict(Ready::Itself, &ProgramEnd::exited(Some(0), None), "", None, early);
        assert_eq!(status, Status::Failed);
        assert!(reason.contains("0.5 s") && reason.contains("{seconds}"), "{reason}");
        let (_, reason) = verdict(Ready::Itself, &ProgramEnd::exited(Some(0), None), "", None, |seen| {
            early(seen);
            seen.left_processes = 2;
        });
        assert!(reason.contains("left 2 processes"), "{reason}");
        let (status, reason) =
            verdict(Ready::Itself, &ProgramEnd::exited(None, Some(libc::SIGSEGV)), "", None, early);
        assert_eq!(
            (status, reason.as_str()),
            (Status::Crashed, "killed by SIGSEGV after 2.10 s, before it was ready")
        );
    }

    #[test]
    fn a_missing_ready_signal_is_named() {
        let line = Ready::Line(LinePattern::parse("listening").unwrap());
        let killed = ProgramEnd::exited(None, Some(libc::SIGKILL));
        let (status, reason) = verdict(line, &killed, "", Some(EndedBy::TimeOut), |seen| {
            (seen.ready, seen.read, seen.stopped) = (false, false, false);
        });
        assert_eq!(status, Status::TimedOut);
        assert!(reason.starts_with("killed after 60 s: ") && reason.contains("\"listening\""), "{reason}");
        assert!(reason.contains("PYTHONUNBUFFERED"), "{reason}");
    }

    #[test]
    fn a_load_that_exits_is_reported_with_its_stderr() {
        let (status, reason) = verdict(Ready::Itself, &ProgramEnd::exited(Some(0), None), "", None, |seen| {
            let end = Some(ProgramEnd::exited(Some(1), None));
            seen.load =
                Some(LoadEvidence { end, launcher_lost: false, stderr: "connection refused\n".to_owned() });
        });
        assert_eq!(status, Status::Failed);
        assert_eq!(reason, "the load exited with code 1; stderr: connection refused");
    }

    #[test]
    fn invalid_alive_fails_unless_a_ready_line_is_given() {
        let breach = |bad_alive| Printed { breach: Some("said".into()), bad_alive, ..Printed::default() };
        let end = ProgramEnd::exited(Some(0), None);
        for (bad_alive, status) in [(true, Status::Failed), (false, Status::Ok)] {
            assert_eq!(verdict_of(&breach(bad_alive), Ready::Itself, &end, "", None, |_| {}).0, status);
        }
        let line = Ready::Line(LinePattern::parse("up").unwrap());
        assert_eq!(verdict_of(&breach(true), line, &end, "", None, |_| {}).0, Status::Ok);
    }

    #[test]
    fn tasks_ending_before_the_reading_fail_the_run() {
        let over = |seen: &mut BlackBoxEvidence| {
            (seen.alive, seen.over_early) = (Some(10), Some(("the load", "done")))
        };
        let (status, reason) = verdict(Ready::Itself, &ProgramEnd::exited(Some(0), None), "", None, over);
        assert_eq!(status, Status::Failed);
        assert!(reason.starts_with("the load printed `done` before"), "{reason}");
    }

    #[test]
    fn fewer_alive_is_partial_or_a_hit_limit() {
        let few = |seen: &mut BlackBoxEvidence| seen.alive = Some(7);
        let end = ProgramEnd::exited(Some(0), None);
        assert_eq!(verdict(Ready::Itself, &end, "", None, few).0, Status::Partial);
        let (status, reason) = verdict(Ready::Itself, &end, "accept: Too many open files\n", None, few);
        assert_eq!(status, Status::Limit);
        assert_eq!(
            reason,
            "hit ulimit -n = 1024 open files with 7 of 10 tasks alive; raise it to its hard limit: `ulimit -n 4096`"
        );
    }
}
