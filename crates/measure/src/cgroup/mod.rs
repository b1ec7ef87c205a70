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
pub(super) use tree::remove_folders;

/// Kills every process in the cgroups and below: at once by `cgroup.kill`, or else one by one with new ones forbidden,
/// until none is left.
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
