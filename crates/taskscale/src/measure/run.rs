//! The course of one run: start, launch, plateau, drain, end. One thread, one poll loop.

mod conclude;

use std::collections::BTreeSet;
use std::io::{self, Read};
use std::os::fd::AsFd;
use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, ChildStderr, ChildStdout};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::group::{CpuReading, Group, GroupBounds, kill_all, remove_folders};
use super::launcher::{self, Order, Word, now_ns};
use super::limits::{SystemLimits, read_limits};
use super::plateau::{self, Reading};
use super::protocol::{Event, Listener};
use super::verdict::EndedBy;
use super::{GroupHome, Interrupt, MeasureError, RunEnd, RunSpec, Runner, at, procfs};
use crate::record::Warning;

/// The CPU is quiet when the run used less than this share of one core over `QUIET_WINDOW_S`.
const QUIET_SHARE: f64 = 0.02;
const QUIET_WINDOW_S: f64 = 0.1;
/// The plateau is read no later than this before the first task can be due.
const READ_MARGIN_S: f64 = 0.15;
/// Memory that grew by more than both after the reading is marked.
const GROWTH_SHARE: f64 = 0.05;
const GROWTH_MIN_BYTES: u64 = 4 << 20;
/// When that is looked for, before the first task can be due.
const LAST_LOOK_S: f64 = 0.05;
/// The machine is busy when others use more than this share of its CPUs.
const BUSY_SHARE: f64 = 0.25;
/// How often a run is looked at while it launches or falls quiet.
const TICK_S: f64 = 0.02;
/// How often memory is sampled where the kernel keeps no peak or no cap.
const SAMPLE_S: f64 = 0.005;
/// How much of standard error is kept: its end.
const STDERR_TAIL_BYTES: usize = 4096;
/// How long a run may try that is bound to meet a limit.
const HOPELESS_S: f64 = 5.0;
/// How much of standard output is kept for `Trace`: its beginning.
const OUTPUT_HEAD_BYTES: usize = 4096;
/// How long the launcher may take to end everything.
const END_PATIENCE_S: f64 = 60.0;

/// Measures on this machine.
pub struct LocalRunner<'a> {
    home: GroupHome,
    interrupt: &'a Interrupt,
    launcher: PathBuf,
    /// For runs that start cold: the files that programs had mapped so far.
    files: Option<BTreeSet<PathBuf>>,
}

impl<'a> LocalRunner<'a> {
    /// `launcher` is the taskscale program, which is started anew as the launcher of each run.
    pub fn new(home: GroupHome, interrupt: &'a Interrupt, launcher: PathBuf) -> LocalRunner<'a> {
        LocalRunner { home, interrupt, launcher, files: None }
    }

    /// Lets every run read its program's files anew, so that their pages are charged to its own group, as they are in a
    /// container that was just started. Which files that are is known from runs that reached a plateau.
    #[must_use]
    pub fn cold(self) -> LocalRunner<'a> {
        LocalRunner { files: Some(BTreeSet::new()), ..self }
    }

    pub fn home(&self) -> &GroupHome {
        &self.home
    }

    /// Runs the program as `run` does, and tells beside the measurement what a campaign has no use for.
    pub fn run_traced(&mut self, spec: &RunSpec) -> Result<(RunEnd, Trace), MeasureError> {
        let mut trace = Trace::default();
        let limits = read_limits();
        let bounds = GroupBounds { memory_bytes: spec.bounds.memory_bytes, threads: limits.thread_bound() };
        let group = self.home.create_group(bounds)?;
        let scratch = self.home.create_scratch()?;
        let folders = group.folders();
        log::info!("running {}", shown(spec, folders.first()));
        self.files.iter().flatten().for_each(|file| forget_pages(file));
        let mut files = self.files.take();
        let result = Run::start(spec, group, &limits, &self.launcher, scratch.clone(), self.interrupt)
            .and_then(|mut run| {
                run.files = files.take();
                let end = run.watch().and_then(|interrupted| run.conclude(interrupted));
                files = run.files.take();
                trace = run.trace();
                end
            });
        self.files = files;
        if result.is_err() {
            kill_all(&folders);
        }
        at(
            "remove the control group",
            folders.first().cloned().unwrap_or_default(),
            remove_folders(&folders),
        )?;
        trace.files_left = names_in(&scratch);
        // What a program left in its working folder is of no interest to a measurement.
        let _ = std::fs::remove_dir_all(&scratch);
        Ok((result?, trace))
    }
}

impl Runner for LocalRunner<'_> {
    fn run(&mut self, spec: &RunSpec) -> Result<RunEnd, MeasureError> {
        Ok(self.run_traced(spec)?.0)
    }
}

/// What was seen of a run beside its measurement: for `taskscale check`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Trace {
    /// The beginning of standard output, at most 4 KiB.
    pub output: Vec<u8>,
    /// The end of standard error, at most 4 KiB.
    pub errors: Vec<u8>,
    /// When `done` was heard, in seconds since exec.
    pub done_s: Option<f64>,
    /// Names of what was left in the working folder, which `TMPDIR` names as well.
    pub files_left: Vec<String>,
}

fn names_in(folder: &std::path::Path) -> Vec<String> {
    let children = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        children.map(|child| child.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

/// A run as `--verbose` tells of it.
fn shown(spec: &RunSpec, group: Option<&PathBuf>) -> String {
    let variables = spec.env.iter().map(|(name, value)| format!("{name}={value} "));
    let group = group.map(|group| format!(" in {}", group.display())).unwrap_or_default();
    let cap = spec.bounds.memory_bytes.map(crate::units::bytes).unwrap_or_else(|| "without a bound".into());
    format!(
        "{}{}{group}; memory {cap}, time {} s",
        variables.collect::<String>(),
        spec.command.join(" "),
        spec.bounds.time.as_secs()
    )
}

/// Drops a file's pages from memory where no process maps them.
fn forget_pages(path: &std::path::Path) {
    // A file that is gone, or that nobody may read, has no pages that a run could be charged for anew. Devices are
    // mapped too, and opening one may do something.
    if !path.is_file() {
        return;
    }
    if let Ok(file) = std::fs::File::open(path) {
        let _ = rustix::fs::fadvise(&file, 0, None, rustix::fs::Advice::DontNeed);
    }
}

/// The clean environment that every program gets: nothing else of the user's reaches it.
fn clean_environment(
    spec: &RunSpec,
    scratch: &std::path::Path,
) -> std::collections::BTreeMap<String, String> {
    let mut env: std::collections::BTreeMap<String, String> = ["PATH", "HOME", "USER", "LANG"]
        .into_iter()
        .filter_map(|name| Some((name.to_owned(), std::env::var(name).ok()?)))
        .collect();
    env.insert("TMPDIR".into(), scratch.to_string_lossy().into_owned());
    env.extend(spec.env.clone());
    env
}

struct Run<'a> {
    spec: &'a RunSpec,
    group: Box<dyn Group>,
    limits: &'a SystemLimits,
    interrupt: &'a Interrupt,
    started_at: jiff::Timestamp,
    /// CPU time of the whole machine when the run began, in seconds.
    machine_cpu_s: Option<f64>,
    child: Child,
    socket: UnixStream,
    stdout: Option<ChildStdout>,
    stderr: Option<ChildStderr>,
    words: Vec<u8>,
    listener: Listener,
    stderr_bytes: u64,
    stderr_tail: Vec<u8>,
    stdout_head: Vec<u8>,

    exec_ns: Option<u64>,
    main_pid: Option<u32>,
    alive_ns: Option<u64>,
    done_ns: Option<u64>,
    end: Option<Word>,
    empty: bool,
    ending_since_ns: Option<u64>,
    ended_by: Option<EndedBy>,

    cpu_readings: Vec<(u64, CpuReading)>,
    cpu_at_alive: Option<CpuReading>,
    cpu_at_due: Option<CpuReading>,
    reading: Option<Reading>,
    read_ns: Option<u64>,
    memory_at_reading: Option<u64>,
    looked_again: bool,
    most_threads: u64,
    sampled_peak: u64,
    warnings: Vec<Warning>,
    /// Where wanted: the files that the run's processes have mapped.
    files: Option<BTreeSet<PathBuf>>,
}

impl<'a> Run<'a> {
    fn start(
        spec: &'a RunSpec,
        mut group: Box<dyn Group>,
        limits: &'a SystemLimits,
        launcher: &std::path::Path,
        scratch: PathBuf,
        interrupt: &'a Interrupt,
    ) -> Result<Run<'a>, MeasureError> {
        let order = Order {
            command: spec.command.clone(),
            env: clean_environment(spec, &scratch),
            folder: scratch,
            join: group.join_files(),
            group: group.folders(),
        };
        let started_at = jiff::Timestamp::now();
        let (mut child, socket) = at("start the launcher", launcher, launcher::spawn(launcher, &order))?;
        group.set_launcher(child.id());
        let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
        let set = || -> io::Result<()> {
            socket.set_nonblocking(true)?;
            let pipes = [stdout.as_ref().map(AsFd::as_fd), stderr.as_ref().map(AsFd::as_fd)];
            for descriptor in pipes.into_iter().flatten() {
                rustix::io::ioctl_fionbio(descriptor, true)?;
            }
            Ok(())
        };
        at("set up the pipes of", launcher, set())?;
        Ok(Run {
            spec,
            group,
            limits,
            interrupt,
            started_at,
            machine_cpu_s: procfs::machine_cpu_s(),
            child,
            socket,
            stdout,
            stderr,
            words: Vec::new(),
            listener: Listener::default(),
            stderr_bytes: 0,
            stderr_tail: Vec::new(),
            stdout_head: Vec::new(),
            exec_ns: None,
            main_pid: None,
            alive_ns: None,
            done_ns: None,
            end: None,
            empty: false,
            ending_since_ns: None,
            ended_by: None,
            cpu_readings: Vec::new(),
            cpu_at_alive: None,
            cpu_at_due: None,
            reading: None,
            read_ns: None,
            memory_at_reading: None,
            looked_again: false,
            most_threads: 0,
            sampled_peak: 0,
            warnings: Vec::new(),
            files: None,
        })
    }

    /// Watches the run to its end. Returns whether the user interrupted it.
    fn watch(&mut self) -> Result<bool, MeasureError> {
        let begun_ns = now_ns();
        while !self.empty {
            let wait_s = self.wait_s();
            self.poll(wait_s)?;
            let now = now_ns();
            if self.interrupt.signal().is_some() {
                self.end_run(EndedBy::User);
            }
            let (time_cap_s, why) = self.time_cap();
            if seconds(begun_ns, now) > time_cap_s && self.end.is_none() {
                self.end_run(why);
            }
            if let Some(since) = self.ending_since_ns
                && seconds(since, now) > END_PATIENCE_S
            {
                return Err(MeasureError::Launcher("it could not end the program's processes".into()));
            }
            self.tick(now);
        }
        Ok(self.ended_by == Some(EndedBy::User))
    }

    /// When the run is ended, in seconds, and why then. A run that cannot succeed shows how far it gets, but is not
    /// let weigh on the machine for long: a JVM takes a minute to start the threads that a usual limit allows.
    fn time_cap(&self) -> (f64, EndedBy) {
        let cap_s = self.spec.bounds.time.as_secs_f64();
        match self.limits.bound_to_meet(self.spec.kind, self.spec.tasks) {
            Some(_) if cap_s > HOPELESS_S => (HOPELESS_S, EndedBy::Hopeless),
            _ => (cap_s, EndedBy::TimeOut),
        }
    }

    /// How long nothing needs to be done unless something happens.
    fn wait_s(&self) -> f64 {
        if self.end.is_some() || self.ending_since_ns.is_some() {
            return 1.0;
        }
        let sampling = !self.group.enforces_memory_cap() || self.group.memory_peak().is_none();
        if sampling {
            return SAMPLE_S;
        }
        if self.reading.is_none() {
            return TICK_S;
        }
        match self.due_ns() {
            // Between the reading and the first task's due time there is nothing to look at but growth, once.
            Some(due) if !self.looked_again => seconds(now_ns(), last_look(due)).clamp(0.0005, 1.0),
            Some(due) if self.cpu_at_due.is_none() => seconds(now_ns(), due).clamp(0.0005, 1.0),
            _ => 1.0,
        }
    }

    /// No task can be due before this: tasks start after exec, and wait for the hold.
    fn due_ns(&self) -> Option<u64> {
        Some(self.exec_ns? + (self.spec.hold_s * 1e9) as u64)
    }

    fn poll(&mut self, wait_s: f64) -> Result<(), MeasureError> {
        let timeout = Timespec { tv_sec: wait_s as i64, tv_nsec: ((wait_s % 1.0) * 1e9) as _ };
        let interrupted = self.ended_by == Some(EndedBy::User);
        let ready = {
            let mut waited = vec![PollFd::new(&self.socket, PollFlags::IN)];
            if !interrupted {
                waited.push(PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN));
            }
            waited.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            waited.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
            match poll(&mut waited, Some(&timeout)) {
                Ok(count) => count > 0,
                Err(rustix::io::Errno::INTR) => false,
                Err(error) => return at("wait for", "the program", Err(error.into())),
            }
        };
        if ready {
            self.hear_output();
            self.hear_launcher()?;
        }
        Ok(())
    }

    /// Takes what is on standard output and standard error, a bounded piece of each.
    fn hear_output(&mut self) {
        let mut buffer = [0u8; 64 * 1024];
        match read_some(&mut self.stdout, &mut buffer) {
            0 => {}
            length => {
                let room = OUTPUT_HEAD_BYTES.saturating_sub(self.stdout_head.len());
                self.stdout_head.extend_from_slice(&buffer[..length.min(room)]);
                for event in self.listener.hear(&buffer[..length]) {
                    match event {
                        Event::Alive => {
                            self.alive_ns = Some(now_ns());
                            self.cpu_at_alive = self.group.cpu();
                        }
                        Event::Done => self.done_ns = Some(now_ns()),
                    }
                }
            }
        }
        let length = read_some(&mut self.stderr, &mut buffer);
        self.stderr_bytes += length as u64;
        self.stderr_tail.extend_from_slice(&buffer[..length]);
        let excess = self.stderr_tail.len().saturating_sub(STDERR_TAIL_BYTES);
        self.stderr_tail.drain(..excess);
        if self.listener.bytes.max(self.stderr_bytes) > self.spec.bounds.output_bytes {
            self.end_run(EndedBy::OutputCap);
        }
    }

    fn trace(&mut self) -> Trace {
        let done_s = self.exec_ns.zip(self.done_ns).map(|(exec, done)| seconds(exec, done));
        Trace {
            output: std::mem::take(&mut self.stdout_head),
            errors: std::mem::take(&mut self.stderr_tail),
            done_s,
            files_left: Vec::new(),
        }
    }

    fn hear_launcher(&mut self) -> Result<(), MeasureError> {
        let mut buffer = [0u8; 4096];
        loop {
            match (&self.socket).read(&mut buffer) {
                Ok(0) if self.empty => return Ok(()),
                Ok(0) => return Err(MeasureError::Launcher("it ended before its work was done".into())),
                Ok(length) => self.words.extend_from_slice(&buffer[..length]),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(MeasureError::Launcher(error.to_string())),
            }
            while let Some(end) = self.words.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.words.drain(..=end).collect();
                let word = serde_json::from_slice(&line).map_err(|error| {
                    MeasureError::Launcher(format!("it said {:?}: {error}", String::from_utf8_lossy(&line)))
                })?;
                self.understand(word);
            }
        }
    }

    fn understand(&mut self, word: Word) {
        match word {
            Word::Exec { at_ns } => self.exec_ns = Some(at_ns),
            Word::Started { pid } => self.main_pid = Some(pid),
            Word::Refused { .. } | Word::Ended { .. } => {
                // What it wrote last may still be in the pipes.
                while self.pending_output() {
                    self.hear_output();
                }
                self.end = Some(word);
                if self.ending_since_ns.is_none() {
                    self.note_left_processes();
                    self.tell_launcher_to_end();
                }
            }
            Word::Empty => self.empty = true,
        }
    }

    fn pending_output(&self) -> bool {
        let mut waited: Vec<PollFd> = Vec::new();
        waited.extend(self.stdout.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        waited.extend(self.stderr.as_ref().map(|pipe| PollFd::new(pipe, PollFlags::IN)));
        let capped = self.ended_by == Some(EndedBy::OutputCap);
        !capped && poll(&mut waited, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok_and(|ready| ready > 0)
    }

    /// Processes still there a moment after the program's end outlived it.
    fn note_left_processes(&mut self) {
        for wait_ms in [0, 5, 20, 50] {
            std::thread::sleep(Duration::from_millis(wait_ms));
            if self.group.processes().is_empty() {
                return;
            }
        }
        self.warnings.push(Warning::LeftProcesses);
    }

    fn end_run(&mut self, why: EndedBy) {
        // The user's wish overrules: nothing of the run counts then.
        if self.ended_by.is_none() || why == EndedBy::User {
            self.ended_by = Some(why);
        }
        if self.ending_since_ns.is_none() {
            self.tell_launcher_to_end();
        }
    }

    fn tell_launcher_to_end(&mut self) {
        self.ending_since_ns = Some(now_ns());
        // If it is gone, the next read says so.
        let _ = io::Write::write_all(&mut &self.socket, b"end\n");
    }

    /// What is to be done by the clock.
    fn tick(&mut self, now: u64) {
        if self.end.is_some() || self.ending_since_ns.is_some() {
            return;
        }
        self.sample_memory();
        let Some(due) = self.due_ns() else { return };
        let Some(alive) = self.alive_ns else {
            self.sample_threads();
            return;
        };
        if self.reading.is_none() {
            let cpu = self.group.cpu();
            self.cpu_readings.extend(cpu.map(|cpu| (now, cpu)));
            let last_moment = now + ((READ_MARGIN_S + TICK_S) * 1e9) as u64 >= due;
            let quiet = self.is_quiet(alive, now);
            if quiet || last_moment {
                self.reading = Some(plateau::read(self.group.as_ref()).unwrap_or_default());
                self.read_ns = Some(now);
                self.memory_at_reading = self.group.memory_now();
                if let Some(files) = &mut self.files {
                    files.extend(self.group.processes().into_iter().flat_map(procfs::mapped_paths));
                }
                if !quiet {
                    self.warnings.push(Warning::PlateauNotQuiet);
                }
            }
        }
        if now >= last_look(due) && self.memory_at_reading.is_some_and(|then| self.has_grown_since(then)) {
            self.warnings.push(Warning::PlateauGrew);
        }
        if now >= last_look(due) && self.reading.is_some() {
            self.memory_at_reading = None;
            self.looked_again = true;
        }
        if now >= due && self.cpu_at_due.is_none() {
            self.cpu_at_due = self.group.cpu();
        }
    }

    /// Tasks that only wait need no more memory: what comes after the reading was not alive when `alive` was said.
    fn has_grown_since(&self, then: u64) -> bool {
        let now = self.group.memory_now().unwrap_or(0);
        now.saturating_sub(then) > GROWTH_MIN_BYTES.max((then as f64 * GROWTH_SHARE) as u64)
    }

    fn is_quiet(&self, alive: u64, now: u64) -> bool {
        let Some((_, last)) = self.cpu_readings.last() else { return false };
        let window_start = now.saturating_sub((QUIET_WINDOW_S * 1e9) as u64);
        // The latest reading that is at least a window old, and not of the launch.
        let earlier = self.cpu_readings.iter().rev().find(|(at, _)| *at <= window_start && *at >= alive);
        earlier.is_some_and(|(at, cpu)| (last.total_s - cpu.total_s) / seconds(*at, now) < QUIET_SHARE)
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

/// When the plateau is looked at for the last time: before the first task can be due, which may allocate.
fn last_look(due_ns: u64) -> u64 {
    due_ns.saturating_sub((LAST_LOOK_S * 1e9) as u64)
}

fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

/// Reads once; closes the pipe where it has ended.
fn read_some<T: Read + AsFd>(pipe: &mut Option<T>, buffer: &mut [u8]) -> usize {
    let Some(reader) = pipe else { return 0 };
    match reader.read(buffer) {
        Ok(0) => {
            *pipe = None;
            0
        }
        Ok(length) => length,
        // Nothing there now; other errors of a pipe do not occur.
        Err(_) => 0,
    }
}
