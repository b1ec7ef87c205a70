//! `taskscale explain`: where the bytes of a task are.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::{Context, bail, ensure};
use clap::Parser;

use super::args::{Args, Command, ExplainArgs, Global};
use super::catalog_dir::open_catalog_with;
use super::failure::{CliResult, Failure, OrUsage, catch_signals, exit_code};
use super::measure;
use super::output::{eprint_status, for_standard_output, print_result};
use super::output_dir::{FolderPurpose, OutputDir};
use super::pages::write_page;
use super::session::{Session, USUAL_HOLD};
use super::workload_args::{self, SeriesOptions, task_counts};
use crate::campaign::{Prepared, RunSettings, TASKS};
use crate::catalog::{Adapter, Catalog, Program, Shape};
use crate::explain::{
    self, AdapterHook, Explanation, Readings, RunParts, adapter_for, explained, render, with_go_hook,
};
use crate::record::{Hold, OWN_WORKLOAD, Plan, Sample, Status};
use crate::units;
use taskscale_measure::{Metric, batches_bytes};

/// The wait while an adapter reads a program. The JVM adapter starts four more JVMs.
const PROBE_HOLD: Hold = Hold::Chosen { plateau_s: 5.0 };
const JVM_HOLD: Hold = Hold::Chosen { plateau_s: 20.0 };

/// Servers keep their connections as long as needed. `explain` does not show the load that follows: a plateau
/// below 1 s makes it short.
const SERVER_HOLD: Hold = Hold::Chosen { plateau_s: 0.9 };

/// The programs and plans, all of one workload.
fn chosen<'c>(
    args: &ExplainArgs,
    tasks: &[u64],
    (catalog, words): &'c (Catalog, Vec<String>),
) -> anyhow::Result<(Vec<Program<'c>>, Vec<Plan>)> {
    let mut selection = workload_args::selected(catalog, words, args.workload.as_slice())?;
    let workloads = selection.workloads();
    // A sheet is of one entry: it would mix up the runs of two workloads.
    let [workload] = workloads[..] else {
        let names: Vec<&str> = workloads.iter().map(|workload| &*workload.name).collect();
        bail!("-w: `explain` takes one workload, not {}", names.join(", "));
    };
    if workload.shape == Shape::Work {
        let waits = catalog.workloads.iter().filter(|workload| workload.shape != Shape::Work);
        let names: Vec<&str> = waits.map(|workload| &*workload.name).collect();
        bail!("-w {}: its tasks do not wait (explain takes {})", workload.name, names.join(", "));
    }
    let series = SeriesOptions {
        tasks: Some(tasks.to_vec()),
        params: workload_args::params(&args.params)?,
        repetitions: args.repetitions,
        ..SeriesOptions::default()
    };
    let hold = if workload.shape == Shape::Serve { SERVER_HOLD } else { USUAL_HOLD };
    let plans = workload_args::plans(&series, hold, &mut selection)?;
    Ok((selection.programs, plans))
}

/// A command and its plan, as in `measure`.
fn command(args: &ExplainArgs) -> anyhow::Result<(Prepared, Plan)> {
    let takes_tasks = args.command.iter().any(|word| word.contains(TASKS));
    ensure!(takes_tasks, "the command has no {TASKS}, where it takes the number of tasks");
    let repetitions = args.repetitions.to_string();
    let words = ["taskscale", "measure", "-n", &args.tasks, "-r", &repetitions, "--"];
    let words = words.into_iter().map(str::to_owned).chain(args.command.iter().cloned());
    let Some(Command::Measure(of_measure)) = Args::try_parse_from(words).context("the command")?.command
    else {
        bail!("the command cannot be measured");
    };
    let measured = measure::validate(&of_measure)?;
    Ok((measured.prepared, measured.plan))
}

pub fn run(args: &ExplainArgs, global: &Global) -> CliResult {
    let tasks = task_counts(&args.tasks).or_usage()?;
    if tasks.len() < 2 {
        return Err(Failure::usage("-n: a slope needs two numbers of tasks or more, such as 10k,100k"));
    }
    let output = OutputDir::checked(args.output.as_deref(), FolderPurpose::Campaign).or_usage()?;
    if output.holds_campaign() {
        return Err(Failure::usage(
            "-o: the folder has results, and `explain` cannot resume: name a new one",
        ));
    }
    let catalog;
    let (programs, plans, own) = if args.command.is_empty() {
        catalog = open_catalog_with(global, &args.entries).or_usage()?;
        let (programs, plans) = chosen(args, &tasks, &catalog).or_usage()?;
        (programs, plans, None)
    } else {
        let (prepared, plan) = command(args).or_usage()?;
        (Vec::new(), vec![plan], Some(prepared))
    };

    let interrupt = catch_signals()?;
    let mut session = Session::begin(&output.path, global, &interrupt)?;
    let prepared = match own {
        Some(own) => vec![own],
        None => session.prepare(&programs)?,
    };
    let readings = Readings::default();
    session.runner.on_reading = Some(readings.hook(None));
    let resume = RunSettings::default();
    let (folder, loaded) = session.measure_all(plans.clone(), &prepared, &output, &resume)?;
    let memory_cap_bytes = loaded.campaign.conditions.and_then(|conditions| conditions.memory_cap_bytes);
    let scratch = tempfile::Builder::new().prefix("taskscale-explain-").tempdir();
    let scratch = scratch.context("cannot create a folder for adapters")?;
    let (mut explanations, mut missing) = (Vec::new(), Vec::new());
    for (nth, prepared) in prepared.iter().enumerate().filter(|(_, prepared)| prepared.command.is_ok()) {
        let name = &*prepared.facts.name;
        let is_ok = |sample: &&Sample| sample.status == Status::Ok && *sample.entry == *name;
        let metrics = loaded.samples.iter().rev().find(is_ok);
        let metrics = metrics.map(|sample| sample.metrics.clone()).unwrap_or_default();
        let place = scratch.path().join(nth.to_string());
        let subject = Subject {
            args,
            tasks: &tasks,
            plans: &plans,
            prepared,
            program: programs.get(nth),
            memory_cap_bytes,
            place: &place,
        };
        let plain = readings.of(&loaded.samples, name);
        let (explanation, faults) = subject.explain(&mut session, plain, metrics)?;
        missing.extend(faults.into_iter().map(|fault| format!("{name}: {fault}")));
        explanations.extend(explanation);
    }
    session.progress.finish();
    explain::store(&folder, &explanations)
        .with_context(|| format!("cannot write to {}", folder.display()))?;
    write_page(&folder, &loaded);
    print_result(&render(&explanations, args.format, for_standard_output()))?;
    missing.iter().for_each(|what| eprint_status(what));
    eprint_status(&format!("results: {}", folder.display()));
    Ok(exit_code(!missing.is_empty()))
}

/// A program that is explained.
struct Subject<'a> {
    args: &'a ExplainArgs,
    tasks: &'a [u64],
    plans: &'a [Plan],
    prepared: &'a Prepared,
    /// Absent for a command.
    program: Option<&'a Program<'a>>,
    /// The cap of the runs without an adapter: a JVM sizes its heap by it.
    memory_cap_bytes: Option<u64>,
    /// A folder for the files of an adapter.
    place: &'a Path,
}

enum ProbeError {
    Failure(Failure),
    /// The adapter cannot be used here.
    Missing(String),
}

impl Subject<'_> {
    /// The sheet of the program, and what is missing from it. `plain` are the runs without an adapter.
    fn explain(
        &self,
        session: &mut Session,
        (plain, mut faults): (Vec<RunParts>, Vec<String>),
        metrics: BTreeMap<String, Metric>,
    ) -> Result<(Option<Explanation>, Vec<String>), Failure> {
        let adapter = self.adapter(&plain);
        let with = adapter.as_ref().map(|(adapter, _)| *adapter);
        let mut probed_runs = Vec::new();
        if let Some(adapter) = with.filter(|_| !plain.is_empty()) {
            match self.probed(session, adapter) {
                Ok(runs) => probed_runs = runs,
                Err(ProbeError::Failure(failure)) => return Err(failure),
                Err(ProbeError::Missing(why)) => faults.push(why),
            }
        }
        let insist = self.args.adapter.is_some();
        let Some((sheet, left_out)) = explained(&plain, &probed_runs, with, insist) else {
            faults.push("no slope: fewer than two numbers of tasks were ok".to_owned());
            return Ok((None, faults));
        };
        let tasks = self.tasks;
        let more_tasks = tasks.last().zip(tasks.first()).map_or(1, |(most, least)| most - least);
        if sheet.exceeds(batches_bytes() as f64 / more_tasks as f64) {
            let bytes = units::decimal(-sheet.unexplained.bytes, 0);
            faults.push(format!("the rows exceed the slope by {bytes} B per task, more than they vary"));
        }
        let was_asked = !probed_runs.is_empty() && left_out.is_none();
        let facts = &self.prepared.facts;
        let explanation = Explanation {
            entry: facts.name.clone(),
            kind: facts.kind,
            workload: facts.workload.clone().unwrap_or_else(|| OWN_WORKLOAD.to_owned()),
            version: facts.version.clone(),
            tasks: tasks.to_vec(),
            repetitions: self.args.repetitions,
            adapter: adapter.filter(|_| was_asked).map(|(adapter, why)| (adapter.name().to_owned(), why)),
            metrics,
            sheet,
            notes: faults.iter().cloned().chain(left_out).collect(),
        };
        Ok((Some(explanation), faults))
    }

    /// The adapter for the program and why it was chosen. `None` if the program has no adapter.
    fn adapter(&self, plain: &[RunParts]) -> Option<(Adapter, String)> {
        let of_entry = self.program.and_then(|program| program.entry.explain);
        let chosen = match (self.args.adapter, of_entry) {
            (Some(adapter), _) => Some((adapter, "--adapter names it".to_owned())),
            (None, Some(adapter)) => Some((adapter, "its manifest names it".to_owned())),
            (None, None) => plain.last().and_then(|run| adapter_for(&run.mappings)),
        };
        chosen.filter(|(adapter, _)| *adapter != Adapter::None)
    }

    /// Runs the program with its adapter. These runs are neither ranked nor kept.
    fn probed(&self, session: &mut Session, adapter: Adapter) -> Result<Vec<RunParts>, ProbeError> {
        let hooks = self.place.join("hook");
        let parts = self.place.join("parts");
        let probe = AdapterHook::prepare(adapter, &hooks, &parts).map_err(ProbeError::Missing)?;
        let mut prepared = match adapter {
            Adapter::Go => self.rebuilt(session, &hooks)?,
            _ => self.prepared.clone(),
        };
        match &mut prepared.black_box {
            Some(template) => probe.add_to(&mut template.env),
            None => probe.add_to(&mut prepared.facts.env),
        }
        let name = &prepared.facts.name;
        let plans = self.plans.iter().filter(|plan| plan.entries.contains(name)).map(|plan| Plan {
            entries: vec![name.clone()],
            hold: match (plan.shape, adapter) {
                (Shape::Serve, _) => plan.hold,
                (_, Adapter::Jvm) => JVM_HOLD,
                _ => PROBE_HOLD,
            },
            ..plan.clone()
        });
        let readings = Readings::default();
        session.runner.on_reading = Some(readings.hook(Some(probe)));
        let output = OutputDir { path: self.place.join("results"), named: true };
        let resume = RunSettings { memory_cap_bytes: self.memory_cap_bytes, ..RunSettings::default() };
        let results = session.measure_all(plans.collect(), std::slice::from_ref(&prepared), &output, &resume);
        let (_, loaded) = results.map_err(ProbeError::Failure)?;
        let (runs, faults) = readings.of(&loaded.samples, name);
        match faults.into_iter().next() {
            Some(fault) => Err(ProbeError::Missing(fault)),
            None if explained(&runs, &[], None, false).is_none() => Err(ProbeError::Missing(format!(
                "fewer than two numbers of tasks were ok with the adapter `{}`: {}",
                adapter.name(),
                loaded.samples.iter().rev().find_map(|sample| sample.reason.clone()).unwrap_or_default()
            ))),
            None => Ok(runs),
        }
    }

    /// A Go program with the hook compiled in.
    fn rebuilt(&self, session: &Session, hooks: &Path) -> Result<Prepared, ProbeError> {
        let missing = |why: &str| ProbeError::Missing(why.to_owned());
        let own = || missing("a Go program of your own cannot be asked: only entries are built here");
        let Program { runtime, entry, workload } = *self.program.ok_or_else(own)?;
        let entry = with_go_hook(runtime, entry, &workload.name, hooks).map_err(ProbeError::Missing)?;
        let entry = entry.ok_or_else(|| missing("its build has no `go build`"))?;
        let with_hook = Program { runtime, entry: &entry, workload };
        let mut built = session.prepare(&[with_hook]).map_err(ProbeError::Failure)?;
        built.pop().ok_or_else(own)
    }
}
