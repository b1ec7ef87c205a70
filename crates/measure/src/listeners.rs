//! Whose sockets a server's are, by the descriptors of processes.

use std::collections::BTreeSet;
use std::fs;

/// Whether these processes have none of their descriptors on some of the sockets (by inode number); `None` if that cannot
/// be known.
pub fn lack_sockets(pids: &[u32], mut sockets: BTreeSet<u64>) -> Option<bool> {
    let mut all_seen = !sockets.is_empty();
    for pid in pids {
        // Of another user's process, or one whose first thread has ended, they are not shown.
        let mut files = fs::read_dir(format!("/proc/{pid}/fd")).into_iter().flatten().flatten().peekable();
        all_seen &= files.peek().is_some();
        for file in files {
            let Ok(target) = fs::read_link(file.path()) else { continue };
            let target = target.to_string_lossy();
            // A ring may hold sockets that are no descriptors.
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

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;
    use taskscale_load::Queue;

    #[test]
    fn a_listener_is_this_process_or_another_or_unknown() {
        let own = TcpListener::bind("127.0.0.1:0").unwrap();
        let sockets = Queue::of(own.local_addr().unwrap()).listeners().unwrap();
        assert_eq!(lack_sockets(&[std::process::id()], sockets.clone()), Some(false));
        let mut other = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        assert_eq!(lack_sockets(&[other.id()], sockets.clone()), Some(true));
        other.kill().unwrap();
        other.wait().unwrap();
        assert_eq!(lack_sockets(&[other.id()], sockets), None);
        assert_eq!(lack_sockets(&[std::process::id()], BTreeSet::new()), None);
    }
}
