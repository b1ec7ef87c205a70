//! The observations of a run, and its verdict.

use serde::{Deserialize, Serialize};

use super::RunSpec;
use super::cgroup::MemoryWant;
use super::evidence::PlateauQuality;
use super::launcher::ProgramEnd;
use super::limit_detection::LimitEvidence;
use super::limits::SystemLimits;
use super::protocol::Printed;
use crate::{LimitHit, Status};

/// Why taskscale itself ended a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum EndedBy {
    TimeOut,
    /// It was going to hit a limit and took too long to get there.
    Doomed,
    OutputCap,
    MemoryCap,
    /// The launcher was killed, and taskscale killed the remaining processes.
    LauncherLost,
    /// The plateau was over, and the program did not exit when asked.
    Stopped,
    User,
}

/// The observations of one run that its verdict rests on.
pub struct Observed<'a> {
    pub spec: &'a RunSpec,
    pub printed: &'a Printed,
    /// Absent where the launcher was lost.
    pub end: Option<&'a ProgramEnd>,
    pub ended_by: Option<EndedBy>,
    pub want: MemoryWant,
    /// Whether memory was at its cap when taskscale ended the run.
    pub stood_at_cap: bool,
    pub time_cap_s: f64,
    pub wall_s: Option<f64>,
    /// Until `done`, from exec.
    pub done_s: Option<f64>,
    /// Until `alive`, from exec.
    pub launch_s: Option<f64>,
    /// Threads and processes that the kernel counted at the plateau.
    pub counted: Option<(u64, u64)>,
    pub plateau: PlateauQuality,
    /// Whether `done` came after `ready`.
    pub done_after_ready: bool,
    pub evidence: LimitEvidence<'a>,
    pub limits: &'a SystemLimits,
}

/// The status of a run, with the reason and the limit where it is not `ok`.
#[derive(Debug, PartialEq)]
pub struct RunVerdict {
    pub status: Status,
    pub reason: Option<String>,
    pub limit: Option<LimitHit>,
}

impl RunVerdict {
    pub(super) fn new(status: Status, reason: impl Into<String>) -> RunVerdict {
        RunVerdict { status, reason: Some(reason.into()), limit: None }
    }

    pub(super) fn failed(reason: impl Into<String>) -> RunVerdict {
        RunVerdict::new(Status::Failed, reason)
    }
}

/// A run of ten tasks, for tests of verdicts.
#[cfg(test)]
pub(super) fn spec_of_ten(kind: crate::Kind, scenario: crate::Scenario) -> RunSpec {
    let time = std::time::Duration::from_secs(60);
    let bounds = crate::Bounds { memory_bytes: Some(64 << 20), time, output_bytes: 1000 };
    RunSpec { kind, tasks: 10, scenario, bounds, ..RunSpec::of_command(["x"]) }
}
