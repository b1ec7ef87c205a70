//! The order of the rules: of any two observations of one run, the earlier rule decides.

use std::time::Duration;

use super::black_box::{BlackBoxCommand, Ready};
use super::cgroup::MemoryWant;
use super::classify::classify;
use super::classify_black_box::{BlackBoxEvidence, LoadEvidence, classify_black_box};
use super::evidence::PlateauQuality;
use super::launcher::ProgramEnd;
use super::limit_detection::LimitEvidence;
use super::limits::SystemLimits;
use super::observed::{EndedBy, Observed, RunVerdict, spec_of_ten};
use super::protocol::Printed;
use super::{HoldParams, Scenario};
use crate::Kind;
use crate::Status;

/// Everything that can be observed of a run. A new scene has no failure.
struct Scene {
    printed: Printed,
    end: ProgramEnd,
    ended_by: Option<EndedBy>,
    want: MemoryWant,
    stood_at_cap: bool,
    kind: Kind,
    wall_s: f64,
    plateau: PlateauQuality,
    refused_threads: u64,
    stderr: &'static str,
    // Only for programs outside the catalog.
    read: bool,
    stopped: bool,
    told_hold: bool,
    alive: Option<u64>,
    load_end: Option<ProgramEnd>,
}

impl Scene {
    fn new() -> Scene {
        Scene {
            printed: Printed { alive: Some(10), done: Some(10), ..Printed::default() },
            end: ProgramEnd::exited(Some(0), None),
            ended_by: None,
            want: MemoryWant { cap_hit: true, ..MemoryWant::default() },
            stood_at_cap: false,
            kind: Kind::Thread,
            wall_s: 2.1,
            plateau: PlateauQuality { read: true, ..PlateauQuality::default() },
            refused_threads: 0,
            stderr: "",
            read: true,
            stopped: true,
            told_hold: false,
            alive: Some(10),
            load_end: None,
        }
    }

    fn judged(&self, black_box: bool) -> RunVerdict {
        let limits = SystemLimits { pid_max: Some(1000), open_files: Some(64), ..SystemLimits::default() };
        let scenario = Scenario::Hold(HoldParams { hold_s: 2.0, ..HoldParams::default() });
        let spec = spec_of_ten(self.kind, scenario);
        let run = Observed {
            spec: &spec,
            printed: &self.printed,
            end: Some(&self.end),
            ended_by: self.ended_by,
            want: self.want,
            stood_at_cap: self.stood_at_cap,
            time_cap_s: 60.0,
            wall_s: Some(self.wall_s),
            done_s: None,
            launch_s: Some(0.1),
            plateau: self.plateau.clone(),
            done_after_ready: true,
            counted: Some((if self.kind == Kind::Thread { 11 } else { 3 }, 3)),
            evidence: LimitEvidence {
                refused_threads: Some(self.refused_threads),
                stderr: self.stderr,
                ..LimitEvidence::default()
            },
            limits: &limits,
        };
        if !black_box {
            return classify(&run);
        }
        let settings = BlackBoxCommand {
            ready: Ready::Itself,
            load: None,
            told_hold: self.told_hold,
            folder: None,
            stdin: None,
            full_environment: false,
            settle: Duration::from_secs(10),
        };
        classify_black_box(&BlackBoxEvidence {
            run: &run,
            black_box: &settings,
            ready: true,
            read: self.read,
            inferred: true,
            stopped: self.stopped,
            alive: self.alive,
            over_early: None,
            left_processes: 0,
            other_server: None,
            load: Some(LoadEvidence {
                end: self.load_end.clone(),
                launcher_lost: false,
                stderr: String::new(),
            }),
        })
    }
}

/// An observation, with the status and the reason that its rule gives. Two with the same `place` exclude each
/// other.
struct Observation {
    place: &'static str,
    observe: fn(&mut Scene),
    status: Status,
    reason: &'static str,
}

const fn seen(
    place: &'static str,
    observe: fn(&mut Scene),
    status: Status,
    reason: &'static str,
) -> Observation {
    Observation { place, observe, status, reason }
}

use Status::{Crashed, Failed, KilledOom, Limit, NoPlateau, Partial, TimedOut, Unavailable};

/// Observations that both classifiers share, in the order of the rules.
const CAUSES: [Observation; 6] = [
    seen(
        "end",
        |scene| scene.end = ProgramEnd::Refused { why: "No such file".into(), errno: Some(libc::ENOENT) },
        Unavailable,
        "the program could not be started",
    ),
    seen("want", |scene| scene.want.oom_kills = 1, KilledOom, "the cap of 64 MiB"),
    seen("ended_by", |scene| scene.ended_by = Some(EndedBy::LauncherLost), Crashed, "launcher"),
    // Counts only together with another observation that shows a failure.
    seen("evidence", |scene| scene.stderr = "Too many open files", Limit, "ulimit -n = 64 open files"),
    seen("ended_by", |scene| scene.ended_by = Some(EndedBy::TimeOut), TimedOut, "killed after 60 s"),
    seen("ended_by", |scene| scene.ended_by = Some(EndedBy::OutputCap), Failed, "wrote more than 1,000"),
];

const OF_THE_PROTOCOL: [Observation; 11] = [
    seen(
        "end",
        |scene| scene.end = ProgramEnd::exited(None, Some(libc::SIGSEGV)),
        Crashed,
        "killed by SIGSEGV",
    ),
    seen("end", |scene| scene.end = ProgramEnd::exited(Some(3), None), Failed, "exited with code 3"),
    seen(
        "breach",
        |scene| scene.printed.breach = Some("printed so".into()),
        Failed,
        "protocol error: printed so",
    ),
    seen("alive", |scene| scene.printed.alive = None, Failed, "`alive` was never printed"),
    seen("alive", |scene| scene.printed.alive = Some(11), Failed, "`alive 11` for 10 tasks"),
    seen("done", |scene| scene.printed.done = Some(9), Failed, "`done 9` for 10 tasks"),
    seen("wall", |scene| scene.wall_s = 0.5, Failed, "its tasks must wait 2 s"),
    seen("escaped", |scene| scene.plateau.escaped = 1, Failed, "1 process left"),
    seen("kind", |scene| scene.kind = Kind::Process, Failed, "the kernel counts 3 processes"),
    seen("alive", |scene| scene.printed.alive = Some(7), Partial, "7 of 10 tasks were alive at once"),
    // A late reading rules out a wrong count, so they share a place.
    seen("kind", |scene| scene.plateau.late = true, NoPlateau, "before memory was read"),
];

const OF_OTHERS: [Observation; 9] = [
    seen("escaped", |scene| scene.plateau.escaped = 1, Failed, "1 process left"),
    seen(
        "end",
        |scene| (scene.end, scene.stopped) = (ProgramEnd::exited(None, Some(libc::SIGSEGV)), false),
        Crashed,
        "killed by SIGSEGV",
    ),
    seen(
        "end",
        |scene| (scene.end, scene.stopped) = (ProgramEnd::exited(Some(3), None), false),
        Failed,
        "exited with code 3",
    ),
    seen("read", |scene| (scene.read, scene.stopped) = (false, false), Failed, "it was never idle"),
    seen(
        "wall",
        |scene| (scene.wall_s, scene.told_hold, scene.stopped) = (0.5, true, false),
        Failed,
        "its tasks must wait 2 s",
    ),
    seen(
        "load",
        |scene| scene.load_end = Some(ProgramEnd::exited(Some(1), None)),
        Failed,
        "the load exited with code 1",
    ),
    seen("alive", |scene| scene.alive = Some(11), Failed, "`alive 11` for 10 tasks"),
    seen("alive", |scene| scene.alive = Some(7), Partial, "7 of 10 tasks were alive at once"),
    seen("late", |scene| scene.plateau.late = true, NoPlateau, "before memory was read"),
];

/// Places of failures that no limit can explain, so that no limit is named.
const NO_SHORTFALL: [&str; 7] = ["breach", "alive", "done", "wall", "escaped", "kind", "late"];

fn assert_order(black_box: bool, rules: &[&Observation]) {
    let judged = |observed: &[&Observation]| {
        let mut scene = Scene::new();
        observed.iter().for_each(|seen| (seen.observe)(&mut scene));
        scene.judged(black_box)
    };
    assert_eq!(judged(&[]).status, Status::Ok);
    for (index, first) in rules.iter().enumerate() {
        for second in &rules[index..] {
            let explained = first.place != "evidence"
                || black_box && !["alive", "escaped", "late"].contains(&second.place);
            let explained = explained || !NO_SHORTFALL.contains(&second.place);
            if std::ptr::eq(*first, *second) && first.place == "evidence"
                || !std::ptr::eq(*first, *second) && first.place == second.place
                || !explained
            {
                continue;
            }
            let verdict = judged(&[first, second]);
            let reason = verdict.reason.as_deref().unwrap_or_default();
            assert!(
                verdict.status == first.status && reason.contains(first.reason),
                "{:?} and {:?}: {}: {reason}",
                first.reason,
                second.reason,
                verdict.status
            );
        }
    }
}

#[test]
fn the_earlier_of_two_rules_decides() {
    assert_order(false, &CAUSES.iter().chain(&OF_THE_PROTOCOL).collect::<Vec<_>>());
}

#[test]
fn the_earlier_of_two_rules_decides_for_black_boxes() {
    assert_order(true, &CAUSES.iter().chain(&OF_OTHERS).collect::<Vec<_>>());
}

/// On cgroup v1 the kernel kills one process, and the others may wait for it forever.
#[test]
fn a_timeout_does_not_hide_exhausted_memory() {
    let timed_out = |change: fn(&mut Scene)| {
        let mut scene = Scene::new();
        (scene.end, scene.ended_by) = (ProgramEnd::exited(None, Some(libc::SIGKILL)), Some(EndedBy::TimeOut));
        change(&mut scene);
        [scene.judged(false), scene.judged(true)]
    };
    for verdict in timed_out(|scene| scene.want.oom_kills = 1) {
        assert_eq!(verdict.status, KilledOom);
    }
    // The kernel was about to kill a process, but had not yet done so.
    for verdict in timed_out(|scene| scene.want.out_of_memory = true) {
        assert_eq!(verdict.status, KilledOom);
    }
    // Page cache fills a cgroup up to its cap as well: this is only a possible cause.
    for verdict in timed_out(|scene| scene.stood_at_cap = true) {
        let reason = verdict.reason.unwrap();
        assert_eq!(verdict.status, TimedOut);
        assert!(reason.contains("cap of 64 MiB") && reason.ends_with("(raise --memory-cap)"), "{reason}");
    }
    for verdict in timed_out(|_| ()) {
        assert!(!verdict.reason.unwrap().contains("memory"));
    }
}

/// A kill for memory that is exhausted elsewhere is not blamed on the run's cap.
#[test]
fn a_cap_that_was_never_hit_is_not_blamed() {
    let mut scene = Scene::new();
    scene.want = MemoryWant { oom_kills: 1, ..MemoryWant::default() };
    let verdict = scene.judged(false);
    assert_eq!(verdict.status, KilledOom);
    let reason = verdict.reason.unwrap();
    assert!(reason.starts_with("killed by the kernel"), "{reason}");
    assert!(!reason.contains("--memory-cap"), "{reason}");
}

/// How far a run had got when it was ended proves nothing about a limit; a refusal does.
#[test]
fn runs_ended_by_taskscale_name_only_proved_limits() {
    for why in [EndedBy::TimeOut, EndedBy::OutputCap] {
        let mut scene = Scene::new();
        (scene.end, scene.ended_by) = (ProgramEnd::exited(None, Some(libc::SIGKILL)), Some(why));
        assert_ne!(scene.judged(false).status, Limit);
        scene.refused_threads = 1;
        assert_eq!(scene.judged(false).status, Limit);
        assert_eq!(scene.judged(true).status, Limit);
    }
}
