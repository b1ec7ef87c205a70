//! Measures what a program costs on Linux: memory (with kernel memory), CPU and time, by phase.
//!
//! Each program runs in its own cgroup (v2 or v1, or else is measured from /proc). A small launcher starts it
//! and removes everything that it leaves, even if the embedding program is killed. [`LocalRunner`] records a
//! run as a [`Timeline`] of events, and [`analyze`] derives a [`Measurement`]: a status with its reason, and
//! only values backed by evidence. [`write_trace`] saves a timeline, which [`read_trace`] loads.
//!
//! Launchers are copies of the embedding program: call [`init`] first in `main`.
//!
//! ```no_run
//! use taskscale_measure::{GroupRoot, Interrupt, LocalRunner, RunEnd, RunSpec, Runner, units};
//!
//! fn main() -> Result<(), Box<dyn std::error::Error>> {
//!     taskscale_measure::init();
//!     let interrupt = Interrupt::install()?;
//!     let mut runner = LocalRunner::new(GroupRoot::find(), &interrupt);
//!     let spec = RunSpec::of_command(["/usr/bin/python3", "-m", "http.server"]);
//!     if let RunEnd::Measured(run) = runner.run(&spec)? {
//!         println!("{}: {}", run.status, run.reason.unwrap_or_default());
//!         if let Some(memory) = run.memory.plateau {
//!             println!("{}, of it {} of the kernel", units::bytes(memory.footprint_bytes), units::bytes(memory.kernel_bytes));
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Programs that follow taskscale's protocol prove how many of their tasks are alive ([`Scenario`]). Implement
//! [`Runner`] to test code built on this crate, which is independent of catalogs, results folders and reports.
//!
//! To follow a run in the source: `observe/run.rs` polls the program, `decide.rs` chooses the next action,
//! `observe/perform.rs` performs it, and `analyze.rs` derives the verdict.

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
mod event;
mod evidence;
mod interrupt;
mod kind;
mod launcher;
mod launchers;
mod limit_detection;
mod limit_prediction;
mod limits;
mod listeners;
mod machine;
mod machine_lock;
mod mapped;
mod measurement;
mod observe;
mod observed;
mod pagemap;
mod plateau;
mod procfs;
mod protocol;
#[cfg(test)]
mod purity_tests;
mod regular_file;
mod run_state;
mod sampler;
mod scenario;
mod segments;
mod stderr_summary;
mod switches;
mod systemd;
mod timeline;
mod timestamp;
mod trace_file;
pub mod units;
mod warning;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use analyze::analyze;
pub use black_box::{BlackBoxCommand, LinePattern, LoadAliveWhen, LoadCommand, Ready};
pub use cgroup::{Group, GroupBounds, GroupRoot, batches_bytes};
pub use connections::{ConnectionLimits, read_connection_limits};
pub use event::{DropReason, RunEvent, TimedEvent};
pub use interrupt::Interrupt;
pub use kind::Kind;
pub use launcher::ProgramEnd;
pub use launchers::init;
pub use limit_prediction::PredictedLimit;
pub use limits::{SystemLimits, read_limits};
pub use machine::{Machine, available_memory_bytes, machine_facts, machine_warnings};
pub use machine_lock::{Holder, MachineLock};
pub use mapped::Mapping;
pub use measurement::{
    Cpu, LimitHit, Measurement, Memory, MemorySource, Metric, Plateau, PlateauFrom, Status, Time, Work,
};
pub use observe::{LocalRunner, OnReading, RunDetails};
pub use protocol::{LineKind, Lines, Printed};
pub use regular_file::open_regular;
pub use scenario::{HoldParams, Scenario, ServeParams, WorkParams};
pub use timeline::Timeline;
pub use timestamp::Timestamp;
pub use trace_file::{TRACE_VERSION, TraceError, read_trace, write_trace};
pub use warning::Warning;

/// A run to measure: what to run, and its limits.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct RunSpec {
    /// The complete command line. Its first word is a path: PATH is not searched.
    pub command: Vec<String>,
    /// Variables added to the clean environment. Left out of traces, because some are secrets.
    #[serde(skip)]
    pub env: BTreeMap<String, String>,
    pub kind: Kind,
    /// Requested tasks, N.
    pub tasks: u64,
    pub scenario: Scenario,
    /// The result that a correct program prints as `check`, if the workload defines one.
    pub check: Option<String>,
    /// Number of CPUs that the program may use. `None`: all.
    pub cpus: Option<u32>,
    pub bounds: Bounds,
}

impl RunSpec {
    /// Any program, unchanged: taskscale detects when it is idle and stops it after a plateau of one second.
    /// The first word is a path.
    pub fn of_command<T: Into<String>>(command: impl IntoIterator<Item = T>) -> RunSpec {
        let wait = HoldParams { plateau_s: 1.0, ..HoldParams::default() };
        RunSpec {
            command: command.into_iter().map(Into::into).collect(),
            env: BTreeMap::new(),
            kind: Kind::Program,
            tasks: 1,
            scenario: Scenario::BlackBox(Box::default(), wait),
            check: None,
            cpus: None,
            bounds: Bounds {
                memory_bytes: None,
                time: Duration::from_secs(120),
                output_bytes: Bounds::BLACK_BOX_OUTPUT_BYTES,
            },
        }
    }

    /// Shortest plateau without a warning, in seconds.
    fn plateau_wanted_s(&self) -> f64 {
        self.scenario.wait().map_or(0.0, |wait| wait.plateau_s)
    }
}

/// Limits on the resources of one run.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Bounds {
    /// Memory cap, kernel memory included.
    pub memory_bytes: Option<u64>,
    /// Timeout, counted from before the launcher starts. Pauses of the machine do not count.
    pub time: Duration,
    /// Maximum bytes of standard output, and of standard error. A run that writes more is killed.
    pub output_bytes: u64,
}

impl Bounds {
    /// Maximum output of a black-box program, in bytes: it may log a line or two per task. Output is read and dropped.
    pub const BLACK_BOX_OUTPUT_BYTES: u64 = 64 << 20;
}

/// How an attempt to measure ended.
#[derive(Debug)]
pub enum RunEnd {
    Measured(Box<Measurement>),
    /// The user asked to stop: the run was killed and has no result.
    Interrupted,
}

/// Measures runs. [`LocalRunner`] does it on this machine, and tests can implement their own.
pub trait Runner {
    /// Runs the program once. An error means that taskscale cannot measure here at all. Failures of the program
    /// are part of the [`Measurement`].
    fn run(&mut self, spec: &RunSpec) -> Result<RunEnd, MeasureError>;
}

/// Why taskscale cannot measure at all.
#[derive(Debug, thiserror::Error)]
pub enum MeasureError {
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("the launcher failed: {0}")]
    Launcher(String),
    /// Launchers are copies of the embedding program.
    #[error(
        "the launcher cannot start: this program does not call taskscale_measure::init() first in its main"
    )]
    NotInitialized,
}

fn at<T>(
    what: &'static str,
    path: impl Into<PathBuf>,
    result: std::io::Result<T>,
) -> Result<T, MeasureError> {
    result.map_err(|error| MeasureError::Io { what, path: path.into(), error })
}
