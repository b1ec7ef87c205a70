//! `taskscale completions`: scripts for shells, made from the definition of the command line.

use std::process::ExitCode;

use clap::CommandFactory;
use clap::builder::PossibleValuesParser;

use super::args::{Args, Completions, Global};
use super::{Failure, open_catalog, print_result};

/// What stands for an entry in help texts: such arguments are completed with the catalogue's names.
const ENTRY: &str = "ENTRY";

pub fn run(args: &Completions, global: &Global) -> Result<ExitCode, Failure> {
    // Without a catalogue there is still much to complete.
    let names = open_catalog(global).map(|catalog| names(&catalog)).unwrap_or_default();
    let mut command = with_names(Args::command(), &names);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "taskscale", &mut script);
    print_result(&String::from_utf8_lossy(&script))?;
    Ok(ExitCode::SUCCESS)
}

/// Sets, runtimes and entries: whatever may be typed for an entry.
fn names(catalog: &crate::catalog::Catalog) -> Vec<String> {
    let sets = ["@posts", "@idiomatic", "@all"].map(str::to_owned);
    let mut names: Vec<String> = sets.into();
    for (runtime, entry) in catalog.entries() {
        if !names.contains(&runtime.name) {
            names.push(runtime.name.clone());
        }
        names.push(entry.full_name.clone());
    }
    names
}

/// The definition with the names as the values of every argument that is an entry, in whatever command.
fn with_names(command: clap::Command, names: &[String]) -> clap::Command {
    if names.is_empty() {
        return command;
    }
    command
        .mut_args(|arg| {
            let is_entry =
                arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == ENTRY));
            if is_entry { arg.value_parser(PossibleValuesParser::new(names.iter().cloned())) } else { arg }
        })
        .mut_subcommands(|command| with_names(command, names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_every_command_are_completed() {
        let names = ["@posts", "go", "go/goroutine"].map(str::to_owned);
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let mut command = with_names(Args::command(), &names);
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "taskscale", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["compare", "fail-above", "go/goroutine", "@posts"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
