//! A scripted program on a scripted clock.

use std::time::Duration;

use crate::Kind;
use crate::black_box::{BlackBoxCommand, Ready};
use crate::cgroup::CpuReading;
use crate::decide::{Action, next_action};
use crate::event::{Account, Kill, LastLook, MemoryReading, PlateauStart, RunEvent};
use crate::launcher::ProgramEnd;
use crate::plateau::Reading;
use crate::procfs::ThreadActivity;
use crate::sampler::{MemorySnapshot, UsageSample};
use crate::timeline::{Host, Timeline};
use crate::{Bounds, HoldParams, Measurement, RunSpec, Scenario, analyze};
use crate::{MemorySource, Plateau, Timestamp};

pub(super) const MS: u64 = 1_000_000;
pub(super) const MIB: u64 = 1 << 20;

/// A scripted program. Times are milliseconds since its exec.
pub(super) struct ScriptedProgram {
    pub(super) lines: Vec<(u64, &'static str)>,
    /// When it ends by itself, if it does.
    pub(super) ends_ms: Option<u64>,
    /// CPU time used until then, in milliseconds.
    pub(super) cpu_ms: fn(u64) -> f64,
    pub(super) memory: fn(u64) -> u64,
    pub(super) doing: fn(u64) -> ThreadActivity,
    /// How long a sample or another observation takes.
    pub(super) look_ms: u64,
    /// Times in which taskscale gets no CPU.
    pub(super) gaps_ms: Vec<(u64, u64)>,
}

pub(super) fn idle(_: u64) -> ThreadActivity {
    ThreadActivity::default()
}

pub(super) fn runnable(_: u64) -> ThreadActivity {
    ThreadActivity { wants_cpu: true, ..ThreadActivity::default() }
}

/// Starts ten tasks in 100 ms, which wait two seconds.
pub(super) fn well() -> ScriptedProgram {
    ScriptedProgram {
        lines: vec![(100, "alive 10"), (2_100, "done 10")],
        ends_ms: Some(2_110),
        cpu_ms: |ms| ms.min(100) as f64,
        memory: |ms| 10 * MIB + ms.min(100) * MIB / 10,
        doing: idle,
        look_ms: 0,
        gaps_ms: Vec::new(),
    }
}

pub(super) fn spec(scenario: Scenario) -> RunSpec {
    RunSpec {
        command: vec!["/x".into()],
        env: Default::default(),
        kind: Kind::Stackless,
        tasks: 10,
        scenario,
        check: None,
        cpus: None,
        bounds: Bounds { memory_bytes: Some(64 * MIB), time: Duration::from_secs(60), output_bytes: 1_000 },
    }
}

pub(super) fn hold() -> RunSpec {
    spec(Scenario::Hold(HoldParams { hold_s: 2.0, plateau_s: 1.0, ..HoldParams::default() }))
}

pub(super) fn black_box(told_hold: bool) -> RunSpec {
    let command = BlackBoxCommand {
        ready: Ready::Itself,
        load: None,
        told_hold,
        folder: None,
        stdin: None,
        full_environment: false,
        settle: Duration::from_secs(5),
    };
    let hold_s = if told_hold { 2.0 } else { 0.0 };
    let wait = HoldParams { hold_s, plateau_s: 1.0, ..HoldParams::default() };
    RunSpec { kind: Kind::Program, ..spec(Scenario::BlackBox(Box::new(command), wait)) }
}

/// Runs a scripted program. Returns its timeline, and all actions except waits, samples and looks.
pub(super) fn watch(program: &ScriptedProgram, spec: &RunSpec) -> (Timeline, Vec<(u64, Action)>) {
    let host = Host {
        source: MemorySource::CgroupV2,
        enforces_cap: true,
        keeps_peak: true,
        cpus: 2,
        ..Host::default()
    };
    let mut timeline = Timeline::new(Timestamp::UNIX_EPOCH, host);
    let (mut now, mut actions, mut heard, mut ends_ms) = (0, Vec::new(), 0, program.ends_ms);
    timeline.push(0, RunEvent::Exec);
    timeline.push(0, RunEvent::Started { pid: 7 });
    // Actions take time, but those due at one time are all chosen for that time.
    let (mut clock, mut acted) = (0, false);
    let mut done_at_once = 0;
    loop {
        let ms = now / MS;
        while let Some((at, line)) = program.lines.get(heard).filter(|(at, _)| *at <= ms) {
            timeline.take_line(at * MS, line);
            heard += 1;
        }
        if let Some(at) = ends_ms.filter(|at| *at <= ms) {
            let asked = program.ends_ms != Some(at);
            timeline.push(at * MS, RunEvent::Ended(exited(Some(0), None, asked)));
            break;
        }
        let cpu = Some(CpuReading::of((program.cpu_ms)(ms) / 1e3, 0.0));
        let memory = (program.memory)(ms);
        let peak = (0..=ms).map(program.memory).max().map(|peak| (peak, memory));
        let standing = MemorySnapshot { in_use: Some(memory), shown: memory, peak };
        let action = next_action(&timeline, spec, now);
        done_at_once = if matches!(action, Action::Wait(_)) { 0 } else { done_at_once + 1 };
        assert!(done_at_once < 10, "{action:?} again and again: {actions:?}");
        match action {
            Action::Wait(wait_s) => {
                let next = [program.lines.get(heard).map(|(at, _)| at * MS), ends_ms.map(|at| at * MS)];
                let woken = next.into_iter().flatten().min().unwrap_or(u64::MAX);
                let wait_ns = if acted { 0 } else { (wait_s * 1e9) as u64 };
                now = (now + wait_ns).min(woken.max(now + 1)).max(clock);
                acted = false;
                let gap = program.gaps_ms.iter().find(|(from, to)| (from * MS..to * MS).contains(&now));
                let resumed = gap.map_or(now, |(_, to)| to * MS);
                if resumed > now {
                    let total_ns = timeline.state().paused_ns + (resumed - now);
                    timeline.push(resumed, RunEvent::Paused(total_ns));
                }
                now = resumed;
                clock = now;
            }
            Action::Sample => {
                let (cpu_s, memory) = (cpu.map(|cpu| cpu.total_s), Some(memory));
                let sample = UsageSample { at_ns: now, cpu_s, memory, ..UsageSample::default() };
                timeline.usage.add(sample, || (program.doing)(ms));
            }
            Action::Look => timeline.usage.set_activity((program.doing)(ms)),
            Action::BeginPlateau { since_ns, from } => {
                let starved_s = timeline.usage().starved_until_s(since_ns);
                timeline.push(now, RunEvent::Plateau(PlateauStart { since_ns, from, cpu, starved_s }));
            }
            Action::BecomeReady(from) => {
                timeline.push(now, RunEvent::Ready);
                let since_ns = now + program.look_ms * MS;
                let starved_s = timeline.usage().starved_until_s(since_ns);
                timeline.push(since_ns, RunEvent::Plateau(PlateauStart { since_ns, from, cpu, starved_s }));
            }
            Action::ReadMemory => {
                let plateau = Plateau { footprint_bytes: memory, ..Plateau::default() };
                let reading = Reading { memory: plateau, threads: 3, processes: 1, ..Reading::default() };
                let end_ns = now + 5 * MS;
                let reading = MemoryReading { end_ns, reading, stood: standing, cpu, escaped: 0 };
                timeline.push(now, RunEvent::Reading(Box::new(reading)));
                clock = clock.max(end_ns);
            }
            Action::Compare => timeline.push(now + program.look_ms * MS, RunEvent::Standing(standing)),
            Action::Drop(why) => timeline.push(now, RunEvent::Dropped(why)),
            Action::Doubt(quiescence) => timeline.push(now, RunEvent::Doubt(quiescence)),
            Action::LastLook => {
                let doing = (program.doing)(ms);
                let look = LastLook { standing: Some(standing), left: false, doing, cpu };
                timeline.push(now, RunEvent::LastLook(Box::new(look)));
            }
            Action::EndPlateau => timeline.push(now, RunEvent::PlateauEnd { cpu }),
            Action::Stop => {
                timeline.push(now, RunEvent::PlateauEnd { cpu });
                timeline.push(now, RunEvent::Stop);
            }
            Action::Ask => {
                timeline.push(now, RunEvent::Asked);
                ends_ms = ends_ms.or(Some(ms + 1));
            }
            Action::Kill(why) => {
                timeline.push(now, RunEvent::Kill(Kill { why, at_cap: false, out_of_memory: false }));
                timeline.push(now, RunEvent::Ended(exited(None, Some(libc::SIGKILL), false)));
                actions.push((now / MS, action));
                break;
            }
            _ => unreachable!("{action:?} is for loads"),
        }
        if !matches!(action, Action::Wait(_)) {
            clock += program.look_ms * MS;
            acted |= action != Action::Sample;
        }
        if !matches!(action, Action::Wait(_) | Action::Sample | Action::Look) {
            actions.push((now / MS, action));
        }
        assert!(actions.len() < 100, "{actions:?}");
    }
    let account =
        Account { starved_s: timeline.usage().starved_s(), peak_bytes: Some(MIB), ..Account::default() };
    timeline.push(now, RunEvent::Account(Box::new(account)));
    (timeline, actions)
}

pub(super) fn exited(code: Option<i32>, signal: Option<i32>, asked: bool) -> ProgramEnd {
    ProgramEnd::Exited {
        code,
        signal,
        rss_peak_bytes: MIB,
        user_s: 0.1,
        system_s: 0.0,
        orphans_s: 0.0,
        asked,
    }
}

pub(super) fn measured(program: &ScriptedProgram, spec: &RunSpec) -> Measurement {
    analyze(&watch(program, spec).0, spec)
}

pub(super) fn names(actions: &[(u64, Action)]) -> Vec<String> {
    let name =
        |action: &Action| format!("{action:?}").split([' ', '(']).next().unwrap_or_default().to_owned();
    actions.iter().map(|(_, action)| name(action)).collect()
}
