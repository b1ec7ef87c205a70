//! Latencies, in words.

use crate::units;

/// A latency in ms, given in µs. Whole milliseconds are shown in full.
pub fn milliseconds(us: f64) -> String {
    if us % 1e3 == 0.0 {
        return format!("{} ms", units::grouped((us / 1e3) as u64));
    }
    format!("{} ms", units::significant(us / 1e3, 3))
}
