//! `taskscale completions`: scripts for shells, generated from the definition of the command line.

use clap::CommandFactory;
use clap::builder::PossibleValuesParser;

use super::args::{Args, CompletionsArgs, Global};
use super::catalog_dir::open_catalog;
use super::failure::{CliResult, succeed_with};
use super::list::TOPICS;

/// The placeholder for entries in help texts: such arguments are completed with the names of the catalog.
const ENTRY: &str = "ENTRY";

pub fn run(args: &CompletionsArgs, global: &Global) -> CliResult {
    // Commands and options are completed without a catalog.
    let names = open_catalog(global).map(|catalog| names(&catalog)).unwrap_or_default();
    let mut command = with_names(Args::command(), &names);
    let mut script = Vec::new();
    clap_complete::generate(args.shell, &mut command, "taskscale", &mut script);
    succeed_with(&String::from_utf8_lossy(&script))
}

/// Sets, runtimes and entries: everything that is accepted for ENTRY.
fn names(catalog: &crate::catalog::Catalog) -> Vec<String> {
    let mut names: Vec<String> = ["@posts", "@idiomatic", "@all"].map(str::to_owned).into();
    for (runtime, entry) in catalog.entries() {
        if !names.contains(&runtime.name) {
            names.push(runtime.name.clone());
        }
        names.push(entry.full_name.clone());
    }
    names
}

/// The definition with the names as values of ENTRY, in every command.
fn with_names(command: clap::Command, names: &[String]) -> clap::Command {
    if names.is_empty() {
        return command;
    }
    let topics: &[&str] = if command.get_name() == "list" { TOPICS } else { &[] };
    let names: Vec<String> = names.iter().cloned().chain(topics.iter().map(ToString::to_string)).collect();
    command
        .mut_args(|arg| {
            let is_entry =
                arg.get_value_names().is_some_and(|names| names.iter().any(|name| name.as_str() == ENTRY));
            if is_entry { arg.value_parser(PossibleValuesParser::new(names.iter().cloned())) } else { arg }
        })
        .mut_subcommands(|command| with_names(command, &names))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn completion_scripts_of_every_shell_include_entries() {
        let names = ["@posts", "go", "go/goroutine"].map(str::to_owned);
        for shell in [clap_complete::Shell::Bash, clap_complete::Shell::Zsh, clap_complete::Shell::Fish] {
            let mut command = with_names(Args::command(), &names);
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut command, "taskscale", &mut script);
            let script = String::from_utf8(script).unwrap();
            for word in ["compare", "fail-above", "go/goroutine", "@posts", "workloads"] {
                assert!(script.contains(word), "{shell}: {word}");
            }
        }
    }
}
