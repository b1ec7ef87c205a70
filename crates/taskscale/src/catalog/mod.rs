//! The catalog: every runtime's `runtime.toml`, read, validated and selected from.
//!
//! Wire types (`manifest`) become validated types (`model`). Starts no process, and must not know how anything is built
//! or measured.

mod check;
mod embedded;
mod error;
mod formula;
mod kind;
mod load;
mod manifest;
mod manifest_file;
mod model;
mod names;
mod number_of_tasks;
mod place;
mod select;
mod series;
mod sources;
#[cfg(test)]
pub(crate) mod tests;
pub(crate) mod trust;
mod version_request;
mod workload;

pub use embedded::{embedded_files, embedded_name, embedded_texts, unpack_embedded};
pub use error::CatalogError;
pub use kind::{Adapter, FanOut, Style};
pub use load::{Catalog, is_whole};
pub use model::{
    Entry, Install, Library, LibraryPin, Locate, PinnedToolchain, Recipe, Runtime, ToolchainSpec,
    VersionPlaces,
};
pub use names::{check_name, closest, did_you_mean};
pub use number_of_tasks::with_tasks;
pub use place::{CatalogPlace, catalog_to_write, find_catalog, named_catalogs, unnamed_catalog};
pub use select::{Matcher, Program, SelectError, Selectable, Selection, default_selection, select};
pub use series::{Month, newer_series, release_series, version_number};
pub use sources::{Source, is_of_other_workload, named_by_older_forms, named_children, sources};
pub use taskscale_measure::Kind;
pub use version_request::{DottedVersion, MAX_COUNTED, VersionAxis, VersionRange, VersionRequest};
pub use workload::{
    Parameter, Params, Shape, Workload, bytes_held, expected_check, expected_creations, param, period_s,
    reading_order, workloads,
};
