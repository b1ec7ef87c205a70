//! The record of one run: one line of `samples.jsonl`.
//!
//! Unknown values are absent, never 0 or -1. Every name includes its unit.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::load::Load;
use super::{Cell, Part, Timestamp, Warning};

/// The record of one run of one case.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sample {
    /// Version of this record's shape.
    pub schema: u32,
    /// The entry that ran, `runtime/entry`.
    pub entry: String,
    /// The workload: what each task does.
    pub workload: String,
    /// How many tasks were asked for (N).
    pub tasks: u64,
    /// How long each task was asked to wait, in seconds.
    pub hold_s: f64,
    /// The repetition of the case, from 1.
    pub repetition: u32,
    /// The attempt of the repetition, from 1. A later attempt follows one whose wait was too short, and replaces it in
    /// statistics. The earlier one stays in the file.
    pub attempt: u32,
    /// When the run started, by the wall clock, in UTC. For people only: durations never come from it.
    #[cfg_attr(test, schemars(with = "String"))]
    pub started_at: Timestamp,
    /// How the run ended.
    pub status: Status,
    /// Why, in one sentence, wherever the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// For status `limit`: the limit that was hit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Box<LimitHit>>,
    /// Tasks alive at once when the last of the N had started, as the program proved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<u64>,
    /// Tasks that completed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// Tasks that failed or could not be started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// How taskscale knew that the plateau had begun. Absent if it never did, and in old records, which all use the
    /// protocol.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_from: Option<PlateauFrom>,
    /// Whether taskscale stopped the program after its plateau (SIGTERM to its process group, then SIGKILL to what
    /// remained), because it does not end by itself. Exit code and signal then do not matter.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// The command that loaded the program. It has its own cgroup, so its memory and CPU time are not included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_command: Option<Vec<String>>,
    /// The program's exit code, absent where a signal ended it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// The signal that ended the program, where one did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// The exact command line.
    pub command: Arc<[String]>,
    /// First line of the runtime's own version output.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Arc<str>>,
    /// Threads of all processes at the plateau.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Processes at the plateau.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Time by phase.
    pub time: Time,
    /// CPU time by phase, over all processes.
    pub cpu: Cpu,
    /// Memory at the plateau and at its peak.
    pub memory: Memory,
    /// The program's own metrics, from its `metric` lines.
    #[serde(default)]
    pub metrics: BTreeMap<String, Metric>,
    /// Caveats on the run.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// The end of standard error, if the run was not ok.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// The `id` of the campaign of the run. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<Arc<str>>,
    /// Parameters that differ from the workload's defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// On how many CPUs the program was let run (affinity, set before its exec); absent where on all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
    /// For workloads of the shape `work`: the operations, and what they took together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<Work>>,
    /// For workloads of the shape `serve`: what the clients measured, and what the server used meanwhile.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<Load>>,
    /// The program's histograms, from its `histogram` lines.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, Vec<u64>>,
}

/// A run: its part; its entry, number of tasks, repetition, and whether it is the second of a pair.
pub type RunKey<'a> = ((&'a str, &'a BTreeMap<String, String>, Option<u32>), (&'a str, u64, u32, bool));

impl Sample {
    /// Whether the clients exhausted a CPU in the closed loop.
    pub fn is_client_limited(&self) -> bool {
        let closed = self.load.as_ref().and_then(|load| load.closed.as_ref());
        closed.is_some_and(|closed| closed.is_client_limited())
    }

    /// The case that it is a sample of.
    pub fn cell(&self) -> Cell {
        Cell { entry: self.entry.clone(), part: self.part(), tasks: self.tasks }
    }

    /// The series that it belongs to.
    pub fn part(&self) -> Part {
        Part { workload: self.workload.clone(), params: self.params.clone(), cpus: self.cpus }
    }

    /// The run that it is an attempt of.
    pub fn run(&self) -> RunKey<'_> {
        let part = (&*self.workload, &self.params, self.cpus);
        (part, (&self.entry, self.tasks, self.repetition, self.is_double()))
    }

    /// Whether it is of a part, compared field by field.
    pub fn is_of(&self, part: &Part) -> bool {
        self.workload == part.workload && self.params == part.params && self.cpus == part.cpus
    }

    /// Whether it is the second run of a pair, of twice the operations of the first.
    pub fn is_double(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.double)
    }
}

/// Values that many samples share, kept once: command lines, versions, the campaign.
#[derive(Debug, Default)]
pub struct Repeated {
    commands: BTreeSet<Arc<[String]>>,
    texts: BTreeSet<Arc<str>>,
}

impl Repeated {
    /// The same sample, sharing its values with earlier ones.
    pub fn share(&mut self, mut sample: Sample) -> Sample {
        sample.command = first_of(&mut self.commands, sample.command);
        sample.version = sample.version.map(|version| first_of(&mut self.texts, version));
        sample.campaign = sample.campaign.map(|campaign| first_of(&mut self.texts, campaign));
        sample
    }
}

fn first_of<T: ?Sized + Ord>(seen: &mut BTreeSet<Arc<T>>, value: Arc<T>) -> Arc<T> {
    if let Some(first) = seen.get(&value) {
        return first.clone();
    }
    seen.insert(value.clone());
    value
}

/// Operations done as fast as they can be.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Work {
    /// How many were asked for.
    pub operations: u64,
    /// Whether this is the second run of a pair, with twice the operations of the first. Cost per operation = (second
    /// run − first run) ÷ extra operations, so start-up and warm-up cancel out.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub double: bool,
    /// From the line `ready` until the line `done`, in seconds of the monotonic clock.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// CPU time of all processes in between, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// The result that the program printed as `check`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Status {
    /// All N tasks were alive at once, and all completed.
    Ok,
    /// Fewer than N were alive at once.
    Partial,
    /// There is no evidence that all N were alive and idle when memory was read: the program was never idle, was
    /// throttled, grew later, or was read too late. The sample has what was observed.
    NoPlateau,
    /// The program printed, or its exit code shows, that tasks failed; or it broke the protocol.
    Failed,
    /// A signal ended the program.
    Crashed,
    /// The kernel ended it for lack of memory, under the cap or the machine's.
    KilledOom,
    /// It did not end in time and was ended.
    TimedOut,
    /// The run hit a system limit, named by `limit`.
    Limit,
    /// The toolchain is missing or the build failed.
    Unavailable,
}

impl Status {
    /// The name used in records and on the terminal.
    pub fn name(self) -> &'static str {
        match self {
            Status::Ok => "ok",
            Status::Partial => "partial",
            Status::NoPlateau => "no-plateau",
            Status::Failed => "failed",
            Status::Crashed => "crashed",
            Status::KilledOom => "killed-oom",
            Status::TimedOut => "timed-out",
            Status::Limit => "limit",
            Status::Unavailable => "unavailable",
        }
    }

    /// Whether a case that could run on this machine failed, timed out, hit a limit or was partial: decides the exit
    /// code.
    pub fn fell_short(self) -> bool {
        !matches!(self, Status::Ok | Status::Limit | Status::Unavailable)
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// How the beginning of the plateau was known. All but the first are taskscale's inference: that all tasks were alive
/// then was not proved, unless `alive` is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlateauFrom {
    /// The program printed `alive K`.
    Protocol,
    /// From outside: CPU and memory were idle.
    Outside,
    /// A line that the user named was on its output (`--ready-when`).
    ReadyLine,
    /// It took a TCP connection (`--ready-tcp`).
    ReadyTcp,
    /// A fixed time after its start (`--ready-after`).
    ReadyAfter,
    /// The load command printed `alive K`.
    LoadLine,
    /// A fixed time after the load's start (`--with-ready-after`).
    LoadAfter,
}

impl PlateauFrom {
    /// The name used in records.
    pub fn name(self) -> &'static str {
        match self {
            PlateauFrom::Protocol => "protocol",
            PlateauFrom::Outside => "outside",
            PlateauFrom::ReadyLine => "ready-line",
            PlateauFrom::ReadyTcp => "ready-tcp",
            PlateauFrom::ReadyAfter => "ready-after",
            PlateauFrom::LoadLine => "load-line",
            PlateauFrom::LoadAfter => "load-after",
        }
    }

    /// In a few words, for people.
    pub fn text(self) -> &'static str {
        match self {
            PlateauFrom::Protocol => "by the line `alive K` of the program",
            PlateauFrom::Outside => "from outside, when CPU and memory were idle",
            PlateauFrom::ReadyLine => "by a line of its output (--ready-when)",
            PlateauFrom::ReadyTcp => "by a TCP connection that it accepted (--ready-tcp)",
            PlateauFrom::ReadyAfter => "after a fixed time (--ready-after)",
            PlateauFrom::LoadLine => "by the line `alive K` of the load",
            PlateauFrom::LoadAfter => "after a fixed time of the load (--with-ready-after)",
        }
    }
}

/// A system limit that a run hit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LimitHit {
    /// The limit's usual name, such as `kernel.pid_max`.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// The command that raises it, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<String>,
}

/// Time by phase, in seconds of the monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Time {
    /// From the program's exec until all N tasks were alive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<f64>,
    /// From then until the first task can be due: exec + wait. 0 where tasks were due before the last had started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_s: Option<f64>,
    /// From the end of the plateau until exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_s: Option<f64>,
    /// From exec until exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// When the reading of the plateau began, from exec.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_read_at_s: Option<f64>,
    /// How long it took: with many processes or threads, longer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_s: Option<f64>,
}

/// CPU time of all processes of the run, in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Cpu {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// CPU time in the launch phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<f64>,
    /// CPU time in the plateau phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_s: Option<f64>,
    /// CPU time in the drain phase.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_s: Option<f64>,
}

impl Cpu {
    /// User and system time together, in seconds.
    pub fn total_s(&self) -> Option<f64> {
        Some(self.user_s? + self.system_s?)
    }
}

/// The source of memory values. Values of different sources are not comparable to the byte.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum MemorySource {
    /// A cgroup of version 2: kernel memory and the peak are the kernel's own account.
    #[serde(rename = "cgroup-v2")]
    CgroupV2,
    /// A cgroup of version 1: likewise.
    #[serde(rename = "cgroup-v1")]
    CgroupV1,
    /// /proc only, without a cgroup. Kernel memory is only page tables and thread stacks, and the peak is the highest
    /// resident memory.
    #[default]
    #[serde(rename = "proc")]
    Proc,
}

impl MemorySource {
    pub fn name(self) -> &'static str {
        match self {
            MemorySource::CgroupV2 => "cgroup-v2",
            MemorySource::CgroupV1 => "cgroup-v1",
            MemorySource::Proc => "proc",
        }
    }
}

/// Memory of all processes of the run. docs/methodology.md describes where each value is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Memory {
    pub source: MemorySource,
    /// The reading taken while all tasks waited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau: Option<Plateau>,
    /// Highest memory of the cgroup over the whole run, including kernel memory. Under `proc`, the highest resident
    /// memory observed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Highest resident memory of any one process (VmHWM), for comparison with other benchmarks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_peak_bytes: Option<u64>,
    /// The cap that the run was under.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_bytes: Option<u64>,
    /// Of a server: memory with all connected, before the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<Box<Plateau>>,
    /// Of a server: memory right after the last open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Box<Plateau>>,
}

/// Memory at the plateau, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Plateau {
    /// The whole cost: anon + shmem + file + kernel + hugetlb + swap.
    pub footprint_bytes: u64,
    /// Anonymous memory: heaps and stacks.
    pub anon_bytes: u64,
    /// Shared memory and tmpfs.
    pub shmem_bytes: u64,
    /// Mapped pages of files: the program, its libraries, its data.
    pub file_bytes: u64,
    /// Kernel memory of the run, all kinds.
    pub kernel_bytes: u64,
    /// Part of it: kernel stacks of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_stack_bytes: Option<u64>,
    /// Part of it: page tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_tables_bytes: Option<u64>,
    /// Part of it: slab objects (task structures, memory mappings, file structures).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slab_bytes: Option<u64>,
    /// Part of it: socket buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sock_bytes: Option<u64>,
    /// Huge pages of hugetlbfs, not included in any other value; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hugetlb_bytes: Option<u64>,
    /// How much the footprint may be too high, in bytes: it is the upper bound of what the kernel's values allow.
    /// Absent if it is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertain_bytes: Option<u64>,
    /// Resident memory, summed over processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// Proportional resident memory, summed over processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
    /// Memory moved to swap; part of the footprint.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_bytes: Option<u64>,
    /// Anonymous memory that the program has given back but the kernel has not yet taken (MADV_FREE); part of anon.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lazy_free_bytes: Option<u64>,
    /// The cgroup's own charge at the same time, for a cross-check: it excludes file pages that an earlier cgroup
    /// touched first and includes unmapped page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_bytes: Option<u64>,
}

/// A metric that a program prints.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Metric {
    pub value: f64,
    pub unit: String,
}

/// The last attempt of each run, in the order of [`Sample::run`].
pub fn last_attempts<S: Borrow<Sample>>(samples: &[S]) -> Vec<&Sample> {
    let mut last: Vec<&Sample> = samples.iter().map(Borrow::borrow).collect();
    // Stable: of equal attempts the one that stands last is kept.
    last.sort_by(|a, b| a.run().cmp(&b.run()).then(a.attempt.cmp(&b.attempt)));
    let mut kept = 0;
    for at in 0..last.len() {
        if last.get(at + 1).is_none_or(|next| last[at].run() != next.run()) {
            last[kept] = last[at];
            kept += 1;
        }
    }
    last.truncate(kept);
    last
}
