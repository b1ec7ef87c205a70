//! `taskscale fleet`.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Subcommand, ValueEnum};

#[derive(Debug, ClapArgs)]
#[command(
    args_conflicts_with_subcommands = true,
    arg_required_else_help = true,
    after_help = "\
Examples:
  taskscale fleet plan.toml             submit a campaign for each machine of the plan to Slurm
  taskscale fleet plan.toml --dry-run   the batch scripts, to be read, or run by hand or by another scheduler
  taskscale fleet status DIR            how far each machine is
  taskscale fleet gather DIR            all machines in one answer

docs/guides/fleet.md says what a plan holds, and what happens when a node is lost.
Exit codes: 0 all well, 1 some machine fell short, 2 wrong usage; nothing was submitted then."
)]
pub struct Fleet {
    #[command(subcommand)]
    pub step: Option<Step>,
    /// What is measured on which machines (docs/guides/fleet.md)
    #[arg(value_name = "PLAN")]
    pub plan: Option<PathBuf>,
    /// Refuse what submission would, print the batch scripts, and submit nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Subcommand)]
pub enum Step {
    /// Show how far each machine is; on a terminal, until all have ended
    Status {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
        /// Show it once, on a terminal as well
        #[arg(long)]
        once: bool,
        /// Print it once, as JSON
        #[arg(long)]
        json: bool,
    },
    /// Submit again whatever is neither complete nor in a job: each campaign goes on where it stopped
    Resume {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
    },
    /// Cancel the jobs of a fleet; what was measured is kept
    Cancel {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
    },
    /// Set the complete campaigns side by side, differences of machines first
    Gather {
        /// The folder of a fleet, or its plan
        folder: PathBuf,
        /// How it is printed
        #[arg(short, long, value_enum, default_value_t = GatherFormat::Table)]
        format: GatherFormat,
    },
    /// Measure one machine of a plan here, as its job does
    Work {
        /// The folder of a fleet
        folder: PathBuf,
        /// Which of its machines this is, such as x86-1
        machine: String,
        /// Options of `run` that are this machine's alone
        #[arg(last = true)]
        more: Vec<String>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum GatherFormat {
    /// Tables for the terminal
    Table,
    /// For an issue, a README or a post
    Markdown,
}
