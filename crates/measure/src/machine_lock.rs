//! One measurement at a time on a machine: two would disturb each other.
//!
//! The lock is that of a file (flock(2)): every process that can open the file, even only to read, can take the
//! lock, and the kernel releases it however its holder ends. The file is created readable and writable for all
//! users. If another user created it with other permissions, it is opened for reading. If it cannot be read,
//! taskscale does not wait, and reports that.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime};

use super::Interrupt;
use super::regular_file::require_regular;

/// Maximum number of bytes read from the file, which describes the holder in one line.
const LONGEST_HOLDER_BYTES: u64 = 1000;

/// The beginning of that line.
const MARK: &str = "taskscale ";

/// How often the holder is read again, because it may change.
const HOLDER_INTERVAL: Duration = Duration::from_secs(1);
/// How often taskscale tries to take the lock.
const TRY_EVERY: Duration = Duration::from_millis(100);

/// The process that holds the lock, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Holder {
    pub pid: Option<u32>,
    /// What it does, in its own words: `with results/DIR`.
    pub does: Option<String>,
    /// Its command line. Empty if unknown.
    pub command: Vec<String>,
    /// When it took the lock, if known.
    pub since: Option<SystemTime>,
}

/// The lock, or why the machine is not locked. Released on drop.
#[derive(Debug)]
pub struct MachineLock {
    held: Result<File, String>,
}

impl MachineLock {
    /// Waits until no other taskscale of any user measures on this machine. While it waits, `waiting` is called
    /// at once and then every second, with the holder and the time waited, and returns whether to keep waiting.
    /// Returns `None` if it returns false, or the user interrupts. `what` describes this process to others that
    /// wait. If the machine cannot be locked, returns at once, and `why_not` has the reason.
    pub fn acquire(
        what: &str,
        interrupt: &Interrupt,
        mut waiting: impl FnMut(&Holder, Duration) -> bool,
    ) -> Option<MachineLock> {
        let path = lock_path();
        let begun = Instant::now();
        let mut looked: Option<Instant> = None;
        loop {
            let mut file = match open(&path) {
                Ok(file) => file,
                Err(error) => return Some(MachineLock::none("open", &path, &error)),
            };
            match file.try_lock() {
                Ok(()) if is_at(&file, &path) => {
                    let there = text_of(&file);
                    if !there.is_empty() && !there.starts_with(MARK) {
                        let error =
                            io::Error::new(io::ErrorKind::InvalidInput, "not a lock file of taskscale");
                        return Some(MachineLock::none("lock", &path, &error));
                    }
                    // Best effort for those that wait: the disk may be full, and the file may not be writable.
                    let text = format!("{MARK}{} {what}", std::process::id());
                    let _ = file
                        .set_len(0)
                        .and_then(|()| file.rewind())
                        .and_then(|()| file.write_all(text.as_bytes()));
                    return Some(MachineLock { held: Ok(file) });
                }
                // The file was removed meanwhile (/tmp was cleaned): others will lock the new one.
                Ok(()) => continue,
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(error)) => return Some(MachineLock::none("lock", &path, &error)),
            }
            if looked.is_none_or(|instant| instant.elapsed() >= HOLDER_INTERVAL) {
                looked = Some(Instant::now());
                if !waiting(&holder(&file), begun.elapsed()) {
                    return None;
                }
            }
            if interrupt.signal().is_some() {
                return None;
            }
            std::thread::sleep(TRY_EVERY);
        }
    }

    /// No lock, as the user asked: taskscale does not wait.
    pub fn unwanted() -> MachineLock {
        MachineLock { held: Err("--no-lock".to_owned()) }
    }

    fn none(what: &str, path: &Path, error: &io::Error) -> MachineLock {
        MachineLock { held: Err(format!("cannot {what} {}: {error}", path.display())) }
    }

    /// Why the machine is not locked, if so.
    pub fn why_not(&self) -> Option<&str> {
        self.held.as_ref().err().map(String::as_str)
    }
}

/// Opens or makes the file, without following a planted link or waiting for a pipe.
fn open(path: &Path) -> io::Result<File> {
    let flags = libc::O_NOFOLLOW | libc::O_CLOEXEC | libc::O_NONBLOCK;
    let existing = |write| OpenOptions::new().read(true).write(write).custom_flags(flags).open(path);
    loop {
        // Without O_CREAT, which the kernel refuses for other users' files in a shared folder
        // (fs.protected_regular).
        let opened = match existing(true) {
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied => existing(false),
            opened => opened,
        };
        match opened {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {}
            opened => return opened.and_then(require_regular),
        }
        let mut new = OpenOptions::new();
        match new.read(true).write(true).create_new(true).custom_flags(flags).open(path) {
            Ok(file) => {
                // Override the umask, so that others can describe themselves here, or at least read.
                let _ = file.set_permissions(fs::Permissions::from_mode(0o666));
                return Ok(file);
            }
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            Err(error) => return Err(error),
        }
    }
}

/// Whether `path` still leads to `file`.
fn is_at(file: &File, path: &Path) -> bool {
    let id = |facts: io::Result<fs::Metadata>| facts.ok().map(|facts| (facts.dev(), facts.ino()));
    id(file.metadata()) == id(fs::symlink_metadata(path))
}

/// The holder of the lock, as it described itself, unless the kernel names another process: a holder that
/// cannot write to the file leaves an earlier description.
fn holder(file: &File) -> Holder {
    let text = text_of(file);
    let inode = file.metadata().map(|facts| facts.ino());
    let locks = fs::read_to_string("/proc/locks").unwrap_or_default();
    // The kernel shows no pid of another PID namespace.
    let known = inode.ok().and_then(|inode| pid_in(&locks, inode));
    let printed = text.strip_prefix(MARK).and_then(|rest| rest.split_once(' '));
    let printed = printed.and_then(|(pid, does)| Some((pid.parse::<u32>().ok()?, does.to_owned())));
    let does =
        printed.clone().filter(|(pid, _)| known.is_none_or(|known| known == *pid)).map(|(_, does)| does);
    let pid = known.or(printed.map(|(pid, _)| pid));
    // The holder writes once, when it has the lock.
    let since = does.as_ref().and_then(|_| file.metadata().ok()?.modified().ok());
    // Only the kernel's pid: one from the file may belong to another namespace.
    Holder { pid, does, command: known.map(command_of).unwrap_or_default(), since }
}

/// The text of the file. Empty if it cannot be read, which is no reason to stop waiting.
fn text_of(file: &File) -> String {
    let mut text = Vec::new();
    let mut reader = file;
    let _ = reader.rewind().and_then(|()| reader.take(LONGEST_HOLDER_BYTES).read_to_end(&mut text));
    String::from_utf8_lossy(&text).trim().to_owned()
}

/// The command line of a process. Empty if it cannot be read.
fn command_of(pid: u32) -> Vec<String> {
    let text = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let words = text.split(|byte| *byte == 0).map(|word| String::from_utf8_lossy(word).into_owned());
    let mut words: Vec<String> = words.collect();
    // The last word also ends with a 0.
    words.pop();
    words
}

/// The holder of a file's lock, from /proc/locks: `1: FLOCK  ADVISORY  WRITE 708 08:01:4711 0 EOF`.
fn pid_in(locks: &str, inode: u64) -> Option<u32> {
    locks.lines().find_map(|line| {
        let words: Vec<&str> = line.split_whitespace().collect();
        // A process that waits has an arrow in the second place.
        let [_, "FLOCK", _, "WRITE", pid, file, ..] = words[..] else { return None };
        let pid = pid.parse().ok().filter(|pid| *pid > 0)?;
        (file.rsplit(':').next()?.parse() == Ok(inode)).then_some(pid)
    })
}

/// One path for all users of the machine. Tests, which may measure side by side, name another in
/// `TASKSCALE_LOCK`.
fn lock_path() -> PathBuf {
    std::env::var_os("TASKSCALE_LOCK").map_or_else(|| PathBuf::from("/tmp/taskscale.lock"), PathBuf::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_is_shared_by_all_users_with_any_umask() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = open(&path).unwrap();
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o666);
        file.lock().unwrap();
        // A process that may only read can still wait for the lock.
        fs::set_permissions(&path, fs::Permissions::from_mode(0o444)).unwrap();
        let other = open(&path).unwrap();
        assert!(matches!(other.try_lock(), Err(TryLockError::WouldBlock)));
        assert!(is_at(&file, &path));
        fs::remove_file(&path).unwrap();
        assert!(!is_at(&file, &path));
    }

    #[test]
    fn lock_paths_that_are_not_files_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("/etc/passwd", &link).unwrap();
        assert!(open(&link).is_err());
        assert!(open(folder.path()).is_err());
        assert!(open(&folder.path().join("no/such/folder")).is_err());
    }

    #[test]
    fn the_holder_of_a_lock_is_found() {
        let locks = "1: POSIX  ADVISORY  WRITE 12 08:01:4711 0 EOF\n2: -> FLOCK  ADVISORY  WRITE 13 08:01:4711 0 EOF\n\
                     3: FLOCK  ADVISORY  WRITE 708 08:01:4711 0 EOF\n4: FLOCK  ADVISORY  WRITE 9 08:01:4712 0 EOF\n";
        assert_eq!(pid_in(locks, 4711), Some(708));
        assert_eq!(pid_in(locks, 1), None);
        assert_eq!(pid_in("", 4711), None);
        // The description of an earlier holder is ignored.
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        fs::write(&path, "taskscale 1 with results/x").unwrap();
        let file = open(&path).unwrap();
        file.lock().unwrap();
        let found = holder(&file);
        assert_eq!((found.pid, &found.does), (Some(std::process::id()), &None));
        assert!(!found.command.is_empty(), "{found:?}");
        fs::write(&path, format!("taskscale {} with results/y", std::process::id())).unwrap();
        let found = holder(&file);
        assert_eq!(found.does.as_deref(), Some("with results/y"));
        assert!(found.since.is_some_and(|since| since <= SystemTime::now()));
    }
}
