//! The versions of an entry, side by side: how its cost changed from each to the next.

use crate::metrics::MetricDef;
use crate::stats::Interval;

/// The versions of an entry that differ in one thing.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionLine {
    /// `rust/tokio-spawn, tokio: bytes per task`.
    pub title: String,
    pub metric: &'static MetricDef,
    /// Ascending.
    pub points: Vec<VersionPoint>,
}

/// One version.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionPoint {
    pub version: String,
    /// Month in which its series was released, if known.
    pub released: Option<String>,
    /// Absent if it has none.
    pub value: Option<f64>,
    /// Smallest and largest of the repetitions, or the 95% interval of a fitted value.
    pub range: Option<Interval>,
    /// Over the version before.
    pub ratio: Option<f64>,
    /// Of the ratio, 95%.
    pub ratio_range: Option<Interval>,
    /// Against the version before; absent of the first.
    pub verdict: Option<String>,
    /// Whether it costs more (`true`) or less than the version before, beyond chance.
    pub costs_more: Option<bool>,
}
