//! Tests a server of the catalog byte by byte, and reports faults in its answers.
//!
//! docs/workloads.md specifies servers. A conformance run is a list of cases (`echo`, `chat`, `wrong_frames`) over blocking
//! sockets (`peer`, `websocket`) with time limits. Must not know how the server was started.

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

use self::peer::{ProtocolError, Terms};

/// The most connections that are open at once, which is also the server's number of tasks.
pub(super) const CONNECTIONS: u64 = 1_100;

/// How long a run waits.
#[derive(Debug, Clone, Copy)]
struct Pace {
    /// For an answer.
    patience: Duration,
    /// No case starts after this time, and none runs longer than the second.
    begun: Duration,
    whole: Duration,
}

const PACE: Pace =
    Pace { patience: Duration::from_secs(5), begun: Duration::from_secs(45), whole: Duration::from_secs(60) };
/// A server without an answer in so many cases is not tested further.
const MOST_SILENCES: u32 = 3;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ConformanceFault {
    /// The name of the case.
    pub case: &'static str,
    /// What was observed.
    pub what: String,
    /// How to fix it.
    pub fix: &'static str,
    /// Results would be wrong, or clients would lose messages. Not only an unusual code or way to close a connection.
    pub grave: bool,
}

/// The result of a conformance run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct ConformanceResult {
    /// In the order in which they were found.
    pub faults: Vec<ConformanceFault>,
    /// The number of tests of each case, and of failures.
    pub cases: Vec<CaseCount>,
}

/// A case has one test, or one for each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct CaseCount {
    pub case: &'static str,
    pub tried: usize,
    pub failed: usize,
}

/// Tests a listening server. `memory` is its current memory in bytes.
///
/// Takes a few seconds, up to a minute if the server is slow or silent.
pub(super) fn converse(
    client: Client,
    address: SocketAddr,
    memory: &dyn Fn() -> Option<u64>,
) -> ConformanceResult {
    converse_at(PACE, client, address, memory)
}

fn converse_at(
    pace: Pace,
    client: Client,
    address: SocketAddr,
    memory: &dyn Fn() -> Option<u64>,
) -> ConformanceResult {
    let cases = match client {
        Client::Echo => echo::CASES,
        Client::Chat => chat::CASES,
    };
    let start = Instant::now();
    let terms = Terms { address, patience: pace.patience, end: start + pace.whole };
    let random = fastrand::Rng::with_seed(7);
    let mut run = ConformanceRun {
        terms,
        memory,
        random,
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
            run.fault(
                "time",
                format!("not tested after {} s: {}", pace.begun.as_secs(), left.join(", ")),
                "none in the program if the machine is busy; otherwise answer faster",
                false,
            );
            break;
        }
        (run.case, run.tried, run.failed) = (case, 0, 0);
        let before = run.faults.len();
        let end = (case.run)(&mut run).map_err(|error| run.note(error));
        // A case without parts is one test.
        let failed = run.failed.max(usize::from(run.faults.len() > before));
        counts.push(CaseCount { case: case.name, tried: run.tried.max(1).max(failed), failed });
        if end == Err(PartFailure::Refused) || run.silences >= MOST_SILENCES {
            break;
        }
    }
    ConformanceResult { faults: run.faults, cases: counts }
}

/// How a part failed.
#[derive(PartialEq, Eq)]
enum PartFailure {
    Refused,
    Other,
}

/// One case of a conformance run, on its own connections.
struct ConformanceCase {
    name: &'static str,
    /// The fix for whatever ends it early, and its severity.
    fix: &'static str,
    grave: bool,
    run: CaseFn,
}

type CaseFn = fn(&mut ConformanceRun) -> Result<(), ProtocolError>;

const fn grave(name: &'static str, run: CaseFn, fix: &'static str) -> ConformanceCase {
    ConformanceCase { name, fix, grave: true, run }
}

const fn minor(name: &'static str, run: CaseFn, fix: &'static str) -> ConformanceCase {
    ConformanceCase { name, fix, grave: false, run }
}

/// What all cases share.
struct ConformanceRun<'t> {
    terms: Terms,
    memory: &'t dyn Fn() -> Option<u64>,
    /// Fixed seed, so that faults are reproducible.
    random: fastrand::Rng,
    faults: Vec<ConformanceFault>,
    /// The number of waits without an answer.
    silences: u32,
    /// The current case, its tests and its failures.
    case: &'static ConformanceCase,
    tried: usize,
    failed: usize,
}

impl ConformanceRun<'_> {
    fn fault(&mut self, case: &'static str, what: impl Into<String>, fix: &'static str, grave: bool) {
        self.faults.push(ConformanceFault { case, what: what.into(), fix, grave });
    }

    /// Records what ended a part of the current case.
    fn note(&mut self, error: ProtocolError) -> PartFailure {
        let ConformanceCase { name, fix, grave, .. } = *self.case;
        self.silences += u32::from(matches!(error, ProtocolError::Silent(_)));
        let end = if matches!(error, ProtocolError::Refused(_)) {
            PartFailure::Refused
        } else {
            PartFailure::Other
        };
        // A server that is gone is always a grave fault.
        self.fault(name, error.to_string(), fix, grave || end == PartFailure::Refused);
        end
    }

    /// Tests a part of the current case on its own connections, so that a wrong answer hides no other part.
    fn part(
        &mut self,
        part: impl FnOnce(&mut ConformanceRun) -> Result<(), ProtocolError>,
    ) -> Result<(), ProtocolError> {
        if self.silences >= MOST_SILENCES {
            return Ok(());
        }
        self.tried += 1;
        match part(self) {
            Ok(()) => Ok(()),
            Err(ProtocolError::Refused(error)) => Err(ProtocolError::Refused(error)),
            Err(error) => {
                self.failed += 1;
                self.note(error);
                Ok(())
            }
        }
    }

    fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.random.fill(&mut bytes);
        bytes
    }

    /// The growth of the server's memory, in words; empty if unknown.
    fn grown(&self, before: Option<u64>) -> String {
        match ((self.memory)(), before) {
            (Some(now), Some(before)) if now > before => {
                format!(" (its memory grew by {} MiB)", (now - before) >> 20)
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
