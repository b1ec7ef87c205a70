//! The same campaign on the machines of a cluster. Slurm schedules, watches and retries; here is what it is told, what a
//! job does on its node, and what is made of the campaigns that come back.

mod folder;
mod gather;
mod plan;
mod slurm;
mod status;
mod submit;
mod work;

use std::io;
use std::path::{Path, PathBuf};

pub use folder::{Fleet, Published, Slot, Submission};
pub use gather::{Gathered, gather};
pub use plan::{Machines, Place, Plan};
pub use slurm::{Job, Node, Slurm};
pub use status::{Glance, Watch, json, numbers, sheet};
pub use submit::{
    Program, Script, Scripts, copy_catalogs, install, make_folder, release, scripts, slots, submit,
    write_scripts,
};
pub use work::{Outcome, Site, work};

/// Why a fleet does not do what it was told.
#[derive(Debug, thiserror::Error)]
pub enum FleetError {
    #[error("{path}: {message}")]
    Plan { path: PathBuf, message: String },
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: io::Error },
    #[error("{0} holds no fleet: there is no fleet.json in it")]
    NoFleet(PathBuf),
    #[error("{path} is not of a fleet: {error}")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("{folder} holds a fleet of another plan: {what}")]
    AnotherPlan { folder: PathBuf, what: String },
    #[error("another taskscale is submitting from {0}")]
    Busy(PathBuf),
    #[error("there is no `{0}` here: Slurm's commands are not installed, or not in PATH")]
    NoSlurm(&'static str),
    #[error("{command} says: {said}")]
    Slurm { command: String, said: String },
    #[error(
        "{folder} is not seen from {node}: it must be on a file system that this machine and all nodes share"
    )]
    NotShared { folder: PathBuf, node: String },
    #[error("{machines}: {what}")]
    Machines { machines: String, what: String },
    #[error("job {newer} has taken over {slot}: what job {own} measures is not published")]
    Superseded { slot: String, own: String, newer: String },
    #[error("{slot} is not complete: {what}")]
    Incomplete { slot: String, what: String },
    #[error("{folder} was changed after it was published: {what}")]
    Changed { folder: PathBuf, what: String },
    #[error("{path}: what is in it would run as you, and {why}")]
    Untrusted { path: PathBuf, why: String },
    #[error("there is no {slot} in this plan: {known}")]
    NoSlot { slot: String, known: String },
}

fn at<T>(what: &'static str, path: &Path, result: io::Result<T>) -> Result<T, FleetError> {
    result.map_err(|error| FleetError::Io { what, path: path.to_owned(), error })
}
