//! `taskscale verify`.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use clap::Parser;

use super::args::{Args, Command, Global, VerifyArgs};
use super::failure::{CliResult, Failure, OrUsage, catch_signals, exit_code, succeed_with};
use super::output::{eprint_status, for_standard_output, json_or, print_result};
use super::output_dir::existing_folder;
use super::progress::Progress;
use super::run;
use super::session::Session;
use crate::record::{Campaign, Hold, Loaded, SCHEMA_VERSION, Series, Timestamp, write_json};
use crate::report::{Report, command_line};
use crate::submit::{self, DrawnCase, SubmittedResults, VERIFICATION, Verification};
use crate::units;

/// Repetitions of each case.
const REPETITIONS: &str = "3";

pub fn run(args: &VerifyArgs, global: &Global) -> CliResult {
    existing_folder(&args.folder).or_usage()?;
    let SubmittedResults { loaded, checksum_ok, .. } = submit::read(&args.folder).or_usage()?;
    if checksum_ok != Some(true) {
        let error = format!("{} was not submitted, or changed since", args.folder.display());
        return Err(Failure::usage(error));
    }
    let submitted = Report::of_parts(&loaded.campaign, &loaded.samples);
    let seed = args.seed.unwrap_or_else(|| fastrand::u64(..1 << 32));
    let cases = submit::draw(&submitted, seed);
    let classic = matches!(loaded.campaign.plan.hold, Hold::Fixed { .. });
    let series = series(&cases, &args.output, seed, classic);
    let drawn = units::counted(cases.len(), "case");
    eprint_status(&format!("seed {seed}: {drawn} in {}", args.output.display()));
    if args.dry_run {
        let lines: String = series.iter().map(|of| format!("{}\n", command_line(&of.arguments))).collect();
        return succeed_with(&lines);
    }
    let interrupt = catch_signals()?;
    let mut session = Session::begin(&args.output, global, &interrupt)?;
    session.progress = Progress::new(true);
    let mut judged = Vec::new();
    for (nth, of) in series.iter().enumerate() {
        eprint_status(&format!("[{}/{}] {} {}", nth + 1, series.len(), of.entry, of.part));
        let again = measure(of, global, &mut session)?;
        let measured = again.map(|again| Report::of_parts(&again.campaign, &again.samples));
        let measured = measured.unwrap_or_default();
        judged.extend(of.cases.iter().map(|case| submit::judge(case, &submitted, &measured)));
    }
    let Campaign { id: campaign, origin, .. } = loaded.campaign;
    let (checksum, taskscale) = (origin.map(|origin| origin.checksum), env!("CARGO_PKG_VERSION").to_owned());
    let (schema, verified_at, cases) = (SCHEMA_VERSION, Timestamp::now(), judged);
    let verification = Verification { schema, campaign, checksum, seed, verified_at, taskscale, cases };
    let path = args.folder.join(VERIFICATION);
    write_json(&path, &verification)?;
    let text = || submit::verified(&verification).terminal(for_standard_output());
    print_result(&json_or(global.json, &verification, text))?;
    eprint_status(&format!("written: {}", path.display()));
    Ok(exit_code(!verification.is_verified()))
}

/// Cases of one entry and workload: they are measured together.
struct SeriesToVerify<'a> {
    entry: &'a str,
    part: &'a Series,
    cases: Vec<&'a DrawnCase>,
    /// The arguments of `taskscale`.
    arguments: Vec<String>,
}

fn series<'a>(cases: &'a [DrawnCase], output: &Path, seed: u64, classic: bool) -> Vec<SeriesToVerify<'a>> {
    let mut grouped: BTreeMap<(&str, &Series), Vec<&DrawnCase>> = BTreeMap::new();
    for case in cases {
        grouped.entry((&case.entry, &case.part)).or_default().push(case);
    }
    let of = |(nth, ((entry, part), cases)): (usize, ((&'a str, &'a Series), Vec<&'a DrawnCase>))| {
        let folder = output.join(format!("{seed}-{nth}"));
        let tasks: BTreeSet<u64> = cases.iter().flat_map(|case| [case.least, case.tasks]).collect();
        let tasks = tasks.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
        let mut arguments: Vec<String> =
            ["run", entry, "-w", &part.workload, "-n", &tasks, "-r", REPETITIONS].map(str::to_owned).into();
        for (name, value) in &part.params {
            arguments.extend(["-p".to_owned(), format!("{name}={value}")]);
        }
        arguments.extend(part.cpus.into_iter().flat_map(|cpus| ["--cpus".to_owned(), cpus.to_string()]));
        arguments.extend(classic.then(|| "--classic".to_owned()));
        arguments.extend(["-o".to_owned(), folder.display().to_string()]);
        SeriesToVerify { entry, part, cases, arguments }
    };
    grouped.into_iter().enumerate().map(of).collect()
}

/// Measures as `taskscale run` does with these arguments, which resumes an earlier measurement.
fn measure(of: &SeriesToVerify, global: &Global, session: &mut Session) -> CliResult<Option<Loaded>> {
    let words = std::iter::once("taskscale").chain(of.arguments.iter().map(String::as_str));
    match Args::try_parse_from(words).or_usage()?.command {
        Some(Command::Run(args)) => run::measure(&args, global, session),
        _ => Err(Failure::usage(format!("not a command of `run`: {}", command_line(&of.arguments)))),
    }
}
