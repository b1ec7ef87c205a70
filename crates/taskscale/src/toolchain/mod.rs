//! Finds a runtime's toolchain and its version, and builds its entries into the user's cache.
//!
//! Knows the catalog. Must not know how programs are measured.

mod build;
mod cache;
mod digest;
mod environment;
mod error;
mod find;
mod home;
mod installed;
mod lock;
mod pin;
mod process;
mod program;
mod wanted;

pub use build::{Built, build};
pub use cache::{Cache, KeptBuild, disk_usage_bytes, folders};
pub use digest::source_digest;
pub use error::BuildError;
pub use find::{Toolchain, ToolchainError, find, find_all, is_there, path_lookup};
pub use installed::installed;
pub use pin::{pin_library, releases};
pub use process::{end_with_taskscale, output_within};
pub use program::program_digest;
pub use wanted::wanted_builds;

/// The callbacks of a build.
#[derive(Clone, Copy)]
pub struct Attend<'a> {
    /// Whether the user has asked to stop.
    pub stop: &'a dyn Fn() -> bool,
    /// Called with one line that describes what a build waits for.
    pub waiting: &'a dyn Fn(&str),
}
