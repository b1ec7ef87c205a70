//! Operations on a cgroup and those below it, because programs may create cgroups. For v1 and v2.
//!
//! Folders are walked by descriptor, one level at a time, because the path of a deeply nested cgroup would be
//! too long for the kernel. Only one level is open at any time.

use std::collections::BTreeSet;
use std::ffi::{CStr, CString};
use std::fs::File;
use std::io::{self, Read};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use rustix::fs::{AtFlags, CWD, Dir, FileType, Mode, OFlags, chmodat, fstat, openat, unlinkat};
use rustix::io::Errno;

use crate::procfs;

/// How long the kernel may take to release a cgroup whose processes have ended.
const REMOVAL_TIMEOUT: Duration = Duration::from_secs(10);
/// Minimum number of attempts, because the machine may have been paused for that time.
const MIN_TRIES: u32 = 20;

/// The processes in `folder` and in the groups below it, each once.
pub(super) fn processes(folder: &Path) -> Vec<u32> {
    let mut pids = Vec::new();
    // A group may vanish while it is listed; then it has no processes.
    let _ = walk(folder, |group| pids.extend(listed(group)), |_, _| Ok(()));
    pids.sort_unstable();
    pids.dedup();
    pids
}

/// Inode numbers of `folder` and of the groups below it, by which the kernel names groups.
pub(super) fn inodes(folder: &Path) -> BTreeSet<u64> {
    let mut inodes = BTreeSet::new();
    let _ = walk(folder, |group| inodes.extend(fstat(group).map(|stat| stat.st_ino)), |_, _| Ok(()));
    inodes
}

/// The sum of a counter over `folder` and the cgroups below it, for counters that the kernel keeps per cgroup.
pub(super) fn sum(folder: &Path, file: &str, figure: impl Fn(&str) -> Option<u64>) -> Option<u64> {
    let mut sum = None;
    let add = |group: BorrowedFd| {
        let found = figure(&text_in(group, file));
        sum = sum.into_iter().chain(found).reduce(u64::saturating_add);
    };
    let _ = walk(folder, add, |_, _| Ok(()));
    sum
}

/// Joins the cgroup of a `cgroup.procs` file. Allocates nothing, so that it may be called between fork and exec.
pub fn join(procs: &CStr) -> io::Result<()> {
    let descriptor = rustix::fs::open(procs, OFlags::WRONLY | OFlags::CLOEXEC, Mode::empty())?;
    match rustix::io::write(descriptor, b"0")? {
        1 => Ok(()),
        _ => Err(io::ErrorKind::WriteZero.into()),
    }
}

/// Kills every process in `folder` and in the groups below it, once. Returns whether there was any.
pub(super) fn kill(folder: &Path) -> bool {
    let pids = processes(folder);
    procfs::kill(&pids);
    !pids.is_empty()
}

/// Removes `folder` and the cgroups below it, innermost first. Retries for ten seconds, because the kernel
/// refuses until ended processes are fully gone.
pub(super) fn remove(folder: &Path) -> io::Result<()> {
    let deadline = Instant::now() + REMOVAL_TIMEOUT;
    let below = walk(folder, |_| (), |parent, name| remove_one(parent, name, deadline));
    match below {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
        Ok(()) => remove_one(CWD, folder, deadline),
    }
}

fn remove_one(parent: BorrowedFd, name: impl rustix::path::Arg + Copy, deadline: Instant) -> io::Result<()> {
    let mut wait = Duration::from_millis(1);
    for tries in 1.. {
        match unlinkat(parent, name, AtFlags::REMOVEDIR) {
            Ok(()) | Err(Errno::NOENT) => break,
            Err(Errno::BUSY) if tries < MIN_TRIES || Instant::now() <= deadline => thread::sleep(wait),
            Err(error) => return Err(error.into()),
        }
        wait = (wait * 2).min(Duration::from_millis(5));
    }
    Ok(())
}

/// Visits `top` and every cgroup below it: calls `enter` for each, and `leave` with the parent and the name
/// after the children of each one below `top`. Skips cgroups that vanish meanwhile.
fn walk(
    top: &Path,
    mut enter: impl FnMut(BorrowedFd),
    mut leave: impl FnMut(BorrowedFd, &CString) -> io::Result<()>,
) -> io::Result<()> {
    let mut here = open(CWD, top)?;
    enter(here.as_fd());
    // For each level from `top` to `here`: the children still to visit, and the name of the cgroup entered.
    let mut levels = vec![children(&here)?];
    let mut names: Vec<CString> = Vec::new();
    while let Some(to_come) = levels.last_mut() {
        match to_come.pop() {
            Some(name) => match open_whatever_its_mode(here.as_fd(), &name) {
                Ok(child) => {
                    here = child;
                    enter(here.as_fd());
                    levels.push(children(&here)?);
                    names.push(name);
                }
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                Err(error) => return Err(error),
            },
            None => {
                levels.pop();
                if let Some(name) = names.pop() {
                    here = open(here.as_fd(), c"..")?;
                    leave(here.as_fd(), &name)?;
                }
            }
        }
    }
    Ok(())
}

fn open(parent: BorrowedFd, name: impl rustix::path::Arg) -> io::Result<OwnedFd> {
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(openat(parent, name, flags, Mode::empty())?)
}

/// Opens a cgroup even if the program, which runs as the same user, removed that user's permissions.
fn open_whatever_its_mode(parent: BorrowedFd, name: &CString) -> io::Result<OwnedFd> {
    open(parent, name).or_else(|error| {
        if error.kind() != io::ErrorKind::PermissionDenied {
            return Err(error);
        }
        chmodat(parent, name, Mode::RWXU, AtFlags::empty())?;
        open(parent, name)
    })
}

fn children(group: &OwnedFd) -> io::Result<Vec<CString>> {
    let mut names = Vec::new();
    // Most programs create no cgroups. A folder without subfolders has two links, and checking that is far
    // cheaper than listing its files.
    if fstat(group)?.st_nlink == 2 {
        return Ok(names);
    }
    for entry in Dir::read_from(group)? {
        let entry = entry?;
        let name = entry.file_name();
        if entry.file_type() == FileType::Directory && name != c"." && name != c".." {
            names.push(name.to_owned());
        }
    }
    Ok(names)
}

fn text_in(group: BorrowedFd, file: &str) -> String {
    let mut text = String::new();
    let opened = openat(group, file, OFlags::RDONLY | OFlags::CLOEXEC, Mode::empty());
    // Absent if the kernel or the controllers lack the file. In a threaded cgroup, the list of processes is
    // unreadable (EOPNOTSUPP), but the cgroup above has it.
    let _ = opened.map(|file| File::from(file).read_to_string(&mut text));
    text
}

fn listed(group: BorrowedFd) -> Vec<u32> {
    text_in(group, "cgroup.procs").lines().filter_map(|line| line.parse().ok()).collect()
}

/// Removes cgroups and those below them.
pub fn remove_folders(folders: &[PathBuf]) -> io::Result<()> {
    // Try each, even after an error.
    folders.iter().map(|folder| remove(folder)).fold(Ok(()), io::Result::and)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    fn folders(top: &Path, names: &[&str]) {
        for name in names {
            fs::create_dir_all(top.join(name)).unwrap();
        }
    }

    #[test]
    fn nested_cgroups_are_listed_and_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().join("run-1");
        folders(&top, &["a/b/c", "a/d", "e"]);
        for (place, pids) in [("", "7\n3\n"), ("a/b/c", "5\n"), ("e", "3\n9\n")] {
            fs::write(top.join(place).join("cgroup.procs"), pids).unwrap();
            fs::write(top.join(place).join("pids.events"), "max 2\n").unwrap();
        }
        assert_eq!(processes(&top), [3, 5, 7, 9]);
        let max = |text: &str| text.strip_prefix("max ")?.trim().parse().ok();
        assert_eq!(sum(&top, "pids.events", max), Some(6));
        assert_eq!(sum(&top, "memory.oom_control", max), None);
        // A real cgroup's files vanish with it. These do not.
        for place in ["", "a/b/c", "e"] {
            fs::remove_file(top.join(place).join("cgroup.procs")).unwrap();
            fs::remove_file(top.join(place).join("pids.events")).unwrap();
        }
        remove(&top).unwrap();
        assert!(!top.exists());
        remove(&top).unwrap();
        assert_eq!(processes(&top), [0; 0]);
    }

    #[test]
    fn cgroups_nested_deeper_than_path_max_are_removed() {
        let temporary = tempfile::tempdir().unwrap();
        let top = temporary.path().join("run-1");
        fs::create_dir(&top).unwrap();
        let long = CString::new(vec![b'n'; 200]).unwrap();
        let mut here = open(CWD, &top).unwrap();
        for _ in 0..50 {
            rustix::fs::mkdirat(&here, &long, Mode::RWXU).unwrap();
            here = open(here.as_fd(), &long).unwrap();
        }
        drop(here);
        remove(&top).unwrap();
        assert!(!top.exists());
    }

    #[test]
    fn symlinks_are_not_listed_as_cgroups() {
        let temporary = tempfile::tempdir().unwrap();
        folders(temporary.path(), &["run-1/a"]);
        std::os::unix::fs::symlink("/", temporary.path().join("run-1/link")).unwrap();
        let found = children(&open(CWD, temporary.path().join("run-1")).unwrap()).unwrap();
        assert_eq!(found, [CString::new("a").unwrap()]);
    }
}
