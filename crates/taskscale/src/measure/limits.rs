//! The system limits that bound tasks, and which of them a run has met.

use std::fs;
use std::ops::RangeInclusive;
use std::path::PathBuf;

use rustix::process::{Resource, getrlimit};

use super::home::own_folders;
use crate::catalog::Kind;
use crate::record::LimitHit;

/// Threads that no run may take from the rest of the machine: with none left, not even `kill` can be started.
const KEPT_FOR_THE_MACHINE: u64 = 1024;

/// The same within a control group that has a bound of its own, such as a container.
const KEPT_FOR_THE_GROUP: u64 = 64;

/// The limits in force for a process started now. `None`: no limit, or unknown.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SystemLimits {
    pub pid_max: Option<u64>,
    pub threads_max: Option<u64>,
    pub max_map_count: Option<u64>,
    /// Soft limit of open files.
    pub open_files: Option<u64>,
    pub open_files_hard: Option<u64>,
    /// Soft limit of processes and threads of this user; does not bind root.
    pub user_processes: Option<u64>,
    /// The tightest pids.max of the control groups that taskscale is in.
    pub group_threads: Option<u64>,
    /// Threads and processes there are now in the group of that bound.
    pub group_threads_now: u64,
    /// Threads and processes there are now, on the whole machine.
    pub threads_now: u64,
}

/// Reads the limits.
pub fn read_limits() -> SystemLimits {
    let number = |path: &str| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    let open_files = getrlimit(Resource::Nofile);
    let root = rustix::process::geteuid().is_root();
    let group_threads = group_threads();
    SystemLimits {
        pid_max: number("/proc/sys/kernel/pid_max"),
        threads_max: number("/proc/sys/kernel/threads-max"),
        max_map_count: number("/proc/sys/vm/max_map_count"),
        open_files: open_files.current,
        open_files_hard: open_files.maximum,
        user_processes: if root { None } else { getrlimit(Resource::Nproc).current },
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

/// The bound of the control group that leaves least room, and how much of it is used.
fn group_threads() -> Option<(u64, u64)> {
    let number = |path: PathBuf| fs::read_to_string(path).ok()?.trim().parse::<u64>().ok();
    ["", "pids"]
        .into_iter()
        .flat_map(own_folders)
        .filter_map(|folder| {
            Some((number(folder.join("pids.max"))?, number(folder.join("pids.current")).unwrap_or(0)))
        })
        .min_by_key(|(most, now)| most.saturating_sub(*now))
}

/// How many more threads something leaves room for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ThreadRoom {
    pub room: u64,
    /// Threads that no run may take, beyond those there are.
    kept: u64,
    pub limit: LimitHit,
}

impl ThreadRoom {
    /// The limit, and a sentence on it.
    pub fn told(self) -> (LimitHit, String) {
        let sentence = format!(
            "{} = {} leaves room for {} threads ({} are kept for the rest of the machine)",
            self.limit.name, self.limit.value, self.room, self.kept
        );
        (self.limit, sentence)
    }
}

impl SystemLimits {
    /// Every limit on threads with the room it leaves, tightest first.
    pub fn thread_rooms(&self) -> Vec<ThreadRoom> {
        let lift_to = |name: &str, value: u64| Some(format!("sysctl -w {name}={value}"));
        let machine = (self.threads_now, KEPT_FOR_THE_MACHINE);
        let limits = [
            // 4194304 is the kernel's own maximum (PID_MAX_LIMIT on 64-bit machines).
            ("kernel.pid_max", self.pid_max, machine, lift_to("kernel.pid_max", 4_194_304)),
            ("kernel.threads-max", self.threads_max, machine, lift_to("kernel.threads-max", 4_194_304)),
            ("ulimit -u", self.user_processes, machine, Some("ulimit -u unlimited".to_owned())),
            // A container's bound is used up by the container's threads alone.
            ("pids.max", self.group_threads, (self.group_threads_now, KEPT_FOR_THE_GROUP), None),
        ];
        let mut rooms: Vec<ThreadRoom> = limits
            .into_iter()
            .filter_map(|(name, value, (now, kept), lift)| {
                let value = value?;
                let room = value.saturating_sub(now + kept);
                Some(ThreadRoom { room, kept, limit: LimitHit { name: name.to_owned(), value, lift } })
            })
            .collect();
        rooms.sort_by_key(|room| room.room);
        rooms
    }

    /// The largest number of threads that a run may have.
    pub fn thread_bound(&self) -> Option<u64> {
        self.thread_rooms().first().map(|room| room.room.max(1))
    }

    /// The limit that `tasks` of this kind are bound to meet, if there is one: each needs a thread of the system.
    pub fn bound_to_meet(&self, kind: Kind, tasks: u64) -> Option<ThreadRoom> {
        let needs_threads = matches!(kind, Kind::Thread | Kind::Process);
        self.thread_rooms().into_iter().next().filter(|tightest| needs_threads && tasks > tightest.room)
    }

    /// What vm.max_map_count leaves room for: a task with a stack of its own takes two memory areas in most runtimes
    /// (the stack and its guard page), four in Rust (a signal stack and its guard as well).
    pub fn map_rooms(&self) -> Option<(RangeInclusive<u64>, LimitHit)> {
        let value = self.max_map_count?;
        let lift = Some("sysctl -w vm.max_map_count=2147483647".to_owned());
        Some((value / 4..=value / 2, LimitHit { name: "vm.max_map_count".into(), value, lift }))
    }
}

/// What a failed run tells about limits.
#[derive(Debug, Clone, Default)]
pub struct Evidence<'a> {
    /// How often the run's group was refused a thread by its own bound; `None` where it had no bound.
    pub refused_threads: Option<u64>,
    /// Tasks that had started when one could not, where known.
    pub started: Option<u64>,
    /// The most threads seen.
    pub threads: u64,
    pub stderr: &'a str,
}

/// The limit that a run has met, if the evidence points to one, with a sentence.
pub fn limit_met(limits: &SystemLimits, kind: Kind, evidence: &Evidence) -> Option<(LimitHit, String)> {
    let started = evidence.started.unwrap_or(evidence.threads);
    if evidence.refused_threads.is_some_and(|times| times > 0)
        && let Some(tightest) = limits.thread_rooms().into_iter().next()
    {
        return Some(tightest.told());
    }
    if kind.stackful() && started > 0 {
        // Without a bound nothing is kept back, and the count of the machine's other threads drifts. A bound that was
        // not met rules these limits out.
        let near = |room: u64| (started as f64 - room as f64).abs() <= room as f64 * 0.03;
        let mut rooms = limits.thread_rooms().into_iter();
        let met = rooms.find(|room| near(room.room + room.kept));
        if let Some(room) = met.filter(|_| evidence.refused_threads.is_none()) {
            let sentence = format!("{} = {} ends it near {started} tasks", room.limit.name, room.limit.value);
            return Some((room.limit, sentence));
        }
        if let Some((_, limit)) = limits.map_rooms()
            && let Some(areas) = areas_per_task(started, limit.value)
        {
            let sentence =
                format!("{} = {}: at {areas} memory areas a task it is used up", limit.name, limit.value);
            return Some((limit, sentence));
        }
    }
    // EMFILE, as C libraries, Go, Rust, Python, Java and Node.js word it.
    if ["Too many open files", "too many open files", "EMFILE"]
        .iter()
        .any(|words| evidence.stderr.contains(words))
    {
        let value = limits.open_files?;
        let lift = limits.open_files_hard.map(|hard| format!("ulimit -n {hard}"));
        let limit = LimitHit { name: "ulimit -n".into(), value, lift };
        return Some((limit, format!("ulimit -n = {value} open files")));
    }
    None
}

/// How many memory areas each of `started` tasks must have had, if they used up `max_map_count`; `None` where no small
/// whole number fits. A few may be missing, as the program has areas of its own, and runtimes that map stacks by the
/// thousand stop at the last whole one (Ruby); or be too many, where the last stacks got no guard page (Crystal).
fn areas_per_task(started: u64, max_map_count: u64) -> Option<u64> {
    (1..=6).find(|areas| {
        let share = (areas * started) as f64 / max_map_count as f64;
        (0.95..=1.001).contains(&share)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits() -> SystemLimits {
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

    #[test]
    fn a_refusal_by_the_group_names_the_limit_behind_it() {
        let evidence = Evidence { refused_threads: Some(1), ..Evidence::default() };
        let (limit, sentence) = limit_met(&limits(), Kind::Thread, &evidence).unwrap();
        assert_eq!(limit.name, "kernel.pid_max");
        assert!(sentence.contains("room for 31544 threads"), "{sentence}");
    }

    #[test]
    fn a_bound_on_threads_that_was_not_met_is_not_named() {
        // A JVM's threads: two memory areas each, and pid_max is hardly further away.
        let evidence = Evidence { started: Some(32_098), refused_threads: Some(0), ..Evidence::default() };
        assert_eq!(limit_met(&limits(), Kind::Thread, &evidence).unwrap().0.name, "vm.max_map_count");
        let unbounded = Evidence { refused_threads: None, ..evidence };
        assert_eq!(limit_met(&limits(), Kind::Thread, &unbounded).unwrap().0.name, "kernel.pid_max");
    }

    #[test]
    fn tasks_whose_stacks_use_up_max_map_count_met_it() {
        let roomy = SystemLimits { pid_max: Some(4_194_304), ..limits() };
        let evidence = Evidence { started: Some(32_600), ..Evidence::default() };
        assert_eq!(limit_met(&roomy, Kind::Stackful, &evidence).unwrap().0.name, "vm.max_map_count");
        // A Rust thread takes four.
        let rust = Evidence { started: Some(16_370), ..Evidence::default() };
        let (_, sentence) = limit_met(&roomy, Kind::Thread, &rust).unwrap();
        assert_eq!(sentence, "vm.max_map_count = 65530: at 4 memory areas a task it is used up");
        // Ruby's fibers come 1,024 at a time; the last of Crystal's have no guard page.
        for started in [31_743, 32_767] {
            let evidence = Evidence { started: Some(started), ..Evidence::default() };
            assert_eq!(limit_met(&roomy, Kind::Stackful, &evidence).unwrap().0.name, "vm.max_map_count");
        }
        // A failure far from any limit is no limit, and what has no stack needs no memory areas.
        let few = Evidence { started: Some(100), ..Evidence::default() };
        assert_eq!(limit_met(&roomy, Kind::Stackful, &few), None);
        assert_eq!(limit_met(&roomy, Kind::Stackless, &evidence), None);
    }

    #[test]
    fn open_files_are_known_by_the_message() {
        let evidence =
            Evidence { stderr: "accept: Too many open files (os error 24)", ..Evidence::default() };
        assert_eq!(limit_met(&limits(), Kind::Stackless, &evidence).unwrap().0.name, "ulimit -n");
    }
}
