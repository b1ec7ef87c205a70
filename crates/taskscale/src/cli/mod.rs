//! The command line: parse, validate once into plain structs, delegate, and turn the end into an exit code.
//!
//! Standard output is the result, standard error the progress. Exit code 0: all well; 1: some cell fell short or
//! taskscale could not do its work; 2: wrong usage; 128 + n: ended by signal n.

mod args;
mod build;
mod doctor;
mod list;
mod measure;
mod measure_options;
mod progress;
mod report;
mod run;

use std::io::IsTerminal;
use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Args, Command};

use crate::catalog::{Catalog, CatalogError, find_catalog};

/// Why a command did not end well.
pub enum Failure {
    /// What the user asked cannot be done as asked: exit code 2.
    Usage(anyhow::Error),
    /// It could be asked, but could not be done: exit code 1.
    Broken(anyhow::Error),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Broken(error.into())
    }
}

/// Marks an error as the user's to mend.
trait OrUsage<T> {
    fn or_usage(self) -> Result<T, Failure>;
}

impl<T, E: Into<anyhow::Error>> OrUsage<T> for Result<T, E> {
    fn or_usage(self) -> Result<T, Failure> {
        self.map_err(|error| Failure::Usage(error.into()))
    }
}

/// Runs the command line.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => {
            let code = if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
                0
            } else {
                2
            };
            // Nothing can be done where not even an error can be printed.
            let _ = error.print();
            return ExitCode::from(code);
        }
    };
    if let Some(command) = args.misplaced_options() {
        eprintln!(
            "error: entries and options of a run stand before `{command}`: put them after it, or leave it out"
        );
        return ExitCode::from(2);
    }
    let result = match args.command {
        None => run::run(&args.run, &args.global),
        Some(Command::Run(run)) => run::run(&run, &args.global),
        Some(Command::List(list)) => list::run(&list, &args.global),
        Some(Command::Build(build)) => build::run(&build, &args.global),
        Some(Command::Doctor) => doctor::run(&args.global),
        Some(Command::Report(report)) => report::run(&report),
        Some(Command::Measure(measure)) => measure::run(&measure),
    };
    match result {
        Ok(code) => code,
        Err(failure) => {
            let (code, error) = match failure {
                Failure::Usage(error) => (2, error),
                Failure::Broken(error) => (1, error),
            };
            say_aside(&format!("error: {error:#}"));
            ExitCode::from(code)
        }
    }
}

fn open_catalog(global: &args::Global) -> Result<Catalog, CatalogError> {
    let folder = match &global.catalog {
        // Programs run in another folder: a relative path would lead nowhere there.
        Some(folder) => std::path::absolute(folder)
            .map_err(|error| CatalogError::Unreadable { path: folder.clone(), error })?,
        None => find_catalog()?,
    };
    Catalog::load(&folder)
}

/// Whether to colour what goes to a stream: only on a terminal, and never against NO_COLOR (no-color.org).
fn colour(stream: &impl IsTerminal) -> bool {
    stream.is_terminal()
        && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty())
        && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
}

/// Text from outside made safe for a terminal: nothing that acts instead of being seen but line ends and tabs.
fn printable(text: &str) -> String {
    text.chars()
        .map(|c| if crate::report::acts(c) && c != '\n' && c != '\t' { '\u{fffd}' } else { c })
        .collect()
}

/// A line on standard error. Nobody may be listening any more (`2>&1 | head`, a closed terminal): no reason to stop.
fn say_aside(line: &str) {
    use std::io::Write;
    let _ = std::io::stderr().write_all(format!("{}\n", printable(line)).as_bytes());
}

/// Writes a result to standard output. A reader that has seen enough (`| head`) is no error.
fn print_result(text: &str) -> Result<(), Failure> {
    use std::io::Write;
    match std::io::stdout().write_all(text.as_bytes()) {
        Err(error) if error.kind() != std::io::ErrorKind::BrokenPipe => Err(error.into()),
        _ => Ok(()),
    }
}
