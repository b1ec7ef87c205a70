//! `taskscale run`, the default command.

use std::net::ToSocketAddrs;
use std::path::Path;

use anyhow::{Context, Result, ensure};

use super::args::{Global, RunArgs};
use super::catalog_dir::open_catalog_with;
use super::failure::{CliResult, OrUsage, SUCCESS, catch_signals, exit_code};
use super::measure::find_program;
use super::output::for_standard_output;
use super::output_dir::{FolderPurpose, OutputDir, RESULTS};
use super::pages::what_changed;
use super::preview;
use super::session::{Session, USUAL_HOLD};
use super::workload_args::{self, SeriesOptions, resume_options, task_counts};
use crate::campaign::{NotReady, ResumeOptions, RunPreview, memory_cap_bytes};
use crate::catalog::{Catalog, Program, Selection, default_selection};
use crate::record::{Hold, Loaded, last_attempts};
use crate::report::{ExportTarget, Format};
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
    resume: ResumeOptions,
}

fn validate(args: &RunArgs) -> Result<RunOptions> {
    let hold = match (args.classic, args.quick) {
        (true, _) => CLASSIC_HOLD,
        (false, true) => QUICK_HOLD,
        (false, false) => USUAL_HOLD,
    };
    Ok(RunOptions {
        series: SeriesOptions {
            tasks: args.tasks.as_deref().map(task_counts).transpose()?,
            most_tasks: args.quick.then_some(QUICK_TASKS),
            params: workload_args::params(&args.params)?,
            cpus: workload_args::cpus(&args.cpus)?,
            repetitions: args.repetitions.unwrap_or(if args.quick { 1 } else { 3 }),
        },
        hold,
        resume: ResumeOptions { seed: args.seed, clients: clients(args)?, ..resume_options(&args.results)? },
    })
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
        return preview::show(&preview(), args.results.format, &output.path);
    }
    if bare && !global.quiet && !global.json && preview::can_answer() {
        let preview = preview();
        // If nothing can run here, the error below explains it.
        if preview.estimate.runs > 0 && !preview::whether_to_start(&preview) {
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
