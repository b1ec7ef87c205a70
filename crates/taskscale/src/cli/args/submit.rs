//! What `submit` takes.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use crate::record;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale submit DIR --dry-run            what would be handed in, and what speaks against it
  taskscale submit DIR > pull-request.md    results/MACHINE/DATE, and the text to go with it
  taskscale submit --check results          a repository's campaigns, in its CI
  taskscale submit --check results/MACHINE/DATE --new    a campaign that somebody hands in

Exit codes: 0 handed in or all well, 1 refused, 2 wrong usage. docs/guides/submit.md says what is checked.")]
pub struct Submit {
    /// The campaign's folder; it stays as it is
    #[arg(value_name = "DIR", required_unless_present_any = ["check", "withdraw"])]
    pub folder: Option<PathBuf>,
    /// Where campaigns are kept: it gets a folder there, and is compared with them
    #[arg(long, value_name = "RESULTS", default_value = "results")]
    pub to: PathBuf,
    /// Who measured it
    #[arg(long, value_enum, value_name = "WHO", default_value_t, conflicts_with = "check")]
    pub by: By,
    /// Write nothing: check, and print the text
    #[arg(long, conflicts_with = "check")]
    pub dry_run: bool,
    /// Check every campaign in this folder or below it instead
    #[arg(long, value_name = "RESULTS", conflicts_with = "folder")]
    pub check: Option<PathBuf>,
    /// Withdraw the published results in this folder: their files go, and their place says why
    #[arg(long, value_name = "DIR", conflicts_with_all = ["folder", "check"], requires = "reason")]
    pub withdraw: Option<PathBuf>,
    /// Why they are withdrawn: a sentence that the site shows
    #[arg(long, value_name = "TEXT", requires = "withdraw")]
    pub reason: Option<String>,
    /// With --check: these are being handed in now, not by the project
    #[arg(long, requires = "check", conflicts_with = "folder")]
    pub new: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale verify results/MACHINE/DATE              a random tenth of the cases, three repetitions each
  taskscale verify results/MACHINE/DATE --seed 7     the same cases again; what was measured is not measured twice
  taskscale verify results/MACHINE/DATE --dry-run    the cases and the commands

Exit codes: 0 verified, 1 too few cases agree, 2 wrong usage. docs/guides/submit.md says what agreement is.")]
pub struct Verify {
    /// The submitted results; verification.json is written there
    #[arg(value_name = "DIR")]
    pub folder: PathBuf,
    /// Decides which cases are measured [default: random]
    #[arg(long, value_name = "SEED")]
    pub seed: Option<u64>,
    /// Where the second measurement is kept
    #[arg(short, long, value_name = "DIR", default_value = "taskscale-verify")]
    pub output: PathBuf,
    /// Measure nothing: print the cases
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum By {
    /// Somebody who hands it in
    #[default]
    HandedIn,
    /// The project itself
    Project,
}

impl From<By> for record::By {
    fn from(by: By) -> record::By {
        match by {
            By::HandedIn => record::By::HandedIn,
            By::Project => record::By::Project,
        }
    }
}
