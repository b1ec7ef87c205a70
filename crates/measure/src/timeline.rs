//! What was observed of one run: events with their instants. Every decision during the run and the verdict after it
//! follow from a timeline and the run's settings alone.
//!
//! Instants are nanoseconds of the monotonic clock since the run began.

use serde::{Deserialize, Serialize};

use super::cgroup::{CpuReading, MemoryWant};
use super::classify::EndedBy;
use super::evidence::Quiescence;
use super::launcher::ProgramEnd;
use super::limit_detection::OwnFiles;
use super::limits::SystemLimits;
use super::plateau::Reading;
use super::procfs::Doing;
use super::protocol::LineKind;
use super::run_state::RunState;
use super::sampler::{Standing, UsageHistory, UsagePoint, UsageSample};
use crate::{MemorySource, Plateau, PlateauFrom, Timestamp};
use taskscale_load::Begin;

/// Room for the events of nearly every run.
const USUAL_EVENTS: usize = 64;

/// What the verdict needs to know of the machine and of how the run was contained.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Where memory is read.
    pub source: MemorySource,
    /// Whether the kernel itself keeps the run below its memory cap.
    pub enforces_cap: bool,
    /// Whether the kernel records the highest memory of the run.
    pub keeps_peak: bool,
    pub cpus: u64,
    /// The machine could not be locked: others may measure at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlocked: bool,
    /// The limits in force when the run began.
    pub limits: SystemLimits,
}

impl Host {
    /// Whether memory must be sampled: for its peak, or for its cap.
    pub fn samples_memory(&self) -> bool {
        !self.enforces_cap || !self.keeps_peak
    }

    /// Whether the run has a cgroup of its own.
    pub fn has_group(&self) -> bool {
        self.source != MemorySource::Proc
    }
}

/// Something that happened to a run, was read of it, or was done to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum RunEvent {
    /// The program's process was about to exec.
    Exec,
    /// The exec succeeded.
    Started {
        pid: u32,
    },
    /// A line of the protocol on the program's standard output.
    Line(String),
    /// The line that the user named as ready signal was printed.
    ReadyLine,
    /// The address that the user named accepted a connection.
    Accepted,
    /// The program was ready, before any load.
    Ready,
    /// What the run used so far.
    Usage(UsagePoint),
    /// The most threads of the program's first process so far.
    Threads(u64),
    /// The most memory so far, where the kernel keeps no record, in bytes.
    Peak(u64),
    /// Memory above a cap that the kernel does not enforce, shared pages counted once, in bytes.
    OverCap(u64),
    /// The limit of open files of a process that printed of too many, or had as many open.
    Files {
        own: OwnFiles,
        used_up: bool,
    },
    /// The plateau begins.
    Plateau(PlateauStart),
    /// Memory was read.
    Reading(Box<MemoryReading>),
    /// How memory stood some time after it was read.
    Standing(Standing),
    /// The reading does not count.
    Dropped(WhyDropped),
    /// What was read was not idle after all.
    Doubt(Quiescence),
    /// The last look before the plateau is over.
    LastLook(Box<LastLook>),
    /// The plateau is over: tasks may be due, the work is done, or the program is about to be stopped.
    PlateauEnd {
        cpu: Option<CpuReading>,
    },
    /// The user asked to stop.
    Interrupted,
    /// taskscale ends everything.
    Kill(Kill),
    /// taskscale begins to stop the program: its load first.
    Stop,
    /// The program itself was asked to end.
    Asked,
    /// The program ended.
    Ended(ProgramEnd),
    /// So many processes were still there a moment after its end.
    LeftProcesses(u64),
    /// Nothing of the run is left.
    Empty,
    LoadStarted,
    /// A line of the protocol on the load's standard output, or the result of a stage.
    LoadLine(String),
    /// Memory of the load's processes, and kernel memory as a part of it, in bytes.
    LoadMemory {
        bytes: Option<u64>,
        kernel_bytes: Option<u64>,
    },
    /// Connections that the kernel counts on the server's side.
    Connections(u64),
    /// The clients begin a stage; CPU time of the server so far.
    Begin {
        begin: Begin,
        cpu: Option<CpuReading>,
    },
    /// All stages are over; CPU time of the server so far, and its memory.
    StagesOver {
        cpu: Option<CpuReading>,
        memory: Option<Box<Plateau>>,
    },
    LoadKilled,
    /// The load ended; `stopping`: it was asked to.
    LoadEnded {
        end: ProgramEnd,
        stopping: bool,
    },
    /// The load's launcher was killed, and the load with it.
    LoadLost {
        stopping: bool,
    },
    /// Nothing of the load is left.
    LoadEmpty,
    /// What was known at the end.
    Account(Box<Account>),
}

/// How a plateau began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlateauStart {
    pub since_ns: u64,
    pub from: PlateauFrom,
    pub cpu: Option<CpuReading>,
    /// How long until then the run wanted a CPU and got less than half of one, in seconds.
    pub starved_s: f64,
}

/// Memory as it was read, and what stood around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryReading {
    pub end_ns: u64,
    pub reading: Reading,
    /// Memory as it stood right after.
    pub stood: Standing,
    /// The most memory of the run so far, in bytes.
    pub peak: Option<u64>,
    pub cpu: Option<CpuReading>,
    /// Processes of the run outside of its group.
    pub escaped: usize,
}

/// Why a reading does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WhyDropped {
    /// It was a pause of a program that was still starting.
    Pause,
    /// Memory has changed: what stands at the end counts.
    Changed,
    /// Likewise, and it grew by more than a runtime that tidies up accounts for.
    Grew,
}

/// The run near the end of its plateau.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastLook {
    /// How memory stood; absent after the first task was due, when it may be what tasks do at their end.
    pub standing: Option<Standing>,
    /// The most memory of the run so far, in bytes.
    pub peak: Option<u64>,
    /// The program's first process had left the group.
    pub left: bool,
}

/// An order to end everything.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill {
    pub why: EndedBy,
    /// Whether the run held as much memory as it may: asked before it was ended.
    pub at_cap: bool,
    /// Whether it was out of memory then.
    pub out_of_memory: bool,
}

/// What was known when all was over.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// CPU time of the run's group.
    pub cpu: Option<CpuReading>,
    /// CPU time of the load's group.
    pub load_cpu: Option<CpuReading>,
    /// CPU time of the whole machine during the run, taskscale's own left out, in seconds.
    pub system_cpu_s: Option<f64>,
    /// For how long the run was runnable, and got less than half a CPU, in seconds.
    pub starved_s: f64,
    /// The kernel's record of the highest memory, in bytes.
    pub peak_bytes: Option<u64>,
    pub want: MemoryWant,
    /// How often the group refused a thread because of its own bound; absent without a bound.
    pub refused_threads: Option<u64>,
    /// A process joined the group that had left it.
    pub came_back: bool,
    /// Shared memory that outlived the run.
    pub left_shared_memory: bool,
    /// Lines of standard output outside the protocol.
    pub stray_lines: u64,
    /// The ends of standard error, of the program and of the load.
    pub stderr: String,
    pub load_stderr: String,
}

/// An event at an instant.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TimedEvent {
    #[serde(rename = "at")]
    pub at_ns: u64,
    #[serde(flatten)]
    pub event: RunEvent,
}

/// The events of one run, its usage samples, and what follows from them.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub started_at: Timestamp,
    pub host: Host,
    events: Vec<TimedEvent>,
    usage: UsageHistory,
    state: RunState,
    /// The larger of what was written to standard output and standard error.
    output_bytes: u64,
}

impl Timeline {
    pub fn new(started_at: Timestamp, host: Host) -> Timeline {
        let events = Vec::with_capacity(USUAL_EVENTS);
        let (usage, state) = (UsageHistory::default(), RunState::default());
        Timeline { started_at, host, events, usage, state, output_bytes: 0 }
    }

    pub fn events(&self) -> &[TimedEvent] {
        &self.events
    }

    pub fn usage(&self) -> &UsageHistory {
        &self.usage
    }

    pub(super) fn output_bytes(&self) -> u64 {
        self.output_bytes
    }

    /// How much was written to standard output or standard error so far, whichever is more.
    pub(super) fn note_output(&mut self, bytes: u64) {
        self.output_bytes = bytes;
    }

    pub(super) fn state(&self) -> &RunState {
        &self.state
    }

    /// Appends an event. Where only the most or the last of several counts, it takes the place of the one before, so that
    /// no program can make the list long.
    pub fn push(&mut self, at_ns: u64, event: RunEvent) {
        let replaced = match &event {
            RunEvent::Line(line) => {
                self.hear(at_ns, line);
                return;
            }
            RunEvent::LoadLine(line) => {
                self.hear_load(at_ns, line);
                return;
            }
            RunEvent::Usage(point) => return self.usage.restore(at_ns, *point),
            RunEvent::Threads(_) => self.last(|event| matches!(event, RunEvent::Threads(_))),
            RunEvent::Peak(_) => self.last(|event| matches!(event, RunEvent::Peak(_))),
            RunEvent::OverCap(_) => self.last(|event| matches!(event, RunEvent::OverCap(_))),
            RunEvent::Connections(count) if self.state.connections.is_some_and(|fewest| *count >= fewest) => {
                return;
            }
            RunEvent::Connections(_) => self.last(|event| matches!(event, RunEvent::Connections(_))),
            RunEvent::Standing(_) => self
                .events
                .iter()
                .rposition(|old| matches!(old.event, RunEvent::Standing(_) | RunEvent::Reading(_)))
                .filter(|index| matches!(self.events[*index].event, RunEvent::Standing(_))),
            _ => None,
        };
        self.state.apply(at_ns, &event);
        match &event {
            RunEvent::Reading(_) => self.usage.keep_until(at_ns),
            // What comes next is another matter: a load, or memory that has changed.
            RunEvent::LoadStarted | RunEvent::Dropped(_) => self.usage.clear(),
            RunEvent::Plateau(_) if !self.state.begun.is_empty() => self.usage.clear(),
            _ => {}
        }
        self.put(replaced, TimedEvent { at_ns, event });
    }

    /// Takes a line of the program's standard output. Returns whether it is of the protocol.
    pub fn hear(&mut self, at_ns: u64, line: &str) -> bool {
        let kind = self.state.program.take(at_ns, line);
        self.put_line(kind, line, at_ns, RunEvent::Line)
    }

    /// The same of the load's.
    pub fn hear_load(&mut self, at_ns: u64, line: &str) -> bool {
        let kind = self.state.load.take_of_load(at_ns, line);
        self.put_line(kind, line, at_ns, RunEvent::LoadLine)
    }

    /// Keeps a line that has changed what is known.
    fn put_line(&mut self, kind: LineKind, line: &str, at_ns: u64, event: fn(String) -> RunEvent) -> bool {
        if matches!(kind, LineKind::Event(_) | LineKind::Noted) {
            let event = event(line.to_owned());
            self.put(self.replaced_line(&event), TimedEvent { at_ns, event });
        }
        kind != LineKind::Stray
    }

    fn put(&mut self, replaced: Option<usize>, event: TimedEvent) {
        match replaced {
            Some(index) => self.events[index] = event,
            None => self.events.push(event),
        }
    }

    /// Adds a usage sample.
    pub fn sample(&mut self, sample: UsageSample, look: impl FnOnce() -> Doing) {
        self.usage.add(sample, look);
    }

    /// Adds to the last usage sample what the threads are doing.
    pub fn note_doing(&mut self, doing: Doing) {
        self.usage.note_doing(doing);
    }

    fn last(&self, is: impl Fn(&RunEvent) -> bool) -> Option<usize> {
        self.events.iter().rposition(|old| is(&old.event))
    }

    /// The line that this one takes the place of: an earlier value of its metric, or one of many counts of tasks that are
    /// alive.
    fn replaced_line(&self, new: &RunEvent) -> Option<usize> {
        fn words(event: &RunEvent) -> (bool, impl Iterator<Item = &str>) {
            let (of_load, line) = match event {
                RunEvent::Line(line) => (false, line.as_str()),
                RunEvent::LoadLine(line) => (true, line.as_str()),
                _ => (false, ""),
            };
            (of_load, line.split(' ').filter(|word| !word.is_empty()))
        }
        let same = |old: &TimedEvent, count: usize| {
            let ((old_of_load, old), (of_load, new)) = (words(&old.event), words(new));
            old_of_load == of_load && old.take(count).eq(new.take(count))
        };
        let last = |count: usize| self.events.iter().rposition(|old| same(old, count));
        match words(new).1.next() {
            Some("metric") => last(2),
            // The first two are a protocol error together.
            Some("alive") if self.events.iter().filter(|old| same(old, 1)).count() > 2 => last(1),
            _ => None,
        }
    }

    /// When the program printed `done`, in seconds since exec.
    pub fn done_s(&self) -> Option<f64> {
        let (exec_ns, done_ns) = self.state.exec_ns.zip(self.state.program.done_ns)?;
        Some(seconds(exec_ns, done_ns))
    }

    /// Whether the user asked to stop: then there is no verdict.
    pub fn is_interrupted(&self) -> bool {
        self.state.interrupted
    }
}

pub(super) fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}
