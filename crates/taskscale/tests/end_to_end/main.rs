//! What only a real machine shows: programs that are started, measured, contained and ended by taskscale. One program for
//! all, so that what mostly waits is waited for side by side: each test has a world of its own, and none may know what else
//! runs, nor how fast the machine is.

mod campaigns;
mod cases;
mod catalogue;
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
