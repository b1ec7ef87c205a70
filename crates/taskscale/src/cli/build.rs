//! `taskscale build`.

use std::process::ExitCode;

use anyhow::Context;

use super::args::{Build, Global};
use super::messages::begun;
use super::session::built;
use super::{Failure, OrUsage, emit, open_catalog, print_result, printable, say_aside};
use crate::campaign::{NotReady, prepare};
use crate::catalog::select;
use crate::measure::Interrupt;
use crate::toolchain::{Attend, Cache};

pub fn run(args: &Build, global: &Global) -> Result<ExitCode, Failure> {
    let catalog = open_catalog(global).or_usage()?;
    let words = if args.entries.is_empty() { vec!["@all".to_owned()] } else { args.entries.clone() };
    let selection = select(&catalog, &words, &args.workload).or_usage()?;
    let interrupt = Interrupt::install().context("cannot catch signals")?;
    let stop = || interrupt.signal().is_some();
    let attend = Attend { stop: &stop, waiting: &say_aside };
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
