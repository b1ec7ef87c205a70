//! Find a runtime's toolchain, ask it for its version, and build its entries into the user's cache.
//!
//! Knows the catalogue; must not know how programs are measured.

mod build;
mod find;
mod kept;
mod process;

pub use build::{BuildError, Built, Cache, build, source_digest};
pub use find::{Toolchain, Unavailable, find, is_there, path_lookup};
pub use kept::{KeptBuild, disk_usage_bytes, folders};
