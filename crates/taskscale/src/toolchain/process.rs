//! Short commands whose output is wanted: bounded in time and in size, never through a shell.

use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// What is kept of each pipe. A version is a line.
const KEPT_BYTES: usize = 64 * 1024;
/// How often the command's end and its output are looked for.
const TICK: Duration = Duration::from_millis(2);

/// Runs `command` with no input and returns its output; ends it after `limit`, which is an error of kind `TimedOut`.
///
/// What it leaves in its process group is ended with it, and nothing is waited for after its end: a child that it left
/// may hold the pipes open for ever.
pub(super) fn output_within(command: &mut Command, limit: Duration) -> io::Result<Output> {
    let deadline = Instant::now() + limit;
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // Ctrl-C in the terminal no longer reaches a group of its own.
    end_with_taskscale(command);
    let mut child = command.spawn()?;
    let heard = hear(&mut child, deadline);
    // Its end was not waited for yet: the number still means its group.
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

/// Kills the command when taskscale ends, even by SIGKILL.
pub(super) fn end_with_taskscale(command: &mut Command) {
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
            Ok(())
        });
    }
}

/// What the command writes until it ends; `None` where it does not by the deadline.
fn hear(child: &mut Child, deadline: Instant) -> io::Result<Option<(Vec<u8>, Vec<u8>)>> {
    let pid = Pid::from_child(child);
    let pipes = [child.stdout.take().map(OwnedFd::from), child.stderr.take().map(OwnedFd::from)];
    for pipe in pipes.iter().flatten() {
        rustix::io::ioctl_fionbio(pipe, true)?;
    }
    let mut heard = [Vec::new(), Vec::new()];
    loop {
        let seen = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
        let ended = waitid(WaitId::Pid(pid), seen)?.is_some();
        // After its end, so that nothing it has written is missed.
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

/// Takes what is there now, and no more than a pipe holds: a command that writes without end is to be ended by its
/// deadline. Read and let go beyond what is kept, so that the command does not wait for its reader.
fn take(pipe: &OwnedFd, bytes: &mut Vec<u8>) {
    let mut buffer = [0u8; 64 * 1024];
    // An error means that nothing is there now; others of a pipe do not occur.
    if let Ok(length) = rustix::io::read(pipe, &mut buffer) {
        let room = KEPT_BYTES - bytes.len();
        bytes.extend_from_slice(&buffer[..length.min(room)]);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Longer than any test may take: a command that hangs is seen by that.
    const LONG: Duration = Duration::from_secs(3600);

    fn shell(script: &str) -> Command {
        let mut command = Command::new("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn both_outputs_and_the_status_are_returned() {
        let output = output_within(&mut shell("echo 1.2; echo said >&2; exit 3"), LONG).unwrap();
        assert_eq!((output.stdout.as_slice(), output.stderr.as_slice()), (&b"1.2\n"[..], &b"said\n"[..]));
        assert_eq!(output.status.code(), Some(3));
    }

    /// Without the fix this waits for the child, which holds the pipes.
    #[test]
    fn a_child_that_holds_the_pipes_is_not_waited_for_and_is_ended() {
        let output = output_within(&mut shell("sleep 100000 & echo $!; echo 1.2"), LONG).unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (pid, version) = text.split_once('\n').unwrap();
        assert_eq!(version, "1.2\n");
        let ended = || {
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            // Gone, a zombie that nobody has waited for yet, or another process of the same number.
            !stat.contains("(sleep)") || stat.contains(") Z ")
        };
        while !ended() {
            std::thread::yield_now();
        }
    }

    /// One that left its group is no longer ours to end, but is not waited for either.
    #[test]
    fn a_daemon_that_holds_the_pipes_is_not_waited_for() {
        let output = output_within(&mut shell("setsid sleep 30 & echo 1.2"), LONG).unwrap();
        assert_eq!(output.stdout, b"1.2\n");
    }

    #[test]
    fn a_command_that_never_ends_is_ended_with_its_children() {
        let error = output_within(&mut shell("sleep 100000 & wait"), Duration::from_millis(200)).unwrap_err();
        assert_eq!(
            (error.kind(), error.to_string().as_str()),
            (io::ErrorKind::TimedOut, "no answer within 0.2 s")
        );
        let error = output_within(&mut shell("yes"), Duration::from_millis(200)).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::TimedOut);
    }

    #[test]
    fn much_output_is_read_and_let_go() {
        let output = output_within(&mut shell("yes | head -c 1000000; echo 1.2 >&2"), LONG).unwrap();
        assert_eq!((output.stdout.len(), output.stderr.as_slice()), (KEPT_BYTES, &b"1.2\n"[..]));
        assert!(output.status.success());
    }
}
