//! `taskscale check`.

use std::process::ExitCode;

use anstyle::{AnsiColor, Style};
use serde_json::json;

use super::args::{CheckArgs, Global};
use super::catalog_dir::open_catalog_with;
use super::failure::{Failure, OrUsage, catch_signals, check_interrupt, exit_code};
use super::progress::Progress;
use super::session::{Session, build_programs};
use super::terminal::{colour, print_result, printable};
use crate::campaign::{NotReady, memory_cap_bytes};
use crate::catalog::{Program, select};
use crate::check::{self, CheckSubject, CheckedProgram, Rebuild, Severity, SourceFiles};
use crate::document::json;
use crate::record::Status;
use crate::units;
use taskscale_measure::Interrupt;

/// The result of a check.
#[derive(Default)]
struct Checks {
    checked: Vec<CheckedProgram>,
    /// Entries whose toolchain is not installed, and why.
    left_out: Vec<(String, String)>,
}

pub fn run(args: &CheckArgs, global: &Global) -> Result<ExitCode, Failure> {
    let (catalog, words) = open_catalog_with(global, &args.entries).or_usage()?;
    let programs = select(&catalog, &words, &args.workload).or_usage()?.programs;
    let interrupt = catch_signals()?;
    if args.conformance {
        let progress = Progress::new(global.quiet);
        return super::conformance::run(&programs, &interrupt, &progress, global.json);
    }
    let mut session =
        Session::with_lease("checking entries", "both would distort their times", global, &interrupt)?;
    session.runner.counts_switches = true;
    let colour = colour(&std::io::stdout());
    let outcome = check_all(args, &programs, &interrupt, &mut session, |checked, name| {
        // Print it at once: a catalog takes minutes.
        if global.json { Ok(()) } else { print_result(&shown(checked, name, colour)) }
    });
    session.progress.finish();
    let outcome = outcome.map_err(|failure| check_interrupt(&interrupt).err().unwrap_or(failure))?;
    if outcome.checked.is_empty() {
        return Err(Failure::usage(format!(
            "none of these entries can run here: {}",
            outcome.left_out.first().map_or("`taskscale list` shows why", |(_, why)| why)
        )));
    }
    if global.json {
        let left_out: Vec<_> =
            outcome.left_out.iter().map(|(entry, why)| json!({ "entry": entry, "reason": why })).collect();
        print_result(&json::pretty(&json!({ "entries": outcome.checked, "left_out": left_out })))?;
    } else if outcome.checked.len() + outcome.left_out.len() > 1 {
        let left_out = match outcome.left_out.len() {
            0 => String::new(),
            left_out => format!("; {left_out} left out"),
        };
        // The programs of an entry are adjacent.
        let entries = outcome.checked.chunk_by(|a, b| a.entry == b.entry).count();
        let programs = match outcome.checked.len() {
            programs if programs == entries => String::new(),
            programs => format!(" with {}", units::counted(programs, "program")),
        };
        let entries = units::counted(entries, "entry");
        print_result(&format!("\n{entries}{programs}: {}{left_out}\n", sum(&outcome.checked)))?;
    }
    Ok(exit_code(outcome.checked.iter().any(|checked| check::fails(&checked.findings, args.strict))))
}

fn check_all(
    args: &CheckArgs,
    programs: &[Program],
    interrupt: &Interrupt,
    session: &mut Session,
    mut tell: impl FnMut(&CheckedProgram, &str) -> std::io::Result<()>,
) -> Result<Checks, Failure> {
    let stop = || interrupt.signal().is_some();
    let mut rebuild = if args.rebuild { Some(Rebuild::new(&stop)?) } else { None };
    let memory_bytes = memory_cap_bytes();
    let mut outcome = Checks::default();
    let mut position = 0;
    // Runtime by runtime, so that each toolchain is queried once, and files left by a build are attributed to it.
    for some in programs.chunk_by(|a, b| a.runtime.name == b.runtime.name) {
        let sources = SourceFiles::of(&some[0].runtime.folder);
        let prepared = build_programs(some, interrupt, &session.progress, position, programs.len())?;
        for (Program { runtime, entry, workload }, prepared) in some.iter().zip(&prepared) {
            check_interrupt(interrupt)?;
            position += 1;
            if let Err(NotReady::NoToolchain(why)) = &prepared.command {
                // The programs of an entry share its toolchain.
                if outcome.left_out.last().is_none_or(|(left_out, _)| *left_out != entry.full_name) {
                    session.progress.say(&format!("left out {}: {why}", entry.full_name));
                    outcome.left_out.push((entry.full_name.clone(), why.clone()));
                }
                continue;
            }
            // With its workload if the entry has several.
            let name = match entry.workloads.len() {
                1 => entry.full_name.clone(),
                _ => format!("{} {}", entry.full_name, workload.name),
            };
            session.progress.checking(&name, position, programs.len());
            let subject = CheckSubject { runtime, entry, workload, prepared };
            let runner = &mut session.runner;
            let mut checked = check::check(&subject, &sources, runner, memory_bytes, rebuild.as_mut())?;
            if let Some(before) = outcome.checked.iter().find(|before| before.entry == checked.entry) {
                checked.leave_out_what_is_said_of(before);
            }
            session.progress.beside(|| tell(&checked, &name))?;
            outcome.checked.push(checked);
        }
    }
    Ok(outcome)
}

/// A program with its findings.
fn shown(checked: &CheckedProgram, name: &str, colour: bool) -> String {
    let sum = sum(std::slice::from_ref(checked));
    let mut text = format!("{name}: {sum}{}\n", tried(checked));
    for finding in &checked.findings {
        let style = match finding.severity {
            _ if !colour => Style::new(),
            Severity::Error => AnsiColor::Red.on_default().bold(),
            Severity::Warning => AnsiColor::Yellow.on_default().bold(),
            Severity::Note => Style::new().bold(),
        };
        text.push_str(&format!(
            "  {style}{}{style:#} [{}] {}\n    fix: {}\n",
            finding.severity.name(),
            finding.rule.name(),
            // May contain the last lines of a build.
            printable(&finding.what).trim_end().replace('\n', "\n      "),
            printable(&finding.fix)
        ));
    }
    text
}

fn sum(checked: &[CheckedProgram]) -> String {
    let findings = || checked.iter().flat_map(|checked| &checked.findings);
    let of = |severity| findings().filter(|found| found.severity == severity).count();
    let severities = [Severity::Error, Severity::Warning, Severity::Note].into_iter();
    let counted = severities.filter(|severity| of(*severity) > 0);
    let counted = counted.map(|severity| units::counted(of(severity), severity.name()));
    let ok = (of(Severity::Error) == 0).then(|| "ok".to_owned());
    ok.into_iter().chain(counted).collect::<Vec<_>>().join(", ")
}

/// The N that passed, and the measured cost of a task or an operation.
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
