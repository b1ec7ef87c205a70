//! Faults that affect the program itself: how it ends, what it prints, what it writes.

use taskscale::record::{Sample, Status, Warning};

use super::{Batch, FaultCase};
use crate::support::World;

use Status::{Crashed, Failed, Partial, TimedOut};
use Warning::{PlateauGrew, PlateauNotQuiet, StrayOutput};

pub const ENDS: Batch = Batch {
    title: "How it ends",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        FaultCase::new("crash-launch", "crashes while tasks start", "--fault crash:launch")
            .ends(Crashed, "killed by SIGSEGV"),
        FaultCase::new("crash-drain", "crashes while tasks end", "--fault crash:drain:BUS")
            .ends(Crashed, "killed by SIGBUS"),
        FaultCase::new("crash-end", "crashes after `done`", "--fault crash:end:ILL")
            .ends(Crashed, "killed by SIGILL"),
        FaultCase::new("exit-end", "prints `done` and exits with an error", "--fault exit:end:3")
            .ends(Failed, "exited with code 3"),
        FaultCase::new("failed", "prints that tasks failed", "--fault failed:2")
            .ends(Failed, "2 of 5 tasks failed; stderr: fake-entry: 2 tasks failed"),
        FaultCase::new("no-done", "exits with 0 without `done`", "--fault no-done")
            .ends(Failed, "`done` was never printed"),
        FaultCase::new(
            "done-short",
            "prints fewer done than requested, and exits with 0",
            "--fault done-short:2",
        )
        .ends(Failed, "exited with code 0 but printed `done 3` for 5 tasks"),
    ],
};

pub const LIES: Batch = Batch {
    title: "Wrong output",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        FaultCase::new("no-alive", "never prints `alive`", "--fault no-alive")
            .ends(Failed, "`alive` was never printed"),
        FaultCase::new(
            "alive-early",
            "prints `alive` too early: memory still grows",
            "--fault alive-early --launch-ms 500 --anon-bytes 64MiB",
        )
        .warns(&[PlateauGrew]),
        FaultCase::new("alive-twice", "prints `alive` twice", "--fault alive-twice")
            .ends(Failed, "protocol error: printed `alive` twice: 5, then 5"),
        FaultCase::new("alive-too-many", "prints more alive than requested", "--fault alive-too-many")
            .ends(Failed, "`alive 6` for 5 tasks"),
        FaultCase::new("lie-thread", "kind `thread`, with fewer threads than it prints", "--fault lie")
            .kind("thread")
            .ends(Failed, "printed `alive 5`, but the kernel counts 1 thread"),
        FaultCase::new(
            "lie-process",
            "kind `process`, with fewer processes than it prints",
            "--fault lie --processes 2",
        )
        .kind("process")
        .ends(Failed, "printed `alive 5`, but the kernel counts 3 processes"),
        FaultCase::new("busy", "never becomes idle while tasks wait", "--burn-percent 60")
            .warns(&[PlateauNotQuiet]),
    ],
};

/// On its own, as it is repeated with longer waits: the wait may have been too short.
pub const SHORT: Batch = Batch {
    title: "Too few at once",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[FaultCase::new(
        "partial",
        "never has all tasks alive, even with the longest wait",
        "--fault partial:3",
    )
    .ends(Partial, "3 of 5 tasks were alive at once")
    .check(|_, sample| match (sample.attempt, sample.alive) {
        (4, Some(3)) => Ok(()),
        other => Err(format!("attempt and alive are {other:?}")),
    })],
};

pub const OUTPUT: Batch = Batch {
    title: "Unexpected output",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        FaultCase::new("flood", "writes a gigabyte to standard output", "--fault flood:1GiB")
            .ends(Failed, "killed: wrote more than 16,777,216 bytes")
            .warns(&[StrayOutput])
            .check(cut_short),
        FaultCase::new("long-line", "writes a line of 100 MiB", "--fault long-line:100MiB")
            .ends(Failed, "killed: wrote more than 16,777,216 bytes")
            .warns(&[StrayOutput])
            .check(cut_short),
        FaultCase::new("longish-line", "writes a line of 1 MiB", "--fault long-line:1MiB")
            .warns(&[StrayOutput]),
        FaultCase::new("binary", "writes bytes that are not text", "--fault binary:64KiB")
            .warns(&[StrayOutput]),
        FaultCase::new("no-newline", "ends its last line without a newline", "--fault no-newline"),
        FaultCase::new("close-stdout", "closes standard output", "--fault close-stdout")
            .ends(Failed, "`alive` was never printed"),
        FaultCase::new(
            "escape-text",
            "writes terminal escapes and HTML in metrics and on standard error",
            "--fault escape-text --fault exit:end:1",
        )
        .ends(Failed, "exited with code 1; stderr: ")
        .check(|_, sample| {
            // The sample keeps the exact bytes. Reports neutralize them.
            let raw = sample.metrics.keys().any(|name| name.contains('\u{1b}'));
            raw.then_some(()).ok_or_else(|| format!("the metrics are {:?}", sample.metrics))
        }),
    ],
};

pub(super) const STILL_STARTING: &str = "killed after 6 s: tasks were still starting (raise --timeout)";
pub(super) const STILL_WAITING: &str = "killed after 6 s: tasks were still waiting or ending";

pub const HANGS: Batch = Batch {
    title: "Hangs",
    // More tasks than a warm-up: only the first fault also affects the warm-up.
    tasks: 1001,
    options: "--timeout 6s",
    bare: false,
    cases: &[
        FaultCase::new("hang-warm-up", "hangs in its warm-up as well", "--fault hang:launch")
            .ends(TimedOut, STILL_STARTING),
        FaultCase::new("hang-plateau", "hangs after `alive`", "--fault hang:plateau --faults-from 1001")
            .ends(TimedOut, STILL_WAITING),
        FaultCase::new("stopped", "stops itself with SIGSTOP", "--fault stop --faults-from 1001")
            .ends(TimedOut, STILL_WAITING),
        FaultCase::new(
            "ignore-term",
            "ignores SIGTERM, SIGINT and SIGHUP, and hangs",
            "--fault ignore-term --faults-from 1001",
        )
        .ends(TimedOut, STILL_WAITING),
        FaultCase::new(
            "stops-launcher",
            "stops the process that started it (the launcher), and hangs",
            "--fault signal-parent:plateau:STOP --fault hang:plateau --faults-from 1001",
        )
        .ends(TimedOut, STILL_WAITING),
    ],
};

/// Checks that it was killed while it wrote, not after the whole gigabyte.
fn cut_short(_: &World, sample: &Sample) -> Result<(), String> {
    match (sample.done, sample.exit_code, sample.signal) {
        (None, None, Some(_)) => Ok(()),
        other => Err(format!("it came to its end: done, exit code and signal are {other:?}")),
    }
}
