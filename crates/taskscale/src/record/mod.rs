//! The stored results: the sample of one run, the facts of a campaign, and the store of both.
//!
//! Knows the format of results and how to store them. Must not know how a run is measured or shown.

mod bounds;
mod campaign;
mod cell;
mod event;
#[cfg(test)]
mod fixture;
mod paths;
mod results;
mod sample;
mod sample_reader;
#[cfg(test)]
mod schema_tests;
mod store;

pub use crate::catalog::Source;
pub use bounds::read_document;
pub use campaign::*;
pub use cell::*;
pub use event::*;
#[cfg(test)]
pub(crate) use fixture::*;
pub use paths::{path_left, without_paths};
pub use results::campaigns_in;
pub use sample::*;
pub use store::*;
pub use taskscale_load::{ClosedLoad, IdleLoad, Latency, Load, OpenLoad};
pub use taskscale_measure::{
    Cpu, LimitHit, Machine, Memory, MemorySource, Metric, Plateau, PlateauFrom, Status, Time, Timestamp,
    Warning, Work,
};

/// Version of the format of samples and campaigns. Raised when a field changes its meaning, not when fields are
/// added.
pub const SCHEMA_VERSION: u32 = 1;

/// The workload of a black-box program.
pub const OWN_WORKLOAD: &str = "own";
