//! Parses and delegates.

use std::process::ExitCode;

fn main() -> ExitCode {
    // The launcher of a run is this program, started anew: it must stay small, so it goes before all else.
    if std::env::args_os().nth(1).is_some_and(|first| first == taskscale::measure::LAUNCH_ARGUMENT) {
        return taskscale::measure::launcher_main();
    }
    taskscale::cli::main()
}
