//! The interface to the cgroup of one run, and code shared by v1 and v2.

use std::collections::BTreeSet;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use rustix::param::page_size;
use serde::{Deserialize, Serialize};

use super::tree;
use crate::MemorySource;

/// CPU time used so far.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct CpuReading {
    pub total_s: f64,
    /// The share spent in user mode, if known more precisely than by timer ticks.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub user_share: Option<f64>,
}

impl CpuReading {
    /// From user and system time, each exact.
    pub fn of(user_s: f64, system_s: f64) -> CpuReading {
        let total_s = user_s + system_s;
        CpuReading { total_s, user_share: (total_s > 0.0).then(|| user_s / total_s) }
    }
}

/// Memory that the kernel charges to the cgroup, in bytes.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct KernelAccount {
    /// Mapped anonymous memory.
    pub anon: Option<u64>,
    /// Mapped pages of files and of shared memory.
    pub file_mapped: Option<u64>,
    /// Pages of files that are not shared memory, mapped or not.
    pub cache: Option<u64>,
    pub swap: Option<u64>,
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

impl KernelAccount {
    /// Memory charged, without unmapped page cache, which the kernel can reclaim. Use only to detect changes:
    /// mapped shared memory is included twice.
    pub(super) fn in_use(&self) -> Option<u64> {
        let (charged, cache) = (self.charged?, self.cache.unwrap_or(0));
        Some(charged.saturating_sub(cache) + self.file_mapped.unwrap_or(0))
    }
}

/// The kernel's reports that the cgroup is short of memory.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct MemoryWant {
    /// Number of processes killed for lack of memory.
    pub oom_kills: u64,
    /// Whether the cgroup hit its own cap. That alone is harmless: page cache also fills it and is reclaimed.
    pub cap_hit: bool,
    /// Whether the cgroup hit its cap and nothing could be reclaimed, so that a process had to be killed: at
    /// this moment (v1), or at any time so far (v2).
    pub out_of_memory: bool,
    /// The kernel's record of the highest memory that the cap bounds, in bytes. On v1, TCP buffers are not bounded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub bounded_peak_bytes: Option<u64>,
}

/// The cgroup of one run, or its substitute from /proc.
pub trait Group {
    fn source(&self) -> MemorySource;
    /// The files into which a process writes `0` to join, before its exec.
    fn join_files(&self) -> Vec<PathBuf> {
        self.folders().iter().map(|folder| folder.join("cgroup.procs")).collect()
    }
    /// The cgroup's folders, to be removed after the run. The one in the memory hierarchy comes first, because
    /// `processes` and `inodes` use it.
    fn folders(&self) -> Vec<PathBuf>;
    /// Living processes in the cgroup and in those that the program made inside it.
    fn processes(&self) -> Vec<u32> {
        self.folders().first().map(|folder| tree::processes(folder)).unwrap_or_default()
    }
    fn cpu(&self) -> Option<CpuReading>;
    /// Memory charged now in bytes, with page cache. Cheap enough to read every few milliseconds.
    fn memory_now(&self) -> Option<u64>;
    /// Memory in use now in bytes, without unmapped page cache. May lag by about 64 pages per CPU.
    fn memory_in_use(&self) -> Option<u64>;
    /// Inode numbers of the folders of the cgroup and those inside it, in the memory hierarchy.
    fn inodes(&self) -> BTreeSet<u64> {
        self.folders().first().map(|folder| tree::inodes(folder)).unwrap_or_default()
    }
    /// The kernel's record of peak memory in bytes. `None` if it keeps none, so that memory must be sampled.
    fn memory_peak(&self) -> Option<u64>;
    fn kernel_account(&self) -> KernelAccount;
    /// The kernel's reports of a lack of memory.
    fn memory_want(&self) -> MemoryWant;
    /// How often a new thread or process was refused because of the cgroup's own limit. `None` if unknown, as
    /// without a pids controller.
    fn refused_threads(&self) -> Option<u64>;
    /// Sets the launcher's pid. Without a cgroup, the run's processes are its descendants.
    fn set_launcher(&mut self, _pid: u32) {}
}

/// Limits of a cgroup. `None`: no limit.
#[derive(Debug, Clone, Copy, Default)]
pub struct GroupBounds {
    pub memory_bytes: Option<u64>,
    pub threads: Option<u64>,
}

/// Pages that each CPU charges or counts before it updates the cgroup (MEMCG_CHARGE_BATCH, 32 before 6.1).
const BATCH_PAGES: usize = 64;

/// How far a cgroup's counters may lag behind its processes, in bytes.
pub fn batches_bytes() -> u64 {
    (BATCH_PAGES * page_size() * online_processors()) as u64
}

/// Makes the kernel update the memory counters of a cgroup. Since Linux 6.16 (and always on v1), reading a
/// cgroup does that only if more than 64 pages per CPU have changed below it (memcg_vmstats_needs_flush), and
/// then for the whole tree below it. So taskscale touches that many pages of its own, and reads the cgroup that
/// contains both itself and the run.
pub(super) fn update_counters_by_touching(folder: &Path) {
    if let Some(common) = folder.ancestors().nth(2) {
        touch_pages(BATCH_PAGES * (online_processors() + 1));
        let _ = fs::read(common.join("memory.stat"));
    }
}

/// Number of CPUs of the machine, including those that this process may not use.
pub fn online_processors() -> usize {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_NPROCESSORS_ONLN) }.try_into().unwrap_or(1)
}

/// Maps, touches and unmaps fresh pages, about 1 MiB at a time.
fn touch_pages(count: usize) {
    let page_bytes = page_size();
    let part = ((1 << 20) / page_bytes).max(1);
    for _ in 0..count.div_ceil(part) {
        // SAFETY: a new mapping of our own, written within its bounds and unmapped once.
        unsafe {
            let (size, access) = (part * page_bytes, libc::PROT_READ | libc::PROT_WRITE);
            let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS;
            let start = libc::mmap(std::ptr::null_mut(), size, access, flags, -1, 0);
            if start == libc::MAP_FAILED {
                return;
            }
            for page in 0..part {
                start.cast::<u8>().add(page * page_bytes).write_volatile(1);
            }
            libc::munmap(start, size);
        }
    }
}

/// The value of `key value` in a flat keyed file's text.
pub(super) fn keyed(text: &str, key: &str) -> Option<u64> {
    text.lines().find_map(|line| line.strip_prefix(key)?.strip_prefix(' ')?.trim().parse().ok())
}

/// Writes a control file. The kernel accepts or rejects a value in the write itself.
pub(super) fn write_control(path: &Path, value: impl ToString) -> io::Result<()> {
    fs::write(path, value.to_string())
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
