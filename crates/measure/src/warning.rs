//! The warnings of a sample.

use serde::{Deserialize, Serialize};

/// A caveat on a run that is otherwise valid.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Warning {
    /// The program never became idle, so memory was read at the last moment of the plateau.
    PlateauNotQuiet,
    /// The plateau was shorter than wanted (1 s, or 0.5 s with `--quick`).
    PlateauShort,
    /// The work took less than half of the target time: no cost per operation.
    WorkShort,
    /// The second half of the operations took over 10% more or less time than the first.
    WorkUnsettled,
    /// Less than 99% of the scheduled rate arrived: no latency.
    RateNotReached,
    /// The clients sent late or exhausted their CPU: no latency.
    ClientLimited,
    /// The kernel charges accepted sockets to no cgroup: the server's memory is too low.
    SocketsUncharged,
    /// Memory grew by more than 5% and 4 MiB after the first reading, if only for a time, and was read again.
    PlateauGrew,
    /// Memory fell by more than 5% and 4 MiB after the first reading, and was read again.
    PlateauFell,
    /// The program was runnable but got less than half a CPU, for 1 s or more or right before memory was read: times are inflated.
    CpuStarved,
    /// Measured without a cgroup: kernel memory and peak are only what /proc shows.
    NoControlGroup,
    /// Part of the memory was in swap. It counts in the footprint.
    Swapped,
    /// Some processes could not be read page by page: `/proc/PID/status` was read instead.
    ProcessesUnreadable,
    /// The footprint may be too high by `uncertain_bytes`.
    MemoryUncertain,
    /// The kernel keeps no peak (before 5.19): it was sampled and may be too low.
    PeakSampled,
    /// Processes outlived the program and were killed.
    LeftProcesses,
    /// System V segments outlived the program. Those of its known processes were removed.
    LeftSharedMemory,
    /// The cgroup's account lagged: `kernel_bytes` is thread stacks and page tables.
    KernelAccountStale,
    /// Unexpected lines on standard output were ignored.
    StrayOutput,
    /// Other processes used more than a quarter of the machine's CPUs during the run.
    MachineBusy,
    /// The machine could not be locked: another measurement may have run at the same time.
    MachineNotLocked,
}

impl Warning {
    /// The warnings whose condition is true.
    pub(super) fn applying(
        found: impl IntoIterator<Item = (bool, Warning)>,
    ) -> impl Iterator<Item = Warning> {
        found.into_iter().filter_map(|(so, warning)| so.then_some(warning))
    }

    /// The warning in words: effect first, no end mark.
    pub fn text(self) -> &'static str {
        match self {
            Warning::PlateauNotQuiet => {
                "memory may include work in progress: the program never became idle and was read at the end of the plateau"
            }
            Warning::PlateauShort => {
                "short plateau: all tasks were alive at the same time for less than requested"
            }
            Warning::WorkShort => "no cost per operation: the work was too short to time reliably",
            Warning::WorkUnsettled => {
                "cost of the second half of the operations: it differs from the first by over 10% (compilation, cache \
                 size or other work)"
            }
            Warning::RateNotReached => {
                "latency is not meaningful: messages arrived at less than 99% of the requested rate, as server or clients \
                 could not keep up"
            }
            Warning::ClientLimited => {
                "no latency: the clients sent late (p99 by over 10% of the latency and 100 µs) or used a whole CPU"
            }
            Warning::SocketsUncharged => {
                "about 3.9 kB per connection are missing from the server's memory: the kernel charged them to no cgroup \
                 (before Linux 6.12)"
            }
            Warning::PlateauGrew => {
                "memory is a second reading, at the end of the plateau: it grew after the first (late tasks, or garbage \
                 collection)"
            }
            Warning::PlateauFell => {
                "memory is a second reading, at the end of the plateau: it fell after the first (tasks that ended early, or \
                 a collector that returned memory)"
            }
            Warning::CpuStarved => {
                "CPU-starved: times are inflated and memory may be off (less than half a CPU for over 1 s: CPU quota or \
                 busy machine)"
            }
            Warning::NoControlGroup => {
                "kernel memory and unmapped shared memory are incomplete: measured without a cgroup (`taskscale doctor` \
                 shows why)"
            }
            Warning::Swapped => "part of the program was swapped out; it counts at full size",
            Warning::ProcessesUnreadable => {
                "file pages may be missing: some processes cannot be read page by page (not dumpable, or of another \
                 user)"
            }
            Warning::MemoryUncertain => {
                "the footprint is an upper bound, too high by up to `uncertain_bytes`: this user cannot see which cgroup \
                 is charged for shared memory"
            }
            Warning::PeakSampled => {
                "the peak may be too low: this kernel (before 5.19) records none for a cgroup, so it was sampled"
            }
            Warning::LeftProcesses => "processes outlived the program and were killed",
            Warning::LeftSharedMemory => {
                "System V shared memory outlived the program (`ipcs -m`); segments made by its known processes were \
                 removed"
            }
            Warning::KernelAccountStale => {
                "kernel memory may be too low: the kernel's account lagged, so it is the sum of thread stacks and page \
                 tables"
            }
            Warning::StrayOutput => "unexpected output: lines outside the protocol were ignored",
            Warning::MachineBusy => {
                "on a busy machine (over a quarter of its CPUs): times are inflated, and memory may differ"
            }
            Warning::MachineNotLocked => {
                "the machine could not be locked: another measurement may have disturbed this one"
            }
        }
    }
}
