//! The same measurement on the machines of a cluster. Slurm schedules, watches and retries. This module writes its
//! scripts, does the work of a job on its node, and collects the results.

mod collect;
mod folder;
mod plan;
mod slurm;
mod status;
mod submit;
mod work;

use std::io;
use std::path::{Path, PathBuf};

pub use collect::{Collected, collect};
pub use folder::{Fleet, PublishedTarget, Submission, Target};
pub use plan::{FleetPlan, Machines, NodeSelector};
pub use slurm::{Job, Node, Slurm};
pub use status::{Snapshot, Watch, document, json, numbers};
pub use submit::{
    ArchBinary, BatchScript, Scripts, copy_catalogs, install, make_folder, release, scripts, submit, targets,
    write_scripts,
};
pub use work::{NodeContext, WorkOutcome, work};

/// Why a fleet command failed.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("{path}: {message}")]
    Plan { path: PathBuf, message: String },
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: io::Error },
    #[error("no fleet in {0} (fleet.json not found)")]
    NoFleet(PathBuf),
    #[error("not a file of a fleet: {path} ({error})")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("fleet of another plan in {folder}: {what}")]
    AnotherPlan { folder: PathBuf, what: String },
    #[error("fleet in use: {0} (another taskscale is submitting from it)")]
    Busy(PathBuf),
    #[error("`{0}` not found (Slurm is not installed, or not in PATH)")]
    NoSlurm(&'static str),
    #[error("{command} failed: {said}")]
    Slurm { command: String, said: String },
    #[error(
        "folder not shared: {folder} is missing on {node} (use a file system that this machine and all nodes share)"
    )]
    NotShared { folder: PathBuf, node: String },
    #[error("{machines}: {what}")]
    Machines { machines: String, what: String },
    #[error("not published: results of job {own} (job {newer} has taken over {target})")]
    Superseded { target: String, own: String, newer: String },
    #[error("incomplete: {target} ({what})")]
    Incomplete { target: String, what: String },
    #[error("changed after publication: {folder} ({what})")]
    Changed { folder: PathBuf, what: String },
    #[error("not trusted: {path} ({why}, and its programs would run as you)")]
    Untrusted { path: PathBuf, why: String },
    #[error("no machine `{target}` in this plan (known: {known})")]
    NoTarget { target: String, known: String },
}

fn at<T>(what: &'static str, path: &Path, result: io::Result<T>) -> Result<T, FleetError> {
    result.map_err(|error| FleetError::Io { what, path: path.to_owned(), error })
}
