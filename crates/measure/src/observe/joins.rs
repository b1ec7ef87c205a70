//! Detects processes that join the run's cgroup. The launcher joins it once for the program, so later joins are
//! by processes that had left.
//!
//! All runs share one inotify instance: the kernel takes 13 ms to close one whose watches have just ended.

use std::collections::BTreeMap;
use std::mem::MaybeUninit;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};

use rustix::fs::inotify::{self, CreateFlags, ReadFlags, WatchFlags};

/// Watches for writes to the files by which processes and threads join.
pub(super) struct Joins {
    watches: Vec<i32>,
    /// Expected number of writes: one by the launcher to each folder.
    expected: usize,
}

const FILES: [&str; 3] = ["cgroup.procs", "cgroup.threads", "tasks"];

/// Watches of all runs.
struct Inotify {
    descriptor: OwnedFd,
    /// Number of writes to the file of each watch.
    writes: BTreeMap<i32, usize>,
}

impl Inotify {
    /// The shared instance. `None` if the kernel allows no more.
    fn lock() -> Option<MutexGuard<'static, Inotify>> {
        static ALL: OnceLock<Option<Mutex<Inotify>>> = OnceLock::new();
        let made = ALL.get_or_init(|| {
            let flags = CreateFlags::CLOEXEC | CreateFlags::NONBLOCK;
            let descriptor = inotify::init(flags).inspect_err(|error| {
                log::info!("cannot observe whether processes come back: {error}");
            });
            Some(Mutex::new(Inotify { descriptor: descriptor.ok()?, writes: BTreeMap::new() }))
        });
        made.as_ref().map(|all| all.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Counts the pending events.
    fn read(&mut self) {
        let mut buffer = [MaybeUninit::uninit(); 4096];
        let mut events = inotify::Reader::new(&self.descriptor, &mut buffer);
        while let Ok(event) = events.next() {
            if event.events().contains(ReadFlags::MODIFY)
                && let Some(writes) = self.writes.get_mut(&event.wd())
            {
                *writes += 1;
            }
        }
    }
}

impl Joins {
    pub fn of(folders: &[PathBuf]) -> Joins {
        let mut watches = Vec::new();
        if let Some(mut inotify) = Inotify::lock() {
            for file in folders.iter().flat_map(|folder| FILES.map(|name| folder.join(name))) {
                // CLOSE_WRITE keeps the kernel from merging two writes into one event. Skips missing files.
                let events = WatchFlags::MODIFY | WatchFlags::CLOSE_WRITE;
                if let Ok(watch) = inotify::add_watch(&inotify.descriptor, file, events) {
                    inotify.writes.insert(watch, 0);
                    watches.push(watch);
                }
            }
        }
        Joins { watches, expected: folders.len() }
    }

    /// Whether there was a join besides that of the launcher.
    pub fn has_rejoined(&self) -> bool {
        let Some(mut inotify) = Inotify::lock() else { return false };
        inotify.read();
        let writes: usize = self.watches.iter().filter_map(|watch| inotify.writes.get(watch)).sum();
        writes > self.expected
    }
}

impl Drop for Joins {
    fn drop(&mut self) {
        let Some(mut inotify) = Inotify::lock() else { return };
        for watch in &self.watches {
            inotify.writes.remove(watch);
            // A watch whose file is gone has ended by itself.
            let _ = inotify::remove_watch(&inotify.descriptor, *watch);
        }
        // Pending events of these watches would fill the queue.
        inotify.read();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn joins_after_the_launchers_are_detected() {
        let folder = tempfile::tempdir().unwrap();
        let folders = [folder.path().to_owned()];
        for name in FILES {
            fs::write(folder.path().join(name), "").unwrap();
        }
        let write = |name: &str| {
            use std::io::Write;
            let file = fs::OpenOptions::new().write(true).open(folder.path().join(name));
            file.unwrap().write_all(b"0").unwrap();
        };
        let joins = Joins::of(&folders);
        write("cgroup.procs");
        fs::read(folder.path().join("cgroup.procs")).unwrap();
        assert!(!joins.has_rejoined());
        let joins = Joins::of(&folders);
        write("cgroup.procs");
        write("cgroup.procs");
        assert!(joins.has_rejoined());
        let joins = Joins::of(&folders);
        write("cgroup.procs");
        write("tasks");
        assert!(joins.has_rejoined());
        assert!(!Joins::of(&[]).has_rejoined());
    }
}
