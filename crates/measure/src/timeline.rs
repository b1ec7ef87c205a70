//! The observations of one run: events and their times. Every decision during the run, and the verdict after
//! it, depend only on the timeline and the settings of the run.
//!
//! Instants are nanoseconds of the monotonic clock since the run began.

use std::mem::discriminant;

use serde::{Deserialize, Serialize};

use super::event::{RunEvent, TimedEvent};
use super::limits::SystemLimits;
use super::protocol::LineKind;
use super::run_state::RunState;
use super::sampler::{UsageHistory, seconds};
use crate::{MemorySource, Timestamp};

/// Initial capacity, enough for nearly every run.
const USUAL_EVENTS: usize = 64;

/// Facts about the machine and the run's cgroup that the verdict needs.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Host {
    /// Where memory is read.
    pub source: MemorySource,
    /// Whether the kernel enforces the memory cap of the run.
    pub enforces_cap: bool,
    /// Whether the kernel records peak memory of the run.
    pub keeps_peak: bool,
    pub cpus: u64,
    /// The machine could not be locked: others may measure at the same time.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub unlocked: bool,
    /// The limits in force when the run began.
    pub limits: SystemLimits,
}

impl Host {
    /// Whether memory must be sampled, to find its peak or to enforce its cap.
    pub fn samples_memory(&self) -> bool {
        !self.enforces_cap || !self.keeps_peak
    }

    /// Whether the run has a cgroup of its own.
    pub fn has_group(&self) -> bool {
        self.source != MemorySource::Proc
    }
}

/// Whether usage samples before an event no longer count after it, because a load starts or memory has changed.
/// `push` still keeps them at a plateau before any stage of clients.
pub(super) fn forgets_usage(event: &RunEvent) -> bool {
    matches!(event, RunEvent::LoadStarted | RunEvent::Dropped(_) | RunEvent::Plateau(_))
}

/// The events of one run, its usage samples, and the state that follows from them.
#[derive(Debug, Clone)]
pub struct Timeline {
    pub started_at: Timestamp,
    pub host: Host,
    events: Vec<TimedEvent>,
    pub(super) usage: UsageHistory,
    state: RunState,
}

impl Timeline {
    pub fn new(started_at: Timestamp, host: Host) -> Timeline {
        let events = Vec::with_capacity(USUAL_EVENTS);
        let (usage, state) = (UsageHistory::default(), RunState::default());
        Timeline { started_at, host, events, usage, state }
    }

    pub fn events(&self) -> &[TimedEvent] {
        &self.events
    }

    pub fn usage(&self) -> &UsageHistory {
        &self.usage
    }

    pub(super) fn state(&self) -> &RunState {
        &self.state
    }

    /// Appends an event. If only the highest, lowest or latest of its kind counts, it replaces the previous
    /// one, so that no program can make the list long.
    pub fn push(&mut self, at_ns: u64, event: RunEvent) {
        let replaced = match &event {
            RunEvent::Line(line) => {
                self.take_line(at_ns, line);
                return;
            }
            RunEvent::LoadLine(line) => {
                self.take_load_line(at_ns, line);
                return;
            }
            RunEvent::Usage(point) => return self.usage.restore(at_ns, *point),
            RunEvent::Connections(count) if self.state.connections.is_some_and(|fewest| *count >= fewest) => {
                return;
            }
            RunEvent::Paused(_)
            | RunEvent::Threads(_)
            | RunEvent::Peak(_)
            | RunEvent::OverCap(_)
            | RunEvent::Connections(_) => {
                self.events.iter().rposition(|old| discriminant(&old.event) == discriminant(&event))
            }
            RunEvent::Standing(_) => self
                .events
                .iter()
                .rposition(|old| matches!(old.event, RunEvent::Standing(_) | RunEvent::Reading(_)))
                .filter(|index| matches!(self.events[*index].event, RunEvent::Standing(_))),
            _ => None,
        };
        self.state.apply(at_ns, &event);
        match &event {
            RunEvent::Reading(_) => self.usage.keep_until(at_ns),
            RunEvent::Plateau(_) if self.state.begun.is_empty() => {}
            event if forgets_usage(event) => self.usage.clear(),
            _ => {}
        }
        self.put(replaced, TimedEvent { at_ns, event });
    }

    /// Takes a line of the program's standard output. Returns whether it belongs to the protocol.
    pub fn take_line(&mut self, at_ns: u64, line: &str) -> bool {
        let kind = self.state.program.take(self.state.by_end(at_ns), line);
        self.put_line(kind, line, at_ns, RunEvent::Line)
    }

    /// Likewise for the load's standard output.
    pub fn take_load_line(&mut self, at_ns: u64, line: &str) -> bool {
        let kind = self.state.load.take_of_load(at_ns, line);
        self.put_line(kind, line, at_ns, RunEvent::LoadLine)
    }

    /// Records a line that has changed the state. Returns whether it belongs to the protocol.
    fn put_line(&mut self, kind: LineKind, line: &str, at_ns: u64, event: fn(String) -> RunEvent) -> bool {
        if !matches!(kind, LineKind::Repeated | LineKind::Stray) {
            let event = event(line.to_owned());
            self.put(self.replaced_line(&event), TimedEvent { at_ns, event });
        }
        kind != LineKind::Stray
    }

    fn put(&mut self, replaced: Option<usize>, event: TimedEvent) {
        match replaced {
            Some(index) => self.events[index] = event,
            None => self.events.push(event),
        }
    }

    /// Index of the line that this one replaces: an earlier value of its metric, or one of many `alive` lines.
    fn replaced_line(&self, new: &RunEvent) -> Option<usize> {
        fn words(event: &RunEvent) -> impl Iterator<Item = &str> {
            let line = match event {
                RunEvent::Line(line) | RunEvent::LoadLine(line) => line,
                _ => "",
            };
            line.split(' ').filter(|word| !word.is_empty())
        }
        let same = |old: &TimedEvent, count: usize| {
            discriminant(&old.event) == discriminant(new)
                && words(&old.event).take(count).eq(words(new).take(count))
        };
        let last = |count: usize| self.events.iter().rposition(|old| same(old, count));
        match words(new).next() {
            Some("metric") => last(2),
            // Keep the first two: together they are a protocol error.
            Some("alive") if self.events.iter().filter(|old| same(old, 1)).count() > 2 => last(1),
            _ => None,
        }
    }

    /// When the program printed `done`, in seconds since exec.
    pub fn done_s(&self) -> Option<f64> {
        let (exec_ns, done_ns) = self.state.exec_ns.zip(self.state.program.done_ns)?;
        Some(seconds(exec_ns, done_ns))
    }
}
