//! `taskscale run`, the main job.

use std::path::{Path, PathBuf};
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};

use super::args::{Format, Global, Run};
use super::open::{Asked, Content, Opened, Place, describe, open, warn_unless_held};
use super::parts::{self, AskedParts};
use super::progress::Progress;
use super::report::Shown;
use super::{Failure, OrUsage, emit, open_catalog, print_result, print_through, printable, say_aside};
use crate::campaign::{self, NotReady, Outcome, Prepared, prepare};
use crate::catalog::{Program, Workload, default_selection, select};
use crate::measure::{GroupRoot, Interrupt, LocalRunner, MachineLock, available_memory_bytes};
use crate::record::{self, BuildState, Campaign, Event, Hold, Loaded, Plan, RejectedLine, Sample};
use crate::report;
use crate::toolchain::{Attend, Cache};
use crate::units;

/// The share of available memory that a run may take unless told otherwise.
const MEMORY_SHARE: f64 = 0.8;
/// How long all tasks are alive together at least, in seconds.
pub(super) const PLATEAU_S: f64 = 1.0;
/// The same for `--quick`: with it most cells need a hold of 1 s only.
const QUICK_PLATEAU_S: f64 = 0.5;
/// The most tasks of `--quick`.
const QUICK_TASKS: u64 = 100_000;
/// What the posts waited, in seconds.
const CLASSIC_HOLD_S: u64 = 10;

/// The page, in a campaign's folder.
const PAGE_FILE: &str = "report.html";

/// What was asked, validated: nothing below sees the command line's types.
pub(super) struct Options {
    entries: Vec<String>,
    pub(super) parts: AskedParts,
    pub(super) hold: Hold,
    pub(super) asked: Asked,
    pub(super) format: Format,
}

/// Makes the plans of all parts, of the entries that a function names for a workload.
pub(super) type Plans<'a> = dyn Fn(&dyn Fn(&Workload) -> Vec<String>) -> Result<Vec<Plan>, Failure> + 'a;

fn validate(args: &Run) -> anyhow::Result<Options> {
    let hold = if args.classic {
        Hold::Fixed { seconds: CLASSIC_HOLD_S }
    } else {
        Hold::Chosen { plateau_s: if args.quick { QUICK_PLATEAU_S } else { PLATEAU_S } }
    };
    Ok(Options {
        entries: args.entries.clone(),
        parts: AskedParts {
            tasks: args.tasks.as_deref().map(task_counts).transpose()?,
            most_tasks: args.quick.then_some(QUICK_TASKS),
            params: parts::params(&args.params)?,
            cpus: parts::cpus(&args.cpus)?,
            repetitions: args.repetitions.unwrap_or(if args.quick { 1 } else { 3 }),
        },
        hold,
        asked: Asked {
            seed: args.seed,
            memory_cap_bytes: memory_cap(args.memory_cap.as_deref())?,
            time_cap: args.timeout.as_deref().map(units::parse_duration).transpose().context("--timeout")?,
        },
        format: args.format,
    })
}

/// What `-n` says, ascending.
pub(super) fn task_counts(text: &str) -> anyhow::Result<Vec<u64>> {
    let mut tasks = Vec::new();
    for word in text.split(',') {
        let count = units::parse_count(word).context("-n")?;
        if tasks.contains(&count) {
            bail!("-n: {} is given twice", units::count(count));
        }
        tasks.push(count);
    }
    tasks.sort_unstable();
    Ok(tasks)
}

/// What `--memory-cap` says.
pub(super) fn memory_cap(text: Option<&str>) -> anyhow::Result<Option<u64>> {
    text.map(units::parse_bytes).transpose().context("--memory-cap")
}

/// What a run may take unless told otherwise. Without an estimate of what is available there is no sensible cap.
pub(super) fn memory_cap_bytes() -> Option<u64> {
    available_memory_bytes().map(|bytes| (bytes as f64 * MEMORY_SHARE) as u64)
}

pub fn run(args: &Run, global: &Global) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    let catalog = open_catalog(global).or_usage()?;
    let words =
        if options.entries.is_empty() { default_selection(&catalog) } else { options.entries.clone() };
    let selection = select(&catalog, &words, &parts::named(&catalog, &args.workload)).or_usage()?;
    let workloads = selection.workloads();
    let plans = |entries_of: &dyn Fn(&Workload) -> Vec<String>| {
        parts::plans(&options.parts, options.hold, &workloads, entries_of).or_usage()
    };
    // What cannot be is refused before anything is built.
    plans(&|_| Vec::new())?;
    let place = Place::of(args.output.as_deref());
    place.check(Content::Campaign).or_usage()?;

    parts::say_lacking(&selection);

    if args.dry_run {
        return super::dry_run::run(&options, &selection, &plans, &place.path);
    }

    let interrupt = Interrupt::install().context("cannot catch signals")?;
    let mut progress = Progress::new(global.quiet);
    let Some((lock, home)) = settle(&place.path, &progress, &interrupt)? else {
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
            "none of these entries can run here: `taskscale list` says what to install"
        )));
    }

    let plans = plans(&|workload| {
        let does = |entry: &&Prepared| entry.workload.as_ref().is_some_and(|own| own.name == workload.name);
        prepared.iter().filter(does).map(|entry| entry.facts.name.clone()).collect()
    })?;
    let now = describe(plans, options.asked.seed, home.source(), &prepared);
    let Opened { mut store, campaign, mut samples, settings } = open(&place, now, &options.asked, &progress)?;
    let folder = store.folder().to_owned();
    announce(&folder, &campaign, &prepared, &samples);
    // Not its path: this very program, even where another version has been put in its place meanwhile.
    let launcher = PathBuf::from("/proc/self/exe");
    let mut runner = LocalRunner::new(home, &interrupt, launcher).with(&lock);
    let outcome =
        campaign::run(&campaign, &prepared, &settings, &mut runner, &mut store, &mut samples, &mut progress);
    drop(runner);
    progress.finish();
    let outcome = match outcome {
        Ok(outcome) => outcome,
        Err(error) => {
            // The folder may be the very thing that failed: what is known is shown at least.
            if !samples.is_empty() {
                show(&folder, &campaign, &samples, options.format)?;
            }
            return Err(Failure::Broken(anyhow!(error).context(what_is_kept(&folder))));
        }
    };

    conclude(&options, &folder, &campaign, &prepared, &samples, &outcome, &interrupt)
}

/// The machine for ourselves: two campaigns would measure each other. `None` where the user would not wait.
pub(super) fn lock_machine(
    folder: &Path,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Option<MachineLock>, Failure> {
    let holder = format!("with {}", folder.display());
    let lock = MachineLock::acquire(&holder, interrupt, |who| {
        progress
            .say(&format!("waiting: {who} is measuring on this machine, and two would measure each other"));
    });
    lock.iter().for_each(warn_unless_held);
    Ok(lock)
}

/// The machine for ourselves, and a place for control groups. `None` where the user would not wait.
pub(super) fn settle(
    folder: &Path,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Option<(MachineLock, GroupRoot)>, Failure> {
    let Some(lock) = lock_machine(folder, progress, interrupt)? else { return Ok(None) };
    // Before any child of ours exists: one that shares our control group keeps us from stepping aside.
    let home = GroupRoot::find();
    for why in home.why_none().iter().filter(|_| home.source() == record::MemorySource::Proc) {
        progress.say(&format!("no control group: {why}"));
    }
    if home.source() == record::MemorySource::Proc {
        progress.say("measuring by /proc alone: kernel memory and peaks are only in part known; `taskscale doctor` says what would give the better source");
    }
    Ok(Some((lock, home)))
}

pub(super) fn prepare_all(programs: &[Program], progress: &Progress, interrupt: &Interrupt) -> Vec<Prepared> {
    let mut position = 0;
    let stop = || interrupt.signal().is_some();
    let attend = Attend { stop: &stop, waiting: &|line| progress.say(line) };
    let prepared = prepare(&Cache::of_user(), programs, &attend, |name| {
        position += 1;
        progress.building(name, position, programs.len());
    });
    if interrupt.signal().is_none() {
        for entry in &prepared {
            emit(built(entry));
            match &entry.command {
                Ok(_) => {}
                Err(NotReady::NoToolchain(why)) => {
                    progress.say(&format!("left out {}: {why}", entry.label()))
                }
                Err(NotReady::BuildFailed(why)) => {
                    progress.say(&format!("left out {}: the build failed: {why}", entry.label()));
                }
            }
        }
    }
    prepared
}

/// Tells programs that watch what is about to be measured.
pub(super) fn announce(folder: &Path, campaign: &Campaign, prepared: &[Prepared], kept: &[Sample]) {
    let runs = |plan: &Plan| {
        let of_plan = |entry: &&Prepared| entry.name(campaign).1 == plan.workload;
        let ready = prepared.iter().filter(of_plan).filter(|entry| entry.command.is_ok()).count() as u64;
        ready * plan.tasks.len() as u64 * plan.runs_a_cell()
    };
    emit(Event::Plan {
        folder: folder.display().to_string(),
        plan: campaign.plan.clone(),
        further_plans: campaign.further_plans.clone(),
        seed: campaign.seed,
        runs: campaign.plans().map(runs).sum(),
        kept_samples: kept.len() as u64,
    });
}

/// What became of an entry's build.
pub(super) fn built(entry: &Prepared) -> Event {
    Event::Build {
        entry: entry.facts.name.clone(),
        workload: entry.facts.workload.clone(),
        state: match &entry.command {
            Ok(_) => BuildState::Ready,
            Err(NotReady::NoToolchain(_)) => BuildState::Unavailable,
            Err(NotReady::BuildFailed(_)) => BuildState::Failed,
        },
        command: entry.command.as_ref().ok().cloned(),
        version: entry.facts.version.clone(),
        reason: entry.facts.unavailable.clone(),
    }
}

/// For a campaign that could not go on.
pub(super) fn what_is_kept(folder: &Path) -> String {
    match record::load(folder) {
        Ok(Loaded { samples, .. }) => format!(
            "stopped; {} samples are kept in {folder}, and the same command with `-o {folder}` goes on",
            samples.len(),
            folder = folder.display()
        ),
        Err(_) => format!("stopped; {} and its samples are gone or cannot be read", folder.display()),
    }
}

/// Names lines that were no samples; `done` is what was done with them.
pub(super) fn warn_of_rejected(folder: &Path, rejected: &[RejectedLine], done: &str) {
    for line in rejected {
        say_aside(&format!(
            "warning: {}, line {} is no sample and is {done}: {}",
            folder.join("samples.jsonl").display(),
            line.number,
            line.why
        ));
    }
}

fn conclude(
    options: &Options,
    folder: &Path,
    campaign: &Campaign,
    prepared: &[Prepared],
    samples: &[Sample],
    outcome: &Outcome,
    interrupt: &Interrupt,
) -> Result<ExitCode, Failure> {
    if !samples.is_empty() {
        show(folder, campaign, samples, options.format)?;
    }
    write_page(folder, campaign, samples);
    name_folder(folder, options.format == Format::Table && !samples.is_empty())?;
    if outcome.interrupted {
        return Ok(interrupted(folder, interrupt));
    }
    let build_failed = prepared.iter().any(|entry| matches!(entry.command, Err(NotReady::BuildFailed(_))));
    let fell_short = record::last_attempts(samples).iter().any(|sample| sample.status.fell_short());
    Ok(if build_failed || fell_short { ExitCode::FAILURE } else { ExitCode::SUCCESS })
}

/// Says where the campaign is: below a table for people, else aside.
pub(super) fn name_folder(folder: &Path, below_table: bool) -> Result<(), Failure> {
    let shown = folder.display();
    if below_table {
        return print_result(&printable(&format!("\nCampaign: {shown}\n")));
    }
    say_aside(&format!("campaign: {shown}"));
    Ok(())
}

/// The end of a campaign that the user cut off.
pub(super) fn interrupted(folder: &Path, interrupt: &Interrupt) -> ExitCode {
    let shown = folder.display();
    say_aside(&format!("interrupted: what was measured is kept; the same command with `-o {shown}` goes on"));
    ended_by_signal(interrupt)
}

/// Leaves the page in the campaign's folder. The result was printed and its samples are kept: where there is no page,
/// that is said and all else goes on.
pub(super) fn write_page(folder: &Path, campaign: &Campaign, samples: &[Sample]) {
    if samples.is_empty() {
        return;
    }
    let path = folder.join(PAGE_FILE);
    let pages = super::report::page(campaign, samples);
    match record::write_whole(&path, |out| report::write_html(pages, out)) {
        Ok(()) => say_aside(&format!("report: {}", path.display())),
        Err(error) => say_aside(&format!(
            "warning: no report: {error}; `taskscale report {} --format html -o FILE` makes one elsewhere",
            folder.display()
        )),
    }
}

/// The exit code that shells give to a program ended by a signal.
pub(super) fn ended_by_signal(interrupt: &Interrupt) -> ExitCode {
    ExitCode::from(128 + interrupt.signal().unwrap_or(libc::SIGINT) as u8)
}

/// Prints what was measured. The samples are kept whether or not there is something to print.
pub(super) fn show(
    folder: &Path,
    campaign: &Campaign,
    samples: &[Sample],
    format: Format,
) -> Result<(), Failure> {
    match super::report::of_run(folder, campaign, samples, format) {
        Ok(Shown::Text(text)) => print_result(&text),
        Ok(Shown::Pages(pages)) => print_through(|out| report::write_html(pages, out)),
        Err(error) => {
            say_aside(&format!("warning: nothing to print: {error}"));
            Ok(())
        }
    }
}
