//! Decides the next action of a run. Pure: a function of its timeline, its settings and the time.

mod black_box;
mod serve;

use super::black_box::Ready;
use super::event::DropReason;
use super::evidence::Quiescence;
use super::observed::EndedBy;
use super::run_state::RunState;
use super::sampler::{MemorySnapshot, TICK_S, seconds};
use super::timeline::Timeline;
use super::{RunSpec, Scenario};
use crate::PlateauFrom;
use taskscale_load::Begin;

/// How long CPU and memory must have been idle, in seconds.
const IDLE_WINDOW_S: f64 = 0.1;
/// The same for a program observed from outside. Longer, because a program may pause while it starts.
const OUTSIDE_IDLE_WINDOW_S: f64 = 0.5;
/// Seconds between the end of the latest possible reading and the time at which the first task can be due.
const READ_MARGIN_S: f64 = 0.15;
/// Seconds before the last moment to read at which an early reading is compared, and repeated if outdated.
const READ_AGAIN_S: f64 = 0.3;
/// Seconds before the first task can be due at which memory is checked for the last time.
const LAST_LOOK_S: f64 = 0.05;
/// Timeout of a run that is going to hit a limit, in seconds.
const DOOMED_S: f64 = 5.0;
/// Sampling period for memory if the kernel records no peak or enforces no cap, in seconds.
const SAMPLE_S: f64 = 0.005;
/// A cgroup counts as full from this share of its cap: the kernel charges in batches and keeps a little back.
const FULL_SHARE: f64 = 0.98;
/// The shortest and the longest wait, in seconds.
const WAIT_S: (f64, f64) = (0.0005, 1.0);

/// The next action of a run.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Action {
    /// Wait this many seconds unless an event arrives.
    Wait(f64),
    /// Take a usage sample.
    Sample,
    /// Read what the threads are doing.
    Look,
    /// The program is ready: start its load, or begin the plateau if it has none.
    BecomeReady(PlateauFrom),
    BeginPlateau {
        since_ns: u64,
        from: PlateauFrom,
    },
    ReadMemory,
    /// Read current memory, for comparison with the reading.
    Compare,
    /// Discard the reading.
    Drop(DropReason),
    /// Keep the reading, although the program was not idle.
    Doubt(Quiescence),
    LastLook,
    EndPlateau,
    /// Have the clients begin a stage.
    Begin(Begin),
    /// Read memory after the last stage.
    EndStages,
    /// Begin to stop the program: its load first.
    Stop,
    /// Ask the program itself to end.
    Ask,
    KillLoad,
    /// Kill everything.
    Kill(EndedBy),
}

/// The next action at the time `now`. Each except a wait adds an event or a sample, so it is not repeated.
pub fn next_action(timeline: &Timeline, spec: &RunSpec, now: u64) -> Action {
    let run = RunView { timeline, state: timeline.state(), spec, now };
    if let Some(action) = run.heard().or_else(|| run.kill()) {
        return action;
    }
    let action = match run.phase() {
        Phase::Ending => return Action::Wait(WAIT_S.1),
        Phase::Stopping { since_ns } => return run.while_stopping(since_ns),
        Phase::Work => run.while_working(),
        Phase::Hold { due_ns } => run.while_holding(due_ns),
        Phase::BlackBox { exec_ns } => run.while_observing(exec_ns),
        Phase::Starting => Action::Wait(run.tick_s()),
    };
    match action {
        Action::Wait(wait_s) => {
            let left_s = time_cap(timeline, spec).0 - seconds(timeline.state().paused_ns, now);
            Action::Wait(wait_s.min(left_s.max(WAIT_S.0)))
        }
        action => action,
    }
}

/// The phase of a run.
enum Phase {
    /// The exec has not succeeded yet.
    Starting,
    /// Tasks wait, and the earliest time at which one is due is known.
    Hold {
        due_ns: u64,
    },
    Work,
    /// The program is observed from outside.
    BlackBox {
        exec_ns: u64,
    },
    Stopping {
        since_ns: u64,
    },
    /// The program has ended, or everything is being killed.
    Ending,
}

struct RunView<'a> {
    timeline: &'a Timeline,
    state: &'a RunState,
    spec: &'a RunSpec,
    now: u64,
}

impl RunView<'_> {
    fn phase(&self) -> Phase {
        let state = self.state;
        if state.end.is_some() || state.kill.is_some() {
            return Phase::Ending;
        }
        if self.spec.scenario.work().is_some() {
            return Phase::Work;
        }
        if let Some(since_ns) = state.stop_ns {
            return Phase::Stopping { since_ns };
        }
        if state.follows_protocol(self.spec) {
            return state.due_ns(self.spec).map_or(Phase::Starting, |due_ns| Phase::Hold { due_ns });
        }
        let started = state.exec_ns.filter(|_| state.pid.is_some());
        started.map_or(Phase::Starting, |exec_ns| Phase::BlackBox { exec_ns })
    }

    /// The action that follows at once from what the program has printed, even if it has ended since.
    fn heard(&self) -> Option<Action> {
        let (state, program) = (self.state, &self.state.program);
        if self.spec.scenario.work().is_none() {
            // A line that was buffered until the program was stopped is too late to begin a plateau.
            let in_time = self.alive_begins_plateau() && state.stop_ns.is_none();
            let since_ns = program.alive_ns.filter(|_| in_time)?;
            let from = PlateauFrom::Protocol;
            return (state.plateau_from() != Some(from)).then_some(Action::BeginPlateau { since_ns, from });
        }
        // Read memory right after `ready`. That the program is already working does not affect the cost, which
        // is the difference of two runs that are read in the same way.
        match (program.ready_ns, state.plateau) {
            (Some(since_ns), None) => {
                return Some(Action::BeginPlateau { since_ns, from: PlateauFrom::Protocol });
            }
            (Some(_), Some(_)) if state.last_read.is_none() => return Some(Action::ReadMemory),
            _ => {}
        }
        (program.done_ns.is_some() && state.plateau_end.is_none()).then_some(Action::EndPlateau)
    }

    /// Whether the program's own `alive` begins the plateau: not if the user named another ready signal, or if
    /// the tasks are those of a load.
    fn alive_begins_plateau(&self) -> bool {
        match &self.spec.scenario {
            Scenario::Hold(_) => true,
            Scenario::Work(_) | Scenario::Serve(_) => false,
            Scenario::BlackBox(black_box, _) => {
                matches!(black_box.ready, Ready::Itself) && black_box.load.is_none()
            }
        }
    }

    /// The kill that is due now, if any.
    fn kill(&self) -> Option<Action> {
        let state = self.state;
        if state.interrupted {
            return (!state.killed_for_user).then_some(Action::Kill(EndedBy::User));
        }
        if state.kill.is_some() {
            return None;
        }
        if state.over_output {
            return Some(Action::Kill(EndedBy::OutputCap));
        }
        if state.end.is_some() {
            return None;
        }
        let (cap_s, why) = time_cap(self.timeline, self.spec);
        if seconds(state.paused_ns, self.now) > cap_s && state.stop_ns.is_none() {
            return Some(Action::Kill(why));
        }
        state.over_cap.then_some(Action::Kill(EndedBy::MemoryCap))
    }

    /// The usual time between two samples, in seconds.
    fn tick_s(&self) -> f64 {
        if self.timeline.host.samples_memory() { SAMPLE_S } else { TICK_S }
    }

    /// Whether a usage sample is due. A program that writes endlessly wakes taskscale all the time. Sampling
    /// each time would slow the program down until it looked idle.
    fn sample_is_due(&self) -> bool {
        let last = self.timeline.usage().points().last();
        last.is_none_or(|last| {
            let at_ns = last.sample.at_ns;
            let of_plateau = self.state.plateau.is_some_and(|plateau| plateau.since_ns > at_ns);
            seconds(at_ns, self.now) >= TICK_S / 2.0 || of_plateau && at_ns < self.now
        })
    }

    fn wait_until(&self, at_ns: u64) -> Action {
        let wait_s = seconds(self.now, at_ns).clamp(WAIT_S.0, WAIT_S.1);
        Action::Wait(if self.timeline.host.samples_memory() { wait_s.min(SAMPLE_S) } else { wait_s })
    }

    /// Only samples are due, which show CPU starvation.
    fn while_working(&self) -> Action {
        let is_due = self.state.program.done_ns.is_none() && self.sample_is_due();
        if is_due { Action::Sample } else { Action::Wait(self.tick_s()) }
    }

    fn while_holding(&self, due_ns: u64) -> Action {
        let state = self.state;
        if state.reading.is_none() && self.now < due_ns && self.sample_is_due() {
            return Action::Sample;
        }
        let Some(plateau) = state.plateau else { return Action::Wait(self.tick_s()) };
        let Some((_, read)) = &state.reading else {
            let last_moment = self.is_last_moment(due_ns);
            return match self.is_idle_since(plateau.since_ns) {
                true => Action::ReadMemory,
                false if last_moment => self.look_or(Action::ReadMemory),
                false => Action::Wait(self.tick_s()),
            };
        };
        if let Some(action) = self.compare_once(due_ns, &read.stood) {
            return action;
        }
        if let Some(last) = self.next_look_ns(last_look_ns(self.spec, due_ns), due_ns) {
            if self.now >= last {
                return Action::LastLook;
            }
            let again = again_ns(self.spec, due_ns);
            let compared = state.read_again || state.standing.is_some();
            return self.wait_until(if !compared && again > self.now { again } else { last });
        }
        match state.plateau_end {
            None if self.now >= due_ns => Action::EndPlateau,
            None => self.wait_until(due_ns),
            Some(_) => self.wait_until(u64::MAX),
        }
    }

    /// Compares an early reading with current memory, because a garbage collector may run or tasks may start
    /// late. If memory has changed, the reading is dropped: only memory at the end counts.
    fn compare_once(&self, due_ns: u64, stood: &MemorySnapshot) -> Option<Action> {
        let state = self.state;
        if state.read_again || self.now < again_ns(self.spec, due_ns) {
            return None;
        }
        match state.standing {
            None => (self.now < last_moment_ns(self.spec, due_ns)).then_some(Action::Compare),
            Some((_, standing)) if standing.is_same_as(stood) || state.last_look.is_some() => None,
            Some((_, standing)) => Some(Action::Drop(why_dropped(&standing, stood))),
        }
    }

    /// When to look at the run for the last time: at `first_ns`, and every tick until `end_ns` while it waits for a CPU.
    fn next_look_ns(&self, first_ns: u64, end_ns: u64) -> Option<u64> {
        let Some((looked_ns, _)) = &self.state.last_look else { return Some(first_ns) };
        let next_ns = looked_ns + (TICK_S * 1e9) as u64;
        (self.state.waits_for_cpu() && next_ns < end_ns).then_some(next_ns)
    }

    /// Whether CPU and memory have been idle for a while that began at or after `since`, and no thread has
    /// anything to do. A program that waits for a CPU on a busy machine is not idle.
    fn is_idle_since(&self, since: u64) -> bool {
        let quiet = self.timeline.usage().idle_since(since, IDLE_WINDOW_S).is_some();
        quiet && !self.has_something_to_do()
    }

    /// Whether a thread had something to do at the last sample. True if unknown.
    fn has_something_to_do(&self) -> bool {
        let last = self.timeline.usage().points().last();
        last.and_then(|last| last.doing).is_none_or(|doing| doing.anything())
    }

    /// `action`, or `Look` first if the last sample did not read what the threads are doing.
    fn look_or(&self, action: Action) -> Action {
        match self.timeline.usage().points().last() {
            Some(last) if last.doing.is_none() => Action::Look,
            _ => action,
        }
    }

    /// Whether a reading would end too late if it did not begin within a tick.
    fn is_last_moment(&self, due_ns: u64) -> bool {
        self.now + (TICK_S * 1e9) as u64 >= last_moment_ns(self.spec, due_ns)
    }
}

/// The latest time at which a reading still ends before the first task can be due.
fn last_moment_ns(spec: &RunSpec, due_ns: u64) -> u64 {
    before_ns(spec, due_ns, READ_MARGIN_S)
}

/// The time before the first task can be due by `margin_s` and the estimated time of a reading.
fn before_ns(spec: &RunSpec, due_ns: u64, margin_s: f64) -> u64 {
    let reading_s = spec.scenario.wait().map_or(0.0, |wait| wait.reading_s);
    due_ns.saturating_sub(((margin_s + reading_s) * 1e9) as u64)
}

/// When an early reading is compared with current memory.
fn again_ns(spec: &RunSpec, due_ns: u64) -> u64 {
    last_moment_ns(spec, due_ns).saturating_sub((READ_AGAIN_S * 1e9) as u64)
}

fn why_dropped(standing: &MemorySnapshot, stood: &MemorySnapshot) -> DropReason {
    if standing.is_growth_of(stood) {
        DropReason::Grew
    } else if stood.is_growth_of(standing) {
        DropReason::Fell
    } else {
        DropReason::Changed
    }
}

/// When the plateau is checked for the last time: before the first task can be due, as ending may allocate.
fn last_look_ns(spec: &RunSpec, due_ns: u64) -> u64 {
    before_ns(spec, due_ns, LAST_LOOK_S)
}

/// The timeout of a run in seconds, and the reason for the kill. A run that cannot succeed gets a short one: it
/// shows how far it gets, but a JVM would take a minute to start the threads that a usual limit allows.
pub(super) fn time_cap(timeline: &Timeline, spec: &RunSpec) -> (f64, EndedBy) {
    let cap_s = spec.bounds.time.as_secs_f64();
    match timeline.host.limits.exceeds_limit(spec.kind, spec.tasks) {
        Some(_) if cap_s > DOOMED_S && spec.scenario.all_alive() => (DOOMED_S, EndedBy::Doomed),
        _ => (cap_s, EndedBy::TimeOut),
    }
}

/// Whether this many bytes fill the run's cap.
pub(super) fn fills_cap(spec: &RunSpec, bytes: u64) -> bool {
    spec.bounds.memory_bytes.is_some_and(|cap| bytes as f64 >= cap as f64 * FULL_SHARE)
}

/// Whether a program was idle when its memory was read at `read_ns`.
pub(super) fn quiescence(timeline: &Timeline, spec: &RunSpec, read_ns: u64) -> Quiescence {
    let state = timeline.state();
    if let Some(doubt) = state.doubt {
        return doubt;
    }
    let usage = timeline.usage().until(read_ns);
    let last = usage.points().last().and_then(|last| last.doing);
    let Some(plateau) = state.plateau else { return Quiescence::Unwatched };
    let (since, window_s) = match plateau.from {
        PlateauFrom::Outside if !state.read_again => {
            (state.may_infer_since(spec).unwrap_or(plateau.since_ns), OUTSIDE_IDLE_WINDOW_S)
        }
        _ => (plateau.since_ns, IDLE_WINDOW_S),
    };
    let idle = !last.is_none_or(|doing| doing.anything());
    match usage.idle_since(since, window_s) {
        Some(_) if idle => Quiescence::Quiet,
        _ if last.is_some_and(|doing| doing.is_stopped) => Quiescence::Stopped,
        _ => usage.quiescence(since, read_ns),
    }
}
