//! Programs whose memory is easily counted twice, too late, or not at all (`attacks/memory.c`): taskscale
//! reports the true value, or that it is unknown.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;
use std::thread;

use taskscale::record::{self, Sample, Status, Warning};

use crate::support::{
    World, assert_good, is_root, not_possible_here, skipped, skipped_as_starved, was_starved,
};

const MIB: f64 = (1 << 20) as f64;

/// The expected result of an attack.
#[derive(Clone, Copy)]
enum ExactMemory {
    /// Its footprint without kernel memory, minus that of `nothing`, in MiB.
    Mib(f64),
    /// The same, or no plateau.
    MibOrNone(f64),
    /// The same with kernel memory, except page tables, which differ with addresses.
    MibWithKernel(f64),
    Failed,
    /// No plateau, or the warning that memory grew.
    Grew,
}

use ExactMemory::{Failed, Grew, Mib, MibOrNone, MibWithKernel};

const BY_ANY_SOURCE: &[(&str, ExactMemory)] = &[
    ("main-thread-ends", Mib(64.0)),
    ("undumpable", Mib(64.0)),
    ("huge", Mib(16.0)),
    // 8 MiB of it in both processes, and 8 MiB that the child copied.
    ("huge-forked", Mib(24.0)),
    ("mapped-8-times", Mib(64.0)),
    ("offsets", Mib(64.0)),
    ("hard-links", Mib(64.0)),
    ("tmpfs-private", Mib(64.0)),
    ("own-mounts", Mib(64.0)),
    ("detached-mount", Mib(64.0)),
    ("clone-vm", Mib(16.0)),
    ("vfork", Mib(64.0)),
    ("packet-ring", MibWithKernel(16.0)),
    ("segments", Mib(32.0)),
    ("sparse", Mib(16.0)),
];

const BY_A_GROUP: &[(&str, ExactMemory)] = &[
    // Kernel memory of the rings, and a quarter of a MiB each.
    ("io-urings", MibWithKernel(10.3)),
    ("cache-then-heap", MibOrNone(101.0)),
    ("late-tasks", MibOrNone(0.9)),
    ("spliced", Mib(64.0)),
    ("one-escapes", Failed),
    ("returns-memfd", Failed),
    ("returns-heap", Failed),
    ("returns-pipes", Failed),
    ("lifts-cap", Failed),
    ("grows-and-falls", Grew),
];

/// Builds the program of the attacks. `None`, reported as skipped, without a compiler.
fn attacks(world: &World) -> Option<PathBuf> {
    let program = world.path("bin/memory");
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/end_to_end/attacks/memory.c");
    let built = Command::new("cc").args(["-O1", "-pthread", source, "-o"]).arg(&program).status();
    if !built.is_ok_and(|status| status.success()) {
        skipped("cc does not compile attacks/memory.c here");
        return None;
    }
    Some(program)
}

/// One run of an attack. Each has its own lock, so that runs are parallel.
fn measured(world: &World, program: &PathBuf, attack: &str, change: impl FnOnce(&mut Command)) -> Sample {
    // An attack may have an argument.
    let name = attack.split(' ').next().unwrap_or_default();
    let folder = world.path(&format!("out/{name}"));
    let (tasks, cap) = match attack {
        "late-tasks" => ("1k", "2GiB"),
        "cache-then-heap" => ("1", "160MiB"),
        "lifts-cap" => ("1", "64MiB"),
        _ => ("1", "2GiB"),
    };
    fs::create_dir_all(world.path(&format!("cwd-{name}"))).unwrap();
    let words = ["measure", "-n", tasks, "-r", "1", "--memory-cap", cap, "--timeout", "300s", "-o"];
    let mut command = world.command(&words);
    command.arg(&folder).arg("--").arg(program).args(attack.split(' ')).args(["{tasks}", "{seconds}"]);
    command.current_dir(world.path(&format!("cwd-{name}")));
    command.env("TASKSCALE_LOCK", world.path(&format!("lock-{name}")));
    change(&mut command);
    let finished = world.run(command);
    let loaded = record::load(&folder).unwrap_or_else(|error| panic!("{attack}: {error}: {finished:?}"));
    record::last_attempts(&loaded.samples)[0].clone()
}

/// The footprint without kernel memory, and without page tables only, in MiB.
fn footprints_mib(sample: &Sample) -> (f64, f64) {
    let plateau = sample.memory.plateau.clone().unwrap_or_default();
    let without = |bytes: u64| (plateau.footprint_bytes - bytes) as f64 / MIB;
    (without(plateau.kernel_bytes), without(plateau.page_tables_bytes.unwrap_or(0)))
}

/// What is wrong with an attack's sample.
fn wrong(sample: &Sample, truth: ExactMemory, nothing: &Sample) -> Option<String> {
    let reason = sample.reason.clone().unwrap_or_default();
    if sample.exit_code == Some(77) {
        not_possible_here(&format!("{:?}: {reason}", sample.command));
        return None;
    }
    // A CPU-starved run may have no plateau, or one that ends before the attack continues.
    let unseen = was_starved(sample);
    let warned = |warning| sample.warnings.contains(&warning);
    let by_others = warned(Warning::MachineBusy) || warned(Warning::CpuStarved);
    let is_short = by_others && warned(Warning::PlateauShort);
    let (shown, with_kernel) = {
        let (here, there) = (footprints_mib(sample), footprints_mib(nothing));
        (here.0 - there.0, here.1 - there.1)
    };
    let is_near = |shown: f64, mib: f64| (shown - mib).abs() < (0.02 * mib).max(0.5);
    let is_right = match (truth, sample.status) {
        (MibOrNone(mib), Status::Ok) if is_short => is_near(shown, mib) || is_near(shown, 0.0),
        (Mib(mib) | MibOrNone(mib), Status::Ok) => is_near(shown, mib),
        (MibWithKernel(mib), Status::Ok) => is_near(with_kernel, mib),
        (MibOrNone(_) | Grew, Status::NoPlateau) | (Failed, Status::Failed) => true,
        (Grew, Status::Ok) => warned(Warning::PlateauGrew) || by_others,
        (_, Status::NoPlateau) => unseen,
        _ => false,
    };
    let (status, warnings) = (sample.status, &sample.warnings);
    (!is_right).then(|| format!("{:?}: {status} {warnings:?} {shown} {with_kernel} {reason}", sample.command))
}

fn check(attacks_and_truths: &[(&str, ExactMemory)], change: impl Fn(&mut Command) + Sync) {
    let world = World::new(&[]);
    let Some(program) = attacks(&world) else { return };
    let nothing = measured(&world, &program, "nothing", &change);
    if nothing.memory.plateau.is_none() && was_starved(&nothing) {
        return not_possible_here("the machine is too busy to measure a program that does nothing");
    }
    let (world, program, nothing, change) = (&world, &program, &nothing, &change);
    let found: Vec<String> = attacks_and_truths
        .chunks(6)
        .flat_map(|some| {
            thread::scope(|scope| {
                let runs: Vec<_> = some
                    .iter()
                    .map(|(attack, truth)| {
                        scope.spawn(move || wrong(&measured(world, program, attack, change), *truth, nothing))
                    })
                    .collect();
                runs.into_iter().filter_map(|run| run.join().unwrap()).collect::<Vec<_>>()
            })
        })
        .collect();
    world.assert_nothing_left();
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn every_byte_counts_once() {
    check(BY_ANY_SOURCE, |_| {});
}

#[test]
fn every_byte_counts_once_without_a_cgroup() {
    check(BY_ANY_SOURCE, |command| {
        command.env("TASKSCALE_CGROUP", "none");
    });
}

#[test]
fn escaped_processes_and_replaced_caches_are_detected() {
    if !is_root() {
        return skipped("only root has control groups here for sure");
    }
    check(BY_A_GROUP, |_| {});
}

/// Processes that this user may not read are counted by /proc/PID/status, with a warning.
#[test]
fn unreadable_processes_are_counted_with_a_warning() {
    if !is_root() {
        return skipped("only root can try how another user fares");
    }
    let world = World::new(&[]);
    let Some(program) = attacks(&world) else { return };
    for attack in ["nothing", "undumpable"] {
        fs::create_dir_all(world.path(&format!("cwd-{attack}"))).unwrap();
    }
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(world.path("")).status();
    assert!(given.is_ok_and(|status| status.success()));
    let as_nobody = |command: &mut Command| {
        command.env("TASKSCALE_CGROUP", "none").uid(65534).gid(65534);
    };
    let nothing = measured(&world, &program, "nothing", as_nobody);
    let sample = measured(&world, &program, "undumpable", as_nobody);
    assert_eq!(wrong(&sample, Mib(64.0), &nothing), None);
    assert!(sample.warnings.contains(&Warning::ProcessesUnreadable), "{:?}", sample.warnings);
    assert!(!nothing.warnings.contains(&Warning::ProcessesUnreadable), "{:?}", nothing.warnings);
}

/// Shared memory that was charged to others, and own shared memory that is not mapped.
#[test]
fn mapped_shared_memory_of_others_is_included() {
    let world = World::new(&[]);
    let Some(program) = attacks(&world) else { return };
    let file = tempfile::NamedTempFile::new_in("/dev/shm").unwrap();
    fs::write(file.path(), vec![7; 64 << 20]).unwrap();
    let nothing = measured(&world, &program, "nothing", |_| {});
    let attack = format!("shm-of-others {}", file.path().display());
    let sample = measured(&world, &program, &attack, |_| {});
    if sample.memory.source == record::MemorySource::Proc {
        return skipped("without a control group nobody knows of shared memory that is not mapped");
    }
    assert_eq!(wrong(&sample, Mib(112.0), &nothing), None);
}

/// A program that a signal stopped during its launch uses no CPU, but is not idle.
#[test]
fn a_stopped_program_has_no_plateau() {
    let world = World::new(&[]);
    let Some(program) = attacks(&world) else { return };
    let mut command = world.command(&["measure", "-r", "1", "--settle", "5s", "-o"]);
    command.arg(world.path("stops")).arg("--").arg(&program).args(["stops", "1", "30"]);
    world.run(command).expect_code(1);
    let sample = &world.load("stops").samples[0];
    let reason = sample.reason.as_deref().unwrap_or_default();
    if was_starved(sample) && !reason.contains("SIGSTOP") {
        return skipped_as_starved();
    }
    assert_eq!(sample.status, Status::NoPlateau, "{reason}");
    assert!(reason.contains("SIGSTOP"), "{reason}");
    world.assert_nothing_left();
}

#[test]
fn leftover_shared_memory_segment_is_removed() {
    let world = World::new(&[]);
    let Some(program) = attacks(&world) else { return };
    // A key that no other segment has.
    let key = std::process::id().to_string();
    let sample = measured(&world, &program, &format!("leaves-segment {key}"), |_| {});
    assert_good(&sample);
    assert!(sample.warnings.contains(&Warning::LeftSharedMemory), "{:?}", sample.warnings);
    let segments = fs::read_to_string("/proc/sysvipc/shm").unwrap();
    let left = segments.lines().filter(|line| line.split_ascii_whitespace().next() == Some(&key));
    assert_eq!(left.count(), 0, "{segments}");
}
