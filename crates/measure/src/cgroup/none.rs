//! The substitute for a cgroup: what /proc shows of the launcher's descendants.

use std::cell::RefCell;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use super::group::{CpuReading, Group, KernelAccount, MemoryWant};
use crate::MemorySource;
use crate::procfs;

/// How long sampling reuses a list of processes: finding them reads a file of every process on the machine.
const LIST_LIFE: Duration = Duration::from_millis(100);

#[derive(Default)]
pub struct NoGroup {
    launcher: Option<u32>,
    listed: RefCell<Option<(Instant, Vec<u32>)>>,
}

impl NoGroup {
    /// The processes as listed up to `LIST_LIFE` ago. Callers skip those that have ended since.
    fn recent_processes(&self) -> Vec<u32> {
        let mut listed = self.listed.borrow_mut();
        match &*listed {
            Some((at, pids)) if at.elapsed() < LIST_LIFE && !pids.is_empty() => pids.clone(),
            _ => {
                let pids = self.processes();
                *listed = Some((Instant::now(), pids.clone()));
                pids
            }
        }
    }
}

impl Group for NoGroup {
    fn source(&self) -> MemorySource {
        MemorySource::Proc
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
        let sizes = self.recent_processes().into_iter().filter_map(|pid| procfs::status(pid).ok());
        Some(sizes.map(|status| status.rss).sum())
    }

    fn memory_in_use(&self) -> Option<u64> {
        self.memory_now()
    }

    fn memory_peak(&self) -> Option<u64> {
        None
    }

    fn set_launcher(&mut self, pid: u32) {
        self.launcher = Some(pid);
    }

    fn kernel_account(&self) -> KernelAccount {
        KernelAccount::default()
    }

    fn memory_want(&self) -> MemoryWant {
        MemoryWant::default()
    }

    fn refused_threads(&self) -> Option<u64> {
        None
    }
}
