//! Faults of programs: each is an entry of a campaign, and ends as a sample with a status, a reason and warnings.
//!
//! The table in docs/reliability.md is made from these (see `reliability.rs`), so that it cannot promise anything else.

use std::fs;
use std::thread;

use taskscale::record::{MemorySource, Sample, Status, Warning};

use super::{Entry, World};

/// A fault and what must come of it.
#[derive(Clone, Copy)]
pub struct Case {
    pub name: &'static str,
    /// What the program does, for the table.
    pub what: &'static str,
    pub kind: &'static str,
    /// Flags of the scripted program.
    pub flags: &'static str,
    pub status: Status,
    /// A part of the reason; empty where there must be none.
    pub reason: &'static str,
    pub warnings: &'static [Warning],
    pub check: fn(&World, &Sample) -> Result<(), String>,
}

impl Case {
    const fn new(name: &'static str, what: &'static str, flags: &'static str) -> Case {
        let check = |_: &World, _: &Sample| Ok(());
        Case { name, what, kind: "stackless", flags, status: Status::Ok, reason: "", warnings: &[], check }
    }

    const fn kind(self, kind: &'static str) -> Case {
        Case { kind, ..self }
    }

    const fn ends(self, status: Status, reason: &'static str) -> Case {
        Case { status, reason, ..self }
    }

    const fn warns(self, warnings: &'static [Warning]) -> Case {
        Case { warnings, ..self }
    }

    const fn check(self, check: fn(&World, &Sample) -> Result<(), String>) -> Case {
        Case { check, ..self }
    }
}

/// Cases measured in one campaign, beside an entry that does all as it should.
pub struct Batch {
    pub title: &'static str,
    pub tasks: u64,
    pub options: &'static str,
    /// Without control groups.
    pub bare: bool,
    pub cases: &'static [Case],
}

use Status::{Crashed, Failed, KilledOom, Limit, NoPlateau, Partial, TimedOut};
use Warning::{LeftProcesses, PlateauGrew, PlateauNotQuiet, StrayOutput, WorkShort, WorkUnsettled};

pub const ENDS: Batch = Batch {
    title: "How it ends",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        Case::new("crash-launch", "crashes while tasks start", "--fault crash:launch")
            .ends(Crashed, "ended by SIGSEGV"),
        Case::new("crash-plateau", "crashes while all tasks wait", "--fault crash:plateau:ABRT")
            .ends(Crashed, "ended by SIGABRT"),
        Case::new("crash-drain", "crashes while tasks end", "--fault crash:drain:BUS")
            .ends(Crashed, "ended by SIGBUS"),
        Case::new("crash-end", "crashes after `done`", "--fault crash:end:ILL")
            .ends(Crashed, "ended by SIGILL"),
        Case::new("killed", "is killed by somebody else", "--fault crash:plateau:KILL")
            .ends(Crashed, "ended by SIGKILL"),
        Case::new("exit-launch", "gives up while tasks start", "--fault exit:launch:3")
            .ends(Failed, "exited with code 3"),
        Case::new("exit-end", "says that all is done and exits with an error", "--fault exit:end:3")
            .ends(Failed, "exited with code 3"),
        Case::new("failed", "says that tasks failed", "--fault failed:2")
            .ends(Failed, "2 of 5 tasks failed; it said: fake-entry: 2 tasks failed"),
        Case::new("no-done", "exits with 0 without `done`", "--fault no-done")
            .ends(Failed, "exited with code 0 but never said `done`"),
        Case::new("exit-plateau", "exits with 0 while tasks wait", "--fault exit:plateau:0")
            .ends(Failed, "exited with code 0 but never said `done`"),
        Case::new("done-short", "says fewer done than asked, and exits with 0", "--fault done-short:2")
            .ends(Failed, "exited with code 0 but said `done 3` for 5 tasks"),
    ],
};

pub const LIES: Batch = Batch {
    title: "What it says",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        Case::new("no-alive", "never says `alive`", "--fault no-alive")
            .ends(Failed, "never said `alive`: its tasks were not shown to live at once"),
        Case::new(
            "alive-early",
            "says `alive` too early: memory is still to come",
            "--fault alive-early --launch-ms 500 --anon-bytes 64MiB",
        )
        .warns(&[PlateauGrew]),
        Case::new("alive-twice", "says `alive` twice", "--fault alive-twice")
            .ends(Failed, "broke the protocol: said `alive` twice: 5, then 5"),
        Case::new("alive-too-many", "says more alive than asked", "--fault alive-too-many")
            .ends(Failed, "claims 6 tasks alive of 5"),
        Case::new("alive-garbage", "says a count that is no number", "--fault alive-garbage").ends(
            Failed,
            "broke the protocol: said \"alive lots\", where `alive` and one whole number were due",
        ),
        Case::new("alive-negative", "says a negative count", "--fault alive-negative")
            .ends(Failed, "broke the protocol: said \"alive -5\""),
        Case::new("alive-huge", "says a count of 10^30", "--fault alive-huge")
            .ends(Failed, "broke the protocol: said \"alive 1000000000000000000000000000000\""),
        Case::new("lie-thread", "kind `thread`, and fewer threads than it says", "--fault lie")
            .kind("thread")
            .ends(Failed, "claims 5 tasks alive, but the kernel's count of threads was 1"),
        Case::new(
            "lie-process",
            "kind `process`, and fewer processes than it says",
            "--fault lie --processes 2",
        )
        .kind("process")
        .ends(Failed, "claims 5 tasks alive, but the kernel's count of processes was 3"),
        Case::new("busy", "never falls quiet while tasks wait", "--burn-percent 60")
            .warns(&[PlateauNotQuiet]),
    ],
};

/// Repeated with longer holds, and so on its own: the hold may have been too short.
pub const GROWS: Batch = Batch {
    title: "What is no plateau",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[Case::new("grow", "takes more and more memory while tasks wait", "--fault grow:4MiB")
        .ends(NoPlateau, "its memory was still changing when it was read")
        .warns(&[PlateauNotQuiet])],
};

/// Repeated with longer holds, and so on its own: the hold may have been too short.
pub const SHORT: Batch = Batch {
    title: "Too few at once",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[Case::new(
        "partial",
        "never has all tasks alive, even with the longest hold",
        "--fault partial:3",
    )
    .ends(Partial, "3 of 5 tasks were alive at once")
    .check(|_, sample| match (sample.attempt, sample.alive) {
        (4, Some(3)) => Ok(()),
        other => Err(format!("attempt and alive are {other:?}")),
    })],
};

pub const OUTPUT: Batch = Batch {
    title: "What it writes",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        Case::new("flood", "writes a gigabyte to standard output", "--fault flood:1GiB")
            .ends(Failed, "ended because it wrote more than 16777216 bytes of output")
            .warns(&[StrayOutput])
            .check(cut_short),
        Case::new("flood-stderr", "writes a gigabyte to standard error", "--fault flood-stderr:1GiB")
            .ends(Failed, "ended because it wrote more than 16777216 bytes of output")
            .check(cut_short),
        Case::new("long-line", "writes a line of 100 MiB", "--fault long-line:100MiB")
            .ends(Failed, "ended because it wrote more than 16777216 bytes of output")
            .warns(&[StrayOutput])
            .check(cut_short),
        Case::new("longish-line", "writes a line of 1 MiB", "--fault long-line:1MiB").warns(&[StrayOutput]),
        Case::new("stray", "writes lines that are not of the protocol", "--fault flood:6400")
            .warns(&[StrayOutput]),
        Case::new("binary", "writes bytes that are no text", "--fault binary:64KiB").warns(&[StrayOutput]),
        Case::new("no-newline", "ends its last line without a newline", "--fault no-newline"),
        Case::new("close-stdout", "closes standard output", "--fault close-stdout")
            .ends(Failed, "never said `alive`"),
        Case::new(
            "escape-text",
            "writes terminal escapes and HTML in metrics and on standard error",
            "--fault escape-text --fault exit:end:1",
        )
        .ends(Failed, "exited with code 1; it said: ")
        .check(|_, sample| {
            // The record is true to the byte; what shows it neutralises it (see `hostile_text_…`).
            let raw = sample.metrics.keys().any(|name| name.contains('\u{1b}'));
            raw.then_some(()).ok_or_else(|| format!("the metrics are {:?}", sample.metrics))
        }),
    ],
};

pub const HANGS: Batch = Batch {
    title: "What never ends",
    // Above what a warm-up asks for: all but the first fault spare it.
    tasks: 1001,
    options: "--timeout 3s",
    bare: false,
    cases: &[
        Case::new("hang-warm-up", "hangs in its warm-up as well", "--fault hang:launch")
            .ends(TimedOut, "ended after 3 s: tasks were still starting (--timeout allows more)"),
        Case::new("hang-launch", "hangs before `alive`", "--fault hang:launch --faults-from 1001")
            .ends(TimedOut, "ended after 3 s: tasks were still starting"),
        Case::new("hang-plateau", "hangs after `alive`", "--fault hang:plateau --faults-from 1001")
            .ends(TimedOut, "ended after 3 s: tasks were still waiting or ending"),
        Case::new("hang-end", "hangs after `done`", "--fault hang:end --faults-from 1001")
            .ends(TimedOut, "ended after 3 s: it had said `done` but did not exit"),
        Case::new("stopped", "stops itself with SIGSTOP", "--fault stop --faults-from 1001")
            .ends(TimedOut, "ended after 3 s: tasks were still waiting or ending"),
        Case::new(
            "ignore-term",
            "ignores SIGTERM, SIGINT and SIGHUP, and hangs",
            "--fault ignore-term --faults-from 1001",
        )
        .ends(TimedOut, "ended after 3 s: tasks were still waiting or ending"),
    ],
};

const LAUNCHER_KILLED: &str = "ended with the process that had started it (the launcher), which was killed: by the program, or by somebody else";

pub const LEAVES: Batch = Batch {
    title: "What it leaves behind",
    tasks: 5,
    options: "",
    bare: false,
    cases: &[
        Case::new("orphan", "leaves a child", "--fault orphan").warns(&[LeftProcesses]).check(made::<2>),
        Case::new(
            "orphan-holds-stdout",
            "leaves a child that holds its standard output",
            "--fault orphan-holds-stdout",
        )
        .warns(&[LeftProcesses])
        .check(made::<2>),
        Case::new("daemon", "leaves a daemon: double fork, a session of its own", "--fault daemon")
            .warns(&[LeftProcesses])
            .check(made::<3>),
        Case::new("setsid", "leaves its session and process group, and goes on", "--fault setsid")
            .check(made::<2>),
        Case::new(
            "family-crash",
            "crashes, with children and grandchildren alive",
            "--processes 3 --grandchildren 3 --fault crash:plateau",
        )
        .ends(Crashed, "ended by SIGSEGV")
        .warns(&[LeftProcesses])
        .check(made::<7>),
        Case::new(
            "kills-launcher",
            "kills the process that started it (the launcher), with a daemon beside it",
            "--processes 2 --grandchildren 2 --fault daemon --fault signal-parent:plateau",
        )
        .ends(Crashed, LAUNCHER_KILLED)
        .check(made::<7>),
        Case::new(
            "terminates-launcher",
            "the same by SIGTERM, while tasks start",
            "--fault signal-parent:launch:TERM",
        )
        .ends(Crashed, LAUNCHER_KILLED),
        Case::new(
            "subgroups-launcher",
            "the same from control groups of its own",
            "--fault subgroups --fault orphan --fault signal-parent:plateau",
        )
        .ends(Crashed, LAUNCHER_KILLED)
        .check(made::<2>),
        Case::new("fork-bomb", "is a fork bomb of 300 processes", "--fault fork-bomb:300")
            .warns(&[LeftProcesses])
            .check(made::<300>),
        Case::new(
            "subgroups",
            "makes control groups inside its own, and lives in them with its family; one of which outlives it",
            "--fault subgroups --fault orphan --processes 3 --grandchildren 2",
        )
        .warns(&[LeftProcesses])
        .check(in_subgroups),
        Case::new("chdir-write", "writes into its working folder", "--fault chdir-write"),
        Case::new("env-dump", "lists its environment: only the allowed names are there (no `done`, so that the record shows it)", "--fault env-dump --fault no-done")
            .ends(Failed, "never said `done`")
            .check(clean_environment),
        Case::new(
            "fd-dump",
            "lists its descriptors: 0, 1 and 2 (likewise)",
            "--fault fd-dump --fault no-done",
        )
        .ends(Failed, "never said `done`")
        .check(|_, sample| match sample.stderr_tail.as_deref() {
            Some("fds 0 1 2\n") => Ok(()),
            other => Err(format!("it was given {other:?}")),
        }),
    ],
};

pub const MEMORY: Batch = Batch {
    title: "Memory without end",
    tasks: 5,
    options: "--memory-cap 64MiB",
    bare: false,
    cases: &[
        Case::new("oom-launch", "takes memory without end while tasks start", "--fault oom")
            .ends(KilledOom, "ran out of memory under the cap of 64 MiB (--memory-cap allows more)")
            .check(capped),
        Case::new("oom-plateau", "does so while tasks wait", "--fault oom:plateau")
            .ends(KilledOom, "ran out of memory under the cap of 64 MiB")
            .check(capped),
        Case::new("oom-drain", "does so while tasks end", "--fault oom:drain")
            .ends(KilledOom, "ran out of memory under the cap of 64 MiB")
            .check(capped),
        Case::new("oom-child", "has children that take it", "--processes 4 --anon-bytes-per-process 30MiB")
            .ends(KilledOom, "ran out of memory under the cap of 64 MiB")
            .check(capped),
    ],
};

pub const CAUSES: Batch = Batch {
    title: "A cause and its effect",
    tasks: 1001,
    options: "--memory-cap 64MiB --timeout 6s",
    bare: false,
    cases: &[
        Case::new(
            "oom-and-hang",
            "has a child that takes memory without end, and hangs when that is killed",
            "--fault oom-child --fault hang:plateau --faults-from 1001",
        )
        .ends(KilledOom, "ran out of memory under the cap of 64 MiB (--memory-cap allows more)"),
        Case::new(
            "file-limit",
            "opens too many files, and says so on standard error without end",
            "--fault file-limit --faults-from 1001",
        )
        .ends(
            Limit,
            "ulimit -n = 64 open files; its hard limit is no higher, and only root (CAP_SYS_RESOURCE) can",
        )
        .check(|_, sample| match &sample.limit {
            Some(limit) if limit.name == "ulimit -n" && limit.lift.is_none() => Ok(()),
            other => Err(format!("the limit is {other:?}")),
        }),
        Case::new(
            "stops-launcher",
            "stops the process that started it (the launcher), and hangs",
            "--fault signal-parent:plateau:STOP --fault hang:plateau --faults-from 1001",
        )
        .ends(TimedOut, "ended after 6 s: tasks were still waiting or ending"),
    ],
};

/// The same where no control group can be had.
pub const BARE: Batch = Batch {
    title: "Without a control group",
    tasks: 5,
    options: "--memory-cap 64MiB",
    bare: true,
    cases: &[
        Case::new("bare-orphan", "leaves a child", "--fault orphan-holds-stdout")
            .warns(&[LeftProcesses])
            .check(made::<2>),
        Case::new("bare-daemon", "leaves a daemon", "--fault daemon")
            .warns(&[LeftProcesses])
            .check(made::<3>),
        Case::new("bare-setsid", "leaves its session, and goes on", "--fault setsid").check(made::<2>),
        Case::new(
            "bare-crash",
            "crashes, with a family alive",
            "--processes 2 --grandchildren 2 --fault crash:plateau",
        )
        .ends(Crashed, "ended by SIGSEGV")
        .warns(&[LeftProcesses])
        .check(made::<5>),
        Case::new(
            "bare-kills-launcher",
            "kills the process that started it (the launcher), with a daemon beside it",
            "--processes 2 --grandchildren 2 --fault daemon --fault signal-parent:plateau",
        )
        .ends(Crashed, LAUNCHER_KILLED)
        .check(made::<7>),
        Case::new("bare-bomb", "is a fork bomb of 100 processes", "--fault fork-bomb:100")
            .warns(&[LeftProcesses])
            .check(made::<100>),
        Case::new("bare-oom", "takes memory without end", "--fault oom --oom-max 2GiB")
            .ends(KilledOom, "ran out of memory under the cap of 64 MiB"),
        Case::new("bare-lie", "kind `thread`, and fewer threads than it says", "--fault lie")
            .kind("thread")
            .ends(Failed, "claims 5 tasks alive, but the kernel's count of threads was 1"),
    ],
};

pub const BARE_HANGS: Batch = Batch {
    title: "What never ends, without a control group",
    tasks: 1001,
    options: "--timeout 3s",
    bare: true,
    cases: &[Case::new("bare-hang", "ignores signals and hangs", "--fault ignore-term --faults-from 1001")
        .ends(TimedOut, "ended after 3 s")],
};

/// Five tasks of 1,024 bytes each come to 628,650.
pub const STATE: Batch = Batch {
    title: "Tasks that hold something",
    tasks: 5,
    options: "-w state",
    bare: false,
    cases: &[
        Case::new("held-wrong", "says a `check` that is not right", "--say check,628651")
            .ends(Failed, "said `check 628651`, and a right program says 628650"),
        Case::new("held-untold", "never says `check`", "").ends(Failed, "never said `check`"),
    ],
};

/// Five tasks that wake every 100 ms: fifty times in a second.
pub const TICK: Batch = Batch {
    title: "Tasks that wake",
    tasks: 5,
    options: "-w tick -p period-ms=100",
    bare: false,
    cases: &[
        Case::new("ticks-left-out", "leaves out ticks", "--tick-ms 100 --fault ticks-left-out")
            .ends(Partial, "it could not keep up"),
        Case::new("ticks-untold", "never says how late they were", "")
            .ends(Failed, "never said `histogram late_us`"),
        Case::new("ticks-invented", "says more ticks than can have been due", "--tick-ms 1")
            .ends(Failed, "times can have been due"),
        Case::new(
            "ticks-too-late",
            "says that they were later than its run was long",
            "--say histogram,late_us,10,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,0,1",
        )
        .ends(Failed, "s late, and was over after"),
        Case::new("ticks-garbage", "says a histogram that is none", "--say histogram,late_us,many")
            .ends(Failed, "broke the protocol"),
    ],
};

/// Programs of work, told by what is asked for.
const OF_WORK: &str = "-w spawn";

pub const WORK: Batch = Batch {
    title: "Work",
    tasks: 5,
    options: OF_WORK,
    bare: false,
    cases: &[
        Case::new("no-ready", "never says `ready`", "--fault no-ready")
            .ends(Failed, "never said `ready`: nobody knows when its work began"),
        Case::new("ready-twice", "says `ready` twice", "--fault ready-twice")
            .ends(Failed, "broke the protocol: said `ready` twice"),
        Case::new("done-early", "says `done` before `ready`", "--fault done-early")
            .ends(Failed, "said `done` before `ready`"),
        Case::new("work-no-done", "exits with 0 without `done`", "--fault no-done")
            .ends(Failed, "exited with code 0 but never said `done`"),
        Case::new("work-fewer", "does fewer operations than asked, and exits with 0", "--fault done-short:3")
            .ends(Failed, "exited with code 0 but said `done 997` for 1000 operations"),
        Case::new("no-check", "never says `check`", "--fault no-check")
            .ends(Failed, "never said `check`: nobody knows whether it did what the workload is"),
        Case::new("wrong-check", "says a `check` that is not right", "--fault wrong-check")
            .ends(Failed, "it did not do what the workload is"),
        Case::new("work-failed", "says that operations failed", "--fault failed:2")
            .ends(Failed, "2 of 1000 operations failed; it said: fake-entry: 2 operations failed"),
        Case::new("work-crash", "crashes in its work", "--fault crash:plateau")
            .ends(Crashed, "ended by SIGSEGV"),
        Case::new("work-exit", "says that all is done and exits with an error", "--fault exit:end:1")
            .ends(Failed, "exited with code 1"),
        Case::new(
            "work-after",
            "goes on working after `done`: CPU time of its end",
            "--fault work-after:300",
        )
        .check(|_, sample| match sample.cpu.drain_s {
            Some(drain_s) if (0.25..1.0).contains(&drain_s) => Ok(()),
            other => Err(format!("CPU of its end is {other:?}")),
        }),
        Case::new("work-no-newline", "ends its last line with no line end", "--fault no-newline"),
        Case::new("work-short", "has nothing to do, however much is asked for", "--op-cpu-us 0")
            .warns(&[WorkShort]),
        Case::new(
            "work-warms-up",
            "takes most of its time for a start that more operations do not lengthen",
            "--op-cpu-us 100 --work-cpu-ms 1100",
        )
        .warns(&[WorkUnsettled]),
    ],
};

pub const WORK_HANGS: Batch = Batch {
    title: "Work that never ends",
    tasks: 1001,
    options: "-w spawn --timeout 6s",
    bare: false,
    cases: &[Case::new("work-hangs", "hangs in its work", "--fault hang:plateau --faults-from 1001")
        .ends(TimedOut, "ended after 6 s: its operations were not all done")],
};

pub const ALL: [&Batch; 15] = [
    &ENDS,
    &LIES,
    &SHORT,
    &GROWS,
    &OUTPUT,
    &HANGS,
    &STATE,
    &TICK,
    &WORK,
    &WORK_HANGS,
    &LEAVES,
    &MEMORY,
    &CAUSES,
    &BARE,
    &BARE_HANGS,
];

/// Warnings that have one cause only, and never the machine's load.
const CAUSED: [Warning; 2] = [LeftProcesses, StrayOutput];

/// Measures batches at the same time, each in a world of its own, and tells every case that went otherwise.
pub fn check(batches: &[&Batch]) {
    let wrong: Vec<String> = thread::scope(|scope| {
        let all: Vec<_> = batches.iter().map(|batch| scope.spawn(|| wrong_in(batch))).collect();
        all.into_iter().flat_map(|batch| batch.join().expect("a batch")).collect()
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn wrong_in(batch: &Batch) -> Vec<String> {
    let workload = batch.options.strip_prefix("-w ").and_then(|options| options.split(' ').next());
    let (waits, well) = match workload {
        Some("state") => ("state", "--say check,628650"),
        Some("tick") => ("tick", "--tick-ms 100"),
        _ => ("sleep", ""),
    };
    let entry = |name, flags| match batch.options.contains(OF_WORK) {
        true => Entry::of_work(name, &format!("--op-cpu-us 200 {flags}")),
        false => Entry { waits: Some(waits), ..Entry::new(name, flags) },
    };
    let mut entries = vec![entry("well", well)];
    // The pid file lies in the world, of which the entry must know the path: it is put in below.
    entries.extend(batch.cases.iter().map(|case| entry(case.name, case.flags).kind(case.kind)));
    let mut world = World::new(&[]);
    for (entry, case) in entries.iter_mut().skip(1).zip(batch.cases) {
        let flags = entry.spawn.as_mut().unwrap_or(&mut entry.flags);
        flags.extend(["--pidfile".into(), pidfile(&world, case.name)]);
    }
    fs::write(world.manifest(), world.manifest_of(&entries)).expect("a manifest");
    if batch.bare {
        world.env.insert("TASKSCALE_CGROUP".into(), "none".into());
    }
    world.env.insert("TASKSCALE_TEST_SECRET".into(), "a program must not see this".into());

    let mut command = world.campaign("out", &format!("-n {} {} --format json", batch.tasks, batch.options));
    leave_a_descriptor_open(&mut command);
    let finished = world.run(command);
    world.assert_nothing_left();
    let fell_short = batch.cases.iter().any(|case| case.status.fell_short());
    finished.expect_code(i32::from(fell_short));

    let samples = world.samples("out");
    let mut wrong = Vec::new();
    let well = &samples["well"];
    let done = well.work.as_ref().map_or(batch.tasks, |work| work.operations);
    if (well.status, well.done) != (Status::Ok, Some(done)) {
        wrong.push(format!("{}: the good entry: {}: {:?}", batch.title, well.status, well.reason));
    }
    for case in batch.cases {
        let told = match samples.get(case.name) {
            None => Err("there is no sample of it".to_owned()),
            Some(sample) => as_expected(batch, case, sample).and_then(|()| (case.check)(&world, sample)),
        };
        wrong.extend(told.err().map(|why| format!("{}: {why}", case.name)));
    }
    wrong
}

fn as_expected(batch: &Batch, case: &Case, sample: &Sample) -> Result<(), String> {
    let reason = sample.reason.as_deref().unwrap_or("");
    let busy = sample.warnings.contains(&Warning::MachineBusy);
    // What keeps a program from its CPU is as good a reason why there is no plateau, and read too late is another.
    let as_good = busy && sample.status == NoPlateau;
    if sample.status != case.status
        || !(reason.contains(case.reason) || as_good)
        || reason.is_empty() != case.reason.is_empty()
    {
        return Err(format!(
            "{}: {reason:?}, where {}: {:?} was due",
            sample.status, case.status, case.reason
        ));
    }
    // On a busy machine a restless program cannot be told from one that is kept from its work, and a reading may come
    // after what would have been growth.
    let excused = |warning: &Warning| busy && [PlateauNotQuiet, PlateauGrew].contains(warning);
    let missing =
        case.warnings.iter().find(|warning| !sample.warnings.contains(warning) && !excused(warning));
    let surplus = sample.warnings.iter().find(|w| CAUSED.contains(w) && !case.warnings.contains(w));
    if missing.is_some() || surplus.is_some() {
        return Err(format!("it warns of {:?}, where {:?} was due", sample.warnings, case.warnings));
    }
    let bare = sample.memory.source == MemorySource::Proc;
    if batch.bare && !bare
        || bare && sample.memory.plateau.is_some() != sample.warnings.contains(&Warning::NoControlGroup)
    {
        return Err(format!("its memory is by {:?}, with {:?}", sample.memory.source, sample.warnings));
    }
    Ok(())
}

fn pidfile(world: &World, case: &str) -> String {
    world.path("pids").join(case).display().to_string()
}

/// The program made so many processes in each of its runs, a warm-up and one or more attempts: the fault was there to be
/// contained.
fn made<const COUNT: usize>(world: &World, sample: &Sample) -> Result<(), String> {
    let name = sample.entry.trim_start_matches("fake/");
    let pids = fs::read_to_string(pidfile(world, name)).unwrap_or_default().lines().count();
    let runs = 1 + sample.attempt as usize;
    if pids == runs * COUNT {
        Ok(())
    } else {
        Err(format!("{pids} processes in {runs} runs, not {COUNT} in each"))
    }
}

/// The program was in groups of its own, where there are groups, and all of its family was counted: itself, an orphan,
/// three children and two grandchildren.
fn in_subgroups(_: &World, sample: &Sample) -> Result<(), String> {
    let groups = sample.metrics.get("subgroups").map_or(0.0, |metric| metric.value);
    let wanted = sample.memory.source != MemorySource::Proc;
    match (groups > 0.0, sample.processes) {
        (inside, Some(7)) if inside == wanted => Ok(()),
        other => Err(format!("in {groups} groups of its own, as by {:?}: {other:?}", sample.memory.source)),
    }
}

/// Ended while it wrote, and not after the whole gigabyte.
fn cut_short(_: &World, sample: &Sample) -> Result<(), String> {
    match (sample.done, sample.exit_code, sample.signal) {
        (None, None, Some(_)) => Ok(()),
        other => Err(format!("it came to its end: done, exit code and signal are {other:?}")),
    }
}

fn capped(_: &World, sample: &Sample) -> Result<(), String> {
    match (sample.memory.cap_bytes, sample.memory.peak_bytes) {
        (Some(cap), Some(peak)) if cap == 64 << 20 && peak <= cap => Ok(()),
        other => Err(format!("cap and peak are {other:?}")),
    }
}

/// The allow-list of docs/protocol.md, and what the manifest adds: nothing here.
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

/// As a careless shell does: a descriptor that every program started would inherit.
fn leave_a_descriptor_open(command: &mut std::process::Command) {
    use std::os::unix::process::CommandExt;
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::dup2(0, 77);
            Ok(())
        });
    }
}
