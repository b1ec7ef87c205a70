//! The system limits that bound tasks, the number of tasks that they leave room for, and how to raise them.

use std::fs;
use std::ops::RangeInclusive;

use rustix::process::{Resource, getrlimit};
use serde::{Deserialize, Serialize};

use super::cgroup::own_folders;
use super::procfs::number;
use crate::Kind;
use crate::LimitHit;
use crate::units::grouped;

/// Threads reserved for the rest of the machine: without any left, not even `kill` can start.
const RESERVED_FOR_MACHINE: u64 = 1024;

/// The same within a cgroup that has a bound of its own, such as a container.
const RESERVED_FOR_GROUP: u64 = 64;

/// The limits in force for a process started now. `None`: no limit, or unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SystemLimits {
    pub pid_max: Option<u64>,
    pub threads_max: Option<u64>,
    pub max_map_count: Option<u64>,
    /// Soft limit of open files.
    pub open_files: Option<u64>,
    pub open_files_hard: Option<u64>,
    /// fs.file-max: open files of the whole machine.
    pub machine_files: Option<u64>,
    /// Soft limit of processes and threads of this user; does not bind root.
    pub user_processes: Option<u64>,
    pub user_processes_hard: Option<u64>,
    /// The tightest pids.max of the cgroups that taskscale is in.
    pub group_threads: Option<u64>,
    /// Threads and processes that are in the cgroup of that bound now.
    pub group_threads_now: u64,
    /// Threads and processes on the whole machine now.
    pub threads_now: u64,
}

/// Reads the limits.
pub fn read_limits() -> SystemLimits {
    let open_files = getrlimit(Resource::Nofile);
    let root = rustix::process::geteuid().is_root();
    let processes = getrlimit(Resource::Nproc);
    let group_threads = group_threads();
    SystemLimits {
        pid_max: number("/proc/sys/kernel/pid_max"),
        threads_max: number("/proc/sys/kernel/threads-max"),
        max_map_count: number("/proc/sys/vm/max_map_count"),
        open_files: open_files.current,
        open_files_hard: open_files.maximum,
        machine_files: number("/proc/sys/fs/file-max"),
        user_processes: processes.current.filter(|_| !root),
        user_processes_hard: processes.maximum.filter(|_| !root),
        group_threads: group_threads.map(|(most, _)| most),
        group_threads_now: group_threads.map_or(0, |(_, now)| now),
        threads_now: threads_now().unwrap_or(0),
    }
}

/// The fourth field of /proc/loadavg is `running/all` threads.
fn threads_now() -> Option<u64> {
    let text = fs::read_to_string("/proc/loadavg").ok()?;
    text.split_whitespace().nth(3)?.split_once('/')?.1.parse().ok()
}

/// The bound of the cgroup with the least room, and how much of it is used.
fn group_threads() -> Option<(u64, u64)> {
    ["", "pids"]
        .into_iter()
        .flat_map(own_folders)
        .filter_map(|folder| {
            Some((number(folder.join("pids.max"))?, number(folder.join("pids.current")).unwrap_or(0)))
        })
        .min_by_key(|(most, now)| most.saturating_sub(*now))
}

/// How many more threads a limit leaves room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadHeadroom {
    pub room: u64,
    /// Threads reserved for other processes, besides those that exist.
    pub(super) kept: u64,
    pub limit: LimitHit,
    pub remedy: Option<String>,
}

impl ThreadHeadroom {
    /// The limit, as one that was hit.
    pub fn into_hit(self) -> DetectedLimit {
        let sentence = format!("hit {} = {}", self.limit.name, self.limit.value);
        DetectedLimit { why: self.why(), limit: self.limit, sentence, remedy: self.remedy }
    }

    /// What the limit leaves room for, to follow its name and value.
    pub(super) fn why(&self) -> String {
        let (room, kept) = (grouped(self.room), grouped(self.kept));
        format!(": room for {room} threads here ({kept} reserved for other processes)")
    }
}

/// A limit that a run hit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DetectedLimit {
    pub limit: LimitHit,
    /// `hit NAME = VALUE`, or `probably hit NAME = VALUE`. How far the run got follows.
    pub sentence: String,
    /// The explanation that follows the sentence, or nothing.
    pub why: String,
    /// How to raise it.
    pub remedy: Option<String>,
}

/// A limit, and how to raise it.
pub type WithRemedy = (LimitHit, Option<String>);

/// A limit that a command of root raises.
pub(super) fn raised_by(name: &str, value: u64, command: String) -> WithRemedy {
    let remedy = format!("raise it: `sudo {command}`");
    (LimitHit { name: name.to_owned(), value, lift: Some(command) }, Some(remedy))
}

/// A limit that each process may raise for itself, up to its hard limit.
pub(super) struct SoftLimit {
    /// As the shell names it.
    name: &'static str,
    /// As limits.conf and containers name it, and as systemd services do.
    file: &'static str,
    service: &'static str,
}

pub(super) const OPEN_FILES: SoftLimit =
    SoftLimit { name: "ulimit -n", file: "nofile", service: "LimitNOFILE" };
const USER_PROCESSES: SoftLimit = SoftLimit { name: "ulimit -u", file: "nproc", service: "LimitNPROC" };

impl SoftLimit {
    /// `hard`: the hard limit, `None` if unlimited.
    pub(super) fn at(&self, value: u64, hard: Option<u64>) -> WithRemedy {
        let SoftLimit { name, file, service } = self;
        if hard.is_none_or(|hard| hard > value) {
            let most = hard.map_or("unlimited".to_owned(), |hard| hard.to_string());
            let command = format!("{name} {most}");
            let as_far = if hard.is_some() { " to its hard limit" } else { "" };
            let remedy = format!("raise it{as_far}: `{command}`");
            return (LimitHit { name: (*name).to_owned(), value, lift: Some(command) }, Some(remedy));
        }
        let remedy = format!(
            "raise its hard limit as root (CAP_SYS_RESOURCE): {file} in /etc/security/limits.conf, {service}= of a \
             systemd service, or an option of the container"
        );
        (LimitHit { name: (*name).to_owned(), value, lift: None }, Some(remedy))
    }
}

impl SystemLimits {
    /// Every limit on threads with the room it leaves, tightest first.
    pub fn thread_headroom(&self) -> Vec<ThreadHeadroom> {
        let machine = (self.threads_now, RESERVED_FOR_MACHINE);
        let sysctl = |name, value| raised_by(name, value, format!("sysctl -w {name}=4194304"));
        let of_group = |value| {
            let remedy = "raise it where taskscale's cgroup was made: TasksMax= of the systemd service or scope, or an \
                          option of the container";
            (LimitHit { name: "pids.max".to_owned(), value, lift: None }, Some(remedy.to_owned()))
        };
        let limits = [
            // 4194304 is the kernel's own maximum (PID_MAX_LIMIT on 64-bit machines).
            self.pid_max.map(|value| (sysctl("kernel.pid_max", value), machine)),
            self.threads_max.map(|value| (sysctl("kernel.threads-max", value), machine)),
            self.user_processes.map(|value| (USER_PROCESSES.at(value, self.user_processes_hard), machine)),
            // Only the container's own threads count against its bound.
            self.group_threads.map(|value| (of_group(value), (self.group_threads_now, RESERVED_FOR_GROUP))),
        ];
        let mut headrooms: Vec<ThreadHeadroom> = limits
            .into_iter()
            .flatten()
            .map(|((limit, remedy), (now, kept))| {
                let room = limit.value.saturating_sub(now.saturating_add(kept));
                ThreadHeadroom { room, kept, limit, remedy }
            })
            .collect();
        headrooms.sort_by_key(|room| room.room);
        headrooms
    }

    /// The largest number of threads that a run may have.
    pub fn thread_bound(&self) -> Option<u64> {
        self.thread_headroom().first().map(|room| room.room.max(1))
    }

    /// The limit that `tasks` of this kind are going to hit, if each needs an OS thread.
    pub fn exceeds_limit(&self, kind: Kind, tasks: u64) -> Option<ThreadHeadroom> {
        let needs_threads = matches!(kind, Kind::Thread | Kind::Process);
        self.thread_headroom().into_iter().next().filter(|tightest| needs_threads && tasks > tightest.room)
    }

    /// How many tasks vm.max_map_count leaves room for: a task with its own stack takes two memory mappings in most
    /// runtimes (the stack and its guard page), four in Rust (also a signal stack and its guard).
    pub fn mapping_headroom(&self) -> Option<(RangeInclusive<u64>, WithRemedy)> {
        let value = self.max_map_count?;
        let command = "sysctl -w vm.max_map_count=2147483647".to_owned();
        Some((value / 4..=value / 2, raised_by("vm.max_map_count", value, command)))
    }

    /// The limit of open files, and how to raise it.
    pub fn open_files_limit(&self) -> Option<WithRemedy> {
        Some(OPEN_FILES.at(self.open_files?, self.open_files_hard))
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Limits of a small machine, without one for the user's processes or for a cgroup.
    pub fn limits() -> SystemLimits {
        SystemLimits {
            pid_max: Some(32_768),
            threads_max: Some(192_730),
            max_map_count: Some(65_530),
            open_files: Some(1024),
            open_files_hard: Some(4096),
            threads_now: 200,
            ..SystemLimits::default()
        }
    }

    #[test]
    fn the_tightest_limit_bounds_threads() {
        assert_eq!(limits().thread_bound(), Some(32_768 - 200 - 1024));
        assert_eq!(SystemLimits::default().thread_bound(), None);
    }

    #[test]
    fn a_container_is_bounded_by_its_own_threads() {
        // The machine around it runs far more threads than the container may have.
        let group = SystemLimits { group_threads: Some(2_000), group_threads_now: 10, ..limits() };
        let busy = SystemLimits { threads_now: 9_000, pid_max: Some(4_194_304), ..group };
        assert_eq!(busy.thread_bound(), Some(2_000 - 10 - 64));
    }

    /// `ulimit -n 20000` does not raise a limit of 20,000.
    #[test]
    fn the_remedy_for_a_hard_limit_needs_root() {
        for soft in [OPEN_FILES, USER_PROCESSES] {
            let (limit, remedy) = soft.at(20_000, Some(20_000));
            assert_eq!((limit.value, limit.lift), (20_000, None));
            let remedy = remedy.unwrap();
            for words in ["hard limit", "CAP_SYS_RESOURCE", soft.file, soft.service] {
                assert!(remedy.contains(words), "{words}: {remedy}");
            }
            assert_eq!(soft.at(10, None).0.lift.unwrap(), format!("{} unlimited", soft.name));
        }
        let user = SystemLimits { user_processes: Some(5000), user_processes_hard: Some(5000), ..limits() };
        let room = user.thread_headroom().remove(0);
        assert_eq!((room.limit.name.as_str(), room.limit.lift), ("ulimit -u", None));
        assert!(room.remedy.unwrap().contains("LimitNPROC="));
    }
}
