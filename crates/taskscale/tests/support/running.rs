//! A running taskscale, and its result.

use std::io::Read;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::thread;
use std::time::{Duration, Instant};

use taskscale::record::{Sample, Status, Warning};
use taskscale_measure::Measurement;

use super::{TIMEOUT, World};

/// A running taskscale.
pub struct RunningProcess<'a> {
    pub(super) _world: &'a World,
    pub(super) child: Child,
    pub(super) stdout: Option<thread::JoinHandle<String>>,
    pub(super) stderr: Option<thread::JoinHandle<String>>,
    pub(super) begun: Instant,
}

impl RunningProcess<'_> {
    pub fn pid(&self) -> u32 {
        self.child.id()
    }

    /// Sends a signal. The child was not reaped, so its number still means it.
    pub fn signal(&self, signal: i32) {
        // SAFETY: a plain system call.
        let sent = unsafe { libc::kill(self.child.id() as i32, signal) };
        assert_eq!(sent, 0, "a child that was not waited for can be signalled");
    }

    pub fn has_ended(&mut self) -> bool {
        self.child.try_wait().expect("a child").is_some()
    }

    pub fn wait(mut self) -> Finished {
        let deadline = Instant::now() + TIMEOUT;
        let status = loop {
            if let Some(status) = self.child.try_wait().expect("a child") {
                break status;
            }
            if Instant::now() > deadline {
                let _ = self.child.kill();
                let _ = self.child.wait();
                panic!("taskscale did not end within {TIMEOUT:?}");
            }
            thread::sleep(Duration::from_millis(1));
        };
        let took = self.begun.elapsed();
        let collected = |reader: Option<thread::JoinHandle<String>>| {
            reader.map(|reader| reader.join().expect("a reader")).unwrap_or_default()
        };
        Finished {
            status,
            took,
            stdout: collected(self.stdout.take()),
            stderr: collected(self.stderr.take()),
        }
    }
}

/// A taskscale that has ended.
#[derive(Debug)]
pub struct Finished {
    pub status: ExitStatus,
    pub took: Duration,
    pub stdout: String,
    pub stderr: String,
}

impl Finished {
    pub fn code(&self) -> i32 {
        let status = self.status;
        status
            .code()
            .unwrap_or_else(|| panic!("taskscale was ended by signal {:?}: {self:?}", status.signal()))
    }

    #[track_caller]
    pub fn expect_code(&self, code: i32) -> &Finished {
        assert_eq!(self.code(), code, "standard error:\n{}\nstandard output:\n{}", self.stderr, self.stdout);
        assert!(!self.stderr.contains("panicked"), "{}", self.stderr);
        self
    }

    /// Expects good samples and exit code 0, or 1 if one was CPU-starved.
    #[track_caller]
    pub fn expect_good<'a>(&self, samples: impl IntoIterator<Item = &'a Sample>) -> &Finished {
        let starved =
            samples.into_iter().inspect(|sample| assert_good(sample)).filter(|sample| was_starved(sample));
        self.expect_code(i32::from(starved.count() > 0))
    }

    #[track_caller]
    pub fn expect_said(&self, fragment: &str) -> &Finished {
        assert!(self.stderr.contains(fragment), "{fragment:?} is not in standard error:\n{}", self.stderr);
        self
    }
}

/// Whether a run was CPU-starved: it has no plateau, or tasks that woke too seldom. On a busy machine that is
/// correct for a good program, and no test depends on the machine.
pub fn was_starved(sample: &Measurement) -> bool {
    let by_others = [Warning::MachineBusy, Warning::CpuStarved];
    let has_warning = sample.warnings.iter().any(|warning| by_others.contains(warning));
    let reason = sample.reason.as_deref().unwrap_or_default();
    match sample.status {
        // A pause of the whole machine shows only in the reason.
        Status::NoPlateau => has_warning || reason.contains("taskscale was not scheduled"),
        Status::Partial => has_warning && reason.starts_with("could not keep up"),
        _ => false,
    }
}

/// Asserts that a sample is that of a good program, on any machine.
#[track_caller]
pub fn assert_good(sample: &Sample) {
    assert!(sample.status == Status::Ok || was_starved(sample), "{sample:?}");
}

pub(super) fn collect(mut pipe: impl Read + Send + 'static) -> thread::JoinHandle<String> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        let _ = pipe.read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}
