//! The command line: parse, validate once into plain structs, delegate, and turn the end into an exit code.
//!
//! Standard output is the result, standard error the progress. Exit status 0: success; 1: a case failed, a gate failed or
//! taskscale could not continue; 2: usage error; 3: a gate is undecided; 128 + n: ended by signal n.

mod args;
mod bisect;
mod build;
mod catalog_dir;
mod check;
mod clean;
mod compare;
mod completions;
mod doctor;
mod explain;
mod failure;
mod fleet;
mod follow_up_hints;
mod help;
mod limit;
mod list;
mod load;
mod man;
mod measure;
mod new;
mod output;
mod output_dir;
mod pages;
mod progress;
mod replay;
mod report;
mod results_ticker;
mod run;
mod session;
mod site;
mod submit;
mod verify;
mod versions;
mod workload_args;

use std::process::ExitCode;

use clap::Parser;

use args::{Args, Command, Global};
use failure::{Failure, SUCCESS, USAGE, advised};
use output::Mode;

/// Runs the command line.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return not_parsed(&error),
    };
    use Command::{Bisect, Check, Doctor, List, Load, Replay, Submit, Versions};
    // These print their result as JSON. All others write events.
    let prints_json = matches!(
        args.command,
        Some(List(_) | Check(_) | Replay(_) | Load(_) | Submit(_) | Versions(_) | Bisect(_) | Doctor)
    );
    let json = args.global.json && !prints_json;
    let Global { color, verbose, quiet, .. } = args.global;
    output::set(Mode { color, json, verbose, quiet });
    if let Some(command) = args.misplaced_options() {
        let error = format!("options of `run` before `{command}` (options follow their command)");
        let advice = format!("`taskscale {command} -h` lists its options");
        return Failure::Usage(advised(error, advice)).report(false);
    }
    let no_command = args.command.is_none();
    let result = match args.command {
        None => run::run(&args.run, &args.global, args.runs_by_default()),
        Some(Command::Run(run)) => run::run(&run, &args.global, false),
        Some(Command::List(list)) => list::run(&list, &args.global),
        Some(Command::Versions(versions)) => versions::run(&versions, &args.global),
        Some(Command::Build(build)) => build::run(&build, &args.global),
        Some(Command::Doctor) => doctor::run(&args.global),
        Some(Command::Report(report)) => report::run(&report),
        Some(Command::Site(site)) => site::run(&site, &args.global),
        Some(Command::Replay(replay)) => replay::run(&replay, &args.global),
        Some(Command::Check(check)) => check::run(&check, &args.global),
        Some(Command::New(new)) => new::run(&new, &args.global),
        Some(Command::Clean(clean)) => clean::run(&clean, &args.global),
        Some(Command::Bisect(bisect)) => bisect::run(&bisect, &args.global),
        Some(Command::Compare(compare)) => compare::run(&compare),
        Some(Command::Completions(completions)) => completions::run(&completions, &args.global),
        Some(Command::Man(man)) => man::run(&man),
        Some(Command::Help(help)) => help::run(&help),
        Some(Command::Limit(limit)) => limit::run(&limit, &args.global),
        Some(Command::Explain(explain)) => explain::run(&explain, &args.global),
        Some(Command::Fleet(fleet)) => fleet::run(&fleet, &args.global),
        Some(Command::Load(load)) => load::run(&load, &args.global),
        Some(Command::Submit(submit)) => submit::run(&submit, &args.global),
        Some(Command::Verify(verify)) => verify::run(&verify, &args.global),
        Some(Command::Measure(measure)) => measure::run(&measure, &args.global),
    };
    match result {
        Ok(code) => output::end(code),
        Err(failure) => failure.report(no_command),
    }
}

/// Prints help and version, which are results. Everything else is a usage error.
fn not_parsed(error: &clap::Error) -> ExitCode {
    let is_usage = error.use_stderr();
    if !is_usage || !std::env::args_os().any(|word| word == "--json") {
        // The stream may be closed.
        let _ = error.print();
        return ExitCode::from(if is_usage { USAGE } else { SUCCESS });
    }
    let message = error.to_string();
    let message = message.trim().trim_start_matches("error: ");
    output::set(Mode { json: true, ..Mode::default() });
    output::eprint_error(message, None);
    output::end(USAGE)
}
