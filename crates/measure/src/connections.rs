//! The limits on the connections of one server on this machine. Pure, except for reading them.

use std::fs;

use super::limits::read_limits;
use super::machine::available_memory_bytes;
use crate::units;

/// Kernel memory of an idle connection with both ends on one machine, in bytes: 3,867 on the server's side and 4,001 on
/// the client's (C with epoll, Linux 6.18).
const BOTH_ENDS_BYTES: u64 = 7_868;
/// Descriptors of a server besides its connections.
pub(super) const FILES_BESIDES: u64 = 256;
/// Accept queue that a server needs: with a shorter one, clients must retry after a second.
const BACKLOG: u64 = 1_024;

/// The limits on connections. `None`: no limit, or unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ConnectionLimits {
    /// Hard limit of open files of a process.
    pub open_files_hard: Option<u64>,
    /// Whether taskscale's launcher raises that for a server (CAP_SYS_RESOURCE).
    pub raises_hard_limit: bool,
    /// fs.nr_open: the maximum of a hard limit.
    pub most_open_files: Option<u64>,
    /// fs.file-max: open files of the whole machine.
    pub machine_files: Option<u64>,
    /// net.core.somaxconn.
    pub backlog: Option<u64>,
    /// The last of net.ipv4.tcp_mem: pages that all TCP buffers may take.
    pub tcp_pages: Option<u64>,
    pub available_bytes: Option<u64>,
}

/// Reads the limits on connections.
pub fn read_connection_limits() -> ConnectionLimits {
    let last = |path: &str| fs::read_to_string(path).ok()?.split_whitespace().last()?.parse().ok();
    let limits = read_limits();
    ConnectionLimits {
        open_files_hard: limits.open_files_hard,
        raises_hard_limit: rustix::thread::capabilities(None)
            .is_ok_and(|sets| sets.effective.contains(rustix::thread::CapabilitySet::SYS_RESOURCE)),
        most_open_files: last("/proc/sys/fs/nr_open"),
        machine_files: limits.machine_files,
        backlog: last("/proc/sys/net/core/somaxconn"),
        tcp_pages: last("/proc/sys/net/ipv4/tcp_mem"),
        available_bytes: available_memory_bytes(),
    }
}

impl ConnectionLimits {
    /// What prevents this many connections between a server and clients on this machine, each with its remedy,
    /// in the order in which they are hit.
    pub fn obstacles(&self, connections: u64) -> Vec<String> {
        let files = connections + FILES_BESIDES;
        let below = |value: Option<u64>, wanted: u64| value.filter(|value| *value < wanted);
        let mut found = Vec::new();
        if let Some(hard) = below(self.open_files_hard.filter(|_| !self.raises_hard_limit), files) {
            found.push(format!(
                "ulimit -Hn = {hard}: a server fails near {}; raise it as root (CAP_SYS_RESOURCE): `ulimit -n {files}`, nofile in \
                 /etc/security/limits.conf, LimitNOFILE= of a systemd service, or an option of the container",
                units::count(hard)
            ));
        }
        if let Some(most) = below(self.most_open_files, files) {
            found.push(format!(
                "fs.nr_open = {most}: the maximum of ulimit -n; raise it: `sudo sysctl -w fs.nr_open={files}`"
            ));
        }
        // Both ends are on this machine.
        let all_files = 2 * files;
        if let Some(most) = below(self.machine_files, all_files) {
            found.push(format!(
                "fs.file-max = {most} (whole machine); raise it: `sudo sysctl -w fs.file-max={all_files}`"
            ));
        }
        let bytes = connections * BOTH_ENDS_BYTES;
        if let Some(available) = below(self.available_bytes, bytes) {
            found.push(format!(
                "{} of memory available: the kernel needs {} for both ends; clients on another machine (`taskscale load \
                 --connect`) halve that",
                units::bytes(available),
                units::bytes(bytes)
            ));
        }
        if let Some(pages) = below(self.tcp_pages, connections) {
            found.push(format!(
                "net.ipv4.tcp_mem = … {pages}: less than a page per connection when all send at once; raise it: `sudo \
                 sysctl -w net.ipv4.tcp_mem=\"{connections} {connections} {}\"`",
                2 * connections
            ));
        }
        if let Some(backlog) = below(self.backlog, BACKLOG) {
            found.push(format!(
                "net.core.somaxconn = {backlog}: a short accept queue makes connecting slow; raise it: `sudo sysctl -w \
                 net.core.somaxconn=4096`"
            ));
        }
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connection_limits_are_listed_in_order_with_remedies() {
        let limits = ConnectionLimits {
            raises_hard_limit: false,
            open_files_hard: Some(20_000),
            most_open_files: Some(1_000_000),
            machine_files: Some(1_500_000),
            backlog: Some(128),
            tcp_pages: Some(500_000),
            available_bytes: Some(4 << 30),
        };
        let told = limits.obstacles(1_000_000);
        let starts =
            ["ulimit -Hn = 20000", "fs.nr_open", "fs.file-max", "4.00 GiB of memory", "net.ipv4", "net.core"];
        assert_eq!(told.len(), starts.len(), "{told:?}");
        for (told, start) in told.iter().zip(starts) {
            assert!(told.starts_with(start), "{told}");
        }
        assert!(told[1].contains("sysctl -w fs.nr_open=1000256"), "{}", told[1]);
        assert_eq!(limits.obstacles(10_000).len(), 1, "only the backlog is in the way of ten thousand");
        assert!(
            ConnectionLimits::default().obstacles(1_000_000).is_empty(),
            "what is unknown is no obstacle"
        );
    }
}
