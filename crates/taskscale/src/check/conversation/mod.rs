//! Tests a server of the catalog byte by byte, and reports faults in its answers.
//!
//! docs/workloads.md specifies servers. A conversation is a list of cases (`echo`, `chat`, `wrong_frames`) over blocking
//! sockets (`peer`, `websocket`, `frame`) with time limits. Must not know how the server was started.

mod chat;
mod crowd;
mod echo;
mod frame;
mod peer;
mod websocket;
mod wrong_frames;

use std::net::SocketAddr;
use std::time::{Duration, Instant};

use serde::Serialize;

use self::peer::{Terms, Trouble};
use crate::catalog::Client;

/// The most connections that are open at once, which is also the server's number of tasks.
pub(super) const CONNECTIONS: u64 = 1_100;

/// The longest wait for an answer.
const PATIENCE: Duration = Duration::from_secs(5);
/// No case starts after this time, and none runs longer than the second.
const BEGUN: Duration = Duration::from_secs(45);
const WHOLE: Duration = Duration::from_secs(60);
/// A server without an answer in so many cases is not tested further.
const MOST_SILENCES: u32 = 3;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// The name of the case.
    pub case: &'static str,
    /// What was observed.
    pub what: String,
    /// How to fix it.
    pub fix: &'static str,
    /// Results would be wrong, or clients would lose messages. Not only an unusual code or way to close a connection.
    pub grave: bool,
}

/// The result of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Talked {
    /// In the order in which they were found.
    pub faults: Vec<Fault>,
    /// The number of tests of each case, and of failures.
    pub cases: Vec<Tried>,
}

/// A case has one test, or one for each message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tried {
    pub case: &'static str,
    pub tried: usize,
    pub failed: usize,
}

/// Tests a listening server. `memory` is its current memory in bytes.
///
/// Takes a few seconds, up to a minute if the server is slow or silent.
pub(super) fn converse(client: Client, address: SocketAddr, memory: &dyn Fn() -> Option<u64>) -> Talked {
    converse_within(PATIENCE, client, address, memory)
}

fn converse_within(
    patience: Duration,
    client: Client,
    address: SocketAddr,
    memory: &dyn Fn() -> Option<u64>,
) -> Talked {
    let cases = match client {
        Client::Echo => echo::CASES,
        Client::Chat => chat::CASES,
    };
    let start = Instant::now();
    let terms = Terms { address, patience, end: start + WHOLE };
    let random = fastrand::Rng::with_seed(7);
    let mut talk =
        Talk { terms, memory, random, faults: Vec::new(), silences: 0, case: &cases[0], tried: 0, failed: 0 };
    let mut talked = Vec::new();
    for (index, case) in cases.iter().enumerate() {
        if start.elapsed() >= BEGUN {
            let left: Vec<&str> = cases[index..].iter().map(|case| case.name).collect();
            talk.fault(
                "time",
                format!("not tested after {} s: {}", BEGUN.as_secs(), left.join(", ")),
                "none in the program if the machine is busy; otherwise answer faster",
                false,
            );
            break;
        }
        (talk.case, talk.tried, talk.failed) = (case, 0, 0);
        let before = talk.faults.len();
        let end = (case.talk)(&mut talk).map_err(|trouble| talk.note(trouble));
        // A case without parts is one test.
        let failed = talk.failed.max(usize::from(talk.faults.len() > before));
        talked.push(Tried { case: case.name, tried: talk.tried.max(1).max(failed), failed });
        if end == Err(End::Refused) || talk.silences >= MOST_SILENCES {
            break;
        }
    }
    Talked { faults: talk.faults, cases: talked }
}

/// How a part failed.
#[derive(PartialEq, Eq)]
enum End {
    Refused,
    Other,
}

/// One case of a conversation, on its own connections.
struct Case {
    name: &'static str,
    /// The fix for whatever ends it early, and its severity.
    fix: &'static str,
    grave: bool,
    talk: fn(&mut Talk) -> Result<(), Trouble>,
}

/// What all cases share.
struct Talk<'t> {
    terms: Terms,
    memory: &'t dyn Fn() -> Option<u64>,
    /// Fixed seed, so that faults are reproducible.
    random: fastrand::Rng,
    faults: Vec<Fault>,
    /// The number of waits without an answer.
    silences: u32,
    /// The current case, its tests and its failures.
    case: &'static Case,
    tried: usize,
    failed: usize,
}

impl Talk<'_> {
    fn fault(&mut self, case: &'static str, what: impl Into<String>, fix: &'static str, grave: bool) {
        self.faults.push(Fault { case, what: what.into(), fix, grave });
    }

    /// Records what ended a part of the current case.
    fn note(&mut self, trouble: Trouble) -> End {
        let Case { name, fix, grave, .. } = *self.case;
        self.silences += u32::from(matches!(trouble, Trouble::Silent(_)));
        let end = if matches!(trouble, Trouble::Refused(_)) { End::Refused } else { End::Other };
        // A server that is gone is always a grave fault.
        self.fault(name, trouble.to_string(), fix, grave || end == End::Refused);
        end
    }

    /// Tests a part of the current case on its own connections, so that a wrong answer hides no other part.
    fn part(&mut self, part: impl FnOnce(&mut Talk) -> Result<(), Trouble>) -> Result<(), Trouble> {
        if self.silences >= MOST_SILENCES {
            return Ok(());
        }
        self.tried += 1;
        match part(self) {
            Ok(()) => Ok(()),
            Err(Trouble::Refused(error)) => Err(Trouble::Refused(error)),
            Err(trouble) => {
                self.failed += 1;
                self.note(trouble);
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
