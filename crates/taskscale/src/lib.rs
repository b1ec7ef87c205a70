//! taskscale: what N concurrent tasks cost - memory, CPU, time - in each language runtime, and where each breaks.
//!
//! The library behind the command line, callable from tests. Arrows go one way:
//! `cli → campaign, report → measure, record → catalog, stats`.

pub mod campaign;
pub mod catalog;
pub mod check;
pub mod cli;
pub mod figures;
pub mod limit;
pub mod measure;
pub mod record;
pub mod report;
pub mod scaffold;
pub mod stats;
pub mod toolchain;
pub mod units;
