//! The events of a run. Times are nanoseconds of the monotonic clock since it began.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use taskscale_load::Begin;

use super::cgroup::{CpuReading, MemoryWant};
use super::evidence::Quiescence;
use super::launcher::ProgramEnd;
use super::limit_detection::OwnFiles;
use super::observed::EndedBy;
use super::plateau::Reading;
use super::procfs::ThreadActivity;
use super::sampler::{MemorySnapshot, UsagePoint};
use crate::{Plateau, PlateauFrom};

/// Something that happened in a run, was observed, or was done by taskscale.
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
    /// The program printed the line that the user named as ready signal.
    ReadyLine,
    /// The address that the user named accepted a connection.
    Accepted,
    /// The program was ready, before any load.
    Ready,
    /// Usage so far.
    Usage(UsagePoint),
    /// Highest number of threads of the program's first process so far.
    Threads(u64),
    /// Highest memory sampled so far, if the kernel records no peak or enforces no cap, in bytes.
    Peak(u64),
    /// Memory above a cap that the kernel does not enforce, shared pages counted once, in bytes.
    OverCap(u64),
    /// More output than the bound: bytes on standard output or on standard error, whichever is more.
    OverOutput(u64),
    /// How long, in total, taskscale was not scheduled or the machine was paused, in nanoseconds. Does not count
    /// toward the timeout.
    Paused(u64),
    /// A process's limit of open files, when it printed an error about that or (`used_up`) nearly hit it.
    Files {
        own: OwnFiles,
        used_up: bool,
    },
    /// The plateau begins.
    Plateau(PlateauStart),
    /// Memory was read.
    Reading(Box<MemoryReading>),
    /// Memory some time after it was read.
    Standing(MemorySnapshot),
    /// The reading does not count.
    Dropped(DropReason),
    /// The program was not idle after all when memory was read.
    Doubt(Quiescence),
    /// The last check before the plateau is over.
    LastLook(Box<LastLook>),
    /// The plateau is over: tasks may be due, the work is done, or the program is about to be stopped.
    PlateauEnd {
        cpu: Option<CpuReading>,
    },
    /// The user asked to stop.
    Interrupted,
    /// taskscale kills everything.
    Kill(Kill),
    /// taskscale begins to stop the program: its load first.
    Stop,
    /// The program itself was asked to end.
    Asked,
    /// The program ended.
    Ended(ProgramEnd),
    /// Number of processes that were still there a moment after the end of the program.
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
    /// A process outside of the run listens at the server's address, or has connections of it.
    OtherServer(SocketAddr),
    /// The clients begin a stage. `cpu`: CPU time of the server so far.
    Begin {
        begin: Begin,
        cpu: Option<CpuReading>,
    },
    /// All stages are over. `cpu`: CPU time of the server so far. `memory`: its memory now.
    StagesOver {
        cpu: Option<CpuReading>,
        memory: Option<Box<Plateau>>,
    },
    LoadKilled,
    /// The load ended. `stopping`: after it was asked to.
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
    /// Totals at the end of the run.
    Account(Box<Account>),
}

/// How a plateau began.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct PlateauStart {
    pub since_ns: u64,
    pub from: PlateauFrom,
    pub cpu: Option<CpuReading>,
    /// How long the run had been CPU-starved until then, in seconds: runnable, but with less than half a CPU.
    pub starved_s: f64,
}

/// One reading of memory, and the state around it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryReading {
    pub end_ns: u64,
    pub reading: Reading,
    /// Memory right before the reading, or after the hook if one was called.
    pub stood: MemorySnapshot,
    pub cpu: Option<CpuReading>,
    /// Number of processes of the run outside its cgroup.
    pub escaped: usize,
}

/// Why a reading does not count.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DropReason {
    /// The program was still starting, and had only paused.
    Pause,
    /// Memory has changed, and its value at the end counts.
    Changed,
    /// Likewise, and memory grew by more than the housekeeping of a runtime explains.
    Grew,
    /// Likewise, and it fell by as much: tasks may have ended.
    Fell,
}

/// The run near the end of its plateau.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LastLook {
    /// Memory at that time. `None` if it was not read.
    pub standing: Option<MemorySnapshot>,
    /// Whether a process had left the cgroup.
    pub left: bool,
    /// What its threads were doing, before memory was read.
    #[serde(default)]
    pub doing: ThreadActivity,
    /// CPU time used so far.
    pub cpu: Option<CpuReading>,
}

/// A kill of the whole run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Kill {
    pub why: EndedBy,
    /// Whether memory was at its cap just before the kill.
    pub at_cap: bool,
    /// Whether the cgroup was out of memory then.
    pub out_of_memory: bool,
}

/// Totals of a run, known at its end.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Account {
    /// CPU time of the run's group.
    pub cpu: Option<CpuReading>,
    /// CPU time of the load's group.
    pub load_cpu: Option<CpuReading>,
    /// CPU time of the whole machine during the run, taskscale's own left out, in seconds.
    pub system_cpu_s: Option<f64>,
    /// How long the run was CPU-starved, in seconds: runnable, but with less than half a CPU.
    pub starved_s: f64,
    /// The kernel's record of peak memory, in bytes.
    pub peak_bytes: Option<u64>,
    pub want: MemoryWant,
    /// How often a thread was refused because of the cgroup's own limit. `None` if unknown.
    pub refused_threads: Option<u64>,
    /// Whether a process left the cgroup and joined it again.
    pub came_back: bool,
    /// Whether shared memory segments outlived the run.
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
