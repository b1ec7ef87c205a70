//! Limit searches: most tasks in a given memory, least memory for given tasks, highest message rate of a server.
//!
//! [`replay`] derives the next run from the samples so far; [`run`] runs and stores them. Measures through
//! `taskscale_measure::Runner`, so that tests need no program. [`render`] shows the answers. Must not know the command line.

mod answer;
mod boundary_search;
mod confirm;
mod csv;
mod document;
mod drive;
mod outcome;
mod prediction;
mod rate;
mod search;
mod search_spec;
mod trial_point;
mod words;

use std::path::PathBuf;

pub use answer::{Answer, AtRate, ConfirmingRuns, CurvePoint, LIMIT_SCHEMA, LimitReport, ShownRun};
pub use drive::{SearchEnd, SearchObserver, run};
pub use outcome::{Cause, Outcome};
pub use rate::milliseconds;
pub use search::{ClassifiedRun, HOLD, NextRun, Purpose, SearchState, SearchStatus, replay};
pub use search_spec::{
    Find, SEARCH_SPEC_SCHEMA, SearchSpec, fill_in, holds_search, load_search_spec, store_search_spec,
};
pub use trial_point::{RATE, TrialPoint};
pub use words::{sentence, sought};

use crate::document::{Format, RenderOptions, json};
use crate::record::StoreError;
use taskscale_measure::MeasureError;

/// The report as text that ends in a line end.
pub fn render(report: &LimitReport, format: Format, options: RenderOptions) -> String {
    match format {
        Format::Table => document::document(report).terminal(options),
        Format::Markdown => document::document(report).markdown(),
        Format::Csv => csv::render(report),
        Format::Json => json::pretty(report),
    }
}

/// Why a search stopped.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("not a limit.json of taskscale: {path} ({error})")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("unknown schema: {found} in {path} (this taskscale reads up to {SEARCH_SPEC_SCHEMA})")]
    Newer { path: PathBuf, found: u64 },
    #[error("cannot resume the search in {folder}: {what}")]
    Another { folder: PathBuf, what: String },
}
