//! Numbers of connections and latencies, in words.

use crate::units;

/// A number of connections, in words.
pub fn connections(count: u64) -> String {
    if count == 1 { "1 connection".to_owned() } else { format!("{} connections", units::count(count)) }
}

/// A latency in ms, from µs; whole milliseconds in full.
pub fn milliseconds(us: f64) -> String {
    if us % 1e3 == 0.0 {
        return format!("{} ms", units::grouped((us / 1e3) as u64));
    }
    format!("{} ms", units::significant(us / 1e3, 3))
}
