//! What speaks for a plateau, and what against it: whether all tasks can have been there, at rest, when memory was
//! read. Pure. No verdict is better than this evidence.

/// How a program stood when its memory was read.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub enum Rest {
    /// CPU and memory were quiet.
    #[default]
    Quiet,
    /// It used the CPU, but its memory was the same for a while.
    AtWork,
    /// Its memory was changing.
    Changing,
    /// It wanted a CPU and got less than half of one: quiet or not, it had something to do.
    Starved,
    /// It wanted a CPU and got next to none: that its memory was the same says nothing.
    HeldBack,
    /// Nobody saw: taskscale itself got no CPU, or the whole machine stood still.
    Unwatched,
    /// A signal had stopped it: what it does when it goes on is not known.
    Stopped,
}

impl Rest {
    /// Whether it was at rest. Tasks that wake use CPU, or want it: that is no unrest.
    pub fn is_quiet(self, wakes: bool) -> bool {
        match self {
            Rest::Quiet => true,
            Rest::AtWork | Rest::Starved => wakes,
            Rest::Changing | Rest::HeldBack | Rest::Unwatched | Rest::Stopped => false,
        }
    }
}

/// What was seen around the reading.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct PlateauSeen {
    /// Whether any process was read.
    pub read: bool,
    /// The reading may have ended after the first task was due: some tasks may have been over.
    pub late: bool,
    /// `done` came with `alive`.
    pub said_at_end: bool,
    pub rest: Rest,
    /// Anonymous memory that its processes show, and that its control group is charged for, where these contradict.
    pub contradiction: Option<(u64, u64)>,
    /// By how much memory had grown at the end of the plateau, in bytes, where that is more than tasks that wait need.
    pub grown_bytes: Option<u64>,
    /// That was looked at when the first task was due already: it may have grown for what tasks do at their end.
    pub looked_late: bool,
    /// Processes of the run that are not in its control group: nothing of them is in the figures.
    pub escaped: usize,
    /// A process came into the control group after the launcher had joined it for the program: one had left, and what it
    /// took meanwhile is charged elsewhere.
    pub came_back: bool,
    /// For a launch that was starved, from exec in seconds: how long it took, and how long of it the program wanted a
    /// CPU and got less than half of one.
    pub starved_launch: Option<(f64, f64)>,
}

/// How well the plateau is known without looking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Known {
    /// The tasks have shown it: they woke as often as they were to. What they take while they do may change.
    Woke,
    /// Who must know said that all tasks were alive: the program, or its load.
    Said,
    /// What the user named has come: a line, a connection, a time.
    Named,
    /// Nobody did: that it stood still is all there is.
    Inferred,
}

impl PlateauSeen {
    /// Why nothing says that all tasks were alive and at rest when memory was read; `None` where all is well.
    pub fn doubt(&self, known: Known) -> Option<String> {
        // Its end comes so soon after the word that it may be gone before it can be read.
        if self.said_at_end && (self.late || !self.read) {
            return Some(
                "said `alive` only at its end: flush standard output after that line (or its tasks take longer to \
                 start than they wait)"
                    .into(),
            );
        }
        if self.late {
            return Some(
                "the first tasks were due before its memory was read: some may have been over by then".into(),
            );
        }
        if !self.read {
            return Some("none of its processes was there to be read while its tasks waited".into());
        }
        if let Some((shown, charged)) = self.contradiction {
            return Some(format!(
                "its processes have {:.1} MiB of anonymous memory and its control group is charged {:.1} MiB: memory was \
                 charged elsewhere, or is not in its processes",
                mib(shown),
                mib(charged)
            ));
        }
        match (self.rest, known) {
            // A compiler or a collector that waits for a CPU takes no task away.
            (Rest::Starved, Known::Said | Known::Woke) => {}
            (Rest::Changing, Known::Woke) => {}
            (Rest::Starved | Rest::HeldBack, _) => {
                let got = if self.rest == Rest::Starved { "less than half of one" } else { "next to none" };
                return Some(format!(
                    "it wanted a CPU and got {got} when its memory was read: it is held back (a quota, a busy \
                     machine) and may not have been at rest"
                ));
            }
            (Rest::Changing, _) => return Some("its memory was still changing when it was read".into()),
            (Rest::Unwatched, _) => {
                return Some(
                    "taskscale itself got no CPU, or the machine stood still, until its memory was read: nobody saw \
                     whether it was at rest"
                        .into(),
                );
            }
            (Rest::Stopped, _) => {
                return Some(
                    "a process was stopped (SIGSTOP, or a debugger) when its memory was read".into(),
                );
            }
            (Rest::AtWork, Known::Inferred) => return Some("it was still at work when it was read".into()),
            _ => {}
        }
        if let Some(bytes) = self.grown_bytes.filter(|_| known != Known::Woke) {
            let so = match self.looked_late {
                false => "not all tasks were there",
                true => {
                    "whether before its first task was due nobody saw, as taskscale itself got no CPU, or the machine \
                     stood still"
                }
            };
            return Some(format!("its memory grew by {:.1} MiB after it was read: {so}", mib(bytes)));
        }
        match (self.starved_launch, known) {
            (Some((launch_s, starved_s)), Known::Inferred) => Some(format!(
                "it wanted a CPU and got less than half of one for {starved_s:.1} s of the {launch_s:.1} s until it \
                 stood still: tasks that wait less than that were over before the last had started"
            )),
            _ => None,
        }
    }

    /// Whether it is for lack of CPUs that nothing can be said: on a quiet machine the program may well have a plateau.
    pub fn untold(&self) -> bool {
        let unseen = matches!(self.rest, Rest::HeldBack | Rest::Unwatched);
        let seen_late = self.late && self.read || self.looked_late && self.grown_bytes.is_some();
        !self.said_at_end && (unseen || seen_late)
    }

    /// Why the figures are not the program's, whatever else there is to say of it.
    pub fn escape(&self) -> Option<String> {
        if self.came_back && self.escaped == 0 {
            return Some(
                "a process left the control group in which the program is measured, and came back: what it took meanwhile \
                 may not be in the figures"
                    .into(),
            );
        }
        let (processes, them) = match self.escaped {
            0 => return None,
            1 => ("1 process".to_owned(), "it"),
            many => (format!("{many} processes"), "them"),
        };
        Some(format!(
            "{processes} left the control group in which the program is measured: nothing of {them} is in the figures"
        ))
    }
}

fn mib(bytes: u64) -> f64 {
    bytes as f64 / f64::from(1 << 20)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen() -> PlateauSeen {
        PlateauSeen { read: true, ..PlateauSeen::default() }
    }

    #[test]
    fn a_program_that_was_read_at_rest_is_not_doubted() {
        assert_eq!(seen().doubt(Known::Said), None);
        assert_eq!(seen().doubt(Known::Inferred), None);
        assert_eq!(seen().escape(), None);
    }

    #[test]
    fn nothing_read_is_no_evidence() {
        let doubt = PlateauSeen::default().doubt(Known::Said).unwrap();
        assert!(doubt.contains("none of its processes"), "{doubt}");
    }

    #[test]
    fn who_says_alive_at_its_end_is_told_to_flush_also_where_it_was_gone_before_it_was_read() {
        let gone = PlateauSeen { said_at_end: true, ..PlateauSeen::default() };
        for seen in [gone, PlateauSeen { late: true, said_at_end: true, ..seen() }] {
            assert!(seen.doubt(Known::Said).unwrap().contains("flush standard output"), "{seen:?}");
        }
    }

    #[test]
    fn work_is_no_doubt_where_somebody_said_that_all_are_alive() {
        let at_work = PlateauSeen { rest: Rest::AtWork, ..seen() };
        assert_eq!(at_work.doubt(Known::Said), None);
        assert!(at_work.doubt(Known::Inferred).is_some());
    }

    #[test]
    fn change_growth_and_delay_are_doubts_whoever_said_what() {
        for seen in [
            PlateauSeen { late: true, ..seen() },
            PlateauSeen { late: true, said_at_end: true, ..seen() },
            PlateauSeen { rest: Rest::Changing, ..seen() },
            PlateauSeen { rest: Rest::HeldBack, ..seen() },
            PlateauSeen { rest: Rest::Unwatched, ..seen() },
            PlateauSeen { rest: Rest::Stopped, ..seen() },
            PlateauSeen { contradiction: Some((9 << 20, 1 << 20)), ..seen() },
            PlateauSeen { grown_bytes: Some(9 << 20), ..seen() },
        ] {
            assert!(seen.doubt(Known::Said).is_some(), "{seen:?}");
            assert!(seen.doubt(Known::Inferred).is_some(), "{seen:?}");
        }
    }

    #[test]
    fn tasks_that_wake_may_use_cpu_but_not_change_memory() {
        for (rest, alone, waking) in [
            (Rest::Quiet, true, true),
            (Rest::AtWork, false, true),
            (Rest::Starved, false, true),
            (Rest::Changing, false, false),
            (Rest::HeldBack, false, false),
            (Rest::Unwatched, false, false),
            (Rest::Stopped, false, false),
        ] {
            assert_eq!((rest.is_quiet(false), rest.is_quiet(true)), (alone, waking), "{rest:?}");
        }
    }

    #[test]
    fn tasks_that_woke_as_they_were_to_are_alive_whatever_memory_does() {
        for seen in [
            PlateauSeen { rest: Rest::Changing, ..seen() },
            PlateauSeen { grown_bytes: Some(9 << 20), ..seen() },
        ] {
            assert_eq!(seen.doubt(Known::Woke), None, "{seen:?}");
        }
        for seen in [
            PlateauSeen { late: true, ..seen() },
            PlateauSeen { rest: Rest::HeldBack, ..seen() },
            PlateauSeen { rest: Rest::Unwatched, ..seen() },
        ] {
            assert!(seen.doubt(Known::Woke).is_some(), "{seen:?}");
        }
    }

    #[test]
    fn a_program_that_is_starved_is_doubted_unless_all_tasks_were_said_to_be_alive() {
        let starved = PlateauSeen { rest: Rest::Starved, ..seen() };
        assert_eq!(starved.doubt(Known::Said), None);
        assert!(starved.doubt(Known::Named).is_some());
        assert!(starved.doubt(Known::Inferred).is_some());
    }

    #[test]
    fn a_starved_launch_is_a_doubt_where_the_plateau_is_inferred() {
        let starved = PlateauSeen { starved_launch: Some((22.8, 15.0)), ..seen() };
        assert_eq!(starved.doubt(Known::Said), None);
        assert!(starved.doubt(Known::Inferred).unwrap().contains("15.0 s of the 22.8 s"));
    }

    #[test]
    fn what_a_busy_machine_hides_is_told_from_what_the_program_does() {
        let seen = |change: fn(&mut PlateauSeen)| {
            let mut seen = seen();
            change(&mut seen);
            seen
        };
        assert!(seen(|seen| seen.rest = Rest::HeldBack).untold());
        assert!(seen(|seen| seen.rest = Rest::Unwatched).untold());
        assert!(seen(|seen| seen.late = true).untold());
        assert!(seen(|seen| (seen.looked_late, seen.grown_bytes) = (true, Some(9 << 20))).untold());
        assert!(!seen(|seen| seen.rest = Rest::Changing).untold());
        assert!(!seen(|seen| seen.grown_bytes = Some(9 << 20)).untold());
        assert!(!seen(|seen| (seen.late, seen.said_at_end) = (true, true)).untold());
        assert!(!seen(|seen| (seen.rest, seen.said_at_end) = (Rest::Unwatched, true)).untold());
    }

    #[test]
    fn processes_that_left_are_counted() {
        assert!(PlateauSeen { escaped: 1, ..seen() }.escape().unwrap().starts_with("1 process left"));
        assert!(PlateauSeen { came_back: true, ..seen() }.escape().unwrap().contains("came back"));
        assert!(PlateauSeen { escaped: 3, ..seen() }.escape().unwrap().contains("nothing of them"));
    }
}
