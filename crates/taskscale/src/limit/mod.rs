//! How many tasks fit in a memory, how little memory is enough for some tasks, and how many messages a server keeps up
//! with.
//!
//! Which run is next follows from the samples so far alone ([`follow`]); [`run`] takes the runs and keeps them. Measures
//! through `measure::Runner`, so that tests need no program. [`render`] shows what was found. Must not
//! know the command line.

mod answer;
mod border;
mod confirm;
mod csv;
mod drive;
mod prediction;
mod proof;
mod question;
mod rate;
mod search;
mod setting;
mod sheet;
mod words;

use std::path::PathBuf;

pub use answer::{Answer, AtRate, CurvePoint, LIMIT_SCHEMA, LimitReport, ShownRun, Tally};
pub use drive::{SearchEnd, SearchObserver, run};
pub use proof::{Cause, Proof};
pub use question::{Find, QUESTION_SCHEMA, Question, fill_in, holds_question, load_question, store_question};
pub use rate::milliseconds;
pub use search::{Followed, HOLD, Order, Purpose, Seen, State, follow};
pub use setting::{RATE, Setting};
pub use words::{sentence, sought};

use crate::measure::MeasureError;
use crate::record::StoreError;
use crate::sheet::{Format, RenderOptions, json};

/// The report as text that ends in a line end.
pub fn render(report: &LimitReport, format: Format, options: RenderOptions) -> String {
    match format {
        Format::Table => sheet::sheet(report).terminal(options),
        Format::Markdown => sheet::sheet(report).markdown(),
        Format::Csv => csv::render(report),
        Format::Json => json::pretty(report),
    }
}

/// What stops a search.
#[derive(Debug, thiserror::Error)]
pub enum LimitError {
    #[error(transparent)]
    Measure(#[from] MeasureError),
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("cannot {what} {path}: {error}")]
    Io { what: &'static str, path: PathBuf, error: std::io::Error },
    #[error("{path} is no search of taskscale: {error}")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("{path} has schema {found}, this taskscale knows {QUESTION_SCHEMA}: use a newer taskscale")]
    Newer { path: PathBuf, found: u64 },
    #[error(
        "{folder} holds another search: {what}; choose another folder with -o, or leave -o out for a new one"
    )]
    Another { folder: PathBuf, what: String },
}
