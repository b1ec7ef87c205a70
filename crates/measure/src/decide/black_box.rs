//! Decisions for black-box programs and servers. The ready signal is inferred from outside or named by the
//! user, a load may start, and a program that does not end by itself is stopped after its plateau.

use super::{Action, IDLE_WINDOW_S, OUTSIDE_IDLE_WINDOW_S, RunView, last_look_ns, quiescence, why_dropped};
use crate::PlateauFrom;
use crate::black_box::{BlackBoxCommand, Ready};
use crate::event::{DropReason, MemoryReading};
use crate::evidence::Quiescence;
use crate::observed::EndedBy;
use crate::sampler::{IDLE_SHARE, MemorySnapshot, TICK_S, seconds};

/// How long a load, and then a program, may take to end after SIGTERM, in seconds.
const LOAD_GRACE_S: f64 = 2.0;
const GRACE_S: f64 = 5.0;

impl RunView<'_> {
    pub(super) fn while_observing(&self, exec_ns: u64) -> Action {
        let Some(black_box) = self.spec.scenario.black_box() else { return Action::Wait(TICK_S) };
        let state = self.state;
        if state.plateau_from() == Some(PlateauFrom::Outside) && state.reading.is_none() && !state.read_again
        {
            // The plateau was inferred at this moment.
            return Action::ReadMemory;
        }
        if self.sample_is_due() {
            return Action::Sample;
        }
        // A load's tasks end with it.
        if state.load_has_ended() {
            return Action::Stop;
        }
        if state.ready_ns.is_none()
            && let Some(from) = self.is_ready(black_box, exec_ns)
        {
            return Action::BecomeReady(from);
        }
        let inferred = matches!(state.plateau_from(), None | Some(PlateauFrom::Outside));
        if inferred && let Some((since_ns, from)) = state.load_alive_since(self.spec, self.now) {
            return Action::BeginPlateau { since_ns, from };
        }
        if let Some(action) = self.first_messages() {
            return action;
        }
        match &state.reading {
            None => self.until_idle(black_box),
            Some((read_ns, reading)) => self.after_reading(black_box, *read_ns, reading),
        }
    }

    /// The ready signal that the user named, once it has come. `None` if readiness is inferred.
    fn is_ready(&self, black_box: &BlackBoxCommand, exec_ns: u64) -> Option<PlateauFrom> {
        let state = self.state;
        let (ready, from) = match &black_box.ready {
            Ready::Itself => (false, PlateauFrom::Outside),
            Ready::Line(_) => (state.line_seen, PlateauFrom::ReadyLine),
            Ready::Tcp(_) => (state.accepted, PlateauFrom::ReadyTcp),
            Ready::After(time) => (seconds(exec_ns, self.now) >= time.as_secs_f64(), PlateauFrom::ReadyAfter),
            Ready::Listening => (state.program.printed.port.is_some(), PlateauFrom::Protocol),
        };
        ready.then_some(from)
    }

    /// Waits until the program is idle or its time to settle is over, then starts the load or reads memory.
    fn until_idle(&self, black_box: &BlackBoxCommand) -> Action {
        let (state, usage) = (self.state, self.timeline.usage());
        let known = state.plateau.map(|plateau| plateau.since_ns);
        let Some(since) = known.or(state.may_infer_since(self.spec)) else {
            return Action::Wait(self.tick_s());
        };
        let idle_since = match known {
            Some(since) => self.is_idle_since(since).then_some(since),
            // A load that is working has not started all its tasks yet.
            None => usage.idle_since(since, OUTSIDE_IDLE_WINDOW_S).filter(|_| !self.has_something_to_do()),
        };
        let due_ns = state.due_ns(self.spec);
        let last_moment = seconds(since, self.now) >= black_box.settle.as_secs_f64()
            || due_ns.is_some_and(|due_ns| self.is_last_moment(due_ns));
        if idle_since.is_none() {
            if !last_moment {
                return Action::Wait(self.tick_s());
            }
            if usage.points().last().is_some_and(|last| last.doing.is_none()) {
                return Action::Look;
            }
        }
        let from = PlateauFrom::Outside;
        if known.is_some() {
            Action::ReadMemory
        } else if black_box.load.is_some() && state.load_started_ns.is_none() {
            // The program is idle: start its load.
            Action::BecomeReady(from)
        } else {
            Action::BeginPlateau { since_ns: idle_since.unwrap_or(self.now), from }
        }
    }

    /// After memory was read: waits for the rest of the plateau, then checks memory once more.
    fn after_reading(&self, black_box: &BlackBoxCommand, read_ns: u64, reading: &MemoryReading) -> Action {
        let state = self.state;
        if let Some(first) = self.begins_first_messages() {
            return first;
        }
        let due_ns = state.due_ns(self.spec);
        let inferred = state.plateau_from() == Some(PlateauFrom::Outside);
        let plateau_ns = (self.spec.plateau_wanted_s() * 1e9) as u64;
        let end_ns = match due_ns {
            Some(due_ns) => last_look_ns(self.spec, due_ns),
            // Watch an inferred plateau for its whole length again: it may have been a pause in the launch.
            None if inferred || state.read_again => read_ns + plateau_ns,
            None => state.plateau.map_or(read_ns, |plateau| plateau.since_ns) + plateau_ns,
        };
        let over = self.now >= end_ns;
        if state.last_look.is_none() {
            let checks = inferred && quiescence(self.timeline, self.spec, read_ns) == Quiescence::Quiet;
            let standing = state.standing.filter(|(at_ns, _)| !self.sampled_since(*at_ns));
            if over && (checks || due_ns.is_none()) && standing.is_none() {
                return Action::Compare;
            }
            let standing = standing.map(|(_, standing)| standing);
            if checks && let Some(action) = self.doubt(black_box, read_ns, reading, standing.filter(|_| over))
            {
                return action;
            }
            if over {
                return match standing.filter(|_| {
                    due_ns.is_none() && self.has_time(black_box, state.plateau.map(|p| p.since_ns))
                }) {
                    // Memory has grown since it was read, and there is time to read it again.
                    Some(standing) if standing.grown_since(&reading.stood).is_some() => {
                        Action::Drop(why_dropped(&standing, &reading.stood))
                    }
                    _ => Action::LastLook,
                };
            }
        }
        let until_ns = due_ns.unwrap_or(end_ns + (IDLE_WINDOW_S * 1e9) as u64);
        if let Some(look_ns) = self.next_look_ns(end_ns, until_ns) {
            return if self.now >= look_ns { Action::LastLook } else { Action::Wait(self.tick_s()) };
        }
        match due_ns {
            None if over && self.spec.scenario.serve().is_some() => self.advance_clients(),
            None if over => Action::Stop,
            Some(due_ns) if self.now >= due_ns && state.plateau_end.is_none() => Action::EndPlateau,
            _ => Action::Wait(self.tick_s()),
        }
    }

    /// Drops an inferred plateau that was a pause, or marks it as doubtful. `standing`: memory, once the
    /// plateau is over.
    fn doubt(
        &self,
        black_box: &BlackBoxCommand,
        read_ns: u64,
        reading: &MemoryReading,
        standing: Option<MemorySnapshot>,
    ) -> Option<Action> {
        let usage = self.timeline.usage();
        let last = usage.points().last()?;
        let moved = match standing {
            Some(standing) => !standing.is_same_as(&reading.stood),
            None => !reading.stood.in_use_is_about(last.sample.memory),
        };
        // Waiting tasks use no CPU.
        let used_s = last.sample.cpu_s.zip(reading.cpu).map(|(now_s, then)| now_s - then.total_s);
        let at_work = used_s.is_some_and(|used_s| used_s >= IDLE_SHARE * seconds(read_ns, self.now));
        let has_time =
            self.has_time(black_box, Some(self.state.may_infer_since(self.spec).unwrap_or(read_ns)));
        let quiescence = match (moved, standing.is_some()) {
            (true, _) => Quiescence::Changing,
            (false, true) if at_work => Quiescence::AtWork,
            (false, true) if self.has_something_to_do() => {
                // Its pause may just be over, and it waits for a CPU: let it continue.
                if has_time {
                    return Some(Action::Wait(self.tick_s()));
                }
                match last.doing.is_some_and(|doing| doing.is_stopped) {
                    true => Quiescence::Stopped,
                    false => usage.quiescence(read_ns, self.now),
                }
            }
            (false, _) => return None,
        };
        Some(if has_time { Action::Drop(DropReason::Pause) } else { Action::Doubt(quiescence) })
    }

    /// Whether the program still has time to become idle.
    fn has_time(&self, black_box: &BlackBoxCommand, since: Option<u64>) -> bool {
        since.is_some_and(|since| seconds(since, self.now) < black_box.settle.as_secs_f64())
    }

    fn sampled_since(&self, at_ns: u64) -> bool {
        self.timeline.usage().points().last().is_some_and(|last| last.sample.at_ns > at_ns)
    }

    /// Stops the load first, so that the client closes the connections. TCP then reserves the ports on the
    /// client's side, not on the server's.
    pub(super) fn while_stopping(&self, since_ns: u64) -> Action {
        let state = self.state;
        if !state.load_is_over() {
            let late = seconds(since_ns, self.now) > LOAD_GRACE_S && !state.load_killed;
            return if late { Action::KillLoad } else { Action::Wait(self.tick_s()) };
        }
        match state.asked_ns {
            None => Action::Ask,
            Some(asked_ns) if seconds(asked_ns, self.now) > GRACE_S => Action::Kill(EndedBy::Stopped),
            Some(_) => Action::Wait(self.tick_s()),
        }
    }
}
