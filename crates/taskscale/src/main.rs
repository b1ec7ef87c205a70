//! The binary. All code is in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    taskscale_measure::init();
    taskscale::cli::main()
}
