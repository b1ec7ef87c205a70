//! The versions of an entry, side by side: how its cost changed from each to the next.

use crate::metrics::MetricDef;
use crate::stats::Interval;

/// The versions of an entry that differ in one toolchain or library.
#[derive(Debug, Clone, PartialEq)]
pub struct VersionLine {
    /// `rust/tokio-spawn, tokio: bytes per task`.
    pub title: String,
    pub metric: &'static MetricDef,
    /// Ascending.
    pub points: Vec<VersionPoint>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct VersionPoint {
    pub version: String,
    /// Month in which its series was released, if known.
    pub released: Option<String>,
    /// Absent if no run of the version has one.
    pub value: Option<f64>,
    /// Smallest and largest of the repetitions, or the 95% interval of a fitted value.
    pub range: Option<Interval>,
    /// Value ÷ value of the previous version.
    pub ratio: Option<f64>,
    /// 95% interval of the ratio.
    pub ratio_range: Option<Interval>,
    /// Against the previous version; absent for the first.
    pub verdict: Option<String>,
    /// Whether it costs more (`true`) or less than the previous version, beyond chance.
    pub costs_more: Option<bool>,
}
