//! Computes the measurement and the verdict of a run. Pure: depends only on its timeline and its settings.

mod serve;
mod work;

use super::cgroup::{CpuReading, MemoryWant};
use super::classify::classify;
use super::classify_black_box::{BlackBoxEvidence, LoadEvidence, classify_black_box};
use super::decide::{fills_cap, quiescence, time_cap};
use super::event::MemoryReading;
use super::evidence::{PlateauQuality, Quiescence};
use super::launcher::ProgramEnd;
use super::limit_detection::LimitEvidence;
use super::observed::{Observed, RunVerdict};
use super::plateau::Reading;
use super::run_state::RunState;
use super::sampler::{IDLE_SHARE, LONGEST_GAP_NS, is_growth, seconds};
use super::timeline::Timeline;
use super::{Measurement, RunSpec};
use crate::{Cpu, Memory, MemorySource, PlateauFrom, Time, Warning};

/// The machine is busy if other processes use more than this share of its CPUs.
const BUSY_SHARE: f64 = 0.25;
/// `alive` and `done` less than this many seconds apart may come from one buffer.
const UNFLUSHED_S: f64 = 0.05;
/// On a busy machine, a line printed during a reading may be received this many seconds after the reading.
const HEARD_LATE_S: f64 = 0.1;
/// A CPU-starved launch shorter than this, in seconds, is over before the first of its tasks can end.
const STARVED_LAUNCH_S: f64 = 2.0;
/// CPU time outside the cgroup is ignored up to the larger of these seconds and this share: before the program
/// joins its cgroup, it uses less than a millisecond.
const OUTSIDE_S: f64 = 0.02;
const OUTSIDE_SHARE: f64 = 0.01;
/// A program that was CPU-starved for at least this many seconds gets a warning.
const STARVED_S: f64 = 1.0;

/// The measurement of a run that has ended, by the rules of docs/reference/protocol.md.
pub fn analyze(timeline: &Timeline, spec: &RunSpec) -> Measurement {
    Analysis { timeline, state: timeline.state(), spec }.measurement()
}

/// The evidence for and against the plateau of a run.
pub(super) fn plateau_quality(timeline: &Timeline, spec: &RunSpec) -> PlateauQuality {
    let analysis = Analysis { timeline, state: timeline.state(), spec };
    analysis.plateau_quality(&analysis.times())
}

struct Analysis<'a> {
    timeline: &'a Timeline,
    state: &'a RunState,
    spec: &'a RunSpec,
}

impl Analysis<'_> {
    fn measurement(&self) -> Measurement {
        let (state, printed) = (self.state, &self.state.program.printed);
        let time = self.times();
        let plateau = self.plateau_quality(&time);
        let verdict = self.verdict(&time, plateau.clone());
        let speaks = state.follows_protocol(self.spec);
        let (exit_code, signal) = match &state.end {
            Some((_, ProgramEnd::Exited { code, signal, .. })) => (*code, *signal),
            _ => (None, None),
        };
        let stderr = &state.account.stderr;
        let mut measurement = Measurement {
            started_at: self.timeline.started_at,
            stderr_tail: (verdict.reason.is_some() && !stderr.is_empty()).then(|| stderr.clone()),
            status: verdict.status,
            reason: verdict.reason,
            limit: verdict.limit.map(Box::new),
            alive: self.alive(),
            // These lines mean nothing in a program that does not use the protocol.
            done: printed.done.filter(|_| speaks),
            failed: printed.failed.filter(|_| speaks),
            plateau_from: state.plateau_from(),
            stopped: state.was_stopped(),
            exit_code,
            signal,
            threads: self.counted().map(|reading| reading.threads),
            processes: self.counted().map(|reading| reading.processes),
            time,
            cpu: self.cpu(),
            memory: self.memory(),
            metrics: printed.metrics.clone(),
            work: self.work().map(Box::new),
            load: self.load().map(Box::new),
            histograms: printed.histograms.clone(),
            warnings: Vec::new(),
        };
        measurement.warnings = self.warnings(&measurement, &plateau);
        measurement
    }

    fn is_work(&self) -> bool {
        self.spec.scenario.work().is_some()
    }

    /// The reading that counts.
    fn reading(&self) -> Option<&Reading> {
        self.state.reading.as_ref().map(|(_, read)| &read.reading)
    }

    /// The reading that counts, if it found any process.
    fn counted(&self) -> Option<&Reading> {
        self.reading().filter(|reading| reading.processes > 0)
    }

    /// Tasks alive at once, as printed by the program, or by the load if its clients are the tasks.
    fn alive(&self) -> Option<u64> {
        let printed = self.state.program.printed.alive;
        match self.state.plateau_from() {
            Some(PlateauFrom::Protocol) => printed,
            // For a catalog program the line counts even if it was printed at the wrong time.
            None if self.spec.scenario.black_box().is_none() => printed,
            _ => self.state.load_alive(),
        }
    }

    fn end_ns(&self) -> Option<u64> {
        let ended = self.state.end.as_ref();
        ended.and_then(|(at_ns, end)| matches!(end, ProgramEnd::Exited { .. }).then_some(*at_ns))
    }

    /// When the plateau was over.
    fn plateau_end_ns(&self) -> Option<u64> {
        let told_to_end = self.state.stop_ns.is_some() || self.spec.scenario.serve().is_some();
        let ended = self.state.plateau_end.filter(|_| told_to_end).map(|(at_ns, _)| at_ns);
        ended.or(self.state.due_ns(self.spec)).or(self.end_ns())
    }

    fn times(&self) -> Time {
        let state = self.state;
        let Some(exec) = state.exec_ns else { return Time::default() };
        let since_exec = |at: u64| seconds(exec, at);
        let read = state.reading.as_ref();
        let since_ns = state.plateau.map(|plateau| plateau.since_ns);
        let wall_s = self.end_ns().map(since_exec);
        let time = Time {
            wall_s,
            plateau_read_at_s: read.map(|(at_ns, _)| since_exec(*at_ns)),
            reading_s: read.map(|(at_ns, read)| seconds(*at_ns, read.end_ns)),
            ..Time::default()
        };
        if self.is_work() {
            // Launch ends at `ready`, drain begins at `done`, and the work is in between.
            let drain_s = state.program.done_ns.zip(self.end_ns()).map(|(from, to)| seconds(from, to));
            return Time { launch_s: since_ns.map(since_exec), drain_s, ..time };
        }
        let launch_s = state.launch_end.map(|(at_ns, _)| at_ns).or(since_ns).map(since_exec);
        let end_s = self.plateau_end_ns().map(since_exec);
        let phases = launch_s.zip(end_s);
        Time {
            launch_s,
            // Includes the clients' first messages, so that the phases add up to the whole. The plateau of a program that
            // ends early ends with the program.
            plateau_s: phases
                .map(|(launch, end)| (wall_s.map_or(end, |wall| end.min(wall)) - launch).max(0.0)),
            drain_s: phases.zip(wall_s).map(|((launch, end), wall)| (wall - launch.max(end)).max(0.0)),
            ..time
        }
    }

    fn cpu(&self) -> Cpu {
        let state = self.state;
        let usage = match &state.end {
            Some((_, ProgramEnd::Exited { user_s, system_s, .. })) => CpuReading::of(*user_s, *system_s),
            _ => CpuReading::default(),
        };
        // A cgroup also counts processes that have ended. Without one, only the usage of waited-for processes
        // is known.
        let end = self.group_cpu().unwrap_or(usage);
        let phase =
            |from: Option<CpuReading>, to: Option<CpuReading>| Some((to?.total_s - from?.total_s).max(0.0));
        let at_plateau = state.plateau.and_then(|plateau| plateau.cpu);
        let at_launch = state.launch_end.map_or(at_plateau, |(_, cpu)| cpu);
        let at_start = at_launch.map(|_| CpuReading::default());
        // If tasks were due before all had started, there was no plateau: the drain follows the launch.
        let alive_and_due = state.plateau.zip(state.due_ns(self.spec));
        let no_plateau = alive_and_due.is_some_and(|(plateau, due)| plateau.since_ns >= due);
        let at_due = if no_plateau { at_plateau } else { state.plateau_end.and_then(|(_, cpu)| cpu) };
        // If the cgroup does not split its CPU time, the first process's user share is used.
        let user_s = end.user_share.or(usage.user_share).map(|share| end.total_s * share);
        Cpu {
            user_s,
            system_s: user_s.map(|user_s| end.total_s - user_s),
            launch_s: phase(at_start, at_launch),
            // For work, `Work::cpu_s` is this time.
            plateau_s: phase(at_launch, at_due).filter(|_| !self.is_work()),
            drain_s: phase(at_due, Some(end)),
        }
    }

    fn group_cpu(&self) -> Option<CpuReading> {
        self.state.account.cpu.filter(|cpu| cpu.total_s > 0.0 && self.timeline.host.has_group())
    }

    fn memory(&self) -> Memory {
        let (state, source) = (self.state, self.timeline.host.source);
        // A program that is root may reset a record.
        let recorded = [
            state.last_read.as_ref().map(|read| read.stood),
            state.last_look.as_ref().and_then(|(_, look)| look.standing),
        ];
        let recorded = recorded.into_iter().flatten().filter_map(|at| Some(at.peak?.0));
        let kept = state.account.peak_bytes.map(|peak| recorded.fold(peak, u64::max));
        // If the work ended before the reading did, tasks may be missing.
        let reading = self.counted().filter(|_| !(self.is_work() && self.is_late()));
        let rss_peak = match &state.end {
            Some((_, ProgramEnd::Exited { rss_peak_bytes, .. })) => Some(*rss_peak_bytes),
            _ => None,
        };
        let rss_peak = rss_peak.into_iter().chain(reading.map(|reading| reading.rss_peak_bytes)).max();
        // Samples may miss the peak. It is at least the reading, and at least the peak RSS of one process, less
        // file pages that may be charged to another cgroup.
        let read = reading.and_then(|reading| reading.memory.group_bytes.or(reading.memory.rss_bytes));
        let files = reading.filter(|_| source != MemorySource::Proc);
        let one_process =
            rss_peak.unwrap_or(0).saturating_sub(files.map_or(0, |reading| reading.memory.file_bytes));
        let sampled = state.sampled_peak.max(read.unwrap_or(0)).max(one_process);
        Memory {
            source,
            plateau: reading.map(|reading| reading.memory.clone()),
            peak_bytes: kept.or((sampled > 0).then_some(sampled)),
            rss_peak_bytes: rss_peak.filter(|bytes| *bytes > 0),
            cap_bytes: self.spec.bounds.memory_bytes,
            connected: state.connected.as_ref().map(|read| Box::new(read.reading.memory.clone())),
            loaded: state.stages_over.as_ref().and_then(|(_, memory)| memory.clone()).map(Box::new),
        }
    }

    /// The evidence for and against the plateau.
    fn plateau_quality(&self, time: &Time) -> PlateauQuality {
        let state = self.state;
        let due_ns = state.due_ns(self.spec);
        let since_ns = state.plateau.map(|plateau| plateau.since_ns);
        let stood = state.last_read.as_ref().map(|read| read.stood);
        let look = state.last_look.as_ref();
        let looked_late = due_ns.is_some_and(|due_ns| look.is_none_or(|(at_ns, _)| *at_ns >= due_ns));
        let standing = look.and_then(|(_, look)| look.standing).zip(stood);
        let grown_bytes = standing.filter(|_| !looked_late).and_then(|(now, then)| now.grown_since(&then));
        let escaped = state.last_read.as_ref().map_or(0, |read| read.escaped);
        let left = look.is_some_and(|(_, look)| look.left);
        let quiescence = match &state.reading {
            Some((_, read)) if self.worked_until_it_ended(read) => Quiescence::AtWork,
            Some((read_ns, _)) if !self.is_work() => quiescence(self.timeline, self.spec, *read_ns),
            _ => Quiescence::Quiet,
        };
        let starved_s = state.plateau.map_or(0.0, |plateau| plateau.starved_s);
        let said_together =
            since_ns.zip(state.program.done_ns).filter(|(alive, done)| seconds(*alive, *done) < UNFLUSHED_S);
        let unheard = said_together.is_some_and(|(alive, done)| self.may_have_waited(alive, done));
        PlateauQuality {
            read: self.counted().is_some(),
            late: self.is_late(),
            alive_at_end: said_together.is_some() && !unheard,
            unheard,
            quiescence,
            contradiction: self.reading().and_then(|reading| reading.contradiction),
            grown_bytes,
            // A change seen after the first task was due may come from due tasks or from late ones.
            unwatched: state.reading.is_some()
                && looked_late
                && !standing.is_some_and(|(now, then)| now.is_same_as(&then)),
            held_back: grown_bytes.is_none() && state.waits_for_cpu(),
            escaped: if escaped == 0 { usize::from(left) } else { escaped },
            came_back: state.account.came_back,
            outside_s: self.outside_s(),
            above_cap: self.above_cap(),
            starved_launch: time.launch_s.map(|launch_s| (launch_s, starved_s)).filter(
                |(launch_s, starved_s)| {
                    let many = self.spec.tasks > 1 && due_ns.is_none();
                    many && *launch_s >= STARVED_LAUNCH_S && *starved_s > 0.5 * launch_s
                },
            ),
        }
    }

    /// Whether a program with an inferred plateau used the CPU after memory was read and ended before the
    /// plateau was over: it had only paused while starting.
    fn worked_until_it_ended(&self, read: &MemoryReading) -> bool {
        let (state, last) = (self.state, self.timeline.usage().points().last());
        let inferred =
            state.plateau_from() == Some(PlateauFrom::Outside) && state.due_ns(self.spec).is_none();
        let unwatched = inferred && state.last_look.is_none() && !state.was_stopped();
        let used_s = last.and_then(|last| Some(last.sample.cpu_s? - read.cpu?.total_s));
        let watched_s = last.map_or(0.0, |last| seconds(read.end_ns, last.sample.at_ns));
        unwatched && used_s.is_some_and(|used_s| used_s > IDLE_SHARE * watched_s)
    }

    /// CPU time, in seconds, of the first process, the children it waited for and ended orphans, beyond what the cgroup was
    /// charged. A process had left the cgroup, and may have ended before taskscale looked for it.
    fn outside_s(&self) -> Option<f64> {
        let Some((_, ProgramEnd::Exited { user_s, system_s, orphans_s, .. })) = self.state.end else {
            return None;
        };
        let inside_s = self.group_cpu()?.total_s;
        let outside_s = user_s + system_s + orphans_s - inside_s;
        (outside_s > OUTSIDE_S.max(OUTSIDE_SHARE * inside_s)).then_some(outside_s)
    }

    /// The peak and the cap, where the peak is higher by more than the kernel lets through for itself.
    fn above_cap(&self) -> Option<(u64, u64)> {
        let cap = self.spec.bounds.memory_bytes.filter(|_| self.timeline.host.enforces_cap)?;
        let peak = self.state.account.want.bounded_peak_bytes?;
        is_growth(cap, peak).then_some((peak, cap))
    }

    /// Whether lines that were received together may have been printed a whole wait apart, because taskscale
    /// was not scheduled. It samples until the first task is due, so only a gap before that instant counts.
    fn may_have_waited(&self, alive_ns: u64, done_ns: u64) -> bool {
        let usage = self.timeline.usage().until(alive_ns);
        let looked = usage.points().last().map(|last| last.sample.at_ns);
        looked.zip(self.state.due_ns(self.spec)).is_some_and(|(looked_ns, due_ns)| {
            looked_ns.saturating_add(LONGEST_GAP_NS) < due_ns
                && seconds(looked_ns, done_ns) >= self.spec.scenario.hold_s()
        })
    }

    /// Whether tasks may have ended before the last reading did.
    fn is_late(&self) -> bool {
        let over_ns = if self.is_work() {
            // A `done` received right after the reading may have been printed during it.
            self.state.program.done_ns.map(|done_ns| done_ns.saturating_sub((HEARD_LATE_S * 1e9) as u64))
        } else {
            self.state.due_ns(self.spec)
        };
        over_ns.zip(self.state.last_read.as_ref()).is_some_and(|(over_ns, read)| read.end_ns >= over_ns)
    }

    fn warnings(&self, measurement: &Measurement, plateau: &PlateauQuality) -> Vec<Warning> {
        let Measurement { time, cpu, work, load, .. } = measurement;
        let (state, host, account) = (self.state, &self.timeline.host, &self.state.account);
        let starved = matches!(plateau.quiescence, Quiescence::Starved | Quiescence::HeldBack);
        let short = time.plateau_s.is_some_and(|plateau_s| plateau_s < self.spec.plateau_wanted_s());
        let found = [
            (account.left_shared_memory, Warning::LeftSharedMemory),
            (state.left_processes > 0, Warning::LeftProcesses),
            (state.grew, Warning::PlateauGrew),
            (state.fell, Warning::PlateauFell),
            (
                plateau.read && !plateau.quiescence.is_quiet(self.spec.scenario.wakes()),
                Warning::PlateauNotQuiet,
            ),
            (account.starved_s >= STARVED_S || starved, Warning::CpuStarved),
            (self.is_machine_busy(cpu, time.wall_s), Warning::MachineBusy),
            (account.peak_bytes.is_none() && host.enforces_cap, Warning::PeakSampled),
            (account.stray_lines > 0 && state.follows_protocol(self.spec), Warning::StrayOutput),
            (state.plateau.is_some() && short, Warning::PlateauShort),
            (host.unlocked, Warning::MachineNotLocked),
        ];
        let read = self.reading().into_iter().flat_map(|reading| reading.warnings.iter().copied());
        let of_work = work.as_ref().and_then(|work| self.work_warning(work));
        let mut warnings: Vec<Warning> = Warning::applying(found)
            .chain(read)
            .chain(of_work)
            .chain(load.iter().flat_map(|load| self.load_warnings(load)))
            .collect();
        warnings.sort();
        warnings.dedup();
        warnings
    }

    /// Whether processes other than the run, its load and taskscale used more than `BUSY_SHARE` of the CPUs
    /// during the run.
    fn is_machine_busy(&self, cpu: &Cpu, wall_s: Option<f64>) -> bool {
        let account = &self.state.account;
        let others_s = || {
            // Without the load's CPU time, that of other processes is unknown.
            let load_s = self.state.load_started_ns.map_or(Some(0.0), |_| Some(account.load_cpu?.total_s));
            Some(account.system_cpu_s? - cpu.total_s()? - load_s?)
        };
        let possible_s = wall_s.map(|wall_s| self.timeline.host.cpus as f64 * wall_s);
        others_s().zip(possible_s).is_some_and(|(others_s, possible_s)| others_s > BUSY_SHARE * possible_s)
    }

    fn want_of_memory(&self) -> MemoryWant {
        let account = &self.state.account;
        MemoryWant {
            cap_hit: account.want.cap_hit
                || account.peak_bytes.is_some_and(|peak| fills_cap(self.spec, peak)),
            out_of_memory: account.want.out_of_memory
                || self.state.kill.is_some_and(|kill| kill.out_of_memory),
            ..account.want
        }
    }

    /// The program or the load, and the word, if it printed `done` or `failed` before memory was read. Counts
    /// only if it also printed `alive`: other programs may print anything.
    fn over_early(&self) -> Option<(&'static str, &'static str)> {
        let state = self.state;
        let read_ns = state.last_read.as_ref().map_or(u64::MAX, |read| read.end_ns);
        let (who, speaker) = match state.plateau_from() {
            Some(PlateauFrom::Protocol) if state.load_started_ns.is_none() => ("the program", &state.program),
            Some(PlateauFrom::LoadLine | PlateauFrom::LoadAfter) if state.load.printed.alive.is_some() => {
                ("the load", &state.load)
            }
            _ => return None,
        };
        let words = [(speaker.done_ns, "done"), (speaker.failed_ns, "failed")];
        let early = words.into_iter().find(|(at_ns, _)| at_ns.is_some_and(|at_ns| at_ns < read_ns));
        early.map(|(_, word)| (who, word))
    }

    fn verdict(&self, time: &Time, plateau: PlateauQuality) -> RunVerdict {
        let (state, spec, account) = (self.state, self.spec, &self.state.account);
        let printed = &state.program.printed;
        // If open files are exhausted, the client may be the one that prints the error.
        let stderr = match state.load_started_ns {
            Some(_) => format!("{}\n{}", account.load_stderr, account.stderr),
            None => account.stderr.clone(),
        };
        let observed = Observed {
            spec,
            printed,
            end: state.end.as_ref().map(|(_, end)| end),
            ended_by: state.kill.map(|kill| kill.why),
            want: self.want_of_memory(),
            stood_at_cap: state.kill.is_some_and(|kill| kill.at_cap),
            time_cap_s: time_cap(self.timeline, spec).0,
            wall_s: time.wall_s,
            done_s: self.timeline.done_s(),
            launch_s: time.launch_s,
            counted: self.counted().map(|reading| (reading.threads, reading.processes)),
            plateau,
            done_after_ready: state.plateau.is_some()
                && state.program.done_ns.is_some()
                && !state.program.done_first,
            evidence: LimitEvidence {
                refused_threads: account.refused_threads,
                tasks: spec.tasks,
                // For work, `failed` counts operations.
                started: printed
                    .failed
                    .filter(|_| !self.is_work())
                    .map(|failed| spec.tasks.saturating_sub(failed)),
                threads: state.most_threads,
                open_files: state.files.map(|(own, _)| own),
                files_used_up: state.files.is_some_and(|(_, used_up)| used_up),
                stderr: &stderr,
            },
            limits: &self.timeline.host.limits,
        };
        let Some(black_box) = spec.scenario.black_box().filter(|_| !state.follows_protocol(spec)) else {
            return classify(&observed);
        };
        classify_black_box(&BlackBoxEvidence {
            run: &observed,
            black_box,
            ready: state.ready_ns.is_some() || state.plateau.is_some(),
            read: state.reading.is_some(),
            inferred: state.plateau_from() == Some(PlateauFrom::Outside),
            stopped: state.was_stopped(),
            alive: self.alive(),
            over_early: self.over_early(),
            left_processes: state.left_processes as usize,
            other_server: state.other_server,
            load: state.load_started_ns.map(|_| LoadEvidence {
                end: state.load_end.clone().filter(|(_, stopping)| !stopping).map(|(end, _)| end),
                launcher_lost: state.load_lost,
                stderr: account.load_stderr.clone(),
            }),
        })
    }
}
