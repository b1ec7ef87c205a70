//! The result of a run: how it ended, and its time, CPU and memory.
//!
//! Unknown values are absent, never 0 or -1. Every name includes its unit.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use strum::IntoStaticStr;
use taskscale_load::Load;

use crate::{Timestamp, Warning};

/// The result of a run: how it ended, and what was measured.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Measurement {
    /// RFC 3339, UTC, wall clock. Durations never come from it.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub started_at: Timestamp,
    /// How the run ended.
    pub status: Status,
    /// Why the status is not `ok`, in one sentence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The system limit, for status `limit`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub limit: Option<Box<LimitHit>>,
    /// K of the line `alive K`, or the count of the load.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub alive: Option<u64>,
    /// K of the line `done K`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    /// K of the line `failed K`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    /// How the start of the plateau was known. Absent if there was none, and in old results (`protocol`).
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_from: Option<PlateauFrom>,
    /// Taskscale stopped the program after its plateau. `exit_code` and `signal` are then no failure.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    /// Exit code. Absent if a signal ended the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    /// Number of the signal that ended the program.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    /// Threads of all processes at the plateau.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    /// Processes at the plateau.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    /// Time by phase.
    pub time: Time,
    /// CPU time by phase, of all processes.
    pub cpu: Cpu,
    /// Memory at the plateau, and peaks.
    pub memory: Memory,
    /// Values of the `metric` lines, by name.
    #[serde(default)]
    pub metrics: BTreeMap<String, Metric>,
    /// Caveats on a run that is otherwise valid.
    #[serde(default)]
    pub warnings: Vec<Warning>,
    /// The last 4 KiB of standard error, if the status is not `ok`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
    /// Shape `work`: the operations and their cost.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub work: Option<Box<Work>>,
    /// Shape `serve`: what the clients measured.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<Load>>,
    /// Counts of the `histogram` lines, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, Vec<u64>>,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, IntoStaticStr, strum::Display, strum::VariantArray)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Status {
    /// All N tasks were alive at once, and all completed.
    Ok,
    /// Fewer than N were alive at once.
    Partial,
    /// The evidence is too weak that all N were alive and idle when memory was read.
    NoPlateau,
    /// Tasks failed, or the program broke the protocol.
    Failed,
    /// A signal ended the program.
    Crashed,
    /// The kernel killed the program because memory was exhausted.
    KilledOom,
    /// The run did not end in time.
    TimedOut,
    /// The run hit the system limit in `limit`.
    Limit,
    /// The toolchain is missing, or the program cannot be started.
    Unavailable,
}

impl Status {
    /// The name used in records and on the terminal.
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// Whether a case that could run on this machine failed, timed out or was partial: decides the exit code. A limit of
    /// the system is a result.
    pub fn is_failure(self) -> bool {
        !matches!(self, Status::Ok | Status::Limit | Status::Unavailable)
    }
}

/// How the start of the plateau was known. All but `protocol` are inferred: that all tasks were alive is proved
/// only if `alive` is present.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlateauFrom {
    /// The program printed `alive K` (work: `ready`). `alive` is K.
    Protocol,
    /// CPU and memory had become idle. `alive` is unknown.
    Outside,
    /// The program printed a line (`--ready-when`). `alive` is unknown.
    ReadyLine,
    /// The program accepted a connection (`--ready-tcp`). `alive` is unknown.
    ReadyTcp,
    /// A delay after the program's start (`--ready-after`). `alive` is unknown.
    ReadyAfter,
    /// The load printed `alive K` (`--with`, `--connect`). `alive` is K.
    LoadLine,
    /// A delay after the start of the load (`--with-ready-after`). `alive` is K if the load printed it.
    LoadAfter,
}

impl PlateauFrom {
    /// A short description to display.
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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LimitHit {
    /// Usual name, such as `kernel.pid_max`.
    pub name: String,
    /// Its value.
    pub value: u64,
    /// The command that raises it. Absent if no command does.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lift: Option<String>,
}

/// Time by phase, in seconds of the monotonic clock.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Time {
    /// From exec until all N tasks were alive (work: `ready`). Absent if that never happened.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<f64>,
    /// From the end of the launch until the first task could be due, or the program was stopped. 0 if tasks
    /// were due before the last one had started.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_s: Option<f64>,
    /// From the end of the plateau (work: `done`) until exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub drain_s: Option<f64>,
    /// From exec until exit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// From exec until memory was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_read_at_s: Option<f64>,
    /// Duration of the reading.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reading_s: Option<f64>,
}

/// CPU time of all processes of the run, in seconds.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Cpu {
    /// User time of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_s: Option<f64>,
    /// System time of the whole run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub system_s: Option<f64>,
    /// User and system time during the launch.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub launch_s: Option<f64>,
    /// User and system time during the plateau.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau_s: Option<f64>,
    /// User and system time during the drain.
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[derive(Serialize, Deserialize, IntoStaticStr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum MemorySource {
    /// Cgroup v2, with the kernel's own account of kernel memory and peak.
    CgroupV2,
    /// Cgroup v1, with the same accounts.
    CgroupV1,
    /// /proc alone: kernel memory is page tables and thread stacks, the peak is resident memory.
    #[default]
    Proc,
}

impl MemorySource {
    pub fn name(self) -> &'static str {
        self.into()
    }

    /// What its peak measures. A cgroup is not charged for files that were already in the page cache, so its
    /// peak may be below RSS.
    pub fn peak_of(self) -> &'static str {
        match self {
            MemorySource::CgroupV2 | MemorySource::CgroupV1 => "charge of its cgroup",
            MemorySource::Proc => "resident memory",
        }
    }
}

/// Memory of all processes of the run. docs/methodology.md describes where each value is read.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Memory {
    /// Where memory was read.
    pub source: MemorySource,
    /// The reading while all tasks waited. Absent if there was none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub plateau: Option<Plateau>,
    /// Highest memory of the cgroup over the run, kernel memory included. `proc`: highest resident memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak_bytes: Option<u64>,
    /// Highest resident memory of any one process, as other benchmarks report it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_peak_bytes: Option<u64>,
    /// Memory cap of the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cap_bytes: Option<u64>,
    /// Servers: all connected, before the first message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub connected: Option<Box<Plateau>>,
    /// Servers: right after the last open loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub loaded: Option<Box<Plateau>>,
}

/// Memory at the plateau, in bytes.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plateau {
    /// `anon_bytes + shmem_bytes + file_bytes + kernel_bytes + hugetlb_bytes + swap_bytes`.
    pub footprint_bytes: u64,
    /// Heaps and stacks.
    pub anon_bytes: u64,
    /// Shared memory and tmpfs.
    pub shmem_bytes: u64,
    /// Mapped pages of files.
    pub file_bytes: u64,
    /// Kernel memory of all kinds.
    pub kernel_bytes: u64,
    /// Part of `kernel_bytes`: stacks of threads.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kernel_stack_bytes: Option<u64>,
    /// Part of `kernel_bytes`: page tables.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page_tables_bytes: Option<u64>,
    /// Part of `kernel_bytes`: slab objects (task structures, VMAs, open files). Only `cgroup-v2`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slab_bytes: Option<u64>,
    /// Part of `kernel_bytes`: socket buffers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sock_bytes: Option<u64>,
    /// Huge pages of hugetlbfs. Absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hugetlb_bytes: Option<u64>,
    /// The footprint may be too high by this much. Absent if it is exact.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub uncertain_bytes: Option<u64>,
    /// Resident memory, summed over processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rss_bytes: Option<u64>,
    /// Proportional resident memory, summed over processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pss_bytes: Option<u64>,
    /// Swapped memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub swap_bytes: Option<u64>,
    /// Part of `anon_bytes`: freed with `MADV_FREE`, not yet reclaimed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lazy_free_bytes: Option<u64>,
    /// The cgroup's own charge at the same moment, as a cross-check.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group_bytes: Option<u64>,
}

/// A value that a program printed in a `metric` line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Metric {
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: String,
}

/// Operations done as fast as possible, and their cost.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// Operations asked for.
    pub operations: u64,
    /// The second run of a pair, with twice the operations of the first.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub double: bool,
    /// From `ready` until `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub wall_s: Option<f64>,
    /// CPU time of all processes from `ready` until `done`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// Value of the program's `check` line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub check: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Names are derived twice: by serde for records, by strum for what is shown.
    #[test]
    fn names_match_stored_records() {
        let of_record = |value: serde_json::Value| value.as_str().unwrap().to_owned();
        for status in <Status as strum::VariantArray>::VARIANTS {
            assert_eq!(status.name(), of_record(serde_json::to_value(status).unwrap()));
        }
        for (source, name) in [
            (MemorySource::CgroupV2, "cgroup-v2"),
            (MemorySource::CgroupV1, "cgroup-v1"),
            (MemorySource::Proc, "proc"),
        ] {
            assert_eq!(
                (source.name(), of_record(serde_json::to_value(source).unwrap())),
                (name, name.into())
            );
        }
    }
}
