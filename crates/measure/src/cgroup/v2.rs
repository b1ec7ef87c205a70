//! cgroup v2. Files and their meaning: the kernel's Documentation/admin-guide/cgroup-v2.rst.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use super::group::{
    CpuReading, Group, GroupBounds, KernelAccount, MemoryWant, batches_bytes, keyed,
    update_counters_by_touching, write_control,
};
use super::tree;
use crate::MemorySource;
use crate::procfs::{kernel_is_at_least, number};

/// Maximum number of cgroups that a program may create inside its own. v1 has only the memory cap.
const MAX_GROUPS_BELOW: u64 = 1000;

/// Enables the controllers that taskscale needs for the children of `folder`: memory always, pids if available.
pub fn enable_controllers(folder: &Path) -> io::Result<()> {
    let control = folder.join("cgroup.subtree_control");
    let enabled = fs::read_to_string(&control)?;
    let has = |name: &str| enabled.split_whitespace().any(|word| word == name);
    if !has("memory") {
        write_control(&control, "+memory")?;
    }
    if !has("pids") {
        // Limiting threads protects the machine, but measuring does not need it.
        let _ = write_control(&control, "+pids");
    }
    Ok(())
}

pub struct GroupV2 {
    folder: PathBuf,
    has_peak: bool,
}

impl GroupV2 {
    pub fn create(folder: PathBuf, bounds: GroupBounds) -> io::Result<GroupV2> {
        fs::create_dir(&folder)?;
        // Since Linux 5.19. Tests set `TASKSCALE_CGROUP=no-peak` to do without it, like an older kernel.
        let wanted = std::env::var_os("TASKSCALE_CGROUP").is_none_or(|value| value != "no-peak");
        let group = GroupV2 { has_peak: wanted && folder.join("memory.peak").exists(), folder };
        group.bound(bounds).inspect_err(|_| {
            let _ = fs::remove_dir(&group.folder);
        })?;
        Ok(group)
    }

    fn bound(&self, bounds: GroupBounds) -> io::Result<()> {
        if let Some(bytes) = bounds.memory_bytes {
            write_control(&self.folder.join("memory.max"), bytes)?;
            // Out of memory kills the whole run, not just its largest process. Since Linux 4.19.
            let _ = write_control(&self.folder.join("memory.oom.group"), 1);
        }
        // Forbid swap, which the cgroup's memory values omit. Fails harmlessly on a kernel without swap.
        let _ = write_control(&self.folder.join("memory.swap.max"), 0);
        // taskscale walks cgroups inside a run's, and the kernel keeps memory for them after their removal.
        let _ = write_control(&self.folder.join("cgroup.max.descendants"), MAX_GROUPS_BELOW);
        if let Some(threads) = bounds.threads {
            // Fails where the pids controller is not delegated.
            let _ = write_control(&self.folder.join("pids.max"), threads);
        }
        Ok(())
    }

    /// Makes the kernel sum its per-CPU counters for this cgroup. Otherwise memory.stat lags by 64 pages per
    /// CPU or more, for up to two seconds.
    ///
    /// Before Linux 6.16, reading cpu.stat does that for all controllers (cgroup_rstat_flush). Since then each
    /// controller has separate counters.
    fn update_counters(&self) {
        match kernel_is_at_least((6, 16)) {
            false => drop(self.text("cpu.stat")),
            true => update_counters_by_touching(&self.folder),
        }
    }

    fn text(&self, name: &str) -> String {
        fs::read_to_string(self.folder.join(name)).unwrap_or_default()
    }
}

impl Group for GroupV2 {
    fn source(&self) -> MemorySource {
        MemorySource::CgroupV2
    }

    fn folders(&self) -> Vec<PathBuf> {
        vec![self.folder.clone()]
    }

    fn cpu(&self) -> Option<CpuReading> {
        // Present in every group, whether or not the cpu controller is enabled.
        let text = self.text("cpu.stat");
        let seconds = |key| keyed(&text, key).map(|microseconds| microseconds as f64 / 1e6);
        Some(CpuReading::of(seconds("user_usec")?, seconds("system_usec")?))
    }

    fn memory_now(&self) -> Option<u64> {
        number(self.folder.join("memory.current"))
    }

    fn memory_in_use(&self) -> Option<u64> {
        parse_stat(&self.text("memory.stat"), self.memory_now(), 0).in_use()
    }

    fn memory_peak(&self) -> Option<u64> {
        if self.has_peak { number(self.folder.join("memory.peak")) } else { None }
    }

    fn kernel_account(&self) -> KernelAccount {
        self.update_counters();
        let account = parse_stat(&self.text("memory.stat"), self.memory_now(), batches_bytes());
        KernelAccount { swap: number(self.folder.join("memory.swap.current")), ..account }
    }

    fn memory_want(&self) -> MemoryWant {
        // `local` (since Linux 5.2) reports only the cap of this cgroup, not those that the program set below.
        let whole = self.text("memory.events");
        let local = Some(self.text("memory.events.local")).filter(|text| !text.is_empty());
        let own = local.as_ref().unwrap_or(&whole);
        MemoryWant {
            oom_kills: keyed(&whole, "oom_kill").unwrap_or(0),
            cap_hit: keyed(own, "max").is_some_and(|times| times > 0),
            out_of_memory: keyed(own, "oom").is_some_and(|times| times > 0),
            bounded_peak_bytes: self.memory_peak(),
        }
    }

    fn refused_threads(&self) -> Option<u64> {
        // Since Linux 6.11 `local` counts refusals by this cgroup's limit. Before, each cgroup counted those of
        // its own processes, wherever the limit was set.
        keyed(&self.text("pids.events.local"), "max")
            .or_else(|| tree::sum(&self.folder, "pids.events", |text| keyed(text, "max")))
    }
}

/// Parses memory.stat. `ahead`: how far the charge may run ahead of use, in bytes.
fn parse_stat(stat: &str, charged: Option<u64>, ahead: u64) -> KernelAccount {
    let kernel_stack = keyed(stat, "kernel_stack");
    let page_tables = keyed(stat, "pagetables");
    let slab = keyed(stat, "slab");
    let sock = keyed(stat, "sock");
    // `kernel` (since Linux 5.18) is everything except sockets. Before, the larger of two estimates: the sum of
    // the known parts, which omits memory outside slabs (pipes, buffers of Unix sockets), and the charge minus
    // pages of programs and files, sockets and `ahead`.
    let kernel = keyed(stat, "kernel").or_else(|| {
        let parts = [kernel_stack, page_tables, slab, keyed(stat, "percpu")];
        let sum = parts.iter().any(Option::is_some).then(|| parts.into_iter().flatten().sum::<u64>());
        let pages = [keyed(stat, "anon"), keyed(stat, "file"), sock].into_iter().flatten().sum();
        sum.max(charged.map(|charged| charged.saturating_sub(pages).saturating_sub(ahead)))
    });
    let shmem = keyed(stat, "shmem");
    KernelAccount {
        anon: keyed(stat, "anon"),
        file_mapped: keyed(stat, "file_mapped"),
        cache: keyed(stat, "file").map(|file| file.saturating_sub(shmem.unwrap_or(0))),
        swap: None,
        kernel: kernel.map(|kernel| kernel + sock.unwrap_or(0)),
        kernel_stack,
        page_tables,
        slab,
        sock,
        shmem,
        charged,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kernel_memory_includes_sockets() {
        let stat = "anon 9\nkernel 100\nkernel_stack 60\npagetables 30\nsock 7\nshmem 5\nslab 8\nslab_reclaimable 1\n";
        let account = parse_stat(stat, Some(500), 0);
        assert_eq!((account.kernel, account.anon), (Some(107), Some(9)));
        assert_eq!(
            (account.slab, account.sock, account.shmem, account.charged),
            (Some(8), Some(7), Some(5), Some(500))
        );
    }

    #[test]
    fn unmapped_page_cache_is_not_in_use() {
        let stat = "anon 100\nfile 900\nshmem 50\nfile_mapped 60\n";
        assert_eq!(parse_stat(stat, Some(1_100), 0).in_use(), Some(1_100 - 850 + 60));
        // Anonymous memory replaces page cache: the charge is the same, but more is in use.
        let later = "anon 600\nfile 400\nshmem 50\nfile_mapped 60\n";
        assert_eq!(parse_stat(later, Some(1_100), 0).in_use(), Some(1_100 - 350 + 60));
    }

    #[test]
    fn before_5_18_kernel_memory_is_the_sum_of_its_parts() {
        let stat = "anon 9\nkernel_stack 60\npagetables 30\npercpu 2\nsock 7\nslab 8\n";
        assert_eq!(parse_stat(stat, None, 0).kernel, Some(107));
        // The charge is 400 more than all known parts, and 100 of that may be charged ahead.
        assert_eq!(parse_stat(stat, Some(516), 100).kernel, Some(407));
        assert_eq!(parse_stat(stat, Some(216), 100).kernel, Some(107));
    }
}
