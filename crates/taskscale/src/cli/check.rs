//! `taskscale check`.

use anstyle::{AnsiColor, Style};
use serde_json::{Value, json};

use super::args::{CheckArgs, Global};
use super::catalog_dir::open_catalog_with;
use super::failure::{CliResult, Failure, OrUsage, catch_signals, check_interrupt, exit_code, succeed_with};
use super::output::{color, json_or, print_result, printable};
use super::progress::Progress;
use super::session::{Session, build_programs};
use crate::campaign::{NotReady, memory_cap_bytes};
use crate::catalog::{Program, select};
use crate::check::{self, CheckedProgram, Conformance, Rebuild, Severity, SourceFiles};
use crate::document::{joined, json, painted};
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

pub fn run(args: &CheckArgs, global: &Global) -> CliResult {
    let (catalog, words) = open_catalog_with(global, &args.entries).or_usage()?;
    let programs = select(&catalog, &words, &args.workload).or_usage()?.programs;
    let interrupt = catch_signals()?;
    if args.conformance {
        return conformance(&programs, &interrupt, global);
    }
    let mut session =
        Session::with_lease("checking entries", "both would distort their times", global, &interrupt)?;
    session.runner.counts_switches = true;
    let color = color(&std::io::stdout());
    let outcome = check_all(args, &programs, &interrupt, &mut session, |checked, name| {
        // Print it at once: a catalog takes minutes.
        if global.json { Ok(()) } else { print_result(&shown(checked, name, color)) }
    });
    session.progress.finish();
    let outcome = outcome.map_err(|failure| check_interrupt(&interrupt).err().unwrap_or(failure))?;
    if outcome.checked.is_empty() {
        let why = outcome.left_out.first().map_or("`taskscale list` shows why", |(_, why)| why);
        return Err(Failure::usage(format!("none of these entries can run here: {why}")));
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
) -> CliResult<Checks> {
    let stop = || interrupt.signal().is_some();
    let mut rebuild = if args.rebuild { Some(Rebuild::new(&stop)?) } else { None };
    let memory_bytes = memory_cap_bytes();
    let mut outcome = Checks::default();
    let mut position = 0;
    // Runtime by runtime, so that each toolchain is queried once, and files left by a build are attributed to it.
    for some in programs.chunk_by(|a, b| a.runtime.name == b.runtime.name) {
        let sources = SourceFiles::of(&some[0].runtime.folder);
        let prepared = build_programs(some, interrupt, &session.progress, position, programs.len())?;
        for (program @ Program { entry, workload, .. }, prepared) in some.iter().zip(&prepared) {
            check_interrupt(interrupt)?;
            position += 1;
            if let Err(NotReady::NoToolchain(why)) = &prepared.command {
                // The programs of an entry share its toolchain.
                if outcome.left_out.last().is_none_or(|(left_out, _)| *left_out != entry.full_name) {
                    session.progress.print_message(&format!("left out {}: {why}", entry.full_name));
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
            let (runner, rebuild) = (&mut session.runner, rebuild.as_mut());
            let mut checked = check::check(program, prepared, &sources, runner, memory_bytes, rebuild)?;
            if let Some(before) = outcome.checked.iter().find(|before| before.entry == checked.entry) {
                checked.remove_repeated(before);
            }
            session.progress.suspended(|| tell(&checked, &name))?;
            outcome.checked.push(checked);
        }
    }
    Ok(outcome)
}

/// A program with its findings.
fn shown(checked: &CheckedProgram, name: &str, color: bool) -> String {
    let sum = sum(std::slice::from_ref(checked));
    let mut text = format!("{name}: {sum}{}\n", tried(checked));
    for finding in &checked.findings {
        let style = match finding.severity {
            Severity::Error => AnsiColor::Red.on_default().bold(),
            Severity::Warning => AnsiColor::Yellow.on_default().bold(),
            Severity::Note => Style::new().bold(),
        };
        let severity = painted(finding.severity.name(), style, color);
        // May contain the last lines of a build.
        let what = printable(&finding.what).trim_end().replace('\n', "\n      ");
        let (rule, fix) = (finding.rule.name(), printable(&finding.fix));
        text.push_str(&format!("  {severity} [{rule}] {what}\n    fix: {fix}\n"));
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
    let noun = if tasks == [1] { "task" } else { "tasks" };
    let tasks: Vec<String> = tasks.into_iter().map(units::count).collect();
    let about = |value: f64, what: &str| format!(", about {} {what}", units::grouped(value.round() as u64));
    let bytes = checked.bytes_per_task.filter(|bytes| *bytes >= 1.0);
    let bytes = bytes.map(|bytes| about(bytes, "bytes per task"));
    let cpu = checked.cpu_ns_per_op.map(|ns| about(ns, "ns of CPU per operation"));
    format!(" ({} {noun}{}{})", tasks.join(", "), bytes.unwrap_or_default(), cpu.unwrap_or_default())
}

/// A program, and its answers or why it did not run.
type ConformanceRow = (String, Result<Conformance, String>);

/// `--conformance`: how servers answer misbehaving clients, as a Markdown table.
fn conformance(programs: &[Program], interrupt: &Interrupt, global: &Global) -> CliResult {
    let progress = Progress::new(global.quiet);
    let servers: Vec<Program> =
        programs.iter().filter(|program| program.workload.client.is_some()).copied().collect();
    if servers.is_empty() {
        return Err(Failure::usage("no server among these programs (servers: -w chat,echo)"));
    }
    let mut rows: Vec<ConformanceRow> = Vec::new();
    let prepared = build_programs(&servers, interrupt, &progress, 0, servers.len())?;
    for (program @ Program { entry, workload, .. }, prepared) in servers.iter().zip(&prepared) {
        check_interrupt(interrupt)?;
        let name = format!("{} {}", entry.full_name, workload.name);
        progress.checking(&name, rows.len() + 1, servers.len());
        rows.push((name, check::conform(program, prepared)));
    }
    progress.finish();
    let row = |(name, answered): &ConformanceRow| match answered {
        Ok(conformance) => json!(conformance),
        Err(why) => json!({ "program": name, "not_run": why }),
    };
    let all: Vec<Value> = rows.iter().map(row).collect();
    succeed_with(&json_or(global.json, &all, || markdown(&rows)))
}

fn markdown(rows: &[ConformanceRow]) -> String {
    let cell = |text: &str| printable(text).trim().replace('|', "\\|").replace('\n', " ");
    let mut text = "| program | passed | failed of tried |\n| --- | ---: | --- |\n".to_owned();
    for (name, answered) in rows {
        match answered {
            Err(why) => {
                let first = why.lines().next().unwrap_or_default();
                text.push_str(&format!("| {name} | – | not run: {} |\n", cell(first)));
            }
            Ok(Conformance { cases, .. }) => {
                let of = |count: fn(&check::CaseCount) -> usize| cases.iter().map(count).sum::<usize>();
                let (tried, failed) = (of(|case| case.tried), of(|case| case.failed));
                let failing = cases.iter().filter(|case| case.failed > 0);
                let each = failing.map(|case| format!("{} {} of {}", case.case, case.failed, case.tried));
                let (passed, each) = (tried - failed, joined(each, ", "));
                text.push_str(&format!("| {name} | {passed} of {tried} | {each} |\n"));
            }
        }
    }
    for (name, answered) in rows {
        let Ok(Conformance { faults, .. }) = answered else { continue };
        if !faults.is_empty() {
            text.push_str(&format!("\n**{name}**\n\n"));
            text.extend(faults.iter().map(|fault| format!("- {}\n", cell(fault))));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::CaseCount;

    #[test]
    fn table_counts_cases_and_lists_programs_not_run() {
        let cases = vec![
            CaseCount { case: "ping", tried: 4, failed: 0 },
            CaseCount { case: "closing", tried: 7, failed: 2 },
        ];
        let faults = vec!["closing: a | b".to_owned()];
        let seen = Conformance { entry: "a/b".into(), workload: "chat".into(), cases, faults };
        let rows = [
            ("a/b chat".to_owned(), Ok(seen)),
            ("c/d chat".to_owned(), Err("C is not installed".to_owned())),
        ];
        insta::assert_snapshot!(markdown(&rows), @r"
        | program | passed | failed of tried |
        | --- | ---: | --- |
        | a/b chat | 9 of 11 | closing 2 of 7 |
        | c/d chat | – | not run: C is not installed |

        **a/b chat**

        - closing: a \| b
        ");
    }
}
