//! What `compare` takes.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::figure;
use crate::figures::Figure;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale compare MAIN BRANCH                            what the branch costs
  taskscale compare MAIN BRANCH --fail-above 5%            a gate: exit code 1 on a regression
  taskscale compare MAIN BRANCH -m launch,cpu              times instead of memory
  taskscale compare MAIN BRANCH --format markdown          for a pull request
  taskscale compare DIR --base-entry rust/tokio-spawn --new-entry go/goroutine

Three repetitions on each side are the least, five or more are good (`taskscale run -r 5`).
Exit codes: 0 compared, 1 a regression above --fail-above, 2 wrong usage, or --fail-above has no answer.")]
pub struct Compare {
    /// The campaign's folder to compare with
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// The campaign's folder that is judged; may be left out where two entries of BASE are compared
    #[arg(value_name = "NEW", required_unless_present = "new_entry")]
    pub new: Option<PathBuf>,
    /// Compare this entry of BASE ...
    #[arg(long, value_name = "ENTRY", requires = "new_entry")]
    pub base_entry: Option<String>,
    /// ... with this one of NEW
    #[arg(long, value_name = "ENTRY", requires = "base_entry")]
    pub new_entry: Option<String>,
    /// What is compared, comma-separated [default: footprint,bytes-per-task; of work wall-ns-per-op,cpu-ns-per-op,peak]
    #[arg(short, long, value_name = "METRICS", value_delimiter = ',', value_parser = figure())]
    pub metric: Vec<&'static Figure>,
    /// Exit with 1 where a metric has grown by more than this, beyond doubt, or NEW lacks what BASE has: a cell that is
    /// not measured, runs that are not ok any more; with 2 where a cell cannot be judged: 5%
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub fail_above: Option<String>,
    /// With --fail-above: let pass what is not measured or ok less often. A cell in which no run is ok now still fails
    #[arg(long, requires = "fail_above")]
    pub allow_missing: bool,
    /// Differences up to this are none [default: 1% of memory, 5% of time; never more than --fail-above]
    #[arg(long, value_name = "SHARE", allow_hyphen_values = true)]
    pub margin: Option<String>,
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = CompareFormat::Table)]
    pub format: CompareFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum CompareFormat {
    /// Tables for the terminal
    Table,
    /// For a pull request
    Markdown,
    /// Everything, for programs
    Json,
    /// One line for each metric of each cell
    Csv,
}
