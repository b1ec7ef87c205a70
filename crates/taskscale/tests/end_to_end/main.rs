//! Tests on the real machine: taskscale starts, measures, contains and ends programs. They are one test
//! program, so that tests that mostly wait run in parallel. Each test has its own world, and none may depend on
//! what else runs or how fast the machine is.

mod campaigns;
mod cases;
mod catalog;
mod check;
mod conditions;
mod containment;
mod everyday;
mod explain;
mod false_counts;
mod faults;
mod fleet;
mod installed;
mod limit;
mod measure;
mod memory;
mod reliability;
mod schema;
mod serve;
mod submit;
#[path = "../support/mod.rs"]
mod support;
mod truth;
mod verify;
mod versions;
mod work;
