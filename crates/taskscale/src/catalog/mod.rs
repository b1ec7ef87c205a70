//! The catalogue: every runtime's `runtime.toml`, read, validated and selected from.
//!
//! Wire types (`manifest`) become validated types (`load`). This module starts no process and must not know how
//! anything is built or measured.

mod check;
mod embedded;
mod kind;
mod load;
mod manifest;
mod select;
mod sources;
#[cfg(test)]
mod tests;

pub use check::check_name;
pub use embedded::{embedded_files, embedded_name, unpack_embedded};
pub use kind::{Kind, Style};
pub use load::{
    Catalog, CatalogError, Entry, Library, Locate, Runtime, ToolchainSpec, Workload, nearest_catalog,
};
pub use select::{SelectError, closest, default_selection, select};
pub use sources::{SourceFile, named_children, sources};
