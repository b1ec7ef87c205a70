//! What a campaign found, for people and for programs.
//!
//! [`Report::build`] sums a campaign up once; [`render`] shows the result as a table for the terminal, Markdown, CSV
//! or JSON, and [`export`] one or several of them in these and in formats for other tools. Pure: reads no file, asks no
//! terminal. Must not know the command line's types or how a run is measured.

pub(crate) mod bar;
mod build;
mod chart;
mod ci_exports;
mod columns;
pub(crate) mod csv;
mod estimate;
mod export;
mod footnotes;
pub(crate) mod growth;
mod html;
pub(crate) mod json;
pub(crate) mod markdown;
mod model;
mod page;
pub(crate) mod phrases;
mod rank;
mod samples;
pub(crate) mod sanitize;
mod side_by_side;
mod speedup;
mod svg;
pub(crate) mod terminal;
pub(crate) mod terminal_table;

#[cfg(test)]
mod export_tests;
#[cfg(test)]
pub(crate) mod fixture;
#[cfg(test)]
mod tests;

pub use bar::Bars;
pub use chart::chart;
pub use ci_exports::ServiceError;
pub use export::{Chart, Export, ExportError, Request, Target, export};
pub use html::write_html;
pub use model::{
    Entry, Group, Growth, Parts, PlateauCount, REPORT_SCHEMA, Report, Row, Shortfall, SourceCount, Spreads,
    Step, Unavailable, Version, WarningCount, WorstPoint,
};
pub use page::{PAGE_SCHEMA, PageData};
pub use rank::Rank;
pub use samples::{Recorded, render as samples_csv};
pub use sanitize::{acts, command_line, safe};
pub use svg::ChartError;

/// How a report is shown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Format {
    /// A table for the terminal.
    #[default]
    Table,
    /// For an issue, a README or a chat.
    Markdown,
    /// For a spreadsheet: one line per entry and number of tasks.
    Csv,
    /// The whole model.
    Json,
}

impl Format {
    pub const ALL: [Format; 4] = [Format::Table, Format::Markdown, Format::Csv, Format::Json];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Format::Table => "table",
            Format::Markdown => "markdown",
            Format::Csv => "csv",
            Format::Json => "json",
        }
    }
}

/// How [`Format::Table`] is shown; the other formats have no colour and no width.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RenderOptions {
    /// Whether to colour. The caller knows whether this is a terminal and what `NO_COLOR` says.
    pub color: bool,
    /// Columns that a line may take. Below about 60 lines may be longer: names and figures stay readable.
    pub width: usize,
    /// How bars are drawn.
    pub bars: Bars,
}

impl Default for RenderOptions {
    /// No colour, 100 columns, plain bars.
    fn default() -> RenderOptions {
        RenderOptions { color: false, width: 100, bars: Bars::Plain }
    }
}

/// The parts of one campaign as text that ends in a line end.
pub fn render(reports: &[Report], format: Format, options: RenderOptions) -> String {
    match format {
        Format::Table => terminal::render(reports, options),
        Format::Markdown => markdown::render(reports),
        Format::Csv => csv::render(reports),
        Format::Json => json::render(reports),
    }
}
