//! `taskscale build`.

use std::process::ExitCode;

use anyhow::Context;

use super::args::{BuildArgs, Global};
use super::messages::begun;
use super::session::built;
use super::{Failure, OrUsage, emit, eprint_status, open_catalog, print_result, printable};
use crate::campaign::{NotReady, prepare};
use crate::catalog::select;
use crate::toolchain::{Attend, Cache};
use taskscale_measure::Interrupt;

pub fn run(args: &BuildArgs, global: &Global) -> Result<ExitCode, Failure> {
    let catalog = open_catalog(global).or_usage()?;
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let selection = select(&catalog, &words, &args.workload).or_usage()?;
    let interrupt = Interrupt::install().context("cannot catch signals")?;
    let stop = || interrupt.signal().is_some();
    let attend = Attend { stop: &stop, waiting: &eprint_status };
    let prepared = prepare(&Cache::of_user(), &selection.programs, &attend, begun);
    if let Some(signal) = interrupt.signal() {
        return Ok(ExitCode::from(128 + signal as u8));
    }
    let mut code = ExitCode::SUCCESS;
    for entry in &prepared {
        emit(built(entry));
        let name = entry.label();
        let line = match &entry.command {
            Ok(command) => format!("{name}: {}", command.join(" ")),
            Err(NotReady::NoToolchain(why)) => format!("{name}: unavailable: {why}"),
            Err(NotReady::BuildFailed(why)) => {
                code = ExitCode::FAILURE;
                format!("{name}: build failed: {why}")
            }
        };
        print_result(&format!("{}\n", printable(&line)))?;
    }
    Ok(code)
}
