//! `taskscale explain`: where the bytes of a task are.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::ExitCode;

use anyhow::{Context, anyhow, bail};
use clap::Parser;
use strum::VariantArray;

use super::args::{Args, Command, ExplainArgs, Global};
use super::catalog_dir::open_catalog_with;
use super::failure::{Failure, OrUsage, catch_signals, exit_code};
use super::measure_options;
use super::messages::eprint_status;
use super::output_dir::{FolderPurpose, OutputDir};
use super::pages::write_page;
use super::session::{PLATEAU_S, Session};
use super::terminal::{for_standard_output, print_result};
use super::workload_args::{self, SeriesOptions, task_counts};
use crate::campaign::{Prepared, ResumeOptions, TASKS};
use crate::catalog::{Adapter, Catalog, Program, Selection, Shape, select};
use crate::explain::{
    self, AdapterHook, Explanation, Readings, RunParts, adapter_for, explained, render, with_go_hook,
};
use crate::record::{Hold, OWN_WORKLOAD, Plan};
use crate::units;
use taskscale_measure::batches_bytes;

/// While an adapter works, tasks must wait: seconds. The JVM's starts four programs, which are JVMs as well.
const PROBE_PLATEAU_S: f64 = 5.0;
const JVM_PLATEAU_S: f64 = 20.0;

/// Servers hold their connections for as long as it takes, and what their clients do afterwards is not shown: as in a first
/// table, they do it briefly.
const SERVER_PLATEAU_S: f64 = 0.9;

struct ExplainOptions {
    tasks: Vec<u64>,
    /// Absent: by the entry, or its files.
    adapter: Option<Adapter>,
}

fn validate(args: &ExplainArgs) -> anyhow::Result<ExplainOptions> {
    let tasks = task_counts(&args.tasks)?;
    if tasks.len() < 2 {
        bail!("-n: a slope needs two numbers of tasks or more, such as 10k,100k");
    }
    Ok(ExplainOptions { tasks, adapter: args.adapter.as_deref().map(adapter).transpose()? })
}

fn adapter(name: &str) -> anyhow::Result<Adapter> {
    name.parse().map_err(|_| {
        let all: Vec<&str> = Adapter::VARIANTS.iter().map(|adapter| adapter.name()).collect();
        anyhow!("--adapter: no adapter `{name}` (available: {})", all.join(", "))
    })
}

/// What is explained: programs of the catalog, or a command.
struct Subjects<'c> {
    selection: Option<Selection<'c>>,
    plans: Vec<Plan>,
    prepared: Vec<Prepared>,
    /// Of the runs without an adapter: a JVM takes the size of its heap from it.
    memory_cap_bytes: Option<u64>,
}

impl<'c> Subjects<'c> {
    fn program(&self, prepared: &Prepared) -> Option<&Program<'c>> {
        let is_it = |program: &&Program| {
            let workload = Some(&program.workload.name) == prepared.facts.workload.as_ref();
            workload && program.entry.full_name == prepared.facts.name
        };
        self.selection.as_ref()?.programs.iter().find(is_it)
    }
}

/// The plans of entries, all of one workload.
fn chosen<'c>(
    args: &ExplainArgs,
    options: &ExplainOptions,
    catalog: &'c Catalog,
    words: &[String],
) -> anyhow::Result<(Selection<'c>, Vec<Plan>)> {
    let named: Vec<String> = args.workload.iter().cloned().collect();
    let mut selection = select(catalog, words, &workload_args::named(catalog, &named))?;
    let workloads = selection.workloads();
    if let Some(workload) = workloads.iter().find(|workload| workload.shape == Shape::Work) {
        let waits = catalog.workloads.iter().filter(|workload| workload.shape != Shape::Work);
        let names: Vec<&str> = waits.map(|workload| &*workload.name).collect();
        bail!("-w {}: its tasks do not wait (explain takes {})", workload.name, names.join(", "));
    }
    let series = SeriesOptions {
        tasks: Some(options.tasks.clone()),
        params: workload_args::params(&args.params)?,
        repetitions: args.repetitions,
        ..SeriesOptions::default()
    };
    let chosen = workload_args::choose(&series, &workloads)?;
    workload_args::eprint_lacking(&selection);
    workload_args::eprint_left_out(&chosen);
    selection.programs.retain(|program| chosen.iter().any(|part| part.has_tasks_of(program.workload)));
    let is_served = workloads.iter().any(|workload| workload.shape == Shape::Serve);
    let hold = Hold::Chosen { plateau_s: if is_served { SERVER_PLATEAU_S } else { PLATEAU_S } };
    let plans = workload_args::plans(&series, hold, &chosen, &selection);
    Ok((selection, plans))
}

/// A command, as `measure` takes it.
fn command(args: &ExplainArgs, options: &ExplainOptions) -> anyhow::Result<(Prepared, Plan)> {
    if !args.command.iter().any(|word| word.contains(TASKS)) {
        bail!("the command has no {TASKS}, where it takes the number of tasks");
    }
    let repetitions = args.repetitions.to_string();
    let words = ["taskscale", "measure", "-n", &args.tasks, "-r", &repetitions, "--"];
    let words = words.into_iter().map(str::to_owned).chain(args.command.iter().cloned());
    let Some(Command::Measure(of_measure)) = Args::try_parse_from(words).context("the command")?.command
    else {
        bail!("the command cannot be measured");
    };
    let measured = measure_options::validate(&of_measure)?;
    let hold = Hold::Chosen { plateau_s: PLATEAU_S };
    let names = vec![measured.prepared.facts.name.clone()];
    let plan = Plan::of_holds(OWN_WORKLOAD, names, options.tasks.clone(), args.repetitions, hold);
    Ok((measured.prepared, plan))
}

pub fn run(args: &ExplainArgs, global: &Global) -> Result<ExitCode, Failure> {
    let options = validate(args).or_usage()?;
    let output = OutputDir::checked(args.output.as_deref(), FolderPurpose::Campaign).or_usage()?;
    if output.holds_campaign() {
        return Err(Failure::usage(
            "-o: the folder has results, and `explain` cannot resume: name a new one",
        ));
    }
    let is_of_catalog = args.command.is_empty();
    let catalog = is_of_catalog.then(|| open_catalog_with(global, &args.entries)).transpose().or_usage()?;
    let entries = catalog.as_ref().map(|(catalog, words)| chosen(args, &options, catalog, words));
    let entries = entries.transpose().or_usage()?;
    let own = if entries.is_none() { Some(command(args, &options).or_usage()?) } else { None };

    let interrupt = catch_signals()?;
    let mut session = Session::begin(&output.path, global, &interrupt)?;
    session.report_missing_cgroup();
    let (selection, plans, prepared) = match entries {
        Some((selection, plans)) => {
            let prepared = session.prepare(&selection.programs)?;
            (Some(selection), plans, prepared)
        }
        None => {
            let (prepared, plans) = own.into_iter().unzip();
            (None, plans, prepared)
        }
    };
    let mut subjects = Subjects { selection, plans, prepared, memory_cap_bytes: None };
    let readings = Readings::default();
    session.runner.on_reading(Some(readings.hook(None)));
    let results =
        session.measure(subjects.plans.clone(), &subjects.prepared, &output, &ResumeOptions::default())?;
    let folder = results.folder;
    session.check_ended(&folder, results.end)?;
    subjects.memory_cap_bytes =
        results.campaign.conditions.and_then(|conditions| conditions.memory_cap_bytes);
    let scratch = tempfile::Builder::new().prefix("taskscale-explain-").tempdir();
    let scratch = scratch.context("cannot create a folder for adapters")?;
    let (mut explanations, mut missing) = (Vec::new(), Vec::new());
    let ready = subjects.prepared.iter().filter(|prepared| prepared.command.is_ok());
    for (nth, prepared) in ready.enumerate() {
        let name = &*prepared.facts.name;
        let metrics = results.samples.iter().rev().find(|sample| *sample.entry == *name);
        let metrics = metrics.map(|sample| sample.metrics.clone()).unwrap_or_default();
        let plain = readings.of(&results.samples, name);
        let place = scratch.path().join(nth.to_string());
        let (explanation, faults) =
            explain_program(&mut session, &subjects, &options, prepared, plain, &place)?;
        missing.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        explanations.extend(explanation.map(|explanation| Explanation { metrics, ..explanation }));
    }
    session.progress.finish();
    explain::store(&folder, &explanations)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    write_page(&folder, &results.campaign, &results.samples);
    print_result(&render(&explanations, args.format.document().unwrap_or_default(), for_standard_output()))?;
    missing.iter().for_each(|what| eprint_status(what));
    eprint_status(&format!("results: {}", folder.display()));
    Ok(exit_code(!missing.is_empty()))
}

/// The sheet of a program whose plain runs were measured, and what is missing from it.
fn explain_program(
    session: &mut Session,
    subjects: &Subjects,
    options: &ExplainOptions,
    prepared: &Prepared,
    (plain, mut faults): (Vec<RunParts>, Vec<String>),
    place: &Path,
) -> Result<(Option<Explanation>, Vec<String>), Failure> {
    let adapter = adapter_of(subjects, options, prepared, &plain);
    let mut probed_runs = Vec::new();
    if let Some((adapter, _)) = adapter.as_ref().filter(|_| !plain.is_empty()) {
        match probed(session, subjects, prepared, *adapter, place) {
            Ok(runs) => probed_runs = runs,
            Err(ProbeError::Failure(failure)) => return Err(failure),
            Err(ProbeError::Missing(why)) => faults.push(why),
        }
    }
    let insist = options.adapter.is_some();
    let with = adapter.as_ref().map(|(adapter, _)| *adapter);
    let Some((sheet, left_out)) = explained(&plain, &probed_runs, with, insist) else {
        faults.push("no slope: fewer than two numbers of tasks were ok".to_owned());
        return Ok((None, faults));
    };
    let more_tasks = options.tasks.last().zip(options.tasks.first()).map_or(1, |(most, least)| most - least);
    if sheet.exceeds(batches_bytes() as f64 / more_tasks as f64) {
        let bytes = units::decimal(-sheet.unexplained.bytes, 0);
        faults.push(format!("the rows exceed the slope by {bytes} B per task, more than they vary"));
    }
    let was_asked = !probed_runs.is_empty() && left_out.is_none();
    let explanation = Explanation {
        entry: prepared.facts.name.clone(),
        kind: prepared.facts.kind,
        workload: prepared.facts.workload.clone().unwrap_or_else(|| OWN_WORKLOAD.to_owned()),
        version: prepared.facts.version.clone(),
        tasks: options.tasks.clone(),
        repetitions: subjects.plans.first().map_or(1, |plan| plan.repetitions),
        adapter: adapter.filter(|_| was_asked).map(|(adapter, why)| (adapter.name().to_owned(), why)),
        metrics: BTreeMap::new(),
        sheet,
        notes: faults.iter().cloned().chain(left_out).collect(),
    };
    Ok((Some(explanation), faults))
}

/// The adapter for a program and why it is that one; `None` if nothing is asked.
fn adapter_of(
    subjects: &Subjects,
    options: &ExplainOptions,
    prepared: &Prepared,
    plain: &[RunParts],
) -> Option<(Adapter, String)> {
    let of_entry = subjects.program(prepared).and_then(|program| program.entry.explain);
    let chosen = match (options.adapter, of_entry) {
        (Some(adapter), _) => Some((adapter, "--adapter names it".to_owned())),
        (None, Some(adapter)) => Some((adapter, "its manifest names it".to_owned())),
        (None, None) => plain.last().and_then(|run| adapter_for(&run.mappings)),
    };
    chosen.filter(|(adapter, _)| *adapter != Adapter::None)
}

enum ProbeError {
    Failure(Failure),
    /// The adapter cannot be used here.
    Missing(String),
}

/// Runs of one program in which its adapter is asked; never ranked, and not kept.
fn probed(
    session: &mut Session,
    subjects: &Subjects,
    prepared: &Prepared,
    adapter: Adapter,
    place: &Path,
) -> Result<Vec<RunParts>, ProbeError> {
    let hooks = place.join("hook");
    let probe = AdapterHook::prepare(adapter, &hooks, &place.join("parts")).map_err(ProbeError::Missing)?;
    let mut prepared = match adapter {
        Adapter::Go => rebuilt(session, subjects, prepared, &hooks)?,
        _ => prepared.clone(),
    };
    match &mut prepared.black_box {
        Some(template) => probe.add_to(&mut template.env),
        None => probe.add_to(&mut prepared.facts.env),
    }
    let of_program = |plan: &&Plan| plan.entries.contains(&prepared.facts.name);
    let plans = subjects.plans.iter().filter(of_program).map(|plan| Plan {
        entries: vec![prepared.facts.name.clone()],
        hold: match (plan.shape, adapter) {
            (Shape::Serve, _) => plan.hold,
            (_, Adapter::Jvm) => Hold::Chosen { plateau_s: JVM_PLATEAU_S },
            _ => Hold::Chosen { plateau_s: PROBE_PLATEAU_S },
        },
        ..plan.clone()
    });
    let readings = Readings::default();
    session.runner.on_reading(Some(readings.hook(Some(probe))));
    let output = OutputDir { path: place.join("results"), named: true };
    let resume = ResumeOptions { memory_cap_bytes: subjects.memory_cap_bytes, ..ResumeOptions::default() };
    let results = session.measure(plans.collect(), std::slice::from_ref(&prepared), &output, &resume);
    let results = results.map_err(ProbeError::Failure)?;
    session.check_ended(&results.folder, results.end).map_err(ProbeError::Failure)?;
    let (runs, faults) = readings.of(&results.samples, &prepared.facts.name);
    match faults.into_iter().next() {
        Some(fault) => Err(ProbeError::Missing(fault)),
        None if !has_slope(&runs) => Err(ProbeError::Missing(format!(
            "fewer than two numbers of tasks were ok with the adapter `{}`: {}",
            adapter.name(),
            results.samples.iter().rev().find_map(|sample| sample.reason.clone()).unwrap_or_default()
        ))),
        None => Ok(runs),
    }
}

/// Whether some repetition has two numbers of tasks.
fn has_slope(runs: &[RunParts]) -> bool {
    runs.iter()
        .any(|run| runs.iter().any(|other| other.repetition == run.repetition && other.tasks != run.tasks))
}

/// A Go program with the hook compiled in.
fn rebuilt(
    session: &Session,
    subjects: &Subjects,
    prepared: &Prepared,
    hooks: &Path,
) -> Result<Prepared, ProbeError> {
    let own = || {
        ProbeError::Missing(
            "a Go program of your own cannot be asked: only entries are built here".to_owned(),
        )
    };
    let program = subjects.program(prepared).ok_or_else(own)?;
    let entry = with_go_hook(program.runtime, program.entry, &program.workload.name, hooks)
        .map_err(ProbeError::Missing)?;
    let entry = entry.ok_or_else(|| ProbeError::Missing("its build has no `go build`".to_owned()))?;
    let with_hook = Program { runtime: program.runtime, entry: &entry, workload: program.workload };
    let mut built = session.prepare(&[with_hook]).map_err(ProbeError::Failure)?;
    built.pop().ok_or_else(own)
}
