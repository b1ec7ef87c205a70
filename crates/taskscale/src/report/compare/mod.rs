//! Two campaigns side by side: what costs more, what costs less, and what cannot be told.
//!
//! [`Comparison::build`] compares; [`render`] shows. Pure, as all of [`report`](super).

mod build;
mod csv;
mod differ;
mod gate;
mod judge;
mod markdown;
mod model;
mod terminal;
#[cfg(test)]
mod tests;
mod words;

pub use build::{CompareError, Input, Settings};
pub use model::{
    COMPARISON_SCHEMA, Cell, CellSide, Change, Comparison, Difference, Gate, Origin, OutcomeChange, Verdict,
};
pub use words::{gate, regressions};

use super::{Format, RenderOptions};

/// The comparison as text that ends in a line end.
pub fn render(comparison: &Comparison, format: Format, options: RenderOptions) -> String {
    match format {
        Format::Table => terminal::render(comparison, options),
        Format::Markdown => markdown::render(comparison),
        Format::Csv => csv::render(comparison),
        Format::Json => super::json::pretty(comparison),
    }
}
