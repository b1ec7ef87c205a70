//! The reading while all tasks wait: what the run's processes hold, page by page, and what the kernel holds for them.

use super::cgroup::Group;
use super::mapped::{MappedFiles, mapped_files};
use super::procfs;
use crate::record::{MemorySource, Plateau, Warning};

/// What a thread's stack in the kernel takes (THREAD_SIZE), in bytes, but never less than a page; unknown elsewhere.
const THREAD_STACK_BYTES: Option<u64> =
    if cfg!(any(target_arch = "x86_64", target_arch = "aarch64")) { Some(16 * 1024) } else { None };

/// One reading.
#[derive(Debug, Default)]
pub struct Reading {
    pub memory: Plateau,
    pub threads: u64,
    pub processes: u64,
    /// Highest resident memory so far of any one process.
    pub rss_peak_bytes: u64,
    pub warnings: Vec<Warning>,
}

/// Reads every process of the group, unless `is_over`: many take so long that they may end meanwhile. `None` where
/// none is left, or not all could be read.
pub fn read(group: &dyn Group, is_over: &dyn Fn() -> bool) -> Option<Reading> {
    let pids = group.processes();
    // The kernel's list, as it stood when the reading began: who ends while others are looked at was there.
    let mut reading = Reading { processes: pids.len() as u64, ..Reading::default() };
    let mut sum = procfs::Rollup::default();
    let mut page_tables = 0;
    let mut any_read = false;
    for pid in &pids {
        if is_over() {
            return None;
        }
        // A process may end while we look at the others.
        let (Ok(rollup), Ok(status)) = (procfs::rollup(*pid), procfs::status(*pid)) else { continue };
        any_read = true;
        reading.threads += status.threads;
        reading.rss_peak_bytes = reading.rss_peak_bytes.max(status.rss_peak);
        page_tables += status.page_tables;
        sum.rss += rollup.rss;
        sum.pss += rollup.pss;
        sum.pss_anon += rollup.pss_anon;
        sum.pss_file += rollup.pss_file;
        sum.pss_shmem += rollup.pss_shmem;
        sum.anonymous += rollup.anonymous;
        sum.lazy_free += rollup.lazy_free;
        sum.swap += rollup.swap;
    }
    if !any_read {
        return None;
    }
    let account = group.kernel_account();
    // One process without shared memory: all its pages that are not anonymous are a file's. Several: a file's page that
    // two of them map is there once. Of a large family only some are walked: what the others alone have mapped is in the
    // kernel's own sum, which leaves out only what is shared with processes of others.
    let files = match reading.processes > 1 || sum.pss_shmem > 0 {
        true => mapped_files(&pids, is_over)?.at_least(sum.pss_file),
        false => MappedFiles { bytes: sum.rss.saturating_sub(sum.anonymous), pss_on_tmpfs: 0 },
    };
    // The group also knows shared memory that nobody maps at this instant.
    let shmem_bytes = sum.pss_shmem.saturating_sub(files.pss_on_tmpfs).max(account.shmem.unwrap_or(0));

    let stack_bytes = THREAD_STACK_BYTES.map(|bytes| bytes.max(rustix::param::page_size() as u64));
    let kernel_stacks = stack_bytes.map(|bytes| bytes * reading.threads);
    let known = kernel_stacks.unwrap_or(0) + page_tables;
    let kernel_bytes = match account.kernel {
        Some(kernel) if kernel >= known => kernel,
        Some(_) => {
            reading.warnings.push(Warning::KernelAccountStale);
            known
        }
        None => known,
    };
    if group.source() == MemorySource::Proc {
        reading.warnings.push(Warning::NoControlGroup);
    }
    if sum.swap > 0 {
        reading.warnings.push(Warning::Swapped);
    }
    reading.memory = Plateau {
        footprint_bytes: sum.pss_anon + shmem_bytes + files.bytes + kernel_bytes,
        anon_bytes: sum.pss_anon,
        shmem_bytes,
        file_bytes: files.bytes,
        kernel_bytes,
        // The first process was forked before it joined: its own stack is charged to the launcher's group.
        kernel_stack_bytes: account.kernel_stack.max(kernel_stacks),
        page_tables_bytes: Some(account.page_tables.unwrap_or(0).max(page_tables)),
        slab_bytes: account.slab,
        sock_bytes: account.sock,
        rss_bytes: Some(sum.rss),
        pss_bytes: Some(sum.pss),
        swap_bytes: Some(sum.swap),
        lazy_free_bytes: Some(sum.lazy_free),
        group_bytes: account.charged,
    };
    Some(reading)
}
