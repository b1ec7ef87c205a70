//! `taskscale run`, the default command.

use std::collections::BTreeSet;
use std::io::{self, BufRead, IsTerminal, Write};
use std::net::ToSocketAddrs;
use std::path::Path;

use anyhow::{Context, Result, ensure};
use serde_json::json;

use super::args::{Global, ReportFormat, RunArgs};
use super::catalog_dir::open_catalog_with;
use super::failure::{CliResult, OrUsage, SUCCESS, catch_signals, exit_code, succeed_with};
use super::measure::find_program;
use super::output::{columns, eprint_status, for_standard_output, printable};
use super::output_dir::{FolderPurpose, OutputDir, RESULTS};
use super::pages::what_changed;
use super::progress::time_left;
use super::session::{Session, USUAL_HOLD};
use super::workload_args::{self, SeriesOptions, resume_options, task_counts};
use crate::campaign::{CellEstimate, EstimateSource, NotReady, RunPreview, RunSettings, memory_cap_bytes};
use crate::catalog::{Catalog, Program, Selection, default_selection};
use crate::document::json;
use crate::record::{Hold, Loaded, last_attempts};
use crate::report::{ExportTarget, Format};
use crate::units::{self, counted};
use taskscale_load::Elsewhere;

/// The wait of `--quick`: long enough for a plateau of 0.5 s, so most cases wait only 1 s.
const QUICK_HOLD: Hold = Hold::Chosen { plateau_s: 0.5 };
/// The most tasks of `--quick`.
const QUICK_TASKS: u64 = 100_000;
/// The wait of the original blog posts.
const CLASSIC_HOLD: Hold = Hold::Fixed { seconds: 10 };

/// The validated options.
struct RunOptions {
    series: SeriesOptions,
    hold: Hold,
    resume: RunSettings,
}

fn validate(args: &RunArgs) -> Result<RunOptions> {
    let hold = match (args.classic, args.quick) {
        (true, _) => CLASSIC_HOLD,
        (false, true) => QUICK_HOLD,
        (false, false) => USUAL_HOLD,
    };
    let tasks = args.tasks.as_deref().map(task_counts).transpose()?;
    let most_tasks = args.quick.then_some(QUICK_TASKS);
    let (params, cpus) = (workload_args::params(&args.params)?, workload_args::cpus(&args.cpus)?);
    let repetitions = args.repetitions.unwrap_or(if args.quick { 1 } else { 3 });
    let series = SeriesOptions { tasks, most_tasks, params, cpus, repetitions };
    let resume = RunSettings { seed: args.seed, clients: clients(args)?, ..resume_options(&args.results)? };
    Ok(RunOptions { series, hold, resume })
}

/// Another machine for the clients of servers. It must have taskscale at the same path.
fn clients(args: &RunArgs) -> Result<Option<Elsewhere>> {
    let Some((start, listen)) = args.clients.as_ref().zip(args.listen.as_ref()) else { return Ok(None) };
    let mut start: Vec<String> = start.split_whitespace().map(str::to_owned).collect();
    let first = start.first_mut().context("--clients: the command is empty (for example 'ssh other')")?;
    *first = find_program(first).context("--clients")?.display().to_string();
    let program = std::env::current_exe().context("the path of taskscale")?;
    let found = (listen.as_str(), 0).to_socket_addrs();
    let address = found.with_context(|| format!("--listen {listen}: unknown address"))?.next();
    let listen = address.with_context(|| format!("--listen {listen}: unknown address"))?.ip();
    ensure!(!listen.is_unspecified(), "--listen {listen}: must be one address (not all of this machine)");
    Ok(Some(Elsewhere { start, program, listen }))
}

/// The selected programs.
fn chosen<'a>(args: &RunArgs, (catalog, words): &'a (Catalog, Vec<String>)) -> Result<Selection<'a>> {
    let words = if args.entries.is_empty() { &default_selection(catalog) } else { words };
    let mut selection = workload_args::selected(catalog, words, &args.workload)?;
    // `--quick` leaves out variants by another compiler (GraalVM, Native AOT): their builds take most of the time.
    let usual = |program: &Program| program.entry.toolchain == program.runtime.toolchain;
    if args.quick && args.entries.is_empty() && selection.programs.iter().any(usual) {
        selection.programs.retain(usual);
    }
    Ok(selection)
}

/// Validates the options, and measures nothing.
pub(super) fn check(args: &RunArgs, global: &Global) -> Result<()> {
    let (options, catalog) = (validate(args)?, open_catalog_with(global, &args.entries)?);
    workload_args::choose(&options.series, &chosen(args, &catalog)?.workloads()).map(drop)
}

/// `bare`: only `taskscale` was typed.
pub fn run(args: &RunArgs, global: &Global, bare: bool) -> CliResult {
    let options = validate(args).or_usage()?;
    let catalog = open_catalog_with(global, &args.entries).or_usage()?;
    let output = OutputDir::checked(args.results.output.as_deref(), FolderPurpose::Campaign).or_usage()?;
    let mut selection = chosen(args, &catalog).or_usage()?;
    let plans = workload_args::plans(&options.series, options.hold, &mut selection).or_usage()?;
    let kept = output.check_kept(&plans, &options.resume).or_usage()?;
    let preview = || {
        let cap_bytes = options.resume.memory_cap_bytes.or_else(memory_cap_bytes);
        let folders = (Path::new(RESULTS), &*output.path);
        RunPreview::of(&selection, &plans, cap_bytes, folders, kept.as_ref())
    };
    if args.dry_run {
        return show_preview(&preview(), args.results.format, &output.path);
    }
    if bare && !global.quiet && !global.json && can_answer() {
        let preview = preview();
        // If nothing can run here, the error below explains it.
        if preview.estimate.runs > 0 && !whether_to_start(&preview) {
            return Ok(SUCCESS);
        }
    }
    drop(kept);

    let interrupt = catch_signals()?;
    let mut session = Session::begin(&output.path, global, &interrupt)?;
    session.runner.traces = args.results.trace.clone();
    let prepared = session.prepare(&selection.programs)?;
    // Frees the memory of hundreds of commands that will not run.
    drop(catalog);
    let results = session.measure(plans, &prepared, &output, &options.resume)?;
    let changed = |of: &_| what_changed(of, ExportTarget::Report(Format::Table), for_standard_output());
    let samples = session.show(results, args.results.format, changed)?;
    let build_failed = prepared.iter().any(|entry| matches!(entry.command, Err(NotReady::BuildFailed(_))));
    let has_failures = last_attempts(&samples).iter().any(|sample| sample.status.is_failure());
    Ok(exit_code(build_failed || has_failures))
}

/// Measures within a session, and prints no results. `None` if no toolchain is installed.
pub(super) fn measure(args: &RunArgs, global: &Global, session: &mut Session) -> CliResult<Option<Loaded>> {
    let options = validate(args).or_usage()?;
    let catalog = open_catalog_with(global, &args.entries).or_usage()?;
    let output = OutputDir::checked(args.results.output.as_deref(), FolderPurpose::Campaign).or_usage()?;
    let mut selection = chosen(args, &catalog).or_usage()?;
    let plans = workload_args::plans(&options.series, options.hold, &mut selection).or_usage()?;
    let prepared = session.prepare_any(&selection.programs)?;
    if prepared.iter().all(|entry| matches!(entry.command, Err(NotReady::NoToolchain(_)))) {
        return Ok(None);
    }
    let (_, loaded) = session.measure_all(plans, &prepared, &output, &options.resume)?;
    Ok(Some(loaded))
}

/// Prints the estimate.
fn show_preview(preview: &RunPreview, format: ReportFormat, folder: &Path) -> CliResult {
    if format == ReportFormat::Json {
        let ending = preview.ending.iter().map(|(place, met)| {
            let cell = &preview.estimate.cells[*place];
            json!({
                "entry": cell.entry, "part": cell.part, "tasks": cell.tasks, "limit": met.limit,
                "sure": met.sure, "reason": met.sentence,
            })
        });
        let text = json!({
            "folder": folder.display().to_string(),
            "plan": preview.plans.first(),
            "further_plans": &preview.plans[1..],
            "estimate": preview.estimate,
            "campaigns_known": preview.campaigns,
            "not_installed": preview.missing,
            "memory_cap_bytes": preview.cap_bytes,
            "will_end_at_a_limit": ending.collect::<Vec<_>>(),
        });
        return succeed_with(&json::pretty(&text));
    }
    if format != ReportFormat::Table {
        eprint_status("warning: --dry-run prints a table or, with --format json, JSON");
    }
    succeed_with(&printable(&preview_text(preview, folder)))
}

fn preview_text(preview: &RunPreview, folder: &Path) -> String {
    let estimate = &preview.estimate;
    let mut rows =
        vec![["entry", "workload", "N", "runs", "wait or work", "memory", "notes"].map(str::to_owned)];
    for cell in &estimate.cells {
        // On a new machine most values are guesses: `~` is explained once, below.
        let (mark, source) = match cell.source {
            EstimateSource::Measured => ("", "measured here"),
            EstimateSource::OtherCounts => ("", "measured here at other N"),
            EstimateSource::Kind => ("~", ""),
        };
        let (tasks, runs, wait) =
            (units::count(cell.tasks), cell.runs.to_string(), units::seconds(cell.hold_s));
        let memory = format!("{mark}{}", units::bytes(cell.footprint_bytes as u64));
        rows.push([cell.entry.clone(), cell.part.clone(), tasks, runs, wait, memory, source.to_owned()]);
    }
    let mut text = columns(&rows);
    let (runs, warm_ups) = (counted(estimate.runs, "run"), counted(estimate.warm_ups, "warm-up"));
    let (time, largest) = (time_left(estimate.seconds), units::bytes(preview.largest_bytes()));
    let cap = preview.cap_bytes.map(|cap| format!(" (cap: {})", units::bytes(cap))).unwrap_or_default();
    text.push_str(&format!("\n{runs} and {warm_ups}, about {time}. "));
    text.push_str(&format!("Memory of the largest run: about {largest}{cap}.\n"));
    if estimate.done > 0 {
        text.push_str(&format!("Already in {}: {}.\n", folder.display(), counted(estimate.done, "run")));
    }
    let guesses = estimate.cells.iter().filter(|cell| cell.source == EstimateSource::Kind).count();
    let known = match preview.campaigns {
        0 => format!("{RESULTS}/ has no results of this machine to estimate from."),
        some => format!("Estimated from {} of this machine in {RESULTS}/.", counted(some, "results folder")),
    };
    text.push_str(&format!("{known} Builds and repeated runs are not included.\n"));
    if guesses > 0 {
        text.push_str(&format!("~ {}: estimated from the kind alone.\n", counted(guesses, "case")));
    }
    text.push_str(&ends(preview));
    if !preview.missing.is_empty() {
        text.push_str(&format!("Not installed: {}.\n", preview.missing.join(", ")));
    }
    text.push_str("Nothing was started. Builds and versions of toolchains were not checked.\n");
    text.push_str(&format!("Results: {} (not created)\n", folder.display()));
    text
}

/// A line for each case that will hit a limit or the memory cap, and once how to raise each limit.
fn ends(preview: &RunPreview) -> String {
    let line = |(place, cell): (usize, &CellEstimate)| {
        let met = preview.ending.iter().find(|(ending, _)| *ending == place);
        let (status, why) = match (met, preview.above_cap(cell)) {
            (Some((_, met)), _) => (if met.sure { "limit" } else { "limit?" }, met.sentence.clone()),
            (None, Some(cap)) => {
                let (needs, cap) = (units::bytes(cell.footprint_bytes as u64), units::bytes(cap));
                ("killed-oom", format!("needs about {needs}, and the cap is {cap}"))
            }
            (None, None) => return None,
        };
        Some(format!("  {} × {}: {status}: {why}\n", cell.entry, units::count(cell.tasks)))
    };
    let lines: String = preview.estimate.cells.iter().enumerate().filter_map(line).collect();
    if lines.is_empty() {
        return String::new();
    }
    let remedies: BTreeSet<&String> =
        preview.ending.iter().filter_map(|(_, met)| met.remedy.as_ref()).collect();
    let remedies: String = remedies.into_iter().map(|remedy| format!("  {remedy}\n")).collect();
    format!("\nWill not reach N tasks:\n{lines}{remedies}\n")
}

/// Whether the user can answer: input and output are terminals, and this is not CI.
fn can_answer() -> bool {
    let ci = std::env::var_os("CI").is_some_and(|value| !value.is_empty() && value != "false");
    !ci && io::stdin().is_terminal() && io::stdout().is_terminal() && io::stderr().is_terminal()
}

/// Shows the plan and asks whether to start. End of input means no.
fn whether_to_start(preview: &RunPreview) -> bool {
    let mut out = io::stderr().lock();
    let asked = printable(&question(preview));
    if out.write_all(asked.as_bytes()).and_then(|()| out.flush()).is_err() {
        return false;
    }
    let mut answer = String::new();
    let read = io::stdin().lock().read_line(&mut answer);
    let yes = read.is_ok_and(|bytes| bytes > 0) && is_yes(&answer);
    if !yes {
        let said = "Nothing was started. `taskscale -h` lists all commands.\n";
        let _ = out.write_all(said.as_bytes());
    }
    yes
}

fn is_yes(answer: &str) -> bool {
    ["", "y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

fn question(preview: &RunPreview) -> String {
    let Some(plan) = preview.plans.first() else { return String::new() };
    let times = match plan.repetitions {
        1 => "once".to_owned(),
        repetitions => format!("{repetitions} times"),
    };
    let counts: Vec<String> = plan.tasks.iter().map(|tasks| units::count(*tasks)).collect();
    let (entries, counts) = (counted(plan.entries.len(), "entry"), counts.join(", "));
    let (runs, time) = (counted(preview.estimate.runs, "run"), time_left(preview.estimate.seconds));
    let largest = units::bytes(preview.largest_bytes());
    let mut text = format!(
        "taskscale measures {entries} at N = {counts}, {times} each.\n\n  {runs}, about {time}, plus builds\n  \
         memory of the largest run: about {largest}\n"
    );
    if !preview.missing.is_empty() {
        let entries = counted(preview.missing.len(), "entry");
        text.push_str(&format!("  not installed: {entries} (`taskscale list --missing`)\n"));
    }
    if !preview.ending.is_empty() {
        let cases = counted(preview.ending.len(), "case");
        text.push_str(&format!("  {cases} will hit a limit of this machine (`taskscale run --dry-run`)\n"));
    }
    text.push_str(
        "\nQuick first table: `taskscale --quick`. To skip this question: `taskscale --yes`.\nStart? [Y/n] ",
    );
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn empty_answer_or_yes_confirms() {
        assert!(["\n", "y\n", "Y\n", "yes\n", " Yes \n"].into_iter().all(is_yes));
        assert!(!["n\n", "no\n", "q\n", "yess\n", "taskscale --quick\n"].into_iter().any(is_yes));
    }
}
