//! Usage samples of a run while it launched or became idle, and whether it was idle. Pure.
//!
//! Only time covered by samples counts: when taskscale was not scheduled, or the machine was paused, the run
//! may have been kept from working as well.

use serde::{Deserialize, Serialize};

use super::evidence::Quiescence;
use super::procfs::ThreadActivity;

/// The sampling period, in seconds.
pub const TICK_S: f64 = 0.02;
/// The CPU is idle if the run used less than this share of one core.
pub const IDLE_SHARE: f64 = 0.02;
/// Maximum time between two samples that counts as watched, in nanoseconds.
pub const LONGEST_GAP_NS: u64 = 40_000_000;
/// The share of a window that must have been watched to judge it.
const WATCHED_SHARE: f64 = 0.5;
/// A run that is runnable but gets less than this share of a CPU is CPU-starved.
const STARVED_SHARE: f64 = 0.5;
/// The window to judge a program that never became idle, in seconds.
const REST_WINDOW_S: f64 = 0.25;
/// The same for its memory. A program that has grown steadily for N seconds grows by 1/N in this window.
const CHANGE_WINDOW_S: f64 = 1.0;
/// Growth by more than the larger of these two means that tasks were missing.
const GROWTH_SHARE: f64 = 0.05;
const GROWTH_MIN_BYTES: u64 = 4 << 20;
/// Memory counts as unchanged within the larger of these two.
const SAME_SHARE: f64 = 0.01;
const SAME_BYTES: u64 = 1 << 20;
/// The same for values that are exact: memory that processes show, and kernel memory.
const EXACT_SHARE: f64 = 0.01;
const EXACT_BYTES: u64 = 64 << 10;
/// Samples older than this are of no use, in seconds.
const RETENTION_S: f64 = 2.0;
/// The capacity of a pipe. A program that wrote more within a window may wait for its reader and seem idle.
const PIPE_BYTES: u64 = 64 * 1024;

/// A cheap usage sample. Unreadable values are absent.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
pub struct UsageSample {
    #[serde(skip)]
    pub at_ns: u64,
    /// CPU time so far, in seconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpu_s: Option<f64>,
    /// CPU time of the load, if there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_cpu_s: Option<f64>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<u64>,
    /// Bytes of output so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub output_bytes: u64,
}

/// A sample, and totals until then.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct UsagePoint {
    #[serde(flatten)]
    pub sample: UsageSample,
    /// What the threads were doing, if that was read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doing: Option<ThreadActivity>,
    /// For how long the run was CPU-starved so far.
    #[serde(default, skip_serializing_if = "is_zero")]
    starved_ns: u64,
    /// For how long the run was watched so far.
    watched_ns: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Memory at one time, for comparison with another.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct MemorySnapshot {
    /// Memory that the cgroup uses, in bytes. Lags by some pages per CPU.
    pub in_use: Option<u64>,
    /// Memory that its processes show, and kernel memory, in bytes. Exact.
    pub shown: u64,
    /// The peak of memory so far, and the charge now, in bytes, both with unmapped page cache.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub peak: Option<(u64, u64)>,
}

impl MemorySnapshot {
    /// Whether memory is unchanged, and has not been higher in between.
    pub fn is_same_as(&self, then: &MemorySnapshot) -> bool {
        self.shown.abs_diff(then.shown) <= more_of(EXACT_BYTES, EXACT_SHARE, self.shown.max(then.shown))
            && then.in_use_is_about(self.in_use)
            && self.peak_grown_since(then).is_none()
    }

    /// Whether the cgroup uses about the same, as far as its counters show.
    pub fn in_use_is_about(&self, now: Option<u64>) -> bool {
        self.in_use.zip(now).is_none_or(|(then, now)| is_same(then, now))
    }

    /// Growth of memory since `then` in bytes, if it is more than the tolerance.
    pub fn grown_since(&self, then: &MemorySnapshot) -> Option<u64> {
        let shown = self.shown.saturating_sub(then.shown);
        let in_use = self.in_use.zip(then.in_use).map_or(0, |(now, then)| now.saturating_sub(then));
        let grew = shown > more_of(EXACT_BYTES, EXACT_SHARE, self.shown)
            || in_use > more_of(SAME_BYTES, SAME_SHARE, then.in_use.unwrap_or(0));
        grew.then(|| shown.max(in_use)).max(self.peak_grown_since(then))
    }

    /// By how much the peak has grown since `then` in bytes, less new page cache, if that is more than the housekeeping
    /// of a runtime explains. Memory may be as before again.
    fn peak_grown_since(&self, then: &MemorySnapshot) -> Option<u64> {
        let cache = |at: &MemorySnapshot| Some(at.peak?.1.saturating_sub(at.in_use?));
        let new_cache = cache(self)?.saturating_sub(cache(then)?);
        let ((before, _), (now, _)) = then.peak.zip(self.peak)?;
        let now = now.saturating_sub(new_cache);
        is_growth(before, now).then(|| now - before)
    }

    /// Whether memory grew by more than the housekeeping of a runtime explains.
    pub fn is_growth_of(&self, then: &MemorySnapshot) -> bool {
        self.peak_grown_since(then).is_some()
            || is_growth(then.shown, self.shown)
            || self.in_use.zip(then.in_use).is_some_and(|(now, then)| is_growth(then, now))
    }
}

/// The larger of `least` bytes and a share of `memory`.
fn more_of(least: u64, share: f64, memory: u64) -> u64 {
    least.max((memory as f64 * share) as u64)
}

/// The latest samples, and those just before the reading of memory that counts.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct UsageHistory {
    points: Vec<UsagePoint>,
    starved_ns: u64,
    watched_ns: u64,
    /// Samples just before this instant are kept.
    kept_until_ns: Option<u64>,
}

impl UsageHistory {
    /// Adds a sample. Calls `look` only if the run got less than half a CPU, because that is slow.
    pub fn add(&mut self, sample: UsageSample, look: impl FnOnce() -> ThreadActivity) {
        let mut doing = None;
        if let Some(before) = self.points.last() {
            let elapsed_ns = sample.at_ns.saturating_sub(before.sample.at_ns);
            self.watched_ns += elapsed_ns.min(LONGEST_GAP_NS);
            let used_s = used(before.sample.cpu_s, sample.cpu_s);
            if used_s.is_some_and(|used_s| used_s < STARVED_SHARE * elapsed_ns as f64 / 1e9) {
                let looked = look();
                if looked.wants_cpu {
                    self.starved_ns += elapsed_ns;
                }
                doing = Some(looked);
            }
        }
        let is_before = |point: &UsagePoint, at: u64| {
            point.sample.at_ns <= at && seconds(point.sample.at_ns, at) < RETENTION_S
        };
        let kept_until_ns = self.kept_until_ns;
        self.points.retain(|point| {
            is_before(point, sample.at_ns) || kept_until_ns.is_some_and(|at_ns| is_before(point, at_ns))
        });
        let (starved_ns, watched_ns) = (self.starved_ns, self.watched_ns);
        self.points.push(UsagePoint { sample, doing, starved_ns, watched_ns });
    }

    /// Adds a sample as it was recorded.
    pub fn restore(&mut self, at_ns: u64, point: UsagePoint) {
        (self.starved_ns, self.watched_ns) = (point.starved_ns, point.watched_ns);
        self.points.push(UsagePoint { sample: UsageSample { at_ns, ..point.sample }, ..point });
    }

    /// Adds to the last sample what the threads were doing.
    pub fn set_activity(&mut self, doing: ThreadActivity) {
        if let Some(last) = self.points.last_mut() {
            last.doing = Some(doing);
        }
    }

    /// Keeps the samples just before this instant.
    pub fn keep_until(&mut self, at_ns: u64) {
        self.kept_until_ns = Some(at_ns);
    }

    /// Forgets all samples so far.
    pub fn clear(&mut self) {
        self.points.clear();
        self.kept_until_ns = None;
    }

    pub fn points(&self) -> &[UsagePoint] {
        &self.points
    }

    /// The samples until this instant.
    pub fn until(&self, at_ns: u64) -> UsageHistory {
        let points = self.points.iter().filter(|point| point.sample.at_ns <= at_ns).copied().collect();
        UsageHistory { points, ..*self }
    }

    /// How long the run has been CPU-starved so far, in seconds: runnable, but with less than half a CPU.
    pub fn starved_s(&self) -> f64 {
        self.starved_ns as f64 / 1e9
    }

    /// The same, until this instant.
    pub fn starved_until_s(&self, at_ns: u64) -> f64 {
        let before = self.points.iter().rev().find(|point| point.sample.at_ns <= at_ns);
        before.map_or(0.0, |point| point.starved_ns as f64 / 1e9)
    }

    /// Since when CPU, memory and the load have been idle, if that was watched for `window_s` seconds. Samples
    /// before `since` do not count. Memory matters too: a program may grow while it waits for a CPU.
    pub fn idle_since(&self, since: u64, window_s: f64) -> Option<u64> {
        let (start, last) = (self.watched_for(window_s, since)?, self.points.last()?);
        let is_quiet = |used_s: f64| used_s < IDLE_SHARE * watched_s(start, last);
        let (from, to) = (&start.sample, &last.sample);
        let (low, high) = self.memory_range(from.at_ns);
        let quiet = used(from.cpu_s, to.cpu_s).is_some_and(is_quiet)
            && used(from.load_cpu_s, to.load_cpu_s).is_none_or(is_quiet)
            && to.output_bytes.saturating_sub(from.output_bytes) < PIPE_BYTES
            && is_same(low, high)
            && !starved(start, last);
        quiet.then_some(from.at_ns)
    }

    /// Why a program was not idle, by the latest samples at or after `since`.
    pub fn quiescence(&self, since: u64, now: u64) -> Quiescence {
        let first = self.points.iter().find(|point| point.sample.at_ns >= since);
        let window = |window_s| self.watched_for(window_s, since).or(first);
        let (Some(from), Some(wide), Some(last)) =
            (window(REST_WINDOW_S), window(CHANGE_WINDOW_S), self.points.last())
        else {
            return Quiescence::Unwatched;
        };
        let possible_s = seconds(since, now).min(REST_WINDOW_S);
        if watched_s(from, last) < WATCHED_SHARE * possible_s {
            return Quiescence::Unwatched;
        }
        let (low, high) = self.memory_range(wide.sample.at_ns);
        let had_cpu = used(wide.sample.cpu_s, last.sample.cpu_s)
            .is_some_and(|used_s| used_s >= IDLE_SHARE * watched_s(wide, last));
        // Changing memory decides first: a CPU-starved program that grows has not started all its tasks.
        match (is_growth(low, high), starved(from, last), had_cpu) {
            (true, ..) => Quiescence::Changing,
            (false, true, false) => Quiescence::HeldBack,
            (false, true, true) => Quiescence::Starved,
            (false, false, _) => Quiescence::AtWork,
        }
    }

    /// The latest sample since which the run has been watched for `window_s` seconds, at `since` or later.
    fn watched_for(&self, window_s: f64, since: u64) -> Option<&UsagePoint> {
        let last = self.points.last()?;
        let window_ns = (window_s * 1e9) as u64;
        let long_enough = |point: &&UsagePoint| last.watched_ns.saturating_sub(point.watched_ns) >= window_ns;
        self.points.iter().rev().find(long_enough).filter(|point| point.sample.at_ns >= since)
    }

    /// The lowest and the highest memory in samples since `from`, in bytes. 0 if there are none.
    fn memory_range(&self, from: u64) -> (u64, u64) {
        let usage = || self.points.iter().map(|point| &point.sample).filter(|sample| sample.at_ns >= from);
        let sizes = || usage().filter_map(|sample| sample.memory);
        (sizes().min().unwrap_or(0), sizes().max().unwrap_or(0))
    }
}

/// Whether the run was CPU-starved for most of the time, and so only seemed idle.
fn starved(from: &UsagePoint, to: &UsagePoint) -> bool {
    let starved_s = to.starved_ns.saturating_sub(from.starved_ns) as f64 / 1e9;
    starved_s > 0.0 && starved_s > STARVED_SHARE * seconds(from.sample.at_ns, to.sample.at_ns)
}

/// For how long the run was watched in between, in seconds.
fn watched_s(from: &UsagePoint, to: &UsagePoint) -> f64 {
    to.watched_ns.saturating_sub(from.watched_ns) as f64 / 1e9
}

fn used(from: Option<f64>, to: Option<f64>) -> Option<f64> {
    Some(to? - from?)
}

/// Whether memory grew by more than waiting tasks and the housekeeping of a runtime explain.
pub fn is_growth(then: u64, now: u64) -> bool {
    now.saturating_sub(then) > more_of(GROWTH_MIN_BYTES, GROWTH_SHARE, then)
}

/// Whether memory counts as unchanged.
pub fn is_same(then: u64, now: u64) -> bool {
    now.abs_diff(then) <= more_of(SAME_BYTES, SAME_SHARE, then.max(now))
}

/// Seconds from one instant to another, both in nanoseconds; 0 if reversed.
pub fn seconds(from_ns: u64, to_ns: u64) -> f64 {
    to_ns.saturating_sub(from_ns) as f64 / 1e9
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;
    const MIB: u64 = 1 << 20;

    /// Samples every 20 ms until `until_ms`, of a run that uses this share of a CPU, and memory by the time.
    fn watched(until_ms: u64, share: f64, wants_cpu: bool, memory: impl Fn(u64) -> u64) -> UsageHistory {
        let mut usage = UsageHistory::default();
        see(&mut usage, (0..=until_ms).step_by(20), share, wants_cpu, memory);
        usage
    }

    fn see(
        usage: &mut UsageHistory,
        at_ms: impl IntoIterator<Item = u64>,
        share: f64,
        wants_cpu: bool,
        memory: impl Fn(u64) -> u64,
    ) {
        for ms in at_ms {
            let cpu_s = Some(share * ms as f64 / 1e3);
            usage.add(
                UsageSample { at_ns: ms * MS, cpu_s, memory: Some(memory(ms)), ..UsageSample::default() },
                || ThreadActivity { wants_cpu, ..ThreadActivity::default() },
            );
        }
    }

    /// 4 MiB more every 20 ms.
    fn growing(ms: u64) -> u64 {
        20 * MIB + ms / 20 * 4 * MIB
    }

    fn standing(_: u64) -> u64 {
        600 * MIB
    }

    #[test]
    fn unchanged_memory_without_cpu_use_is_idle() {
        let usage = watched(100, 0.0, false, standing);
        assert_eq!(usage.idle_since(0, 0.1), Some(0));
        assert_eq!(usage.idle_since(20 * MS, 0.1), None, "no look before that counts");
        assert_eq!(
            watched(80, 0.0, false, standing).idle_since(0, 0.1),
            None,
            "watched for too short a time"
        );
    }

    #[test]
    fn cpu_use_growth_or_waiting_for_cpu_is_not_idle() {
        assert_eq!(watched(500, 0.1, false, standing).idle_since(0, 0.1), None);
        assert_eq!(watched(500, 0.0, false, growing).idle_since(0, 0.1), None);
        assert_eq!(watched(500, 0.0, true, standing).idle_since(0, 0.1), None);
    }

    #[test]
    fn time_without_samples_is_unwatched() {
        // Two samples 1.7 s apart, without any use in between: the machine may have been paused.
        let mut usage = watched(200, 0.1, false, growing);
        see(&mut usage, [1_900], 0.1 * 0.2 / 1.9, false, |_| growing(200));
        assert_eq!(usage.idle_since(0, 0.1), None);
        assert_eq!(usage.quiescence(0, 1_900 * MS), Quiescence::Changing, "what was seen before that");
        assert_eq!(usage.quiescence(210 * MS, 1_900 * MS), Quiescence::Unwatched);
        let none = UsageHistory::default();
        assert_eq!((none.idle_since(0, 0.1), none.quiescence(0, 500 * MS)), (None, Quiescence::Unwatched));
    }

    #[test]
    fn one_sample_leaves_a_plateau_unwatched() {
        let mut usage = watched(2_000, 0.15, false, growing);
        usage.clear();
        see(&mut usage, [2_300], 0.15, false, growing);
        assert_eq!(usage.quiescence(0, 2_300 * MS), Quiescence::Unwatched);
        // A plateau that has just begun cannot have been watched for longer. Another check finds it short.
        assert_eq!(usage.quiescence(2_300 * MS, 2_300 * MS), Quiescence::AtWork);
    }

    #[test]
    fn waiting_programs_are_classified_by_cpu_share_and_memory() {
        assert_eq!(watched(1_000, 0.0, true, standing).quiescence(0, 1_000 * MS), Quiescence::HeldBack);
        assert_eq!(watched(1_000, 0.1, true, standing).quiescence(0, 1_000 * MS), Quiescence::Starved);
        assert_eq!(watched(1_000, 0.7, true, standing).quiescence(0, 1_000 * MS), Quiescence::AtWork);
        assert_eq!(watched(1_000, 0.1, true, growing).quiescence(0, 1_000 * MS), Quiescence::Changing);
    }

    #[test]
    fn a_program_that_filled_a_pipe_is_not_idle() {
        let mut usage = UsageHistory::default();
        for tick in 0..=10 {
            let sample = UsageSample { at_ns: tick * 20 * MS, cpu_s: Some(0.0), ..UsageSample::default() };
            usage.add(UsageSample { output_bytes: tick * 16 * 1024, ..sample }, ThreadActivity::default);
        }
        assert_eq!(usage.idle_since(0, 0.1), None);
    }

    #[test]
    fn a_program_is_not_idle_while_its_load_works() {
        let mut usage = UsageHistory::default();
        for tick in 0..=10 {
            let load_cpu_s = Some(0.01 * tick as f64);
            let sample =
                UsageSample { at_ns: tick * 20 * MS, cpu_s: Some(0.0), load_cpu_s, ..UsageSample::default() };
            usage.add(sample, ThreadActivity::default);
        }
        assert_eq!(usage.idle_since(0, 0.1), None);
    }

    #[test]
    fn starved_time_of_a_launch_is_summed() {
        let mut usage = watched(400, 0.1, true, standing);
        see(&mut usage, (420..=800).step_by(20), 0.1, false, standing);
        assert!((usage.starved_s() - 0.4).abs() < 1e-9);
        assert!((usage.starved_until_s(200 * MS) - 0.2).abs() < 1e-9);
        assert_eq!(UsageHistory::default().starved_until_s(0), 0.0);
    }

    #[test]
    fn memory_changes_beyond_tolerance_are_found() {
        let stood = MemorySnapshot { in_use: Some(2 * MIB), shown: 2 * MIB, peak: None };
        let more = |kib: u64| MemorySnapshot { shown: stood.shown + (kib << 10), ..stood };
        assert!(more(64).is_same_as(&stood) && more(64).grown_since(&stood).is_none());
        assert!(!more(65).is_same_as(&stood) && more(65).grown_since(&stood) == Some(65 << 10));
        let large = MemorySnapshot { in_use: None, shown: 100 * MIB, peak: None };
        assert!(MemorySnapshot { shown: 101 * MIB, ..large }.is_same_as(&large));
        assert!(!MemorySnapshot { shown: 102 * MIB, ..large }.is_same_as(&large));
        // A cgroup's counters may lag by 1 MiB, which does not count as growth.
        let lagging = MemorySnapshot { in_use: Some(3 * MIB), ..stood };
        assert!(lagging.is_same_as(&stood) && lagging.grown_since(&stood).is_none());
        let used = MemorySnapshot { in_use: Some(9 * MIB), ..stood };
        assert!(!used.is_same_as(&stood) && used.grown_since(&stood) == Some(7 * MIB));
    }

    #[test]
    fn a_higher_peak_is_growth_unless_it_is_page_cache() {
        let at = |peak: u64, charged: u64| MemorySnapshot {
            in_use: Some(20 * MIB),
            shown: 20 * MIB,
            peak: Some((peak * MIB, charged * MIB)),
        };
        let then = at(30, 25);
        assert_eq!(at(50, 25).grown_since(&then), Some(20 * MIB));
        assert!(at(50, 25).is_growth_of(&then) && !at(50, 25).is_same_as(&then));
        for same in [at(34, 25), at(50, 45), at(30, 20)] {
            assert_eq!(same.grown_since(&then), None, "{same:?}");
            assert!(same.is_same_as(&then) && !same.is_growth_of(&then), "{same:?}");
        }
        assert!(MemorySnapshot { peak: None, ..then }.is_same_as(&then), "unknown");
    }

    #[test]
    fn housekeeping_of_a_runtime_is_not_growth() {
        assert!(!is_growth(MIB, 5 * MIB) && is_growth(MIB, 6 * MIB));
        assert!(!is_growth(200 * MIB, 210 * MIB) && is_growth(200 * MIB, 211 * MIB));
        assert!(is_same(MIB, 2 * MIB) && !is_same(MIB, 3 * MIB));
        assert!(is_same(500 * MIB, 495 * MIB) && !is_same(500 * MIB, 490 * MIB));
    }
}
