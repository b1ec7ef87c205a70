//! Runs programs and records each run as a timeline. One thread, one poll loop.

mod clock;
mod control_pipe;
mod details;
mod environment;
mod joins;
mod launched;
mod load;
mod page_cache;
mod perform;
mod progress_deadline;
mod run;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use self::control_pipe::ControlPipe;
use self::environment::{launch_request, of_user};
use self::run::Run;

pub use self::details::RunDetails;
pub use self::run::OnReading;
use super::analyze::analyze;
use super::cgroup::{GroupBounds, kill_all, online_processors, remove_folders};
use super::launchers::{Launchers, is_initialized};
use super::limits::read_limits;
use super::machine::available_memory_bytes;
use super::timeline::{Host, Timeline};
use super::trace_file::write_trace;
use super::{GroupRoot, Interrupt, MeasureError, RunEnd, RunSpec, Runner, at};
use crate::{MemorySource, Timestamp};

/// The executable of the calling process.
const THIS_PROGRAM: &str = "/proc/self/exe";

/// Measures programs on this machine.
pub struct LocalRunner<'a> {
    /// Creates the cgroups of runs. Public for other processes that need a cgroup of the same kind.
    pub home: GroupRoot,
    interrupt: &'a Interrupt,
    launchers: Launchers,
    /// Whether runs start cold: the program's files are evicted from the page cache, so that their pages are
    /// charged to the run's own cgroup, as in a container that was just started. The files are known from
    /// earlier runs that reached a plateau.
    pub cold: bool,
    /// Files that programs have mapped so far, for cold starts.
    files: BTreeSet<PathBuf>,
    /// Whether others may measure at the same time, because the machine could not be locked
    /// ([`MachineLock::why_not`]). Every run then gets a warning.
    ///
    /// [`MachineLock::why_not`]: crate::MachineLock::why_not
    pub shared_machine: bool,
    /// Whether to count how often threads wait during the plateau, for [`RunDetails`].
    pub counts_switches: bool,
    /// The folder in which the trace of every run is kept, if any.
    pub traces: Option<PathBuf>,
    /// Number of trace names used, or found taken.
    traces_named: u32,
    /// Reads more of each run than its measurement has.
    pub on_reading: Option<OnReading>,
}

impl<'a> LocalRunner<'a> {
    /// Launchers are copies of this program: see [`crate::init`].
    pub fn new(home: GroupRoot, interrupt: &'a Interrupt) -> LocalRunner<'a> {
        // Not by path: another version may have replaced the file meanwhile.
        let launchers = Launchers::new(THIS_PROGRAM.into());
        LocalRunner {
            home,
            interrupt,
            launchers,
            cold: false,
            files: BTreeSet::new(),
            shared_machine: false,
            counts_switches: false,
            traces: None,
            traces_named: 0,
            on_reading: None,
        }
    }

    /// Launchers are copies of another program, which calls [`crate::init`] first: for tests.
    #[must_use]
    pub fn with_launcher(self, program: PathBuf) -> LocalRunner<'a> {
        LocalRunner { launchers: Launchers::new(program), ..self }
    }

    /// Runs the program as `run` does, and also returns what only `check` needs.
    pub fn run_in_detail(&mut self, spec: &RunSpec) -> Result<(RunEnd, RunDetails), MeasureError> {
        let (timeline, details) = self.observe(spec)?;
        if timeline.state().interrupted {
            return Ok((RunEnd::Interrupted, details));
        }
        self.keep_trace(spec, &timeline)?;
        Ok((RunEnd::Measured(Box::new(analyze(&timeline, spec))), details))
    }

    fn keep_trace(&mut self, spec: &RunSpec, timeline: &Timeline) -> Result<(), MeasureError> {
        let Some(folder) = &self.traces else { return Ok(()) };
        at("create", folder, std::fs::create_dir_all(folder))?;
        let program = spec.command.first().map_or("", |path| path.rsplit('/').next().unwrap_or(path));
        let plain = |c: char| if c.is_ascii_alphanumeric() || "-_.".contains(c) { c } else { '_' };
        let program: String = program.chars().map(plain).collect();
        loop {
            self.traces_named += 1;
            let path = folder.join(format!("{:04}-{program}-{}.jsonl", self.traces_named, spec.tasks));
            match write_trace(&path, spec, timeline) {
                // The name is taken by an earlier command.
                Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {}
                written => return at("write", path, written),
            }
        }
    }

    /// Runs the program once, and returns what was observed.
    fn observe(&mut self, spec: &RunSpec) -> Result<(Timeline, RunDetails), MeasureError> {
        if self.launchers.program == Path::new(THIS_PROGRAM) && !is_initialized() {
            return Err(MeasureError::NotInitialized);
        }
        let limits = read_limits();
        let bounds = GroupBounds { memory_bytes: spec.bounds.memory_bytes, threads: limits.thread_bound() };
        let group = self.home.create_group(bounds)?;
        let mut scratches = vec![self.home.create_scratch()?];
        let mut folders = group.folders();
        let mut load = None;
        if let Some(wanted) = spec.scenario.black_box().and_then(|black_box| black_box.load.as_ref()) {
            // Clients get a cap of their own, because their memory is not part of the program's.
            let room = available_memory_bytes().map_or(0, |bytes| bytes / 5 * 4);
            let memory_bytes = bounds.memory_bytes.map(|cap| cap.max(room));
            let group = self.home.create_group(GroupBounds { memory_bytes, ..bounds })?;
            scratches.push(self.home.create_scratch()?);
            folders.extend(group.folders());
            let control_pipe = spec.scenario.serve().map(|_| ControlPipe::new(&scratches[1])).transpose()?;
            let stdin = control_pipe.as_ref().map(|control_pipe| control_pipe.path.clone());
            let mut request = launch_request(spec, &wanted.command, group.as_ref(), &scratches[1], stdin);
            // On the program's CPUs, the load would compete with the program.
            request.cpus = None;
            if spec.scenario.elsewhere().is_some() {
                // The command that reaches the other machine needs the user's environment, as for Slurm or ssh.
                request.env = of_user();
            }
            load = Some(load::PreparedLoad { group, request, control_pipe });
        }
        log::info!("running {}", details::shown(spec, folders.first()));
        if self.cold {
            self.files.iter().for_each(|file| page_cache::evict(file));
        }
        let host = Host {
            source: group.source(),
            enforces_cap: group.source() != MemorySource::Proc,
            keeps_peak: group.memory_peak().is_some(),
            cpus: online_processors() as u64,
            unlocked: self.shared_machine,
            limits,
        };
        let timeline = Timeline::new(Timestamp::now(), host);
        let result = Run::start(spec, timeline, group, load, &self.launchers, &scratches[0], self.interrupt)
            .and_then(|mut run| {
                run.files = self.cold.then_some(&mut self.files);
                run.on_reading = self.on_reading.as_mut();
                run.switches.wanted = self.counts_switches;
                run.watch()?;
                run.conclude()?;
                Ok(run.into_details())
            });
        if result.is_err() {
            kill_all(&folders);
        }
        at("remove the cgroup", folders.first().cloned().unwrap_or_default(), remove_folders(&folders))?;
        let files_left = details::names_in(&scratches[0]);
        for scratch in scratches {
            // Files left in the working folder do not matter to a measurement.
            let _ = std::fs::remove_dir_all(&scratch);
        }
        let (timeline, details) = result?;
        Ok((timeline, RunDetails { files_left, ..details }))
    }
}

impl Runner for LocalRunner<'_> {
    fn run(&mut self, spec: &RunSpec) -> Result<RunEnd, MeasureError> {
        Ok(self.run_in_detail(spec)?.0)
    }
}
