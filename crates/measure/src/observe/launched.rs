//! A launcher at work, as taskscale sees it: its events, and the program's output.

use std::io::{self, BufRead, BufReader, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::retry_on_intr;
use rustix::process::{Pid, Signal, kill_process};

use crate::launcher::{LaunchRequest, LauncherEvent};
use crate::launchers::{Launchers, Started};
use crate::{MeasureError, at};

/// How much of standard error is kept: its end.
const TAIL_BYTES: usize = 4096;
const AT_ONCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };

pub(super) struct Launched {
    pub request: LaunchRequest,
    /// Whether it was killed before its work was done.
    pub lost: bool,
    /// Whether it has sent its last event.
    over: bool,
    pub pid: u32,
    socket: BufReader<UnixStream>,
    /// The event of which the end is still to come.
    line: Vec<u8>,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    /// All bytes heard on standard error.
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
            pid,
            socket: BufReader::new(socket),
            line: Vec::new(),
            stdout: Some(stdout),
            stderr: Some(stderr),
            stderr_bytes: 0,
            stderr_tail: Vec::new(),
        })
    }

    /// All that a poll can wait on.
    pub fn waited(&self) -> impl Iterator<Item = PollFd<'_>> {
        std::iter::once(PollFd::new(self.socket.get_ref(), PollFlags::IN)).chain(self.pipes())
    }

    fn pipes(&self) -> impl Iterator<Item = PollFd<'_>> {
        [&self.stdout, &self.stderr].into_iter().flatten().map(|pipe| PollFd::new(pipe, PollFlags::IN))
    }

    /// Whether there is unread output.
    pub fn pending_output(&self) -> bool {
        let mut waited: Vec<PollFd> = self.pipes().collect();
        poll(&mut waited, Some(&AT_ONCE)).is_ok_and(|ready| ready > 0)
    }

    /// The next piece of standard output, as much as there is room for.
    pub fn read_stdout(&mut self, buffer: &mut [u8]) -> usize {
        read_some(&mut self.stdout, buffer)
    }

    /// The next piece of standard error; its end is kept.
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
                // A socket whose other end was closed with commands unread in it.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => false,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(heard),
                Err(error) => return Err(MeasureError::Launcher(error.to_string())),
            };
            if !is_whole {
                // The launcher closed its socket. It reports a failure of its own first: without a report it was killed.
                self.lost |= !self.over;
                return Ok(heard);
            }
            let line = std::mem::take(&mut self.line);
            let event: LauncherEvent = serde_json::from_slice(&line).map_err(|error| {
                MeasureError::Launcher(format!("it sent {:?}: {error}", String::from_utf8_lossy(&line)))
            })?;
            // What it could not do now, another could not do either.
            if let LauncherEvent::Broken { why } = event {
                return Err(MeasureError::Launcher(why));
            }
            self.over |= event == LauncherEvent::Empty;
            heard.push(event);
        }
    }

    /// Waits for its end, by the end of its side of the socket, which no other process has.
    pub fn wait(&self) -> io::Result<()> {
        retry_on_intr(|| poll(&mut [self.hung_up()], None))?;
        Ok(())
    }

    fn hung_up(&self) -> PollFd<'_> {
        PollFd::new(self.socket.get_ref(), PollFlags::empty())
    }

    /// Sends it a signal, unless it has ended: as long as its socket is open its number means it.
    fn signal(&self, signal: Signal) {
        let there = poll(&mut [self.hung_up()], Some(&AT_ONCE)) == Ok(0);
        if let Some(pid) = Pid::from_raw(self.pid as i32).filter(|_| there) {
            let _ = kill_process(pid, signal);
        }
    }

    /// Kills a launcher that does not do its work.
    pub fn give_up(&mut self) -> Result<(), MeasureError> {
        self.signal(Signal::KILL);
        at("wait for", "the launcher", self.wait())?;
        self.lost = true;
        Ok(())
    }

    /// Sends a command to the launcher. If it is gone, the next read reports that; if it was stopped, it continues.
    pub fn send(&mut self, command: &str) {
        let _ = self.socket.get_mut().write_all(command.as_bytes());
        self.signal(Signal::CONT);
    }
}

/// Reads once; closes the pipe where it has ended.
fn read_some(pipe: &mut Option<PipeReader>, buffer: &mut [u8]) -> usize {
    let Some(reader) = pipe else { return 0 };
    let length = reader.read(buffer);
    if matches!(length, Ok(0)) {
        *pipe = None;
    }
    // Nothing there now; other errors of a pipe do not occur.
    length.unwrap_or(0)
}
