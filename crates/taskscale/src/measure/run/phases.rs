//! The phases of a run by the clock: when the plateau has begun, when the program is at rest, when memory is read.

use std::time::Duration;

use super::{Run, SAMPLE_S, now_ns, seconds};
use crate::measure::cgroup::{CpuReading, Group};
use crate::measure::evidence::Quiescence;
use crate::measure::sampler::{Standing, TICK_S, UsageSample, is_growth};
use crate::measure::{MeasureError, Scenario};
use crate::measure::{plateau, procfs};
use crate::record::{PlateauFrom, Warning};

/// CPU and memory must have been quiet for so long.
const QUIET_WINDOW_S: f64 = 0.1;
/// The plateau is read at least this long before the first task can be due, plus the estimated time of the reading.
pub(super) const READ_MARGIN_S: f64 = 0.15;
/// A reading that was made at rest is made again where memory has moved so long before the last moment for it.
const READ_AGAIN_S: f64 = 0.3;
/// It is looked for the last time whether memory has grown so long before the first task can be due.
const LAST_LOOK_S: f64 = 0.05;
/// Where there are more processes, they are tasks, and alike.
const PROCESSES_LOOKED_AT: usize = 32;

impl Run<'_> {
    /// How long nothing needs to be done unless something happens.
    pub(super) fn wait_s(&self) -> f64 {
        if self.end.is_some() || self.deadline.is_some() {
            return 1.0;
        }
        let sampling = !self.group.enforces_memory_cap() || self.group.memory_peak().is_none();
        if sampling {
            return SAMPLE_S;
        }
        if self.reading.is_none() || !self.speaks_protocol() || self.is_work() {
            return TICK_S;
        }
        match self.due_ns() {
            // Between the reading and the first task's due time there is nothing to look at but growth, twice.
            Some(due) if !self.looked_again => {
                let next = if self.read_again { last_look(due) } else { self.again_ns(due) };
                seconds(now_ns(), next).clamp(0.0005, 1.0)
            }
            Some(due) if self.cpu_at_due.is_none() => seconds(now_ns(), due).clamp(0.0005, 1.0),
            _ => 1.0,
        }
    }

    /// Whether the program uses the protocol to its end: it printed `alive`, and exits after its wait.
    pub(super) fn speaks_protocol(&self) -> bool {
        self.spec
            .scenario
            .black_box()
            .is_none_or(|black_box| black_box.told_hold && self.plateau_from == Some(PlateauFrom::Protocol))
    }

    /// A plateau shorter than this is marked, in seconds.
    pub(super) fn plateau_wanted_s(&self) -> f64 {
        self.spec.scenario.wait().map_or(0.0, |wait| wait.plateau_s)
    }

    /// The instant before which no task can be due: tasks start after exec and wait. Unknown if the program was not
    /// given a wait.
    pub(super) fn due_ns(&self) -> Option<u64> {
        let told = match &self.spec.scenario {
            Scenario::Hold(_) => true,
            Scenario::Work(_) | Scenario::Serve(_) => false,
            Scenario::BlackBox(black_box, _) => black_box.told_hold,
        };
        told.then_some(())?;
        Some(self.exec_ns? + (self.spec.hold_s() * 1e9) as u64)
    }

    /// Begins the plateau with certainty; earlier inferences no longer count.
    pub(super) fn begin_plateau(&mut self, from: PlateauFrom, at_ns: u64) {
        self.plateau_ns = Some(at_ns);
        self.plateau_from = Some(from);
        self.cpu_at_plateau = self.group.cpu();
        self.switches.begin(self.group.as_ref());
        self.reading = None;
        self.read_ns = None;
        self.launch_starved_s = self.usage.starved_until_s(at_ns);
    }

    /// Does what is due at this time.
    pub(super) fn tick(&mut self, now: u64) -> Result<(), MeasureError> {
        if self.end.is_some() || self.deadline.is_some() {
            return Ok(());
        }
        self.sample_memory();
        if self.is_work() {
            self.tick_work(now);
            return Ok(());
        }
        if self.speaks_protocol() {
            self.tick_protocol(now);
            return Ok(());
        }
        self.tick_black_box(now)
    }

    fn tick_protocol(&mut self, now: u64) {
        let Some(due) = self.due_ns() else { return };
        if self.reading.is_none() && now < due {
            self.sample_usage(now, None);
        }
        let Some(alive) = self.plateau_ns else {
            self.sample_threads();
            return;
        };
        if self.reading.is_none() {
            let last_moment = now + (TICK_S * 1e9) as u64 >= self.last_moment_ns(due);
            let quiet = self.is_quiet_since(alive) && !self.doing().anything();
            if quiet || last_moment {
                self.quiescence = if quiet { Quiescence::Quiet } else { self.quiescence_since(alive, now) };
                self.read_plateau(now);
            }
        } else if !self.read_again && now >= self.again_ns(due) {
            self.read_again = true;
            if let Some(stood) = self.stood.filter(|_| now < self.last_moment_ns(due))
                && let now_stands = self.stands(&self.group.processes())
                && !now_stands.is_same_as(&stood)
            {
                // A collector at work, or tasks that came later: what stands at the end is what counts.
                if now_stands.is_growth_of(&stood) {
                    self.warnings.push(Warning::PlateauGrew);
                }
                self.reading = None;
                self.usage.clear();
            }
        }
        if now >= last_look(due) && self.reading.is_some() && !self.looked_again {
            self.looked_again = true;
            self.look_for_growth(now);
            // The program may end before it is looked at again.
            self.switches.end(self.group.as_ref());
        }
        if now >= due && self.cpu_at_due.is_none() {
            self.cpu_at_due = self.group.cpu();
            self.switches.end(self.group.as_ref());
        }
    }

    /// The plateau is nearly over: checks whether memory has grown and all processes are still there.
    pub(super) fn look_for_growth(&mut self, now: u64) {
        self.looked_late = self.due_ns().is_some_and(|due| now >= due);
        if self.looked_late {
            // What there is now may be what tasks do that are due: that it never was more says that it stood.
            let peaks = self.peak_at_reading.zip(self.peak());
            self.grown_bytes = peaks.and_then(|(then, now)| is_growth(then, now).then(|| now - then));
            return;
        }
        self.grown_bytes =
            self.stood.and_then(|stood| self.stands(&self.group.processes()).grown_since(&stood));
        if self.escaped == 0 {
            self.escaped = self.main_pid.filter(|pid| self.has_left(*pid)).into_iter().count();
        }
    }

    /// Takes a cheap usage sample of the run.
    pub(super) fn sample_usage(&mut self, now: u64, load_cpu: Option<CpuReading>) {
        let sample = UsageSample {
            at_ns: now,
            cpu_s: self.group.cpu().map(|cpu| cpu.total_s),
            load_cpu_s: load_cpu.map(|cpu| cpu.total_s),
            memory: self.group.memory_in_use(),
            output_bytes: self.listener.bytes + self.launched.stderr_bytes,
        };
        let group = self.group.as_ref();
        self.usage.add(sample, || doing(group).wants_cpu);
    }

    /// Whether a program that did not become idle was idle enough.
    pub(super) fn quiescence_since(&self, since: u64, now: u64) -> Quiescence {
        match self.doing().is_stopped {
            true => Quiescence::Stopped,
            false => self.usage.quiescence(since, now),
        }
    }

    pub(super) fn doing(&self) -> procfs::Doing {
        doing(self.group.as_ref())
    }

    /// The last moment at which a reading ends before the first task can be due.
    pub(super) fn last_moment_ns(&self, due_ns: u64) -> u64 {
        due_ns.saturating_sub(
            ((READ_MARGIN_S + self.spec.scenario.wait().map_or(0.0, |wait| wait.reading_s)) * 1e9) as u64,
        )
    }

    /// When it is looked whether an early reading still stands.
    fn again_ns(&self, due_ns: u64) -> u64 {
        self.last_moment_ns(due_ns).saturating_sub((READ_AGAIN_S * 1e9) as u64)
    }

    /// Reads memory page by page: once, as it is not free, or once more if it changed.
    pub(super) fn read_plateau(&mut self, now: u64) {
        let due = self.due_ns();
        let is_over =
            || self.interrupt.signal().is_some() || due.is_some_and(|due| now < due && now_ns() >= due);
        let processes = self.group.processes();
        self.reading = Some(plateau::read(self.group.as_ref(), &processes, &is_over).unwrap_or_default());
        self.read_ns = Some(now);
        // The instant that counts is the end: reading many processes or threads takes its time.
        self.read_end_ns = Some(now_ns());
        self.stood = Some(self.stands(&processes));
        self.peak_at_reading = self.peak();
        self.cpu_at_reading = self.group.cpu();
        self.escaped = self.escapees(&processes);
        self.seen.extend(&processes);
        if let Some(files) = &mut self.files {
            files.extend(processes.into_iter().flat_map(procfs::mapped_paths));
        }
    }

    /// How many processes of the run are not in its cgroup.
    fn escapees(&self, processes: &[u32]) -> usize {
        if self.group.folders().is_empty() {
            return 0;
        }
        let mut escaped = procfs::descendants_besides(processes, self.launched.child.id());
        escaped.retain(|pid| !self.is_in_group(*pid));
        if !escaped.is_empty() {
            // One that is ending is in no group either, for a moment.
            std::thread::sleep(Duration::from_secs_f64(TICK_S));
            escaped.retain(|pid| self.has_left(*pid));
        }
        escaped.len()
    }

    /// Whether a process of the run is in another group. While all processes are listed one may end, and its number be
    /// given to somebody else's: it is asked again whether it is one of the run's.
    fn has_left(&self, pid: u32) -> bool {
        !self.is_in_group(pid) && procfs::is_below(pid, self.launched.child.id())
    }

    fn is_in_group(&self, pid: u32) -> bool {
        let folders = self.group.folders();
        let name = folders.first().and_then(|folder| folder.file_name()).and_then(|name| name.to_str());
        name.is_none_or(|name| procfs::is_in_group(pid, name, folders.len()))
    }

    /// Memory now, for a later comparison.
    pub(super) fn stands(&self, processes: &[u32]) -> Standing {
        let shown = plateau::standing(self.group.as_ref(), processes);
        Standing { in_use: self.group.memory_in_use(), shown }
    }

    /// Whether CPU and memory have been idle for a while that began no earlier than `since`.
    pub(super) fn is_quiet_since(&self, since: u64) -> bool {
        self.usage.quiet_since(since, QUIET_WINDOW_S).is_some()
    }
}

fn doing(group: &dyn Group) -> procfs::Doing {
    let mut pids = group.processes();
    // The first and the last: a family that is starting is at work at its end.
    if pids.len() > PROCESSES_LOOKED_AT {
        let half = PROCESSES_LOOKED_AT / 2;
        pids.drain(half..pids.len() - half);
    }
    pids.into_iter().map(procfs::doing).fold(procfs::Doing::default(), procfs::Doing::and)
}

/// When the plateau is observed for the last time: before the first task can be due, as that may allocate.
pub(super) fn last_look(due_ns: u64) -> u64 {
    due_ns.saturating_sub((LAST_LOOK_S * 1e9) as u64)
}
