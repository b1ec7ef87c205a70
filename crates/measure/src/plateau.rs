//! The reading while all tasks wait: memory charged to the cgroup, and pages that its processes map but other
//! cgroups are charged for, without unmapped page cache. Each physical page counts once.

use serde::{Deserialize, Serialize};

use super::address_spaces::AddressSpaces;
use super::cgroup::{Group, KernelAccount, batches_bytes};
use super::mapped::{Mapped, MappedPages};
use super::procfs;
use crate::{MemorySource, Plateau, Warning};

/// Size of a thread's kernel stack (THREAD_SIZE), in bytes, but never less than a page. `None`: unknown.
const THREAD_STACK_BYTES: Option<u64> =
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { Some(16 * 1024) } else { None };
/// Anonymous memory of the processes and of the cgroup may differ by this share, or by a batch for each CPU.
const SAME_ANON: f64 = 0.01;
/// An uncertainty up to this many bytes needs no warning.
const NARROW_BYTES: u64 = 64 << 10;
/// Up to this many processes are each read again to detect changes of memory. With more, the kernel's counters
/// decide.
const MAX_PROCESSES_WALKED_AGAIN: usize = 64;

/// One reading.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Reading {
    pub memory: Plateau,
    pub threads: u64,
    pub processes: u64,
    /// Highest resident memory so far of any one process.
    pub rss_peak_bytes: u64,
    /// Anonymous memory of the processes and as charged to the cgroup, in bytes, if they disagree.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contradiction: Option<(u64, u64)>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
}

/// What the processes show, summed over address spaces.
#[derive(Debug, Default)]
struct ProcessMemory {
    rollup: procfs::Rollup,
    page_tables: u64,
    mapped: Mapped,
    /// Processes that may not be walked.
    unreadable: usize,
    /// Sums of their anonymous memory and huge pages, maxima of their file and shared memory.
    counted: procfs::ProcessStatus,
    /// Processes that the kernel did not compare with others: they may share an address space.
    uncompared: usize,
    /// The most anonymous memory of one process.
    most_anon: u64,
}

/// Reads every process of the cgroup. `pids` is the kernel's list when the reading begins, and processes that
/// end during it count as present. `None` if none could be read, or if `is_over` before all were read: many
/// take long.
pub fn read(group: &dyn Group, pids: &[u32], is_over: &dyn Fn() -> bool) -> Option<Reading> {
    // Without a cgroup the list includes zombies, as their CPU time counts.
    let ended = match group.source() {
        MemorySource::Proc => pids.iter().filter(|pid| procfs::has_ended(**pid)).count(),
        _ => 0,
    };
    let mut reading = Reading { processes: (pids.len() - ended) as u64, ..Reading::default() };
    let shown = show(pids, group, &mut reading, is_over)?;
    let account = group.kernel_account();

    let stack_bytes = THREAD_STACK_BYTES.map(|bytes| bytes.max(rustix::param::page_size() as u64));
    let kernel_stacks = stack_bytes.map(|bytes| bytes * reading.threads);
    let known = kernel_stacks.unwrap_or(0) + shown.page_tables;
    let kernel_bytes = account.kernel.unwrap_or(0).max(known) + shown.mapped.device;
    let memory = memory(&shown, &account, kernel_bytes);
    reading.contradiction = contradiction(&shown, &account);
    let found = [
        (account.kernel.is_some_and(|kernel| kernel < known), Warning::KernelAccountStale),
        (group.source() == MemorySource::Proc, Warning::NoControlGroup),
        (memory.swap_bytes.is_some_and(|bytes| bytes > 0), Warning::Swapped),
        (shown.unreadable > 0, Warning::ProcessesUnreadable),
        (memory.uncertain_bytes.is_some(), Warning::MemoryUncertain),
    ];
    reading.warnings = Warning::applying(found).collect();
    reading.memory = Plateau {
        // The first process was forked before it joined: its own stack is charged to the launcher's group.
        kernel_stack_bytes: account.kernel_stack.max(kernel_stacks),
        page_tables_bytes: Some(account.page_tables.unwrap_or(0).max(shown.page_tables)),
        slab_bytes: account.slab,
        sock_bytes: account.sock,
        group_bytes: account.charged,
        ..memory
    };
    Some(reading)
}

/// Walks the processes, each address space once. `None` if `is_over` before all were read, or none could be
/// read.
fn show(
    pids: &[u32],
    group: &dyn Group,
    reading: &mut Reading,
    is_over: &dyn Fn() -> bool,
) -> Option<ProcessMemory> {
    let mut shown = ProcessMemory::default();
    let mut spaces = AddressSpaces::default();
    let mut pages = MappedPages::new(group.inodes());
    let mut any_read = false;
    for pid in pids {
        if is_over() {
            return None;
        }
        // A process may end while we look at the others.
        let Ok(status) = procfs::status(*pid) else { continue };
        let walked = procfs::rollup_by_thread(*pid).and_then(|(thread, rollup)| {
            let status = if thread == *pid { status } else { procfs::status(thread)? };
            let is_new = pids.len() == 1 || spaces.is_new(thread);
            if is_new {
                pages.add(thread, rollup.huge > 0)?;
            }
            Ok((status, rollup, is_new))
        });
        reading.threads += status.threads;
        let status = match walked {
            Ok((status, rollup, is_new)) => {
                if is_new {
                    shown.page_tables += status.page_tables;
                    shown.rollup.add(&rollup);
                    shown.most_anon = shown.most_anon.max(rollup.pss_anon);
                }
                status
            }
            // One that has ended has no memory.
            Err(_) if status.rss == 0 => continue,
            Err(error) => {
                log::info!("process {pid} cannot be walked: {error}");
                shown.count(&status);
                status
            }
        };
        any_read = true;
        reading.rss_peak_bytes = reading.rss_peak_bytes.max(status.rss_peak);
    }
    shown.uncompared = spaces.refused();
    shown.mapped = pages.sum();
    any_read.then_some(shown)
}

impl ProcessMemory {
    /// Adds a process that may not be walked, by the kernel's counters.
    fn count(&mut self, status: &procfs::ProcessStatus) {
        self.unreadable += 1;
        self.page_tables += status.page_tables;
        self.rollup.rss += status.rss;
        self.rollup.swap += status.swap;
        self.counted.rss_anon += status.rss_anon;
        self.counted.huge += status.huge;
        // It usually maps the same as its parent.
        self.counted.rss_file = self.counted.rss_file.max(status.rss_file);
        self.counted.rss_shmem = self.counted.rss_shmem.max(status.rss_shmem);
    }

    /// Anonymous memory of all processes.
    fn anon(&self) -> u64 {
        self.rollup.pss_anon + self.counted.rss_anon
    }
}

/// Combines the kernel's account of the cgroup, if there is one, with what the processes show.
fn memory(shown: &ProcessMemory, account: &KernelAccount, kernel_bytes: u64) -> Plateau {
    let mapped = &shown.mapped;
    let (of_others, uncertain) = of_others(mapped, account);
    let tmpfs = mapped.tmpfs.max(shown.counted.rss_shmem);
    let shared = tmpfs.max(account.shmem.unwrap_or(0) + of_others);
    // The kernel counts every tmpfs page as shared memory. Here a program's text is a file, even on tmpfs.
    let shmem_bytes = shared - mapped.tmpfs_as_file;
    let file_bytes = mapped.file.max(shown.counted.rss_file) + mapped.tmpfs_as_file;
    let mapped_anon = match account.anon {
        Some(anon) if shown.rollup.unsplit => anon,
        // What the kernel counts is exact within batches. What the processes show is exact where all can be walked.
        Some(anon) if shown.unreadable > 0 || contradiction(shown, account).is_some() => {
            anon.max(shown.rollup.pss_anon)
        }
        _ => shown.anon(),
    };
    let anon_bytes = mapped_anon + unmapped_anon(account);
    // It is unknown how much of it counts twice because processes share an address space.
    let uncertain = match account.anon {
        None if shown.uncompared > 0 => uncertain + shown.rollup.pss_anon - shown.most_anon,
        _ => uncertain,
    };
    let huge_bytes = mapped.huge + shown.counted.huge;
    let swap_bytes = shown.rollup.swap.max(account.swap.unwrap_or(0));
    Plateau {
        footprint_bytes: anon_bytes + shmem_bytes + file_bytes + kernel_bytes + huge_bytes + swap_bytes,
        anon_bytes,
        shmem_bytes,
        file_bytes,
        kernel_bytes,
        hugetlb_bytes: Some(huge_bytes).filter(|bytes| *bytes > 0),
        rss_bytes: Some(shown.rollup.rss),
        pss_bytes: Some(shown.rollup.pss),
        swap_bytes: Some(swap_bytes),
        lazy_free_bytes: Some(shown.rollup.lazy_free),
        uncertain_bytes: Some(uncertain).filter(|bytes| *bytes > NARROW_BYTES),
        ..Plateau::default()
    }
}

/// Mapped tmpfs memory that other cgroups are charged for, in bytes: the most, and how much less it may be. The
/// cgroup's `file_mapped` counts pages of files and tmpfs that are both mapped and charged to it.
fn of_others(mapped: &Mapped, account: &KernelAccount) -> (u64, u64) {
    let (Some(shmem), Some(charged)) = (account.shmem, account.file_mapped) else {
        return (0, 0);
    };
    if let Some(bytes) = mapped.tmpfs_of_others {
        return (bytes, 0);
    }
    let all = (mapped.file + mapped.tmpfs).saturating_sub(charged);
    // File pages beyond the cgroup's own cache are charged to others.
    let files = mapped.file.saturating_sub(account.cache.unwrap_or(0));
    let most = all.saturating_sub(files).min(mapped.tmpfs);
    let least = mapped.tmpfs.saturating_sub(shmem.min(charged)).min(most);
    (most, most - least)
}

/// Anonymous memory charged to the cgroup that no process maps, in bytes: partly freed huge pages, and pages
/// passed to a pipe or a socket without a copy.
fn unmapped_anon(account: &KernelAccount) -> u64 {
    let known: Option<u64> = [account.anon, account.shmem, account.cache, account.kernel].into_iter().sum();
    let Some((charged, known)) = account.charged.zip(known) else { return 0 };
    let unmapped = charged.saturating_sub(known);
    // The charge runs ahead of use by a batch, and what is known may lag by another.
    let bound = (2 * batches_bytes()).max((charged as f64 * SAME_ANON) as u64);
    if unmapped > bound { unmapped } else { 0 }
}

/// Anonymous memory of the processes and as charged to the cgroup, in bytes, if they disagree: memory is
/// charged elsewhere, or its owner was not found.
fn contradiction(shown: &ProcessMemory, account: &KernelAccount) -> Option<(u64, u64)> {
    let charged = account.anon.filter(|_| shown.unreadable == 0 && !shown.rollup.unsplit)?;
    let walked = shown.rollup.pss_anon;
    let bound = batches_bytes().max((walked.max(charged) as f64 * SAME_ANON) as u64);
    (walked.abs_diff(charged) > bound).then_some((walked, charged))
}

/// Resident and kernel memory in bytes, to be compared with a later value. If the kernel's counters lag, up to
/// `MAX_PROCESSES_WALKED_AGAIN` processes are walked, which takes 40 ms for 10,000 threads.
pub fn standing(group: &dyn Group, pids: &[u32]) -> u64 {
    // Since Linux 6.17 `VmRSS` is exact: the kernel sums its per-CPU counters for it. Before, each CPU keeps back up to
    // 32 pages of each kind.
    let walks = pids.len() <= MAX_PROCESSES_WALKED_AGAIN && !procfs::kernel_is_at_least((6, 17));
    let walked = |pid: u32| procfs::rollup_by_thread(pid).ok().map(|(_, rollup)| rollup.rss + rollup.huge);
    let counted = |pid: u32| procfs::status(pid).ok().map(|status| status.rss + status.huge);
    let of = |pid: u32| if walks { walked(pid).or_else(|| counted(pid)) } else { counted(pid) };
    let resident: u64 = pids.iter().filter_map(|pid| of(*pid)).sum();
    resident + group.kernel_account().kernel.unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MIB: u64 = 1 << 20;

    fn shown(anon: u64) -> ProcessMemory {
        let rollup = procfs::Rollup { pss_anon: anon, ..procfs::Rollup::default() };
        ProcessMemory { rollup, ..ProcessMemory::default() }
    }

    fn account(anon: u64, shmem: u64, file_mapped: u64, cache: u64) -> KernelAccount {
        let [anon, shmem, file_mapped, cache] = [anon, shmem, file_mapped, cache].map(Some);
        KernelAccount { anon, shmem, file_mapped, cache, ..KernelAccount::default() }
    }

    #[test]
    fn memory_of_processes_counts_unless_the_cgroup_contradicts() {
        let lagging = account(100 * MIB + (64 << 10), 0, 0, 0);
        assert_eq!(contradiction(&shown(100 * MIB), &lagging), None);
        assert_eq!(memory(&shown(100 * MIB), &lagging, 0).anon_bytes, 100 * MIB);
        let other = account(300 * MIB, 0, 0, 0);
        assert_eq!(contradiction(&shown(100 * MIB), &other), Some((100 * MIB, 300 * MIB)));
        assert_eq!(memory(&shown(100 * MIB), &other, 0).anon_bytes, 300 * MIB);
        let elsewhere = account(MIB, 0, 0, 0);
        assert_eq!(memory(&shown(100 * MIB), &elsewhere, 0).anon_bytes, 100 * MIB);
        assert!(contradiction(&shown(100 * MIB), &elsewhere).is_some());
    }

    #[test]
    fn charged_unmapped_memory_counts() {
        let charged = |charged: u64| KernelAccount {
            kernel: Some(3 * MIB),
            charged: Some(charged),
            ..account(100 * MIB, 8 * MIB, 0, 16 * MIB)
        };
        let anon = |account: &KernelAccount| memory(&shown(100 * MIB), account, 3 * MIB).anon_bytes;
        assert_eq!(anon(&charged(127 * MIB + batches_bytes())), 100 * MIB, "the charge runs ahead");
        let bound = (2 * batches_bytes()).max(4 * MIB);
        assert_eq!(anon(&charged(127 * MIB + 2 * bound)), 100 * MIB + 2 * bound);
        assert_eq!(anon(&charged(20 * MIB)), 100 * MIB);
        assert_eq!(anon(&KernelAccount { cache: None, ..charged(300 * MIB) }), 100 * MIB);
    }

    #[test]
    fn unreadable_processes_count_and_files_count_once() {
        let mut seen = shown(MIB);
        seen.mapped.file = 2 * MIB;
        for file in [MIB, 3 * MIB] {
            let status = procfs::ProcessStatus { rss_anon: 64 * MIB, rss_file: file, ..Default::default() };
            seen.count(&status);
        }
        let memory = |account: &KernelAccount| memory(&seen, account, 0);
        let alone = memory(&KernelAccount::default());
        assert_eq!((alone.anon_bytes, alone.file_bytes), (129 * MIB, 3 * MIB));
        // The group knows what the two share.
        assert_eq!(memory(&account(65 * MIB, 0, 0, 0)).anon_bytes, 65 * MIB);
    }

    #[test]
    fn shared_memory_of_others_is_distinguished() {
        let mapped =
            |tmpfs_of_others| Mapped { file: 2 * MIB, tmpfs: 64 * MIB, tmpfs_of_others, ..Mapped::default() };
        // 64 MiB of others, and 48 MiB of its own that it does not map.
        assert_eq!(of_others(&mapped(Some(64 * MIB)), &account(0, 48 * MIB, 0, 0)), (64 * MIB, 0));
        assert_eq!(of_others(&mapped(None), &account(0, 48 * MIB, 0, 0)), (64 * MIB, 0));
        // Its own, mapped.
        assert_eq!(of_others(&mapped(None), &account(0, 64 * MIB, 64 * MIB, 0)), (0, 0));
        // Half of it charged to others.
        assert_eq!(of_others(&mapped(None), &account(0, 32 * MIB, 32 * MIB, 0)), (32 * MIB, 0));
        // The group has a cache of files, mapped or not: the owner of 2 MiB is unknown.
        assert_eq!(of_others(&mapped(None), &account(0, 64 * MIB, 64 * MIB, 9 * MIB)), (2 * MIB, 2 * MIB));
        assert_eq!(of_others(&mapped(None), &KernelAccount::default()), (0, 0));
    }

    #[test]
    fn a_program_on_tmpfs_is_a_file_and_counts_once() {
        let mut seen = shown(0);
        seen.mapped = Mapped { tmpfs: 64 * MIB, tmpfs_as_file: 60 * MIB, ..Mapped::default() };
        let memory = memory(&seen, &account(0, 64 * MIB, 64 * MIB, 0), 0);
        assert_eq!((memory.file_bytes, memory.shmem_bytes), (60 * MIB, 4 * MIB));
        assert_eq!(memory.footprint_bytes, 64 * MIB);
    }
}
