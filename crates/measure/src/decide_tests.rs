//! Scripted programs on a scripted clock: which actions are chosen when, and which measurement results.

mod fixture;

use std::time::Duration;

use super::black_box::Ready;
use super::decide::{Action, next_action};
use super::event::{DropReason, PlateauStart, RunEvent};
use super::observed::EndedBy;
use super::procfs::ThreadActivity;
use super::sampler::{MemorySnapshot, UsageSample};
use super::timeline::{Host, Timeline};
use super::{Scenario, WorkParams, analyze};
use crate::{PlateauFrom, Status, Timestamp, Warning};
use fixture::*;

#[test]
fn waiting_tasks_are_read_when_idle_and_watched_until_due() {
    let (timeline, actions) = watch(&well(), &hold());
    assert_eq!(names(&actions), ["BeginPlateau", "ReadMemory", "Compare", "LastLook", "EndPlateau"]);
    let at: Vec<u64> = actions.iter().map(|(ms, _)| *ms).collect();
    assert_eq!(at[0], 100);
    assert!((200..260).contains(&at[1]), "{actions:?}");
    assert!(
        (1_540..1_570).contains(&at[2]) && (1_950..1_960).contains(&at[3]) && at[4] == 2_000,
        "{actions:?}"
    );
    let run = analyze(&timeline, &hold());
    assert_eq!((run.status, run.reason, run.warnings), (Status::Ok, None, vec![]));
    assert_eq!((run.time.launch_s, run.time.plateau_s), (Some(0.1), Some(1.9)));
    assert_eq!(run.memory.plateau.map(|memory| memory.footprint_bytes), Some(20 * MIB));
    assert!((run.cpu.launch_s.unwrap() - 0.1).abs() < 1e-9 && run.cpu.plateau_s == Some(0.0));
}

/// Without a cgroup, every observation walks all processes of the machine.
#[test]
fn slow_samples_do_not_skip_actions() {
    let (_, actions) = watch(&ScriptedProgram { look_ms: 30, ..well() }, &hold());
    assert_eq!(names(&actions), ["BeginPlateau", "ReadMemory", "Compare", "LastLook", "EndPlateau"]);
    let silent = ScriptedProgram { look_ms: 30, lines: Vec::new(), ends_ms: None, ..well() };
    let (timeline, actions) = watch(&silent, &black_box(false));
    assert_eq!(names(&actions), ["BeginPlateau", "ReadMemory", "Compare", "LastLook", "Stop", "Ask"]);
    assert_eq!(analyze(&timeline, &black_box(false)).status, Status::Ok);
}

#[test]
fn a_busy_program_is_read_at_the_last_moment() {
    let busy = ScriptedProgram { cpu_ms: |ms| ms as f64, doing: runnable, ..well() };
    let (timeline, actions) = watch(&busy, &hold());
    let read = actions.iter().find(|(_, action)| *action == Action::ReadMemory).unwrap();
    assert!((1_820..1_860).contains(&read.0), "{actions:?}");
    let run = analyze(&timeline, &hold());
    assert_eq!((run.status, run.warnings), (Status::Ok, vec![Warning::PlateauNotQuiet]));
}

#[test]
fn a_cpu_starved_program_has_no_plateau() {
    let held_back = ScriptedProgram { doing: runnable, ..well() };
    let run = measured(&held_back, &hold());
    assert_eq!(run.status, Status::NoPlateau);
    assert!(run.reason.unwrap().starts_with("throttled"));
    assert!(run.warnings.contains(&Warning::CpuStarved));
}

#[test]
fn a_stopped_program_has_no_plateau() {
    let stopped = ScriptedProgram {
        doing: |_| ThreadActivity { is_stopped: true, ..ThreadActivity::default() },
        ..well()
    };
    let run = measured(&stopped, &hold());
    assert_eq!(run.status, Status::NoPlateau);
    assert!(run.reason.unwrap().contains("SIGSTOP"));
}

#[test]
fn memory_that_grows_after_the_reading_is_read_again() {
    let grows = ScriptedProgram { memory: |ms| if ms < 1_000 { 20 * MIB } else { 40 * MIB }, ..well() };
    let (timeline, actions) = watch(&grows, &hold());
    assert!(names(&actions).ends_with(&["Drop", "ReadMemory", "LastLook", "EndPlateau"].map(str::to_owned)));
    let run = analyze(&timeline, &hold());
    assert_eq!(run.memory.plateau.unwrap().footprint_bytes, 40 * MIB);
    assert_eq!((run.status, run.warnings), (Status::Ok, vec![Warning::PlateauGrew]));
}

/// Tasks that ended have left less memory than those that are claimed alive.
#[test]
fn memory_that_falls_after_the_reading_is_warned_of() {
    let falls = ScriptedProgram { memory: |ms| if ms < 1_000 { 40 * MIB } else { 20 * MIB }, ..well() };
    let run = measured(&falls, &hold());
    assert_eq!(run.memory.plateau.unwrap().footprint_bytes, 20 * MIB);
    assert_eq!((run.status, run.warnings), (Status::Ok, vec![Warning::PlateauFell]));
    let falls_little =
        ScriptedProgram { memory: |ms| if ms < 1_000 { 22 * MIB } else { 20 * MIB }, ..well() };
    assert_eq!(measured(&falls_little, &hold()).warnings, []);
}

/// A peak between two looks, as of tasks that start after `alive` and end before `done`.
#[test]
fn memory_that_grows_and_falls_between_looks_is_seen() {
    let peaks = |memory| ScriptedProgram { memory, ..well() };
    let before = measured(&peaks(|ms| if (800..1_200).contains(&ms) { 40 * MIB } else { 20 * MIB }), &hold());
    assert_eq!((before.status, before.warnings), (Status::Ok, vec![Warning::PlateauGrew]));
    for spec in [hold(), black_box(true)] {
        let late =
            measured(&peaks(|ms| if (1_850..1_900).contains(&ms) { 40 * MIB } else { 20 * MIB }), &spec);
        assert_eq!(late.status, Status::NoPlateau);
        assert!(late.reason.unwrap().starts_with("memory grew by 20.0 MiB after it was read"));
    }
}

#[test]
fn memory_growth_at_the_last_moment_yields_no_plateau() {
    let grows = ScriptedProgram { memory: |ms| if ms < 1_900 { 20 * MIB } else { 40 * MIB }, ..well() };
    let run = measured(&grows, &hold());
    assert_eq!(run.status, Status::NoPlateau);
    assert!(run.reason.unwrap().starts_with("memory grew by 20.0 MiB after it was read"));
}

/// Tasks that start late are not seen if the program got no CPU between the reading and the last look.
#[test]
fn waiting_for_a_cpu_after_the_reading_is_inconclusive() {
    let waits = ScriptedProgram { doing: |ms| if ms < 1_000 { idle(ms) } else { runnable(ms) }, ..well() };
    for spec in [hold(), black_box(true)] {
        let (timeline, actions) = watch(&waits, &spec);
        assert_eq!(names(&actions).iter().filter(|action| *action == "LastLook").count(), 3, "{actions:?}");
        let run = analyze(&timeline, &spec);
        assert_eq!(run.status, Status::NoPlateau);
        assert!(run.reason.unwrap().starts_with("throttled (almost no CPU) since memory was read"));
    }
    // What was seen counts before what could not be seen.
    let grows = ScriptedProgram { memory: |ms| if ms < 1_900 { 20 * MIB } else { 40 * MIB }, ..waits };
    assert!(measured(&grows, &hold()).reason.unwrap().starts_with("memory grew"));
    let works = ScriptedProgram { cpu_ms: |ms| (100 + ms / 10) as f64, memory: well().memory, ..grows };
    assert_eq!(measured(&works, &hold()).status, Status::Ok);
    // Its tasks wake at times, and one did in the last look.
    let wakes = ScriptedProgram {
        doing: |ms| if (1_940..1_960).contains(&ms) { runnable(ms) } else { idle(ms) },
        ..well()
    };
    let (timeline, actions) = watch(&wakes, &hold());
    assert_eq!(analyze(&timeline, &hold()).status, Status::Ok);
    assert_eq!(names(&actions).iter().filter(|action| *action == "LastLook").count(), 2, "{actions:?}");
}

#[test]
fn an_unwatched_plateau_is_inconclusive() {
    let unwatched = ScriptedProgram { gaps_ms: vec![(110, 1_900)], ..well() };
    let run = measured(&unwatched, &hold());
    assert_eq!(run.status, Status::NoPlateau);
    assert!(run.reason.unwrap().starts_with("inconclusive"));
    let late = ScriptedProgram { gaps_ms: vec![(110, 2_050)], ..well() };
    assert!(measured(&late, &hold()).reason.unwrap().starts_with("the first tasks were due"));
}

#[test]
fn late_alive_is_inconclusive_if_taskscale_was_delayed() {
    let at_end = ScriptedProgram { lines: vec![(2_100, "alive 10"), (2_100, "done 10")], ..well() };
    let reason = |program: &ScriptedProgram| {
        let run = measured(program, &hold());
        assert_eq!(run.status, Status::NoPlateau);
        run.reason.unwrap()
    };
    assert!(reason(&at_end).starts_with("`alive` was printed only at the end"));
    let not_heard = ScriptedProgram { gaps_ms: vec![(60, 2_100)], ..at_end };
    assert!(reason(&not_heard).starts_with("inconclusive"), "{}", reason(&not_heard));
    // No program can have waited two seconds in this gap.
    let short = ScriptedProgram { gaps_ms: vec![(1_000, 2_100)], ..not_heard };
    assert!(reason(&short).starts_with("`alive` was printed only at the end"));
    // After the first task is due, nothing is sampled.
    let slow = ScriptedProgram {
        lines: vec![(5_000, "alive 10"), (5_000, "done 10")],
        ends_ms: Some(5_010),
        gaps_ms: Vec::new(),
        ..short
    };
    assert!(reason(&slow).starts_with("`alive` was printed only at the end"));
}

#[test]
fn a_slow_launch_yields_an_empty_plateau() {
    let slow = ScriptedProgram {
        lines: vec![(2_500, "alive 4"), (4_500, "done 10")],
        ends_ms: Some(4_510),
        cpu_ms: |ms| ms.min(2_500) as f64,
        ..well()
    };
    let run = measured(&slow, &hold());
    assert_eq!((run.status, run.alive), (Status::Partial, Some(4)));
    assert_eq!((run.time.plateau_s, run.cpu.plateau_s), (Some(0.0), Some(0.0)));
    assert!(run.warnings.contains(&Warning::PlateauShort));
}

#[test]
fn a_hung_program_is_killed_at_the_timeout() {
    let hangs = ScriptedProgram { lines: vec![(100, "alive 10")], ends_ms: None, ..well() };
    let (timeline, actions) = watch(&hangs, &hold());
    let (ms, action) = actions.last().unwrap();
    assert!((60_000..61_000).contains(ms) && *action == Action::Kill(EndedBy::TimeOut), "{actions:?}");
    let run = analyze(&timeline, &hold());
    assert_eq!(
        (run.status, run.reason.as_deref()),
        (Status::TimedOut, Some("killed after 60 s: tasks were still waiting or ending (raise --timeout)"))
    );
}

#[test]
fn pauses_of_the_machine_do_not_count_toward_timeouts() {
    // The program could neither print nor work meanwhile.
    let paused = ScriptedProgram {
        lines: vec![(100, "alive 10"), (90_010, "done 10")],
        ends_ms: Some(90_020),
        gaps_ms: vec![(1_000, 90_000)],
        ..well()
    };
    let (timeline, actions) = watch(&paused, &hold());
    assert!(!names(&actions).iter().any(|action| action == "Kill"), "{actions:?}");
    assert_ne!(analyze(&timeline, &hold()).status, Status::TimedOut);
}

#[test]
fn work_is_read_at_once_and_ends_with_done() {
    let work =
        ScriptedProgram { lines: vec![(100, "ready"), (900, "done 50")], ends_ms: Some(905), ..well() };
    let spec = spec(Scenario::Work(WorkParams { operations: 50, least_s: 0.5, ..WorkParams::default() }));
    let (timeline, actions) = watch(&work, &spec);
    assert_eq!(names(&actions), ["BeginPlateau", "ReadMemory", "EndPlateau"]);
    let run = analyze(&timeline, &spec);
    assert_eq!((run.status, run.warnings), (Status::Ok, vec![]));
    assert_eq!(run.work.unwrap().wall_s, Some(0.8));
    assert_eq!(run.time.launch_s, Some(0.1));
}

#[test]
fn a_silent_program_is_observed_from_outside_and_stopped() {
    let silent = ScriptedProgram { lines: Vec::new(), ends_ms: None, ..well() };
    let (timeline, actions) = watch(&silent, &black_box(false));
    assert_eq!(names(&actions), ["BeginPlateau", "ReadMemory", "Compare", "LastLook", "Stop", "Ask"]);
    let run = analyze(&timeline, &black_box(false));
    assert_eq!((run.status, run.stopped, run.plateau_from), (Status::Ok, true, Some(PlateauFrom::Outside)));
    let launch_s = run.time.launch_s.unwrap();
    assert!((0.1..0.2).contains(&launch_s), "{launch_s}");
}

#[test]
fn a_busy_program_declared_ready_is_read_at_the_end_of_its_time() {
    let busy = ScriptedProgram {
        lines: Vec::new(),
        ends_ms: None,
        cpu_ms: |ms| ms as f64,
        doing: runnable,
        look_ms: 1,
        ..well()
    };
    let mut spec = black_box(false);
    let Scenario::BlackBox(command, _) = &mut spec.scenario else { unreachable!() };
    (command.ready, command.settle) = (Ready::After(Duration::from_millis(200)), Duration::from_secs(1));
    let (timeline, actions) = watch(&busy, &spec);
    assert_eq!(names(&actions), ["BecomeReady", "ReadMemory", "Compare", "LastLook", "Stop", "Ask"]);
    let run = analyze(&timeline, &spec);
    assert_eq!((run.status, run.plateau_from), (Status::Ok, Some(PlateauFrom::ReadyAfter)));
    assert!(run.warnings.contains(&Warning::PlateauNotQuiet));
}

#[test]
fn a_pause_during_launch_is_not_a_plateau() {
    // Pauses from 0.1 s to 1 s, then doubles its memory.
    let pauses = ScriptedProgram {
        lines: Vec::new(),
        ends_ms: None,
        memory: |ms| if ms < 1_000 { 20 * MIB } else { 40 * MIB },
        ..well()
    };
    let (timeline, actions) = watch(&pauses, &black_box(false));
    assert!(actions.iter().any(|(_, action)| *action == Action::Drop(DropReason::Pause)), "{actions:?}");
    let run = analyze(&timeline, &black_box(false));
    assert_eq!((run.status, run.memory.plateau.unwrap().footprint_bytes), (Status::Ok, 40 * MIB));
    assert!(run.time.launch_s.unwrap() >= 1.0);
}

#[test]
fn a_program_that_paused_and_ended_has_no_launch_time() {
    let pauses = ScriptedProgram {
        lines: Vec::new(),
        ends_ms: Some(1_100),
        memory: |ms| if ms < 1_000 { 20 * MIB } else { 40 * MIB },
        ..well()
    };
    let run = measured(&pauses, &black_box(false));
    assert_eq!(run.status, Status::Failed);
    assert_eq!((run.time.launch_s, run.cpu.launch_s), (None, None));
}

#[test]
fn phases_fit_the_run_in_any_order_of_events() {
    let ended = || RunEvent::Ended(exited(Some(0), None, false));
    for (spec, end_first) in
        [(hold(), false), (hold(), true), (black_box(true), false), (black_box(true), true)]
    {
        let mut timeline = Timeline::new(Timestamp::UNIX_EPOCH, Host::default());
        timeline.push(0, RunEvent::Exec);
        timeline.push(0, RunEvent::Started { pid: 7 });
        if end_first {
            timeline.push(1_200 * MS, ended());
        }
        timeline.take_line(1_300 * MS, "alive 10");
        let Action::BeginPlateau { since_ns, from } = next_action(&timeline, &spec, 1_300 * MS) else {
            panic!()
        };
        timeline
            .push(1_300 * MS, RunEvent::Plateau(PlateauStart { since_ns, from, cpu: None, starved_s: 0.0 }));
        timeline.take_line(1_300 * MS, "done 10");
        if !end_first {
            timeline.push(1_200 * MS, ended());
        }
        let time = analyze(&timeline, &spec).time;
        let phases = (time.launch_s, time.plateau_s, time.drain_s, time.wall_s);
        assert_eq!(phases, (Some(1.2), Some(0.0), Some(0.0), Some(1.2)), "{end_first}");
    }
}

#[test]
fn a_silent_busy_program_has_no_plateau() {
    let busy = ScriptedProgram {
        lines: Vec::new(),
        ends_ms: None,
        cpu_ms: |ms| ms as f64,
        doing: runnable,
        ..well()
    };
    let run = measured(&busy, &black_box(false));
    assert_eq!(run.status, Status::NoPlateau);
    assert!(
        run.reason
            .unwrap()
            .starts_with("the program was still busy when memory was read (raise --settle above 5 s")
    );
}

#[test]
fn a_program_with_a_given_wait_ends_by_itself() {
    let (timeline, actions) = watch(&well(), &black_box(true));
    assert_eq!(names(&actions), ["BeginPlateau", "ReadMemory", "Compare", "LastLook", "EndPlateau"]);
    let run = analyze(&timeline, &black_box(true));
    assert_eq!((run.status, run.stopped, run.alive), (Status::Ok, false, Some(10)));
}

#[test]
fn too_much_output_ends_the_run_even_after_the_program() {
    let kill = Action::Kill(EndedBy::OutputCap);
    for ended in [false, true] {
        let mut timeline = Timeline::new(Timestamp::UNIX_EPOCH, Host::default());
        timeline.push(0, RunEvent::Exec);
        if ended {
            timeline.push(MS, RunEvent::Ended(exited(Some(0), None, false)));
        }
        assert_ne!(next_action(&timeline, &hold(), 2 * MS), kill);
        timeline.push(2 * MS, RunEvent::OverOutput(1_001));
        assert_eq!(next_action(&timeline, &hold(), 2 * MS), kill);
    }
}

#[test]
fn timelines_have_a_bounded_length() {
    let mut timeline = Timeline::new(Timestamp::UNIX_EPOCH, Host::default());
    for at in 0..10_000 {
        timeline.take_line(at, &format!("metric a {at} s"));
        timeline.take_line(at, &format!("alive {}", 20_000 - at));
        timeline.take_load_line(at, &format!("alive {}", 20_000 - at));
        timeline.take_line(at, "done x");
        timeline.push(at, RunEvent::Threads(at));
        timeline.push(at, RunEvent::Peak(at));
        timeline.push(at, RunEvent::Connections(20_000 - at));
        timeline.push(at, RunEvent::Standing(MemorySnapshot { in_use: None, shown: at, peak: None }));
        timeline
            .usage
            .add(UsageSample { at_ns: at * 20 * MS, ..UsageSample::default() }, ThreadActivity::default);
    }
    assert!(timeline.events().len() < 20, "{:?}", timeline.events());
    assert!(timeline.usage().points().len() < 200);
    let printed = &timeline.state().program.printed;
    assert_eq!(
        (printed.alive, printed.fewer, printed.metrics["a"].value),
        (Some(20_000), Some(10_001), 9_999.0)
    );
    assert_eq!(timeline.state().load_alive(), None, "no load was started");
    assert_eq!(timeline.state().load.printed.fewer, Some(10_001));
    assert_eq!(timeline.state().connections, Some(10_001));
}

/// Many programs buffer what they write to a pipe.
#[test]
fn alive_during_the_stop_does_not_replace_the_reading() {
    let (mut timeline, actions) =
        watch(&ScriptedProgram { lines: vec![], ends_ms: None, ..well() }, &black_box(false));
    let asked = actions.iter().find(|(_, action)| *action == Action::Ask).unwrap().0;
    timeline.take_line((asked + 1) * MS, "alive 10");
    assert!(matches!(next_action(&timeline, &black_box(false), (asked + 1) * MS), Action::Wait(_)));
    let run = analyze(&timeline, &black_box(false));
    assert_eq!((run.status, run.alive, run.plateau_from), (Status::Ok, None, Some(PlateauFrom::Outside)));
}

#[test]
fn tasks_failing_before_the_reading_fail_the_run() {
    for (at_ms, status) in [(150, Status::Failed), (900, Status::Ok)] {
        let program = ScriptedProgram {
            lines: vec![(100, "alive 10"), (at_ms, "failed 3")],
            ends_ms: Some(2_000),
            ..well()
        };
        assert_eq!(measured(&program, &black_box(false)).status, status);
    }
}
