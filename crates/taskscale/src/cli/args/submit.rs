//! What `submit` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};

use crate::record::By;

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
    let known = [("handed-in", "A contributor"), ("project", "The project")];
    // The parser takes no other names.
    PossibleValuesParser::new(known.map(|(name, about)| PossibleValue::new(name).help(about)))
        .map(|name| if name == "project" { By::Project } else { By::HandedIn })
}
