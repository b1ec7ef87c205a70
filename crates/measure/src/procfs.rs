//! Reads processes from /proc. Parsing is pure and separate from reading. Sizes are in bytes.

use std::collections::BTreeMap;
use std::fs;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::str::FromStr;
use std::string::FromUtf8Error;

use rustix::process::{Pid, Signal, kill_process};
use serde::{Deserialize, Serialize};

/// One process's memory from `smaps_rollup`: exact, because the kernel walks every page.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Rollup {
    pub rss: u64,
    pub pss: u64,
    pub pss_anon: u64,
    /// The kernel (before 5.9) does not split `Pss`: `pss_anon` counts shared pages in full.
    pub unsplit: bool,
    pub lazy_free: u64,
    pub swap: u64,
    /// Huge pages of hugetlbfs, not included in the other values.
    pub huge: u64,
}

impl Rollup {
    pub fn add(&mut self, other: &Rollup) {
        self.rss += other.rss;
        self.pss += other.pss;
        self.pss_anon += other.pss_anon;
        self.unsplit |= other.unsplit;
        self.lazy_free += other.lazy_free;
        self.swap += other.swap;
        self.huge += other.huge;
    }
}

/// The needed parts of `/proc/PID/status`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ProcessStatus {
    pub threads: u64,
    pub rss_peak: u64,
    pub rss: u64,
    pub rss_anon: u64,
    pub rss_file: u64,
    pub rss_shmem: u64,
    pub swap: u64,
    pub huge: u64,
    pub page_tables: u64,
}

/// Reads a file of /proc as text. Names of processes and files may be invalid UTF-8: such bytes are replaced,
/// so that the values next to them can be read.
pub(super) fn text(path: impl AsRef<Path>) -> io::Result<String> {
    let replaced = |error: FromUtf8Error| String::from_utf8_lossy(error.as_bytes()).into_owned();
    Ok(String::from_utf8(fs::read(path)?).unwrap_or_else(replaced))
}

/// Reads a file that contains one number.
pub(super) fn number(path: impl AsRef<Path>) -> Option<u64> {
    fs::read_to_string(path).ok()?.trim().parse().ok()
}

/// Undoes the escapes of a field of mountinfo: a backslash and three octal digits for a space, a tab, a line end or a
/// backslash (proc(5)).
pub fn unescaped(field: &str) -> String {
    // The backslash comes last: digits that follow a real one are no escape.
    let escapes = [("\\040", " "), ("\\011", "\t"), ("\\012", "\n"), ("\\134", "\\")];
    escapes.iter().fold(field.to_owned(), |text, (escape, means)| text.replace(escape, means))
}

/// The names and values of lines `Name:   value`.
pub(super) fn named_values(text: &str) -> impl Iterator<Item = (&str, &str)> {
    text.lines().filter_map(|line| line.split_once(':'))
}

/// A value such as `123 kB`, in bytes.
pub(super) fn kib(value: &str) -> Option<u64> {
    value.strip_suffix(" kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// Parses `smaps_rollup`.
pub fn parse_rollup(text: &str) -> Rollup {
    let mut rollup = Rollup::default();
    let (mut pss_anon, mut anonymous) = (None, 0);
    for (name, value) in named_values(text) {
        let bytes = || kib(value).unwrap_or(0);
        match name {
            "Rss" => rollup.rss = bytes(),
            "Pss" => rollup.pss = bytes(),
            "Pss_Anon" => pss_anon = kib(value),
            "Anonymous" => anonymous = bytes(),
            "LazyFree" => rollup.lazy_free = bytes(),
            "SwapPss" => rollup.swap = bytes(),
            "Private_Hugetlb" | "Shared_Hugetlb" => rollup.huge += bytes(),
            _ => {}
        }
    }
    rollup.pss_anon = pss_anon.unwrap_or(anonymous);
    rollup.unsplit = pss_anon.is_none();
    rollup
}

/// Parses `status`.
pub fn parse_status(text: &str) -> ProcessStatus {
    let mut status = ProcessStatus::default();
    for (name, value) in named_values(text) {
        let bytes = || kib(value).unwrap_or(0);
        match name {
            "Threads" => status.threads = value.trim().parse().unwrap_or(0),
            "VmHWM" => status.rss_peak = bytes(),
            "VmRSS" => status.rss = bytes(),
            "RssAnon" => status.rss_anon = bytes(),
            "RssFile" => status.rss_file = bytes(),
            "RssShmem" => status.rss_shmem = bytes(),
            "VmSwap" => status.swap = bytes(),
            "HugetlbPages" => status.huge = bytes(),
            "VmPTE" => status.page_tables = bytes(),
            _ => {}
        }
    }
    status
}

/// Reads a process's `smaps_rollup`. Slow, because the kernel walks the page tables.
pub fn rollup(pid: u32) -> io::Result<Rollup> {
    text(format!("/proc/{pid}/smaps_rollup")).map(|text| parse_rollup(&text))
}

/// Like `rollup`, with the thread that it was read from: others show the memory if the first has ended.
pub fn rollup_by_thread(pid: u32) -> io::Result<(u32, Rollup)> {
    let first = match rollup(pid) {
        Err(error) if error.raw_os_error() == Some(libc::ESRCH) => error,
        first => return first.map(|rollup| (pid, rollup)),
    };
    let others = threads(pid).into_iter().filter(|thread| *thread != pid);
    others.filter_map(|thread| Some((thread, rollup(thread).ok()?))).next().ok_or(first)
}

/// The threads of a process.
fn threads(pid: u32) -> Vec<u32> {
    numbers_in(format!("/proc/{pid}/task")).collect()
}

/// Whether this machine's kernel has at least this version.
pub fn kernel_is_at_least(version: (u32, u32)) -> bool {
    is_at_least(&rustix::system::uname().release().to_string_lossy(), version)
}

/// Whether a kernel release, such as `6.18.44-amd64`, has at least this version.
fn is_at_least(release: &str, version: (u32, u32)) -> bool {
    let mut numbers = release.split(|c: char| !c.is_ascii_digit()).map_while(|number| number.parse().ok());
    numbers.next().zip(numbers.next()).is_some_and(|of_release| of_release >= version)
}

/// Reads a process's `status`: cheap.
pub fn status(pid: u32) -> io::Result<ProcessStatus> {
    text(format!("/proc/{pid}/status")).map(|text| parse_status(&text))
}

/// User and system time of a living process, its waited-for children included, in seconds, from `stat`.
pub fn cpu_times(pid: u32) -> Option<(f64, f64)> {
    let text = text(format!("/proc/{pid}/stat")).ok()?;
    let ticks_per_s = rustix::param::clock_ticks_per_second() as f64;
    let (user, system) = parse_cpu_ticks(&text)?;
    Some((user as f64 / ticks_per_s, system as f64 / ticks_per_s))
}

/// The field of a `stat` line with this number in proc(5), 3 or more. Counted from the end of field 2, the name
/// in parentheses, which may itself contain spaces and parentheses.
fn stat_field<T: FromStr>(stat: &str, number: usize) -> Option<T> {
    stat[stat.rfind(')')? + 1..].split_ascii_whitespace().nth(number - 3)?.parse().ok()
}

/// utime + cutime and stime + cstime of a `stat` line.
fn parse_cpu_ticks(stat: &str) -> Option<(u64, u64)> {
    let ticks = |number| stat_field::<u64>(stat, number);
    Some((ticks(14)? + ticks(16)?, ticks(15)? + ticks(17)?))
}

/// The parent of a process. From `stat`, which costs the kernel less than `status`.
fn parent(pid: u32) -> Option<u32> {
    stat_field(&text(format!("/proc/{pid}/stat")).ok()?, 4)
}

/// What threads of a process are doing, by the states of proc(5): at most the first `MAX_THREADS_READ`.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct ThreadActivity {
    /// A thread is running or waits for a CPU (R), which includes throttled threads.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub wants_cpu: bool,
    /// A thread waits for a disk (D).
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub waits_for_disk: bool,
    /// A thread was stopped by a signal (T) or a debugger (t), and continues when another process lets it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub is_stopped: bool,
}

impl ThreadActivity {
    /// Whether a thread has something to do, so that the process only seems idle.
    pub fn anything(self) -> bool {
        self.wants_cpu || self.waits_for_disk || self.is_stopped
    }

    pub fn and(self, other: ThreadActivity) -> ThreadActivity {
        ThreadActivity {
            wants_cpu: self.wants_cpu || other.wants_cpu,
            waits_for_disk: self.waits_for_disk || other.waits_for_disk,
            is_stopped: self.is_stopped || other.is_stopped,
        }
    }
}

/// Reads what the threads of a process are doing.
pub fn doing(pid: u32) -> ThreadActivity {
    let threads = fs::read_dir(format!("/proc/{pid}/task")).into_iter().flatten().flatten();
    let mut doing = ThreadActivity::default();
    for thread in threads.take(MAX_THREADS_READ) {
        // A thread that has ended since has nothing to do.
        let stat = text(thread.path().join("stat")).unwrap_or_default();
        doing.wants_cpu |= parse_state(&stat) == Some('R');
        doing.waits_for_disk |= parse_state(&stat) == Some('D');
        doing.is_stopped |= matches!(parse_state(&stat), Some('T' | 't'));
    }
    doing
}

/// Whether a process is still in the cgroup folder of this name, in this many hierarchies. True if it has
/// ended: it did not leave.
pub fn is_in_group(pid: u32, name: &str, hierarchies: usize) -> bool {
    let Ok(groups) = text(format!("/proc/{pid}/cgroup")) else { return true };
    let stat = text(format!("/proc/{pid}/stat")).unwrap_or_default();
    hierarchies_with(&groups, name) >= hierarchies || is_ending(&stat)
}

/// `PF_EXITING` of include/linux/sched.h. Set before a process leaves its cgroups. If it gets no CPU, it may
/// become a zombie much later.
const EXITING: u64 = 0x4;

/// Whether the process of a `stat` line has ended or is about to end.
fn is_ending(stat: &str) -> bool {
    let flags = stat_field::<u64>(stat, 9);
    matches!(parse_state(stat), None | Some('Z' | 'X')) || flags.is_none_or(|flags| flags & EXITING != 0)
}

/// Whether a process has ended, perhaps as a zombie. Its state alone is not enough: it is the same if only the
/// first thread has ended.
pub fn has_ended(pid: u32) -> bool {
    let stat = text(format!("/proc/{pid}/stat")).unwrap_or_default();
    matches!(parse_state(&stat), None | Some('Z' | 'X')) && threads(pid).len() <= 1
}

/// Number of hierarchies in `/proc/PID/cgroup` (`id:controllers:path`) whose path has a folder of this name.
fn hierarchies_with(groups: &str, name: &str) -> usize {
    let paths = groups.lines().filter_map(|line| line.splitn(3, ':').nth(2));
    paths.filter(|path| path.split('/').any(|part| part == name)).count()
}

/// Number of threads that are read. If a runtime has more, they are tasks, and alike.
const MAX_THREADS_READ: usize = 64;

/// The state of a `stat` line.
fn parse_state(stat: &str) -> Option<char> {
    stat_field(stat, 3)
}

/// CPU time of all work on this machine since boot, except taskscale itself, in seconds: the first line of
/// /proc/stat without idle and iowait (proc(5)), minus the time of this process.
pub fn system_cpu_s() -> Option<f64> {
    let text = fs::read_to_string("/proc/stat").ok()?;
    let ticks: Vec<u64> =
        text.lines().next()?.split_ascii_whitespace().skip(1).map_while(|field| field.parse().ok()).collect();
    // user nice system idle iowait irq softirq. Steal is other machines' time, and user includes guest.
    let used: u64 = [0, 1, 2, 5, 6].into_iter().filter_map(|field| ticks.get(field)).sum();
    let own = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    let own_s = own.tv_sec as f64 + own.tv_nsec as f64 / 1e9;
    Some(used as f64 / rustix::param::clock_ticks_per_second() as f64 - own_s)
}

/// When a process started, in clock ticks since boot. With the pid, this identifies a process uniquely.
pub fn start_ticks(pid: u32) -> Option<u64> {
    stat_field(&text(format!("/proc/{pid}/stat")).ok()?, 22)
}

/// All descendants of `ancestor`, without itself.
pub fn descendants(ancestor: u32) -> Vec<u32> {
    descendants_besides(&[], ancestor)
}

/// Processes outside `known` (which is sorted) that descend from a known process or from `ancestor`.
pub fn descendants_besides(known: &[u32], ancestor: u32) -> Vec<u32> {
    let mut children_of: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for pid in pids().filter(|pid| *pid != ancestor && known.binary_search(pid).is_err()) {
        // The process may have ended since it was listed.
        if let Some(parent) = parent(pid) {
            children_of.entry(parent).or_default().push(pid);
        }
    }
    let mut found = Vec::new();
    let mut next = [known, &[ancestor]].concat();
    while let Some(parent) = next.pop() {
        let children = children_of.remove(&parent).unwrap_or_default();
        next.extend(&children);
        found.extend(children);
    }
    found
}

/// Whether a process descends from another, by the current parents.
pub fn is_below(pid: u32, ancestor: u32) -> bool {
    std::iter::successors(Some(pid), |pid| parent(*pid))
        .skip(1)
        .take_while(|parent| *parent > 0)
        .any(|parent| parent == ancestor)
}

/// Processes that were started with this variable in their environment.
pub fn started_with(name: &str, value: &Path) -> Vec<u32> {
    let wanted = [name.as_bytes(), b"=", value.as_os_str().as_bytes()].concat();
    let has = |pid: &u32| {
        // Environments of other users cannot be read, and their processes are not ours.
        let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
        environment.split(|byte| *byte == 0).any(|variable| variable == wanted)
    };
    pids().filter(has).collect()
}

/// Kills processes. Any may have ended since it was listed.
pub fn kill(pids: &[u32]) {
    for pid in pids.iter().filter_map(|pid| Pid::from_raw(*pid as i32)) {
        let _ = kill_process(pid, Signal::KILL);
    }
}

fn pids() -> impl Iterator<Item = u32> {
    numbers_in("/proc")
}

/// The names of a folder's entries that are numbers.
fn numbers_in(folder: impl AsRef<Path>) -> impl Iterator<Item = u32> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries.filter_map(|entry| entry.file_name().to_str()?.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn releases_are_compared_by_number() {
        let exact = ["6.17.0", "6.18.44-amd64", "6.100", "7.0.0-rc1"];
        assert!(exact.iter().all(|release| is_at_least(release, (6, 17))));
        assert!(
            ["6.9.1", "6.16.12+deb13", "5.10.0", "", "unknown"].iter().all(|old| !is_at_least(old, (6, 17)))
        );
    }

    #[test]
    fn smaps_rollup_is_parsed() {
        let text = "5581-7ffe ---p 00000000 00:00 0  [rollup]\nRss:  2048 kB\nPss:  1000 kB\nPss_Dirty: 9 kB\nPss_Anon: 700 kB\nAnonymous: 704 kB\nLazyFree: 4 kB\nShared_Hugetlb: 2048 kB\nPrivate_Hugetlb: 4096 kB\nSwapPss: 1 kB\n";
        assert_eq!(
            parse_rollup(text),
            Rollup {
                rss: 2048 << 10,
                pss: 1000 << 10,
                pss_anon: 700 << 10,
                unsplit: false,
                lazy_free: 4 << 10,
                swap: 1 << 10,
                huge: 6 << 20,
            }
        );
    }

    #[test]
    fn a_kernel_that_does_not_split_pss_still_has_anonymous_memory() {
        let rollup = parse_rollup("Rss: 10 kB\nAnonymous: 8 kB\n");
        assert_eq!((rollup.pss_anon, rollup.unsplit), (8 << 10, true));
    }

    #[test]
    fn cpu_ticks_survive_a_hostile_process_name() {
        let stat = "7 (a) R 1 (x) S 1 7 7 0 -1 0 0 0 0 0 11 22 3 4 20 0 1 0 99 0 0";
        assert_eq!(parse_cpu_ticks(stat), Some((14, 26)));
        assert_eq!(parse_cpu_ticks("garbage"), None);
    }

    #[test]
    fn running_threads_are_distinguished_from_sleeping_ones() {
        assert_eq!(parse_state("7 (a) D (x) S 1 7"), Some('S'));
        assert_eq!(parse_state(""), None);
        assert!(doing(std::process::id()).wants_cpu, "this thread runs");
        let mut sleeper = std::process::Command::new("sleep").arg("60").spawn().unwrap();
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(600);
        while doing(sleeper.id()).anything() {
            assert!(std::time::Instant::now() < deadline, "a process that sleeps has nothing to do");
        }
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
    }

    #[test]
    fn cgroup_membership_covers_hierarchies_and_ended_processes() {
        let groups = "5:memory:/ts-7/run-1\n4:cpu,cpuacct:/ts-7/run-1/inner\n3:pids:/\n0::/run-11\n";
        assert_eq!(hierarchies_with(groups, "run-1"), 2);
        assert!(!is_in_group(std::process::id(), "no such group", 1));
        assert!(is_in_group(u32::MAX, "run-1", 1), "who has ended did not leave");
        assert!(!is_ending("7 (a) R) S 1 7 7 0 -1 4194560 0 0"));
        for ending in ["7 (a) R 1 7 7 0 -1 4194564 0 0", "7 (a) Z 1 7 7 0 -1 4194560 0 0", ""] {
            assert!(is_ending(ending), "{ending}");
        }
        assert!(is_below(std::process::id(), std::os::unix::process::parent_id()));
        assert!(!is_below(std::os::unix::process::parent_id(), std::process::id()));
        assert!(!is_below(u32::MAX, std::process::id()), "who has ended is below nobody");
    }

    #[test]
    fn escapes_are_decoded_once() {
        assert_eq!(unescaped(r"/a\040b\011c\012d\134040"), "/a b\tc\nd\\040");
        assert_eq!(unescaped(r"/a\04\"), r"/a\04\");
    }

    /// A name may be cut in the middle of a UTF-8 character. The process must still be readable.
    #[test]
    fn processes_with_non_utf8_names_are_read() {
        let named = || {
            // SAFETY: names this thread; the text is valid and ends with a null.
            unsafe { libc::prctl(libc::PR_SET_NAME, c"cut \xc3".as_ptr()) };
            let me = rustix::thread::gettid().as_raw_nonzero().get() as u32;
            (status(me).map(|status| status.threads > 0).unwrap_or(false), cpu_times(me), start_ticks(me))
        };
        let (status, times, start) = std::thread::spawn(named).join().unwrap();
        assert!(status && times.is_some() && start.is_some());
    }

    #[test]
    fn processes_are_found_by_their_environment() {
        let folder = tempfile::tempdir().unwrap();
        let mut child = std::process::Command::new("sleep");
        let mut child = child.arg("60").env("TMPDIR", folder.path()).spawn().unwrap();
        // `spawn` returns once the exec has closed its pipe, before the new environment can be read.
        let deadline = std::time::Instant::now() + std::time::Duration::from_secs(600);
        while started_with("TMPDIR", folder.path()) != [child.id()] {
            assert!(std::time::Instant::now() < deadline, "it was started with that folder");
        }
        assert_eq!(started_with("TMPDIR", &folder.path().join("x")), [0; 0]);
        kill(&[child.id()]);
        child.wait().unwrap();
    }

    #[test]
    fn this_process_can_be_read() {
        let me = std::process::id();
        assert!(rollup(me).unwrap().rss > 0);
        assert!(status(me).unwrap().threads >= 1);
        assert!(start_ticks(me).is_some());
    }
}
