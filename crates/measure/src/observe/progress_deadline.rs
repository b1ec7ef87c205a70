//! How long the processes of a run may take to end.

use std::time::{Duration, Instant};

/// Gives up on killing a run after this long without progress.
const KILL_TIMEOUT: Duration = Duration::from_secs(60);
/// A decrease of memory that counts as progress. The kernel takes minutes to close a million sockets of a
/// killed server on a slow machine.
const SIGN_BYTES: u64 = 1 << 20;

/// A deadline for processes to end, which moves while their memory decreases.
#[derive(Debug)]
pub(super) struct ProgressDeadline {
    since: Instant,
    least_bytes: Option<u64>,
}

impl ProgressDeadline {
    pub fn new() -> ProgressDeadline {
        ProgressDeadline { since: Instant::now(), least_bytes: None }
    }

    /// Whether the deadline has passed, given the memory in use now, in bytes.
    pub fn is_over(&mut self, bytes: Option<u64>, now: Instant) -> bool {
        if let Some(bytes) = bytes {
            let least = *self.least_bytes.get_or_insert(bytes);
            if bytes.saturating_add(SIGN_BYTES) <= least {
                (self.least_bytes, self.since) = (Some(bytes), now);
            }
        }
        now.duration_since(self.since) > KILL_TIMEOUT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_extends_while_memory_falls() {
        let mut deadline = ProgressDeadline::new();
        let begun = deadline.since;
        let mut over = |after_s: u64, mib: Option<u64>| {
            deadline.is_over(mib.map(|mib| mib << 20), begun + Duration::from_secs(after_s))
        };
        assert!(!over(50, Some(8_000)));
        assert!(!over(59, Some(7_000)));
        assert!(!over(118, Some(6_999)), "from 59 s on it has another minute");
        assert!(!over(170, Some(6_999)));
        assert!(!over(175, Some(9_000)), "growth is no sign");
        assert!(over(179, Some(6_999)));
        // Without memory values, only the time counts.
        let mut deadline = ProgressDeadline::new();
        let begun = deadline.since;
        assert!(!deadline.is_over(None, begun + Duration::from_secs(60)));
        assert!(deadline.is_over(None, begun + Duration::from_secs(61)));
    }
}
