//! Why reports cannot be exported or drawn.

use super::phrases::counts;
use crate::hint::hints;
use crate::units;

/// Why an export failed, or a chart cannot be drawn.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, strum::EnumMessage)]
pub enum ExportError {
    #[error("duplicate name: {name} (in {first} and in {second}, but services keep one value per name)")]
    #[strum(message = "pass one folder at a time, each with its own -o FILE; --part selects a series")]
    Twice { name: String, first: String, second: String },
    #[error("metric not supported: {0} (more is better, but github-action-benchmark expects less)")]
    #[strum(message = "use its inverse: --metric wall-ns-per-op")]
    MoreIsBetter(&'static str),
    #[error("no values to export")]
    #[strum(message = "`taskscale report DIR` shows the status of each case")]
    NoValues,
    #[error("not measured: N = {} (measured: {})", units::count(*asked), counts(there))]
    NoSuchTasks { asked: u64, there: Vec<u64> },
    #[error("too few N with ok runs: {0} (a scaling chart needs 2)")]
    #[strum(message = "measure at more than one N, or draw --chart ranking")]
    TooFewTasks(usize),
    #[error("nothing to draw (no results)")]
    NothingToDraw,
    #[error("a chart shows one series: {0} given (select one with --part)")]
    #[strum(message = "`taskscale report DIR` shows the series of a folder")]
    OneCampaign(usize),
    #[error("no results given")]
    Nothing,
}

hints!(ExportError {});
