//! A case of a conformance run, and what all cases share.

use std::time::Duration;

use super::peer::{ProtocolError, ProtocolResult, Terms};

/// A server that leaves this many waits without an answer is not tested further.
pub const MAX_SILENCES: u32 = 3;

/// One fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ConformanceFault {
    /// The name of the case.
    pub case: &'static str,
    /// What was observed.
    pub what: String,
    /// How to fix it.
    pub fix: &'static str,
    /// Whether results would be wrong or clients would lose messages. An unusual close code is not grave.
    pub grave: bool,
}

/// One case of a conformance run, on its own connections.
pub struct ConformanceCase {
    pub name: &'static str,
    /// The fix and the severity of an error that ends the case early.
    pub fix: &'static str,
    pub grave: bool,
    pub run: CaseFn,
}

pub type CaseFn = fn(&mut ConformanceRun) -> ProtocolResult;

pub const fn grave(name: &'static str, run: CaseFn, fix: &'static str) -> ConformanceCase {
    ConformanceCase { name, fix, grave: true, run }
}

pub const fn minor(name: &'static str, run: CaseFn, fix: &'static str) -> ConformanceCase {
    ConformanceCase { name, fix, grave: false, run }
}

/// What all cases share.
pub struct ConformanceRun<'t> {
    pub terms: Terms,
    /// The longest time of sending to a member that does not read.
    pub flood: Duration,
    pub memory: &'t dyn Fn() -> Option<u64>,
    /// Fixed seed, so that faults are reproducible.
    pub random: fastrand::Rng,
    pub faults: Vec<ConformanceFault>,
    /// The number of waits without an answer.
    pub silences: u32,
    /// The current case, its tests and its failures.
    pub case: &'static ConformanceCase,
    pub tried: usize,
    pub failed: usize,
}

impl ConformanceRun<'_> {
    /// Records a fault of the current case.
    pub fn fault(&mut self, what: impl Into<String>, fix: &'static str, grave: bool) {
        self.faults.push(ConformanceFault { case: self.case.name, what: what.into(), fix, grave });
    }

    /// Records what ended a part of the current case. Returns whether the server is gone.
    pub fn note(&mut self, error: ProtocolError) -> bool {
        let ConformanceCase { fix, grave, .. } = *self.case;
        self.silences += u32::from(matches!(error, ProtocolError::Silent(_)));
        let is_gone = matches!(error, ProtocolError::Refused(_));
        // A server that is gone is always a grave fault.
        self.fault(error.to_string(), fix, grave || is_gone);
        is_gone
    }

    /// Tests a part of the current case on its own connections, so that a wrong answer hides no other part.
    pub fn part(&mut self, part: impl FnOnce(&mut ConformanceRun) -> ProtocolResult) -> ProtocolResult {
        if self.silences >= MAX_SILENCES {
            return Ok(());
        }
        self.tried += 1;
        match part(self) {
            Err(error) if !matches!(error, ProtocolError::Refused(_)) => {
                self.failed += 1;
                self.note(error);
                Ok(())
            }
            end => end,
        }
    }

    pub fn bytes(&mut self, length: usize) -> Vec<u8> {
        let mut bytes = vec![0; length];
        self.random.fill(&mut bytes);
        bytes
    }

    /// The growth of the server's memory, in bytes. 0 if unknown.
    pub fn growth(&self, before: Option<u64>) -> u64 {
        (self.memory)().zip(before).map_or(0, |(now, before)| now.saturating_sub(before))
    }

    /// The growth of the server's memory, in words. Empty if unknown.
    pub fn grown(&self, before: Option<u64>) -> String {
        match self.growth(before) {
            0 => String::new(),
            bytes => format!(" (its memory grew by {} MiB)", bytes >> 20),
        }
    }
}
