//! Compares results: what costs more, less or is unclear between two, and what differs between several.
//!
//! [`Comparison::build`] compares two, and [`render`] shows it. [`side_by_side`] shows several, without verdicts, and
//! [`show_changes`] their changes on a page. Pure.

mod build;
mod csv;
mod differ;
mod document;
mod error;
mod gate;
#[cfg(test)]
mod gate_tests;
mod judge;
mod model;
mod over_versions;
mod page_changes;
mod plan;
mod readings;
mod several;
mod several_document;
#[cfg(test)]
mod several_tests;
mod side;
#[cfg(test)]
mod tests;
#[cfg(test)]
mod unlike_tests;
mod words;

pub use error::CompareError;
pub use model::{COMPARISON_SCHEMA, Change, ComparedResults, Comparison, Decision, Judged, Verdict};
pub use over_versions::{metric_over_versions, over_versions, what_changed};
pub use page_changes::show_changes;
pub use several::campaigns;
pub use several_document::side_by_side;
pub use side::{CompareSettings, ComparedMetric, Input};
pub use words::{change, gate, percent, regressions, undecided};

use crate::document::{Document, Format, RenderOptions, json};

/// The comparison of each part as text that ends with a newline.
pub fn render(parts: &[Comparison], format: Format, options: RenderOptions) -> String {
    let document = || {
        let documents = parts.iter().map(|part| (part.workload.clone(), document::document(part)));
        Document::together(documents.collect())
    };
    let json = || json::one_or_many(COMPARISON_SCHEMA, "parts", parts);
    format.render(options, document, || csv::render(parts), json)
}
