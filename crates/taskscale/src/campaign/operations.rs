//! How many operations a run of work does: just enough to be timed. Pure.

use std::collections::BTreeMap;

use crate::record::{Sample, Status};

/// The first number if no run of the entry is known.
const FIRST: u64 = 1_000;
/// Operations are chosen to take this factor longer than required.
const AIM: f64 = 1.3;
/// Maximum growth from one attempt to the next: the first thousand operations say little about the next
/// million.
const MAX_GROWTH: f64 = 100.0;
/// Minimum growth from one attempt to the next.
const MIN_GROWTH: f64 = 1.5;
/// Maximum attempts: work that is still too short then is accepted.
const MAX_ATTEMPTS: u32 = 10;
/// Share of the required time that is enough for later runs with the same number of operations.
pub const SHORT: f64 = 0.5;

/// Chooses numbers of operations from how long they took so far.
#[derive(Debug, Default)]
pub struct OperationCalibrator {
    /// Minimum time of the work, in seconds.
    least_s: f64,
    /// Maximum operations of a single (not doubled) run.
    most: u64,
    /// For each entry, operations and seconds of the last good run at each N.
    seen: BTreeMap<String, BTreeMap<u64, (u64, f64)>>,
    /// For each entry and N, the number that was enough: all repetitions use it.
    sufficed: BTreeMap<(String, u64), u64>,
    /// For each entry, N and repetition, operations and seconds of the single run, which a doubled run follows.
    done: BTreeMap<(String, u64, u32), (u64, f64)>,
}

impl OperationCalibrator {
    /// `most`: the maximum for any run, including doubled ones.
    pub fn new(least_s: f64, most: u64) -> OperationCalibrator {
        OperationCalibrator { least_s, most: most / 2, ..OperationCalibrator::default() }
    }

    /// Learns from a run.
    pub fn observe(&mut self, sample: &Sample) {
        let Some(work) = sample.work.as_ref().filter(|work| !work.double) else { return };
        let run = (sample.entry.to_string(), sample.tasks, sample.repetition);
        let Some(wall_s) = work.wall_s.filter(|_| sample.status == Status::Ok) else {
            self.done.remove(&run);
            return;
        };
        self.done.insert(run, (work.operations, wall_s));
        let by_tasks = self.seen.entry(sample.entry.to_string()).or_default();
        by_tasks.insert(sample.tasks, (work.operations, wall_s));
        if self.retry(sample).is_none() {
            self.sufficed.entry((sample.entry.to_string(), sample.tasks)).or_insert(work.operations);
        }
    }

    /// The number of operations for the first attempt of a case.
    pub fn initial(&self, entry: &str, tasks: u64) -> u64 {
        if let Some(operations) = self.sufficed.get(&(entry.to_owned(), tasks)) {
            return *operations;
        }
        let Some(seen) = self.seen.get(entry) else { return self.whole(FIRST as f64, tasks) };
        let nearest = seen.range(..=tasks).next_back().or_else(|| seen.range(tasks..).next());
        let predicted = nearest.map_or(FIRST as f64, |(_, (operations, wall_s))| {
            *operations as f64 * (AIM * self.least_s / wall_s.max(1e-9)).min(MAX_GROWTH)
        });
        self.whole(predicted, tasks)
    }

    /// The number for another attempt, if the work was too short to time. `None` if the sample is final.
    pub fn retry(&self, sample: &Sample) -> Option<u64> {
        let work = sample.work.as_ref().filter(|work| !work.double && sample.status == Status::Ok)?;
        let wall_s = work.wall_s?;
        let sufficed = self.sufficed.get(&(sample.entry.to_string(), sample.tasks));
        let enough = sufficed.filter(|sufficed| work.operations >= **sufficed).is_some();
        let least_s = if enough { SHORT * self.least_s } else { self.least_s };
        if wall_s >= least_s || sample.attempt >= MAX_ATTEMPTS {
            return None;
        }
        let growth = (AIM * self.least_s / wall_s.max(1e-9)).clamp(MIN_GROWTH, MAX_GROWTH);
        let more = self.whole(work.operations as f64 * growth, sample.tasks);
        (more > work.operations).then_some(more)
    }

    /// Operations and time (in seconds) of the first run of a pair. `None` if it was not ok, so that there is
    /// nothing to double.
    pub fn once(&self, entry: &str, tasks: u64, repetition: u32) -> Option<(u64, f64)> {
        self.done.get(&(entry.to_owned(), tasks, repetition)).copied()
    }

    /// Rounds up to a multiple of the tasks, so that each does the same number, and at least one.
    fn whole(&self, operations: f64, tasks: u64) -> u64 {
        let rounds = (operations / tasks as f64).ceil() as u64;
        rounds.clamp(1, (self.most / tasks).max(1)) * tasks
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Work, test_sample};

    fn sample(tasks: u64, operations: u64, wall_s: f64) -> Sample {
        let mut sample = test_sample("x/y", tasks);
        sample.work = Some(Box::new(Work { operations, wall_s: Some(wall_s), ..Work::default() }));
        sample
    }

    #[test]
    fn operations_grow_until_they_take_long_enough() {
        let mut calibrator = OperationCalibrator::new(1.0, 100_000_000);
        assert_eq!((calibrator.initial("x/y", 1), calibrator.initial("x/y", 7)), (1_000, 1_001));
        let pilot = sample(1, 1_000, 0.001);
        calibrator.observe(&pilot);
        assert_eq!(calibrator.retry(&pilot), Some(100_000), "no more than a hundred times as many");
        let second = sample(1, 100_000, 0.2);
        calibrator.observe(&second);
        assert_eq!(calibrator.retry(&second), Some(650_000));
        let stands = sample(1, 650_000, 1.31);
        calibrator.observe(&stands);
        assert_eq!(calibrator.retry(&stands), None);
        assert_eq!(
            (calibrator.initial("x/y", 1), calibrator.once("x/y", 1, 1)),
            (650_000, Some((650_000, 1.31)))
        );
        // A slightly faster repetition keeps the number.
        let faster = sample(1, 650_000, 0.9);
        calibrator.observe(&faster);
        assert_eq!((calibrator.retry(&faster), calibrator.initial("x/y", 1)), (None, 650_000));
        // Larger N start from the time of smaller ones.
        assert_eq!(calibrator.initial("x/y", 1_000), 939_000);
    }

    #[test]
    fn operations_stay_after_failures_and_within_the_maximum() {
        let mut calibrator = OperationCalibrator::new(1.0, 1_000_000);
        let mut failed = sample(10, 1_000, 2.0);
        failed.status = Status::Failed;
        calibrator.observe(&failed);
        assert_eq!((calibrator.retry(&failed), calibrator.once("x/y", 10, 1)), (None, None));
        let most = sample(10, 500_000, 0.1);
        calibrator.observe(&most);
        assert_eq!(calibrator.retry(&most), None);
        assert_eq!(calibrator.once("x/y", 10, 1), Some((500_000, 0.1)));
        assert_eq!(calibrator.initial("x/y", 2_000_000), 2_000_000, "one for each task at least");
    }
}
