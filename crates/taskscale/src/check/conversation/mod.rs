//! Talks to a server of the catalogue by hand, byte by byte, and says what is wrong with its answers.
//!
//! What a server must do is in docs/workloads.md. A conversation is a list of cases (`echo`, `chat`, `wrong_frames`) over blocking
//! sockets (`peer`, `websocket`, `frame`), none of which waits for longer than a bound. Must not know who started the server, nor how.

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

/// So many connections are open at once at most: a server that must know beforehand is told as many tasks.
pub(super) const CONNECTIONS: u64 = 1_100;

/// No answer takes longer, however busy the machine is.
const PATIENCE: Duration = Duration::from_secs(5);
/// No further case is begun then, and none goes on for longer.
const BEGUN: Duration = Duration::from_secs(45);
const WHOLE: Duration = Duration::from_secs(60);
/// A server that let so many cases wait in vain is not asked for more.
const MOST_SILENCES: u32 = 3;

/// One thing that is wrong.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Fault {
    /// What was tried, in a few words; always the same for the same.
    pub case: &'static str,
    /// What was seen.
    pub what: String,
    /// How to fix it.
    pub fix: &'static str,
    /// Figures of this server would be wrong, or clients would be left without their messages; not only another
    /// code or another way to end a connection than most servers have.
    pub grave: bool,
}

/// What came of a conversation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Talked {
    /// In the order in which they were found.
    pub faults: Vec<Fault>,
    /// How much of each case was tried, and how much of it failed; in their order.
    pub cases: Vec<Tried>,
}

/// A case has one part, or as many as it has messages that are tried one by one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Tried {
    pub case: &'static str,
    pub tried: usize,
    pub failed: usize,
}

/// Talks to a server that listens there. `memory` is what the server holds at the moment, in bytes.
///
/// Takes a few seconds, and a minute where a server is slow or lets its clients wait.
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
                format!(
                    "all before took {} s, and so these were not tried: {}",
                    BEGUN.as_secs(),
                    left.join(", ")
                ),
                "nothing in the program if the machine is busy; otherwise let it answer faster",
                false,
            );
            break;
        }
        (talk.case, talk.tried, talk.failed) = (case, 0, 0);
        let before = talk.faults.len();
        let end = (case.talk)(&mut talk).map_err(|trouble| talk.note(trouble));
        // One that counts no parts is one.
        let failed = talk.failed.max(usize::from(talk.faults.len() > before));
        talked.push(Tried { case: case.name, tried: talk.tried.max(1).max(failed), failed });
        if end == Err(End::Refused) || talk.silences >= MOST_SILENCES {
            break;
        }
    }
    Talked { faults: talk.faults, cases: talked }
}

/// What became of a part that failed.
#[derive(PartialEq, Eq)]
enum End {
    Refused,
    Other,
}

/// One part of a conversation, on connections of its own.
struct Case {
    name: &'static str,
    /// How to fix whatever ends it early, and how much that weighs.
    fix: &'static str,
    grave: bool,
    talk: fn(&mut Talk) -> Result<(), Trouble>,
}

/// What all cases share.
struct Talk<'t> {
    terms: Terms,
    memory: &'t dyn Fn() -> Option<u64>,
    /// Always the same: what is found once is found again.
    random: fastrand::Rng,
    faults: Vec<Fault>,
    /// How often it was waited in vain.
    silences: u32,
    /// The case at hand, how many parts of it were tried, and how many of them failed.
    case: &'static Case,
    tried: usize,
    failed: usize,
}

impl Talk<'_> {
    fn fault(&mut self, case: &'static str, what: impl Into<String>, fix: &'static str, grave: bool) {
        self.faults.push(Fault { case, what: what.into(), fix, grave });
    }

    /// Notes what ended a part of the case at hand.
    fn note(&mut self, trouble: Trouble) -> End {
        let Case { name, fix, grave, .. } = *self.case;
        self.silences += u32::from(matches!(trouble, Trouble::Silent(_)));
        let end = if matches!(trouble, Trouble::Refused(_)) { End::Refused } else { End::Other };
        // Whatever was tried: a server that is gone serves nobody.
        self.fault(name, trouble.to_string(), fix, grave || end == End::Refused);
        end
    }

    /// Tries a part of the case at hand on connections of its own: a bad answer hides no other part's.
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

    /// How much more memory the server holds than it did, in words; nothing where nobody knows.
    fn grown(&self, before: Option<u64>) -> String {
        match ((self.memory)(), before) {
            (Some(now), Some(before)) if now > before => {
                format!(", while its memory grew by {} MiB", (now - before) >> 20)
            }
            _ => String::new(),
        }
    }
}

#[cfg(test)]
mod tests;
