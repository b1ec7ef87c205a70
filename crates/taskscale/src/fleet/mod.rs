//! The same measurement on the machines of a cluster. Slurm schedules, watches and retries. This module writes its
//! scripts, does the work of a job on its node, and collects the results.

mod collect;
mod folder;
mod plan;
mod prepare;
pub(crate) mod slurm;
mod status;
mod submit;
mod work;

use std::io;
use std::path::{Path, PathBuf};

use crate::hint::hints;

pub use collect::collect;
pub use folder::{Fleet, PublishedTarget, Submission, Target};
pub use plan::{FleetPlan, Machines, NodeSelector};
pub use prepare::prepare;
pub use slurm::Job;
pub use status::{Snapshot, Watch, document, json, numbers};
pub use submit::{Scripts, release, scripts, submit};
pub use work::{NodeContext, WorkOutcome, work};

type FleetResult<T, E = FleetError> = std::result::Result<T, E>;

/// Why a fleet command failed.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum FleetError {
    #[error("{path}: {message}")]
    #[strum(message = "docs/guides/fleet.md describes plans, with an example")]
    Plan { path: PathBuf, message: String },
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: io::Error },
    #[error("no fleet in {0} (fleet.json not found)")]
    #[strum(message = "submit one: `taskscale fleet plan.toml`")]
    NoFleet(PathBuf),
    #[error("not a file of a fleet: {path} ({error})")]
    #[strum(message = "restore the file from a copy, or name a new folder in the plan")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("fleet of another plan in {folder}: {what}")]
    AnotherPlan { folder: PathBuf, what: String },
    #[error("fleet in use: {0} (another taskscale is submitting from it)")]
    #[strum(message = "wait for it, then run the same command again")]
    Busy(PathBuf),
    #[error("`{0}` not found (Slurm is not installed, or not in PATH)")]
    #[strum(
        message = "run it on a submit host (Debian: apt install slurm-client munge, with the cluster's slurm.conf); --dry-run prints scripts that run without Slurm"
    )]
    NoSlurm(&'static str),
    #[error("no matching node: {0} (Slurm test)")]
    NoNode(String),
    #[error("{name}: {error}")]
    Script { name: String, error: Box<FleetError> },
    #[error("{command} failed: {said}")]
    Slurm { command: String, said: String },
    #[error(
        "folder not shared: {folder} is missing on {node} (use a file system that this machine and all nodes share)"
    )]
    #[strum(message = "name another folder in the plan, for example one below home if all nodes mount it")]
    NotShared { folder: PathBuf, node: String },
    #[error("nodelist: a node is listed twice")]
    #[strum(message = "docs/guides/fleet.md describes plans, with an example")]
    ListedTwice,
    #[error("not published: results of job {own} (job {newer} has taken over {target})")]
    Superseded { target: String, own: String, newer: String },
    #[error("incomplete: {target} ({what})")]
    #[strum(message = "fix the cause, then `taskscale fleet resume DIR`; complete results are kept")]
    Incomplete { target: String, what: String },
    #[error("changed after publication: {folder} ({what})")]
    #[strum(message = "restore it from a copy, or delete its folder and run `taskscale fleet resume DIR`")]
    Changed { folder: PathBuf, what: String },
    #[error("not trusted: {path} ({why}, and its programs would run as you)")]
    Untrusted { path: PathBuf, why: String },
    #[error("no machine `{target}` in this plan (known: {known})")]
    #[strum(message = "`taskscale fleet status DIR` shows all of them")]
    NoTarget { target: String, known: String },
}

hints!(FleetError {
    FleetError::Io { error, .. } => error.hint(),
    FleetError::AnotherPlan { folder, .. } => {
        let resume = format!("taskscale fleet resume {}", folder.display());
        Some(format!("name a new folder in the plan, or resume what was submitted: `{resume}`"))
    },
    FleetError::Script { error, .. } => error.hint(),
    FleetError::Slurm { said, .. } => slurm_hint(said),
    FleetError::Untrusted { path, .. } => Some(format!(
        "`chmod go-w {}`; if another user owns it, name a folder of your own in the plan",
        path.display()
    )),
});

/// The hint for an error message of Slurm.
fn slurm_hint(said: &str) -> Option<String> {
    let said = said.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    // Slurm reports nothing else to a client whose credential it rejects.
    let hint = if any(&["credential", "munge", "zero bytes were transmitted", "authentication error"]) {
        "the clocks or the munge keys of this machine and the cluster differ: `munge -n | ssh CONTROLLER unmunge` \
         shows which"
    } else if any(&["partition"]) {
        "`sinfo --summarize` lists the partitions"
    } else if any(&["feature", "constraint"]) {
        "`sinfo --format '%P %N %f'` lists the features of nodes, which a constraint may name"
    } else if any(&["node name", "nodelist", "node count", "node configuration"]) {
        "`sinfo --Node` lists the nodes and their partitions"
    } else if any(&["time limit"]) {
        "`sinfo --format '%P %l'` lists the time limits of the partitions"
    } else if any(&["contact", "controller", "configuration source", "connect"]) {
        "`scontrol ping` shows whether the controller is up; SLURM_CONF names another slurm.conf"
    } else {
        "to reproduce it: `sbatch --test-only SCRIPT` on the output of --dry-run"
    };
    Some(hint.to_owned())
}

fn at<T>(what: &'static str, path: &Path, result: io::Result<T>) -> FleetResult<T> {
    result.map_err(|error| FleetError::Io { what, path: path.to_owned(), error })
}
