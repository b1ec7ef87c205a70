//! Estimates runs, time and memory of a plan before it starts. Pure.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::plan::{PlannedRun, repetition_of};
use super::run_tuner::RunTuner;
use crate::catalog::Kind;
use crate::record::{Plan, Sample, Status, last_attempts};
use crate::stats::{self, Point};

/// Time of a warm-up (1,000 tasks, no wait) with start-up, in seconds: that of a JVM.
const WARM_UP_S: f64 = 0.5;
/// Fixed time of a run besides its wait and its tasks, in seconds.
const RUN_S: f64 = 0.1;
/// Time to start and end a task if nothing is known of the entry, in seconds.
const PER_TASK_S: f64 = 1e-6;
/// Fixed cost of a program if nothing is known of the entry, in bytes.
const BASE_BYTES: f64 = (8 << 20) as f64;

/// The estimate of one or more plans.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PlanEstimate {
    /// In the plan's order: by entry, then by number of tasks.
    pub cells: Vec<CellEstimate>,
    /// Measured runs that are left to do.
    pub runs: u64,
    /// Runs that are done already.
    pub done: u64,
    /// Unmeasured runs before them.
    pub warm_ups: u64,
    /// Time of all runs and warm-ups left, without builds.
    pub seconds: f64,
}

impl PlanEstimate {
    /// Adds `plan`. `seen` are samples of this machine, from any results. `kept` are those of the plan's own
    /// folder, which are not measured again.
    pub fn add(&mut self, plan: &Plan, kinds: &BTreeMap<String, Kind>, seen: &[Sample], kept: &[Sample]) {
        // Other series predict nothing about this one.
        let part = plan.series();
        let of_part = |sample: &&Sample| sample.is_of(&part);
        let mut tuner = RunTuner::new(plan, None);
        kinds.iter().for_each(|(entry, kind)| tuner.holds.register(entry, *kind));
        seen.iter().chain(kept).filter(of_part).for_each(|sample| tuner.observe(sample));
        let known: Vec<&Sample> =
            last_attempts(seen).into_iter().chain(last_attempts(kept)).filter(of_part).collect();
        let of_plan = last_attempts(kept);
        let is_done = |run: &PlannedRun| {
            of_plan.iter().find(|sample| run.has(sample)).is_some_and(|sample| tuner.retry(sample).is_none())
        };
        // The order does not matter here, so any seed will do.
        let planned = (1..=plan.repetitions).flat_map(|repetition| repetition_of(plan, repetition, 0));
        let (done, left): (Vec<PlannedRun>, Vec<_>) = planned.partition(is_done);
        self.done += done.len() as u64;
        let mut cells = Vec::new();
        for entry in &plan.entries {
            let of_entry: Vec<&Sample> =
                known.iter().copied().filter(|sample| *sample.entry == **entry).collect();
            for &tasks in &plan.tasks {
                let of_cell = left.iter().filter(|run| run.cell.entry == *entry && run.cell.tasks == tasks);
                let predicted: Vec<f64> = of_cell.map(|run| tuner.predicted_s(run)).collect();
                if predicted.is_empty() {
                    continue;
                }
                let runs = predicted.len() as u64;
                // For work and servers: the time of the work or the load.
                let hold_s = predicted.iter().sum::<f64>() / runs as f64;
                let kind = kinds.get(entry).copied().unwrap_or(Kind::Stackless);
                let (footprint_bytes, source) = memory(&of_entry, tasks, kind);
                let run_s = hold_s + time_without_hold_s(&of_entry, tasks);
                cells.push(CellEstimate {
                    entry: entry.clone(),
                    part: part.to_string(),
                    tasks,
                    runs,
                    hold_s,
                    run_s,
                    footprint_bytes,
                    source,
                });
            }
        }
        let entries: BTreeSet<&str> = cells.iter().map(|cell| cell.entry.as_str()).collect();
        let warm_ups = entries.len() as u64;
        let measured: f64 = cells.iter().map(|cell| cell.runs as f64 * cell.run_s).sum();
        self.warm_ups += warm_ups;
        self.seconds += measured + warm_ups as f64 * WARM_UP_S;
        self.runs += cells.iter().map(|cell| cell.runs).sum::<u64>();
        self.cells.extend(cells);
    }
}

/// The estimate of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CellEstimate {
    pub entry: String,
    /// Workload, parameters and CPUs, in a few words.
    pub part: String,
    pub tasks: u64,
    /// Runs that are left to do.
    pub runs: u64,
    /// Predicted time of the wait, the work or the load, in seconds.
    pub hold_s: f64,
    /// Time of one run from start to end, in seconds.
    pub run_s: f64,
    pub footprint_bytes: f64,
    pub source: EstimateSource,
}

/// The source of an estimate.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum EstimateSource {
    /// The same entry at the same number of tasks was measured on this machine.
    Measured,
    /// The same entry was measured at other numbers of tasks.
    OtherCounts,
    /// Nothing is known but its kind.
    Kind,
}

/// Bytes per task if only the kind is known: the usual values of this catalog (README.md), rounded up.
fn bytes_per_task(kind: Kind) -> f64 {
    match kind {
        Kind::Timer => 200.0,
        Kind::Future => 300.0,
        Kind::Stackless => 1_500.0,
        Kind::Stackful => 3_000.0,
        Kind::Thread => 40_000.0,
        Kind::Process => 500_000.0,
        // Black-box programs have no usual value: this is roughly that of a connection.
        Kind::Program => 10_000.0,
    }
}

/// The estimated footprint of a case in bytes, and the source of the estimate.
fn memory(of_entry: &[&Sample], tasks: u64, kind: Kind) -> (f64, EstimateSource) {
    let point = |sample: &&Sample| {
        let bytes = sample.memory.plateau.as_ref()?.footprint_bytes;
        (sample.status == Status::Ok).then_some(Point { tasks: sample.tasks, y: bytes as f64 })
    };
    let points: Vec<Point> = of_entry.iter().filter_map(point).collect();
    let same: Vec<f64> = points.iter().filter(|point| point.tasks == tasks).map(|point| point.y).collect();
    if let Some(seen) = stats::median(&same) {
        return (seen, EstimateSource::Measured);
    }
    match stats::predicted(&points, tasks) {
        Some(bytes) if bytes > 0.0 => (bytes, EstimateSource::OtherCounts),
        _ => (BASE_BYTES + bytes_per_task(kind) * tasks as f64, EstimateSource::Kind),
    }
}

/// Time of a run besides its wait, in seconds: the median at the same N, or estimated from the number of tasks.
fn time_without_hold_s(of_entry: &[&Sample], tasks: u64) -> f64 {
    let same = of_entry.iter().filter(|sample| sample.tasks == tasks && sample.status == Status::Ok);
    let beside: Vec<f64> =
        same.filter_map(|sample| Some((sample.time.wall_s? - sample.hold_s).max(0.0) + RUN_S)).collect();
    stats::median(&beside).unwrap_or(RUN_S + tasks as f64 * PER_TASK_S)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{Hold, Plateau, test_sample};

    fn plan() -> Plan {
        Plan::of_holds(
            "sleep",
            vec!["a/known".into(), "a/new".into()],
            vec![1, 10_000, 100_000],
            3,
            Hold::Chosen { plateau_s: 1.0 },
        )
    }

    fn estimate(plan: &Plan, seen: &[Sample], kept: &[Sample]) -> PlanEstimate {
        let kinds = BTreeMap::from([("a/known".into(), Kind::Stackful), ("a/new".into(), Kind::Thread)]);
        let mut estimate = PlanEstimate::default();
        estimate.add(plan, &kinds, seen, kept);
        estimate
    }

    fn seen(tasks: u64, repetition: u32) -> Sample {
        let mut sample = test_sample("a/known", tasks);
        sample.repetition = repetition;
        sample.time.launch_s = Some(tasks as f64 * 1e-4);
        sample.time.plateau_s = Some(1.5);
        sample.time.wall_s = Some(sample.hold_s + 0.4);
        let footprint_bytes = 1_000_000 + 2_000 * tasks;
        sample.memory.plateau = Some(Plateau { footprint_bytes, ..Plateau::default() });
        sample
    }

    #[test]
    fn estimates_fall_back_from_measurements_to_the_kind() {
        let estimate = estimate(&plan(), &[seen(1, 1), seen(10_000, 1)], &[]);
        assert_eq!((estimate.runs, estimate.done, estimate.warm_ups), (18, 0, 2));
        let of: BTreeMap<(&str, u64), (EstimateSource, f64)> = (estimate.cells.iter())
            .map(|cell| ((cell.entry.as_str(), cell.tasks), (cell.source, cell.footprint_bytes)))
            .collect();
        assert_eq!(of[&("a/known", 10_000)], (EstimateSource::Measured, 21_000_000.0));
        assert_eq!(of[&("a/known", 100_000)], (EstimateSource::OtherCounts, 201_000_000.0));
        let (source, bytes) = of[&("a/new", 100_000)];
        assert!(source == EstimateSource::Kind && bytes > 4e9);
        // A launch took 1 s at 10,000 tasks: 10 s are predicted at 100,000, plus 30%.
        let hold =
            |tasks| estimate.cells.iter().find(|c| c.entry == "a/known" && c.tasks == tasks).unwrap().hold_s;
        assert_eq!((hold(1), hold(100_000)), (2.0, 15.0));
        let together: f64 = estimate.cells.iter().map(|cell| cell.run_s * cell.runs as f64).sum();
        assert_eq!(estimate.seconds, together + 2.0 * WARM_UP_S);
    }

    #[test]
    fn estimates_ignore_other_workloads() {
        let mut other = seen(10_000, 1);
        other.workload = "spawn".into();
        let nothing = estimate(&plan(), &[], &[]);
        assert_eq!(estimate(&plan(), &[other.clone()], &[]), nothing);
        // The other workload does not change the estimate.
        let own = seen(1, 1);
        let alone = estimate(&plan(), std::slice::from_ref(&own), &[]);
        assert_eq!(estimate(&plan(), &[own, other], &[]), alone);
    }

    #[test]
    fn finished_runs_are_not_estimated() {
        let kept = [seen(1, 1), seen(1, 2), seen(1, 3), seen(10_000, 1)];
        let mut plan = plan();
        plan.entries = vec!["a/known".into()];
        let before = estimate(&plan, &[], &kept);
        assert_eq!((before.runs, before.done, before.warm_ups), (5, 4, 1));
        assert!(before.cells.iter().all(|cell| cell.tasks != 1));
        // A run whose wait was too short is not done.
        let mut short = kept.to_vec();
        short[3].time.plateau_s = Some(0.1);
        let again = estimate(&plan, &[], &short);
        assert_eq!(again.done, 3);
    }
}
