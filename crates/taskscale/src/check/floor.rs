//! What no task can do without, measured each time, as others may slow this machine down: the CPU time of remembering one,
//! and of the first touch of memory. A program that makes tasks uses more; one that only says so mostly uses less.

use std::hint::black_box;

/// Objects of a round.
const OBJECTS: usize = 1_000;
const ROUNDS: usize = 51;
/// What is remembered of a task: no runtime has less than a cache line of it.
const OBJECT_BYTES: usize = 64;
const TOUCHED_BYTES: usize = 4 << 20;

/// In nanoseconds of CPU.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor {
    /// An object is allocated, gets a time stamp, and is freed.
    pub object_ns: f64,
    /// A byte of memory is used for the first time, and given back.
    pub byte_ns: f64,
}

impl Floor {
    pub fn now() -> Floor {
        Floor { object_ns: median(objects) / OBJECTS as f64, byte_ns: median(touched) / TOUCHED_BYTES as f64 }
    }

    /// What `tasks` take at least that hold so many bytes each, in seconds.
    ///
    /// A task is remembered by its runtime and by its timer, channel or handle. A process that touches memory for the first
    /// time pays up to a half more than this one does. One block for all tasks takes 0.7 of it; of 90 entries (EPYC, Linux
    /// 6.18) the least took 1.7 times as much.
    pub fn tasks_s(&self, tasks: u64, bytes_per_task: f64) -> f64 {
        (2.0 * self.object_ns + 1.5 * self.byte_ns * bytes_per_task.max(0.0)) * tasks as f64 / 1e9
    }
}

/// CPU time of one round, in nanoseconds.
fn median(mut round: impl FnMut()) -> f64 {
    let mut took: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let before = clock_ns(libc::CLOCK_THREAD_CPUTIME_ID);
            round();
            (clock_ns(libc::CLOCK_THREAD_CPUTIME_ID) - before) as f64
        })
        .collect();
    took.sort_by(f64::total_cmp);
    took[ROUNDS / 2]
}

/// By the C library alone: it takes as long in a build of taskscale that is not optimized.
fn objects() {
    let mut all = [std::ptr::null_mut::<libc::c_void>(); OBJECTS];
    for object in &mut all {
        // SAFETY: what malloc returns, if anything, has room for the number that is written.
        unsafe {
            *object = black_box(libc::malloc(OBJECT_BYTES));
            if !object.is_null() {
                object.cast::<u64>().write(clock_ns(libc::CLOCK_MONOTONIC));
            }
        }
    }
    // SAFETY: each was returned by malloc, and is freed once.
    all.into_iter().for_each(|object| unsafe { libc::free(black_box(object)) });
}

fn touched() {
    // SAFETY: a new mapping that nobody else knows, of the size that is written and given back.
    unsafe {
        let (protection, flags) =
            (libc::PROT_READ | libc::PROT_WRITE, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        let memory = libc::mmap(std::ptr::null_mut(), TOUCHED_BYTES, protection, flags, -1, 0);
        if memory != libc::MAP_FAILED {
            libc::madvise(memory, TOUCHED_BYTES, libc::MADV_NOHUGEPAGE);
            black_box(libc::memset(memory, 1, TOUCHED_BYTES));
            libc::munmap(memory, TOUCHED_BYTES);
        }
    }
}

fn clock_ns(clock: libc::clockid_t) -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time` only.
    unsafe { libc::clock_gettime(clock, &mut time) };
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neither_costs_nothing() {
        let here = Floor::now();
        assert!(here.object_ns > 1.0 && here.byte_ns > 0.01, "{here:?}");
        let floor = Floor { object_ns: 50.0, byte_ns: 0.25 };
        assert!((floor.tasks_s(1_000_000, 200.0) - 0.175).abs() < 1e-9);
    }
}
