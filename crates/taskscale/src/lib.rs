//! taskscale: what N concurrent tasks cost - memory, CPU, time - in each language runtime, and where each breaks.
//!
//! The library behind the command line, callable from tests. docs/architecture.md shows the modules'
//! dependencies.

#[macro_use]
mod named;

pub mod campaign;
pub mod catalog;
pub mod check;
pub mod cli;
pub mod compare;
pub mod document;
pub mod explain;
pub mod files;
pub mod fleet;
pub mod hint;
pub mod limit;
pub mod metrics;
pub mod record;
pub mod report;
pub mod scaffold;
pub mod site;
pub mod stats;
pub mod submit;
pub mod toolchain;
pub mod versions;

pub use taskscale_measure::units;

#[cfg(test)]
mod architecture_tests;
