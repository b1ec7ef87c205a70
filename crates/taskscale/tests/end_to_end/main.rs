//! taskscale as its users run it, from end to end. One program for all, so that what mostly waits is waited for side by
//! side: each test has a world of its own, and none may know what else runs.

mod campaigns;
mod catalogue;
mod check;
mod check_made;
mod conditions;
mod containment;
mod everyday;
mod false_counts;
mod faults;
mod fleet;
mod hostile;
mod installed;
mod limit;
mod measure;
mod memory;
mod package;
mod page;
mod reliability;
mod report;
mod results_page;
mod schema;
mod serve;
mod site;
mod submit;
mod support;
mod truth;
mod usage;
mod verify;
mod work;
