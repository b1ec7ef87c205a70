//! taskscale's side of a running launcher: its events, and the program's output.

use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, kill_process};

use super::progress_deadline::ProgressDeadline;
use crate::cgroup::{Group, kill_all, processes_in};
use crate::launcher::{END, LaunchRequest, LauncherEvent};
use crate::launchers::{Launchers, Started};
use crate::{MeasureError, at, procfs};

/// Bytes kept from the end of standard error.
const TAIL_BYTES: usize = 4096;
const CONCURRENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

pub(super) struct Launched {
    pub request: LaunchRequest,
    /// Whether the launcher was killed before its work was done.
    pub lost: bool,
    /// Whether the launcher has sent its last event.
    over: bool,
    /// Set once the launcher was asked to kill everything, after which it reads no command.
    deadline: Option<ProgressDeadline>,
    pub pid: u32,
    socket: BufReader<UnixStream>,
    /// The beginning of an event that has not arrived completely.
    line: Vec<u8>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    /// Number of bytes read from standard error.
    pub stderr_bytes: u64,
    pub stderr_tail: Vec<u8>,
}

impl Launched {
    pub fn start(launchers: &Launchers, request: LaunchRequest) -> Result<Launched, MeasureError> {
        let Started { pid, socket, stdout, stderr } =
            at("start the launcher", &launchers.program, launchers.start(&request))?;
        let set = || -> io::Result<()> {
            socket.set_nonblocking(true)?;
            for descriptor in [stdout.as_fd(), stderr.as_fd()] {
                rustix::io::ioctl_fionbio(descriptor, true)?;
            }
            Ok(())
        };
        at("set up the pipes of", &launchers.program, set())?;
        Ok(Launched {
            request,
            lost: false,
            over: false,
            deadline: None,
            pid,
            socket: BufReader::new(socket),
            line: Vec::new(),
            stdout: Some(stdout),
            stderr: Some(stderr),
            stderr_bytes: 0,
            stderr_tail: Vec::new(),
        })
    }

    /// The descriptors to poll.
    pub fn waited(&self) -> impl Iterator<Item = PollFd<'_>> {
        std::iter::once(PollFd::new(self.socket.get_ref(), PollFlags::IN)).chain(self.pipes())
    }

    fn pipes(&self) -> impl Iterator<Item = PollFd<'_>> {
        [&self.stdout, &self.stderr].into_iter().flatten().map(|pipe| PollFd::new(pipe, PollFlags::IN))
    }

    /// Whether there is unread output.
    pub fn pending_output(&self) -> bool {
        let mut waited: Vec<PollFd> = self.pipes().collect();
        poll(&mut waited, Some(&CONCURRENT)).is_ok_and(|ready| ready > 0)
    }

    /// Reads available standard output into the buffer. Returns the number of bytes.
    pub fn read_stdout(&mut self, buffer: &mut [u8]) -> usize {
        read_some(&mut self.stdout, buffer)
    }

    /// Likewise for standard error, and keeps its end.
    pub fn read_stderr(&mut self, buffer: &mut [u8]) -> usize {
        let length = read_some(&mut self.stderr, buffer);
        self.stderr_bytes += length as u64;
        self.stderr_tail.extend_from_slice(&buffer[..length]);
        let excess = self.stderr_tail.len().saturating_sub(TAIL_BYTES);
        self.stderr_tail.drain(..excess);
        length
    }

    /// Receives the launcher's events. If it was killed, no more come, and `lost` is set.
    pub fn recv(&mut self) -> Result<Vec<LauncherEvent>, MeasureError> {
        let mut heard = Vec::new();
        loop {
            let is_whole = match self.socket.read_until(b'\n', &mut self.line) {
                Ok(_) => self.line.ends_with(b"\n"),
                // The other end was closed with unread commands.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => false,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(heard),
                Err(error) => return Err(MeasureError::Launcher(error.to_string())),
            };
            if !is_whole {
                // The launcher closed its socket. Without `Empty` or a reported failure before, it was killed.
                self.lost |= !self.over;
                return Ok(heard);
            }
            let line = std::mem::take(&mut self.line);
            let event: LauncherEvent = serde_json::from_slice(&line).map_err(|error| {
                MeasureError::Launcher(format!("it sent {:?}: {error}", String::from_utf8_lossy(&line)))
            })?;
            // Another launcher would fail in the same way.
            if let LauncherEvent::Broken { why } = event {
                return Err(MeasureError::Launcher(why));
            }
            self.over |= event == LauncherEvent::Empty;
            heard.push(event);
        }
    }

    /// Waits for the launcher to end, which closes the other end of the socket.
    pub fn wait(&self) -> io::Result<()> {
        retry_on_intr(|| poll(&mut [self.hung_up()], None))?;
        Ok(())
    }

    fn hung_up(&self) -> PollFd<'_> {
        PollFd::new(self.socket.get_ref(), PollFlags::empty())
    }

    /// Sends a signal to the launcher, unless it has ended: while its socket is open, its pid cannot be reused.
    fn signal(&self, signal: Signal) {
        let there = poll(&mut [self.hung_up()], Some(&CONCURRENT)) == Ok(0);
        if let Some(pid) = Pid::from_raw(self.pid as i32).filter(|_| there) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills the launcher if it was asked to kill everything and makes no progress, perhaps because the program stopped
    /// it. Returns whether it did. Fails if even the kernel cannot end the processes.
    pub fn give_up_if_stuck(&mut self, group: &dyn Group) -> Result<bool, MeasureError> {
        let stuck = self
            .deadline
            .as_mut()
            .is_some_and(|deadline| deadline.is_over(group.memory_now(), Instant::now()));
        if stuck {
            self.signal(Signal::KILL);
            at("wait for", "the launcher", self.wait())?;
            self.lost = true;
        }
        Ok(stuck)
    }

    /// Kills every process of a run whose launcher is gone. An error means that they do not end.
    pub fn kill_remaining(&self, group: &dyn Group) -> Result<(), MeasureError> {
        let mut deadline = ProgressDeadline::new();
        loop {
            kill_all(&self.request.group);
            // Some processes may be outside the run's cgroup, and no longer descend from ours. They keep the
            // environment that they started with: TMPDIR is the run's own folder, unless the user set it.
            let orphans = procfs::started_with("TMPDIR", &self.request.scratch);
            procfs::kill(&orphans);
            if orphans.is_empty() && processes_in(&self.request.group).is_empty() {
                return Ok(());
            }
            if deadline.is_over(group.memory_now(), Instant::now()) {
                return Err(MeasureError::Launcher("cannot kill the program's processes".into()));
            }
            std::thread::sleep(Duration::from_millis(5));
        }
    }

    /// Asks the launcher to kill everything.
    pub fn send_end(&mut self) {
        if self.deadline.is_none() {
            self.deadline = Some(ProgressDeadline::new());
            self.send(END);
        }
    }

    /// Whether the launcher was asked to kill everything.
    pub fn is_ending(&self) -> bool {
        self.deadline.is_some()
    }

    /// Sends a command to the launcher, and resumes it if it was stopped. The next read detects if it is gone.
    pub fn send(&mut self, command: &str) {
        let _ = self.socket.get_mut().write_all(command.as_bytes());
        self.signal(Signal::CONT);
    }
}

/// Reads once. Closes the pipe at its end.
fn read_some(pipe: &mut Option<PipeReader>, buffer: &mut [u8]) -> usize {
    let Some(reader) = pipe else { return 0 };
    let length = reader.read(buffer);
    if matches!(length, Ok(0)) {
        *pipe = None;
    }
    // Nothing to read now. Pipes have no other errors.
    length.unwrap_or(0)
}
