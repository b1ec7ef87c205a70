//! `taskscale run`, the default command.

use std::net::ToSocketAddrs;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow};
use taskscale_load::Elsewhere;

use super::args::{Global, ReportFormat, RunArgs};
use super::confirm;
use super::dry_run::{self, RunPreview};
use super::follow_up_hints::eprint_follow_up_hints;
use super::measure_options::find_program;
use super::open::{FolderPurpose, Opened, OutputDir, ResumeOptions, check_kept, describe, memory_cap, open};
use super::progress::Progress;
use super::session::{
    PLATEAU_S, acquire_machine, announce, ended_by_signal, interrupted, name_folder, prepare_all, show,
    what_is_kept, write_page,
};
use super::workload_args::{self, SeriesOptions, task_counts};
use super::{Failure, OrUsage, open_catalog};
use crate::campaign::{self, CampaignEnd, NotReady, Prepared};
use crate::catalog::{Catalog, Program, Selection, Workload, default_selection, select};
use crate::record::{self, Campaign, Hold, Sample};
use crate::units;
use taskscale_measure::{Interrupt, LocalRunner};

/// The shortest plateau of `--quick`, in seconds: most cases need a wait of only 1 s.
const QUICK_PLATEAU_S: f64 = 0.5;
/// The most tasks of `--quick`.
const QUICK_TASKS: u64 = 100_000;
/// The wait of the original blog posts, in seconds.
const CLASSIC_HOLD_S: u64 = 10;

/// The validated options.
pub(super) struct RunOptions {
    entries: Vec<String>,
    pub(super) parts: SeriesOptions,
    pub(super) hold: Hold,
    pub(super) resume: ResumeOptions,
    pub(super) format: ReportFormat,
}

fn validate(args: &RunArgs) -> anyhow::Result<RunOptions> {
    let hold = if args.classic {
        Hold::Fixed { seconds: CLASSIC_HOLD_S }
    } else {
        Hold::Chosen { plateau_s: if args.quick { QUICK_PLATEAU_S } else { PLATEAU_S } }
    };
    Ok(RunOptions {
        entries: args.entries.clone(),
        parts: SeriesOptions {
            tasks: args.tasks.as_deref().map(task_counts).transpose()?,
            most_tasks: args.quick.then_some(QUICK_TASKS),
            params: workload_args::params(&args.params)?,
            cpus: workload_args::cpus(&args.cpus)?,
            repetitions: args.repetitions.unwrap_or(if args.quick { 1 } else { 3 }),
        },
        hold,
        resume: ResumeOptions {
            seed: args.seed,
            memory_cap_bytes: memory_cap(args.memory_cap.as_deref())?,
            time_cap: args.timeout.as_deref().map(units::parse_duration).transpose().context("--timeout")?,
            clients: clients(args)?,
        },
        format: args.format,
    })
}

/// Another machine for the clients of servers. It must have taskscale at the same path.
fn clients(args: &RunArgs) -> anyhow::Result<Option<Elsewhere>> {
    let Some((start, listen)) = args.clients.as_ref().zip(args.listen.as_ref()) else { return Ok(None) };
    let mut start: Vec<String> = start.split_whitespace().map(str::to_owned).collect();
    let first = start.first_mut().context("--clients: the command is empty (for example 'ssh other')")?;
    *first = find_program(first).context("--clients")?.display().to_string();
    let program = std::env::current_exe().context("the path of taskscale")?;
    let found = (listen.as_str(), 0).to_socket_addrs();
    let address = found.with_context(|| format!("--listen {listen}: unknown address"))?.next();
    let listen = address.with_context(|| format!("--listen {listen}: unknown address"))?.ip();
    anyhow::ensure!(
        !listen.is_unspecified(),
        "--listen {listen}: must be one address (not all of this machine)"
    );
    Ok(Some(Elsewhere { start, program, listen }))
}

/// The selected programs.
fn chosen<'a>(options: &RunOptions, args: &RunArgs, catalog: &'a Catalog) -> anyhow::Result<Selection<'a>> {
    let words = if options.entries.is_empty() { default_selection(catalog) } else { options.entries.clone() };
    let mut selection = select(catalog, &words, &workload_args::named(catalog, &args.workload))?;
    if args.quick && options.entries.is_empty() {
        leave_out_of_quick(&mut selection);
    }
    Ok(selection)
}

/// Leaves out variants of a runtime by another compiler (GraalVM, Native AOT), whose builds would take most of the time.
fn leave_out_of_quick(selection: &mut Selection) {
    let usual = |program: &Program| program.entry.toolchain == program.runtime.toolchain;
    if selection.programs.iter().any(usual) {
        selection.programs.retain(usual);
    }
}

/// Validates, and does nothing.
pub(super) fn check(args: &RunArgs, global: &Global) -> anyhow::Result<()> {
    let (options, catalog) = (validate(args)?, open_catalog(global)?);
    workload_args::choose(&options.parts, &chosen(&options, args, &catalog)?.workloads()).map(drop)
}

/// `bare`: only `taskscale` was typed.
pub fn run(args: &RunArgs, global: &Global, bare: bool) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    let catalog = open_catalog(global).or_usage()?;
    let mut selection = chosen(&options, args, &catalog).or_usage()?;
    let workloads = selection.workloads();
    // Refuses invalid options before anything is built.
    let chosen = workload_args::choose(&options.parts, &workloads).or_usage()?;
    let plans = |entries_of: &dyn Fn(&Workload) -> Vec<String>| {
        workload_args::plans(&options.parts, options.hold, &chosen, entries_of)
    };
    let output = OutputDir::of(args.output.as_deref());
    output.check(FolderPurpose::Campaign).or_usage()?;

    workload_args::eprint_lacking(&selection);
    workload_args::eprint_left_out(&chosen);
    selection.programs.retain(|program| chosen.iter().any(|part| part.has_tasks_of(program.workload)));

    // The plan includes entries that are not installed.
    let whole = plans(&|workload| {
        let does = selection.programs.iter().filter(|program| program.workload == workload);
        does.map(|program| program.entry.full_name.clone()).collect()
    });
    let kept = check_kept(&output, whole, &options.resume)?;
    let preview = || RunPreview::of(&options.resume, &selection, &plans, &output.path, kept.as_ref());
    if args.dry_run {
        return dry_run::show(&preview(), options.format, &output.path);
    }
    if bare && !global.quiet && !global.json && confirm::can_answer() {
        let preview = preview();
        // If nothing can run here, the error below explains it.
        if preview.estimate.runs > 0 && !confirm::whether_to_start(&preview) {
            return Ok(ExitCode::SUCCESS);
        }
    }
    drop(kept);

    let interrupt = Interrupt::install().context("cannot catch signals")?;
    let mut progress = Progress::new(global.quiet);
    let Some((lock, home)) = acquire_machine(&output.path, global.when_taken(), &progress, &interrupt)?
    else {
        return Ok(ended_by_signal(&interrupt));
    };

    let prepared = prepare_all(&selection.programs, &progress, &interrupt);
    if interrupt.signal().is_some() {
        progress.finish();
        return Ok(ended_by_signal(&interrupt));
    }
    if prepared.iter().all(|entry| entry.command.is_err()) {
        progress.finish();
        return Err(Failure::Usage(anyhow!(
            "none of these entries can run here (`taskscale list --missing` shows what to install)"
        )));
    }

    let plans = plans(&|workload| {
        let does = |entry: &&Prepared| entry.workload.as_ref().is_some_and(|own| own.name == workload.name);
        prepared.iter().filter(does).map(|entry| entry.facts.name.clone()).collect()
    });
    let now = describe(plans, options.resume.seed, home.source(), &prepared);
    // Frees the memory of hundreds of commands that will not run.
    drop(catalog);
    let Opened { mut store, campaign, mut samples, settings } =
        open(&output, now, &options.resume, &progress)?;
    let folder = store.folder().to_owned();
    announce(&folder, &campaign, &prepared, &samples);
    progress.watch(&campaign, &prepared, &samples);
    let mut runner = LocalRunner::new(home, &interrupt).with(&lock).keeping_traces(args.trace.clone());
    let outcome =
        campaign::run(&campaign, &prepared, &settings, &mut runner, &mut store, &mut samples, &mut progress);
    drop(runner);
    progress.finish();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            // The folder may be what failed: shows at least the results in memory.
            if !samples.is_empty() {
                show(&folder, &campaign, &samples, options.format)?;
            }
            return Err(Failure::Broken(anyhow!(error).context(what_is_kept(&folder))));
        }
    };

    conclude(&options, &folder, &campaign, &prepared, &samples, &outcome, &interrupt)
}

fn conclude(
    options: &RunOptions,
    folder: &Path,
    campaign: &Campaign,
    prepared: &[Prepared],
    samples: &[Sample],
    outcome: &CampaignEnd,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    if !samples.is_empty() {
        show(folder, campaign, samples, options.format)?;
    }
    write_page(folder, campaign, samples);
    name_folder(folder, options.format == ReportFormat::Table && !samples.is_empty())?;
    if outcome.interrupted {
        return Ok(interrupted(folder, interrupt));
    }
    eprint_follow_up_hints(folder, samples);
    let build_failed = prepared.iter().any(|entry| matches!(entry.command, Err(NotReady::BuildFailed(_))));
    let fell_short = record::last_attempts(samples).iter().any(|sample| sample.status.fell_short());
    Ok(if build_failed || fell_short { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}
