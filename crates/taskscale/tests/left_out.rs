//! The last target of `cargo test`: prints in one line what that command leaves out, and how to run it.
//!
//! Without libtest's harness, which would hide the line.

fn main() {
    // With a filter or `--ignored`, you have chosen what runs.
    if std::env::args().len() == 1 {
        println!(
            "left out: checks of the catalog's entries, values that need an idle machine, the cluster's slow faults, \
             VMs: tests/nightly"
        );
    }
}
