//! SIGINT, SIGTERM and SIGHUP as a flag and a descriptor that a poll can wait on.

use std::io;
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::net::UnixStream;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Whether the user has asked to stop.
#[derive(Debug)]
pub struct Interrupt {
    signal: Arc<AtomicUsize>,
    wake: UnixStream,
    // The other end, kept open so that `wake` never reads as closed.
    notify: UnixStream,
}

impl Interrupt {
    /// Catches SIGINT, SIGTERM and SIGHUP.
    pub fn install() -> io::Result<Interrupt> {
        let interrupt = Interrupt::never()?;
        interrupt.wake.set_nonblocking(true)?;
        for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
            // Started under nohup: taskscale must outlive the terminal.
            if number == libc::SIGHUP && is_ignored(number) {
                continue;
            }
            signal_hook::flag::register_usize(number, Arc::clone(&interrupt.signal), number as usize)?;
            signal_hook::low_level::pipe::register(number, interrupt.notify.try_clone()?)?;
        }
        Ok(interrupt)
    }

    /// An interrupt that never comes, for tests and for callers that handle signals themselves.
    pub fn never() -> io::Result<Interrupt> {
        let (wake, notify) = UnixStream::pair()?;
        Ok(Interrupt { signal: Arc::default(), wake, notify })
    }

    /// The number of the signal that arrived, if any.
    pub fn signal(&self) -> Option<i32> {
        Some(self.signal.load(Ordering::Relaxed) as i32).filter(|number| *number != 0)
    }

    /// Becomes readable when a signal arrives.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.wake.as_fd()
    }
}

fn is_ignored(signal: i32) -> bool {
    // SAFETY: only reads the current action into plain data.
    unsafe {
        let mut action = std::mem::zeroed::<libc::sigaction>();
        libc::sigaction(signal, std::ptr::null(), &mut action) == 0 && action.sa_sigaction == libc::SIG_IGN
    }
}
