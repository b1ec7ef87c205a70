//! Classifies whether a server keeps up with a message rate, and predicts the highest one. Pure: uses samples
//! alone.

use super::boundary_search::Prediction;
use super::outcome::{Cause, ClassifiedRun, Outcome, heap_full, reason};
use crate::record::{OpenLoad, Sample, Status, Warning};
use crate::units;

/// How long the clients of a run send at its rate, in seconds.
pub const OPEN_S: f64 = 3.0;
/// The doubt of a prediction from a server that fell behind, as a share.
const BEHIND: f64 = 0.02;

/// Classifies a run: all messages must arrive at the requested rate, with a p99 latency below the bound.
pub fn classify(sample: &Sample, p99_us: u64) -> Outcome {
    let ended_by = match sample.status {
        Status::Ok => None,
        Status::KilledOom => Some(Cause::Memory),
        Status::TimedOut => Some(Cause::Time),
        Status::Limit => Some(Cause::SystemLimit),
        _ if heap_full(sample).is_some() => Some(Cause::OwnHeap),
        _ => Some(Cause::Other),
    };
    if let Some(cause) = ended_by {
        return Outcome::Fails(cause, reason(sample));
    }
    let Some(open) = open(sample) else {
        return Outcome::Fails(Cause::Other, "no open loop ran".to_owned());
    };
    let bound_us = p99_us as f64;
    let (cause, why) = match open.p99_us() {
        _ if !open.is_reached() => {
            let per_s = |per_s: f64| units::grouped(per_s.round() as u64);
            let (came, due) = (per_s(open.achieved_per_s), per_s(open.offered_per_s));
            let why = format!("{came} of {due} messages/s arrived{}", used(open));
            (if open.is_client_limited() { Cause::Clients } else { Cause::Rate }, why)
        }
        Some(p99) if p99 < bound_us => return Outcome::Passes,
        Some(p99) => {
            let late = units::milliseconds(open.client_late_us.unwrap_or(0.0));
            let why =
                format!("p99 was {}, above {}", units::milliseconds(p99), units::milliseconds(bound_us));
            match open.is_client_limited() {
                true => (Cause::Clients, format!("{why}; the clients sent {late} late")),
                false => (Cause::Latency, why),
            }
        }
        None => (Cause::Rate, "no message arrived".to_owned()),
    };
    // Server and clients waited for CPUs: the failure proves nothing.
    if sample.warnings.contains(&Warning::MachineBusy) {
        return Outcome::Inconclusive(cause, format!("{why}, on a busy machine"));
    }
    Outcome::Fails(cause, why)
}

/// The CPUs that server and clients used, to see which of them was the limit.
fn used(open: &OpenLoad) -> String {
    let seconds = open.messages as f64 / open.achieved_per_s;
    let cpus = |share: f64| units::decimal(share, 2);
    let server = open.server_cpu_s.filter(|_| seconds.is_finite() && seconds > 0.0);
    match (server, open.client_cpu_share) {
        (Some(server_s), Some(clients)) => {
            let (server, clients) = (cpus(server_s / seconds), cpus(clients));
            format!(" (CPUs used: server {server}, busiest client process {clients} of 1)")
        }
        _ => String::new(),
    }
}

/// Predicts the rate at which a server stops keeping up: the rate that it achieved when behind.
pub fn predict(seen: &[ClassifiedRun]) -> Option<Prediction> {
    let behind = seen.iter().filter(|run| matches!(run.outcome.cause(), Some(Cause::Rate | Cause::Clients)));
    let rates = behind.filter_map(|run| open(run.sample));
    let nearest = rates.min_by(|a, b| a.offered_per_s.total_cmp(&b.offered_per_s))?;
    Some(Prediction { value: nearest.achieved_per_s, doubt: BEHIND })
}

/// The results of the open loop.
pub fn open(sample: &Sample) -> Option<&OpenLoad> {
    sample.load.as_ref()?.open.as_ref()
}

#[cfg(test)]
#[path = "rate_tests.rs"]
mod tests;
