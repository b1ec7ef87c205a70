//! The end of a run: builds the measurement from the observations.

use super::black_box::BlackBoxRun;
use super::{BUSY_SHARE, Run, load, now_ns, seconds};
use crate::measure::cgroup::{CpuReading, MemoryWant};
use crate::measure::classify::{Observed, RunVerdict, classify};
use crate::measure::classify_black_box::{BlackBoxEvidence, LoadEvidence, classify_black_box};
use crate::measure::evidence::{PlateauQuality, Quiescence};
use crate::measure::launcher::LauncherEvent;
use crate::measure::limit_detection::LimitEvidence;
use crate::measure::protocol::ProtocolEvent;
use crate::measure::{MeasureError, Measurement, RunEnd, at, procfs};
use crate::record::{Cpu, Memory, MemorySource, PlateauFrom, Time, Warning};

/// `alive` and `done` this close together, in seconds, may have come out of one buffer.
const UNFLUSHED_S: f64 = 0.05;
/// What a program says during a reading is heard this much later than its end, in seconds, where CPUs are short.
const HEARD_LATE_S: f64 = 0.1;
/// A starved launch that is shorter than this, in seconds, brings no task to its end before the last has started.
const STARVED_LAUNCH_S: f64 = 2.0;
/// A program that was starved for so long, in seconds, has figures that its warnings mention.
const STARVED_S: f64 = 1.0;

impl Run<'_> {
    /// Builds the measurement from the observations.
    pub(super) fn conclude(&mut self, interrupted: bool) -> Result<RunEnd, MeasureError> {
        at("wait for", "the launcher", self.launched.child.wait())?;
        if let Some(load) = self.black_box.as_mut().and_then(|black_box| black_box.load.as_mut()) {
            at("wait for", "the load's launcher", load.conclude())?;
        }
        let seen = std::mem::take(&mut self.seen);
        if self.segments.remove_new(|pid| seen.contains(&pid)) {
            self.warnings.push(Warning::LeftSharedMemory);
        }
        if interrupted {
            return Ok(RunEnd::Interrupted);
        }
        let unended = self.listener.finish();
        let end = self.end.take().unwrap_or(LauncherEvent::Empty);
        let (end_ns, rss_peak, usage) = match &end {
            LauncherEvent::Ended { at_ns, rss_peak_bytes, user_s, system_s, .. } => {
                (Some(*at_ns), Some(*rss_peak_bytes), CpuReading::of(*user_s, *system_s))
            }
            _ => (None, None, CpuReading::default()),
        };
        // A last line needs no line end: it is heard when nothing more can come.
        if let (true, Some(end_ns)) = (unended.contains(&ProtocolEvent::Done), end_ns) {
            self.note_done(end_ns);
        }
        // A line is stamped when it is read, which may be after the exit.
        self.done_ns = self.done_ns.map(|done_ns| done_ns.min(end_ns.unwrap_or(done_ns)));
        let time = self.times(end_ns);
        let cpu = self.cpu(usage);
        self.note_busy_machine(&cpu, time.wall_s);
        let memory = self.memory(rss_peak);
        if self.reading.is_some() && self.speaks_protocol() && !self.is_work() && !self.looked_again {
            self.look_for_growth(now_ns());
        }
        let plateau = self.plateau_quality(&time);
        self.note_doubts(&plateau);
        self.unobservable = plateau.unobservable();
        let verdict = self.verdict(&end, &time, plateau);
        let alive = self.alive();
        let said = std::mem::take(&mut self.listener.said);
        let work = self.work(&said);
        let load = self.load_seen();
        let speaks = self.speaks_protocol();
        // What a program that speaks no protocol writes is its own affair.
        if said.stray_lines > 0 && speaks {
            self.warnings.push(Warning::StrayOutput);
        }
        let stopped = self.black_box.as_ref().is_some_and(|black_box| black_box.was_stopped(&end));
        if self.plateau_ns.is_some()
            && time.plateau_s.is_some_and(|plateau| plateau < self.plateau_wanted_s())
        {
            self.warnings.push(Warning::PlateauShort);
        }
        let (exit_code, signal) = match end {
            LauncherEvent::Ended { code, signal, .. } => (code, signal),
            _ => (None, None),
        };
        let stderr_tail = (verdict.reason.is_some() && !self.launched.stderr_tail.is_empty())
            .then(|| String::from_utf8_lossy(&self.launched.stderr_tail).into_owned());
        let counted = self.reading.as_ref().filter(|reading| reading.processes > 0);
        let mut warnings = std::mem::take(&mut self.warnings);
        warnings.extend(self.reading.iter().flat_map(|reading| reading.warnings.clone()));
        warnings.sort();
        warnings.dedup();
        Ok(RunEnd::Measured(Box::new(Measurement {
            started_at: self.started_at,
            status: verdict.status,
            reason: verdict.reason,
            limit: verdict.limit,
            alive,
            done: said.done.filter(|_| speaks),
            failed: said.failed.filter(|_| speaks),
            plateau_from: self.plateau_from,
            stopped,
            exit_code,
            signal,
            threads: counted.map(|reading| reading.threads),
            processes: counted.map(|reading| reading.processes),
            time,
            cpu,
            memory,
            metrics: said.metrics,
            work,
            load: load.map(Box::new),
            histograms: said.histograms,
            warnings,
            stderr_tail,
        })))
    }

    /// Tasks alive at once, where somebody who must know has said so: the program, or the load whose clients they are.
    fn alive(&self) -> Option<u64> {
        match self.plateau_from {
            Some(PlateauFrom::Protocol) => self.listener.said.alive,
            // In a run of the catalog the line counts even where it broke the protocol by its time.
            None if self.black_box.is_none() => self.listener.said.alive,
            _ => self.black_box.as_ref()?.alive(),
        }
    }

    /// Who said `done` before memory was read. What a program writes whose own word on its tasks does not count may be
    /// anything.
    fn over_early(&self, black_box: &BlackBoxRun) -> Option<&'static str> {
        let read_ns = self.read_end_ns.unwrap_or(u64::MAX);
        let early = |done_ns: Option<u64>| done_ns.is_some_and(|done_ns| done_ns < read_ns);
        match self.plateau_from {
            Some(PlateauFrom::Protocol) if black_box.load.is_none() => {
                early(self.done_ns).then_some("the program")
            }
            Some(PlateauFrom::LoadLine) => {
                early(black_box.load.as_ref().and_then(|load| load.done_ns)).then_some("the load")
            }
            _ => None,
        }
    }

    /// When the plateau was over, from exec in nanoseconds of the clock.
    fn plateau_end_ns(&self, end_ns: Option<u64>) -> Option<u64> {
        let stop_ns =
            self.black_box.as_ref().and_then(|black_box| black_box.clients.idle_end_ns.or(black_box.stop_ns));
        stop_ns.or(self.due_ns()).or(end_ns)
    }

    /// Whether others used more than a fair share of the CPUs during the run. The load is not another, nor is
    /// taskscale: it reads many processes while the program waits.
    fn note_busy_machine(&mut self, cpu: &Cpu, wall_s: Option<f64>) {
        let used_s = procfs::system_cpu_s().zip(self.system_cpu_s).map(|(end, start)| end - start);
        if let (Some(used_s), Some(own_s), Some(wall_s)) = (used_s, cpu.total_s(), wall_s) {
            let load = self.black_box.as_ref().and_then(|black_box| black_box.load.as_ref());
            let own_s = own_s + load.and_then(|load| load.cpu()).map_or(0.0, |cpu| cpu.total_s);
            let cpus = std::thread::available_parallelism().map_or(1, |cpus| cpus.get()) as f64;
            if used_s - own_s > BUSY_SHARE * cpus * wall_s {
                self.warnings.push(Warning::MachineBusy);
            }
        }
    }

    fn times(&self, end_ns: Option<u64>) -> Time {
        let Some(exec) = self.exec_ns else { return Time::default() };
        if self.is_work() {
            return self.work_times(exec, end_ns);
        }
        let since_exec = |at: u64| seconds(exec, at);
        let launch_s = self.launch_end.map(|(at_ns, _)| at_ns).or(self.plateau_ns).map(since_exec);
        let end_s = self.plateau_end_ns(end_ns).map(since_exec);
        // With the first messages of clients, so that the phases add up to the whole.
        let plateau_s = launch_s.zip(end_s).map(|(launch, end)| (end - launch).max(0.0));
        let wall_s = end_ns.map(since_exec);
        Time {
            launch_s,
            // A program that ends early had no longer plateau than its life.
            plateau_s: match (plateau_s, wall_s, launch_s) {
                (Some(plateau), Some(wall), Some(launch)) => Some(plateau.min((wall - launch).max(0.0))),
                (plateau, ..) => plateau,
            },
            drain_s: match (launch_s, wall_s, end_s) {
                (Some(launch), Some(wall), Some(end)) => Some((wall - launch.max(end)).max(0.0)),
                _ => None,
            },
            wall_s,
            plateau_read_at_s: self.read_ns.filter(|_| self.reading.is_some()).map(since_exec),
            reading_s: self
                .read_ns
                .zip(self.read_end_ns)
                .filter(|_| self.reading.is_some())
                .map(|(from, to)| seconds(from, to)),
        }
    }

    fn cpu(&self, usage: CpuReading) -> Cpu {
        // A group still knows what its ended processes used; without one only the parent's account remains.
        let group = self.group.cpu().filter(|cpu| cpu.total_s > 0.0 && !self.group.folders().is_empty());
        let end = group.unwrap_or(usage);
        let phase =
            |from: Option<CpuReading>, to: Option<CpuReading>| Some((to?.total_s - from?.total_s).max(0.0));
        let at_launch = self.launch_end.map_or(self.cpu_at_plateau, |(_, cpu)| cpu);
        let at_start = at_launch.map(|_| CpuReading::default());
        // Where tasks were due before all had started, there was no plateau and the drain follows the launch.
        let no_plateau = self.plateau_ns.zip(self.due_ns()).is_some_and(|(alive, due)| alive >= due);
        let at_due = if no_plateau { self.cpu_at_plateau } else { self.cpu_at_due };
        // Where the group does not split its time, the program's first process says how.
        let user_s = end.user_share.or(usage.user_share).map(|share| end.total_s * share);
        Cpu {
            user_s,
            system_s: user_s.map(|user_s| end.total_s - user_s),
            launch_s: phase(at_start, at_launch),
            // Of work it stands with what was done.
            plateau_s: phase(at_launch, at_due).filter(|_| !self.is_work()),
            drain_s: phase(at_due, Some(end)),
        }
    }

    fn memory(&mut self, rss_peak: Option<u64>) -> Memory {
        let kept = self.group.memory_peak();
        if kept.is_none() && self.group.enforces_memory_cap() {
            self.warnings.push(Warning::PeakSampled);
        }
        let reading = self.reading.as_ref().filter(|reading| reading.processes > 0);
        let rss_peak = rss_peak.into_iter().chain(reading.map(|reading| reading.rss_peak_bytes)).max();
        // A sampled peak is no less than what was read in between, nor than the kernel's record of one process; of that
        // the pages of files may be charged to another group.
        let read = reading.and_then(|reading| reading.memory.group_bytes.or(reading.memory.rss_bytes));
        let files = reading.filter(|_| self.group.source() != MemorySource::Proc);
        let one_process =
            rss_peak.unwrap_or(0).saturating_sub(files.map_or(0, |reading| reading.memory.file_bytes));
        let sampled = self.sampled_peak.max(read.unwrap_or(0)).max(one_process);
        let clients = self.black_box.as_ref().map(|black_box| &black_box.clients);
        Memory {
            source: self.group.source(),
            plateau: reading.map(|reading| reading.memory.clone()),
            peak_bytes: kept.or((sampled > 0).then_some(sampled)),
            rss_peak_bytes: rss_peak.filter(|bytes| *bytes > 0),
            cap_bytes: self.spec.bounds.memory_bytes,
            connected: clients.and_then(|clients| clients.connected.clone()).map(Box::new),
            loaded: clients.and_then(|clients| clients.loaded.clone()).map(Box::new),
        }
    }

    /// What speaks for the plateau and against it.
    fn plateau_quality(&self, time: &Time) -> PlateauQuality {
        let starved_launch = time.launch_s.map(|launch_s| (launch_s, self.launch_starved_s));
        PlateauQuality {
            read: self.reading.as_ref().is_some_and(|reading| reading.processes > 0),
            late: self.over_ns().zip(self.read_end_ns).is_some_and(|(over, read)| read >= over),
            said_at_end: self
                .plateau_ns
                .zip(self.done_ns)
                .is_some_and(|(alive, done)| seconds(alive, done) < UNFLUSHED_S),
            quiescence: self.quiescence,
            contradiction: self.reading.as_ref().and_then(|reading| reading.contradiction),
            grown_bytes: self.grown_bytes,
            looked_late: self.looked_late,
            escaped: self.escaped,
            came_back: self.joins.came_back(),
            starved_launch: starved_launch.filter(|(launch_s, starved_s)| {
                let many = self.spec.tasks > 1 && self.due_ns().is_none();
                many && *launch_s >= STARVED_LAUNCH_S && *starved_s > 0.5 * launch_s
            }),
        }
    }

    /// What was read later than this may have missed tasks that were over.
    fn over_ns(&self) -> Option<u64> {
        if !self.is_work() {
            return self.due_ns();
        }
        // A `done` that is heard right after the reading may have been said while it went on.
        self.done_ns.map(|done_ns| done_ns.saturating_sub((HEARD_LATE_S * 1e9) as u64))
    }

    fn note_doubts(&mut self, plateau: &PlateauQuality) {
        if plateau.read && !plateau.quiescence.is_quiet(self.spec.scenario.wakes()) {
            self.warnings.push(Warning::PlateauNotQuiet);
        }
        if self.usage.starved_s() >= STARVED_S
            || matches!(plateau.quiescence, Quiescence::Starved | Quiescence::HeldBack)
        {
            self.warnings.push(Warning::CpuStarved);
        }
    }

    fn want_of_memory(&self) -> MemoryWant {
        let want = self.group.memory_want();
        MemoryWant {
            cap_hit: want.cap_hit || self.group.memory_peak().is_some_and(|peak| self.fills_cap(peak)),
            out_of_memory: want.out_of_memory || self.out_of_memory,
            ..want
        }
    }

    fn verdict(&self, end: &LauncherEvent, time: &Time, plateau: PlateauQuality) -> RunVerdict {
        let said = &self.listener.said;
        let load = self.black_box.as_ref().and_then(|black_box| black_box.load.as_ref());
        // Where files are all used up, the client may be the one that says so.
        let stderr = [load.map(load::Running::launched), Some(&self.launched)];
        let stderr: Vec<_> =
            stderr.into_iter().flatten().map(|l| String::from_utf8_lossy(&l.stderr_tail)).collect();
        let stderr = stderr.join("\n");
        let observed = Observed {
            kind: self.spec.kind,
            tasks: self.spec.tasks,
            scenario: &self.spec.scenario,
            check: self.spec.check.as_deref(),
            said,
            end,
            ended_by: self.ended_by,
            want: self.want_of_memory(),
            stood_at_cap: self.stood_at_cap,
            memory_cap_bytes: self.spec.bounds.memory_bytes,
            time_cap_s: self.time_cap().0,
            output_cap_bytes: self.spec.bounds.output_bytes,
            wall_s: time.wall_s,
            done_s: self.exec_ns.zip(self.done_ns).map(|(exec, done)| seconds(exec, done)),
            launch_s: time.launch_s,
            counted: self
                .reading
                .as_ref()
                .filter(|reading| reading.processes > 0)
                .map(|reading| (reading.threads, reading.processes)),
            plateau,
            done_after_ready: self.plateau_ns.is_some() && self.done_ns.is_some() && !self.done_first,
            evidence: LimitEvidence {
                refused_threads: self.group.refused_threads(),
                tasks: self.spec.tasks,
                // Of work it is operations that failed.
                started: said
                    .failed
                    .filter(|_| !self.is_work())
                    .map(|failed| self.spec.tasks.saturating_sub(failed)),
                threads: self.most_threads,
                open_files: self.open_files,
                files_used_up: self.files_used_up,
                stderr: &stderr,
            },
            limits: self.limits,
        };
        let Some(black_box) = self.black_box.as_ref().filter(|_| !self.speaks_protocol()) else {
            return classify(&observed);
        };
        classify_black_box(&BlackBoxEvidence {
            run: &observed,
            black_box: black_box.command,
            ready: black_box.ready_ns.is_some() || self.plateau_ns.is_some(),
            read: self.read_ns.is_some(),
            inferred: self.plateau_from == Some(PlateauFrom::Outside),
            stopped: black_box.was_stopped(end),
            alive: self.alive(),
            over_early: self.over_early(black_box),
            left_processes: black_box.left_processes,
            load: load.map(|load| LoadEvidence {
                end: load.end.clone().filter(|_| !load.stopping),
                launcher_lost: load.lost,
                stderr: String::from_utf8_lossy(&load.launched().stderr_tail).into_owned(),
            }),
        })
    }
}
