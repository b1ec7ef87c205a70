//! OS threads: blocked ones, which are only there to be counted, and ones that use the CPU.

use std::io;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::time::ClockId;

use crate::processes::sleep_out;

pub const THIS_THREAD: ClockId = ClockId::ThreadCPUTime;
pub const ALL_THREADS: ClockId = ClockId::ProcessCPUTime;

/// Each thread also has a guard page (untouched) and a kernel stack.
const STACK_BYTES: usize = 64 * 1024;

static BLOCKED: AtomicU64 = AtomicU64::new(0);

/// Starts `count` threads that block until the process ends, and returns once they all run.
/// An error comes with how many were started.
///
/// `pthread_create` and not `std::thread`: the latter maps a signal stack and allocates per thread.
pub fn start_blocked(count: u64) -> Result<(), (u64, io::Error)> {
    let mut attributes = MaybeUninit::<libc::pthread_attr_t>::uninit();
    // SAFETY: initialises the attributes, then changes them.
    let attributes = unsafe {
        libc::pthread_attr_init(attributes.as_mut_ptr());
        libc::pthread_attr_setstacksize(attributes.as_mut_ptr(), STACK_BYTES);
        attributes.assume_init()
    };
    for started in 0..count {
        let mut id = MaybeUninit::<libc::pthread_t>::uninit();
        // SAFETY: the function refers to statics only; the thread is never joined.
        let error = unsafe { libc::pthread_create(id.as_mut_ptr(), &attributes, blocked, ptr::null_mut()) };
        if error != 0 {
            return Err((started, io::Error::from_raw_os_error(error)));
        }
    }
    while BLOCKED.load(Ordering::Relaxed) < count {
        thread::sleep(Duration::from_millis(1));
    }
    Ok(())
}

extern "C" fn blocked(_: *mut libc::c_void) -> *mut libc::c_void {
    BLOCKED.fetch_add(1, Ordering::Relaxed);
    sleep_out()
}

/// Starts a thread that uses a share of one core until then, and catches up after a late wake-up.
pub fn start_burning(percent: u64, until: Instant) -> io::Result<JoinHandle<()>> {
    thread::Builder::new().stack_size(STACK_BYTES).spawn(move || {
        let (start, cpu_at_start) = (Instant::now(), cpu(THIS_THREAD));
        while Instant::now() < until {
            let due = start.elapsed().mul_f64(percent as f64 / 100.0);
            if percent < 100 && cpu(THIS_THREAD).saturating_sub(cpu_at_start) >= due {
                thread::sleep(Duration::from_millis(5));
            } else {
                (0..10_000).for_each(|_| std::hint::spin_loop());
            }
        }
    })
}

/// Uses this much CPU time of this thread, or of the whole process, however long it takes.
pub fn burn(clock: ClockId, time: Duration) {
    let until = cpu(clock) + time;
    while !time.is_zero() && cpu(clock) < until {
        std::hint::spin_loop();
    }
}

/// CPU time of this thread, or of the whole process, so far.
pub fn cpu(clock: ClockId) -> Duration {
    let time = rustix::time::clock_gettime(clock);
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}
