//! What `compare`, `submit`, `verify` and `site` take.

use std::ffi::OsStr;
use std::path::PathBuf;

use clap::builder::{PossibleValue, TypedValueParser};
use clap::error::{Error, ErrorKind, Result};
use clap::{Arg, Args as ClapArgs, Command};

use super::values::{DOCUMENT_FORMATS, figure, one_of, some_formats};
use crate::compare::ComparedMetric;
use crate::record::By;
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

    fn parse_ref(&self, command: &Command, arg: Option<&Arg>, value: &OsStr) -> Result<ComparedMetric> {
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

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale submit DIR --dry-run            check; write nothing
  taskscale submit DIR > pull-request.md    write results/MACHINE/DATE and the pull request's text
  taskscale submit --check results          check a repository's results, in its CI
  taskscale submit --check results/MACHINE/DATE --new    check new results

Host names, user names and paths are removed. docs/guides/submit.md describes the checks.

Exit status: 0 submitted, or all checks pass; 1 refused; 2 usage error.")]
pub struct SubmitArgs {
    /// Results folder; it is not changed
    #[arg(value_name = "DIR", required_unless_present_any = ["check", "withdraw"])]
    pub folder: Option<PathBuf>,
    /// Folder of published results, to add to and compare with
    #[arg(long, value_name = "RESULTS", default_value = "results")]
    pub to: PathBuf,
    /// Who measured: handed-in or project [default: handed-in]
    #[arg(long, value_name = "WHO", value_parser = by(), default_value = "handed-in", conflicts_with = "check")]
    pub by: By,
    /// Check, and print the text; write nothing
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Check all results in this folder and below
    #[arg(long, value_name = "RESULTS", conflicts_with = "folder")]
    pub check: Option<PathBuf>,
    /// Withdraw published results; needs --reason
    ///
    /// Their files are deleted, and a notice with the reason takes their place.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["folder", "check"], requires = "reason")]
    pub withdraw: Option<PathBuf>,
    /// Reason of the withdrawal, which the site shows
    #[arg(long, value_name = "TEXT", requires = "withdraw")]
    pub reason: Option<String>,
    /// With --check: these results are being submitted now
    #[arg(long, requires = "check", conflicts_with = "folder")]
    pub new: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale verify results/MACHINE/DATE              a random tenth of the cases, three times
  taskscale verify results/MACHINE/DATE --seed 7     the same cases again; resumes
  taskscale verify results/MACHINE/DATE --dry-run    the commands

docs/guides/submit.md defines agreement.

Exit status: 0 verified; 1 too few cases agree; 2 usage error.")]
pub struct VerifyArgs {
    /// Submitted results; verification.json is written there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Seed of the random selection [default: random]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Folder of the second measurement
    #[arg(short, long, value_name = "DIR", default_value = "taskscale-verify")]
    pub output: PathBuf,
    /// Print the commands; measure nothing
    #[arg(long)]
    pub dry_run: bool,
}

/// Parses who measured.
fn by() -> impl TypedValueParser<Value = By> {
    let known = [("handed-in", "A contributor", By::HandedIn), ("project", "The project", By::Project)];
    one_of(known.map(|(name, about, by)| (PossibleValue::new(name).help(about), by)).into())
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale site -o public                your results in taskscale-results/
  taskscale site results -o public        a repository's results of many machines
  xdg-open public/index.html              works without a server

The site includes the documents if the catalog or RESULTS is in taskscale's repository.
Building into an existing site deletes its outdated pages.")]
pub struct SiteArgs {
    /// Folder that contains the results folders
    #[arg(value_name = "RESULTS", default_value = "taskscale-results")]
    pub results: PathBuf,
    /// Folder of the site: new, empty, or an older site
    #[arg(short, long, value_name = "DIR")]
    pub output: PathBuf,
}
