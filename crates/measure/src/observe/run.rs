//! One run from start to end: reads its output and events, and records them. `decide::next_action` decides.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use super::clock::{Clock, Moment};
use super::environment::launch_request;
use super::joins::Joins;
use super::launched::Launched;
use super::load::{self, PreparedLoad};
use crate::black_box::{LineWatch, Ready};
use crate::cgroup::Group;
use crate::decide::{Action, next_action};
use crate::event::{Account, Kill, RunEvent};
use crate::launcher::{LauncherEvent, ProgramEnd};
use crate::launchers::Launchers;
use crate::limit_detection::{OwnFiles, reports_open_files};
use crate::observed::EndedBy;
use crate::protocol::Lines;
use crate::run_state::RunState;
use crate::sampler::{TICK_S, seconds};
use crate::segments::Segments;
use crate::switches::Switches;
use crate::timeline::Timeline;
use crate::{Interrupt, MeasureError, RunSpec, at, procfs};

/// Called with the pids of the run right after each reading of memory at the plateau, so that an embedding
/// program can read more. Its time is part of the plateau.
pub type OnReading = Box<dyn FnMut(&[u32])>;

/// Bytes kept from the beginning of standard output, for `RunDetails`.
const OUTPUT_HEAD_BYTES: usize = 4096;

/// Maximum number of actions before the next poll, so that the run is always read and killed in time. More than
/// are ever due at once.
const MAX_ACTIONS: usize = 32;

/// The handles of a run, and its timeline.
pub(super) struct Run<'a> {
    pub spec: &'a RunSpec,
    pub group: Box<dyn Group>,
    pub interrupt: &'a Interrupt,
    pub clock: Clock,
    /// When the last poll was over.
    polled: Moment,
    pub timeline: Timeline,
    pub launchers: &'a Launchers,
    pub launched: Launched,
    pub prepared: Option<PreparedLoad>,
    pub load: Option<load::Running>,
    pub lines: Lines,
    /// Search for the line that the user named, on standard output and standard error.
    watches: [LineWatch; 2],
    joins: Joins,
    /// Shared memory segments that existed before the run.
    segments: Segments,
    /// Processes of the run seen so far.
    pub seen: BTreeSet<u32>,
    pub switches: Switches,
    /// Collects the files that the run's processes map, if wanted.
    pub files: Option<&'a mut BTreeSet<PathBuf>>,
    pub on_reading: Option<&'a mut OnReading>,
    /// When threads were counted last.
    counted_ns: Option<u64>,
    /// CPU time of the whole machine when the run began, in seconds.
    system_cpu_s: Option<f64>,
    /// The beginning of standard output.
    pub stdout_head: Vec<u8>,
}

impl<'a> Run<'a> {
    pub fn start(
        spec: &'a RunSpec,
        timeline: Timeline,
        mut group: Box<dyn Group>,
        prepared: Option<PreparedLoad>,
        launchers: &'a Launchers,
        scratch: &Path,
        interrupt: &'a Interrupt,
    ) -> Result<Run<'a>, MeasureError> {
        let stdin = spec.scenario.black_box().and_then(|black_box| black_box.stdin.clone());
        let request = launch_request(spec, &spec.command, group.as_ref(), scratch, stdin);
        let (joins, segments, clock) = (Joins::of(&group.folders()), Segments::now(), Clock::start());
        let launched = Launched::start(launchers, request)?;
        group.set_launcher(launched.pid);
        Ok(Run {
            spec,
            group,
            interrupt,
            clock,
            polled: Moment::now(clock),
            timeline,
            launchers,
            launched,
            prepared,
            load: None,
            lines: Lines::default(),
            watches: Default::default(),
            joins,
            segments,
            seen: BTreeSet::new(),
            switches: Switches::default(),
            files: None,
            on_reading: None,
            counted_ns: None,
            system_cpu_s: procfs::system_cpu_s(),
            stdout_head: Vec::new(),
        })
    }

    pub fn state(&self) -> &RunState {
        self.timeline.state()
    }

    pub fn push(&mut self, event: RunEvent) {
        self.timeline.push(self.clock.now_ns(), event);
    }

    /// Watches the run to its end.
    pub fn watch(&mut self) -> Result<(), MeasureError> {
        let mut wait_s = 0.0;
        while !self.state().empty || !self.state().load_is_over() {
            self.poll(wait_s)?;
            if self.interrupt.signal().is_some() && !self.state().interrupted {
                self.push(RunEvent::Interrupted);
            }
            if self.launched.give_up_if_stuck(&*self.group)? {
                self.end_without_launcher()?;
            }
            if !self.timeline.state().load_empty
                && let Some(load) = &mut self.load
            {
                load.end_if_stuck(&mut self.timeline, self.clock)?;
            }
            self.count();
            wait_s = self.act()?;
        }
        Ok(())
    }

    /// Performs all actions that are due. Returns how long to wait after that, in seconds.
    fn act(&mut self) -> Result<f64, MeasureError> {
        // One time for all actions: without a cgroup, a sample takes longer than the sampling period.
        let now = self.clock.now_ns();
        let mut acted = false;
        for _ in 0..MAX_ACTIONS {
            match next_action(&self.timeline, self.spec, now) {
                Action::Wait(wait_s) if !acted => return Ok(wait_s),
                Action::Wait(_) => break,
                // Read what was printed before the sample, before deciding on it: a load that is idle now may
                // have just printed that its tasks are alive.
                Action::Sample => {
                    self.sample(now);
                    self.poll(0.0)?;
                }
                action => {
                    self.perform(action)?;
                    if action == Action::Look {
                        self.poll(0.0)?;
                    }
                    acted = true;
                }
            }
        }
        Ok(0.0)
    }

    fn poll(&mut self, wait_s: f64) -> Result<(), MeasureError> {
        let timeout = Timespec { tv_sec: wait_s as i64, tv_nsec: ((wait_s % 1.0) * 1e9) as _ };
        let ready = {
            let mut waited: Vec<PollFd> = self.launched.waited().collect();
            if !self.state().interrupted {
                waited.push(PollFd::from_borrowed_fd(self.interrupt.descriptor(), PollFlags::IN));
            }
            let load = self.load.iter().filter(|_| !self.state().load_empty);
            waited.extend(load.flat_map(|load| load.launched.waited()));
            let begun = Moment::now(self.clock);
            let polled = poll(&mut waited, Some(&timeout));
            let worked = std::mem::replace(&mut self.polled, Moment::now(self.clock));
            let pauses = [worked.pause_ns(begun, 0.0), begun.pause_ns(self.polled, wait_s)];
            for pause_ns in pauses.into_iter().flatten() {
                let total_ns = self.timeline.state().paused_ns + pause_ns;
                self.timeline.push(self.polled.at_ns, RunEvent::Paused(total_ns));
            }
            match polled {
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
            if self.launched.lost && !self.state().empty {
                self.end_without_launcher()?;
            }
            if !self.timeline.state().load_empty
                && let Some(load) = &mut self.load
            {
                load.recv(&mut self.timeline, self.clock)?;
            }
        }
        Ok(())
    }

    /// Reads a bounded piece of standard output and of standard error.
    fn read_output(&mut self) {
        let mut buffer = [0u8; 64 * 1024];
        let length = self.launched.read_stdout(&mut buffer);
        let room = OUTPUT_HEAD_BYTES.saturating_sub(self.stdout_head.len());
        self.stdout_head.extend_from_slice(&buffer[..length.min(room)]);
        let (timeline, now) = (&mut self.timeline, self.clock.now_ns());
        self.lines.feed(&buffer[..length], |line| timeline.take_line(now, line));
        self.search_ready_line(&buffer[..length], 0);
        let length = self.launched.read_stderr(&mut buffer);
        if self.state().files.is_none() && length > 0 && reports_open_files(&self.launched.stderr_tail) {
            let own = self.state().pid.and_then(OwnFiles::of);
            own.into_iter().for_each(|own| self.push(RunEvent::Files { own, used_up: false }));
        }
        self.search_ready_line(&buffer[..length], 1);
        let bytes = self.lines.bytes.max(self.launched.stderr_bytes);
        if bytes > self.spec.bounds.output_bytes && !self.state().over_output {
            self.push(RunEvent::OverOutput(bytes));
        }
    }

    fn search_ready_line(&mut self, chunk: &[u8], stream: usize) {
        if let Some(Ready::Line(pattern)) = self.spec.scenario.black_box().map(|black_box| &black_box.ready)
            && !self.state().line_seen
            && self.watches[stream].feed(chunk, pattern)
        {
            self.push(RunEvent::ReadyLine);
        }
    }

    fn handle(&mut self, event: LauncherEvent) {
        match event {
            LauncherEvent::Exec { at_ns } => {
                self.timeline.push(self.clock.since_begun_ns(at_ns), RunEvent::Exec);
            }
            LauncherEvent::Started { pid } => {
                self.seen.insert(pid);
                self.push(RunEvent::Started { pid });
            }
            LauncherEvent::Ended { at_ns, end } => self.note_end(self.clock.since_begun_ns(at_ns), end),
            LauncherEvent::Empty | LauncherEvent::Broken { .. } => self.push(RunEvent::Empty),
        }
    }

    fn note_end(&mut self, at_ns: u64, end: ProgramEnd) {
        // The program's last output may still be in the pipes.
        while !self.state().over_output && self.launched.pending_output() {
            self.read_output();
        }
        self.timeline.push(at_ns, RunEvent::Ended(end));
        if !self.launched.is_ending() {
            self.note_left_processes();
            self.launched.send_end();
        }
        self.kill_load();
    }

    /// Records processes that are still there a moment after the program's end.
    fn note_left_processes(&mut self) {
        // If taskscale stopped the program, its children may take a moment longer.
        if self.state().stop_ns.is_some() {
            return;
        }
        for wait_ms in [0, 5, 20, 50] {
            std::thread::sleep(Duration::from_millis(wait_ms));
            if self.group.processes().is_empty() {
                return;
            }
        }
        self.push(RunEvent::LeftProcesses(self.group.processes().len() as u64));
    }

    pub fn kill_load(&mut self) {
        if self.load.as_mut().is_some_and(load::Running::kill) {
            self.push(RunEvent::LoadKilled);
        }
    }

    /// Kills a run whose launcher was lost. The run still counts, because its program may have killed the
    /// launcher. The next run gets a new launcher.
    fn end_without_launcher(&mut self) -> Result<(), MeasureError> {
        self.push(RunEvent::Kill(Kill { why: EndedBy::LauncherLost, at_cap: false, out_of_memory: false }));
        self.launched.kill_remaining(&*self.group)?;
        self.push(RunEvent::Empty);
        self.kill_load();
        Ok(())
    }

    /// Samples threads, and memory if the kernel records no peak or enforces no cap, as long as they matter.
    fn count(&mut self) {
        let Some(pid) = self.state().pid.filter(|_| self.state().end.is_none() && !self.launched.is_ending())
        else {
            // Before its exec, the process still has the launcher's memory.
            return;
        };
        if self.timeline.host.samples_memory() {
            self.sample_memory();
        }
        let (now, done) = (self.clock.now_ns(), self.state().follows_protocol(self.spec));
        let done = done && self.state().plateau.is_some() && self.spec.scenario.work().is_none();
        if !done && self.counted_ns.is_none_or(|at_ns| seconds(at_ns, now) >= TICK_S / 2.0) {
            self.counted_ns = Some(now);
            let threads = procfs::status(pid).map_or(0, |status| status.threads);
            if threads > self.state().most_threads {
                self.push(RunEvent::Threads(threads));
            }
        }
    }

    fn sample_memory(&mut self) {
        let Some(now) = self.group.memory_now() else { return };
        if now > self.state().sampled_peak {
            self.push(RunEvent::Peak(now));
        }
        let cap = self.spec.bounds.memory_bytes.filter(|_| !self.timeline.host.enforces_cap);
        if let Some(cap) = cap.filter(|cap| now > *cap) {
            let held = self.resident_without_shared();
            if held > cap {
                self.push(RunEvent::OverCap(held));
            }
        }
    }

    /// Memory of all processes in bytes, with shared pages counted once. Resident memory counts them for each
    /// process, which could end a run far below its cap. Slow, so read only in doubt.
    fn resident_without_shared(&self) -> u64 {
        let rollups = self.group.processes().into_iter().filter_map(|pid| procfs::rollup(pid).ok());
        rollups.map(|held| held.pss).sum()
    }

    /// Records what is known only after the end of the run.
    pub fn conclude(&mut self) -> Result<(), MeasureError> {
        at("wait for", "the launcher", self.launched.wait())?;
        if let Some(load) = &self.load {
            at("wait for", "the load's launcher", load.launched.wait())?;
        }
        let seen = std::mem::take(&mut self.seen);
        let left_shared_memory = self.segments.remove_new(|pid| seen.contains(&pid));
        if self.state().interrupted {
            return Ok(());
        }
        self.take_last_line();
        let state = self.state();
        let protocol = state.follows_protocol(self.spec) && self.spec.scenario.work().is_none();
        // Also for a black-box program that was given the time to wait.
        let holds = protocol || state.due_ns(self.spec).is_some();
        if holds && state.reading.is_some() && state.last_look.is_none() {
            self.take_last_look();
        }
        let used_s = procfs::system_cpu_s().zip(self.system_cpu_s).map(|(end, start)| end - start);
        let text = |launched: &Launched| String::from_utf8_lossy(&launched.stderr_tail).into_owned();
        let account = Account {
            cpu: self.group.cpu(),
            // Without a cgroup, the CPU time of ended processes is unknown.
            load_cpu: self
                .load
                .as_ref()
                .filter(|_| self.timeline.host.has_group())
                .and_then(|load| load.group.cpu()),
            system_cpu_s: used_s,
            starved_s: self.timeline.usage().starved_s(),
            peak_bytes: self.group.memory_peak(),
            want: self.group.memory_want(),
            refused_threads: self.group.refused_threads(),
            came_back: self.joins.has_rejoined(),
            left_shared_memory,
            stray_lines: self.lines.stray,
            stderr: text(&self.launched),
            load_stderr: self.load.as_ref().map(|load| text(&load.launched)).unwrap_or_default(),
        };
        self.push(RunEvent::Account(Box::new(account)));
        Ok(())
    }

    /// Takes a last line without a newline, once no more output can come.
    fn take_last_line(&mut self) {
        let end_ns = self.state().end.as_ref().map(|(at_ns, _)| *at_ns);
        let (at_ns, done) = (end_ns.unwrap_or_else(|| self.clock.now_ns()), self.state().program.done_ns);
        let timeline = &mut self.timeline;
        self.lines.finish(|line| timeline.take_line(at_ns, line));
        let is_done = done.is_none() && self.state().program.done_ns.is_some();
        if is_done && self.spec.scenario.work().is_some() {
            let cpu = self.group.cpu();
            self.push(RunEvent::PlateauEnd { cpu });
        }
    }
}
