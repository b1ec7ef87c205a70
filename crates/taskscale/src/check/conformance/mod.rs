//! Tests a server of the catalog byte by byte, and reports faults in its answers.
//!
//! docs/workloads.md specifies servers. A conformance run is a list of cases (`echo`, `chat`, `wrong_frames`) over blocking
//! sockets (`peer`, `websocket`) with time limits. Must not know how the server was started.

mod case;
mod chat;
mod concurrency;
mod echo;
mod peer;
mod websocket;
mod wrong_frames;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Serialize;
use taskscale_load::Client;

use self::case::{ConformanceCase, ConformanceRun, MAX_SILENCES};
use self::peer::Terms;

pub(super) use self::case::ConformanceFault;

/// The most connections that are open at once, which is also the server's number of tasks.
pub(super) const CONNECTIONS: u64 = 1_100;

/// Time limits of a conformance run.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// The wait for an answer.
    patience: Duration,
    /// No case starts after `begun`, and all waits end after `whole`.
    begun: Duration,
    whole: Duration,
    /// Sending to a member that does not read.
    flood: Duration,
}

const PACE: Pace = Pace {
    patience: Duration::from_secs(5),
    begun: Duration::from_secs(45),
    whole: Duration::from_secs(60),
    flood: Duration::from_secs(30),
};

/// The result of a conformance run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ConformanceResult {
    /// In the order in which they were found.
    pub faults: Vec<ConformanceFault>,
    /// The number of tests of each case, and of failures.
    pub cases: Vec<CaseCount>,
}

/// The tests of a case: one, or one for each part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CaseCount {
    pub case: &'static str,
    pub tried: usize,
    pub failed: usize,
}

/// Tests a listening server. `memory` is its current memory in bytes.
///
/// Takes a few seconds, up to a minute if the server is slow or silent.
pub(super) fn run_conformance(
    client: Client,
    address: SocketAddr,
    memory: &dyn Fn() -> Option<u64>,
) -> ConformanceResult {
    run_conformance_at(PACE, cases_of(client), address, memory)
}

fn cases_of(client: Client) -> &'static [ConformanceCase] {
    match client {
        Client::Echo => echo::CASES,
        Client::Chat => chat::CASES,
    }
}

fn run_conformance_at(
    pace: Pace,
    cases: &'static [ConformanceCase],
    address: SocketAddr,
    memory: &dyn Fn() -> Option<u64>,
) -> ConformanceResult {
    let start = Instant::now();
    let mut run = ConformanceRun {
        terms: Terms { address, patience: pace.patience, end: start + pace.whole },
        flood: pace.flood,
        memory,
        random: fastrand::Rng::with_seed(7),
        faults: Vec::new(),
        silences: 0,
        case: &cases[0],
        tried: 0,
        failed: 0,
    };
    let mut counts = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        if start.elapsed() >= pace.begun {
            let left: Vec<&str> = cases[index..].iter().map(|case| case.name).collect();
            run.faults.push(ConformanceFault {
                case: "time",
                what: format!("not tested after {} s: {}", pace.begun.as_secs(), left.join(", ")),
                fix: "none in the program if the machine is busy; otherwise answer faster",
                grave: false,
            });
            break;
        }
        (run.case, run.tried, run.failed) = (case, 0, 0);
        let before = run.faults.len();
        let is_gone = (case.run)(&mut run).is_err_and(|error| run.note(error));
        // A case without parts is one test.
        let failed = run.failed.max(usize::from(run.faults.len() > before));
        counts.push(CaseCount { case: case.name, tried: run.tried.max(1).max(failed), failed });
        if is_gone || run.silences >= MAX_SILENCES {
            break;
        }
    }
    ConformanceResult { faults: run.faults, cases: counts }
}

#[cfg(test)]
mod tests;
