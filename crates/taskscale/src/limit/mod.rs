//! Limit searches: most tasks in a given memory, least memory for given tasks, highest message rate of a server.
//!
//! [`follow`] derives the next run from the samples so far; [`run`] runs and stores them. Measures through
//! `measure::Runner`, so that tests need no program. [`render`] shows the answers. Must not know the command line.

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
    #[error("unknown schema: {found} in {path} (this taskscale reads up to {QUESTION_SCHEMA})")]
    Newer { path: PathBuf, found: u64 },
    #[error("cannot resume the search in {folder}: {what}")]
    Another { folder: PathBuf, what: String },
}
