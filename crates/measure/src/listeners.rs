//! Checks by their descriptors whether processes have a server's sockets open.

use std::collections::BTreeSet;
use std::fs;

/// Whether some of these sockets (inode numbers) are open in none of the processes. `None` if unknown.
pub fn lack_sockets(pids: &[u32], mut sockets: BTreeSet<u64>) -> Option<bool> {
    let mut all_seen = !sockets.is_empty();
    for pid in pids {
        // Descriptors of another user, or of a process whose first thread has ended, are not shown.
        let mut files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().peekable();
        all_seen &= files.peek().is_some();
        for file in files {
            let Ok(target) = fs::read_link(file.path()) else { continue };
            let target = target.to_string_lossy();
            // An io_uring may own sockets without descriptors.
            all_seen &= !target.starts_with("anon_inode:[io_uring]");
            let inode = target.strip_prefix("socket:[").and_then(|rest| rest.strip_suffix(']'));
            if inode.and_then(|inode| inode.parse().ok()).is_some_and(|inode| sockets.remove(&inode))
                && sockets.is_empty()
            {
                return Some(false);
            }
        }
    }
    all_seen.then_some(true)
}

/// Whether the processes have fewer files open than there are connections, so that others have some of these. `None` if
/// unknown.
pub fn lack_connections(pids: &[u32], connections: u64) -> Option<bool> {
    let mut open = 0;
    for pid in pids {
        let folder = format!("/proc/{pid}/fd");
        // The size is the number since Linux 6.2, and 0 before.
        open += match fs::metadata(&folder).ok()?.len() {
            0 => fs::read_dir(&folder).ok()?.count() as u64,
            size => size,
        };
        if open >= connections {
            return Some(false);
        }
    }
    // With one more socket than there are descriptors, as of an io_uring, nothing is known.
    lack_sockets(pids, BTreeSet::from([u64::MAX]))
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use taskscale_load::Queue;

    #[test]
    fn listeners_are_own_foreign_or_unknown() {
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let sockets = Queue::of(own.local_addr().unwrap()).listeners().unwrap();
        assert_eq!(lack_sockets(&[std::process::id()], sockets.clone()), Some(false));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(lack_sockets(&[other.id()], sockets.clone()), Some(true));
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(lack_sockets(&[other.id()], sockets), None);
        assert_eq!(lack_sockets(&[std::process::id()], BTreeSet::new()), None);
        assert_eq!(lack_connections(&[std::process::id()], 1), Some(false));
        assert_eq!(lack_connections(&[std::process::id()], 1_000_000), Some(true));
        assert_eq!(lack_connections(&[other.id()], 1), None);
    }
}
