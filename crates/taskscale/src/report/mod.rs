//! Reports of results, for people and for programs.
//!
//! [`Report::build`] summarizes a campaign once. [`render`] shows it as a table for the terminal, Markdown, CSV or
//! JSON, and [`export`] writes one or several in these and in formats for other tools. Pure: reads no file, queries no
//! terminal. Must not know the command line's types or how a run is measured.

mod build;
mod cells;
mod chart;
mod ci_exports;
mod color;
mod columns;
mod conditions;
mod csv;
pub(crate) mod document;
mod error;
pub(crate) mod estimate;
mod export;
pub(crate) mod facts;
pub(crate) mod footnotes;
pub(crate) mod growth;
mod headline;
mod html;
mod load_curve;
mod model;
mod overview;
mod page;
mod phrases;
mod rank;
mod samples;
mod speedup;
mod svg;
mod version;
mod versions;

#[cfg(test)]
mod export_tests;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod results_tests;
#[cfg(test)]
mod tests;

pub use cells::Cells;
pub use chart::chart;
pub use columns::columns;
pub use conditions::RunConditions;
pub use document::Detail;
pub use error::ExportError;
pub use export::{Chart, ExportRequest, ExportTarget, export};
pub use footnotes::releases;
pub use html::write_html;
pub use model::{EntryInfo, Growth, REPORT_SCHEMA, Rank, Report, Row, RowGroup, Unavailable, Version};
pub use overview::{Factor, HEAT_STEPS, Overview, overview};
pub use page::{PageChange, PageData, VersionsChart};
pub use phrases::{FailureLine, failure_lines, letter, processor};
pub use samples::render as samples_csv;
pub use svg::{ranking as ranking_chart, versions as versions_chart};
pub use versions::{VersionLine, VersionPoint};

pub use crate::document::{Bars, Format, RenderOptions, acts, command_line, safe};
use crate::document::{json, sanitize};

/// The reports as text that ends in a newline. Tables are of one campaign, CSV and JSON of any.
pub fn render(reports: &[Report], format: Format, detail: Detail, options: RenderOptions) -> String {
    let json = || json::one_or_many(REPORT_SCHEMA, "campaigns", reports);
    format.render(options, || document::document(reports, detail), || csv::render(reports), json)
}
