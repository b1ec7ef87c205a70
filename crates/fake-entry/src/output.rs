//! Standard output and standard error, unbuffered: each message is written at once, in one write.
//!
//! Errors are ignored on purpose: a closed pipe or descriptor must change nothing else.

use std::fmt::Display;
use std::fs::File;
use std::io::Write;
use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::faults::Fault;

static STDOUT_CLOSED: AtomicBool = AtomicBool::new(false);

const STDOUT: i32 = 1;
const STDERR: i32 = 2;

pub fn out(bytes: &[u8]) {
    // Another file may have descriptor 1 by now.
    if !STDOUT_CLOSED.load(Ordering::Relaxed) {
        write(STDOUT, bytes);
    }
}

pub fn err(bytes: &[u8]) {
    write(STDERR, bytes);
}

/// A line on standard error.
pub fn complain(message: impl Display) {
    err(format!("fake-entry: {message}\n").as_bytes());
}

fn write(descriptor: i32, bytes: &[u8]) {
    // SAFETY: never dropped, so the descriptor is not closed.
    let mut file = ManuallyDrop::new(unsafe { File::from_raw_fd(descriptor) });
    let _ = file.write_all(bytes);
}

pub fn close_stdout() {
    STDOUT_CLOSED.store(true, Ordering::Relaxed);
    // SAFETY: nothing writes to it any more, see `out`.
    unsafe { libc::close(STDOUT) };
}

/// Writes exactly `bytes` bytes, and for `binary` a newline after them.
pub fn noise(kind: Fault, bytes: u64) {
    const PART: usize = 64 * 1024;
    const LINE: u64 = 64;
    let send = if kind == Fault::FloodStderr { err } else { out };
    let mut random: u64 = 1;
    let mut byte = |index: u64| match kind {
        Fault::Binary => {
            // Constants of Knuth's MMIX; the highest byte is the most random.
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (random >> 56) as u8
        }
        Fault::LongLine if index + 1 == bytes => b'\n',
        Fault::LongLine => b'x',
        _ if index + 1 == bytes || index % LINE == LINE - 1 => b'\n',
        _ => b'f',
    };
    for start in (0..bytes).step_by(PART) {
        let part: Vec<u8> = (start..bytes.min(start + PART as u64)).map(&mut byte).collect();
        send(&part);
    }
    if kind == Fault::Binary {
        out(b"\n");
    }
}
