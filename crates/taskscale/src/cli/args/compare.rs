//! What `compare` takes.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::ErrorKind;
use clap::{Arg, Args as ClapArgs, Command, Error};

use super::values::{DOCUMENT_FORMATS, figure, some_formats};
use crate::compare::ComparedMetric;
use crate::report::Format;
use crate::units;

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale compare MAIN BRANCH                            what the branch costs
  taskscale compare MAIN BRANCH --fail-above 5%            a gate for CI
  taskscale compare MAIN BRANCH -m launch,cpu=10%          also times; CPU with its own margin
  taskscale compare MAIN BRANCH --format markdown          for a pull request
  taskscale compare DIR --base-entry rust/tokio-spawn --new-entry go/goroutine

A verdict needs 3 repetitions on each side, better 5 (`taskscale run -r 5`).

Exit status: 0 compared, or the gate passes; 1 the gate fails; 2 usage error; 3 the gate is undecided.")]
pub struct CompareArgs {
    /// Results to compare with
    #[arg(value_name = "BASE")]
    pub base: PathBuf,
    /// Results to judge [default: BASE]
    #[arg(value_name = "NEW", required_unless_present = "new_entry")]
    pub new: Option<PathBuf>,
    /// Compare this entry of BASE ...
    #[arg(long, value_name = "ENTRY", requires = "new_entry")]
    pub base_entry: Option<String>,
    /// ... with this entry of NEW
    #[arg(long, value_name = "ENTRY", requires = "base_entry")]
    pub new_entry: Option<String>,
    /// More metrics: NAME or NAME=MARGIN (see `list metrics`)
    #[arg(short, long, value_name = "METRICS", value_delimiter = ',', value_parser = MetricParser)]
    pub metric: Vec<ComparedMetric>,
    /// Exit with 1 on a regression above this, such as 5%
    #[arg(long, value_name = "SHARE")]
    pub fail_above: Option<String>,
    /// Pass cases that NEW lacks or completes less often
    #[arg(long, requires = "fail_above")]
    pub allow_missing: bool,
    /// Compare across machines, kernels and taskscale versions
    #[arg(long)]
    pub across: bool,
    /// Show which part of a task's memory changed
    ///
    /// Both folders must have sheets of `taskscale explain`.
    #[arg(long)]
    pub explain: bool,
    /// Output format (see `list formats`) [default: table]
    #[arg(short, long, value_parser = some_formats(&DOCUMENT_FORMATS), default_value = "table")]
    pub format: Format,
}

/// Parses a metric's name, with an optional margin after an equals sign.
#[derive(Clone)]
struct MetricParser;

impl TypedValueParser for MetricParser {
    type Value = ComparedMetric;

    fn parse_ref(
        &self,
        command: &Command,
        arg: Option<&Arg>,
        value: &OsStr,
    ) -> Result<ComparedMetric, Error> {
        let text = value.to_string_lossy();
        let (name, margin) =
            text.split_once('=').map_or((&*text, None), |(name, margin)| (name, Some(margin)));
        let figure = figure().parse_ref(command, arg, OsStr::new(name))?;
        let margin = margin.map(units::parse_share).transpose().map_err(|error| {
            Error::raw(ErrorKind::ValueValidation, format!("--metric {text}: {error}\n")).with_cmd(command)
        })?;
        Ok(ComparedMetric { figure, margin })
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let known: Vec<PossibleValue> = figure().possible_values()?.collect();
        Some(Box::new(known.into_iter()))
    }
}
