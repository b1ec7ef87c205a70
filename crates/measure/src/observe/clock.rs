//! Times of a run, in nanoseconds since it began.

use crate::launcher::now_ns;

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
