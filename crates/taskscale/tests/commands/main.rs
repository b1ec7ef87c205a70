//! What commands print, write and refuse, with stored results: nothing is measured.

mod analyzing;
mod builds;
mod compare;
mod hostile;
mod installed;
mod manual;
mod package;
mod page;
mod refusals;
mod report;
mod site;
mod start;
#[path = "../support/mod.rs"]
mod support;
