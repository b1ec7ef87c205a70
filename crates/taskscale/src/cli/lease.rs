//! The lock of the machine: only one taskscale measures at a time.

use std::time::Duration;

use super::args::Global;
use super::failure::{CliResult, Failure, advised};
use super::output::eprint_status;
use super::progress::{Progress, time_left};
use crate::document::{command_line, shortened};
use taskscale_measure::{Holder, Interrupt, MachineLock};

/// A waiting command repeats its message after this time.
const REPEAT_AFTER: Duration = Duration::from_secs(300);
/// Maximum width of a holder's command, in columns.
const COMMAND: usize = 100;

/// Locks the machine. `what` describes this command in the messages of others (`with results/DIR`), `harm` is
/// why it waits for them.
pub(super) fn lock_machine(
    what: &str,
    harm: &str,
    global: &Global,
    progress: &Progress,
    interrupt: &Interrupt,
) -> CliResult<MachineLock> {
    let mut refused = None;
    let (mut waited, mut next_message) = (Duration::ZERO, Duration::ZERO);
    let wait = |holder: &Holder, so_far: Duration| {
        let who = named(holder);
        if global.no_wait {
            refused = Some(who);
            return false;
        }
        waited = so_far;
        if so_far >= next_message {
            progress.print_message(&format!("waiting: {who} is measuring on this machine ({harm})"));
            next_message = so_far + REPEAT_AFTER;
        }
        let time = time_left(so_far.as_secs_f64());
        progress.show_if_bar(&format!("waiting for {time} (Ctrl-C: stop; --no-lock: measure anyway)"));
        true
    };
    let lock = match global.no_lock {
        true => Some(MachineLock::unwanted()),
        false => MachineLock::acquire(what, interrupt, wait),
    };
    if let Some(who) = refused {
        return Err(Failure::Usage(advised(
            format!("{who} is measuring on this machine ({harm})"),
            "omit --no-wait to wait; --no-lock measures anyway, and marks the samples",
        )));
    }
    let lock = lock.ok_or_else(|| Failure::interrupted(interrupt))?;
    if let Some(why) = lock.why_not() {
        eprint_status(&format!(
            "warning: another taskscale may disturb this one: the machine is not locked ({why})"
        ));
    }
    if waited >= Duration::from_secs(1) {
        progress.print_message(&format!("waited {}", time_left(waited.as_secs_f64())));
    }
    Ok(lock)
}

/// `taskscale 708 with results/DIR (taskscale @all), for 12 min`.
fn named(holder: &Holder) -> String {
    let name = match (holder.pid, &holder.does) {
        (Some(pid), Some(does)) => format!("taskscale {pid} {does}"),
        (Some(pid), None) => format!("process {pid}"),
        (None, _) => "another taskscale".to_owned(),
    };
    let name = match holder.command.as_slice() {
        [] => name,
        command => format!("{name} ({})", shortened(&command_line(command), COMMAND)),
    };
    match holder.since.and_then(|since| since.elapsed().ok()) {
        Some(so_far) => format!("{name}, for {}", time_left(so_far.as_secs_f64())),
        None => name,
    }
}
