//! One or several reports in any format, as a command asks for it.

use super::ci_exports::{self, Export};
use super::error::ExportError;
use super::model::Report;
use super::svg;
use super::{Detail, Format, RenderOptions, render};
use crate::metrics::MetricDef;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ExportTarget {
    /// A format with the whole report.
    Report(Format),
    /// JSON for github-action-benchmark, `customSmallerIsBetter`.
    Github,
    /// Bencher Metric Format.
    Bencher,
    /// A picture.
    Svg(Chart),
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Chart {
    /// Entries by footprint at one number of tasks.
    #[default]
    Ranking,
    /// Footprint over the number of tasks.
    Scaling,
}

#[derive(Debug, Clone)]
pub struct ExportRequest {
    pub target: ExportTarget,
    /// The metrics to compare or export; empty for those that suit the target.
    pub metrics: Vec<&'static MetricDef>,
    /// The number of tasks of a ranking; the largest where absent.
    pub tasks: Option<u64>,
    pub detail: Detail,
    pub options: RenderOptions,
}

/// The reports as text, one after the other.
pub fn export(reports: &[Report], request: &ExportRequest) -> Result<Export, ExportError> {
    let [first, others @ ..] = reports else { return Err(ExportError::Nothing) };
    let whole = |text| Ok(Export { text, left_out: Vec::new() });
    match request.target {
        ExportTarget::Report(format) => whole(render(reports, format, request.detail, request.options)),
        ExportTarget::Github => ci_exports::github(reports, &request.metrics),
        ExportTarget::Bencher => ci_exports::bencher(reports, &request.metrics),
        ExportTarget::Svg(_) if !others.is_empty() => Err(ExportError::OneCampaign(reports.len())),
        ExportTarget::Svg(Chart::Ranking) => whole(svg::ranking(first, request.tasks)?),
        ExportTarget::Svg(Chart::Scaling) => whole(svg::scaling(first)?),
    }
}
