//! cgroup v1: a folder in each of several hierarchies. Files and their meaning: the kernel's
//! Documentation/admin-guide/cgroup-v1/memory.rst.

use std::fs;
use std::io;
use std::path::PathBuf;

use super::group::{
    CpuReading, Group, GroupBounds, KernelAccount, MemoryWant, keyed, update_counters_by_touching,
    write_control,
};
use super::tree;
use crate::MemorySource;
use crate::procfs::number;

/// The folders of a cgroup, or the parents in which cgroups are created. Only memory is required.
pub struct GroupV1 {
    pub memory: PathBuf,
    pub cpuacct: Option<PathBuf>,
    pub pids: Option<PathBuf>,
}

impl GroupV1 {
    pub fn create(parents: &GroupV1, name: &str, bounds: GroupBounds) -> io::Result<GroupV1> {
        let memory = parents.memory.join(name);
        fs::create_dir(&memory)?;
        let optional = |parent: &Option<PathBuf>| {
            let folder = parent.as_ref()?.join(name);
            fs::create_dir(&folder).ok().map(|()| folder)
        };
        let group = GroupV1 { cpuacct: optional(&parents.cpuacct), pids: optional(&parents.pids), memory };
        group.bound(bounds).inspect_err(|_| {
            let _ = tree::remove_folders(&group.folders());
        })?;
        Ok(group)
    }

    fn bound(&self, bounds: GroupBounds) -> io::Result<()> {
        // Count cgroups that the program creates inside as part of its own. Always on since Linux 5.11. Before,
        // it can be set only while there are none.
        let _ = write_control(&self.memory.join("memory.use_hierarchy"), 1);
        if let Some(bytes) = bounds.memory_bytes {
            write_control(&self.memory.join("memory.limit_in_bytes"), bytes)?;
            // The same limit including swap, so that no memory can hide there. Absent if swap is not accounted.
            let _ = write_control(&self.memory.join("memory.memsw.limit_in_bytes"), bytes);
        }
        let _ = write_control(&self.memory.join("memory.swappiness"), 0);
        // No limit, but the kernel counts TCP buffers only after a limit was written. Since Linux 6.12 it logs
        // that this file is deprecated.
        let _ = write_control(&self.memory.join("memory.kmem.tcp.limit_in_bytes"), -1);
        if let (Some(threads), Some(pids)) = (bounds.threads, &self.pids) {
            write_control(&pids.join("pids.max"), threads)?;
        }
        Ok(())
    }

    /// The kernel's current values, which may lag.
    fn account(&self) -> KernelAccount {
        let tcp = self.number("memory.kmem.tcp.usage_in_bytes");
        let stat = fs::read_to_string(self.memory.join("memory.stat")).unwrap_or_default();
        // Values with `total_` include the cgroups below.
        let shmem = keyed(&stat, "total_shmem");
        KernelAccount {
            anon: keyed(&stat, "total_rss"),
            file_mapped: keyed(&stat, "total_mapped_file"),
            cache: keyed(&stat, "total_cache").map(|cache| cache.saturating_sub(shmem.unwrap_or(0))),
            swap: keyed(&stat, "total_swap"),
            kernel: self.number("memory.kmem.usage_in_bytes").map(|kernel| kernel + tcp.unwrap_or(0)),
            sock: tcp,
            shmem,
            charged: self.memory_now(),
            // v1 does not itemize kernel memory: its parts come from /proc.
            ..KernelAccount::default()
        }
    }

    fn number(&self, name: &str) -> Option<u64> {
        number(self.memory.join(name))
    }
}

impl Group for GroupV1 {
    fn source(&self) -> MemorySource {
        MemorySource::CgroupV1
    }

    fn folders(&self) -> Vec<PathBuf> {
        std::iter::once(&self.memory).chain(&self.cpuacct).chain(&self.pids).cloned().collect()
    }

    fn cpu(&self) -> Option<CpuReading> {
        // Exact to the nanosecond. On most kernels usage_user and usage_sys count whole timer ticks, too coarse
        // for a phase of a short run.
        let usage_ns = number(self.cpuacct.as_ref()?.join("cpuacct.usage"))?;
        Some(CpuReading { total_s: usage_ns as f64 / 1e9, user_share: None })
    }

    // TCP buffers have a separate counter and are in no other value.

    fn memory_now(&self) -> Option<u64> {
        let tcp = self.number("memory.kmem.tcp.usage_in_bytes").unwrap_or(0);
        Some(self.number("memory.usage_in_bytes")? + tcp)
    }

    /// Too high if TCP buffers and the rest did not peak at the same time.
    fn memory_peak(&self) -> Option<u64> {
        let tcp = self.number("memory.kmem.tcp.max_usage_in_bytes").unwrap_or(0);
        Some(self.number("memory.max_usage_in_bytes")? + tcp)
    }

    fn memory_in_use(&self) -> Option<u64> {
        self.account().in_use()
    }

    fn kernel_account(&self) -> KernelAccount {
        update_counters_by_touching(&self.memory);
        self.account()
    }

    fn memory_want(&self) -> MemoryWant {
        let control = fs::read_to_string(self.memory.join("memory.oom_control")).unwrap_or_default();
        // The cap is set on both, and memory with swap is charged first. Linux 6.18 has neither counter.
        let met = ["memory.failcnt", "memory.memsw.failcnt"].map(|name| self.number(name));
        MemoryWant {
            // Counted in the cgroup of the killed process, wherever the cap is set.
            oom_kills: tree::sum(&self.memory, "memory.oom_control", |text| keyed(text, "oom_kill"))
                .unwrap_or(0),
            cap_hit: met.into_iter().flatten().any(|times| times > 0),
            out_of_memory: keyed(&control, "under_oom").is_some_and(|under| under > 0),
            bounded_peak_bytes: self.number("memory.max_usage_in_bytes"),
        }
    }

    fn refused_threads(&self) -> Option<u64> {
        // Counted in the cgroup of the refused process, wherever the limit is set.
        tree::sum(self.pids.as_ref()?, "pids.events", |text| keyed(text, "max"))
    }
}
