//! `taskscale report`.

use std::process::ExitCode;

use super::args::Report;
use super::{Failure, OrUsage, print_result};
use crate::record;

pub fn run(args: &Report) -> Result<ExitCode, Failure> {
    let loaded = record::load(&args.folder).or_usage()?;
    super::run::warn_of_rejected(&args.folder, &loaded.rejected, "left out");
    let text = super::run::render(&loaded.campaign, &loaded.samples, args.format);
    print_result(&text)?;
    Ok(ExitCode::SUCCESS)
}
