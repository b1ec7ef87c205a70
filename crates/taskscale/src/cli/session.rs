//! Shared by commands that measure: the machine lock, builds, and results from the first run to the last line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::anyhow;

use super::args::{Global, ReportFormat};
use super::failure::{CliResult, Failure, OrUsage, advised, check_interrupt};
use super::follow_up_hints::eprint_follow_up_hints;
use super::output::{emit, eprint_status, print_result, printable};
use super::output_dir::{OutputDir, warn_of_rejected};
use super::pages::{show, write_page};
use super::progress::{Progress, time_left};
use crate::campaign::{
    self, ByPlan, CampaignError, NotReady, Prepared, RunSettings, RunsEnd, drive, prepare,
};
use crate::catalog::Program;
use crate::document::{command_line, quoted, shortened};
use crate::record::{self, BuildState, EntryFacts, Event, Hold, Loaded, MemorySource, Plan, Sample};
use crate::toolchain::{Attend, Cache};
use crate::units;
use taskscale_measure::{GroupRoot, Holder, Interrupt, LocalRunner, MachineLock, available_memory_bytes};

/// The default wait: long enough for a plateau of 1 s.
pub(super) const USUAL_HOLD: Hold = Hold::Chosen { plateau_s: 1.0 };

/// A waiting command repeats its message after this time.
const REPEAT_AFTER: Duration = Duration::from_secs(300);
/// Maximum width of a holder's command, in columns.
const COMMAND: usize = 100;

/// The machine, locked for one command.
pub(super) struct Session<'i> {
    interrupt: &'i Interrupt,
    pub progress: Progress,
    pub runner: LocalRunner<'i>,
    _lock: MachineLock,
}

impl<'i> Session<'i> {
    /// Locks the machine for results in `folder`, and finds a place for cgroups. Reports a missing cgroup.
    pub fn begin(folder: &Path, global: &Global, interrupt: &'i Interrupt) -> CliResult<Session<'i>> {
        let what = format!("with {}", folder.display());
        let session = Session::with_lease(&what, "two runs would disturb each other", global, interrupt)?;
        let home = &session.runner.home;
        if home.source() == MemorySource::Proc {
            home.why_none()
                .iter()
                .for_each(|why| session.progress.print_message(&format!("no cgroup: {why}")));
            let lacks =
                "kernel memory and peaks are incomplete; `taskscale doctor` shows how to get a cgroup";
            session.progress.print_message(&format!("memory from /proc: {lacks}"));
        }
        Ok(session)
    }

    /// Locks the machine for another purpose, with the `what` and `harm` of [`lock_machine`].
    pub fn with_lease(what: &str, harm: &str, global: &Global, interrupt: &'i Interrupt) -> CliResult<Self> {
        let progress = Progress::new(global.quiet);
        let lock = lock_machine(what, harm, global, &progress, interrupt)?;
        // Before any child exists: a child in our cgroup would keep us from leaving it.
        let mut runner = LocalRunner::new(GroupRoot::find(), interrupt);
        runner.shared_machine = lock.why_not().is_some();
        Ok(Session { interrupt, progress, runner, _lock: lock })
    }

    /// Builds programs. Fails if none of them can run here.
    pub fn prepare(&self, programs: &[Program]) -> CliResult<Vec<Prepared>> {
        let prepared = self.prepare_any(programs)?;
        if prepared.iter().all(|entry| entry.command.is_err()) {
            self.progress.finish();
            let built = |entry: &Prepared| !matches!(entry.command, Err(NotReady::BuildFailed(_)));
            let why = match prepared.iter().any(built) {
                true => "run here (`taskscale list --missing` shows what to install)",
                false => "be built here (the reasons are above)",
            };
            return Err(Failure::usage(format!("none of these entries can {why}")));
        }
        Ok(prepared)
    }

    /// Builds programs. Reports those left out.
    pub fn prepare_any(&self, programs: &[Program]) -> CliResult<Vec<Prepared>> {
        let prepared = build_programs(programs, self.interrupt, &self.progress, 0, programs.len())?;
        for entry in &prepared {
            emit(built(entry));
            let Err(not_ready) = &entry.command else { continue };
            let failed = if matches!(not_ready, NotReady::BuildFailed(_)) { "build failed: " } else { "" };
            self.progress.print_message(&format!(
                "left out {}: {failed}{}",
                entry.label(),
                not_ready.reason()
            ));
        }
        Ok(prepared)
    }

    /// Measures plans into a folder, or resumes its results.
    pub fn measure(
        &mut self,
        plans: Vec<Plan>,
        prepared: &[Prepared],
        output: &OutputDir,
        resume: &RunSettings,
    ) -> CliResult<MeasuredResults> {
        let now = campaign::describe(plans, resume.seed, self.runner.home.source(), prepared);
        let resumes = output.holds_campaign();
        let (mut store, mut loaded, settings) = match resumes {
            true => campaign::open_kept(&output.path, now, resume),
            false => campaign::open_new(now, resume, || output.claim()),
        }
        .or_usage()?;
        let folder = store.folder().to_owned();
        if resumes {
            self.report_resumed(&folder, &loaded);
        }
        warn_of_swapping(&settings);
        let Loaded { campaign, samples, .. } = &mut loaded;
        let (plan, further_plans) = (campaign.plan.clone(), campaign.further_plans.clone());
        let (seed, runs, kept_samples) = (campaign.seed, campaign.runs(), samples.len() as u64);
        let shown = folder.display().to_string();
        emit(Event::Plan { folder: shown, plan, further_plans, seed, runs, kept_samples });
        self.progress.watch(campaign);
        let mut strategy = ByPlan::new(campaign, prepared, &settings, samples, &mut self.progress);
        let end = drive(&mut strategy, campaign, &mut self.runner, &mut store, samples);
        self.progress.finish();
        Ok(MeasuredResults { folder, loaded, end })
    }

    /// Like [`Session::measure`], but fails if measuring failed or was interrupted.
    pub fn measure_all(
        &mut self,
        plans: Vec<Plan>,
        prepared: &[Prepared],
        output: &OutputDir,
        resume: &RunSettings,
    ) -> CliResult<(PathBuf, Loaded)> {
        let MeasuredResults { folder, loaded, end } = self.measure(plans, prepared, output, resume)?;
        match end.map_err(|error| stopped(error, &folder))? {
            RunsEnd::Complete => Ok((folder, loaded)),
            RunsEnd::Interrupted => Err(Failure::interrupted(self.interrupt)),
        }
    }

    /// Reports that results are resumed, and the lines that were set aside.
    pub fn report_resumed(&self, folder: &Path, results: &Loaded) {
        warn_of_rejected(folder, &results.rejected, "set aside in samples.rejected.jsonl");
        let samples = units::counted(results.samples.len(), "sample");
        self.progress.print_message(&format!("resuming {} ({samples})", folder.display()));
    }

    /// Prints results, with `more` below a table, and writes the page. Fails if measuring failed or was interrupted.
    pub fn show(
        &self,
        results: MeasuredResults,
        format: ReportFormat,
        more: impl FnOnce(&Loaded) -> String,
    ) -> CliResult<Vec<Sample>> {
        let MeasuredResults { folder, loaded, end } = results;
        let is_empty = loaded.samples.is_empty();
        let is_table = format == ReportFormat::Table && !is_empty;
        // Also after a failure: the folder itself may have failed.
        if !is_empty {
            show(&folder, &loaded, format)?;
        }
        let end = end.map_err(|error| stopped(error, &folder))?;
        if is_table {
            print_result(&more(&loaded))?;
        }
        if !is_empty {
            write_page(&folder, &loaded);
        }
        self.conclude(&folder, end, is_table)?;
        eprint_follow_up_hints(&folder, &loaded.samples);
        Ok(loaded.samples)
    }

    /// Names the results folder, below a table or else on standard error. Fails if measuring was interrupted.
    pub fn conclude(&self, folder: &Path, end: RunsEnd, below_table: bool) -> CliResult<()> {
        let shown = folder.display();
        match below_table {
            true => print_result(&printable(&format!("\nResults: {shown}\n")))?,
            false => eprint_status(&format!("results: {shown}")),
        }
        if end == RunsEnd::Complete {
            return Ok(());
        }
        let shown = quoted(&shown.to_string());
        eprint_status(&format!("interrupted; results are kept: the same command with `-o {shown}` resumes"));
        Err(Failure::interrupted(self.interrupt))
    }
}

/// Builds programs. Progress counts them from `before` + 1 of `all`.
pub(super) fn build_programs(
    programs: &[Program],
    interrupt: &Interrupt,
    progress: &Progress,
    before: usize,
    all: usize,
) -> CliResult<Vec<Prepared>> {
    let mut position = before;
    let stop = || interrupt.signal().is_some();
    let attend = Attend { stop: &stop, waiting: &|line| progress.print_message(line) };
    let prepared = prepare(&Cache::of_user(), programs, &attend, |program| {
        position += 1;
        progress.building(program, position, all);
    });
    check_interrupt(interrupt).inspect_err(|_| progress.finish())?;
    Ok(prepared)
}

/// Locks the machine. `what` describes this command in the messages of others (`with results/DIR`), `harm` is
/// why it waits for them.
pub(super) fn lock_machine(
    what: &str,
    harm: &str,
    global: &Global,
    progress: &Progress,
    interrupt: &Interrupt,
) -> CliResult<MachineLock> {
    let mut refused = None;
    let (mut waited, mut next_message) = (Duration::ZERO, Duration::ZERO);
    let wait = |holder: &Holder, so_far: Duration| {
        let who = named(holder);
        if global.no_wait {
            refused = Some(who);
            return false;
        }
        waited = so_far;
        if so_far >= next_message {
            progress.print_message(&format!("waiting: {who} ({harm})"));
            next_message = so_far + REPEAT_AFTER;
        }
        let time = time_left(so_far.as_secs_f64());
        progress.show_if_bar(&format!("waiting for {time} (Ctrl-C: stop; --no-lock: measure anyway)"));
        true
    };
    let lock = match global.no_lock {
        true => Some(MachineLock::unwanted()),
        false => MachineLock::acquire(what, interrupt, wait),
    };
    if let Some(who) = refused {
        let advice = "omit --no-wait to wait; --no-lock measures anyway, and marks the samples";
        let error = format!("{who} ({harm})");
        return Err(Failure::Usage(advised(error, advice)));
    }
    let lock = lock.ok_or_else(|| Failure::interrupted(interrupt))?;
    if let Some(why) = lock.why_not() {
        let harm = "another taskscale may disturb this one";
        eprint_status(&format!("warning: {harm}: the machine is not locked ({why})"));
    }
    if waited >= Duration::from_secs(1) {
        progress.print_message(&format!("waited {}", time_left(waited.as_secs_f64())));
    }
    Ok(lock)
}

/// `taskscale 708 with results/DIR (taskscale @all) has been measuring on this machine for 12 min`.
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
        Some(so_far) => {
            format!("{name} has been measuring on this machine for {}", time_left(so_far.as_secs_f64()))
        }
        None => format!("{name} is measuring on this machine"),
    }
}

/// What was measured, and how that ended.
pub(super) struct MeasuredResults {
    pub folder: PathBuf,
    pub loaded: Loaded,
    pub end: Result<RunsEnd, CampaignError>,
}

fn warn_of_swapping(settings: &RunSettings) {
    if let (Some(cap), Some(there)) = (settings.memory_cap_bytes, available_memory_bytes())
        && cap > there
    {
        let (cap, there) = (units::bytes(cap), units::bytes(there));
        let harm = format!("runs may swap: their memory cap is {cap}, and {there} is available");
        eprint_status(&format!("warning: {harm}; free memory first"));
    }
}

/// The result of an entry's build.
pub(super) fn built(entry: &Prepared) -> Event {
    let state = match &entry.command {
        Ok(_) => BuildState::Ready,
        Err(NotReady::NoToolchain(_)) => BuildState::Unavailable,
        Err(NotReady::BuildFailed(_)) => BuildState::Failed,
    };
    let command = entry.command.as_ref().ok().cloned();
    let EntryFacts { name: entry, workload, version, unavailable: reason, .. } = entry.facts.clone();
    Event::Build { entry, workload, state, command, version, reason }
}

/// A failure of measuring, with what was kept.
pub(super) fn stopped(error: CampaignError, folder: &Path) -> Failure {
    let shown = folder.display();
    let resumes = format!("the same command with `-o {}` resumes", quoted(&shown.to_string()));
    let kept = match record::load(folder) {
        Ok(Loaded { samples, .. }) => format!("{} kept: {resumes}", units::counted(samples.len(), "sample")),
        Err(_) => format!("{shown} is gone or unreadable"),
    };
    Failure::Broken(anyhow!(error).context(format!("stopped; {kept}")))
}
