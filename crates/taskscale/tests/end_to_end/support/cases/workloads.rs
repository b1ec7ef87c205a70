//! What programs of workloads other than `sleep` do wrong.

use taskscale::record::{Status, Warning};

use super::{Batch, FaultCase};

use Status::{Crashed, Failed, Partial, TimedOut};
use Warning::{WorkShort, WorkUnsettled};

/// Five tasks of 1,024 bytes each come to 628,650.
pub const STATE: Batch = Batch {
    title: "Tasks that keep memory",
    tasks: 5,
    options: "-w state",
    bare: false,
    cases: &[
        FaultCase::new("held-wrong", "prints a wrong `check`", "--say check,628651")
            .ends(Failed, "printed `check 628651`, expected 628650"),
        FaultCase::new("held-untold", "never prints `check`", "").ends(Failed, "`check` was never printed"),
    ],
};

/// Five tasks that wake every 100 ms: fifty times in a second.
pub const TICK: Batch = Batch {
    title: "Tasks that wake",
    tasks: 5,
    options: "-w tick -p period-ms=100",
    bare: false,
    cases: &[
        FaultCase::new("ticks-left-out", "leaves out ticks", "--tick-ms 100 --fault ticks-left-out")
            .ends(Partial, "could not keep up"),
        FaultCase::new("ticks-untold", "never prints how late they were", "")
            .ends(Failed, "`histogram late_us` was never printed"),
        FaultCase::new("ticks-invented", "prints more ticks than were scheduled", "--tick-ms 1")
            .ends(Failed, "wake-ups, but at most"),
        FaultCase::new(
            "ticks-too-late",
            "prints a delay longer than its run",
            "--say histogram,late_us,10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1",
        )
        .ends(Failed, "s late, but the run took"),
        FaultCase::new("ticks-garbage", "prints an invalid histogram", "--say histogram,late_us,many")
            .ends(Failed, "protocol error"),
    ],
};

/// Programs of work, told by what is asked for.
pub(super) const OF_WORK: &str = "-w spawn";

pub const WORK: Batch = Batch {
    title: "Work",
    tasks: 5,
    options: OF_WORK,
    bare: false,
    cases: &[
        FaultCase::new("no-ready", "never prints `ready`", "--fault no-ready")
            .ends(Failed, "`ready` was never printed"),
        FaultCase::new("ready-twice", "prints `ready` twice", "--fault ready-twice")
            .ends(Failed, "protocol error: printed `ready` twice"),
        FaultCase::new("done-early", "prints `done` before `ready`", "--fault done-early")
            .ends(Failed, "`done` was printed before `ready`"),
        FaultCase::new("work-no-done", "exits with 0 without `done`", "--fault no-done")
            .ends(Failed, "`done` was never printed"),
        FaultCase::new(
            "work-fewer",
            "does fewer operations than requested, and exits with 0",
            "--fault done-short:3",
        )
        .ends(Failed, "exited with code 0 but printed `done 997` for 1000 operations"),
        FaultCase::new("no-check", "never prints `check`", "--fault no-check")
            .ends(Failed, "`check` was never printed"),
        FaultCase::new("wrong-check", "prints a wrong `check`", "--fault wrong-check")
            .ends(Failed, "wrong result"),
        FaultCase::new("work-failed", "prints that operations failed", "--fault failed:2")
            .ends(Failed, "2 of 1000 operations failed; stderr: fake-entry: 2 operations failed"),
        FaultCase::new("work-crash", "crashes in its work", "--fault crash:plateau")
            .ends(Crashed, "killed by SIGSEGV"),
        FaultCase::new("work-exit", "prints `done` and exits with an error", "--fault exit:end:1")
            .ends(Failed, "exited with code 1"),
        FaultCase::new(
            "work-after",
            "keeps working after `done`: CPU time of its end",
            "--fault work-after:300",
        )
        .check(|_, sample| match sample.cpu.drain_s {
            Some(drain_s) if (0.25..1.0).contains(&drain_s) => Ok(()),
            other => Err(format!("CPU of its end is {other:?}")),
        }),
        FaultCase::new("work-no-newline", "ends its last line with no line end", "--fault no-newline"),
        FaultCase::new("work-short", "has nothing to do for any number of operations", "--op-cpu-us 0")
            .warns(&[WorkShort]),
        FaultCase::new(
            "work-warms-up",
            "takes most of its time for a start that more operations do not lengthen",
            "--op-cpu-us 100 --work-cpu-ms 1100",
        )
        .warns(&[WorkUnsettled]),
    ],
};

pub const WORK_HANGS: Batch = Batch {
    title: "Work that hangs",
    tasks: 1001,
    options: "-w spawn --timeout 6s",
    bare: false,
    cases: &[FaultCase::new("work-hangs", "hangs in its work", "--fault hang:plateau --faults-from 1001")
        .ends(TimedOut, "killed after 6 s: operations were still running")],
};

/// Twenty connections, each verified to the byte.
pub const ECHO: Batch = Batch {
    title: "Servers",
    tasks: 20,
    options: "-w echo -p rate=1000",
    bare: false,
    cases: &[
        FaultCase::new("serves-nobody", "is not a server", "").ends(Failed, "exited with code 2"),
        FaultCase::new(
            "serves-and-crashes",
            "crashes when ten are connected",
            "--serve echo --fault crash:plateau",
        )
        .ends(Crashed, "killed by SIGSEGV"),
        FaultCase::new(
            "serves-and-exits",
            "exits with 0 before its clients finish",
            "--serve echo --fault exit:plateau:0",
        )
        .ends(Failed, "before the clients finished"),
        FaultCase::new("flips", "sends back a wrong byte", "--serve echo --fault flip:30")
            .ends(Failed, "the clients exited with code 1; stderr: "),
        FaultCase::new("swaps", "sends back the second of two messages first", "--serve echo --fault swap")
            .ends(Failed, "the clients exited with code 1"),
        FaultCase::new("closes", "closes every fifth connection", "--serve echo --fault close-every:5")
            .ends(Partial, "16 of 20 tasks were alive at once"),
        FaultCase::new(
            "stops-accepting",
            "accepts only ten connections",
            "--serve echo --fault stop-accepting:10",
        )
        .ends(Partial, "10 of 20 tasks were alive at once"),
    ],
};

/// Two rooms of ten.
pub const CHAT: Batch = Batch {
    title: "Servers with rooms",
    tasks: 20,
    options: "-w chat -p rate=1000",
    bare: false,
    cases: &[
        FaultCase::new("doubles", "sends a message twice", "--serve chat --fault double:50")
            .ends(Failed, "repeated or late"),
        FaultCase::new("strays", "sends a message to another room as well", "--serve chat --fault stray:5")
            .ends(Failed, "which is in another room"),
        FaultCase::new("speaks-echo", "echoes the handshake instead of answering it", "--serve echo")
            .ends(Failed, "the server refused the handshake: GET / HTTP/1.1"),
    ],
};

/// What never comes is waited for.
pub const LOST: Batch = Batch {
    title: "Servers that lose messages",
    tasks: 20,
    options: "-w chat -p rate=1000",
    bare: false,
    cases: &[FaultCase::new(
        "loses",
        "does not send a message to one member",
        "--serve chat --fault lose:10",
    )
    .ends(Failed, "missing messages: 1")],
};
