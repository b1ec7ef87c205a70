//! How long tasks wait, so that all of them are alive for a full plateau and no longer than that takes. Pure.

use std::collections::BTreeMap;

use crate::record::{Hold, PlateauFrom, Sample, Status, Warning};

/// A prediction may be this much too low before a run has to be repeated.
const SAFETY: f64 = 1.3;
/// What a task's launch is taken to cost before anything is known of it, in seconds: a fast runtime's.
const GUESS_PER_TASK_S: f64 = 2e-6;
/// Room for reading the plateau before the first task is due, in seconds.
const READING_S: f64 = 0.15;
/// A hold that proved too short is made longer this often.
const MOST_ATTEMPTS: u32 = 4;
/// No launch is foreseen to be longer than this, in seconds: a small N that was slow because the machine was busy would
/// foretell hours. The second attempt knows better.
const LONGEST_FORESEEN_S: f64 = 60.0;
/// No hold is longer than this, in seconds.
const LONGEST_S: f64 = 900.0;

/// Chooses holds from the launch times seen so far.
#[derive(Debug)]
pub struct HoldKeeper {
    rule: Hold,
    /// For each entry, the longest launch seen at each N, in seconds.
    launches: BTreeMap<String, BTreeMap<u64, f64>>,
}

impl HoldKeeper {
    pub fn new(rule: Hold) -> HoldKeeper {
        HoldKeeper { rule, launches: BTreeMap::new() }
    }

    /// Learns from a run.
    pub fn learn(&mut self, sample: &Sample) {
        if let (Status::Ok | Status::Partial, Some(launch_s)) = (sample.status, sample.time.launch_s) {
            let longest = self
                .launches
                .entry(sample.entry.clone())
                .or_default()
                .entry(sample.tasks)
                .or_insert(launch_s);
            *longest = longest.max(launch_s);
        }
    }

    /// The hold for the first attempt of a cell, in whole seconds.
    pub fn first_hold_s(&self, entry: &str, tasks: u64) -> f64 {
        match self.rule {
            Hold::Fixed { seconds } => seconds as f64,
            Hold::Chosen { plateau_s } => {
                hold_for_launch(self.predict_launch_s(entry, tasks).min(LONGEST_FORESEEN_S), plateau_s)
            }
        }
    }

    /// The hold for another attempt, where `sample`'s proved too short; `None` where the sample stands.
    pub fn next_hold_s(&self, sample: &Sample) -> Option<f64> {
        let Hold::Chosen { plateau_s } = self.rule else { return None };
        // A program that was not told how long to wait waits as long as it is let.
        if sample.hold_s == 0.0 {
            return None;
        }
        // From outside a plateau can only be seen once it is there: where it was not, the wait may have been too short.
        let unseen = sample.plateau_from == Some(PlateauFrom::Outside)
            && [Warning::PlateauNotQuiet, Warning::PlateauGrew]
                .iter()
                .any(|why| sample.warnings.contains(why));
        let short = match sample.status {
            Status::Partial => true,
            Status::Ok => unseen || sample.time.plateau_s.is_some_and(|plateau| plateau < plateau_s),
            _ => false,
        };
        if !short || sample.attempt >= MOST_ATTEMPTS || sample.hold_s >= LONGEST_S {
            return None;
        }
        // A launch that competes with the first tasks' end says little of one that does not: at least half as long again.
        let by_launch = sample.time.launch_s.map_or(0.0, |launch| hold_for_launch(launch, plateau_s));
        Some(by_launch.max((sample.hold_s * 1.5).ceil()).min(LONGEST_S))
    }

    /// Why a cell's hold is what it is, for those who want to know.
    pub fn why(&self, entry: &str, tasks: u64, attempt: u32) -> String {
        match self.rule {
            Hold::Fixed { .. } => "it is the same for every cell".to_owned(),
            _ if attempt > 1 => format!("attempt {attempt}, as the last hold proved too short"),
            Hold::Chosen { plateau_s } => {
                let launch_s = self.predict_launch_s(entry, tasks).min(LONGEST_FORESEEN_S);
                let from = if self.launches.contains_key(entry) { "what was seen" } else { "a guess" };
                format!("a launch of {launch_s:.3} s by {from}, and a plateau of {plateau_s} s")
            }
        }
    }

    /// Launch time is a start-up and a time per task: a line through the two nearest smaller N, or what was seen at
    /// the same N.
    fn predict_launch_s(&self, entry: &str, tasks: u64) -> f64 {
        let Some(seen) = self.launches.get(entry) else {
            // Nothing known: what a fast runtime needs. The second attempt knows better.
            return tasks as f64 * GUESS_PER_TASK_S;
        };
        if let Some(launch) = seen.get(&tasks) {
            return *launch;
        }
        let mut smaller = seen.range(..tasks).rev();
        match (smaller.next(), smaller.next()) {
            (Some((n2, t2)), Some((n1, t1))) => {
                let per_task = ((t2 - t1) / (n2 - n1) as f64).max(0.0);
                t2 + per_task * (tasks - n2) as f64
            }
            (Some((n, t)), None) => {
                // Of few tasks the time is the runtime's start-up, which more tasks do not repeat.
                let per_task = if *n < 1_000 { GUESS_PER_TASK_S } else { t / *n as f64 };
                t + per_task * (tasks - n) as f64
            }
            // Only larger N are known: they bound it.
            (None, _) => seen.range(tasks..).next().map_or(0.0, |(_, launch)| *launch),
        }
    }
}

/// The hold, in whole seconds, that leaves a plateau of `plateau_s` after a launch of about `launch_s`.
pub fn hold_for_launch(launch_s: f64, plateau_s: f64) -> f64 {
    (launch_s * SAFETY + plateau_s + READING_S).ceil().min(LONGEST_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::test_sample;

    fn sample(tasks: u64, launch_s: f64) -> Sample {
        let mut sample = test_sample("rust/x", tasks);
        sample.time.launch_s = Some(launch_s);
        sample.time.plateau_s = Some((sample.hold_s - launch_s).max(0.0));
        sample
    }

    fn keeper() -> HoldKeeper {
        HoldKeeper::new(Hold::Chosen { plateau_s: 1.0 })
    }

    #[test]
    fn a_fast_launch_gets_the_shortest_hold() {
        let mut keeper = keeper();
        assert_eq!(keeper.first_hold_s("rust/x", 1), 2.0);
        keeper.learn(&sample(1, 0.002));
        assert_eq!(keeper.first_hold_s("rust/x", 10_000), 2.0);
    }

    #[test]
    fn larger_n_are_predicted_by_a_line() {
        let mut keeper = keeper();
        for (n, launch) in [(1, 0.05), (10_000, 0.30), (100_000, 2.50)] {
            keeper.learn(&sample(n, launch));
        }
        // 2.5 s + 900,000 × 24.4 µs = 24.5 s; × 1.3 + 1.15 s.
        assert_eq!(keeper.first_hold_s("rust/x", 1_000_000), 33.0);
        assert_eq!(keeper.first_hold_s("rust/other", 1), 2.0);
    }

    #[test]
    fn a_hold_that_proved_too_short_grows_until_it_holds() {
        let keeper = keeper();
        let mut short = sample(1_000_000, 25.0);
        short.hold_s = 10.0;
        short.status = Status::Partial;
        assert_eq!(keeper.next_hold_s(&short), Some(34.0));
        short.attempt = MOST_ATTEMPTS;
        assert_eq!(keeper.next_hold_s(&short), None);
        let mut good = sample(1, 0.5);
        assert_eq!(keeper.next_hold_s(&good), None);
        good.time.plateau_s = Some(0.4);
        assert_eq!(keeper.next_hold_s(&good), Some(3.0));
    }

    #[test]
    fn a_plateau_that_was_not_seen_from_outside_may_need_a_longer_hold() {
        let mut unseen = sample(10, 1.8);
        unseen.time.plateau_s = Some(1.5);
        unseen.plateau_from = Some(PlateauFrom::Outside);
        assert_eq!(keeper().next_hold_s(&unseen), None);
        unseen.warnings = vec![Warning::PlateauNotQuiet];
        assert_eq!(keeper().next_hold_s(&unseen), Some(4.0));
        // One that was not told how long to wait cannot be told to wait longer.
        unseen.hold_s = 0.0;
        assert_eq!(keeper().next_hold_s(&unseen), None);
    }

    #[test]
    fn the_posts_hold_never_changes() {
        let keeper = HoldKeeper::new(Hold::Fixed { seconds: 10 });
        assert_eq!(keeper.first_hold_s("rust/x", 1_000_000), 10.0);
        let mut short = sample(1_000_000, 25.0);
        short.status = Status::Partial;
        assert_eq!(keeper.next_hold_s(&short), None);
    }
}
