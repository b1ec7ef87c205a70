//! The state of a run, which only its events change.

use std::net::SocketAddr;

use super::black_box::{LoadAliveWhen, Ready};
use super::cgroup::CpuReading;
use super::event::{Account, DropReason, Kill, LastLook, MemoryReading, PlateauStart, RunEvent};
use super::evidence::Quiescence;
use super::launcher::ProgramEnd;
use super::limit_detection::OwnFiles;
use super::observed::EndedBy;
use super::protocol::{LineKind, Printed};
use super::sampler::{IDLE_SHARE, MemorySnapshot, seconds};
use super::{RunSpec, Scenario};
use crate::{Plateau, PlateauFrom};
use taskscale_load::{Begin, Connected, StageResult};

/// Maximum number of stage results, more than any run has.
const MAX_STAGES: usize = 64;

/// What a process has printed, and when.
#[derive(Debug, Clone, Default)]
pub(super) struct ProcessOutput {
    pub printed: Printed,
    pub alive_ns: Option<u64>,
    pub ready_ns: Option<u64>,
    pub done_ns: Option<u64>,
    /// When it printed that tasks failed.
    pub failed_ns: Option<u64>,
    /// `done` was printed before `ready`.
    pub done_first: bool,
    /// Results of stages that are over, from taskscale's own clients.
    pub stages: Vec<StageResult>,
}

impl ProcessOutput {
    /// Takes a line.
    pub fn take(&mut self, at_ns: u64, line: &str) -> LineKind {
        let kind = self.printed.take(line);
        match kind {
            LineKind::Alive => self.alive_ns = Some(at_ns),
            LineKind::Ready => self.ready_ns = Some(at_ns),
            LineKind::Done => {
                self.done_ns = Some(at_ns);
                self.done_first = self.ready_ns.is_none();
            }
            _ => {}
        }
        if self.failed_ns.is_none() && self.printed.failed.is_some_and(|failed| failed > 0) {
            self.failed_ns = Some(at_ns);
        }
        kind
    }

    /// Takes a line of a load, which may be the result of a stage.
    pub fn take_of_load(&mut self, at_ns: u64, line: &str) -> LineKind {
        let Some(text) = line.strip_prefix("phase ") else { return self.take(at_ns, line) };
        match serde_json::from_str(text) {
            Ok(stage) if self.stages.len() < MAX_STAGES => {
                self.stages.push(stage);
                LineKind::Noted
            }
            _ => LineKind::Stray,
        }
    }

    /// The results of closed and open loops.
    pub fn loops(&self) -> impl DoubleEndedIterator<Item = &StageResult> {
        self.stages.iter().filter(|stage| matches!(stage, StageResult::Open(_) | StageResult::Closed(_)))
    }

    /// The last result of connecting.
    pub fn connected(&self) -> Option<Connected> {
        self.stages.iter().rev().find_map(|stage| match stage {
            StageResult::Connected(connected) => Some(*connected),
            _ => None,
        })
    }
}

/// The state of a run. For a field, see the event of that name.
#[derive(Debug, Clone, Default)]
pub(super) struct RunState {
    pub exec_ns: Option<u64>,
    pub pid: Option<u32>,
    pub program: ProcessOutput,
    pub line_seen: bool,
    pub accepted: bool,
    pub ready_ns: Option<u64>,
    pub most_threads: u64,
    pub sampled_peak: u64,
    pub over_cap: bool,
    pub over_output: bool,
    pub paused_ns: u64,
    pub files: Option<(OwnFiles, bool)>,
    pub plateau: Option<PlateauStart>,
    /// The end of the launch, and the CPU time until then, if a later plateau replaced the first.
    pub launch_end: Option<(u64, Option<CpuReading>)>,
    /// The reading that counts, and when it began.
    pub reading: Option<(u64, MemoryReading)>,
    /// Memory before the clients' first messages.
    pub connected: Option<MemoryReading>,
    /// The last reading, whether or not it counts.
    pub last_read: Option<MemoryReading>,
    /// Memory after the reading that counts, and when.
    pub standing: Option<(u64, MemorySnapshot)>,
    /// A reading was dropped because memory had changed.
    pub read_again: bool,
    pub grew: bool,
    pub fell: bool,
    pub doubt: Option<Quiescence>,
    pub last_look: Option<(u64, LastLook)>,
    pub plateau_end: Option<(u64, Option<CpuReading>)>,
    pub interrupted: bool,
    pub kill: Option<Kill>,
    pub killed_for_user: bool,
    pub stop_ns: Option<u64>,
    pub asked_ns: Option<u64>,
    pub end: Option<(u64, ProgramEnd)>,
    pub left_processes: u64,
    pub empty: bool,
    pub load: ProcessOutput,
    pub load_started_ns: Option<u64>,
    pub load_memory: (Option<u64>, Option<u64>),
    pub connections: Option<u64>,
    pub other_server: Option<SocketAddr>,
    /// When the plateau after the clients' first messages began.
    pub first_plateau_ns: Option<u64>,
    /// Stages that were begun, with the CPU time of the server then.
    pub begun: Vec<(Begin, Option<CpuReading>)>,
    pub stages_over: Option<(Option<CpuReading>, Option<Plateau>)>,
    pub load_killed: bool,
    pub load_end: Option<(ProgramEnd, bool)>,
    /// The launcher of the load was lost before the load was asked to stop.
    pub load_lost: bool,
    pub load_empty: bool,
    pub account: Account,
}

impl RunState {
    pub fn apply(&mut self, at_ns: u64, event: &RunEvent) {
        match event {
            RunEvent::Exec => self.exec_ns = Some(at_ns),
            RunEvent::Started { pid } => self.pid = Some(*pid),
            // Handled by `ProcessOutput` and `UsageHistory`.
            RunEvent::Line(_) | RunEvent::LoadLine(_) | RunEvent::Usage(_) => {}
            RunEvent::ReadyLine => self.line_seen = true,
            RunEvent::Accepted => self.accepted = true,
            RunEvent::Ready => self.ready_ns = Some(at_ns),
            RunEvent::Threads(threads) => self.most_threads = self.most_threads.max(*threads),
            RunEvent::Peak(bytes) => self.sampled_peak = self.sampled_peak.max(*bytes),
            RunEvent::OverCap(_) => self.over_cap = true,
            RunEvent::OverOutput(_) => self.over_output = true,
            RunEvent::Paused(total_ns) => self.paused_ns = *total_ns,
            RunEvent::Files { own, used_up } => self.files = Some((*own, *used_up)),
            RunEvent::Plateau(start) => {
                self.plateau = Some(PlateauStart { since_ns: self.by_end(start.since_ns), ..*start });
                self.first_plateau_ns = self.first_plateau_ns.or((!self.begun.is_empty()).then_some(at_ns));
                self.drop_reading();
            }
            RunEvent::Reading(reading) => {
                self.last_read = Some((**reading).clone());
                self.reading = Some((at_ns, (**reading).clone()));
            }
            RunEvent::Standing(standing) => self.standing = Some((at_ns, *standing)),
            RunEvent::Dropped(why) => {
                self.drop_reading();
                match why {
                    DropReason::Pause => self.plateau = None,
                    DropReason::Changed | DropReason::Grew | DropReason::Fell => self.read_again = true,
                }
                self.grew |= *why == DropReason::Grew;
                self.fell |= *why == DropReason::Fell;
            }
            RunEvent::Doubt(quiescence) => self.doubt = Some(*quiescence),
            RunEvent::LastLook(look) => self.last_look = Some((at_ns, (**look).clone())),
            RunEvent::PlateauEnd { cpu } => self.plateau_end = Some((at_ns, *cpu)),
            RunEvent::Interrupted => self.interrupted = true,
            RunEvent::Kill(kill) => {
                self.killed_for_user |= kill.why == EndedBy::User;
                self.kill.get_or_insert(*kill);
            }
            RunEvent::Stop => self.stop_ns = Some(at_ns),
            RunEvent::Asked => self.asked_ns = Some(at_ns),
            RunEvent::Ended(end) => {
                self.end = Some((at_ns, end.clone()));
                let lines = &mut self.program;
                for line_ns in [&mut lines.alive_ns, &mut lines.ready_ns, &mut lines.done_ns] {
                    *line_ns = line_ns.map(|line_ns| line_ns.min(at_ns));
                }
                if let Some(plateau) = &mut self.plateau {
                    plateau.since_ns = plateau.since_ns.min(at_ns);
                }
            }
            RunEvent::LeftProcesses(count) => self.left_processes = *count,
            RunEvent::Empty => self.empty = true,
            RunEvent::LoadStarted => self.load_started_ns = Some(at_ns),
            RunEvent::LoadMemory { bytes, kernel_bytes } => self.load_memory = (*bytes, *kernel_bytes),
            RunEvent::Connections(count) => {
                self.connections = Some(self.connections.map_or(*count, |fewest| fewest.min(*count)));
            }
            RunEvent::OtherServer(address) => self.other_server = Some(*address),
            RunEvent::Begin { begin, cpu } => {
                if *begin == Begin::First {
                    self.launch_end = self.plateau.map(|plateau| (plateau.since_ns, plateau.cpu));
                    self.connected = self.reading.take().map(|(_, reading)| reading);
                    self.drop_reading();
                }
                self.begun.push((*begin, *cpu));
            }
            RunEvent::StagesOver { cpu, memory } => {
                self.stages_over = Some((*cpu, memory.as_deref().cloned()));
            }
            RunEvent::LoadKilled => self.load_killed = true,
            RunEvent::LoadEnded { end, stopping } => self.load_end = Some((end.clone(), *stopping)),
            RunEvent::LoadLost { stopping } => self.load_lost = !stopping,
            RunEvent::LoadEmpty => self.load_empty = true,
            RunEvent::Account(account) => self.account = (**account).clone(),
        }
    }

    /// This time, or the program's exit if that was earlier. A line has the time at which it was read, which
    /// may be after the exit.
    pub fn by_end(&self, at_ns: u64) -> u64 {
        self.end.as_ref().map_or(at_ns, |(end_ns, _)| at_ns.min(*end_ns))
    }

    fn drop_reading(&mut self) {
        self.reading = None;
        self.standing = None;
        self.doubt = None;
    }

    pub fn plateau_from(&self) -> Option<PlateauFrom> {
        self.plateau.map(|plateau| plateau.from)
    }

    /// Whether the program follows the whole protocol. A black-box program does if it was given the time to
    /// wait and printed `alive`.
    pub fn follows_protocol(&self, spec: &RunSpec) -> bool {
        spec.scenario
            .black_box()
            .is_none_or(|black_box| black_box.told_hold && self.plateau_from() == Some(PlateauFrom::Protocol))
    }

    /// The earliest time at which a task can be due: exec plus the wait. `None` if the program was given none.
    pub fn due_ns(&self, spec: &RunSpec) -> Option<u64> {
        let told = match &spec.scenario {
            Scenario::Hold(_) => true,
            Scenario::Work(_) | Scenario::Serve(_) => false,
            Scenario::BlackBox(black_box, _) => black_box.told_hold,
        };
        told.then_some(())?;
        Some(self.exec_ns?.saturating_add((spec.scenario.hold_s() * 1e9) as u64))
    }

    /// Live connections or other tasks of the load: as many as it printed, but no more than the kernel counts.
    pub fn load_alive(&self) -> Option<u64> {
        self.load_started_ns?;
        let alive = self.load.printed.fewer.or(self.load.printed.alive)?;
        Some(self.connections.map_or(alive, |counted| alive.min(counted)))
    }

    /// Whether the load is over, or there was none.
    pub fn load_is_over(&self) -> bool {
        self.load_started_ns.is_none() || self.load_empty
    }

    pub fn load_has_ended(&self) -> bool {
        self.load_started_ns.is_some() && (self.load_end.is_some() || self.load_empty)
    }

    /// Since when all tasks of the load are alive, and how that is known. `None` if it is not.
    pub fn load_alive_since(&self, spec: &RunSpec, now: u64) -> Option<(u64, PlateauFrom)> {
        let started_ns = self.load_started_ns?;
        match spec.scenario.black_box()?.load.as_ref()?.stands {
            LoadAliveWhen::After(time) => {
                (seconds(started_ns, now) >= time.as_secs_f64()).then_some((now, PlateauFrom::LoadAfter))
            }
            LoadAliveWhen::Alive | LoadAliveWhen::AliveOrQuiet => {
                Some((self.load.alive_ns?, PlateauFrom::LoadLine))
            }
        }
    }

    /// Since when a plateau may be inferred from an idle program. `None` if another signal is awaited.
    pub fn may_infer_since(&self, spec: &RunSpec) -> Option<u64> {
        let black_box = spec.scenario.black_box()?;
        match (self.load_started_ns, &black_box.load) {
            (Some(started_ns), Some(wanted)) => {
                (wanted.stands == LoadAliveWhen::AliveOrQuiet).then_some(started_ns)
            }
            _ => matches!(black_box.ready, Ready::Itself).then_some(self.exec_ns?),
        }
    }

    /// Whether the run was runnable at the last look, but had got almost no CPU since memory was read: that memory is
    /// unchanged proves nothing.
    pub fn waits_for_cpu(&self) -> bool {
        let seen =
            self.last_look.as_ref().filter(|(_, look)| look.doing.wants_cpu).zip(self.last_read.as_ref());
        seen.is_some_and(|((looked_ns, look), read)| {
            let used_s = look.cpu.zip(read.cpu).map(|(now, then)| now.total_s - then.total_s);
            used_s.is_none_or(|used_s| used_s < IDLE_SHARE * seconds(read.end_ns, *looked_ns))
        })
    }

    /// Whether the program ended because taskscale stopped it, and not by itself just before.
    pub fn was_stopped(&self) -> bool {
        let by_itself = matches!(self.end, Some((_, ProgramEnd::Exited { asked: false, .. })));
        self.stop_ns.is_some() && !by_itself
    }
}
