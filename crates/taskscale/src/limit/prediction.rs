//! Predicts the boundary: the N at which the line through the runs reaches the cap. Pure.

use super::boundary_search::Prediction;
use crate::stats::{Point, fit};

/// How far a run's memory is taken to scatter, as a share of it: about what repetitions of one cell show.
const SCATTER: f64 = 0.004;
/// A line is taken to bend by this share for each factor of e beyond the largest N that was run.
const BEND: f64 = 0.01;

/// The number of tasks that need `cap` bytes, by the line through the runs.
pub fn predict_tasks(needs: &[Point], cap: f64) -> Option<Prediction> {
    let fit = fit(needs).filter(|fit| fit.line.slope > 0.0)?;
    let line = fit.line;
    let value = (cap - line.base) / line.slope;
    let largest = needs.iter().max_by_key(|point| point.tasks)?;
    let smallest = needs.iter().min_by_key(|point| point.tasks)?;
    // What scatter makes of the slope, over the distance that the line spans.
    let growth = line.slope * (largest.tasks - smallest.tasks) as f64;
    let beyond = (value / largest.tasks as f64).max(1.0);
    // Near the largest N the line is held by its own end, and scatters no more than that.
    let scatter = SCATTER * largest.y.max(cap - growth) / growth * (1.0 - 1.0 / beyond);
    // What the line missed where runs were made it may miss elsewhere.
    let deviation = match fit.linear() {
        Some(false) => fit.worst.and_then(|worst| worst.off).map_or(1.0, f64::abs),
        _ => 0.0,
    };
    Some(Prediction { value, doubt: scatter.max(deviation) + BEND * beyond.ln() })
}

/// How far below what a run needed that felt its cap the least memory may lie: it may hold garbage that could go.
const GARBAGE: f64 = 0.05;

/// The least memory for a run's need. `file_bytes` of it are file pages, which the kernel reclaims before it kills,
/// except the few in use: the boundary is near the rest. `felt`: whether the cap limited the run, so that its need is a
/// guess.
pub fn predict_memory(need_bytes: f64, file_bytes: f64, felt: bool) -> Option<Prediction> {
    let kept = need_bytes - file_bytes;
    let doubt = if felt { GARBAGE } else { SCATTER };
    // Where nothing but files were counted, nothing is predicted.
    (kept > 0.0).then_some(Prediction { value: kept, doubt: doubt.max(file_bytes / kept) })
}
