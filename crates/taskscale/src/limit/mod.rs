//! Limit searches: most tasks in a given memory, least memory for given tasks, highest message rate of a server.
//!
//! [`search::replay`] derives the next run from the samples so far. [`BySearch`] is the strategy that
//! `campaign::drive` runs. [`render`] shows the answers. Must not know the command line.

mod answer;
mod boundary_search;
mod by_search;
mod classify;
mod confirm;
mod csv;
mod document;
mod outcome;
mod plan;
mod prediction;
mod rate;
mod search;
mod search_spec;
mod words;

pub use answer::{Answer, LimitReport, ShownRun};
pub use by_search::{BySearch, SearchObserver};
pub use outcome::{ClassifiedRun, Outcome, Purpose};
pub use plan::{entry_env, least_tasks, plan};
pub use search::NextRun;
pub use search_spec::{
    Find, LimitError, RATE, SEARCH_SPEC_SCHEMA, SearchSpec, fill_in, holds_search, load_search_spec,
    store_search_spec,
};
pub use words::{sentence, sought};

use crate::document::{Format, RenderOptions, json};

/// The report as text that ends with a newline.
pub fn render(report: &LimitReport, format: Format, options: RenderOptions) -> String {
    format.render(options, || document::document(report), || csv::render(report), || json::pretty(report))
}
