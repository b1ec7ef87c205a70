//! The cgroup of one run: what its processes used, under v1, v2, or without cgroups.
//!
//! All sizes in bytes, all times in seconds. Unavailable values are `None`.

mod group;
mod none;
mod root;
mod tree;
mod v1;
mod v2;

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

pub use group::batches_bytes;
pub(super) use group::online_processors;
use group::write_control;
pub use group::{CpuReading, Group, GroupBounds, KernelAccount, MemoryWant};
pub use root::GroupRoot;
pub(super) use root::own_folders;
pub(super) use tree::{join, remove_folders};

/// Kills every process in the cgroups and below, for up to a second: at once by `cgroup.kill`, or else one by
/// one with forks forbidden.
pub(super) fn kill_all(folders: &[PathBuf]) {
    for folder in folders {
        // Fails before Linux 5.14, which has no such file. The loop below kills one by one.
        let _ = write_control(&folder.join("cgroup.kill"), 1);
        // A fork bomb ends when it can no longer fork. Fails without a pids controller.
        let _ = write_control(&folder.join("pids.max"), 0);
    }
    for _ in 0..200 {
        // Visit every folder, even if another had processes.
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
