//! Times of a run, in nanoseconds since it began.

use rustix::time::{ClockId, clock_gettime};

use crate::launcher::now_ns;
use crate::sampler::seconds;

/// Time in which taskscale neither ran nor had to wait, in seconds, that is a pause of the machine or of taskscale.
const PAUSE_S: f64 = 1.0;

/// The monotonic clock, from the beginning of a run.
#[derive(Debug, Clone, Copy)]
pub struct Clock {
    begun_ns: u64,
}

impl Clock {
    pub fn start() -> Clock {
        Clock { begun_ns: now_ns() }
    }

    pub fn now_ns(self) -> u64 {
        self.since_begun_ns(now_ns())
    }

    /// Converts a time of the monotonic clock, which another process may have read.
    pub fn since_begun_ns(self, at_ns: u64) -> u64 {
        at_ns.saturating_sub(self.begun_ns)
    }
}

/// A time of a run, with the CPU time that this thread has used.
#[derive(Debug, Clone, Copy)]
pub struct Moment {
    pub at_ns: u64,
    cpu_ns: u64,
}

impl Moment {
    pub fn now(clock: Clock) -> Moment {
        let used = clock_gettime(ClockId::ThreadCPUTime);
        Moment { at_ns: clock.now_ns(), cpu_ns: used.tv_sec as u64 * 1_000_000_000 + used.tv_nsec as u64 }
    }

    /// The pause between this moment and a later one, in nanoseconds, if taskscale meant to wait for `wait_s` at most.
    pub fn pause_ns(self, later: Moment, wait_s: f64) -> Option<u64> {
        let late_s = seconds(self.at_ns, later.at_ns) - seconds(self.cpu_ns, later.cpu_ns) - wait_s;
        (late_s > PAUSE_S).then_some((late_s * 1e9) as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_without_cpu_and_without_wait_is_a_pause() {
        for (what, elapsed_s, cpu_s, wait_s, pause_s) in [
            ("a wait", 10, 0, 10.0, None),
            ("a wait that a line ended", 2, 0, 10.0, None),
            ("a wait that ended late", 15, 0, 10.0, Some(5)),
            ("a long reading of memory", 5, 5, 0.0, None),
            ("a reading of memory in which the machine was paused", 9, 2, 0.0, Some(7)),
            ("a short delay", 1, 0, 0.0, None),
        ] {
            let at =
                |at_s: u64, cpu_s: u64| Moment { at_ns: at_s * 1_000_000_000, cpu_ns: cpu_s * 1_000_000_000 };
            let pause_ns = at(100, 50).pause_ns(at(100 + elapsed_s, 50 + cpu_s), wait_s);
            assert_eq!(pause_ns, pause_s.map(|pause_s: u64| pause_s * 1_000_000_000), "{what}");
        }
    }
}
