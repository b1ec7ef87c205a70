//! What commands that measure have in common: the machine for themselves, entries made ready, what is said before and
//! what is left behind.

use std::path::Path;
use std::process::ExitCode;
use std::time::Duration;

use anyhow::anyhow;

use super::args::{Format, WhenTaken};
use super::hint::Advice;
use super::open::warn_unless_held;
use super::progress::{Progress, time_left};
use super::report::{self, Shown};
use super::{Failure, OrUsage, emit, print_result, print_through, printable, say_aside};
use crate::campaign::{NotReady, Prepared, prepare};
use crate::catalog::Program;
use crate::measure::{GroupRoot, Holder, Interrupt, MachineLock};
use crate::record::{self, BuildState, Campaign, Event, Loaded, Plan, Sample};
use crate::sheet::{command_line, quoted, shortened};
use crate::toolchain::{Attend, Cache};
use crate::units;

/// How long all tasks are alive together at least, in seconds.
pub(super) const PLATEAU_S: f64 = 1.0;

/// The page, in a campaign's folder.
pub(super) const PAGE_FILE: &str = "report.html";

/// Where every line stays, one that waits says so again after so long.
const SAY_AGAIN: Duration = Duration::from_secs(300);
/// Characters of a holder's command that are shown.
const COMMAND: usize = 100;

/// What is done with the machine, and who is asked to wait for it.
pub(super) struct Turn<'a> {
    /// What others are told that we do: `with results/DIR`.
    pub what: &'a str,
    /// Why nobody does it beside another: `two would measure each other`.
    pub harm: &'a str,
    pub when_taken: WhenTaken,
}

impl Turn<'_> {
    /// The machine for ourselves. `None` where the user interrupted the wait.
    pub fn wait(&self, progress: &Progress, interrupt: &Interrupt) -> Result<Option<MachineLock>, Failure> {
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
            let again = !progress.has_bar() && said.is_some_and(|at| so_far >= at + SAY_AGAIN);
            if said.is_none() {
                progress.say(&format!("waiting: {who} is measuring on this machine, and {}", self.harm));
            } else if again {
                progress.say(&format!("waiting for {}: {who}", time_left(so_far.as_secs_f64())));
            }
            if said.is_none() || again {
                said = Some(so_far);
            }
            progress.show_if_bar(&format!(
                "waiting for {}; Ctrl-C ends, --no-lock measures all the same",
                time_left(so_far.as_secs_f64())
            ));
            true
        });
        if let Some(who) = refused {
            let error = anyhow!("{who} is measuring on this machine, and {}", self.harm);
            return Err(error.context(Advice(
                "without --no-wait taskscale waits; --no-lock measures beside it and marks the samples"
                    .into(),
            )))
            .or_usage();
        }
        lock.iter().for_each(warn_unless_held);
        if lock.is_some() && waited >= Duration::from_secs(1) {
            progress.say(&format!("waited {} for it", time_left(waited.as_secs_f64())));
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

/// The machine for ourselves: two campaigns would measure each other. `None` where the user would not wait.
pub(super) fn lock_machine(
    folder: &Path,
    when_taken: WhenTaken,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Option<MachineLock>, Failure> {
    let what = format!("with {}", folder.display());
    Turn { what: &what, harm: "two would measure each other", when_taken }.wait(progress, interrupt)
}

/// The machine for ourselves, and a place for control groups. `None` where the user would not wait.
pub(super) fn settle(
    folder: &Path,
    when_taken: WhenTaken,
    progress: &Progress,
    interrupt: &Interrupt,
) -> Result<Option<(MachineLock, GroupRoot)>, Failure> {
    let Some(lock) = lock_machine(folder, when_taken, progress, interrupt)? else { return Ok(None) };
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
            "stopped; {} kept in {}, and the same command with `-o {}` goes on",
            units::counted(samples.len(), "sample"),
            folder.display(),
            quoted(&folder.display().to_string())
        ),
        Err(_) => format!("stopped; {} and its samples are gone or cannot be read", folder.display()),
    }
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
    let shown = quoted(&folder.display().to_string());
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
    let page = report::page(campaign, samples);
    match record::write_whole(&path, |out| crate::report::write_html(page, out)) {
        Ok(()) => say_aside(&format!("report: {}", path.display())),
        Err(error) => say_aside(&format!(
            "warning: no report: {error}; `taskscale report {} --format html -o FILE` makes one elsewhere",
            quoted(&folder.display().to_string())
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
    match report::of_run(folder, campaign, samples, format) {
        Ok(Shown::Text(text)) => print_result(&text),
        Ok(Shown::Page(page)) => print_through(|out| crate::report::write_html(page, out)),
        Err(error) => {
            say_aside(&format!("warning: nothing to print: {error}"));
            Ok(())
        }
    }
}
