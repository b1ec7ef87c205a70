//! `taskscale man`: the manual, made from the definition of the command line.

use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use super::args::{Args, Man};
use super::{Failure, print_result, say_aside};

pub fn run(args: &Man) -> Result<ExitCode, Failure> {
    let mut command = Args::command();
    match &args.output {
        Some(folder) => {
            let shown = folder.display();
            std::fs::create_dir_all(folder).with_context(|| format!("cannot create {shown}"))?;
            clap_mangen::generate_to(command, folder)
                .with_context(|| format!("cannot write into {shown}"))?;
            say_aside(&format!("a page for taskscale and one for each command are in {shown}"));
        }
        None => {
            command.build();
            let mut page = Vec::new();
            clap_mangen::Man::new(command).render(&mut page).context("cannot write the manual")?;
            print_result(&String::from_utf8_lossy(&page))?;
        }
    }
    Ok(ExitCode::SUCCESS)
}
