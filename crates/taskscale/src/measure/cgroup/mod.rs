//! The control group of one run: what its processes used, whichever version of control groups there is, or none.
//!
//! All sizes in bytes, all times in seconds. A figure that cannot be had is `None`.

mod none;
mod root;
mod tree;
mod v1;
mod v2;

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

use none::NoGroup;
pub(super) use root::own_folders;
pub use root::{GroupRoot, clean_up_after_the_dead};
use v1::{GroupV1, V1Parents};
use v2::{GroupV2, enable_controllers};

use crate::record::MemorySource;

/// CPU time used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct CpuReading {
    pub total_s: f64,
    /// The share spent in user mode, where it is known better than by the timer's ticks.
    pub user_share: Option<f64>,
}

impl CpuReading {
    /// From user and system time, each exact.
    pub fn of(user_s: f64, system_s: f64) -> CpuReading {
        let total_s = user_s + system_s;
        CpuReading { total_s, user_share: (total_s > 0.0).then(|| user_s / total_s) }
    }
}

/// What the kernel charges to the group besides the memory that /proc shows by process.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelAccount {
    /// All kernel memory, sockets included.
    pub kernel: Option<u64>,
    pub kernel_stack: Option<u64>,
    pub page_tables: Option<u64>,
    pub slab: Option<u64>,
    pub sock: Option<u64>,
    /// Shared memory and tmpfs, mapped or not.
    pub shmem: Option<u64>,
    /// Everything charged to the group.
    pub charged: Option<u64>,
}

/// What the kernel says of a group that wants memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct MemoryWant {
    /// Processes killed for it.
    pub oom_kills: u64,
    /// Whether the group met its own cap. Not yet a lack of memory: a cache of files meets it as well, and gives way.
    pub cap_met: bool,
    /// Whether the group met its cap and nothing gave way, so that a process had to be killed: now (version 1), or
    /// ever (version 2).
    pub out_of_memory: bool,
}

/// The account of one run's processes.
pub trait Group {
    fn source(&self) -> MemorySource;
    /// The files into which a process writes `0` to join, before its exec.
    fn join_files(&self) -> Vec<PathBuf>;
    /// The group's folders, innermost first: what to remove when all is over.
    fn folders(&self) -> Vec<PathBuf>;
    /// Living processes, in the group and in those that the program made below it.
    fn processes(&self) -> Vec<u32>;
    fn cpu(&self) -> Option<CpuReading>;
    /// Memory in use now. Cheap enough to be asked every few milliseconds.
    fn memory_now(&self) -> Option<u64>;
    /// The kernel's own record of the highest memory; `None` where it keeps none and it must be sampled.
    fn memory_peak(&self) -> Option<u64>;
    fn kernel_account(&self) -> KernelAccount;
    /// What the kernel says of the group's lack of memory.
    fn memory_want(&self) -> MemoryWant;
    /// Whether the kernel itself keeps the run below its memory cap.
    fn enforces_memory_cap(&self) -> bool;
    /// How often the group was refused a new thread or process because of its own bound; `None` where it has none.
    fn refused_threads(&self) -> Option<u64>;
    /// The launcher, below which the run's processes are found where there is no group.
    fn set_launcher(&mut self, _pid: u32) {}
}

/// The bounds that a group keeps.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupBounds {
    pub memory_bytes: Option<u64>,
    pub threads: Option<u64>,
}

fn read_number(path: &Path) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// The value of `key value` in a flat keyed file's text.
fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Writes a control file. The kernel takes or refuses a value at the write itself.
fn write_control(path: &Path, value: impl ToString) -> io::Result<()> {
    fs::write(path, value.to_string())
}

/// Ends every process in the group folders and in the groups below them: at once by `cgroup.kill` where there is one,
/// else one by one with new ones forbidden, until none is left.
pub(super) fn kill_all(folders: &[PathBuf]) {
    for folder in folders {
        // Fails where the kernel (before 5.14) has no such file: then one by one, below.
        let _ = write_control(&folder.join("cgroup.kill"), 1);
        // A fork bomb ends when nothing new can be forked. Fails where there is no pids controller.
        let _ = write_control(&folder.join("pids.max"), 0);
    }
    for _ in 0..200 {
        // In each folder, whatever was found in another.
        if folders.iter().filter(|folder| tree::kill(folder)).count() == 0 {
            return;
        }
        thread::sleep(Duration::from_millis(5));
    }
}

/// The processes in the group folders and in the groups below them, each once.
pub(super) fn processes_in(folders: &[PathBuf]) -> BTreeSet<u32> {
    folders.iter().flat_map(|folder| tree::processes(folder)).collect()
}

/// Removes groups, with those that were made below them.
pub(super) fn remove_folders(folders: &[PathBuf]) -> io::Result<()> {
    // Each is tried, whatever becomes of another.
    let mut removed = Ok(());
    for folder in folders {
        removed = removed.and(tree::remove(folder));
    }
    removed
}

#[cfg(test)]
mod tests {
    use super::keyed;

    #[test]
    fn keyed_values_need_the_whole_key() {
        let text = "anon 1\nkernel_stack 3\nkernel 2\n";
        assert_eq!(keyed(text, "kernel"), Some(2));
        assert_eq!(keyed(text, "kernel_stack"), Some(3));
        assert_eq!(keyed(text, "sock"), None);
    }
}
