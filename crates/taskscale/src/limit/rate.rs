//! Whether a server keeps up with a rate of messages, and where it will cease to. From samples alone. Pure.

use super::border::Prediction;
use super::proof::{Cause, Proof, heap_full, reason};
use super::search::Seen;
use crate::record::{OpenLoad, Sample, Status, Warning};
use crate::units;

/// How long the clients of a run talk at its rate, in seconds.
pub const OPEN_S: f64 = 3.0;
/// By what share a server that is behind does more or less than one that just keeps up.
const BEHIND: f64 = 0.02;

/// Judges a run: did all messages come, at the rate at which they were due, and 99 of 100 of them within the bound?
pub fn judge(sample: &Sample, p99_us: u64) -> Proof {
    match sample.status {
        Status::Ok => {}
        Status::KilledOom => return Proof::Fails(Cause::Memory, reason(sample)),
        Status::TimedOut => return Proof::Fails(Cause::Time, reason(sample)),
        Status::Limit => return Proof::Fails(Cause::SystemLimit, reason(sample)),
        _ => {
            let cause = if heap_full(sample).is_some() { Cause::OwnHeap } else { Cause::Other };
            return Proof::Fails(cause, reason(sample));
        }
    }
    let Some(open) = open(sample) else {
        return Proof::Fails(Cause::Other, "no messages were sent at a rate".to_owned());
    };
    let (cause, why) = if sample.warnings.contains(&Warning::RateNotReached) {
        let per_s = |per_s: f64| units::grouped(per_s.round() as u64);
        let (came, due) = (per_s(open.achieved_per_s), per_s(open.offered_per_s));
        (Cause::Rate, format!("messages came at {came} a second, and {due} were due"))
    } else if open.latency_us.p99 >= p99_us as f64 {
        let (p99, bound) = (milliseconds(open.latency_us.p99), milliseconds(p99_us as f64));
        (Cause::Latency, format!("p99 was {p99}, and is to be below {bound}"))
    } else {
        return Proof::Holds;
    };
    // Server and clients had to wait for others: a failure then says nothing of either.
    if sample.warnings.contains(&Warning::MachineBusy) {
        return Proof::Void(cause, format!("{why}, while others kept the machine busy"));
    }
    Proof::Fails(cause, why)
}

/// Where a server will cease to keep up: what it did where it was behind.
pub fn forecast(seen: &[Seen]) -> Option<Prediction> {
    let behind = seen.iter().filter(|run| run.proof.cause() == Some(Cause::Rate));
    let rates = behind.filter_map(|run| open(run.sample));
    let nearest = rates.min_by(|a, b| a.offered_per_s.total_cmp(&b.offered_per_s))?;
    Some(Prediction { value: nearest.achieved_per_s, doubt: BEHIND })
}

/// What clients saw of the messages that came at a rate.
pub fn open(sample: &Sample) -> Option<&OpenLoad> {
    sample.load.as_ref()?.open.as_ref()
}

/// How many, for a sentence.
pub fn connections(count: u64) -> String {
    if count == 1 { "1 connection".to_owned() } else { format!("{} connections", units::count(count)) }
}

/// A latency, for a sentence; a bound as it was given, where that was in whole milliseconds.
pub fn milliseconds(us: f64) -> String {
    if us % 1e3 == 0.0 {
        return format!("{} ms", units::grouped((us / 1e3) as u64));
    }
    format!("{} ms", units::significant(us / 1e3, 3))
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
