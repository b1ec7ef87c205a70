//! Faults that affect others: processes left behind, memory, and signals to the launcher.

use std::fs;

use taskscale::record::{MemorySource, Sample, Status, Warning};

use super::{Batch, FaultCase, pidfile};
use crate::support::World;

use Status::{Crashed, Failed, KilledOom, Limit, TimedOut};
use Warning::LeftProcesses;

const LAUNCHER_KILLED: &str = "killed together with its launcher";

pub const LEAVES: Batch = Batch {
    title: "What it leaves behind",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        FaultCase::new(
            "orphan-holds-stdout",
            "leaves a child that holds its standard output",
            "--fault orphan-holds-stdout",
        )
        .warns(&[LeftProcesses])
        .check(made::<2>),
        FaultCase::new("daemon", "leaves a daemon: double fork, a session of its own", "--fault daemon")
            .warns(&[LeftProcesses])
            .check(made::<3>),
        FaultCase::new("setsid", "leaves its session and process group, and continues", "--fault setsid")
            .check(made::<2>),
        FaultCase::new(
            "family-crash",
            "crashes, with children and grandchildren alive",
            "--processes 3 --grandchildren 3 --fault crash:plateau",
        )
        .ends(Crashed, "killed by SIGSEGV")
        .warns(&[LeftProcesses])
        .check(made::<7>),
        FaultCase::new(
            "kills-launcher",
            "kills the process that started it (the launcher), with a daemon beside it",
            "--processes 2 --grandchildren 2 --fault daemon --fault signal-parent:plateau",
        )
        .ends(Crashed, LAUNCHER_KILLED)
        .check(made::<7>),
        FaultCase::new(
            "terminates-launcher",
            "the same by SIGTERM, while tasks start",
            "--fault signal-parent:launch:TERM",
        )
        .ends(Crashed, LAUNCHER_KILLED),
        FaultCase::new(
            "subgroups-launcher",
            "the same from cgroups of its own",
            "--fault subgroups --fault orphan --fault signal-parent:plateau",
        )
        .ends(Crashed, LAUNCHER_KILLED)
        .check(made::<2>),
        FaultCase::new("fork-bomb", "is a fork bomb of 300 processes", "--fault fork-bomb:300")
            .warns(&[LeftProcesses])
            .check(made::<300>),
        FaultCase::new(
            "subgroups",
            "makes cgroups inside its own and moves its family into them; one process outlives it",
            "--fault subgroups --fault orphan --processes 3 --grandchildren 2",
        )
        .warns(&[LeftProcesses])
        .check(in_subgroups),
        FaultCase::new("chdir-write", "writes into its working folder", "--fault chdir-write"),
        FaultCase::new("env-dump", "lists its environment: only the allowed names are there (no `done`, so that the record shows it)", "--fault env-dump --fault no-done")
            .ends(Failed, "`done` was never printed")
            .check(clean_environment),
        FaultCase::new(
            "fd-dump",
            "lists its descriptors: 0, 1 and 2 (likewise)",
            "--fault fd-dump --fault no-done",
        )
        .ends(Failed, "`done` was never printed")
        .check(|_, sample| match sample.stderr_tail.as_deref() {
            Some("fds 0 1 2\n") => Ok(()),
            other => Err(format!("it was given {other:?}")),
        }),
    ],
};

pub const MEMORY: Batch = Batch {
    title: "Memory without limit",
    tasks: 5,
    options: "--memory-cap 64MiB",
    bare: false,
    cases: &[
        FaultCase::new("oom-launch", "takes memory without limit while tasks start", "--fault oom")
            .ends(KilledOom, "hit the cap of 64 MiB (raise --memory-cap)")
            .check(capped),
        FaultCase::new("oom-drain", "does so while tasks end", "--fault oom:drain")
            .ends(KilledOom, "hit the cap of 64 MiB")
            .check(capped),
        FaultCase::new(
            "oom-child",
            "has children that take it",
            "--processes 4 --anon-bytes-per-process 30MiB",
        )
        .ends(KilledOom, "hit the cap of 64 MiB")
        .check(capped),
    ],
};

pub const CAUSES: Batch = Batch {
    title: "Cause before effect",
    tasks: 1001,
    options: "--memory-cap 64MiB",
    bare: false,
    cases: &[FaultCase::new(
        "file-limit",
        "opens too many files, and reports it on standard error without end",
        "--fault file-limit --faults-from 1001",
    )
    .ends(Limit, "hit ulimit -n = 64 open files")
    .check(|_, sample| match &sample.limit {
        Some(limit) if limit.name == "ulimit -n" && limit.lift.is_none() => Ok(()),
        other => Err(format!("the limit is {other:?}")),
    })],
};

/// The same without a cgroup.
pub const BARE: Batch = Batch {
    title: "Without a cgroup",
    tasks: 5,
    options: "--memory-cap 64MiB",
    bare: true,
    cases: &[
        FaultCase::new("bare-orphan", "leaves a child", "--fault orphan-holds-stdout")
            .warns(&[LeftProcesses])
            .check(made::<2>),
        FaultCase::new("bare-daemon", "leaves a daemon", "--fault daemon")
            .warns(&[LeftProcesses])
            .check(made::<3>),
        FaultCase::new(
            "bare-kills-launcher",
            "kills the process that started it (the launcher), with a daemon beside it",
            "--processes 2 --grandchildren 2 --fault daemon --fault signal-parent:plateau",
        )
        .ends(Crashed, LAUNCHER_KILLED)
        .check(made::<7>),
        FaultCase::new("bare-bomb", "is a fork bomb of 100 processes", "--fault fork-bomb:100")
            .warns(&[LeftProcesses])
            .check(made::<100>),
        FaultCase::new(
            "bare-oom",
            "takes more memory than the cap",
            "--anon-bytes 128MiB --fault hang:launch",
        )
        .ends(KilledOom, "hit the cap of 64 MiB"),
    ],
};

pub const BARE_HANGS: Batch = Batch {
    title: "Hangs without a cgroup",
    tasks: 1001,
    options: "--timeout 6s",
    bare: true,
    cases: &[FaultCase::new(
        "bare-hang",
        "ignores signals and hangs",
        "--fault ignore-term --faults-from 1001",
    )
    .ends(TimedOut, "killed after 6 s")],
};

/// Checks that the program created `COUNT` processes in each attempt, so that there was a fault to contain. Its
/// warm-up has more tasks, and its processes are in another file.
fn made<const COUNT: usize>(world: &World, sample: &Sample) -> Result<(), String> {
    let name = sample.entry.trim_start_matches("fake/");
    let noted = format!("{}.{}", pidfile(world, name), sample.tasks);
    let pids = fs::read_to_string(noted).unwrap_or_default().lines().count();
    match sample.attempt as usize * COUNT {
        due if pids == due => Ok(()),
        due => Err(format!("{pids} processes in {} attempts, not {due}", sample.attempt)),
    }
}

/// Checks that the program was in cgroups of its own, if there are cgroups, and that its whole family was
/// counted: itself, an orphan, three children and two grandchildren.
fn in_subgroups(_: &World, sample: &Sample) -> Result<(), String> {
    let groups = sample.metrics.get("subgroups").map_or(0.0, |metric| metric.value);
    let wanted = sample.memory.source != MemorySource::Proc;
    match (groups > 0.0, sample.processes) {
        (inside, Some(7)) if inside == wanted => Ok(()),
        other => Err(format!("in {groups} groups of its own, as by {:?}: {other:?}", sample.memory.source)),
    }
}

fn capped(_: &World, sample: &Sample) -> Result<(), String> {
    match (sample.memory.cap_bytes, sample.memory.peak_bytes) {
        (Some(cap), Some(peak)) if cap == 64 << 20 && peak <= cap => Ok(()),
        other => Err(format!("cap and peak are {other:?}")),
    }
}

/// Checks that the environment has only the allow-list of docs/reference/protocol.md. The manifest adds
/// nothing.
fn clean_environment(_: &World, sample: &Sample) -> Result<(), String> {
    let text = sample.stderr_tail.as_deref().unwrap_or("");
    let names: Vec<&str> = text.lines().filter_map(|line| Some(line.split_once('=')?.0)).collect();
    let allowed = ["HOME", "LANG", "PATH", "TMPDIR", "USER"];
    if names.contains(&"PATH") && names.contains(&"TMPDIR") && names.iter().all(|name| allowed.contains(name))
    {
        return Ok(());
    }
    Err(format!("its environment is {names:?}"))
}
