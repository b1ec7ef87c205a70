//! A launcher at work, as taskscale sees it: its events, and the program's output.

use std::io::{self, PipeReader, Read, Write};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::Signal;

use crate::launcher::{LaunchRequest, LauncherEvent};
use crate::launchers::{LauncherProcess, Launchers, Started};
use crate::{MeasureError, at};

/// How much of standard error is kept: its end.
const TAIL_BYTES: usize = 4096;

pub(super) struct Launched {
    pub request: LaunchRequest,
    /// Whether it was killed before its work was done.
    pub lost: bool,
    /// Whether it has sent its last event.
    over: bool,
    pub child: LauncherProcess,
    socket: UnixStream,
    stdout: Option<PipeReader>,
    stderr: Option<PipeReader>,
    unparsed: Vec<u8>,
    /// All bytes heard on standard error.
    pub stderr_bytes: u64,
    pub stderr_tail: Vec<u8>,
}

impl Launched {
    pub fn start(launchers: &Launchers, request: LaunchRequest) -> Result<Launched, MeasureError> {
        let Started { launcher, socket, stdout, stderr } =
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
            child: launcher,
            socket,
            stdout: Some(stdout),
            stderr: Some(stderr),
            unparsed: Vec::new(),
            stderr_bytes: 0,
            stderr_tail: Vec::new(),
        })
    }

    /// All that a poll can wait on.
    pub fn waited(&self) -> impl Iterator<Item = PollFd<'_>> {
        std::iter::once(PollFd::new(&self.socket, PollFlags::IN)).chain(self.pipes())
    }

    fn pipes(&self) -> impl Iterator<Item = PollFd<'_>> {
        let stdout = self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
        let stderr = self.stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN));
        stdout.into_iter().chain(stderr)
    }

    /// Whether there is unread output.
    pub fn pending_output(&self) -> bool {
        let mut waited: Vec<PollFd> = self.pipes().collect();
        poll(&mut waited, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
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
        let mut buffer = [0u8; 4096];
        let mut heard = Vec::new();
        loop {
            let length = match (&self.socket).read(&mut buffer) {
                Ok(length) => length,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(heard),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                // A socket whose other end was closed with commands unread in it.
                Err(error) if error.kind() == io::ErrorKind::ConnectionReset => 0,
                Err(error) => return Err(MeasureError::Launcher(error.to_string())),
            };
            if length == 0 {
                // The launcher closed its socket. It reports a failure of its own first: without a report it was killed.
                self.lost |= !self.over;
                return Ok(heard);
            }
            self.unparsed.extend_from_slice(&buffer[..length]);
            while let Some(end) = self.unparsed.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.unparsed.drain(..=end).collect();
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
    }

    /// Kills a launcher that does not do its work.
    pub fn give_up(&mut self) -> Result<(), MeasureError> {
        self.child.signal(Signal::KILL);
        at("wait for", "the launcher", self.child.wait())?;
        self.lost = true;
        Ok(())
    }

    /// Sends a command to the launcher. If it is gone, the next read reports that; if it was stopped, it continues.
    pub fn send(&self, command: &str) {
        let _ = (&self.socket).write_all(command.as_bytes());
        self.child.signal(Signal::CONT);
    }
}

/// Reads once; closes the pipe where it has ended.
fn read_some<T: Read + AsFd>(pipe: &mut Option<T>, buffer: &mut [u8]) -> usize {
    let Some(reader) = pipe else { return 0 };
    match reader.read(buffer) {
        Ok(0) => {
            *pipe = None;
            0
        }
        Ok(length) => length,
        // Nothing there now; other errors of a pipe do not occur.
        Err(_) => 0,
    }
}
