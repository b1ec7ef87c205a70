//! The suite but for what is asked for by itself: all catalogue entries (`entries`), nonsense (`fuzz`) and ground truth
//! (`truth`). One program, as most of these tests wait for programs that wait: of one program's tests several wait at once.
//!
//! A part of it: `cargo test --test suite limit::`.

mod support;

mod campaigns;
mod check;
mod conditions;
mod containment;
mod docs;
mod everyday;
mod faults;
mod fleet;
mod installed;
mod limit;
mod measure;
mod package;
mod page;
mod reliability;
mod report;
mod results_page;
mod schema;
mod serve;
mod site;
mod submit;
mod usage;
mod work;
