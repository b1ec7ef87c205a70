//! What may be left behind: processes and cgroups.

use std::fs;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A living process with a pidfd, which means this process even if its number is used again.
#[derive(Clone, Debug)]
pub struct LeftProcess {
    pub pid: u32,
    pub command: String,
    handle: Arc<OwnedFd>,
}

impl LeftProcess {
    /// Sends a signal to this very process, if it still lives.
    pub fn kill(&self, signal: i32) {
        // SAFETY: a plain system call on a descriptor that is open for as long as `self` lives.
        unsafe {
            libc::syscall(
                libc::SYS_pidfd_send_signal,
                self.handle.as_raw_fd(),
                signal,
                std::ptr::null::<()>(),
                0,
            );
        }
    }

    /// Whether it waits or is gone: it is neither running nor about to run.
    pub fn is_at_rest(&self) -> bool {
        !matches!(stat_field::<char>(self.pid, 0), Some('R' | 'D'))
    }

    pub fn parent(&self) -> Option<u32> {
        stat_field(self.pid, 1)
    }
}

/// Every living process that runs `program`.
pub fn processes(program: &Path) -> Vec<LeftProcess> {
    let numbers = fs::read_dir("/proc").into_iter().flatten().flatten();
    numbers
        .filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok())
        .filter_map(|pid| {
            if !runs(pid, program) {
                return None;
            }
            // SAFETY: a plain system call. A result that is not negative is a new descriptor.
            let descriptor = unsafe { libc::syscall(libc::SYS_pidfd_open, pid, 0) };
            if descriptor < 0 {
                return None;
            }
            // SAFETY: nothing else owns it.
            let handle = unsafe { OwnedFd::from_raw_fd(descriptor as i32) };
            // Checked again, as the number may have been reused before the pidfd was opened.
            let command = fs::read(format!("/proc/{pid}/cmdline")).ok()?;
            let command = String::from_utf8_lossy(&command).replace('\0', " ");
            runs(pid, program).then(|| LeftProcess { pid, command, handle: Arc::new(handle) })
        })
        .collect()
}

/// Whether a process runs `program`. A zombie runs none and does not count.
fn runs(pid: u32, program: &Path) -> bool {
    fs::read_link(format!("/proc/{pid}/exe")).is_ok_and(|exe| exe == program)
}

/// When a process started, in clock ticks since boot.
pub fn start_ticks(pid: u32) -> Option<u64> {
    stat_field(pid, 19)
}

fn stat_field<T: std::str::FromStr>(pid: u32, index: usize) -> Option<T> {
    let text = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    text[text.rfind(')')? + 1..].split_ascii_whitespace().nth(index)?.parse().ok()
}

/// Cgroups of any version with one of these names.
pub fn groups(names: &[String]) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut next = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = next.pop() {
        for child in fs::read_dir(folder).into_iter().flatten().flatten() {
            if !child.file_type().is_ok_and(|kind| kind.is_dir()) {
                continue;
            }
            let name = child.file_name().to_string_lossy().into_owned();
            // A leaf `…-self` was taskscale's own. systemd removes it with the scope around it.
            if names.contains(&name) {
                found.push(child.path());
            } else {
                next.push(child.path());
            }
        }
    }
    found
}
