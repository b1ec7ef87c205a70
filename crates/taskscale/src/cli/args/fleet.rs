//! `taskscale fleet`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand};

use super::values::{TABLE_FORMATS, some_formats};
use crate::report::Format;

#[derive(Debug, ClapArgs)]
#[command(args_conflicts_with_subcommands = true, arg_required_else_help = true)]
#[command(after_long_help = "\
Examples:
  taskscale fleet plan.toml             submit a job for each machine of the plan to Slurm
  taskscale fleet plan.toml --dry-run   print the batch scripts; submit nothing
  taskscale fleet status DIR            the progress of each machine
  taskscale fleet gather DIR            all machines in one table

docs/guides/fleet.md describes plans, and what happens when a node is lost.

Exit status: 0 success; 1 a machine failed or is not complete; 2 usage error, nothing was submitted.")]
pub struct FleetArgs {
    #[command(subcommand)]
    pub step: Option<FleetCommand>,
    /// What to measure on which machines
    pub plan: Option<PathBuf>,
    /// Check the plan and print the scripts; submit nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Show the progress of each machine
    ///
    /// On a terminal until all machines have ended. With --json once, as JSON.
    Status {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
        /// Print once, on a terminal, too
        #[arg(long)]
        once: bool,
    },
    /// Submit what is neither complete nor in a job
    ///
    /// Each machine resumes where it stopped.
    Resume {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
    },
    /// Cancel the jobs of a fleet; results are kept
    Cancel {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
    },
    /// Compare the complete machines
    Gather {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
        /// Output format (see `list formats`) [default: table]
        #[arg(short, long, value_parser = some_formats(&TABLE_FORMATS), default_value = "table")]
        format: Format,
    },
    /// Measure one machine of a plan here, as its job does
    Work {
        /// The folder of a fleet
        folder: PathBuf,
        /// The name of this machine in the plan, such as x86-1
        machine: String,
        /// Options of `run` for this machine
        #[arg(last = true)]
        more: Vec<String>,
    },
}
