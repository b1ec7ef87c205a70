//! The command line: parse, validate once into plain structs, delegate, and turn the end into an exit code.
//!
//! Standard output is the result, standard error the progress. Exit status 0: success; 1: a case failed, a gate failed or
//! taskscale could not continue; 2: usage error; 3: a gate is undecided; 128 + n: ended by signal n.

mod args;
mod bisect;
mod browse;
mod build;
mod catalog_dir;
mod check;
mod clean;
mod compare;
mod completions;
mod confirm;
mod conformance;
mod doctor;
mod dry_run;
mod explain;
mod failure;
mod fleet;
mod follow_up_hints;
mod help;
mod lease;
mod limit;
mod list;
mod load;
mod man;
mod measure;
mod measure_options;
mod messages;
mod new;
mod output_dir;
mod pages;
mod progress;
mod replay;
mod report;
mod report_filter;
mod results_ticker;
mod run;
mod session;
mod site;
mod submit;
mod terminal;
mod verify;
mod versions;
mod workload_args;

use std::process::ExitCode;

use clap::Parser;
use clap::error::ErrorKind;

use args::{Args, Command};
use failure::{Failure, advised};

/// Runs the command line.
pub fn main() -> ExitCode {
    let args = match Args::try_parse() {
        Ok(args) => args,
        Err(error) => return not_parsed(&error),
    };
    // These print their result as JSON; all others write events.
    let json = args.global.json
        && !matches!(
            args.command,
            Some(
                Command::List(_)
                    | Command::Check(_)
                    | Command::Replay(_)
                    | Command::Load(_)
                    | Command::Submit(_)
                    | Command::Versions(_)
                    | Command::Bisect(_)
                    | Command::Doctor
            )
        );
    messages::set(messages::Mode { json, verbose: args.global.verbose, quiet: args.global.quiet });
    terminal::set_colour(args.global.color);
    if let Some(command) = args.misplaced_options() {
        let error = format!("options of `run` before `{command}` (options follow their command)");
        let advice = format!("`taskscale {command} -h` lists its options");
        return Failure::Usage(advised(error, advice)).report(false);
    }
    let no_command = args.command.is_none();
    let result = match args.command {
        None => run::run(&args.run, &args.global, args.is_bare()),
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
        Ok(code) => messages::end(code),
        Err(failure) => failure.report(no_command),
    }
}

/// Prints help and version, which are results. Everything else is a usage error.
fn not_parsed(error: &clap::Error) -> ExitCode {
    if matches!(error.kind(), ErrorKind::DisplayHelp | ErrorKind::DisplayVersion) {
        // Standard output may be closed.
        let _ = error.print();
        return ExitCode::SUCCESS;
    }
    let words: Vec<String> = std::env::args_os().map(|word| word.to_string_lossy().into_owned()).collect();
    let json = words.iter().any(|word| word == "--json");
    let message = match below_zero(&words).filter(|_| error.kind() == ErrorKind::UnknownArgument) {
        Some((option, value)) => {
            format!("{option}: {value:?} is below zero; give {}", accepted(option))
        }
        None if json => error.to_string().trim().trim_start_matches("error: ").to_owned(),
        None => {
            let _ = error.print();
            return ExitCode::from(2);
        }
    };
    messages::set(messages::Mode { json, verbose: false, quiet: false });
    messages::eprint_error(&message, None);
    messages::end(ExitCode::from(2))
}

/// A negative value, which clap takes for an option, and the option that it was meant for.
fn below_zero(words: &[String]) -> Option<(&str, &str)> {
    let negative = |word: &str| {
        word.strip_prefix('-').is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    };
    // What follows `--` is another program's.
    let words = words.split(|word| word == "--").next()?;
    let pair =
        words.windows(2).find(|pair| pair[0].starts_with('-') && pair[0].len() > 1 && negative(&pair[1]))?;
    (!negative(&pair[0])).then_some((&pair[0], &pair[1]))
}

/// What an option accepts, by example.
fn accepted(option: &str) -> &'static str {
    match option {
        "--memory-cap" | "--memory" => "a size such as 512MiB",
        "--timeout" | "--settle" | "--ready-after" | "--with-ready-after" | "--p99" => "a time such as 90s",
        "--precision" => "a share such as 2%",
        _ => "a number such as 1 or 10",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_negative_value_is_attributed_to_its_option() {
        let words = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
        for (line, found) in [
            ("taskscale run -r -1", Some(("-r", "-1"))),
            ("taskscale --timeout -5s go", Some(("--timeout", "-5s"))),
            ("taskscale -5", None),
            ("taskscale -q -x", None),
            ("taskscale measure -x -- cmd -n -5", None),
        ] {
            assert_eq!(below_zero(&words(line)), found, "{line}");
        }
    }
}
