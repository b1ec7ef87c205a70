//! The course of work: from `ready`, when all is prepared, until `done`.

use super::{Run, seconds};
use crate::measure::protocol::Said;
use crate::record::{PlateauFrom, Time, Warning, Work};

/// The second half of the operations may take so much more or less than the first, as a share of it.
const SETTLED: f64 = 0.1;

impl Run<'_> {
    pub(super) fn is_work(&self) -> bool {
        self.spec.scenario.work().is_some()
    }

    /// All is prepared, and the work begins at this instant. Memory is read at once; that the program works meanwhile
    /// makes no difference to a cost, which is the difference of two runs that are both read.
    pub(super) fn begin_work(&mut self, at_ns: u64) {
        if self.plateau_ns.is_none() {
            self.begin_plateau(PlateauFrom::Protocol, at_ns);
            self.read_plateau(at_ns);
        }
    }

    pub(super) fn note_done(&mut self, at_ns: u64) {
        self.done_ns = Some(at_ns);
        if self.is_work() {
            self.done_first = self.plateau_ns.is_none();
            self.cpu_at_due = self.group.cpu();
        }
    }

    /// Observes CPU starvation; nothing else is due by the clock.
    pub(super) fn tick_work(&mut self, now: u64) {
        self.sample_threads();
        if self.done_ns.is_none() {
            self.sample_usage(now, None);
        }
    }

    /// What the operations took together, as far as observed.
    pub(super) fn work(&mut self, said: &Said) -> Option<Work> {
        let params = self.spec.scenario.work()?;
        let wall_s = self.plateau_ns.zip(self.done_ns).map(|(from, to)| seconds(from, to));
        let cpu_s = self.cpu_at_plateau.zip(self.cpu_at_due).map(|(from, to)| to.total_s - from.total_s);
        if wall_s.is_some_and(|wall_s| wall_s < params.least_s) {
            self.warnings.push(Warning::WorkShort);
        } else if let Some((once_s, twice_s)) = params.once_s.zip(wall_s)
            && is_unsettled(once_s, twice_s)
        {
            self.warnings.push(Warning::WorkUnsettled);
        }
        Some(Work {
            operations: params.operations,
            double: params.once_s.is_some(),
            wall_s,
            cpu_s: cpu_s.filter(|_| wall_s.is_some()).map(|cpu_s| cpu_s.max(0.0)),
            check: said.check.clone(),
        })
    }

    /// Launch until `ready`, drain from `done`; in between is the work.
    pub(super) fn work_times(&self, exec_ns: u64, end_ns: Option<u64>) -> Time {
        let since_exec = |at: u64| seconds(exec_ns, at);
        Time {
            launch_s: self.plateau_ns.map(since_exec),
            drain_s: self.done_ns.zip(end_ns).map(|(from, to)| seconds(from, to)),
            wall_s: end_ns.map(since_exec),
            plateau_read_at_s: self.read_ns.filter(|_| self.reading.is_some()).map(since_exec),
            reading_s: self.read_ns.zip(self.read_end_ns).map(|(from, to)| seconds(from, to)),
            ..Time::default()
        }
    }
}

/// Whether operations cost something else the more of them are done.
fn is_unsettled(once_s: f64, twice_s: f64) -> bool {
    ((twice_s - once_s) / once_s - 1.0).abs() > SETTLED
}

#[cfg(test)]
mod tests {
    use super::is_unsettled;

    #[test]
    fn twice_the_operations_take_twice_the_time_or_say_so() {
        assert!(!is_unsettled(1.0, 2.0) && !is_unsettled(1.0, 1.92) && !is_unsettled(1.0, 2.08));
        assert!(is_unsettled(1.0, 1.85), "a compiler made the second half faster");
        assert!(is_unsettled(1.0, 2.15), "a map outgrew a cache");
        assert!(is_unsettled(1.0, 0.9));
    }
}
