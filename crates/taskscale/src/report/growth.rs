//! How the footprint of an entry grows: the line through its runs, and its deviations.

use std::collections::BTreeSet;

use super::cells::{Cells, most_usual};
use super::conditions::RunConditions;
use super::model::{EntryInfo, Growth};
use crate::metrics::{FOOTPRINT, MetricDef};
use crate::record::{Campaign, EntryFacts, PlateauFrom, Sample, Status};
use crate::stats::{self, Point};

/// Whether a sample shows the cost of N tasks: it was ok, and all of them were alive.
///
/// A server's connections must have carried a message: before that they lack their buffers.
///
/// A black-box program prints nothing about its tasks. There the status is the evidence: `ok` requires a plateau.
pub fn feeds_line(sample: &Sample) -> bool {
    let alive = match (sample.alive, sample.plateau_from) {
        (Some(alive), _) => alive == sample.tasks,
        (None, Some(PlateauFrom::Protocol | PlateauFrom::LoadLine) | None) => false,
        (None, Some(_)) => true,
    };
    let used = sample.load.as_ref().is_none_or(|load| load.first_message);
    alive && used && sample.status == Status::Ok && FOOTPRINT.read(sample).is_some()
}

/// The points of a fit: the values of these samples, each with its repetition.
pub fn readings(samples: &[&Sample], figure: &MetricDef) -> Vec<(u32, Point)> {
    let point =
        |sample: &&Sample| Some((sample.repetition, Point { tasks: sample.tasks, y: figure.read(sample)? }));
    samples.iter().filter_map(point).collect()
}

/// The line fitted to an entry's runs; `None` if no run has a footprint.
///
/// Runs of another memory source than the entry's main one are left out: a line across sources would measure their
/// difference.
pub(super) fn growth(facts: &EntryFacts, campaign: &Campaign, cells: &Cells) -> Option<Growth> {
    let mut feeding: Vec<&Sample> =
        cells.of_entry(&facts.name).flatten().copied().filter(|sample| feeds_line(sample)).collect();
    let source = most_usual(&feeding).first()?.source;
    feeding.retain(|sample| sample.memory.source == source);
    let readings = readings(&feeding, &FOOTPRINT);
    let points: Vec<Point> = readings.iter().map(|(_, point)| *point).collect();
    let fit = stats::fit(&points);
    let tasks: BTreeSet<u64> = points.iter().map(|point| point.tasks).collect();
    let repetitions = stats::lines_of_repetitions(readings.clone());
    // An interval shows how well repetitions agree, not whether memory is linear.
    let linear = fit.as_ref().filter(|fit| fit.linear() != Some(false));
    let intervals = linear.and_then(|fit| stats::line_intervals(&repetitions, &fit.line));
    // If the whole interval is below 0, the tasks were not measured.
    let fit = fit.filter(|fit| intervals.map_or(fit.line.slope, |of| of.slope.high) >= 0.0);
    let intervals = intervals.filter(|_| fit.is_some());
    let line = fit.as_ref().map(|fit| fit.line);
    Some(Growth {
        entry: EntryInfo::of(facts, campaign.created_at),
        base_bytes: line.map(|line| line.base),
        base_bytes_interval: intervals.map(|intervals| intervals.base),
        bytes_per_task: line.map(|line| line.slope),
        bytes_per_task_interval: intervals.map(|intervals| intervals.slope),
        excess_bytes: line.zip(campaign.plan.holds_bytes).map(|(line, held)| line.slope - held as f64),
        linear: fit.as_ref().and_then(stats::Fit::linear),
        worst: fit.as_ref().and_then(|fit| fit.worst),
        steps: fit.map(|fit| fit.steps).unwrap_or_default(),
        points: points.len() as u64,
        readings,
        conditions: RunConditions::of(&feeding),
        tasks: tasks.into_iter().collect(),
    })
}
