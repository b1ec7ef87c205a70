//! `taskscale fleet`.

use std::fs;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::time::Duration;

use anyhow::Context;
use clap::Parser;

use super::args::{Args, Command, FleetArgs, FleetCommand, Global};
use super::catalog_dir::find_catalog;
use super::failure::{
    CliResult, Failure, OrUsage, SUCCESS, USAGE, catch_signals, check_interrupt, exit_code, succeed_with,
};
use super::output::{eprint_status, for_standard_output, print_result};
use super::pages::page_of;
use super::run;
use crate::catalog::VersionRequest;
use crate::document::json;
use crate::fleet::{
    self, Fleet, FleetError, FleetPlan, NodeContext, Scripts, Snapshot, Submission, Target, Watch,
    WorkOutcome, slurm,
};
use crate::record::{self, Timestamp};
use crate::report::{Format, write_html};
use crate::units;

/// How often the queue and the folders are read.
const POLL_INTERVAL: Duration = Duration::from_secs(5);
/// A page of more machines is unreadable.
const MAX_ON_A_PAGE: usize = 8;

pub fn run(args: &FleetArgs, global: &Global) -> CliResult {
    match (&args.step, &args.plan) {
        (None, Some(plan)) => begin(plan, args.dry_run, global),
        (Some(FleetCommand::Status { folder, once }), _) => {
            status(&open(folder).or_usage()?, *once, global.json)
        }
        (Some(FleetCommand::Resume { folder }), _) => resume(&open(folder).or_usage()?),
        (Some(FleetCommand::Cancel { folder }), _) => cancel(&open(folder).or_usage()?),
        (Some(FleetCommand::Gather { folder, format }), _) => collect(&open(folder).or_usage()?, *format),
        (Some(FleetCommand::Work { folder, machine, more }), _) => work(folder, machine, more),
        (None, None) => Err(Failure::usage("no plan given")),
    }
}

/// Opens a fleet by its folder or its plan.
fn open(path: &Path) -> Result<Fleet, FleetError> {
    if path.is_file() { Fleet::open(&read(path)?.1.folder) } else { Fleet::open(path) }
}

/// A plan's text, and the plan.
fn read(path: &Path) -> Result<(String, FleetPlan), FleetError> {
    let unreadable = |error| FleetError::Io { what: "read", path: path.to_owned(), error };
    let text = fs::read_to_string(path).map_err(unreadable)?;
    let whole = std::path::absolute(path).map_err(unreadable)?;
    let plan = FleetPlan::parse(&text, path, whole.parent().unwrap_or(Path::new("/")))?;
    Ok((text, plan))
}

fn begin(path: &Path, dry_run: bool, global: &Global) -> CliResult {
    let (text, plan) = read(path).or_usage()?;
    check_arguments(path, &plan, global)?;
    match Fleet::open(&plan.folder) {
        Ok(before) => {
            if before.plan != text {
                let (folder, what) = (plan.folder, first_difference(&before.plan, &text));
                return Err(FleetError::AnotherPlan { folder, what }).or_usage();
            }
            if !dry_run {
                return resume(&before);
            }
            before.check_trust().or_usage()?;
        }
        Err(FleetError::NoFleet(_)) => {}
        // A fleet that cannot be read may be running.
        Err(error) => return Err(error).or_usage(),
    }
    let catalogs = find_catalog(global).or_usage()?.folders;
    let warn = |text: &str| eprint_status(&format!("warning: {text}"));
    let prepared = fleet::prepare(&plan, &text, catalogs, dry_run, &warn).or_usage()?;
    if dry_run {
        return dry(&prepared.fleet, &prepared.scripts);
    }
    prepared.install().or_usage()?;
    let (fleet, submitted) = prepared.submit()?;
    print_submissions(&fleet, &submitted)
}

/// Refuses arguments that `run` would refuse, before anything is submitted.
fn check_arguments(path: &Path, plan: &FleetPlan, global: &Global) -> CliResult<()> {
    let words = ["taskscale", "run"].into_iter().map(str::to_owned).chain(plan.arguments.iter().cloned());
    let args = Args::try_parse_from(words).map_err(|error| {
        let message = error.to_string();
        let first = message.lines().next().unwrap_or_default().trim_start_matches("error: ").to_owned();
        Failure::usage(format!("{}: {first}", path.display()))
    })?;
    let Some(Command::Run(mut args)) = args.command else { return Ok(()) };
    // Only the nodes know their CPUs and versions.
    args.cpus.clear();
    for word in &mut args.entries {
        if let Some(request) = VersionRequest::parse(word).map_err(Failure::usage)? {
            *word = request.entries;
        }
    }
    run::check(&args, global).with_context(|| path.display().to_string()).or_usage()
}

fn first_difference(there: &str, here: &str) -> String {
    let mut lines = (1..).zip(there.lines().zip(here.lines()));
    match lines.find(|(_, (there, here))| there != here) {
        Some((number, (there, here))) => {
            format!("line {number} is `{}`, not `{}`", there.trim(), here.trim())
        }
        None => format!("it has {} lines, not {}", there.lines().count(), here.lines().count()),
    }
}

fn dry(fleet: &Fleet, scripts: &Scripts) -> CliResult {
    let folder = fleet.folder.join("jobs");
    let all = scripts.build.iter().chain(&scripts.measure).chain([&scripts.gather]);
    let texts: Vec<String> =
        all.map(|script| format!("# {}\n{}", folder.join(&script.name).display(), script.text)).collect();
    print_result(&texts.join("\n"))?;
    let machines = units::counted(fleet.targets.len(), "machine");
    let jobs = units::counted(scripts.build.len() + scripts.measure.len() + 1, "job script");
    eprint_status(&format!("dry run: {machines} in {jobs}; nothing was submitted"));
    Ok(SUCCESS)
}

fn print_submissions(fleet: &Fleet, submitted: &[Submission]) -> CliResult {
    let machines: usize = submitted.iter().map(|one| one.targets.len()).sum();
    if submitted.is_empty() {
        eprint_status("nothing to submit (every machine is complete or in a job)");
    }
    let mut text: String = submitted.iter().map(|one| format!("job {}  {}\n", one.job, one.script)).collect();
    let (folder, machines) = (fleet.folder.display(), units::counted(machines, "machine"));
    text.push_str(&format!("{machines} submitted. Progress: taskscale fleet status {folder}\n"));
    succeed_with(&text)
}

fn resume(fleet: &Fleet) -> CliResult {
    fleet.check_trust().or_usage()?;
    let path = fleet.folder.join("fleet.json");
    let plan = FleetPlan::parse(&fleet.plan, &path, &fleet.folder).or_usage()?;
    // Only maps machines to scripts. The texts are in jobs/, as submitted or edited since.
    let scripts = fleet::scripts(&plan, fleet, &vec![Default::default(); plan.machines.len()]);
    let released = fleet::release(fleet)?;
    if !released.is_empty() {
        eprint_status(&format!("released after a failed start: job {}", released.join(", ")));
    }
    let submitted = fleet::submit(fleet, &scripts, false)?;
    print_submissions(fleet, &submitted)
}

fn cancel(fleet: &Fleet) -> CliResult {
    let numbers = fleet::numbers(&fleet.submissions()?);
    let queue = slurm::queue(&numbers)?;
    // The queue lists a job, or an element of it as `JOB_N`.
    let is_of = |id: &str, number: &str| {
        id == number || id.strip_prefix(number).is_some_and(|rest| rest.starts_with('_'))
    };
    let is_active = |number: &String| queue.iter().any(|(id, job)| is_of(id, number) && !job.has_ended());
    let active: Vec<String> = numbers.into_iter().filter(is_active).collect();
    if active.is_empty() {
        eprint_status("nothing to cancel (no job is in the queue)");
        return Ok(SUCCESS);
    }
    slurm::cancel(&active)?;
    let (folder, jobs) = (fleet.folder.display(), units::counted(active.len(), "job"));
    succeed_with(&format!("{jobs} canceled. Results are kept; taskscale fleet resume {folder} resumes\n"))
}

/// Exit status 1 if a machine needs `resume` to be measured.
fn ended(glances: &[Snapshot]) -> u8 {
    let well = |snapshot: &Snapshot| snapshot.published.is_some() || snapshot.is_active();
    exit_code(!glances.iter().all(well))
}

fn status(fleet: &Fleet, once: bool, json: bool) -> CliResult {
    let mut watch = Watch::default();
    let live = !once && std::io::stdout().is_terminal();
    let interrupt = catch_signals()?;
    let mut lines = 0;
    loop {
        let glances = watch.look(fleet)?;
        if json {
            print_result(&json::pretty(&fleet::json(fleet, &glances, Timestamp::now())))?;
            return Ok(ended(&glances));
        }
        let text = fleet::document(fleet, &glances, Timestamp::now()).terminal(for_standard_output());
        if lines > 0 {
            // Overwrites the last table.
            print_result(&format!("\x1b[{lines}A\x1b[J"))?;
        }
        print_result(&text)?;
        std::io::stdout().flush()?;
        lines = text.matches('\n').count();
        let active = glances.iter().any(Snapshot::is_active);
        if !live || !active {
            return Ok(ended(&glances));
        }
        let waited = std::time::Instant::now();
        while waited.elapsed() < POLL_INTERVAL {
            check_interrupt(&interrupt)?;
            std::thread::sleep(Duration::from_millis(100));
        }
    }
}

fn collect(fleet: &Fleet, format: Format) -> CliResult {
    let collected = fleet::collect(fleet)?;
    if collected.machines.is_empty() {
        return Err(Failure::usage(format!("no complete machine in {}", fleet.folder.display())));
    }
    let document = collected.document(fleet);
    let path = fleet.folder.join("gathered.md");
    let markdown = document.markdown();
    record::write_whole(&path, |out| out.write_all(markdown.as_bytes()))?;
    print_result(&match format {
        Format::Markdown => markdown,
        _ => document.terminal(for_standard_output()),
    })?;
    eprint_status(&format!("summary: {}", path.display()));
    if collected.machines.len() <= MAX_ON_A_PAGE {
        let campaign = |(target, published): &(Target, fleet::PublishedTarget)| {
            let folder = fleet.verify(target, published)?;
            Ok::<_, anyhow::Error>((target.name.clone(), record::load(&folder)?))
        };
        let campaigns = collected.machines.iter().map(campaign).collect::<Result<Vec<_>, _>>()?;
        let path = fleet.folder.join("report.html");
        record::write_whole(&path, |out| write_html(page_of(campaigns), out))?;
        eprint_status(&format!("report: {}", path.display()));
    }
    Ok(exit_code(!collected.missing.is_empty()))
}

fn work(folder: &Path, machine: &str, more: &[String]) -> CliResult {
    let node = std::env::var("SLURMD_NODENAME")
        .unwrap_or_else(|_| rustix::system::uname().nodename().to_string_lossy().into_owned());
    let fleet = match Fleet::open(folder) {
        Err(FleetError::NoFleet(folder)) => return Err(FleetError::NotShared { folder, node }).or_usage(),
        fleet => fleet.or_usage()?,
    };
    let target = fleet.target(machine).or_usage()?;
    if target.node.as_ref().is_some_and(|own| *own != node) {
        eprint_status(&format!("warning: {machine} belongs to another node than {node}, by the plan"));
    }
    let variable = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
    let element = variable("SLURM_ARRAY_JOB_ID").zip(variable("SLURM_ARRAY_TASK_ID"));
    let job = element.map(|(job, nth)| format!("{job}_{nth}")).or_else(|| variable("SLURM_JOB_ID"));
    let job = job.unwrap_or_else(|| format!("by hand ({})", std::process::id()));
    let program = std::env::current_exe()?;
    let interrupt = catch_signals()?;
    eprint_status(&format!("{machine}: job {job} on {node}"));
    let context = NodeContext { job, node, program, arguments: more.to_vec() };
    let complete = match fleet::work(&fleet, target, &context, &|| interrupt.signal().is_some())? {
        WorkOutcome::Published(own) => {
            format!("is complete: {} of {} ok", own.good_cells, units::counted(own.cells, "case"))
        }
        WorkOutcome::Nothing(other) => {
            format!("was already complete (job {} on {})", other.job, other.node)
        }
        WorkOutcome::Interrupted => {
            eprint_status("stopped: results are kept; `taskscale fleet resume` resumes");
            return Err(Failure::interrupted(&interrupt));
        }
        WorkOutcome::Refused => return Ok(USAGE),
    };
    eprint_status(&format!("{machine} {complete}"));
    Ok(SUCCESS)
}
