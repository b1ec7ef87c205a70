//! The course of one run: start, launch, plateau, drain, end. One thread, one poll loop.

mod black_box;
mod conclude;
mod joins;
mod launched;
mod load;
mod orphan_cleanup;
mod page_cache;
mod phases;
mod serve;
mod trace;
mod work;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use self::black_box::BlackBoxRun;
use self::joins::Joins;
use self::launched::Launched;
use self::orphan_cleanup::ProgressDeadline;
use self::serve::ControlPipe;

pub use self::trace::Trace;
use super::black_box::Ready;
use super::cgroup::{CpuReading, Group, GroupBounds, kill_all, remove_folders};
use super::classify::EndedBy;
use super::evidence::Quiescence;
use super::launcher::{END, LaunchRequest, LauncherEvent, now_ns};
use super::launchers::Launchers;
use super::limit_detection::{OwnFiles, tells_of_open_files};
use super::limits::{SystemLimits, read_limits};
use super::plateau::Reading;
use super::protocol::{Listener, ProtocolEvent};
use super::sampler::{Standing, UsageHistory};
use super::segments::Segments;
use super::switches::Switches;
use super::{GroupRoot, Interrupt, MachineLock, MeasureError, RunEnd, RunSpec, Runner, Scenario, at, procfs};
use crate::record::{PlateauFrom, Timestamp, Warning};

/// The machine is busy when others use more than this share of its CPUs.
const BUSY_SHARE: f64 = 0.25;
/// How often memory is sampled where the kernel keeps no peak or no cap.
const SAMPLE_S: f64 = 0.005;
/// How long a run may try that is bound to meet a limit.
const DOOMED_S: f64 = 5.0;
/// How much of standard output is kept for `Trace`: its beginning.
const OUTPUT_HEAD_BYTES: usize = 4096;
/// A group stands at its cap from this share of it on: the kernel charges in batches, and keeps a little back.
const FULL_SHARE: f64 = 0.98;
/// Descriptors of a server besides its connections.
const FILES_BESIDES: u64 = 256;

/// Measures on this machine.
pub struct LocalRunner<'a> {
    home: GroupRoot,
    interrupt: &'a Interrupt,
    launchers: Launchers,
    /// For runs that start cold: the files that programs had mapped so far.
    files: Option<BTreeSet<PathBuf>>,
    /// Whether another campaign may run at the same time.
    shared_machine: bool,
    counts_switches: bool,
}

impl<'a> LocalRunner<'a> {
    /// `launcher`: the taskscale program, which launchers are copies of.
    pub fn new(home: GroupRoot, interrupt: &'a Interrupt, launcher: PathBuf) -> LocalRunner<'a> {
        let launchers = Launchers::new(launcher);
        LocalRunner { home, interrupt, launchers, files: None, shared_machine: false, counts_switches: false }
    }

    /// Lets every run read its program's files anew, so that their pages are charged to its own group, as they are in a
    /// container that was just started. Which files that are is known from runs that reached a plateau.
    #[must_use]
    pub fn cold(self) -> LocalRunner<'a> {
        LocalRunner { files: Some(BTreeSet::new()), ..self }
    }

    /// Counts how often threads wait during a plateau, for [`Trace`].
    #[must_use]
    pub fn counting_switches(self) -> LocalRunner<'a> {
        LocalRunner { counts_switches: true, ..self }
    }

    /// Adds a warning to every run if the machine could not be locked.
    #[must_use]
    pub fn with(self, lock: &MachineLock) -> LocalRunner<'a> {
        LocalRunner { shared_machine: lock.why_not().is_some(), ..self }
    }

    pub fn home(&self) -> &GroupRoot {
        &self.home
    }

    /// For processes outside the run that need a cgroup of the same kind.
    pub fn home_mut(&mut self) -> &mut GroupRoot {
        &mut self.home
    }

    /// Runs the program as `run` does, and also returns what only `check` needs.
    pub fn run_traced(&mut self, spec: &RunSpec) -> Result<(RunEnd, Trace), MeasureError> {
        let mut trace = Trace::default();
        let limits = read_limits();
        let bounds = GroupBounds { memory_bytes: spec.bounds.memory_bytes, threads: limits.thread_bound() };
        let group = self.home.create_group(bounds)?;
        let mut scratches = vec![self.home.create_scratch()?];
        let mut folders = group.folders();
        let mut load = None;
        if let Some(wanted) = spec.scenario.black_box().and_then(|black_box| black_box.load.as_ref()) {
            // Bounded as the program is: a client may go wrong as well.
            let group = self.home.create_group(bounds)?;
            scratches.push(self.home.create_scratch()?);
            folders.extend(group.folders());
            let control_pipe = spec.scenario.serve().map(|_| ControlPipe::new(&scratches[1])).transpose()?;
            let stdin = control_pipe.as_ref().map(|control_pipe| control_pipe.path().to_owned());
            let mut request = launch_request(spec, &wanted.command, group.as_ref(), &scratches[1], stdin);
            if spec.scenario.elsewhere().is_some() {
                // What leads there wants to know who the user is, and where Slurm or an agent of ssh is.
                request.env = of_user();
            }
            load = Some(load::PreparedLoad { group, request, control_pipe });
        }
        log::info!("running {}", trace::shown(spec, folders.first()));
        self.files.iter().flatten().for_each(|file| page_cache::evict(file));
        let mut files = self.files.take();
        let result = Run::start(spec, group, load, &limits, &self.launchers, &scratches[0], self.interrupt)
            .and_then(|mut run| {
                run.files = files.take();
                run.switches.wanted = self.counts_switches;
                let end = run.watch().and_then(|interrupted| run.conclude(interrupted));
                files = run.files.take();
                trace = run.trace();
                end
            });
        self.files = files;
        if result.is_err() {
            kill_all(&folders);
        }
        at("remove the cgroup", folders.first().cloned().unwrap_or_default(), remove_folders(&folders))?;
        trace.files_left = trace::names_in(&scratches[0]);
        for scratch in scratches {
            // What a program left in its working folder is of no interest to a measurement.
            let _ = std::fs::remove_dir_all(&scratch);
        }
        Ok((result?, trace))
    }
}

impl Runner for LocalRunner<'_> {
    fn run(&mut self, spec: &RunSpec) -> Result<RunEnd, MeasureError> {
        let mut end = self.run_traced(spec)?.0;
        if let (RunEnd::Measured(measurement), true) = (&mut end, self.shared_machine) {
            measurement.warnings.push(Warning::MachineNotLocked);
        }
        Ok(end)
    }
}

fn launch_request(
    spec: &RunSpec,
    command: &[String],
    group: &dyn Group,
    scratch: &Path,
    stdin: Option<PathBuf>,
) -> LaunchRequest {
    let folder =
        spec.scenario.black_box().and_then(|black_box| black_box.folder.as_deref()).unwrap_or(scratch);
    LaunchRequest {
        command: command.to_vec(),
        env: environment(spec, scratch),
        folder: folder.to_owned(),
        stdin,
        join: group.join_files(),
        cpus: spec.cpus,
        files: spec.scenario.serve().map(|_| spec.tasks + FILES_BESIDES),
        group: group.folders(),
        scratch: scratch.to_owned(),
    }
}

/// All variables in UTF-8.
fn of_user() -> BTreeMap<String, String> {
    let all = std::env::vars_os();
    all.filter_map(|(name, value)| Some((name.into_string().ok()?, value.into_string().ok()?))).collect()
}

/// The clean environment that every program gets: nothing else of the user's reaches it, unless the user says so.
fn environment(spec: &RunSpec, scratch: &Path) -> BTreeMap<String, String> {
    let full = spec.scenario.black_box().is_some_and(|black_box| black_box.full_environment);
    let mut env = of_user();
    env.retain(|name, _| full || ["PATH", "HOME", "USER", "LANG"].contains(&name.as_str()));
    env.insert("TMPDIR".into(), scratch.to_string_lossy().into_owned());
    env.extend(spec.env.clone());
    env
}

struct Run<'a> {
    spec: &'a RunSpec,
    group: Box<dyn Group>,
    limits: &'a SystemLimits,
    interrupt: &'a Interrupt,
    started_at: Timestamp,
    /// CPU time of the whole machine when the run began, in seconds.
    system_cpu_s: Option<f64>,
    joins: Joins,
    /// Segments of shared memory that were there before.
    segments: Segments,
    /// Processes of the run that were seen.
    seen: BTreeSet<u32>,
    launched: Launched,
    listener: Listener,
    /// Of a program that is not of the catalog.
    black_box: Option<BlackBoxRun<'a>>,

    exec_ns: Option<u64>,
    main_pid: Option<u32>,
    /// When the plateau began, and how that was known.
    plateau_ns: Option<u64>,
    /// When all tasks were there, and the CPU time until then, where the plateau began later.
    launch_end: Option<(u64, Option<CpuReading>)>,
    plateau_from: Option<PlateauFrom>,
    done_ns: Option<u64>,
    /// `done` was said before `ready`: their instants may be the same, if both were heard at once.
    done_first: bool,
    end: Option<LauncherEvent>,
    empty: bool,
    /// Since the launcher was told to end everything.
    deadline: Option<ProgressDeadline>,
    ended_by: Option<EndedBy>,
    /// When taskscale ended the run: whether it was out of memory, and whether it held as much as it may.
    out_of_memory: bool,
    stood_at_cap: bool,
    /// The program's own limit of open files, read when it wrote of too many.
    open_files: Option<OwnFiles>,
    /// It had that many open.
    files_used_up: bool,

    usage: UsageHistory,
    cpu_at_plateau: Option<CpuReading>,
    /// When the plateau was over: a task could be due, or the program was stopped.
    cpu_at_due: Option<CpuReading>,
    reading: Option<Reading>,
    read_ns: Option<u64>,
    /// When the reading had ended.
    read_end_ns: Option<u64>,
    /// Memory as it stood after the reading.
    stood: Option<Standing>,
    peak_at_reading: Option<u64>,
    cpu_at_reading: Option<CpuReading>,
    switches: Switches,
    /// How the program stood when it was read.
    quiescence: Quiescence,
    /// It was looked whether an early reading still stood, or memory grew and is read a second time.
    read_again: bool,
    /// The last look before a task can be due was made; or it was too late for it.
    looked_again: bool,
    looked_late: bool,
    /// By how much memory had grown then, where that is much.
    grown_bytes: Option<u64>,
    /// Processes of the run that were seen outside of its group.
    escaped: usize,
    /// How long until the plateau the run wanted a CPU and got less than half of one, in seconds.
    launch_starved_s: f64,
    /// For lack of CPUs nothing can be said of its plateau.
    unobservable: bool,
    most_threads: u64,
    sampled_peak: u64,
    warnings: Vec<Warning>,
    /// Where wanted: the files that the run's processes have mapped.
    files: Option<BTreeSet<PathBuf>>,
    /// The beginning of standard output.
    stdout_head: Vec<u8>,
}

impl<'a> Run<'a> {
    fn start(
        spec: &'a RunSpec,
        mut group: Box<dyn Group>,
        load: Option<load::PreparedLoad>,
        limits: &'a SystemLimits,
        launchers: &Launchers,
        scratch: &Path,
        interrupt: &'a Interrupt,
    ) -> Result<Run<'a>, MeasureError> {
        let black_box = spec.scenario.black_box();
        let stdin = black_box.and_then(|black_box| black_box.stdin.clone());
        let request = launch_request(spec, &spec.command, group.as_ref(), scratch, stdin);
        let started_at = Timestamp::now();
        let joins = Joins::of(&group.folders());
        let segments = Segments::now();
        let launched = Launched::start(launchers, request)?;
        group.set_launcher(launched.child.id());
        Ok(Run {
            spec,
            group,
            limits,
            interrupt,
            started_at,
            system_cpu_s: procfs::system_cpu_s(),
            joins,
            segments,
            seen: BTreeSet::new(),
            launched,
            listener: Listener::default(),
            black_box: black_box.map(|black_box| BlackBoxRun::new(black_box, load, launchers)),
            exec_ns: None,
            main_pid: None,
            plateau_ns: None,
            launch_end: None,
            plateau_from: None,
            done_ns: None,
            done_first: false,
            end: None,
            empty: false,
            deadline: None,
            ended_by: None,
            out_of_memory: false,
            stood_at_cap: false,
            open_files: None,
            files_used_up: false,
            usage: UsageHistory::default(),
            cpu_at_plateau: None,
            cpu_at_due: None,
            reading: None,
            read_ns: None,
            read_end_ns: None,
            stood: None,
            peak_at_reading: None,
            cpu_at_reading: None,
            switches: Switches::default(),
            quiescence: Quiescence::default(),
            read_again: false,
            looked_again: false,
            looked_late: false,
            grown_bytes: None,
            escaped: 0,
            launch_starved_s: 0.0,
            unobservable: false,
            most_threads: 0,
            sampled_peak: 0,
            warnings: Vec::new(),
            files: None,
            stdout_head: Vec::new(),
        })
    }

    /// Watches the run to its end. Returns whether the user interrupted it.
    fn watch(&mut self) -> Result<bool, MeasureError> {
        let begun_ns = now_ns();
        while !self.empty || self.black_box.as_ref().is_some_and(|black_box| !black_box.is_over()) {
            let wait_s = self.wait_s();
            self.poll(wait_s)?;
            let now = now_ns();
            if self.interrupt.signal().is_some() {
                self.end_run(EndedBy::User);
            }
            let (time_cap_s, why) = self.time_cap();
            let stopping = self.black_box.as_ref().is_some_and(|black_box| black_box.stop_ns.is_some());
            if seconds(begun_ns, now) > time_cap_s && self.end.is_none() && !stopping {
                self.end_run(why);
            }
            if let Some(deadline) = &mut self.deadline
                && deadline.is_over(self.group.memory_now())
            {
                // Stopped, perhaps, by the program. Should it be the kernel that cannot end them, nor can we.
                self.launched.give_up()?;
                self.end_without_launcher()?;
            }
            self.tick(now)?;
        }
        Ok(self.ended_by == Some(EndedBy::User))
    }

    /// When the run is ended, in seconds, and why then. A run that cannot succeed shows how far it gets, but is not
    /// let weigh on the machine for long: a JVM takes a minute to start the threads that a usual limit allows.
    fn time_cap(&self) -> (f64, EndedBy) {
        let cap_s = self.spec.bounds.time.as_secs_f64();
        match self.limits.exceeds_limit(self.spec.kind, self.spec.tasks) {
            Some(_) if cap_s > DOOMED_S && self.spec.scenario.all_alive() => (DOOMED_S, EndedBy::Doomed),
            _ => (cap_s, EndedBy::TimeOut),
        }
    }

    fn poll(&mut self, wait_s: f64) -> Result<(), MeasureError> {
        let timeout = Timespec { tv_sec: wait_s as i64, tv_nsec: ((wait_s % 1.0) * 1e9) as _ };
        let interrupted = self.ended_by == Some(EndedBy::User);
        let ready = {
            let mut waited: Vec<PollFd> = self.launched.waited().collect();
            if !interrupted {
                waited.push(PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN));
            }
            waited.extend(self.black_box.iter().flat_map(BlackBoxRun::waited));
            match poll(&mut waited, Some(&timeout)) {
                Ok(count) => count > 0,
                Err(rustix::io::Errno::INTR) => false,
                Err(error) => return at("wait for", "the program", Err(error.into())),
            }
        };
        if ready {
            self.read_output();
            for event in self.launched.recv()? {
                self.handle(event);
            }
            if self.launched.lost && !self.empty {
                self.end_without_launcher()?;
            }
            if let Some(black_box) = &mut self.black_box {
                black_box.recv_load()?;
            }
        }
        Ok(())
    }

    /// Takes what is on standard output and standard error, a bounded piece of each.
    fn read_output(&mut self) {
        let mut buffer = [0u8; 64 * 1024];
        let length = self.launched.read_stdout(&mut buffer);
        let room = OUTPUT_HEAD_BYTES.saturating_sub(self.stdout_head.len());
        self.stdout_head.extend_from_slice(&buffer[..length.min(room)]);
        let heard_ns = now_ns();
        for event in self.listener.feed(&buffer[..length]) {
            match event {
                ProtocolEvent::Alive if self.heeds_protocol() => {
                    self.begin_plateau(PlateauFrom::Protocol, heard_ns)
                }
                ProtocolEvent::Alive => {}
                ProtocolEvent::Ready if self.is_work() => self.begin_work(heard_ns),
                ProtocolEvent::Ready => {}
                ProtocolEvent::Listening(port) => {
                    self.black_box.iter_mut().for_each(|black_box| black_box.port = Some(port));
                }
                ProtocolEvent::Done => self.note_done(heard_ns),
            }
        }
        if let Some(black_box) = &mut self.black_box {
            black_box.feed(&buffer[..length], true);
        }
        let length = self.launched.read_stderr(&mut buffer);
        if self.open_files.is_none() && length > 0 && tells_of_open_files(&self.launched.stderr_tail) {
            self.open_files = self.main_pid.and_then(OwnFiles::of);
        }
        if let Some(black_box) = &mut self.black_box {
            black_box.feed(&buffer[..length], false);
        }
        if self.listener.bytes.max(self.launched.stderr_bytes) > self.spec.bounds.output_bytes {
            self.end_run(EndedBy::OutputCap);
        }
    }

    /// Whether the program's own word on its tasks counts: not where the user said what tells that it is ready, nor
    /// where a load is what the tasks are.
    fn heeds_protocol(&self) -> bool {
        match &self.spec.scenario {
            Scenario::Hold(_) => true,
            Scenario::Work(_) | Scenario::Serve(_) => false,
            Scenario::BlackBox(black_box, _) => {
                matches!(black_box.ready, Ready::Itself) && black_box.load.is_none()
            }
        }
    }

    fn handle(&mut self, event: LauncherEvent) {
        match event {
            LauncherEvent::Exec { at_ns } => self.exec_ns = Some(at_ns),
            LauncherEvent::Started { pid } => {
                self.main_pid = Some(pid);
                self.seen.insert(pid);
            }
            LauncherEvent::Refused { .. } | LauncherEvent::Ended { .. } => {
                // What it wrote last may still be in the pipes.
                while self.ended_by != Some(EndedBy::OutputCap) && self.launched.pending_output() {
                    self.read_output();
                }
                self.end = Some(event);
                if self.deadline.is_none() {
                    self.note_left_processes();
                    self.send_end();
                }
                if let Some(black_box) = &mut self.black_box {
                    black_box.kill_load();
                }
            }
            LauncherEvent::Empty | LauncherEvent::Broken { .. } => self.empty = true,
        }
    }

    /// Processes still there a moment after the program's end outlived it.
    fn note_left_processes(&mut self) {
        // One that was stopped is not to blame for children that take a moment longer.
        if self.black_box.as_ref().is_some_and(|black_box| black_box.stop_ns.is_some()) {
            return;
        }
        for wait_ms in [0, 5, 20, 50] {
            std::thread::sleep(Duration::from_millis(wait_ms));
            if self.group.processes().is_empty() {
                return;
            }
        }
        self.warnings.push(Warning::LeftProcesses);
        if let Some(black_box) = &mut self.black_box {
            black_box.left_processes = self.group.processes().len();
        }
    }

    fn end_run(&mut self, why: EndedBy) {
        // The user's wish overrules: nothing of the run counts then.
        if self.ended_by.is_none() || why == EndedBy::User {
            self.ended_by = Some(why);
            self.note_want_of_memory();
        }
        if self.deadline.is_none() {
            self.send_end();
        }
        if let Some(black_box) = &mut self.black_box {
            black_box.kill_load();
        }
    }

    /// Asked before the run is ended: afterwards nothing of it wants memory any more.
    fn note_want_of_memory(&mut self) {
        self.stood_at_cap = self.group.memory_now().is_some_and(|now| self.fills_cap(now));
        self.out_of_memory = self.group.memory_want().out_of_memory;
    }

    /// Whether so much memory is all that the run may have.
    fn fills_cap(&self, bytes: u64) -> bool {
        self.spec.bounds.memory_bytes.is_some_and(|cap| bytes as f64 >= cap as f64 * FULL_SHARE)
    }

    fn send_end(&mut self) {
        self.deadline = Some(ProgressDeadline::new());
        self.launched.send(END);
    }

    fn sample_threads(&mut self) {
        if let Some(status) = self.main_pid.and_then(|pid| procfs::status(pid).ok()) {
            self.most_threads = self.most_threads.max(status.threads);
        }
    }

    fn sample_memory(&mut self) {
        let enforced = self.group.enforces_memory_cap();
        if enforced && self.group.memory_peak().is_some() {
            return;
        }
        // Before its exec, what is to become the program has the launcher's memory.
        let Some(now) = self.main_pid.and_then(|_| self.group.memory_now()) else { return };
        self.sampled_peak = self.sampled_peak.max(now);
        if !enforced && self.spec.bounds.memory_bytes.is_some_and(|cap| now > cap && self.held() > cap) {
            self.end_run(EndedBy::MemoryCap);
        }
    }

    /// The most memory so far, in bytes: by the kernel's record where it keeps one, else of what was sampled.
    fn peak(&self) -> Option<u64> {
        self.group.memory_peak().or((self.sampled_peak > 0).then_some(self.sampled_peak))
    }

    /// Memory of all processes with shared pages counted once: resident memory counts them for each, and would end a
    /// family of processes that holds far less than its cap. Costly, so asked only in doubt.
    fn held(&self) -> u64 {
        self.group
            .processes()
            .into_iter()
            .filter_map(|pid| procfs::rollup(pid).ok())
            .map(|held| held.pss)
            .sum()
    }
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}
