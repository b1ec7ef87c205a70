//! Compares two campaigns: what costs more, what costs less, and what is unclear.
//!
//! [`Comparison::build`] compares; [`render`] shows. Pure.

mod build;
mod csv;
mod differ;
mod error;
mod gate;
#[cfg(test)]
mod gate_tests;
mod judge;
mod model;
mod plan;
mod readings;
mod sheet;
mod side;
#[cfg(test)]
mod tests;
mod words;

pub use build::default_metrics;
pub use error::CompareError;
pub use model::{
    COMPARISON_SCHEMA, Change, Comparison, Decision, Difference, Judged, JudgedSide, Origin, OutcomeChange,
    Undecided, Verdict,
};
pub use side::{Input, Metric, Settings};
pub use words::{gate, regressions, undecided};

use serde::Serialize;

use crate::sheet::{Format, RenderOptions, Sheet, json};

/// Several comparisons in one text.
#[derive(Serialize)]
struct Parts<'a> {
    schema: u32,
    parts: &'a [Comparison],
}

/// The comparison of each part as text that ends in a line end.
pub fn render(parts: &[Comparison], format: Format, options: RenderOptions) -> String {
    let sheet = || {
        let sheets = parts.iter().map(|part| (part.workload.clone(), sheet::sheet(part)));
        Sheet::together(sheets.collect())
    };
    match (format, parts) {
        (Format::Table, _) => sheet().terminal(options),
        (Format::Markdown, _) => sheet().markdown(),
        (Format::Csv, _) => csv::render(parts),
        (Format::Json, [part]) => json::pretty(part),
        (Format::Json, parts) => json::pretty(&Parts { schema: COMPARISON_SCHEMA, parts }),
    }
}
