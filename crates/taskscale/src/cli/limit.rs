//! `taskscale limit`: the most tasks in a memory limit, the least memory for N tasks, or the highest message
//! rate.

use std::collections::BTreeMap;

use anyhow::{Context, Result, anyhow, bail, ensure};

use super::args::{Global, LimitArgs};
use super::catalog_dir::open_catalog_with;
use super::failure::{CliResult, Failure, OrUsage, catch_signals, exit_code};
use super::output::{emit, for_standard_output, mode, print_result};
use super::output_dir::{FolderPurpose, OutputDir};
use super::progress::Progress;
use super::session::{Session, stopped};
use super::workload_args;
use crate::campaign::{self, drive};
use crate::catalog::{Shape, Workload};
use crate::document::Format;
use crate::limit::{
    self, Answer, BySearch, ClassifiedRun, Find, LimitError, LimitReport, NextRun, Outcome, Purpose,
    SEARCH_SPEC_SCHEMA, SearchSpec, ShownRun,
};
use crate::metrics::LATENCY_P99;
use crate::record::{self, Campaign, Event, Loaded, MemorySource, Store};
use crate::units;

/// No runtime runs in less, and the kernel needs a few pages to kill a process.
const MIN_MEMORY_BYTES: u64 = 1 << 20;

/// Default precision, and default maximum of runs.
const EFFORT: (&str, u32) = ("2%", 16);
/// The same for rates, which vary more from run to run and start farther from the answer.
const RATE_EFFORT: (&str, u32) = ("5%", 24);
/// Maximum of `--p99`: the length of an open loop. Only an overloaded server is slower.
const LONGEST_P99_US: u64 = 3_000_000;

fn find(args: &LimitArgs) -> Result<Find> {
    if let Some(size) = &args.memory {
        let memory_bytes = units::parse_bytes(size).context("--memory")?;
        let size = units::bytes(memory_bytes);
        ensure!(
            memory_bytes >= MIN_MEMORY_BYTES,
            "--memory: {size} is too little for any program; give 1MiB or more"
        );
        return Ok(Find::MostTasks { memory_bytes });
    }
    // clap requires one of them.
    let tasks = units::parse_count(args.tasks.as_deref().unwrap_or_default()).context("-n")?;
    if !args.rate {
        return Ok(Find::LeastMemory { tasks });
    }
    let p99 = units::parse_duration(&args.p99).context("--p99")?;
    let p99_us = u64::try_from(p99.as_micros()).unwrap_or(u64::MAX);
    ensure!((1..=LONGEST_P99_US).contains(&p99_us), "--p99: must be 1us to 3s (messages are sent for 3 s)");
    Ok(Find::HighestRate { tasks, p99_us })
}

/// The validated specification, without what depends on the catalog.
fn validate(args: &LimitArgs) -> Result<SearchSpec> {
    let mut env = BTreeMap::new();
    for variable in &args.env {
        let pair = variable.split_once('=').filter(|(name, _)| !name.is_empty());
        let (name, value) = pair.with_context(|| format!("--env: {variable:?} is not NAME=VALUE"))?;
        limit::fill_in(value, 0).map_err(|why| anyhow!("--env: {why}"))?;
        env.insert(name.to_owned(), value.to_owned());
    }
    let slowdown = args.slowdown;
    ensure!((1.0..=1000.0).contains(&slowdown), "--slowdown: {slowdown} is not between 1 and 1000");
    let room_bytes =
        campaign::memory_cap_bytes().context("available memory is unknown (/proc/meminfo not found)")?;
    let (usual_precision, usual_runs) = if args.rate { RATE_EFFORT } else { EFFORT };
    let precision = units::parse_share(args.precision.as_deref().unwrap_or(usual_precision));
    let precision = precision.context("--precision")?;
    ensure!((0.0001..=0.5).contains(&precision), "--precision: must be 0.01% to 50%");
    Ok(SearchSpec {
        schema: SEARCH_SPEC_SCHEMA,
        find: find(args)?,
        least_tasks: 1,
        rates: None,
        slowdown,
        // A multiple of 64 KiB, like every memory limit of a search.
        room_bytes: room_bytes & !0xffff,
        time_cap_s: units::parse_duration(&args.timeout).context("--timeout")?.as_secs_f64(),
        env,
        entry_env: BTreeMap::new(),
        precision,
        repetitions: args.repetitions,
        most_runs: args.most_runs.unwrap_or(usual_runs),
    })
}

pub fn run(args: &LimitArgs, global: &Global) -> CliResult {
    let mut search_spec = validate(args).or_usage()?;
    let (catalog, words) = open_catalog_with(global, &args.entries).or_usage()?;
    let selection = workload_args::selected(&catalog, &words, args.workload.as_slice()).or_usage()?;
    let workloads = selection.workloads();
    let [workload] = workloads.as_slice() else {
        return Err(Failure::usage("-w: `limit` takes one workload"));
    };
    let given = workload_args::params(&args.params).or_usage()?;
    workload_args::refuse_unknown_params(&given, &workloads).or_usage()?;
    let params = workload_args::params_of(workload, &given).or_usage()?;
    search_spec.least_tasks =
        limit::least_tasks(workload, &params, search_spec.find).map_err(Failure::usage)?;
    search_spec.rates = rates(workload, &given, search_spec.find).or_usage()?;
    search_spec.entry_env = limit::entry_env(&selection.entries()).map_err(Failure::usage)?;
    let output = OutputDir::checked(args.output.as_deref(), FolderPurpose::Search).or_usage()?;

    let interrupt = catch_signals()?;
    let mut session = Session::begin(&output.path, global, &interrupt)?;
    let is_rate = matches!(search_spec.find, Find::HighestRate { .. });
    if !is_rate {
        // taskscale would notice a limit late, and runtimes would not see it.
        let home = &session.runner.home;
        if home.source() == MemorySource::Proc {
            return Err(LimitError::NoGroup { why: home.why_none().join("; ") }).or_usage();
        }
        // Each run reads its files again, as in a new container.
        session.runner.cold = true;
    }
    keep_room(&mut search_spec, &output).or_usage()?;

    workload_args::eprint_lacking(&selection);
    let prepared = session.prepare(&selection.programs)?;
    let plan = limit::plan(workload, params, search_spec.find, &prepared);
    // The seed has no effect: nothing is random.
    let now = campaign::describe(vec![plan], Some(0), session.runner.home.source(), &prepared);
    let (mut store, loaded) = open(&output, now, &search_spec, &session)?;
    let Loaded { campaign, mut samples, .. } = loaded;
    let folder = store.folder().to_owned();
    let mut watcher =
        Watcher { progress: &session.progress, search_spec: &search_spec, launched: String::new() };
    let mut strategy = BySearch::new(&campaign.plan, &search_spec, &prepared, &mut watcher);
    let end = drive(&mut strategy, &campaign, &mut session.runner, &mut store, &mut samples);
    session.progress.finish();

    let report = LimitReport::build(&campaign, &search_spec, &samples);
    if !samples.is_empty() {
        print_result(&limit::render(&report, args.format, for_standard_output()))?;
    }
    let end = end.map_err(|error| stopped(error, &folder))?;
    session.conclude(&folder, end, args.format == Format::Table && !samples.is_empty())?;
    Ok(exit_code(report.is_incomplete()))
}

/// The range of rates of the clients, for --rate.
fn rates(workload: &Workload, given: &[(String, String)], find: Find) -> Result<Option<(u64, u64)>> {
    let Find::HighestRate { .. } = find else { return Ok(None) };
    let parameter = workload.parameters.get(limit::RATE).filter(|_| workload.shape == Shape::Serve);
    let no_server = || LimitError::NoServer { workload: workload.name.clone() };
    let parameter = parameter.ok_or_else(no_server).context("--rate")?;
    ensure!(given.iter().all(|(name, _)| name != limit::RATE), "--rate and -p rate=… exclude each other");
    Ok(Some((parameter.least, parameter.most)))
}

/// Keeps the memory of unlimited runs when a search resumes, as it identifies them. Refuses a `--memory` above
/// it.
fn keep_room(search_spec: &mut SearchSpec, output: &OutputDir) -> Result<()> {
    if output.named && limit::holds_search(&output.path) {
        let before = limit::load_search_spec(&output.path)?;
        before.check_same(search_spec, &output.path)?;
        search_spec.room_bytes = before.room_bytes;
    }
    if let Find::MostTasks { memory_bytes } = search_spec.find
        && memory_bytes > search_spec.room_bytes
    {
        let (asked, room) = (units::bytes(memory_bytes), units::bytes(search_spec.room_bytes));
        bail!("--memory: {asked} is more than a run may take here: {room} (80% of what is available)");
    }
    Ok(())
}

/// Opens a new search, or the one in the folder.
fn open(
    output: &OutputDir,
    now: Campaign,
    search_spec: &SearchSpec,
    session: &Session,
) -> CliResult<(Store, Loaded)> {
    if !output.holds_campaign() {
        let store = output.claim().or_usage()?;
        // The specification first: without it the folder would look like results of `run`.
        limit::store_search_spec(store.folder(), search_spec).or_usage()?;
        store.write_campaign(&now).or_usage()?;
        return Ok((store, Loaded { campaign: now, samples: Vec::new(), rejected: Vec::new() }));
    }
    let loaded = record::load(&output.path).or_usage()?;
    loaded.campaign.check_same(&loaded.samples, &now, &output.path).or_usage()?;
    let (store, loaded) = campaign::reopen(&output.path, now.entries).or_usage()?;
    session.report_resumed(&output.path, &loaded);
    // Not before `reopen`, which locks the folder.
    limit::store_search_spec(&output.path, search_spec)?;
    Ok((store, loaded))
}

/// Reports the progress of a search.
struct Watcher<'a> {
    progress: &'a Progress,
    search_spec: &'a SearchSpec,
    launched: String,
}

impl limit::SearchObserver for Watcher<'_> {
    fn warm_up(&mut self, entry: &str) {
        emit(Event::WarmUp { entry: entry.to_owned() });
        self.progress.show(&format!("warming up {entry}"));
    }

    fn run_begins(&mut self, entry: &str, next_run: &NextRun, hold_s: f64, position: usize) {
        let (find, cap_bytes) = (&self.search_spec.find, next_run.trial_point.cap_bytes);
        let value = limit::sought(find, next_run.trial_point);
        // What distinguishes a run from the others of its entry.
        let words = match find {
            Find::MostTasks { memory_bytes } if *memory_bytes != cap_bytes => {
                format!("{value} in unlimited memory")
            }
            Find::LeastMemory { .. } if cap_bytes == self.search_spec.room_bytes => {
                "unlimited memory".to_owned()
            }
            _ => value,
        };
        let what = match next_run.purpose {
            Purpose::Pilot | Purpose::Search => "",
            Purpose::Confirm => ", confirming",
            Purpose::Control => ", control (is memory the cause?)",
            Purpose::Curve => ", curve",
        };
        let again = if next_run.again { ", again with a longer wait" } else { "" };
        self.launched = format!("[{position}] {entry}: {words}{what}{again}");
        self.progress.show_if_bar(&format!("{}, {hold_s} s", self.launched));
    }

    fn run_ended(&mut self, seen: &ClassifiedRun) {
        let plateau = seen.sample.memory.plateau.as_ref();
        let figure = match self.search_spec.find {
            Find::HighestRate { .. } => {
                LATENCY_P99.read(seen.sample).map(|us| format!("p99 {}", units::milliseconds(us)))
            }
            _ => plateau.map(|plateau| units::bytes(plateau.footprint_bytes)),
        };
        let end = match (&seen.outcome, figure) {
            (Outcome::Passes, Some(figure)) => format!("passed ({figure})"),
            (Outcome::Passes, None) => "passed".to_owned(),
            (Outcome::Fails(_, why), _) => format!("failed: {why}"),
            (Outcome::Inconclusive(_, why), _) => format!("inconclusive: {why}"),
            (Outcome::Unsettled, _) => "the wait was too short".to_owned(),
        };
        emit(Event::RunEnded { sample: Box::new(seen.sample.clone()) });
        self.progress.print_message(&format!("{}: {end}", self.launched));
    }

    fn answered(&mut self, answer: &Answer) {
        let text = limit::sentence(answer, &self.search_spec.find);
        if !mode().json {
            return self.progress.print_message(&text);
        }
        let of = |run: &Option<ShownRun>| run.as_ref().map(|run| run.trial_point);
        let (fails, sometimes) = (of(&answer.fails), of(&answer.sometimes));
        emit(Event::Answer {
            entry: answer.entry.clone(),
            state: answer.state.name().to_owned(),
            tasks: answer.tasks,
            memory_bytes: answer.memory_bytes,
            confirming_runs: answer.tried.map_or(0, |tried| tried.runs as u64),
            confirming_held: answer.tried.map_or(0, |tried| tried.held as u64),
            fails_tasks: fails.map(|run| run.tasks),
            fails_memory_bytes: fails.map(|run| run.cap_bytes),
            sometimes_tasks: sometimes.map(|run| run.tasks),
            sometimes_memory_bytes: sometimes.map(|run| run.cap_bytes),
            rate_per_s: answer.rate_per_s,
            fails_rate_per_s: fails.and_then(|run| run.rate_per_s),
            sometimes_rate_per_s: sometimes.and_then(|run| run.rate_per_s),
            text,
        });
    }
}
