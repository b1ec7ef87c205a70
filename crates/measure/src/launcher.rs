//! The small process between taskscale and a program.
//!
//! Each run has its own launcher, forked from a template (`launchers.rs`), for three reasons:
//! - A child's `ru_maxrss` is at least what its parent had resident at the fork. The launcher has hardly any
//!   memory, so the value is the program's own.
//! - As a subreaper, the launcher inherits all processes that the program leaves and kills them, even after a
//!   double fork and setsid.
//! - If taskscale is killed, the socket closes, and the launcher kills the run and removes its cgroup.
//!
//! Both send lines over a socket on standard input. taskscale sends a `LaunchRequest` as JSON, perhaps `stop`,
//! and finally `end`. The launcher answers with `LauncherEvent`s.

use std::collections::BTreeMap;
use std::ffi::CString;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{
    Pid, Resource, Rlimit, Signal, WaitId, WaitIdOptions, getrlimit, kill_process_group, setrlimit, waitid,
};
use serde::{Deserialize, Serialize};

use super::cgroup::{self, kill_all, remove_folders};
use super::procfs;

/// First argument that makes the embedding program a launcher template.
pub(super) const LAUNCH_ARGUMENT: &str = "__launch";

/// Command: send SIGTERM to the program's process group.
pub(super) const STOP: &str = "stop\n";
/// Command: kill everything and exit.
pub(super) const END: &str = "end\n";

/// A program to start.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct LaunchRequest {
    pub command: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub folder: PathBuf,
    /// File for standard input. `None`: empty.
    pub stdin: Option<PathBuf>,
    /// The cgroup's files into which the program's process writes `0` before its exec.
    pub join: Vec<PathBuf>,
    /// Number of CPUs that the program may use: the first ones that taskscale may use. `None`: all.
    pub cpus: Option<u32>,
    /// Number of files that the program will have open, if known. Its limit is raised to that if possible.
    pub files: Option<u64>,
    /// The cgroup's folders, which the launcher empties and removes if taskscale dies.
    pub group: Vec<PathBuf>,
    /// The run's own working folder. Not sent: taskscale finds orphans by it if the launcher dies.
    #[serde(skip)]
    pub scratch: PathBuf,
}

/// An event that the launcher reports, one per line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum LauncherEvent {
    /// The process is about to exec, at this instant of the monotonic clock.
    Exec { at_ns: u64 },
    /// The exec succeeded.
    Started { pid: u32 },
    /// The program ended, at this instant of the monotonic clock, or could not be started.
    Ended { at_ns: u64, end: ProgramEnd },
    /// Everything below the launcher has ended.
    Empty,
    /// The launcher itself failed.
    Broken { why: String },
}

/// How a program ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ProgramEnd {
    /// It could not be started.
    Refused { why: String, errno: Option<i32> },
    /// It ran.
    Exited {
        code: Option<i32>,
        signal: Option<i32>,
        /// Peak resident memory in bytes. 0: unknown.
        rss_peak_bytes: u64,
        user_s: f64,
        system_s: f64,
        /// CPU seconds of orphans of the program that ended before it.
        #[serde(default)]
        orphans_s: f64,
        /// It was still running when it got SIGTERM, so its end may be the response.
        asked: bool,
    },
}

#[cfg(test)]
impl ProgramEnd {
    /// The end of a program that used nothing.
    pub fn exited(code: Option<i32>, signal: Option<i32>) -> ProgramEnd {
        let (user_s, system_s, orphans_s) = (0.0, 0.0, 0.0);
        ProgramEnd::Exited { code, signal, rss_peak_bytes: 0, user_s, system_s, orphans_s, asked: false }
    }
}

/// The monotonic clock in nanoseconds, the same for all processes since boot.
pub(super) fn now_ns() -> u64 {
    let now = rustix::time::clock_gettime(rustix::time::ClockId::Monotonic);
    now.tv_sec as u64 * 1_000_000_000 + now.tv_nsec as u64
}

/// Runs one launcher: starts the program, reports its events and handles commands until the run is over.
pub(super) fn launch() -> io::Result<()> {
    // Own session: Ctrl-C in the terminal reaches only taskscale, which decides what to do. Fails only if this
    // process already leads a process group.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))?;

    // Requests arrive and events leave over standard input. Use a copy of it that is closed on exec.
    let socket = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    let mut reader = BufReader::new(socket.try_clone()?);
    let mut line = String::new();
    if reader.read_line(&mut line)? == 0 {
        return Ok(());
    }
    let request: LaunchRequest = serde_json::from_str(&line)?;
    let children = child_signals()?;

    let main = match start(&request, socket.as_raw_fd()) {
        Ok(pid) => {
            send(&socket, &LauncherEvent::Started { pid });
            Some(pid)
        }
        Err(error) => {
            let is_name = request.command.first().is_some_and(|program| !program.contains('/'));
            let is_absent = error.kind() == io::ErrorKind::NotFound;
            let hint = if is_name && is_absent { "; give its path, as PATH is not searched" } else { "" };
            let end = ProgramEnd::Refused { why: format!("{error}{hint}"), errno: error.raw_os_error() };
            send(&socket, &LauncherEvent::Ended { at_ns: now_ns(), end });
            None
        }
    };

    let (mut asked, mut orphans_s) = (false, 0.0);
    loop {
        // A command that arrived with the request is already buffered, so poll would not report it.
        let heard = !reader.buffer().is_empty();
        // taskscale's command, its death, or the end of a child: whichever comes first.
        let mut waited = [PollFd::new(&socket, PollFlags::IN), PollFd::new(&children, PollFlags::IN)];
        let at_once = heard.then_some(&Timespec { tv_sec: 0, tv_nsec: 0 });
        retry_on_intr(|| poll(&mut waited, at_once))?;
        let (spoken, ended) = (heard || !waited[0].revents().is_empty(), !waited[1].revents().is_empty());
        if ended {
            drain(&children);
            reap(main, asked, &mut orphans_s, &socket);
        }
        if spoken {
            let mut command = String::new();
            let alive = matches!(reader.read_line(&mut command), Ok(length) if length > 0);
            if alive && command == STOP {
                asked = ask_to_stop(main);
                continue;
            }
            let ended = end_everything(&request.group, main, asked, orphans_s, &socket);
            if !alive {
                // taskscale is gone, so it cannot remove the cgroup.
                return remove_folders(&request.group);
            }
            // Without `Empty`, taskscale itself kills the remaining processes.
            if ended {
                send(&socket, &LauncherEvent::Empty);
            }
            return Ok(());
        }
    }
}

fn send(mut socket: &UnixStream, event: &LauncherEvent) {
    if let Ok(mut line) = serde_json::to_string(event) {
        line.push('\n');
        // If taskscale is gone, the next poll finds out.
        let _ = socket.write_all(line.as_bytes());
    }
}

fn start(request: &LaunchRequest, socket: RawFd) -> io::Result<u32> {
    let Some(program) = request.command.first() else {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the command is empty"));
    };
    let join = c_strings(request.join.iter().map(|path| path.as_os_str().as_encoded_bytes()))?;
    let words = c_strings(request.command.iter().map(String::as_str))?;
    let variables = c_strings(request.env.iter().map(|(name, value)| format!("{name}={value}")))?;
    let cpus = request.cpus.map(first_cpus).transpose()?;
    let files = request.files;
    let (word_list, variable_list) = (addresses(&words), addresses(&variables));
    let mut command = Command::new(program);
    let stdin = request.stdin.as_ref().map(File::open).transpose()?.map_or_else(Stdio::null, Stdio::from);
    command.env_clear().current_dir(&request.folder).stdin(stdin);
    // SAFETY: the closure runs between fork and exec in a process with one thread, and only makes system calls.
    unsafe {
        command.pre_exec(move || {
            // Moved into this closure, because `variable_list` has their addresses.
            let _variables = &variables;
            libc::setsid();
            // The launcher blocks SIGCHLD. A program that inherited that would wait forever, as dash does.
            let mut none: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&mut none);
            libc::sigprocmask(libc::SIG_SETMASK, &none, std::ptr::null_mut());
            // Address randomization stays on, as when a user starts the program. Without it, small footprints
            // would be steadier, but processes would share page tables more than in practice and cost 10% less.
            // If the launcher is killed, the program is killed as well.
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            // Closes all inherited descriptors except the standard three. Fails before Linux 5.11, where the
            // descriptors of taskscale and the launcher are closed on exec anyway.
            libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
            for file in &join {
                cgroup::join(file)?;
            }
            if let Some(files) = files {
                raise_file_limit(files);
            }
            if let Some(cpus) = &cpus {
                rustix::thread::sched_setaffinity(None, cpus)?;
            }
            send_exec(socket);
            // Not left to `Command`, whose execvp hands a file in an unknown format to /bin/sh.
            libc::execve(words[0].as_ptr(), word_list.as_ptr().cast(), variable_list.as_ptr().cast());
            Err(io::Error::last_os_error())
        });
    }
    command.spawn().map(|child| child.id())
}

/// Raises the limit of open files, as `ulimit -n` does. Beyond the hard limit only with CAP_SYS_RESOURCE.
fn raise_file_limit(wanted: u64) {
    let now = getrlimit(Resource::Nofile);
    if now.current.is_none_or(|current| current >= wanted) {
        return;
    }
    let beyond = Rlimit { current: Some(wanted), maximum: now.maximum.map(|hard| hard.max(wanted)) };
    if setrlimit(Resource::Nofile, beyond).is_err() {
        let _ = setrlimit(Resource::Nofile, Rlimit { current: now.maximum, maximum: now.maximum });
    }
}

/// The first `count` CPUs of those that this process may use, as in a container with that many.
fn first_cpus(count: u32) -> io::Result<rustix::thread::CpuSet> {
    let all = rustix::thread::sched_getaffinity(None)?;
    let mut some = rustix::thread::CpuSet::new();
    let mine = (0..rustix::thread::CpuSet::MAX_CPU).filter(|cpu| all.is_set(*cpu));
    mine.take(count as usize).for_each(|cpu| some.set(cpu));
    Ok(some)
}

fn c_strings<T: Into<Vec<u8>>>(texts: impl IntoIterator<Item = T>) -> io::Result<Vec<CString>> {
    Ok(texts.into_iter().map(CString::new).collect::<Result<_, _>>()?)
}

/// The null-terminated list that exec expects. Numbers, because the closure must be `Send`.
fn addresses(strings: &[CString]) -> Vec<usize> {
    strings.iter().map(|string| string.as_ptr() as usize).chain([0]).collect()
}

/// Sends `Exec` without allocating: this process is about to become the program.
fn send_exec(socket: RawFd) {
    let mut buffer = [0u8; 64];
    let mut cursor = io::Cursor::new(&mut buffer[..]);
    if writeln!(cursor, "{{\"exec\":{{\"at_ns\":{}}}}}", now_ns()).is_ok() {
        let length = cursor.position() as usize;
        // SAFETY: the buffer is valid for `length` bytes.
        unsafe { libc::write(socket, buffer.as_ptr().cast(), length) };
    }
}

/// A descriptor that becomes readable when a child ends.
fn child_signals() -> io::Result<OwnedFd> {
    // SAFETY: plain system calls on a signal set of our own. `start` empties the mask for the program.
    unsafe {
        let mut set = std::mem::zeroed::<libc::sigset_t>();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, libc::SIGCHLD);
        if libc::sigprocmask(libc::SIG_BLOCK, &set, std::ptr::null_mut()) != 0 {
            return Err(io::Error::last_os_error());
        }
        let descriptor = libc::signalfd(-1, &set, libc::SFD_CLOEXEC | libc::SFD_NONBLOCK);
        if descriptor < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(OwnedFd::from_raw_fd(descriptor))
    }
}

fn drain(descriptor: &OwnedFd) {
    let mut buffer = [0u8; 1024];
    while rustix::io::read(descriptor.as_fd(), &mut buffer).is_ok_and(|length| length > 0) {}
}

/// Sends SIGTERM to the program's process group. Returns whether the program itself was still running. Until
/// its end has been waited for, its pid cannot be reused.
fn ask_to_stop(main: Option<u32>) -> bool {
    let Some(pid) = main.and_then(|pid| Pid::from_raw(pid as i32)) else { return false };
    let flags = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    let Ok(ended) = waitid(WaitId::Pid(pid), flags) else { return false };
    let _ = kill_process_group(pid, Signal::TERM);
    ended.is_none()
}

/// Reaps children that have ended, without waiting, and reports the program's end. Returns whether any is left.
fn reap(main: Option<u32>, asked: bool, orphans_s: &mut f64, socket: &UnixStream) -> bool {
    loop {
        let mut status = 0;
        // SAFETY: rusage is plain data, and both pointers are valid.
        let (pid, usage) = unsafe {
            let mut usage = std::mem::zeroed::<libc::rusage>();
            (libc::wait4(-1, &mut status, libc::WNOHANG, &mut usage), usage)
        };
        let seconds = |time: libc::timeval| time.tv_sec as f64 + time.tv_usec as f64 / 1e6;
        let [user_s, system_s] = [usage.ru_utime, usage.ru_stime].map(seconds);
        match pid {
            0 => return true,
            pid if pid < 0 => return false,
            pid if Some(pid as u32) == main => {
                let at_ns = now_ns();
                let end = ProgramEnd::Exited {
                    code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
                    signal: libc::WIFSIGNALED(status).then(|| libc::WTERMSIG(status)),
                    rss_peak_bytes: own_rss_peak(usage.ru_maxrss as u64 * 1024),
                    user_s,
                    system_s,
                    orphans_s: *orphans_s,
                    asked,
                };
                send(socket, &LauncherEvent::Ended { at_ns, end });
            }
            _ => *orphans_s += user_s + system_s,
        }
    }
}

/// The program's own peak of resident memory in bytes, or 0 if unknown. A child's peak includes the time before
/// its exec, as a copy of this process, so it says nothing unless it is higher than this process's.
fn own_rss_peak(child: u64) -> u64 {
    let before_exec = procfs::status(std::process::id()).map_or(0, |status| status.rss_peak);
    if child > before_exec { child } else { 0 }
}

/// Kills every process in the run's cgroup and all descendants of this process. Returns whether none is left.
fn end_everything(
    group: &[PathBuf],
    main: Option<u32>,
    asked: bool,
    mut orphans_s: f64,
    socket: &UnixStream,
) -> bool {
    kill_all(group);
    // Each round kills all descendants, and their children become ours. Limited, because a fork bomb without a
    // cgroup could be faster. A killed process with much memory takes a while to end.
    for round in 0..5_000 {
        if !reap(main, asked, &mut orphans_s, socket) {
            return true;
        }
        procfs::kill(&procfs::descendants(std::process::id()));
        std::thread::sleep(Duration::from_millis(if round < 50 { 1 } else { 10 }));
    }
    false
}
