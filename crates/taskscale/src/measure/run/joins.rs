//! Who came into the run's control group. The launcher joins it once for the program; one who joins later had left.

use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::path::PathBuf;

/// Watches for writes to the files by which processes and threads join.
pub(super) struct Joins {
    watch: Option<OwnedFd>,
    /// The launcher writes once to each.
    expected: usize,
}

const FILES: [&str; 3] = ["cgroup.procs", "cgroup.threads", "tasks"];

impl Joins {
    pub fn of(folders: &[PathBuf]) -> Joins {
        let open = || {
            // SAFETY: makes a descriptor that is owned here alone.
            let watch = unsafe {
                let watch = libc::inotify_init1(libc::IN_CLOEXEC | libc::IN_NONBLOCK);
                (watch >= 0).then(|| OwnedFd::from_raw_fd(watch))?
            };
            for file in folders.iter().flat_map(|folder| FILES.map(|name| folder.join(name))) {
                let path = std::ffi::CString::new(file.as_os_str().as_bytes()).ok()?;
                // Two writes are two events, as each is followed by the end of another. A file that is not there joins nobody.
                let events = libc::IN_MODIFY | libc::IN_CLOSE_WRITE;
                // SAFETY: the path is valid and ends with a null.
                unsafe { libc::inotify_add_watch(watch.as_raw_fd(), path.as_ptr(), events) };
            }
            Some(watch)
        };
        Joins { watch: open(), expected: folders.len() }
    }

    /// Whether more processes joined than the launcher's.
    pub fn came_back(&self) -> bool {
        let Some(watch) = &self.watch else { return false };
        let mut buffer = [0; 4096];
        let mut writes = 0;
        while let Ok(length) = rustix::io::read(watch, &mut buffer) {
            if length == 0 {
                break;
            }
            // Events of files have no names, and so the length of their head.
            let heads = buffer[..length].chunks_exact(size_of::<libc::inotify_event>());
            let mask = |head: &[u8]| head[4..8].try_into().map_or(0, u32::from_ne_bytes);
            writes += heads.filter(|head| mask(head) & libc::IN_MODIFY != 0).count();
        }
        writes > self.expected
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_launcher_joins_once_and_who_comes_later_is_noted() {
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
        assert!(!joins.came_back());
        let joins = Joins::of(&folders);
        write("cgroup.procs");
        write("cgroup.procs");
        assert!(joins.came_back());
        let joins = Joins::of(&folders);
        write("cgroup.procs");
        write("tasks");
        assert!(joins.came_back());
        assert!(!Joins::of(&[]).came_back());
    }
}
