//! One run: starts a program in its own cgroup, observes its phases, reads its memory, ends it.
//!
//! Knows nothing of catalog files, campaigns or reports. `Runner` is the seam: tests of campaigns use a scripted one.

mod address_spaces;
mod black_box;
mod causes;
#[cfg(test)]
mod causes_tests;
mod cgroup;
mod classify;
mod classify_black_box;
mod connections;
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
mod pagemap;
mod plateau;
mod procfs;
mod protocol;
mod run;
mod sampler;
mod scenario;
mod segments;
mod stderr_summary;
mod switches;
mod systemd;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

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
pub use protocol::{Listener, ProtocolEvent, Said};
pub use run::{LocalRunner, Trace};
pub use scenario::{HoldParams, Scenario, ServeParams, WorkParams};

use crate::catalog::Kind;
use crate::record::{
    self, Cpu, LimitHit, Memory, Metric, PlateauFrom, Status, Time, Timestamp, Warning, Work,
};

/// What to run, and within which bounds.
#[derive(Debug, Clone)]
pub struct RunSpec {
    /// The complete command line; the first word is a path.
    pub command: Vec<String>,
    /// Variables on top of the clean environment.
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
}

/// Limits on the resources of one run.
#[derive(Debug, Clone)]
pub struct Bounds {
    /// Memory cap, kernel memory included.
    pub memory_bytes: Option<u64>,
    /// Time from exec after which the run is ended.
    pub time: Duration,
    /// Most bytes of standard output before the run is killed.
    pub output_bytes: u64,
}

/// The observations of one run, and the verdict.
#[derive(Debug, Clone, PartialEq)]
pub struct Measurement {
    pub started_at: Timestamp,
    pub status: Status,
    pub reason: Option<String>,
    pub limit: Option<LimitHit>,
    pub alive: Option<u64>,
    pub done: Option<u64>,
    pub failed: Option<u64>,
    pub plateau_from: Option<PlateauFrom>,
    pub stopped: bool,
    pub exit_code: Option<i32>,
    pub signal: Option<i32>,
    pub threads: Option<u64>,
    pub processes: Option<u64>,
    pub time: Time,
    pub cpu: Cpu,
    pub memory: Memory,
    pub metrics: BTreeMap<String, Metric>,
    pub work: Option<Work>,
    pub load: Option<Box<record::Load>>,
    pub histograms: BTreeMap<String, Vec<u64>>,
    pub warnings: Vec<Warning>,
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
