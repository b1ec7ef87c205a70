//! The quality of a plateau: whether all tasks were alive and idle when memory was read. Pure. No verdict is better
//! than this evidence.

use serde::{Deserialize, Serialize};

use crate::units::mib;

/// Whether a program was idle when its memory was read.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Quiescence {
    /// CPU and memory were idle.
    #[default]
    Quiet,
    /// It used the CPU, but its memory did not change for a while.
    AtWork,
    /// Its memory was changing.
    Changing,
    /// CPU-starved: it was runnable but got less than half a CPU.
    Starved,
    /// Throttled: it was runnable but got almost no CPU, so unchanged memory proves nothing.
    HeldBack,
    /// Unobserved: taskscale was not scheduled, or the machine was paused.
    Unwatched,
    /// A signal had stopped it, so what it does when it continues is unknown.
    Stopped,
}

impl Quiescence {
    /// Whether it was idle. `wakes`: its tasks wake at times, and may use CPU meanwhile.
    pub fn is_quiet(self, wakes: bool) -> bool {
        match self {
            Quiescence::Quiet => true,
            Quiescence::AtWork | Quiescence::Starved => wakes,
            Quiescence::Changing | Quiescence::HeldBack | Quiescence::Unwatched | Quiescence::Stopped => {
                false
            }
        }
    }
}

/// The observations around the reading of memory.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlateauQuality {
    /// Whether any process was read.
    pub read: bool,
    /// The reading may have ended after the first task was due, so some tasks may have ended.
    pub late: bool,
    /// `done` came with `alive`.
    pub alive_at_end: bool,
    /// `done` was heard with `alive`, but taskscale was not scheduled when they may have been printed.
    pub unheard: bool,
    pub quiescence: Quiescence,
    /// Anonymous memory of its processes and as charged to its cgroup, in bytes, where these contradict each other.
    pub contradiction: Option<(u64, u64)>,
    /// How much memory had grown by the end of the plateau, in bytes, where that is more than waiting tasks need.
    pub grown_bytes: Option<u64>,
    /// Nothing was observed right before the first task was due, and memory had changed later: tasks may have come late.
    pub unwatched: bool,
    /// From the reading to the last look it was runnable, but got almost no CPU: unchanged memory proves nothing.
    pub held_back: bool,
    /// Processes of the run outside its cgroup: their memory is missing from the results.
    pub escaped: usize,
    /// A process left the cgroup and came back. Memory that it used in between is charged elsewhere.
    pub came_back: bool,
    /// CPU time that its processes used outside of its cgroup, in seconds, if any.
    pub outside_s: Option<f64>,
    /// The peak of the run and its cap, in bytes, where the cap was exceeded: the program has raised it.
    pub above_cap: Option<(u64, u64)>,
    /// For a CPU-starved launch, in seconds: how long it took from exec, and how long of that the program was runnable
    /// but got less than half a CPU.
    pub starved_launch: Option<(f64, f64)>,
}

/// How taskscale knows of the plateau, besides observing it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Provenance {
    /// The tasks proved it: they woke as often as they must. Their memory may change meanwhile.
    Woke,
    /// The program or its load printed that all tasks are alive.
    Printed,
    /// The ready signal that the user named has come: a line, a connection, a time.
    Named,
    /// Only inferred: the program was idle.
    Inferred,
}

impl PlateauQuality {
    /// Why there is no evidence that all tasks were alive and idle when memory was read, if so.
    pub fn doubt(&self, provenance: Provenance) -> Option<String> {
        let doubt = |why: &str| Some(why.to_owned());
        // It exits so soon after `alive` that it may be gone before memory is read.
        if self.alive_at_end && (self.late || !self.read) {
            return doubt(
                "`alive` was printed only at the end: flush standard output after that line (or make tasks wait longer \
                 than all of them take to start)",
            );
        }
        if self.unheard && (self.late || !self.read) {
            return doubt(
                "inconclusive: taskscale was not scheduled (or the VM was paused) when `alive` may have been printed, \
                 and read memory too late",
            );
        }
        if self.late {
            return doubt("the first tasks were due before memory was read: some may have ended by then");
        }
        if !self.read {
            return doubt("none of its processes could be read while its tasks waited");
        }
        if let Some((shown, charged)) = self.contradiction {
            return Some(format!(
                "its processes have {:.1} MiB of anonymous memory, but its cgroup is charged {:.1} MiB: memory was \
                 charged elsewhere or is outside its processes",
                mib(shown as f64),
                mib(charged as f64)
            ));
        }
        match (self.quiescence, provenance) {
            // A compiler or a garbage collector may wait for a CPU while all tasks are alive.
            (Quiescence::Starved, Provenance::Printed | Provenance::Woke) => {}
            (Quiescence::Changing, Provenance::Woke) => {}
            (Quiescence::Starved | Quiescence::HeldBack, _) => {
                let got = if self.quiescence == Quiescence::Starved {
                    "CPU-starved (less than half a CPU)"
                } else {
                    "throttled (almost no CPU)"
                };
                return Some(format!(
                    "{got} when memory was read, by a CPU quota or a busy machine: it may not have been idle"
                ));
            }
            (Quiescence::Changing, _) => return doubt("memory was still changing when it was read"),
            (Quiescence::Unwatched, _) => {
                return doubt(
                    "inconclusive: taskscale was not scheduled (or the VM was paused) before memory was read, so it \
                     cannot tell whether the program was idle",
                );
            }
            (Quiescence::Stopped, _) => {
                return doubt("a process was stopped (by SIGSTOP or a debugger) when memory was read");
            }
            (Quiescence::AtWork, Provenance::Inferred) => {
                return doubt("the program was still busy when memory was read");
            }
            _ => {}
        }
        if self.unwatched && provenance != Provenance::Woke {
            return doubt(
                "inconclusive: taskscale was not scheduled (or the VM was paused) when the first task was due, and memory \
                 has changed since it was read: tasks may have started late",
            );
        }
        if let Some(bytes) = self.grown_bytes.filter(|_| provenance != Provenance::Woke) {
            return Some(format!(
                "memory grew by {:.1} MiB after it was read: some tasks were still missing",
                mib(bytes as f64)
            ));
        }
        if self.held_back && provenance != Provenance::Woke {
            return doubt(
                "throttled (almost no CPU) since memory was read, by a CPU quota or a busy machine: tasks may have started \
                 late",
            );
        }
        match (self.starved_launch, provenance) {
            (Some((launch_s, starved_s)), Provenance::Inferred) => Some(format!(
                "CPU-starved for {starved_s:.1} s of the {launch_s:.1} s until it was idle: tasks that wait less than \
                 that ended before the last started"
            )),
            _ => None,
        }
    }

    /// Whether a lack of CPUs made the run inconclusive: on an idle machine the program may well have a plateau.
    pub fn unobservable(&self) -> bool {
        let unseen = self.unwatched
            || self.held_back
            || matches!(self.quiescence, Quiescence::HeldBack | Quiescence::Unwatched);
        !self.alive_at_end && (unseen || self.unheard || self.late && self.read)
    }

    /// Returns the reason why the results do not cover the whole program within its cap, if so.
    pub fn require_all_inside(&self) -> Result<(), String> {
        if let Some((peak, cap)) = self.above_cap {
            return Err(format!(
                "its cgroup held {:.0} MiB, above its cap of {:.0} MiB: the program or another process raised the cap \
                 (use --memory-cap)",
                mib(peak as f64),
                mib(cap as f64)
            ));
        }
        Err(match (self.escaped, self.outside_s) {
            (0, _) if self.came_back => {
                "a process left the cgroup of the run and came back: the memory that it used meanwhile may be \
                 missing"
                    .to_owned()
            }
            (0, Some(outside_s)) => {
                format!("a process left the cgroup of the run: {outside_s:.2} s of CPU time are missing")
            }
            (0, None) => return Ok(()),
            (1, _) => "1 process left the cgroup of the run: its memory is missing".to_owned(),
            (many, _) => format!("{many} processes left the cgroup of the run: their memory is missing"),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> PlateauQuality {
        PlateauQuality { read: true, ..PlateauQuality::default() }
    }

    #[test]
    fn a_reading_of_an_idle_program_is_not_doubted() {
        assert_eq!(seen().doubt(Provenance::Printed), None);
        assert_eq!(seen().doubt(Provenance::Inferred), None);
        assert_eq!(seen().require_all_inside(), Ok(()));
    }

    #[test]
    fn a_plateau_without_a_reading_is_doubted() {
        let doubt = PlateauQuality::default().doubt(Provenance::Printed).unwrap();
        assert!(doubt.contains("could be read"), "{doubt}");
    }

    #[test]
    fn alive_at_the_end_yields_a_hint_to_flush() {
        let gone = PlateauQuality { alive_at_end: true, ..PlateauQuality::default() };
        for seen in [gone, PlateauQuality { late: true, alive_at_end: true, ..seen() }] {
            assert!(seen.doubt(Provenance::Printed).unwrap().contains("flush standard output"), "{seen:?}");
        }
    }

    #[test]
    fn a_busy_program_that_printed_alive_is_not_doubted() {
        let at_work = PlateauQuality { quiescence: Quiescence::AtWork, ..seen() };
        assert_eq!(at_work.doubt(Provenance::Printed), None);
        assert!(at_work.doubt(Provenance::Inferred).is_some());
    }

    #[test]
    fn change_growth_and_delay_are_always_doubted() {
        for seen in [
            PlateauQuality { late: true, ..seen() },
            PlateauQuality { late: true, alive_at_end: true, ..seen() },
            PlateauQuality { quiescence: Quiescence::Changing, ..seen() },
            PlateauQuality { quiescence: Quiescence::HeldBack, ..seen() },
            PlateauQuality { quiescence: Quiescence::Unwatched, ..seen() },
            PlateauQuality { quiescence: Quiescence::Stopped, ..seen() },
            PlateauQuality { contradiction: Some((9 << 20, 1 << 20)), ..seen() },
            PlateauQuality { grown_bytes: Some(9 << 20), ..seen() },
        ] {
            assert!(seen.doubt(Provenance::Printed).is_some(), "{seen:?}");
            assert!(seen.doubt(Provenance::Inferred).is_some(), "{seen:?}");
        }
    }

    #[test]
    fn tasks_that_wake_may_use_cpu_but_not_change_memory() {
        for (quiescence, alone, waking) in [
            (Quiescence::Quiet, true, true),
            (Quiescence::AtWork, false, true),
            (Quiescence::Starved, false, true),
            (Quiescence::Changing, false, false),
            (Quiescence::HeldBack, false, false),
            (Quiescence::Unwatched, false, false),
            (Quiescence::Stopped, false, false),
        ] {
            assert_eq!(
                (quiescence.is_quiet(false), quiescence.is_quiet(true)),
                (alone, waking),
                "{quiescence:?}"
            );
        }
    }

    #[test]
    fn memory_changes_are_not_doubted_if_tasks_woke() {
        for seen in [
            PlateauQuality { quiescence: Quiescence::Changing, ..seen() },
            PlateauQuality { grown_bytes: Some(9 << 20), ..seen() },
        ] {
            assert_eq!(seen.doubt(Provenance::Woke), None, "{seen:?}");
        }
        for seen in [
            PlateauQuality { late: true, ..seen() },
            PlateauQuality { quiescence: Quiescence::HeldBack, ..seen() },
            PlateauQuality { quiescence: Quiescence::Unwatched, ..seen() },
        ] {
            assert!(seen.doubt(Provenance::Woke).is_some(), "{seen:?}");
        }
    }

    #[test]
    fn a_starved_program_is_doubted_without_alive() {
        let starved = PlateauQuality { quiescence: Quiescence::Starved, ..seen() };
        assert_eq!(starved.doubt(Provenance::Printed), None);
        assert!(starved.doubt(Provenance::Named).is_some());
        assert!(starved.doubt(Provenance::Inferred).is_some());
    }

    #[test]
    fn a_starved_launch_is_doubted_with_an_inferred_plateau() {
        let starved = PlateauQuality { starved_launch: Some((22.8, 15.0)), ..seen() };
        assert_eq!(starved.doubt(Provenance::Printed), None);
        assert!(starved.doubt(Provenance::Inferred).unwrap().contains("15.0 s of the 22.8 s"));
    }

    #[test]
    fn lack_of_cpus_makes_a_plateau_unobservable() {
        let seen = |change: fn(&mut PlateauQuality)| {
            let mut seen = seen();
            change(&mut seen);
            seen
        };
        assert!(seen(|seen| seen.quiescence = Quiescence::HeldBack).unobservable());
        assert!(seen(|seen| seen.quiescence = Quiescence::Unwatched).unobservable());
        assert!(seen(|seen| seen.late = true).unobservable());
        assert!(seen(|seen| seen.unwatched = true).unobservable());
        assert!(PlateauQuality { unheard: true, ..PlateauQuality::default() }.unobservable());
        assert!(!seen(|seen| seen.quiescence = Quiescence::Changing).unobservable());
        assert!(!seen(|seen| seen.grown_bytes = Some(9 << 20)).unobservable());
        assert!(!seen(|seen| (seen.late, seen.alive_at_end) = (true, true)).unobservable());
        assert!(
            !seen(|seen| (seen.quiescence, seen.alive_at_end) = (Quiescence::Unwatched, true)).unobservable()
        );
    }

    #[test]
    fn processes_that_left_the_cgroup_are_reported() {
        let why = |quality: PlateauQuality| quality.require_all_inside().unwrap_err();
        assert!(why(PlateauQuality { escaped: 1, ..seen() }).starts_with("1 process left"));
        assert!(why(PlateauQuality { came_back: true, ..seen() }).contains("came back"));
        assert!(why(PlateauQuality { escaped: 3, ..seen() }).contains("their memory"));
        let raised = why(PlateauQuality { above_cap: Some((300 << 20, 64 << 20)), ..seen() });
        assert!(raised.starts_with("its cgroup held 300 MiB, above its cap of 64 MiB"), "{raised}");
        assert!(why(PlateauQuality { outside_s: Some(0.3), ..seen() }).contains("0.30 s of CPU time"));
    }
}
