//! The least CPU time of a task: allocating an object for it, and touching memory for the first time. Measured
//! each time, as other work may slow the machine down. A program that creates tasks uses more, one that only
//! claims to usually less.

use std::hint::black_box;

use rustix::time::{ClockId, clock_gettime};

/// Objects per round.
const OBJECTS: usize = 1_000;
const ROUNDS: usize = 51;
/// The size of an object: every runtime stores at least a cache line per task.
const OBJECT_BYTES: usize = 64;
const TOUCHED_BYTES: usize = 4 << 20;

/// Costs in nanoseconds of CPU time.
#[derive(Debug, Clone, Copy)]
pub(super) struct Floor {
    /// Allocating an object, writing a time stamp to it, and freeing it.
    pub object_ns: f64,
    /// Mapping a byte of memory, writing it for the first time, and unmapping it.
    pub byte_ns: f64,
}

impl Floor {
    pub fn now() -> Floor {
        Floor { object_ns: median(objects) / OBJECTS as f64, byte_ns: median(touched) / TOUCHED_BYTES as f64 }
    }

    /// The least CPU time of `tasks` that use `bytes_per_task` each, in seconds.
    ///
    /// Two objects per task: one for the task, one for its timer, channel or handle. A first touch of memory
    /// can cost another process half more than it costs taskscale. One block for all tasks takes 0.7 of this
    /// time. The fastest of 90 entries (EPYC, Linux 6.18) times 1.7 times as long.
    pub fn tasks_s(&self, tasks: u64, bytes_per_task: f64) -> f64 {
        2.0 * self.object_ns * tasks as f64 / 1e9 + self.touch_s(tasks, bytes_per_task)
    }

    /// The share of memory in [`Floor::tasks_s`], in seconds.
    pub fn touch_s(&self, tasks: u64, bytes_per_task: f64) -> f64 {
        1.5 * self.byte_ns * bytes_per_task.max(0.0) * tasks as f64 / 1e9
    }
}

/// The median CPU time of a round, in nanoseconds.
fn median(mut round: impl FnMut()) -> f64 {
    let mut times: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let before = clock_ns(ClockId::ThreadCPUTime);
            round();
            (clock_ns(ClockId::ThreadCPUTime) - before) as f64
        })
        .collect();
    times.sort_by(f64::total_cmp);
    times[ROUNDS / 2]
}

/// Uses only the C library, so that a debug build of taskscale takes as long.
fn objects() {
    let mut all = [std::ptr::null_mut::<libc::c_void>(); OBJECTS];
    for object in &mut all {
        // SAFETY: a non-null result of malloc has room for the number that is written.
        unsafe {
            *object = black_box(libc::malloc(OBJECT_BYTES));
            if !object.is_null() {
                object.cast::<u64>().write(clock_ns(ClockId::Monotonic));
            }
        }
    }
    // SAFETY: each was returned by malloc, and is freed once.
    all.into_iter().for_each(|object| unsafe { libc::free(black_box(object)) });
}

fn touched() {
    // SAFETY: a new private mapping, written and unmapped within its size.
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

fn clock_ns(clock: ClockId) -> u64 {
    let time = clock_gettime(clock);
    time.tv_sec.unsigned_abs() * 1_000_000_000 + time.tv_nsec.unsigned_abs()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn least_cpu_time_adds_object_and_memory_cost() {
        let here = Floor::now();
        assert!(here.object_ns > 1.0 && here.byte_ns > 0.01, "{here:?}");
        let floor = Floor { object_ns: 50.0, byte_ns: 0.25 };
        assert!((floor.tasks_s(1_000_000, 200.0) - 0.175).abs() < 1e-9);
    }
}
