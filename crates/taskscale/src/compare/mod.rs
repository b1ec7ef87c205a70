//! Two campaigns side by side: what costs more, what costs less, and what cannot be told.
//!
//! [`Comparison::build`] compares; [`render`] shows. Pure.

mod build;
mod csv;
mod differ;
mod error;
mod gate;
mod judge;
mod markdown;
mod model;
mod side;
mod terminal;
#[cfg(test)]
mod tests;
mod words;

pub use build::default_metrics;
pub use error::CompareError;
pub use model::{
    COMPARISON_SCHEMA, Cell, CellSide, Change, Comparison, Difference, Gate, Origin, OutcomeChange, Verdict,
};
pub use side::{Input, Settings};
pub use words::{gate, regressions};

use serde::Serialize;

use crate::report::json;
use crate::report::{Format, RenderOptions};

/// Several comparisons in one text.
#[derive(Serialize)]
struct Parts<'a> {
    schema: u32,
    parts: &'a [Comparison],
}

/// The comparison of each part as text that ends in a line end.
pub fn render(parts: &[Comparison], format: Format, options: RenderOptions) -> String {
    let each = |render: &dyn Fn(&Comparison) -> String| -> String {
        parts.iter().map(render).collect::<Vec<_>>().join("\n")
    };
    match (format, parts) {
        (Format::Table, _) => each(&|part| terminal::render(part, options)),
        (Format::Markdown, _) => each(&markdown::render),
        (Format::Csv, _) => csv::render(parts),
        (Format::Json, [part]) => json::pretty(part),
        (Format::Json, parts) => json::pretty(&Parts { schema: COMPARISON_SCHEMA, parts }),
    }
}
