//! Shared by the commands that measure: the lock of the machine, builds, messages before a run, and the results folder.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;

use super::args::{ReportFormat, WhenTaken};
use super::hint::Advice;
use super::open::warn_unless_held;
use super::progress::{Progress, time_left};
use super::report::{self, RunOutput};
use super::{Failure, OrUsage, emit, eprint_status, print_result, print_through, printable};
use crate::campaign::{NotReady, Prepared, prepare};
use crate::catalog::Program;
use crate::document::{command_line, quoted, shortened};
use crate::measure::{GroupRoot, Holder, Interrupt, MachineLock};
use crate::record::{self, BuildState, Campaign, Event, Loaded, Plan, Sample};
use crate::toolchain::{Attend, Cache};
use crate::units;

/// The shortest plateau, in seconds.
pub(super) const PLATEAU_S: f64 = 1.0;

/// The page in a results folder.
pub(super) const PAGE_FILE: &str = "report.html";

/// Without a bar, a waiting command repeats its message after this time.
const REPEAT_AFTER: Duration = Duration::from_secs(300);
/// The shown length of a holder's command.
const COMMAND: usize = 100;

/// What needs the machine.
pub(super) struct MachineLease<'a> {
    /// What other commands report: `with results/DIR`.
    pub what: &'a str,
    /// Why it waits for others: `two runs would disturb each other`.
    pub harm: &'a str,
    pub when_taken: WhenTaken,
}

impl MachineLease<'_> {
    /// Locks the machine. `None` if the user interrupted the wait.
    pub fn acquire(
        &self,
        progress: &Progress,
        interrupt: &Interrupt,
    ) -> Result<Option<MachineLock>, Failure> {
        if self.when_taken == WhenTaken::Ignore {
            let lock = MachineLock::unwanted();
            warn_unless_held(&lock);
            return Ok(Some(lock));
        }
        let mut refused = None;
        let (mut said, mut waited) = (None, Duration::ZERO);
        let lock = MachineLock::acquire(self.what, interrupt, |holder, so_far| {
            let who = named(holder);
            if self.when_taken == WhenTaken::Fail {
                refused = Some(who);
                return false;
            }
            waited = so_far;
            let again = !progress.has_bar() && said.is_some_and(|at| so_far >= at + REPEAT_AFTER);
            if said.is_none() {
                progress.say(&format!("waiting: {who} is measuring on this machine ({})", self.harm));
            } else if again {
                progress.say(&format!("waiting for {}: {who}", time_left(so_far.as_secs_f64())));
            }
            if said.is_none() || again {
                said = Some(so_far);
            }
            progress.show_if_bar(&format!(
                "waiting for {} (Ctrl-C: stop; --no-lock: measure anyway)",
                time_left(so_far.as_secs_f64())
            ));
            true
        });
        if let Some(who) = refused {
            let error = anyhow!("{who} is measuring on this machine ({})", self.harm);
            return Err(error.context(Advice(
                "omit --no-wait to wait; --no-lock measures anyway, and marks the samples".into(),
            )))
            .or_usage();
        }
        lock.iter().for_each(warn_unless_held);
        if lock.is_some() && waited >= Duration::from_secs(1) {
            progress.say(&format!("waited {}", time_left(waited.as_secs_f64())));
        }
        Ok(lock)
    }
}

/// `taskscale 708 with results/DIR (taskscale @all), for 12 min`.
fn named(holder: &Holder) -> String {
    let name = match (holder.pid, &holder.does) {
        (Some(pid), Some(does)) => format!("taskscale {pid} {does}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "another taskscale".to_owned(),
    };
    let name = match holder.command.as_slice() {
        [] => name,
        command => format!("{name} ({})", shortened(&command_line(command), COMMAND)),
    };
    match holder.since.and_then(|since| since.elapsed().ok()) {
        Some(so_far) => format!("{name}, for {}", time_left(so_far.as_secs_f64())),
        None => name,
    }
}

/// Locks the machine: two runs would disturb each other. `None` if the user interrupted the wait.
pub(super) fn lock_machine(
    folder: &Path,
    when_taken: WhenTaken,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Option<MachineLock>, Failure> {
    let what = format!("with {}", folder.display());
    MachineLease { what: &what, harm: "two runs would disturb each other", when_taken }
        .acquire(progress, interrupt)
}

/// Locks the machine, and finds a place for cgroups. `None` if the user interrupted the wait.
pub(super) fn acquire_machine(
    folder: &Path,
    when_taken: WhenTaken,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Option<(MachineLock, GroupRoot)>, Failure> {
    let Some(lock) = lock_machine(folder, when_taken, progress, interrupt)? else { return Ok(None) };
    // Before any child exists: one in our cgroup would keep us from leaving it.
    let home = GroupRoot::find();
    for why in home.why_none().iter().filter(|_| home.source() == record::MemorySource::Proc) {
        progress.say(&format!("no cgroup: {why}"));
    }
    if home.source() == record::MemorySource::Proc {
        progress.say(
            "memory from /proc: kernel memory and peaks are incomplete; `taskscale doctor` shows how to get a cgroup",
        );
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
                    progress.say(&format!("left out {}: build failed: {why}", entry.label()));
                }
            }
        }
    }
    prepared
}

/// Emits what is about to be measured.
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

/// The result of an entry's build.
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

/// What is left after a failure.
pub(super) fn what_is_kept(folder: &Path) -> String {
    match record::load(folder) {
        Ok(Loaded { samples, .. }) => format!(
            "stopped; {} kept: the same command with `-o {}` resumes",
            units::counted(samples.len(), "sample"),
            quoted(&folder.display().to_string())
        ),
        Err(_) => format!("stopped; {} is gone or unreadable", folder.display()),
    }
}

/// Names the results folder: below a table, else on standard error.
pub(super) fn name_folder(folder: &Path, below_table: bool) -> Result<(), Failure> {
    let shown = folder.display();
    if below_table {
        return print_result(&printable(&format!("\nResults: {shown}\n")));
    }
    eprint_status(&format!("results: {shown}"));
    Ok(())
}

/// The end of an interrupted run.
pub(super) fn interrupted(folder: &Path, interrupt: &Interrupt) -> ExitCode {
    let shown = quoted(&folder.display().to_string());
    eprint_status(&format!("interrupted; results are kept: the same command with `-o {shown}` resumes"));
    ended_by_signal(interrupt)
}

/// Writes the page into the results folder. A failure is only a warning, as the result is printed and the samples are
/// kept.
pub(super) fn write_page(folder: &Path, campaign: &Campaign, samples: &[Sample]) {
    if samples.is_empty() {
        return;
    }
    let path = folder.join(PAGE_FILE);
    let page = report::page(campaign, samples);
    match record::write_whole(&path, |out| crate::report::write_html(page, out)) {
        Ok(()) => eprint_status(&format!("report: {}", path.display())),
        Err(error) => eprint_status(&format!(
            "warning: no page ({error}); to write it elsewhere: `taskscale report {} --format html -o FILE`",
            quoted(&folder.display().to_string())
        )),
    }
}

/// The exit code that shells give to a program ended by a signal.
pub(super) fn ended_by_signal(interrupt: &Interrupt) -> ExitCode {
    ExitCode::from(128 + interrupt.signal().unwrap_or(libc::SIGINT) as u8)
}

/// Prints the results. The samples are kept in any case.
pub(super) fn show(
    folder: &Path,
    campaign: &Campaign,
    samples: &[Sample],
    format: ReportFormat,
) -> Result<(), Failure> {
    match report::of_run(folder, campaign, samples, format) {
        Ok(RunOutput::Text(text)) => print_result(&text),
        Ok(RunOutput::Page(page)) => print_through(|out| crate::report::write_html(*page, out)),
        Err(error) => {
            eprint_status(&format!("warning: nothing to print: {error}"));
            Ok(())
        }
    }
}
