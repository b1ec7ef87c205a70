//! Faults of programs: each is an entry of a campaign, and ends as a sample with a status, a reason and warnings.
//!
//! The table in docs/reference/faults.md is generated from these (see `reliability.rs`), so that it cannot
//! promise anything else.

use std::fs;
use std::sync::Mutex;
use std::thread;

use taskscale::record::{MemorySource, Sample, Status, Warning};
use taskscale_measure::{RunEvent, read_trace};

use crate::support::{FakeEntry, World, assert_harmless, list, was_starved};

mod contained;
mod ends;
mod workloads;

pub use contained::{BARE, BARE_HANGS, CAUSES, LEAVES, MEMORY};
pub use ends::{ENDS, HANGS, LIES, OUTPUT, SHORT};
use ends::{STILL_STARTING, STILL_WAITING};
use workloads::OF_WORK;
pub use workloads::{CHAT, ECHO, LOST, STATE, WORK};

/// A fault and its expected sample.
#[derive(Clone, Copy)]
pub struct FaultCase {
    pub name: &'static str,
    /// What the program does, for the table.
    pub what: &'static str,
    pub kind: &'static str,
    /// Flags of the scripted program.
    pub flags: &'static str,
    pub status: Status,
    /// A part of the reason. Empty if there must be none.
    pub reason: &'static str,
    pub warnings: &'static [Warning],
    pub check: fn(&World, &Sample) -> Result<(), String>,
}

impl FaultCase {
    const fn new(name: &'static str, what: &'static str, flags: &'static str) -> FaultCase {
        let check = |_: &World, _: &Sample| Ok(());
        FaultCase {
            name,
            what,
            kind: "stackless",
            flags,
            status: Status::Ok,
            reason: "",
            warnings: &[],
            check,
        }
    }

    const fn kind(self, kind: &'static str) -> FaultCase {
        FaultCase { kind, ..self }
    }

    const fn ends(self, status: Status, reason: &'static str) -> FaultCase {
        FaultCase { status, reason, ..self }
    }

    const fn warns(self, warnings: &'static [Warning]) -> FaultCase {
        FaultCase { warnings, ..self }
    }

    const fn check(self, check: fn(&World, &Sample) -> Result<(), String>) -> FaultCase {
        FaultCase { check, ..self }
    }
}

/// Cases that are measured with the same options.
#[derive(Clone, Copy)]
pub struct Batch {
    pub title: &'static str,
    pub tasks: u64,
    pub options: &'static str,
    /// Without cgroups.
    pub bare: bool,
    pub cases: &'static [FaultCase],
}

pub const ALL: [&Batch; 15] = [
    &ENDS,
    &LIES,
    &SHORT,
    &OUTPUT,
    &HANGS,
    &STATE,
    &WORK,
    &ECHO,
    &CHAT,
    &LOST,
    &LEAVES,
    &MEMORY,
    &CAUSES,
    &BARE,
    &BARE_HANGS,
];

/// Warnings that the machine's load never causes.
const CAUSED: [Warning; 2] = [Warning::LeftProcesses, Warning::StrayOutput];

/// Cases in one campaign, besides a good entry. They mostly wait.
const IN_ONE_CAMPAIGN: usize = 3;

/// Campaigns at a time: their programs mostly wait.
const AT_A_TIME: usize = 6;

/// Measures batches, each in its own worlds, and panics with a list of the wrong cases.
pub fn check(batches: &[&Batch]) {
    let parts = batches
        .iter()
        .flat_map(|batch| batch.cases.chunks(IN_ONE_CAMPAIGN).map(move |cases| Batch { cases, ..**batch }));
    let parts = Mutex::new(parts);
    let next = || parts.lock().expect("a list of batches").next();
    let wrong: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..AT_A_TIME)
            .map(|_| {
                scope.spawn(|| std::iter::from_fn(next).flat_map(|part| wrong_in(&part)).collect::<Vec<_>>())
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("batches")).collect()
    });
    assert!(wrong.is_empty(), "{} wrong:\n{}", wrong.len(), wrong.join("\n"));
}

fn wrong_in(batch: &Batch) -> Vec<String> {
    let workload = batch.options.strip_prefix("-w ").and_then(|options| options.split(' ').next());
    let (waits, well) = match workload {
        Some("state") => ("state", "--say check,628650"),
        Some("echo") => ("echo", "--serve echo"),
        Some("chat") => ("chat", "--serve chat"),
        _ => ("sleep", ""),
    };
    let entry = |name, flags| match batch.options.contains(OF_WORK) {
        true => FakeEntry::of_work(name, &format!("--op-cpu-us 200 {flags}")),
        false => FakeEntry { waits: Some(waits), ..FakeEntry::new(name, flags) },
    };
    let mut entries = vec![entry("well", well)];
    // The entry needs the path of its pid file, which is in the world: it is added below.
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

    let traces = world.path("traces").display().to_string();
    let options = format!("-n {} {} --format json --trace {traces}", batch.tasks, batch.options);
    let mut command = world.campaign("out", &options);
    leave_a_descriptor_open(&mut command);
    let finished = world.run(command);
    world.assert_nothing_left();
    let fell_short = batch.cases.iter().any(|case| case.status.is_failure());
    // Nothing that a program writes may act on a terminal.
    assert_harmless("standard error", &finished.stderr);
    assert_harmless("the result", &finished.stdout);

    let samples = world.samples("out");
    let starved = samples.values().any(|sample| was_starved(sample));
    finished.expect_code(i32::from(fell_short || starved));

    let mut wrong = Vec::new();
    let well = &samples["well"];
    let done = well.work.as_ref().map_or(batch.tasks, |work| work.operations);
    // A server is stopped, and prints no `done`.
    let done = well.load.is_none().then_some(done);
    // On a busy machine, the timeout for programs that hang may be too short for a good one.
    let cut_off = batch.options.contains("--timeout 6s") && well.status == Status::TimedOut;
    if !was_starved(well) && !cut_off && (well.status, well.done) != (Status::Ok, done) {
        wrong.push(format!("{}: the good entry: {}: {:?}", batch.title, well.status, well.reason));
    }
    for case in batch.cases {
        let told = match samples.get(case.name) {
            None => Err("there is no sample of it".to_owned()),
            Some(sample) if was_starved(sample) => as_expected(&world, batch, case, sample),
            Some(sample) => {
                as_expected(&world, batch, case, sample).and_then(|()| (case.check)(&world, sample))
            }
        };
        wrong.extend(told.err().map(|why| format!("{}: {why}", case.name)));
    }
    wrong
}

fn as_expected(world: &World, batch: &Batch, case: &FaultCase, sample: &Sample) -> Result<(), String> {
    let reason = sample.reason.as_deref().unwrap_or("");
    let busy = sample.warnings.contains(&Warning::MachineBusy);
    // On a busy machine, `no-plateau` is also correct for a program that would have been good.
    let excused = was_starved(sample) && [Status::Ok, Status::NoPlateau].contains(&case.status);
    // Growth at the last moment is a reason, not a warning.
    let grows = case.warnings.contains(&Warning::PlateauGrew);
    let excused = excused || grows && reason.starts_with("memory grew by");
    let due = match case.reason {
        // The timeout may come before `alive`.
        STILL_WAITING if sample.alive.is_none() => STILL_STARTING,
        reason => reason,
    };
    let is_due = sample.status == case.status && reason.contains(due) && reason.is_empty() == due.is_empty();
    if !is_due && !excused {
        return Err(format!("{}: {reason:?}, where {}: {due:?} was due", sample.status, case.status));
    }
    // On a busy machine, a program that is not idle looks like one that is CPU-starved.
    let unseen = |warning: &Warning| match warning {
        Warning::PlateauNotQuiet => busy,
        Warning::PlateauGrew => sample.status != Status::Ok || is_read_after_growth(world, sample),
        _ => false,
    };
    let missing = case.warnings.iter().find(|warning| !sample.warnings.contains(warning) && !unseen(warning));
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

/// Whether the first reading of a program that grows by 64 MiB already includes them, by its trace.
fn is_read_after_growth(world: &World, sample: &Sample) -> bool {
    let traces = list(&world.path("traces")).into_iter().filter_map(|path| read_trace(&path).ok());
    let last = traces
        .filter(|(spec, _)| *spec.command == *sample.command)
        .max_by_key(|(_, timeline)| timeline.started_at);
    let first = last.and_then(|(_, timeline)| {
        timeline.events().iter().find_map(|event| match &event.event {
            RunEvent::Reading(read) => Some(read.reading.memory.anon_bytes),
            _ => None,
        })
    });
    first.is_some_and(|anon_bytes| anon_bytes >= 64 << 20)
}

fn pidfile(world: &World, case: &str) -> String {
    world.path("pids").join(case).display().to_string()
}

/// Leaves a descriptor open that every started program would inherit, as a careless shell does.
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
