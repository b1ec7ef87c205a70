//! What a sample warns of.

use serde::{Deserialize, Serialize};

/// What a reader of a sample's figures should know.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
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
    /// Memory grew by more than 5% and 4 MiB after the first reading, and was read again.
    PlateauGrew,
    /// The program was runnable but got less than half a CPU for 1 s or more: times are inflated.
    CpuStarved,
    /// Measured without a cgroup: kernel memory and peak are only what /proc shows.
    NoControlGroup,
    /// Part of the memory was in swap, and counts.
    Swapped,
    /// Some processes could not be walked and count by `/proc/PID/status`.
    ProcessesUnreadable,
    /// The footprint may be too high by `uncertain_bytes`.
    MemoryUncertain,
    /// The kernel keeps no peak (before 5.19): it was sampled and may be too low.
    PeakSampled,
    /// Processes outlived the program and were killed.
    LeftProcesses,
    /// SysV segments outlived the program. Those of its known processes were removed.
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
    /// One sentence for people.
    pub fn text(self) -> &'static str {
        match self {
            Warning::PlateauNotQuiet => {
                "the program never fell quiet while all tasks waited: its memory was read at the last moment of the plateau"
            }
            Warning::PlateauShort => {
                "all tasks were alive together for a shorter time than the campaign asks for"
            }
            Warning::WorkShort => "the work was over too soon to be timed: it has no cost per operation",
            Warning::WorkUnsettled => {
                "the second half of the operations took more than 10 % more or less time than the first (a compiler was \
                 at work, what they share outgrew a cache, or other work had the CPUs): the cost is that of the second half"
            }
            Warning::RateNotReached => {
                "messages came at less than 99 % of the rate at which they were due: server or clients could not keep up, \
                 and how late messages were says only how long that lasted"
            }
            Warning::ClientLimited => {
                "the clients sent late (p99 by more than 10% of the latency and 100 µs), or used a whole CPU: there is no latency"
            }
            Warning::SocketsUncharged => {
                "the kernel charged accepted connections to no control group (as before Linux 6.12): about 3.9 kB for each are \
                 missing from the server's memory"
            }
            Warning::PlateauGrew => {
                "memory grew after it was read first (not all tasks were there when the program said so, or a collector \
                 was at work): the figure is of a second reading, at the end of the plateau"
            }
            Warning::CpuStarved => {
                "the program wanted a CPU and got less than half of one for a second or more (a quota, a busy machine): \
                 times are too long, and memory may be that of a program that was held back"
            }
            Warning::NoControlGroup => {
                "measured without a control group: kernel memory and peak are only what /proc tells, and shared memory that is not \
                 mapped is missing (`taskscale doctor` says how to get the better source)"
            }
            Warning::Swapped => {
                "part of the program was swapped out: the footprint counts it at its full size"
            }
            Warning::ProcessesUnreadable => {
                "some processes may not be walked page by page (not dumpable, or of another user): their memory is what \
                 /proc/PID/status says, and file pages that only they map may be missing"
            }
            Warning::MemoryUncertain => {
                "this user may not ask whose charge shared memory is: the footprint is the upper end, and may be too high by \
                 `uncertain_bytes`"
            }
            Warning::PeakSampled => {
                "this kernel (before 5.19) keeps no peak for a control group: it was sampled every few milliseconds and may be too low"
            }
            Warning::LeftProcesses => "processes outlived the program and were ended",
            Warning::LeftSharedMemory => {
                "segments of System V shared memory outlived the program (`ipcs -m`): those that its known processes had made \
                 were removed"
            }
            Warning::KernelAccountStale => {
                "the kernel's account of its own memory lagged: kernel memory is the sum of thread stacks and page tables at least"
            }
            Warning::StrayOutput => "lines on standard output that are not of the protocol were ignored",
            Warning::MachineBusy => {
                "other work used more than a quarter of the machine's CPUs: times are too long, and memory differs where \
                 a runtime allocates or collects by the clock"
            }
            Warning::MachineNotLocked => {
                "the machine could not be locked: another campaign may have run at the same time and disturbed this one"
            }
        }
    }
}
