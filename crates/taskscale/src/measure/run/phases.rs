//! The phases of a run by the clock: when the plateau has begun, when the program is quiet, when memory is read.

use super::{Run, SAMPLE_S, now_ns, seconds};
use crate::measure::MeasureError;
use crate::measure::group::CpuReading;
use crate::measure::{plateau, procfs};
use crate::record::{PlateauFrom, Warning};

/// The CPU is quiet when the run used less than this share of one core over `QUIET_WINDOW_S`.
pub(super) const QUIET_SHARE: f64 = 0.02;
const QUIET_WINDOW_S: f64 = 0.1;
/// The plateau is read no later than this before the first task can be due.
pub(super) const READ_MARGIN_S: f64 = 0.15;
/// Memory that grew by more than both after the reading is marked.
const GROWTH_SHARE: f64 = 0.05;
const GROWTH_MIN_BYTES: u64 = 4 << 20;
/// When that is looked for, before the first task can be due.
const LAST_LOOK_S: f64 = 0.05;
/// How often a run is looked at while it launches or falls quiet.
pub(super) const TICK_S: f64 = 0.02;

/// A cheap look at a run that is falling quiet. What could not be read is absent.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look {
    pub at_ns: u64,
    pub cpu: Option<CpuReading>,
    /// Of the load, where there is one.
    pub load_cpu: Option<CpuReading>,
    pub memory: Option<u64>,
    /// Bytes of output so far.
    pub heard: u64,
}

/// A pipe holds so much. A program that wrote more within a window may wait for its reader, and only seem quiet.
const PIPE_BYTES: u64 = 64 * 1024;

impl Run<'_> {
    /// How long nothing needs to be done unless something happens.
    pub(super) fn wait_s(&self) -> f64 {
        if self.end.is_some() || self.ending_since_ns.is_some() {
            return 1.0;
        }
        let sampling = !self.group.enforces_memory_cap() || self.group.memory_peak().is_none();
        if sampling {
            return SAMPLE_S;
        }
        if self.reading.is_none() || !self.speaks_protocol() {
            return TICK_S;
        }
        match self.due_ns() {
            // Between the reading and the first task's due time there is nothing to look at but growth, once.
            Some(due) if !self.looked_again => seconds(now_ns(), last_look(due)).clamp(0.0005, 1.0),
            Some(due) if self.cpu_at_due.is_none() => seconds(now_ns(), due).clamp(0.0005, 1.0),
            _ => 1.0,
        }
    }

    /// Whether the run is one of the protocol, to its end: it said `alive`, and ends when its hold is over.
    pub(super) fn speaks_protocol(&self) -> bool {
        self.spec
            .foreign
            .as_ref()
            .is_none_or(|foreign| foreign.told_hold && self.plateau_from == Some(PlateauFrom::Protocol))
    }

    /// No task can be due before this: tasks start after exec, and wait for the hold. Unknown where the program was
    /// not told to wait.
    pub(super) fn due_ns(&self) -> Option<u64> {
        let told = self.spec.foreign.as_ref().is_none_or(|foreign| foreign.told_hold);
        told.then_some(())?;
        Some(self.exec_ns? + (self.spec.hold_s * 1e9) as u64)
    }

    /// The plateau has begun: known for sure, and so what was only inferred before counts no more.
    pub(super) fn begin_plateau(&mut self, from: PlateauFrom, at_ns: u64) {
        self.plateau_ns = Some(at_ns);
        self.plateau_from = Some(from);
        self.cpu_at_plateau = self.group.cpu();
        self.reading = None;
        self.read_ns = None;
    }

    /// What is to be done by the clock.
    pub(super) fn tick(&mut self, now: u64) -> Result<(), MeasureError> {
        if self.end.is_some() || self.ending_since_ns.is_some() {
            return Ok(());
        }
        self.sample_memory();
        if self.speaks_protocol() {
            self.tick_protocol(now);
            return Ok(());
        }
        self.tick_outside(now)
    }

    fn tick_protocol(&mut self, now: u64) {
        let Some(due) = self.due_ns() else { return };
        let Some(alive) = self.plateau_ns else {
            self.sample_threads();
            return;
        };
        if self.reading.is_none() {
            self.looks.push(Look {
                at_ns: now,
                cpu: self.group.cpu(),
                load_cpu: None,
                memory: None,
                heard: 0,
            });
            let last_moment = now + ((READ_MARGIN_S + TICK_S) * 1e9) as u64 >= due;
            let quiet = self.is_quiet_since(alive, now);
            if quiet || last_moment {
                self.read_plateau(now);
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

    /// Reads memory page by page: once, as it is not free.
    pub(super) fn read_plateau(&mut self, now: u64) {
        self.reading = Some(plateau::read(self.group.as_ref()).unwrap_or_default());
        self.read_ns = Some(now);
        self.memory_at_reading = self.group.memory_now();
        if let Some(files) = &mut self.files {
            files.extend(self.group.processes().into_iter().flat_map(procfs::mapped_paths));
        }
    }

    /// Tasks that only wait need no more memory: what comes after the reading was not alive when `alive` was said.
    pub(super) fn has_grown_since(&self, then: u64) -> bool {
        let now = self.group.memory_now().unwrap_or(0);
        now.saturating_sub(then) > GROWTH_MIN_BYTES.max((then as f64 * GROWTH_SHARE) as u64)
    }

    /// Whether so much output came since a look that the program may have been held up by it.
    pub(super) fn wrote_much_since(&self, look: &Look) -> bool {
        self.looks.last().is_some_and(|last| last.heard - look.heard >= PIPE_BYTES)
    }

    /// Whether the CPU has been quiet for a window that began no earlier than `since`.
    pub(super) fn is_quiet_since(&self, since: u64, now: u64) -> bool {
        let Some(last) = self.looks.last().and_then(|look| look.cpu) else { return false };
        let window_start = now.saturating_sub((QUIET_WINDOW_S * 1e9) as u64);
        // The latest look that is at least a window old, and not of the launch.
        let earlier = self.looks.iter().rev().find(|look| look.at_ns <= window_start && look.at_ns >= since);
        earlier
            .filter(|look| !self.wrote_much_since(look))
            .and_then(|look| Some((look.at_ns, look.cpu?)))
            .is_some_and(|(at, cpu)| (last.total_s - cpu.total_s) / seconds(at, now) < QUIET_SHARE)
    }
}

/// When the plateau is looked at for the last time: before the first task can be due, which may allocate.
pub(super) fn last_look(due_ns: u64) -> u64 {
    due_ns.saturating_sub((LAST_LOOK_S * 1e9) as u64)
}
