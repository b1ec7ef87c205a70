//! How many tasks fit in a memory, and how little memory is enough for some tasks.

mod forecast;
mod search;
