//! One run: starts a program in its own cgroup, observes its phases, reads its memory, ends it.
//!
//! Knows nothing of catalog files, campaigns or reports. `Runner` is the seam: tests of campaigns use a scripted one.

mod address_spaces;
mod analyze;
mod black_box;
mod causes;
#[cfg(test)]
mod causes_tests;
mod cgroup;
mod classify;
mod classify_black_box;
mod connections;
mod decide;
#[cfg(test)]
mod decide_tests;
mod evidence;
mod interrupt;
mod launcher;
mod launchers;
mod limit_detection;
mod limit_prediction;
mod limits;
mod machine;
mod machine_lock;
mod mapped;
mod observe;
mod pagemap;
mod plateau;
mod procfs;
mod protocol;
mod run_state;
mod sampler;
mod scenario;
mod segments;
mod stderr_summary;
mod switches;
mod systemd;
mod timeline;
mod trace_file;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use analyze::analyze;
pub use black_box::{BlackBoxCommand, LinePattern, LoadCommand, LoadStands, Ready};
pub use cgroup::{Group, GroupBounds};
pub use cgroup::{GroupRoot, clean_up_after_the_dead};
pub use connections::{ConnectionLimits, read_connection_limits};
pub use interrupt::Interrupt;
pub use launcher::LAUNCH_ARGUMENT;
pub use launchers::launcher_main;
pub use limit_prediction::PredictedLimit;
pub use limits::{SystemLimits, read_limits};
pub use machine::{available_memory_bytes, machine_facts, machine_warnings};
pub use machine_lock::{Holder, MachineLock};
pub use observe::{LocalRunner, Trace};
pub use protocol::{LineKind, Lines, ProtocolEvent, Said};
pub use scenario::{HoldParams, Scenario, ServeParams, WorkParams};
pub use timeline::{RunEvent, TimedEvent, Timeline};
pub use trace_file::{TRACE_VERSION, TraceError, read_trace, write_trace};

use crate::catalog::Kind;
use crate::record::{
    self, Cpu, LimitHit, Memory, Metric, PlateauFrom, Status, Time, Timestamp, Warning, Work,
};

/// What to run, and within which bounds.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunSpec {
    /// The complete command line; the first word is a path.
    pub command: Vec<String>,
    /// Variables on top of the clean environment. Not part of a kept run: some are secrets.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
    pub kind: Kind,
    /// How many tasks the program was asked for.
    pub tasks: u64,
    pub scenario: Scenario,
    /// The result that a correct program prints as `check`; absent where it is not defined.
    pub check: Option<String>,
    /// On how many CPUs it may run; on all where absent.
    pub cpus: Option<u32>,
    pub bounds: Bounds,
}

impl RunSpec {
    /// How long each task waits, in seconds; 0 if the program is not given it.
    pub fn hold_s(&self) -> f64 {
        self.scenario.hold_s()
    }

    /// A plateau shorter than this is marked, in seconds.
    fn plateau_wanted_s(&self) -> f64 {
        self.scenario.wait().map_or(0.0, |wait| wait.plateau_s)
    }
}

/// Limits on the resources of one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bounds {
    /// Memory cap, kernel memory included.
    pub memory_bytes: Option<u64>,
    /// Time from exec after which the run is ended.
    pub time: Duration,
    /// Most bytes of standard output before the run is killed.
    pub output_bytes: u64,
}

/// What a run came to: the observations, and the verdict.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Measurement {
    pub started_at: Timestamp,
    pub status: Status,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limit: Option<LimitHit>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alive: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub done: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub plateau_from: Option<PlateauFrom>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub stopped: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exit_code: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signal: Option<i32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub threads: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub processes: Option<u64>,
    pub time: Time,
    pub cpu: Cpu,
    pub memory: Memory,
    pub metrics: BTreeMap<String, Metric>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub work: Option<Work>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub load: Option<Box<record::Load>>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub histograms: BTreeMap<String, Vec<u64>>,
    pub warnings: Vec<Warning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stderr_tail: Option<String>,
}

/// How an attempt to measure ended.
#[derive(Debug)]
pub enum RunEnd {
    Measured(Box<Measurement>),
    /// The user asked to stop; the run was ended and nothing of it counts.
    Interrupted,
}

/// Measures runs. The real one is `LocalRunner`.
pub trait Runner {
    /// Runs the program once. An error means that measuring itself is impossible here; whatever the program does is
    /// a `Measurement`.
    fn run(&mut self, spec: &RunSpec) -> Result<RunEnd, MeasureError>;
}

/// Why taskscale cannot measure at all.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("the launcher failed: {0}")]
    Launcher(String),
}

fn at<T>(
    what: &'static str,
    path: impl Into<PathBuf>,
    result: std::io::Result<T>,
) -> Result<T, MeasureError> {
    result.map_err(|error| MeasureError::Io { what, path: path.into(), error })
}
