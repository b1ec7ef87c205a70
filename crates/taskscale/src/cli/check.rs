//! `taskscale check`.

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use anyhow::{Context, anyhow};
use serde_json::json;

use super::args::{CheckArgs, Global};
use super::open::memory_cap_bytes;
use super::progress::Progress;
use super::session::MachineLease;
use super::{Failure, OrUsage, colour, open_catalog, print_result, printable};
use crate::campaign::{NotReady, prepare};
use crate::catalog::{Program, select};
use crate::check::{self, CheckError, CheckSubject, CheckedProgram, Rebuild, Severity, SourceFiles};
use crate::record::Status;
use crate::toolchain::{Attend, Cache};
use crate::units;
use taskscale_measure::{GroupRoot, Interrupt, LocalRunner};

/// The result of a check.
#[derive(Default)]
struct Checks {
    checked: Vec<CheckedProgram>,
    /// Entries whose toolchain is not installed, and why.
    left_out: Vec<(String, String)>,
}

pub fn run(args: &CheckArgs, global: &Global) -> Result<ExitCode, Failure> {
    let catalog = open_catalog(global).or_usage()?;
    let programs = select(&catalog, &args.entries, &args.workload).or_usage()?.programs;
    let interrupt = Interrupt::install().context("cannot catch signals")?;
    let progress = Progress::new(global.quiet);
    if args.conformance {
        return super::conformance::run(&programs, &interrupt, &progress, global.json);
    }
    // Each would distort the times of the other.
    let lease = MachineLease {
        what: "checking entries",
        harm: "both would distort their times",
        when_taken: global.when_taken(),
    };
    let Some(_lock) = lease.acquire(&progress, &interrupt)? else { return Ok(ended(&interrupt)) };
    // Before any child of ours exists, as in `run`.
    let mut runner = LocalRunner::new(GroupRoot::find(), &interrupt).counting_switches();
    let colour = colour(&std::io::stdout());
    let mut unsaid = Ok(());
    let outcome = check_all(args, &programs, &interrupt, &mut runner, &progress, |checked, several| {
        // As it comes: a catalog takes minutes.
        if !global.json && unsaid.is_ok() {
            unsaid = progress.beside(|| print_result(&shown(checked, several, colour)));
        }
    });
    drop(runner);
    progress.finish();
    let outcome = match outcome {
        Err(_) if interrupt.signal().is_some() => return Ok(ended(&interrupt)),
        outcome => outcome?,
    };
    if outcome.checked.is_empty() {
        return Err(Failure::Usage(anyhow!(
            "none of these entries can run here: {}",
            outcome.left_out.first().map_or("`taskscale list` shows why", |(_, why)| why)
        )));
    }
    unsaid?;
    if global.json {
        let left_out: Vec<_> =
            outcome.left_out.iter().map(|(entry, why)| json!({ "entry": entry, "reason": why })).collect();
        print_result(&format!("{:#}\n", json!({ "entries": outcome.checked, "left_out": left_out })))?;
    } else if outcome.checked.len() + outcome.left_out.len() > 1 {
        let left_out = match outcome.left_out.len() {
            0 => String::new(),
            left_out => format!("; {left_out} left out"),
        };
        let entries = checked_entries(&outcome.checked);
        let programs = match outcome.checked.len() {
            programs if programs == entries => String::new(),
            programs => format!(" with {}", units::counted(programs, "program")),
        };
        let entries = units::counted(entries, "entry");
        print_result(&format!("\n{entries}{programs}: {}{left_out}\n", sum(&outcome.checked)))?;
    }
    let failed = outcome.checked.iter().any(|checked| check::fails(&checked.findings, args.strict));
    Ok(if failed { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

fn ended(interrupt: &Interrupt) -> ExitCode {
    ExitCode::from(128 + interrupt.signal().unwrap_or(libc::SIGINT) as u8)
}

fn check_all(
    args: &CheckArgs,
    programs: &[Program],
    interrupt: &Interrupt,
    runner: &mut LocalRunner,
    progress: &Progress,
    mut tell: impl FnMut(&CheckedProgram, bool),
) -> Result<Checks, CheckError> {
    let stop = || interrupt.signal().is_some();
    let mut rebuild = if args.rebuild { Some(Rebuild::new(&stop)?) } else { None };
    let cache = Cache::of_user();
    let memory_bytes = memory_cap_bytes();
    let mut outcome = Checks::default();
    let mut position = 0;
    // Runtime by runtime, so that each toolchain is queried once, and files left by a build are attributed to it.
    for some in programs.chunk_by(|a, b| a.runtime.name == b.runtime.name) {
        let sources = SourceFiles::of(&some[0].runtime.folder);
        let attend = Attend { stop: &stop, waiting: &|line| progress.say(line) };
        let prepared = prepare(&cache, some, &attend, |name| {
            progress.building(name, position + 1, programs.len());
        });
        for (Program { runtime, entry, workload }, prepared) in some.iter().zip(&prepared) {
            if stop() {
                return Err(CheckError::Interrupted);
            }
            position += 1;
            if let Err(NotReady::NoToolchain(why)) = &prepared.command {
                // The programs of an entry share its toolchain.
                if outcome.left_out.last().is_none_or(|(left_out, _)| *left_out != entry.full_name) {
                    progress.say(&format!("left out {}: {why}", entry.full_name));
                    outcome.left_out.push((entry.full_name.clone(), why.clone()));
                }
                continue;
            }
            let several = entry.workloads.len() > 1;
            progress.checking(&name(&entry.full_name, &workload.name, several), position, programs.len());
            let subject = CheckSubject { runtime, entry, workload, prepared };
            let mut checked = check::check(&subject, &sources, runner, memory_bytes, rebuild.as_mut())?;
            if let Some(before) = outcome.checked.iter().find(|before| before.entry == checked.entry) {
                checked.leave_out_what_is_said_of(before);
            }
            tell(&checked, several);
            outcome.checked.push(checked);
        }
        if stop() {
            return Err(CheckError::Interrupted);
        }
    }
    Ok(outcome)
}

/// A program's name: its entry, and its workload if the entry has several.
fn name(entry: &str, workload: &str, several: bool) -> String {
    if several { format!("{entry} {workload}") } else { entry.to_owned() }
}

/// The number of entries among programs; those of an entry are adjacent.
fn checked_entries(checked: &[CheckedProgram]) -> usize {
    checked.chunk_by(|a, b| a.entry == b.entry).count()
}

/// A program with its findings.
fn shown(checked: &CheckedProgram, several: bool, colour: bool) -> String {
    let sum = sum(std::slice::from_ref(checked));
    let name = name(&checked.entry, &checked.workload, several);
    let mut text = format!("{name}: {sum}{}\n", tried(checked));
    for finding in &checked.findings {
        let style = match finding.severity {
            Severity::Error => Style::new().fg_color(Some(AnsiColor::Red.into())).bold(),
            Severity::Warning => Style::new().fg_color(Some(AnsiColor::Yellow.into())).bold(),
            Severity::Note => Style::new().bold(),
        };
        let style = if colour { style } else { Style::new() };
        text.push_str(&format!(
            "  {style}{}{style:#} [{}] {}\n    fix: {}\n",
            finding.severity.name(),
            finding.rule.name(),
            // The last lines of a build, one per line.
            printable(&finding.what).trim_end().replace('\n', "\n      "),
            printable(&finding.fix)
        ));
    }
    text
}

fn sum(checked: &[CheckedProgram]) -> String {
    let of = |severity| {
        checked
            .iter()
            .flat_map(|checked| &checked.findings)
            .filter(|found| found.severity == severity)
            .count()
    };
    let counted: Vec<String> = [Severity::Error, Severity::Warning, Severity::Note]
        .into_iter()
        .map(|severity| (of(severity), severity.name()))
        .filter(|(count, _)| *count > 0)
        .map(|(count, name)| units::counted(count, name))
        .collect();
    match (of(Severity::Error), counted.is_empty()) {
        (_, true) => "ok".to_owned(),
        (0, _) => format!("ok, {}", counted.join(", ")),
        _ => counted.join(", "),
    }
}

/// What was run, and the measured cost of a task or an operation.
fn tried(checked: &CheckedProgram) -> String {
    let passed = checked.trials.iter().filter(|trial| trial.status == Status::Ok);
    let mut tasks: Vec<u64> = passed.map(|trial| trial.tasks).collect();
    tasks.dedup();
    if tasks.is_empty() {
        return String::new();
    }
    let tasks: Vec<String> = tasks.into_iter().map(units::count).collect();
    let bytes = checked
        .bytes_per_task
        .filter(|bytes| *bytes >= 1.0)
        .map(|bytes| format!(", about {} bytes per task", units::grouped(bytes.round() as u64)));
    let cpu = checked
        .cpu_ns_per_op
        .map(|ns| format!(", about {} ns of CPU per operation", units::grouped(ns.round() as u64)));
    format!(" ({} tasks{}{})", tasks.join(", "), bytes.unwrap_or_default(), cpu.unwrap_or_default())
}
