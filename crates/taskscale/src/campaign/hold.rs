//! How long tasks wait: long enough for a full plateau with all of them alive, and no longer. Pure.

use std::collections::BTreeMap;

use crate::catalog::Kind;
use crate::record::{Hold, Sample, Status};

/// A prediction may be this factor too low before a run must be repeated.
const SAFETY: f64 = 1.3;
/// Launch time per task if no launch is known, in seconds: that of a fast runtime.
const GUESS_PER_TASK_S: f64 = 2e-6;
/// Time to read the plateau of a few processes before the first task ends, in seconds.
const READING_S: f64 = 0.15;
/// Time to read a process and a thread if no reading is known, in seconds (docs/methodology/steady-state.md,
/// "The wait"): about twice that of 2,000 forked processes and 10,000 threads. With more processes, each takes
/// less.
const READING_PER_PROCESS_S: f64 = 600e-6;
const READING_PER_THREAD_S: f64 = 30e-6;
/// A reading that came too late was abandoned. A complete one is assumed to take longer by this factor.
const GIVEN_UP: f64 = 2.0;
/// Maximum attempts of a run, each with a longer wait than the one before.
const MAX_ATTEMPTS: u32 = 4;
/// Longest predicted launch, in seconds. A small N that was slow on a busy machine would predict hours. If the
/// prediction is too low, the next attempt corrects it.
const LONGEST_PREDICTED_S: f64 = 60.0;
/// Longest wait, in seconds.
const LONGEST_S: f64 = 900.0;

/// Chooses waits from the launch times seen so far.
#[derive(Debug)]
pub struct HoldPredictor {
    rule: Hold,
    /// For each entry, the longest launch seen at each N, in seconds.
    launches: BTreeMap<String, BTreeMap<u64, f64>>,
    /// For each entry, the longest reading seen at each N, in seconds.
    readings: BTreeMap<String, BTreeMap<u64, f64>>,
    /// For each entry, the longest wait at each N that worked after a shorter one failed, in seconds.
    needed: BTreeMap<String, BTreeMap<u64, f64>>,
    kinds: BTreeMap<String, Kind>,
}

impl HoldPredictor {
    pub fn new(rule: Hold) -> HoldPredictor {
        HoldPredictor {
            rule,
            launches: BTreeMap::new(),
            readings: BTreeMap::new(),
            needed: BTreeMap::new(),
            kinds: BTreeMap::new(),
        }
    }

    /// Registers the kind of an entry's tasks: many threads and processes take long to read.
    pub fn register(&mut self, entry: &str, kind: Kind) {
        self.kinds.insert(entry.to_owned(), kind);
    }

    /// Learns from a run.
    pub fn observe(&mut self, sample: &Sample) {
        let observe = |seen: &mut BTreeMap<String, BTreeMap<u64, f64>>, time_s: Option<f64>| {
            let Some(time_s) = time_s else { return };
            let seen = seen.entry(sample.entry.to_string()).or_default().entry(sample.tasks);
            seen.and_modify(|longest| *longest = longest.max(time_s)).or_insert(time_s);
        };
        if matches!(sample.status, Status::Ok | Status::Partial | Status::NoPlateau) {
            observe(&mut self.launches, sample.time.launch_s);
            observe(&mut self.readings, sample.time.reading_s);
        }
        if sample.status == Status::Ok && sample.attempt > 1 {
            observe(&mut self.needed, Some(sample.hold_s));
        }
    }

    /// Estimated time to read this many tasks of an entry, in seconds.
    pub fn predict_reading_s(&self, entry: &str, tasks: u64) -> f64 {
        let seen = self.readings.get(entry).and_then(|seen| seen.range(..=tasks).next_back());
        match seen {
            // With few tasks, a reading is mostly fixed cost, so it is extrapolated from 1,000 tasks on.
            Some((n, time_s)) if *n >= 1_000 => time_s * tasks as f64 / *n as f64,
            _ => self.kinds.get(entry).map_or(0.0, |kind| estimated_reading_s(*kind, tasks)),
        }
    }

    /// The wait for the first attempt of a case, in whole seconds.
    pub fn initial_hold_s(&self, entry: &str, tasks: u64) -> f64 {
        match self.rule {
            Hold::Fixed { seconds } => seconds as f64,
            Hold::Chosen { plateau_s } => {
                let launch_s = self.predict_launch_s(entry, tasks).min(LONGEST_PREDICTED_S);
                hold_for_launch(launch_s, self.predict_reading_s(entry, tasks), plateau_s)
                    .max(self.needed_s(entry, tasks))
            }
        }
    }

    /// The longest wait that this many tasks or fewer needed after a shorter one failed, in seconds. A runtime
    /// that compiles or collects garbage long after its tasks are alive does so in its next run too.
    fn needed_s(&self, entry: &str, tasks: u64) -> f64 {
        let seen = self.needed.get(entry).into_iter().flat_map(|seen| seen.range(..=tasks));
        seen.map(|(_, hold_s)| *hold_s).fold(0.0, f64::max).min(LONGEST_S)
    }

    /// The wait for another attempt, if that of `sample` was too short. `None` if the sample is final.
    pub fn retry_hold_s(&self, sample: &Sample) -> Option<f64> {
        let Hold::Chosen { plateau_s } = self.rule else { return None };
        // The program takes no wait and runs until taskscale stops it, so a longer wait changes nothing.
        if sample.hold_s == 0.0 {
            return None;
        }
        let short = match sample.status {
            // The wait may have been too short if the plateau was not seen, or if tasks ended before it was
            // read.
            Status::Partial => sample.alive.is_none_or(|alive| alive < sample.tasks),
            Status::NoPlateau => true,
            Status::Ok => sample.time.plateau_s.is_some_and(|plateau| plateau < plateau_s),
            _ => false,
        };
        if !short || sample.attempt >= MAX_ATTEMPTS || sample.hold_s >= LONGEST_S {
            return None;
        }
        let reading_s = GIVEN_UP * sample.time.reading_s.unwrap_or(0.0);
        let launch_s = sample.time.launch_s.unwrap_or(0.0);
        Some(longer_hold_s(sample.hold_s, sample.status, launch_s, reading_s, plateau_s))
    }

    /// How the wait of a case was chosen, for `--verbose`.
    pub fn why(&self, entry: &str, tasks: u64, attempt: u32) -> String {
        match self.rule {
            Hold::Fixed { .. } => "the same for every case".to_owned(),
            _ if attempt > 1 => format!("attempt {attempt}, as the last wait was too short"),
            _ if self.needed_s(entry, tasks) == self.initial_hold_s(entry, tasks) => {
                "a shorter wait was too short before".to_owned()
            }
            Hold::Chosen { plateau_s } => {
                let launch_s = self.predict_launch_s(entry, tasks).min(LONGEST_PREDICTED_S);
                let from = if self.launches.contains_key(entry) { "estimated" } else { "guessed" };
                format!("a launch of {launch_s:.3} s ({from}) and a plateau of {plateau_s} s")
            }
        }
    }

    /// Predicted launch time in seconds: the longest seen at the same N, or the line through the two nearest
    /// smaller N.
    fn predict_launch_s(&self, entry: &str, tasks: u64) -> f64 {
        let Some(seen) = self.launches.get(entry) else {
            // Nothing is known: assume a fast runtime. The next attempt corrects it.
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
                // With few tasks, launch time is mostly the runtime's start-up, which more tasks do not repeat.
                let per_task = if *n < 1_000 { GUESS_PER_TASK_S } else { t / *n as f64 };
                t + per_task * (tasks - n) as f64
            }
            // Only larger N are known: the nearest one is an upper bound.
            (None, _) => seen.range(tasks..).next().map_or(0.0, |(_, launch)| *launch),
        }
    }
}

/// Estimated time to read this many tasks, in seconds, before any reading.
pub fn estimated_reading_s(kind: Kind, tasks: u64) -> f64 {
    let per_task = match kind {
        Kind::Process => READING_PER_PROCESS_S,
        Kind::Thread => READING_PER_THREAD_S,
        _ => 0.0,
    };
    per_task * tasks as f64
}

/// The wait, in whole seconds, that leaves a plateau of `plateau_s` after a launch of about `launch_s`, and time to
/// read it.
pub fn hold_for_launch(launch_s: f64, reading_s: f64, plateau_s: f64) -> f64 {
    (launch_s * SAFETY + plateau_s + READING_S + reading_s).ceil().min(LONGEST_S)
}

/// The wait, in whole seconds, after one of `hold_s` was too short for a launch of `launch_s` seconds. A launch that
/// competes with the end of the first tasks is slower, so the wait grows by at least half. How long memory keeps
/// changing is unknown, so then the wait doubles.
pub fn longer_hold_s(hold_s: f64, ended: Status, launch_s: f64, reading_s: f64, plateau_s: f64) -> f64 {
    let longer = if ended == Status::NoPlateau { 2.0 } else { 1.5 };
    hold_for_launch(launch_s, reading_s, plateau_s).max((hold_s * longer).ceil()).min(LONGEST_S)
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

    fn predictor() -> HoldPredictor {
        HoldPredictor::new(Hold::Chosen { plateau_s: 1.0 })
    }

    #[test]
    fn a_fast_launch_gets_the_shortest_hold() {
        let mut predictor = predictor();
        assert_eq!(predictor.initial_hold_s("rust/x", 1), 2.0);
        predictor.observe(&sample(1, 0.002));
        assert_eq!(predictor.initial_hold_s("rust/x", 10_000), 2.0);
    }

    #[test]
    fn holds_of_larger_n_are_extrapolated_linearly() {
        let mut predictor = predictor();
        for (n, launch) in [(1, 0.05), (10_000, 0.30), (100_000, 2.50)] {
            predictor.observe(&sample(n, launch));
        }
        // 2.5 s + 900,000 × 24.4 µs = 24.5 s; × 1.3 + 1.15 s.
        assert_eq!(predictor.initial_hold_s("rust/x", 1_000_000), 33.0);
        assert_eq!(predictor.initial_hold_s("rust/other", 1), 2.0);
    }

    #[test]
    fn a_short_hold_grows_until_it_suffices() {
        let predictor = predictor();
        let mut short = sample(1_000_000, 25.0);
        short.hold_s = 10.0;
        short.status = Status::Partial;
        short.alive = Some(900_000);
        assert_eq!(predictor.retry_hold_s(&short), Some(34.0));
        // All tasks were alive, so a longer wait would not help.
        short.alive = Some(1_000_000);
        assert_eq!(predictor.retry_hold_s(&short), None);
        short.alive = None;
        short.attempt = MAX_ATTEMPTS;
        assert_eq!(predictor.retry_hold_s(&short), None);
        let mut good = sample(1, 0.5);
        assert_eq!(predictor.retry_hold_s(&good), None);
        good.time.plateau_s = Some(0.4);
        assert_eq!(predictor.retry_hold_s(&good), Some(3.0));
    }

    #[test]
    fn an_unseen_plateau_is_retried_with_a_longer_hold() {
        let mut unseen = sample(10, 1.8);
        unseen.time.plateau_s = Some(1.5);
        assert_eq!(predictor().retry_hold_s(&unseen), None);
        unseen.status = Status::NoPlateau;
        assert_eq!(predictor().retry_hold_s(&unseen), Some(4.0));
        // A program that takes no wait cannot be given a longer one.
        unseen.hold_s = 0.0;
        assert_eq!(predictor().retry_hold_s(&unseen), None);
    }

    #[test]
    fn the_reading_time_of_many_processes_is_estimated() {
        let mut predictor = predictor();
        predictor.register("rust/x", Kind::Process);
        // 12,000 × 0.6 ms, and 1.15 s.
        assert_eq!(predictor.initial_hold_s("rust/x", 12_000), 9.0);
        let mut seen = sample(6_000, 0.1);
        seen.time.reading_s = Some(3.0);
        predictor.observe(&seen);
        assert_eq!(predictor.predict_reading_s("rust/x", 12_000), 6.0);
        // A reading that ended too late is repeated with time for one twice as long.
        let mut late = sample(12_000, 1.0);
        late.status = Status::NoPlateau;
        late.time.reading_s = Some(5.0);
        assert_eq!(predictor.retry_hold_s(&late), Some(13.0));
    }

    #[test]
    fn a_lengthened_hold_is_kept_and_does_not_creep() {
        let mut predictor = predictor();
        let mut stood = sample(10, 1.2);
        (stood.hold_s, stood.attempt) = (8.0, 4);
        predictor.observe(&stood);
        assert_eq!(predictor.initial_hold_s("rust/x", 10_000), 8.0);
        assert_eq!(predictor.why("rust/x", 10, 1), "a shorter wait was too short before");
        assert_eq!(predictor.initial_hold_s("rust/x", 1), 3.0, "fewer may need less");
        (stood.tasks, stood.attempt) = (10_000, 1);
        predictor.observe(&stood);
        assert_eq!(predictor.initial_hold_s("rust/x", 10_000), 8.0);
        // A results file may name any wait.
        (stood.hold_s, stood.attempt) = (1e9, 2);
        predictor.observe(&stood);
        assert_eq!(predictor.initial_hold_s("rust/x", 10_000), LONGEST_S);
    }

    #[test]
    fn a_fixed_hold_never_changes() {
        let predictor = HoldPredictor::new(Hold::Fixed { seconds: 10 });
        assert_eq!(predictor.initial_hold_s("rust/x", 1_000_000), 10.0);
        let mut short = sample(1_000_000, 25.0);
        short.status = Status::Partial;
        assert_eq!(predictor.retry_hold_s(&short), None);
    }
}
