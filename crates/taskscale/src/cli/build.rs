//! `taskscale build`.

use std::process::ExitCode;

use super::args::{BuildArgs, Global};
use super::catalog_dir::open_catalog_with;
use super::failure::{Failure, OrUsage, catch_signals, check_interrupt, exit_code};
use super::messages::{begun, emit, eprint_status};
use super::session::built;
use super::terminal::{print_result, printable};
use crate::campaign::{NotReady, prepare};
use crate::catalog::select;
use crate::toolchain::{Attend, Cache};

pub fn run(args: &BuildArgs, global: &Global) -> Result<ExitCode, Failure> {
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let (catalog, words) = open_catalog_with(global, &words).or_usage()?;
    let selection = select(&catalog, &words, &args.workload).or_usage()?;
    let interrupt = catch_signals()?;
    let stop = || interrupt.signal().is_some();
    let attend = Attend { stop: &stop, waiting: &eprint_status };
    let prepared = prepare(&Cache::of_user(), &selection.programs, &attend, begun);
    check_interrupt(&interrupt)?;
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
