//! Runs short commands for their output, bounded in time and size, never through a shell.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{
    Pid, Signal, WaitId, WaitIdOptions, kill_process_group, set_parent_process_death_signal, waitid,
};

/// Bytes kept of each pipe. A version is one line, and a histogram of a JVM's heap a line per class.
const KEPT_BYTES: usize = 4 << 20;
/// How often the command's exit and its output are polled.
const TICK: Duration = Duration::from_millis(2);

/// Runs `command` without input and returns its output. Kills it after `limit`, which is an error of kind
/// `TimedOut`.
///
/// Kills what it leaves in its process group, and waits for nothing after its exit: a child may keep the pipes
/// open forever.
pub fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // Ctrl-C in the terminal does not reach another process group.
    end_with_taskscale(command, Signal::KILL);
    let mut child = command.spawn()?;
    let heard = wait_for_output(&mut child, deadline);
    // It was not reaped yet, so its number still means its group.
    let _ = kill_process_group(Pid::from_child(&child), Signal::KILL);
    let status = child.wait()?;
    match heard? {
        Some((stdout, stderr)) => Ok(Output { status, stdout, stderr }),
        None => {
            let message = format!("no answer within {} s", limit.as_secs_f64());
            Err(io::Error::new(io::ErrorKind::TimedOut, message))
        }
    }
}

/// Sends the command this signal when taskscale ends, even by SIGKILL.
pub fn end_with_taskscale(command: &mut Command, signal: Signal) {
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(move || Ok(set_parent_process_death_signal(Some(signal))?));
    }
}

/// The output and errors of the command until it exits. `None` if it still runs at the deadline.
fn wait_for_output(child: &mut Child, deadline: Instant) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let pid = Pid::from_child(child);
    let pipes = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
    for pipe in pipes.iter().flatten() {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    let mut heard = [Vec::new(), Vec::new()];
    loop {
        let seen = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(pid), seen)?.is_some();
        // Read after the check for its exit, so that no output is missed.
        for (pipe, bytes) in pipes.iter().zip(&mut heard) {
            pipe.iter().for_each(|pipe| take(pipe, bytes));
        }
        if ended {
            return Ok(Some(heard.into()));
        }
        if Instant::now() > deadline {
            return Ok(None);
        }
        thread::sleep(TICK);
    }
}

/// Reads what the pipe has now, at most 64 KiB, so that a command that writes endlessly still hits its
/// deadline. Reads and drops more than is kept, so that the command never waits for its reader.
fn take(pipe: &OwnedFd, bytes: &mut Vec<u8>) {
    let mut buffer = [0u8; 64 * 1024];
    // An error means that the pipe is empty. Other errors of a pipe do not occur.
    if let Ok(length) = rustix::io::read(pipe, &mut buffer) {
        let room = KEPT_BYTES - bytes.len();
        bytes.extend_from_slice(&buffer[..length.min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test may take, so that a hang is noticed.
    const LONG: Duration = Duration::from_secs(3600);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn stdout_stderr_and_exit_status_are_returned() {
        let output = output_within(&mut shell("echo 1.2; echo said >&2; exit 3"), LONG).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"1.2\n"[..], &b"said\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    /// A bug would wait for the child, which keeps the pipes open.
    #[test]
    fn children_that_keep_pipes_open_are_killed() {
        let output = output_within(&mut shell("sleep 100000 & echo $!; echo 1.2"), LONG).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (pid, version) = text.split_once('\n').unwrap();
        assert_eq!(version, "1.2\n");
        let ended = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // Gone, a zombie that was not reaped yet, or another process with the same number.
            !stat.contains("(sleep)") || stat.contains(") Z ")
        };
        while !ended() {
            std::thread::yield_now();
        }
    }

    /// A daemon has left the process group: it is neither killed nor waited for.
    #[test]
    fn daemons_that_keep_pipes_open_are_not_awaited() {
        let left_group = "until [ \"$(cut -d' ' -f5 /proc/$!/stat)\" = $! ]; do :; done";
        let daemon = format!("setsid sleep 100000 & {left_group}; echo $!");
        let output = output_within(&mut shell(&daemon), LONG).unwrap();
        let pid = String::from_utf8(output.stdout).unwrap().trim().parse().unwrap();
        let pid = rustix::process::Pid::from_raw(pid).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::KILL).expect("it still runs");
    }

    #[test]
    fn endless_commands_are_killed_with_their_children() {
        let error = output_within(&mut shell("sleep 100000 & wait"), Duration::from_millis(200)).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::TimedOut, "no answer within 0.2 s")
        );
        let error = output_within(&mut shell("yes"), Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn excess_output_is_discarded() {
        let output = output_within(&mut shell("yes | head -c 5000000; echo 1.2 >&2"), LONG).unwrap();
        assert_eq!((output.stdout.len(), output.stderr.as_slice()), (KEPT_BYTES, &b"1.2\n"[..]));
        assert!(output.status.success());
    }
}
