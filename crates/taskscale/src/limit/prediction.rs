//! Predicts the boundary: the N at which the line through the runs reaches the cap. Pure.

use super::boundary_search::Prediction;
use crate::stats::{Point, fit};

/// Assumed scatter of a run's memory, as a share: about that of repetitions of one case.
const SCATTER: f64 = 0.004;
/// Assumed deviation from the line, as a share, for each factor of e beyond the largest N that was run.
const BEND: f64 = 0.01;

/// The number of tasks that need `cap` bytes, by the line through the runs.
pub fn predict_tasks(needs: &[Point], cap: f64) -> Option<Prediction> {
    let fit = fit(needs).filter(|fit| fit.line.slope > 0.0)?;
    let line = fit.line;
    let value = (cap - line.base) / line.slope;
    let largest = needs.iter().max_by_key(|point| point.tasks)?;
    let smallest = needs.iter().min_by_key(|point| point.tasks)?;
    // The less memory grows along the line, the more scatter changes its slope.
    let growth = line.slope * (largest.tasks - smallest.tasks) as f64;
    let beyond = (value / largest.tasks as f64).max(1.0);
    // Near the largest N, a wrong slope hardly matters.
    let scatter = SCATTER * largest.y.max(cap - growth) / growth * (1.0 - 1.0 / beyond);
    // Elsewhere the line may be as wrong as at its worst point.
    let deviation = match fit.linear() {
        Some(false) => fit.worst.and_then(|worst| worst.off).map_or(1.0, f64::abs),
        _ => 0.0,
    };
    Some(Prediction { value, doubt: scatter.max(deviation) + BEND * beyond.ln() })
}

/// The garbage that a run limited by its cap may still contain, as a share of its need.
const GARBAGE: f64 = 0.05;

/// Predicts the least memory from a run's need, in bytes. `file_bytes` of it are file pages, which the kernel
/// reclaims before it kills, except the few in use. `felt`: whether the cap limited the run, so that its need
/// is inexact.
pub fn predict_memory(need_bytes: f64, file_bytes: f64, felt: bool) -> Option<Prediction> {
    let kept = need_bytes - file_bytes;
    let doubt = if felt { GARBAGE } else { SCATTER };
    // No prediction if only file pages were counted.
    (kept > 0.0).then_some(Prediction { value: kept, doubt: doubt.max(file_bytes / kept) })
}
