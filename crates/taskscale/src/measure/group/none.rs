//! No control group at all: what /proc tells of the processes below the launcher.

use std::path::PathBuf;

use super::{CpuReading, Group, KernelAccount};
use crate::measure::procfs;
use crate::record::MemorySource;

#[derive(Default)]
pub struct NoGroup {
    launcher: Option<u32>,
}

impl Group for NoGroup {
    fn source(&self) -> MemorySource {
        MemorySource::Proc
    }

    fn join_files(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn folders(&self) -> Vec<PathBuf> {
        Vec::new()
    }

    fn processes(&self) -> Vec<u32> {
        self.launcher.map(procfs::descendants).unwrap_or_default()
    }

    fn cpu(&self) -> Option<CpuReading> {
        let mut sum = CpuReading::default();
        for pid in self.processes() {
            if let Some((user, system)) = procfs::cpu_times(pid) {
                sum.user_s += user;
                sum.system_s += system;
            }
        }
        Some(sum)
    }

    fn memory_now(&self) -> Option<u64> {
        Some(
            self.processes()
                .into_iter()
                .filter_map(|pid| procfs::status(pid).ok())
                .map(|status| status.rss)
                .sum(),
        )
    }

    fn memory_peak(&self) -> Option<u64> {
        None
    }

    fn kernel_account(&self) -> KernelAccount {
        KernelAccount::default()
    }

    fn oom_kills(&self) -> u64 {
        0
    }

    fn enforces_memory_cap(&self) -> bool {
        false
    }

    fn refused_threads(&self) -> u64 {
        0
    }
}
