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
        let times = self.processes().into_iter().filter_map(procfs::cpu_times);
        let (user_s, system_s) = times.fold((0.0, 0.0), |sum, times| (sum.0 + times.0, sum.1 + times.1));
        Some(CpuReading::of(user_s, system_s))
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

    fn refused_threads(&self) -> Option<u64> {
        None
    }
}
