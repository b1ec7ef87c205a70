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

Exit codes: 0 handed in or all well, 1 refused, 2 wrong usage. docs/submitting.md says what is checked.")]
pub struct Submit {
    /// The campaign's folder; it stays as it is
    #[arg(value_name = "DIR", required_unless_present = "check")]
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
    /// With --check: these are being handed in now, not by the project
    #[arg(long, requires = "check", conflicts_with = "folder")]
    pub new: bool,
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
