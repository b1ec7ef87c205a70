//! Starts launchers cheaply. Starting taskscale again takes at least 1.4 ms, a fork 0.15 ms, so taskscale
//! starts a template once and forks each launcher from it.
//!
//! The template has one thread, keeps no state of runs, and ends with taskscale, after its launchers. If it is
//! killed, its launchers continue, and the next run gets a new template.

use std::cell::RefCell;
use std::io::{self, IoSlice, IoSliceMut, PipeReader, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendAncillaryBuffer, SendAncillaryMessage,
    SendFlags, recvmsg, sendmsg,
};

use super::launcher::{LAUNCH_ARGUMENT, LaunchRequest, LauncherEvent, launch};

/// Number of descriptors that a launcher gets: its socket, and the pipes for the output of the program.
const DESCRIPTORS: usize = 3;
/// Timeout for a fork by the template.
const FORK_TIMEOUT: Duration = Duration::from_secs(60);

/// Starts launchers.
pub(super) struct Launchers {
    /// The program that becomes the template: taskscale itself, except in tests.
    pub program: PathBuf,
    template: RefCell<Option<LauncherTemplate>>,
}

/// A started launcher, and its channels.
pub(super) struct Started {
    pub pid: u32,
    pub socket: UnixStream,
    pub stdout: PipeReader,
    pub stderr: PipeReader,
}

impl Launchers {
    pub fn new(program: PathBuf) -> Launchers {
        Launchers { program, template: RefCell::new(None) }
    }

    /// Starts a launcher and sends it its request.
    pub fn start(&self, request: &LaunchRequest) -> io::Result<Started> {
        let started = self.launch()?;
        let mut line = serde_json::to_string(request)?;
        line.push('\n');
        (&started.socket).write_all(line.as_bytes())?;
        Ok(started)
    }

    fn launch(&self) -> io::Result<Started> {
        let mut place = self.template.borrow_mut();
        if let Some(Ok(started)) = place.as_ref().map(LauncherTemplate::launch) {
            return Ok(started);
        }
        // There is no template yet, or it was killed or stopped. If it has just forked a launcher, that one
        // exits now, because the other end of its socket is closed.
        if let Some(mut template) = place.take() {
            let _ = template.child.kill();
        }
        place.insert(LauncherTemplate::start(&self.program)?).launch()
    }
}

struct LauncherTemplate {
    child: Child,
    socket: Option<UnixStream>,
}

impl LauncherTemplate {
    fn start(program: &Path) -> io::Result<LauncherTemplate> {
        let (ours, theirs) = UnixStream::pair()?;
        ours.set_read_timeout(Some(FORK_TIMEOUT))?;
        let child = Command::new(program)
            .arg(LAUNCH_ARGUMENT)
            .env_clear()
            .stdin(Stdio::from(OwnedFd::from(theirs)))
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()?;
        Ok(LauncherTemplate { child, socket: Some(ours) })
    }

    /// Starts a launcher, which waits for its request.
    fn launch(&self) -> io::Result<Started> {
        let (socket, theirs) = UnixStream::pair()?;
        let ((stdout, out), (stderr, err)) = (io::pipe()?, io::pipe()?);
        let pid = self.fork(&[theirs.as_fd(), out.as_fd(), err.as_fd()])?;
        Ok(Started { pid, socket, stdout, stderr })
    }

    fn fork(&self, descriptors: &[BorrowedFd; DESCRIPTORS]) -> io::Result<u32> {
        let Some(mut socket) = self.socket.as_ref() else { return Err(io::ErrorKind::NotConnected.into()) };
        let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
        let mut control = SendAncillaryBuffer::new(&mut space);
        control.push(SendAncillaryMessage::ScmRights(descriptors));
        sendmsg(socket, &[IoSlice::new(b"+")], &mut control, SendFlags::NOSIGNAL)?;
        let mut answer = [0; 4];
        socket.read_exact(&mut answer)?;
        match i32::from_ne_bytes(answer) {
            pid if pid > 0 => Ok(pid as u32),
            errno => Err(io::Error::from_raw_os_error(-errno)),
        }
    }
}

impl Drop for LauncherTemplate {
    /// Closes the socket. The template then exits once all its launchers have ended.
    fn drop(&mut self) {
        self.socket = None;
        let _ = self.child.wait();
    }
}

/// Whether `init` was called.
static INITIALIZED: AtomicBool = AtomicBool::new(false);

/// Call this first in `main` of a program that measures: its launchers are copies of that program and must stay
/// small. In such a copy, this function does the work of a launcher and never returns.
pub fn init() {
    if std::env::args_os().nth(1).is_none_or(|first| first != LAUNCH_ARGUMENT) {
        INITIALIZED.store(true, Ordering::Relaxed);
        return;
    }
    let served = serve();
    // SIGCHLD is ignored, so waitpid returns only after all children have ended.
    // SAFETY: plain system calls.
    unsafe { while libc::waitpid(-1, std::ptr::null_mut(), 0) > 0 {} }
    std::process::exit(i32::from(served.is_err()));
}

/// Whether this program can be a launcher.
pub(super) fn is_initialized() -> bool {
    INITIALIZED.load(Ordering::Relaxed)
}

fn serve() -> io::Result<()> {
    // Own session: Ctrl-C in the terminal reaches only taskscale, which decides what to do.
    let _ = rustix::process::setsid();
    // SAFETY: installs no handler. Launchers that end leave no zombie.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_IGN) };
    let mut socket = UnixStream::from(rustix::io::fcntl_dupfd_cloexec(rustix::stdio::stdin(), 3)?);
    // Keep only the copy, which each launcher closes.
    rustix::stdio::dup2_stdin(std::fs::File::open("/dev/null")?)?;
    while let Some(descriptors) = receive(&socket)? {
        // SAFETY: this process has one thread, so its copy may do anything.
        match unsafe { libc::fork() } {
            0 => {
                drop(socket);
                std::process::exit(become_launcher(descriptors));
            }
            pid => {
                drop(descriptors);
                let errno = io::Error::last_os_error().raw_os_error().unwrap_or(libc::EAGAIN);
                socket.write_all(&(if pid > 0 { pid } else { -errno }).to_ne_bytes())?;
            }
        }
    }
    Ok(())
}

/// Receives the descriptors of the next launcher. `None`: taskscale has ended.
fn receive(socket: &UnixStream) -> io::Result<Option<[OwnedFd; DESCRIPTORS]>> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(DESCRIPTORS))];
    let mut control = RecvAncillaryBuffer::new(&mut space);
    let mut byte = [0];
    let received = retry_on_intr(|| {
        recvmsg(socket, &mut [IoSliceMut::new(&mut byte)], &mut control, RecvFlags::CMSG_CLOEXEC)
    })?;
    if received.bytes == 0 {
        return Ok(None);
    }
    let descriptors: Vec<OwnedFd> = control
        .drain()
        .filter_map(|message| match message {
            RecvAncillaryMessage::ScmRights(descriptors) => Some(descriptors),
            _ => None,
        })
        .flatten()
        .collect();
    let wrong = |_| io::Error::new(io::ErrorKind::InvalidData, "a launcher needs three descriptors");
    descriptors.try_into().map(Some).map_err(wrong)
}

/// Runs a launcher in the forked process, with the socket as standard input. Returns the exit code.
fn become_launcher([socket, stdout, stderr]: [OwnedFd; DESCRIPTORS]) -> i32 {
    let prepared = rustix::stdio::dup2_stdin(&socket)
        .and_then(|()| rustix::stdio::dup2_stdout(&stdout))
        .and_then(|()| rustix::stdio::dup2_stderr(&stderr));
    drop((socket, stdout, stderr));
    // SAFETY: installs no handler. Unlike the template, a launcher waits for its children.
    unsafe { libc::signal(libc::SIGCHLD, libc::SIG_DFL) };
    match prepared.map_err(io::Error::from).and_then(|()| launch()) {
        Ok(()) => 0,
        Err(error) => {
            let word =
                serde_json::to_string(&LauncherEvent::Broken { why: error.to_string() }).unwrap_or_default();
            // Ignore errors: taskscale may be gone.
            let _ = rustix::io::write(rustix::stdio::stdin(), format!("{word}\n").as_bytes());
            1
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A program that runs `first` and then sleeps. A child process writes it: otherwise a thread that forks
    /// meanwhile would keep the file open for writing, and it could not be executed.
    fn template(folder: &Path, first: &str) -> PathBuf {
        let path = folder.join(if first.is_empty() { "mute" } else { "template" });
        let write = r#"printf '#!/bin/sh\n%s\nexec sleep 1000\n' "$1" >"$0" && chmod 755 "$0""#;
        let written = Command::new("sh").args(["-c", write]).arg(&path).arg(first).status().unwrap();
        assert!(written.success());
        path
    }

    #[test]
    fn a_template_that_does_not_answer_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let mute = LauncherTemplate::start(&template(folder.path(), "")).unwrap();
        mute.socket.as_ref().unwrap().set_read_timeout(Some(Duration::from_millis(10))).unwrap();
        let launchers = Launchers::new(template(folder.path(), r"printf '\001\000\000\000' >&0"));
        *launchers.template.borrow_mut() = Some(mute);
        assert_eq!(launchers.launch().unwrap().pid, 1);
        launchers.template.borrow_mut().as_mut().unwrap().child.kill().unwrap();
    }
}
