//! Faults of programs of workloads other than `sleep`.

use taskscale::record::Status;

use super::{Batch, FaultCase};

use Status::{Crashed, Failed, Partial};

/// The correct `check` of five tasks of 1,024 bytes each is 628,650.
pub const STATE: Batch = Batch {
    title: "Tasks that keep state",
    tasks: 5,
    options: "-w state",
    bare: false,
    cases: &[FaultCase::new("held-wrong", "prints a wrong `check`", "--say check,628651")
        .ends(Failed, "printed `check 628651`, expected 628650")],
};

/// The option that identifies batches of work.
pub(super) const OF_WORK: &str = "-w spawn";

pub const WORK: Batch = Batch {
    title: "Work",
    tasks: 5,
    options: "-w spawn --timeout 10m",
    bare: false,
    cases: &[
        FaultCase::new("no-ready", "never prints `ready`", "--fault no-ready")
            .ends(Failed, "`ready` was never printed"),
        FaultCase::new("wrong-check", "prints a wrong `check`", "--fault wrong-check")
            .ends(Failed, "wrong result"),
        FaultCase::new("work-crash", "crashes in its work", "--fault crash:plateau")
            .ends(Crashed, "killed by SIGSEGV"),
        FaultCase::new(
            "work-after",
            "keeps working after `done`: CPU time of its end",
            "--fault work-after:2000",
        )
        .check(|_, sample| {
            // How much of it is of the end depends on when `done` is read.
            let work_s = sample.work.as_ref().and_then(|work| work.cpu_s);
            match work_s.zip(sample.cpu.drain_s) {
                Some((work_s, drain_s)) if work_s + drain_s > 1.99 => Ok(()),
                other => Err(format!("CPU of its work and its end is {other:?}")),
            }
        }),
        FaultCase::new("work-no-newline", "ends its last line with no line end", "--fault no-newline"),
    ],
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
        FaultCase::new("flips", "sends back a wrong byte", "--serve echo --fault flip:30")
            .ends(Failed, "the clients exited with code 1; stderr: "),
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

/// On its own, as clients wait for messages that never come.
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
