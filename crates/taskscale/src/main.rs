//! Parses and delegates.

use std::process::ExitCode;

fn main() -> ExitCode {
    taskscale_measure::init();
    taskscale::cli::main()
}
