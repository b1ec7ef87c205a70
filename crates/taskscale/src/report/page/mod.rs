//! The data behind the page of a report. [`super::html`] puts it into the page.

mod build;
mod columns;
mod model;
mod published;
mod rows;
mod samples;
mod tables;
#[cfg(test)]
mod tests;

pub use model::{PageChange, PageData, VersionsChart};
pub(super) use samples::NUMBERS;
