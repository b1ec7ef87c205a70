//! What can happen to a run. Instants are nanoseconds of the monotonic clock since it began.

use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use taskscale_load::Begin;

use super::cgroup::{CpuReading, MemoryWant};
use super::evidence::Quiescence;
use super::launcher::ProgramEnd;
use super::limit_detection::OwnFiles;
use super::observed::EndedBy;
use super::plateau::Reading;
use super::sampler::{MemoryStanding, UsagePoint};
use crate::{Plateau, PlateauFrom};

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
    Standing(MemoryStanding),
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
    /// A process outside of the run listens at the server's address.
    OtherServer(SocketAddr),
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
    /// Memory as it stood right before; after a hook, if one was called.
    pub stood: MemoryStanding,
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
    /// How memory stood; absent if it was not read.
    pub standing: Option<MemoryStanding>,
    /// A process had left the group.
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
