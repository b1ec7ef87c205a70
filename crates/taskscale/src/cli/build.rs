//! `taskscale build`.

use super::args::{BuildArgs, Global};
use super::catalog_dir::open_catalog_with;
use super::failure::{CliResult, OrUsage, catch_signals, exit_code};
use super::output::{emit, print_result, printable};
use super::progress::Progress;
use super::session::{build_programs, built};
use crate::campaign::NotReady;
use crate::catalog::select;

pub fn run(args: &BuildArgs, global: &Global) -> CliResult {
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let (catalog, words) = open_catalog_with(global, &words).or_usage()?;
    let selection = select(&catalog, &words, &args.workload).or_usage()?;
    let interrupt = catch_signals()?;
    let progress = Progress::new(global.quiet);
    let prepared = build_programs(&selection.programs, &interrupt, &progress, 0, selection.programs.len())?;
    progress.finish();
    let mut failed = false;
    for entry in &prepared {
        emit(built(entry));
        let name = entry.label();
        let line = match &entry.command {
            Ok(command) => format!("{name}: {}", command.join(" ")),
            Err(NotReady::NoToolchain(why)) => format!("{name}: unavailable: {why}"),
            Err(NotReady::BuildFailed(why)) => {
                failed = true;
                format!("{name}: build failed: {why}")
            }
        };
        print_result(&format!("{}\n", printable(&line)))?;
    }
    Ok(exit_code(failed))
}
