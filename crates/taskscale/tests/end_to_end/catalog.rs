//! Builds every entry of the catalog. `taskscale check` checks each with `sleep`, and some with more.
//!
//! A runtime that is not installed is reported as skipped. With TASKSCALE_REQUIRE=all that is a failure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, OnceLock};
use std::time::SystemTime;

use serde_json::Value;
use taskscale::campaign::{NotReady, Prepared, prepare};
use taskscale::catalog::{Catalog, Program, Style, select};
use taskscale::record::{self, Sample};
use taskscale::toolchain::{Attend, Cache};

use crate::support::{assert_good, not_possible_here, skipped, was_starved};

fn catalog_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes")
}

/// Builds these programs, and returns those that can run here. Prints `SKIPPED` for runtimes that are not
/// installed.
fn prepared(programs: &[Program]) -> Vec<Prepared> {
    let unattended = Attend { stop: &|| false, waiting: &|_| () };
    let mut prepared = prepare(&Cache::of_user(), programs, &unattended, |_| {});
    prepared.retain(|entry| {
        match &entry.command {
            Ok(_) => return true,
            Err(NotReady::BuildFailed(why)) => panic!("{} does not build: {why}", entry.facts.name),
            // The manifest marks entries whose toolchain is on none of the project's machines.
            Err(why) if entry.facts.unverified.is_some() => {
                not_possible_here(&format!("{} (unverified): {}", entry.facts.name, why.reason()));
            }
            Err(why) => skipped(&format!("{}: {}", entry.facts.name, why.reason())),
        }
        false
    });
    assert!(!prepared.is_empty(), "not even Rust's entries can run");
    prepared
}

/// Every program of the catalog that can run here. Built once, by the first test that needs them.
fn ready() -> &'static [Prepared] {
    static READY: OnceLock<Vec<Prepared>> = OnceLock::new();
    READY.get_or_init(|| {
        let catalog = Catalog::load(&catalog_folder()).expect("the catalog is valid");
        prepared(&select(&catalog, &["@all".into()], &[]).expect("@all names every entry").programs)
    })
}

/// Runtimes whose builds are quick enough for two more in every test run.
const CHEAP_BUILDS: [&str; 5] = ["c", "elixir", "erlang", "go", "java"];

/// Entries of the second rank, whose checks take minutes per workload, as their compilers or tasks are slow:
/// only `sleep` and `spawn` are checked, and the others are measured once.
const SLOW_CHECKS: [&str; 8] =
    ["bun/", "deno/", "haskell/", "node/worker", "python/thread", "python/trio", "ruby/", "scala/"];

/// Entries of the third rank: alternatives within their runtime, and runtimes that are rarely used for this
/// number of tasks. Only `sleep` is checked, and the others are measured once. If you change one, check all of
/// it with `taskscale check`.
const THIRD_RANK: [&str; 29] = [
    "ada/",
    "c/fork",
    "c/libuv",
    "c/pth",
    "chez/",
    "clojure/",
    "cpp/boost-fiber",
    "d/",
    "haskell/async",
    "java/reactor",
    "java/structured-task-scope",
    "java/vertx",
    "kotlin/coroutine-launch-one-thread",
    "lua/",
    "pascal/",
    "perl/",
    "prolog/",
    "python/anyio",
    "python/curio",
    "python/eventlet",
    "python/multiprocessing",
    "racket/",
    "raku/",
    "ruby/ractor",
    "rust/async-executor",
    "rust/glommio-spawn-local",
    "rust/may-spawn",
    "rust/tokio-join-set",
    "rust/tokio-local-set",
];

fn is_of(entry: &Prepared, names: &[&str]) -> bool {
    names.iter().any(|name| entry.facts.name.starts_with(name))
}

fn is_slow(entry: &Prepared) -> bool {
    is_of(entry, &SLOW_CHECKS) || is_of(entry, &THIRD_RANK)
}

/// Servers that are built like a sibling's (Elixir's, .NET's), or of the second rank: a conformance run takes
/// half a minute.
const TALKED_TO_ELSEWHERE: [&str; 5] = ["crystal/", "dotnet/nativeaot", "erlang/", "kotlin/", "zig/"];

fn workload(entry: &Prepared) -> String {
    entry.facts.workload.clone().expect("the workload of a program")
}

/// Whether it is measured instead of checked, to save time. Measuring also shows that it follows its arguments.
fn is_measured_alone(entry: &Prepared) -> bool {
    match &*workload(entry) {
        "sleep" => false,
        "spawn" => is_of(entry, &THIRD_RANK),
        "echo" | "chat" if is_of(entry, &TALKED_TO_ELSEWHERE) => true,
        _ => is_slow(entry),
    }
}

/// Workers for each queue: tasks that wait, servers, and work. Each runs one `taskscale check` after the other.
/// If more than the CPUs were at work, they would starve each other and be repeated.
const AT_A_TIME: usize = 2;

/// The arguments of one `taskscale check`.
#[derive(Debug, Clone)]
struct ToolchainJob {
    entries: BTreeSet<String>,
    workloads: BTreeSet<String>,
    /// Whether it is first built twice more.
    rebuild: bool,
}

/// The JSON output of `taskscale check` of these programs.
fn checked(job: &ToolchainJob, lock: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taskscale"));
    command.arg("check").args(&job.entries).args(["--json", "--quiet", "--catalog"]).arg(catalog_folder());
    command.arg("-w").arg(job.workloads.iter().cloned().collect::<Vec<_>>().join(","));
    if job.rebuild {
        command.arg("--rebuild");
    }
    let output = command.env("TASKSCALE_LOCK", lock).output().expect("taskscale starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{job:?}: {error}\n{stderr}"))
}

#[test]
#[ignore = "nightly: builds and checks every entry that can run here"]
fn every_entry_conforms() {
    // A tuned entry is mostly an idiomatic one's program with other settings, so only its waiting tasks are
    // checked, not each workload once more.
    let is_checked = |entry: &&Prepared| {
        let waits = workload(entry) == "sleep";
        waits || entry.facts.style == Style::Idiomatic && !is_measured_alone(entry)
    };
    let ready: Vec<&Prepared> = ready().iter().filter(is_checked).collect();
    let mut jobs: BTreeMap<(&str, usize), ToolchainJob> = BTreeMap::new();
    for entry in &ready {
        let (name, workload) = (&*entry.facts.name, workload(entry));
        let runtime = name.split('/').next().unwrap_or(name);
        let queue =
            ["sleep", "echo", "chat"].iter().position(|name| *name == workload).map_or(2, |at| at.min(1));
        // All programs of a runtime are built by the same commands, so those that are rebuilt are one job.
        let rebuild = queue == 0 && CHEAP_BUILDS.contains(&runtime);
        let empty = || ToolchainJob { entries: BTreeSet::new(), workloads: BTreeSet::new(), rebuild };
        let job = jobs.entry((if rebuild { runtime } else { name }, queue)).or_insert_with(empty);
        job.entries.insert(name.to_owned());
        job.workloads.insert(workload);
    }
    let slow: BTreeSet<&str> =
        ready.iter().filter(|entry| is_slow(entry)).map(|entry| &*entry.facts.name).collect();
    let queues = [0, 1, 2].map(|queue| {
        let of_queue = jobs.iter().filter(|((_, of), _)| *of == queue).map(|(_, job)| job.clone());
        let mut of_queue: Vec<ToolchainJob> = of_queue.collect();
        // Taken from the end, the longest first, so that no worker is left alone with a long one.
        of_queue.sort_by_key(|job| {
            let slow = job.entries.iter().any(|name| slow.contains(&**name));
            (job.entries.len() * job.workloads.len(), slow)
        });
        Mutex::new(of_queue)
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let results: Vec<Value> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..queues.len() * AT_A_TIME)
            .map(|worker| {
                // A worker without jobs of its own takes waiting tasks, which hardly use the CPUs.
                let own = [&queues[worker % queues.len()], &queues[0]];
                let lock = folder.path().join(worker.to_string());
                let take = |queue: &Mutex<Vec<ToolchainJob>>| queue.lock().expect("no worker panicked").pop();
                let next = move || own.into_iter().find_map(take);
                scope.spawn(move || {
                    std::iter::from_fn(next).map(|some| checked(&some, &lock)).collect::<Vec<_>>()
                })
            })
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("a check")).collect()
    });
    let entries: Vec<&Value> =
        results.iter().flat_map(|result| result["entries"].as_array().expect("entries")).collect();
    assert_eq!(entries.len(), ready.len(), "every program that can run here was checked");
    let wrong: Vec<String> = entries.into_iter().flat_map(faults).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The faults of an entry. Prints all findings.
fn faults(entry: &Value) -> Vec<String> {
    let mut faults = Vec::new();
    for finding in entry["findings"].as_array().expect("findings") {
        let line = format!(
            "{} {}: {} [{}] {}\n  fix: {}",
            entry["entry"],
            entry["workload"],
            finding["severity"],
            finding["rule"],
            finding["what"],
            finding["fix"]
        );
        // The catalog must also follow rules that are optional for others.
        let counts = finding["severity"] == "error"
            || finding["severity"] == "warning"
                && ["arguments", "manifest", "build"].iter().any(|rule| finding["rule"] == *rule);
        println!("{line}");
        if counts {
            faults.push(line);
        }
    }
    faults
}

/// Measures these entries with `taskscale run`, and returns the last attempt of each.
fn measured(entries: &BTreeSet<&str>, more: &[&str]) -> Vec<Sample> {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let campaign = folder.path().join("campaign");
    let output = Command::new(env!("CARGO_BIN_EXE_taskscale"))
        .arg("run")
        .args(entries)
        .args(more)
        .args(["-r", "1", "--catalog"])
        .arg(catalog_folder())
        .arg("-o")
        .arg(&campaign)
        // Costs do not matter here, so runs need not wait for the machine.
        .env("TASKSCALE_LOCK", folder.path().join("lock"))
        .output()
        .expect("taskscale starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    let loaded =
        record::load(&campaign).unwrap_or_else(|error| panic!("{entries:?} {more:?}: {error}: {stderr}"));
    let samples: Vec<Sample> = record::last_attempts(&loaded.samples).into_iter().cloned().collect();
    let seen: BTreeSet<&str> = samples.iter().map(|sample| &*sample.entry).collect();
    assert_eq!(&seen, entries, "{more:?}: {stderr}");
    samples.iter().for_each(assert_good);
    samples
}

#[test]
#[ignore = "nightly: builds every entry that can run here"]
fn slow_entries_do_their_workloads() {
    let programs = ready().iter().filter(|entry| is_measured_alone(entry));
    let mut entries_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for entry in programs {
        entries_of.entry(workload(entry)).or_default().insert(&entry.facts.name);
    }
    for (workload, entries) in entries_of {
        // A thousand threads with an engine each take a minute while others are checked beside them.
        measured(&entries, &["-w", &workload, "-n", "10", "--quick", "--timeout", "5m"]);
    }
}

/// The smallest proof that each installed runtime works: its first entry, with a few sleeping tasks.
#[test]
fn each_installed_runtime_is_measured() {
    if given_turn().is_some() {
        return not_possible_here(
            "every_entry_does_one_of_its_workloads, which TASKSCALE_TURN is for, measures more",
        );
    }
    let catalog = Catalog::load(&catalog_folder()).expect("the catalog is sound");
    let all = select(&catalog, &["@all".into()], &["sleep".into()]).expect("@all names every entry");
    let mut of_runtime: BTreeMap<&str, Program> = BTreeMap::new();
    for program in all.programs {
        // Prefers an entry that `--quick` runs, so that nothing is left to build for it.
        let first = of_runtime.entry(&program.runtime.name).or_insert(program);
        if !program.entry.posts.is_empty() && first.entry.posts.is_empty() {
            *first = program;
        }
    }
    let ready = prepared(&of_runtime.into_values().collect::<Vec<_>>());
    let names = ready.iter().map(|entry| &*entry.facts.name).collect();
    measured_side_by_side(&BTreeMap::from([("sleep".to_owned(), names)]));
}

/// Campaigns at a time, and the entries of one.
const CAMPAIGNS_AT_A_TIME: usize = 4;
const IN_ONE_CAMPAIGN: usize = 6;

/// Measures ten tasks of each entry, by workload.
fn measured_side_by_side(of_workload: &BTreeMap<String, Vec<&str>>) {
    let jobs = of_workload.iter().flat_map(|(workload, entries)| {
        entries.chunks(IN_ONE_CAMPAIGN).map(move |entries| (workload, entries))
    });
    let jobs = Mutex::new(jobs);
    let next = || jobs.lock().expect("a list of campaigns").next();
    let campaign = |(workload, entries): (&String, &[&str])| {
        let entries = entries.iter().copied().collect();
        for sample in measured(&entries, &["-w", workload, "-n", "10", "--quick", "--timeout", "5m"]) {
            let Some(plateau) = sample.memory.plateau.as_ref().filter(|_| !was_starved(&sample)) else {
                continue;
            };
            if workload == "sleep" {
                assert_eq!((sample.alive, sample.done), (Some(10), Some(10)), "{}", sample.entry);
            }
            let parts = plateau.anon_bytes + plateau.shmem_bytes + plateau.file_bytes + plateau.kernel_bytes;
            assert_eq!(plateau.footprint_bytes, parts, "{sample:?}");
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..CAMPAIGNS_AT_A_TIME {
            scope.spawn(|| std::iter::from_fn(next).for_each(campaign));
        }
    });
}

/// The number in TASKSCALE_TURN, which `.ci/run` sets to the number of commits.
fn given_turn() -> Option<usize> {
    let turn = std::env::var("TASKSCALE_TURN").ok()?;
    Some(turn.parse().expect("TASKSCALE_TURN is a number"))
}

/// Selects the workload of each entry: the given number, or that of the day.
fn turn() -> usize {
    let day = || SystemTime::UNIX_EPOCH.elapsed().map_or(0, |since| since.as_secs() / 86_400) as usize;
    given_turn().unwrap_or_else(day)
}

/// The small form of the checks: each entry once, in one of its workloads, in turn.
#[test]
#[ignore = "minutes: builds a program of every entry; run by .ci/run"]
fn every_entry_does_one_of_its_workloads() {
    let catalog = Catalog::load(&catalog_folder()).expect("the catalog is sound");
    let all = select(&catalog, &["@all".into()], &[]).expect("@all names every entry");
    let mut of_entry: BTreeMap<String, Vec<Program>> = BTreeMap::new();
    for program in all.programs {
        of_entry.entry(program.entry.full_name.clone()).or_default().push(program);
    }
    let turn = turn();
    let in_turn = of_entry.into_values().enumerate().map(|(at, mut programs)| {
        let chosen = (turn + at) % programs.len();
        programs.swap_remove(chosen)
    });
    let ready = prepared(&in_turn.collect::<Vec<_>>());
    let mut of_workload: BTreeMap<String, Vec<&str>> = BTreeMap::new();
    for entry in &ready {
        of_workload.entry(workload(entry)).or_default().push(&entry.facts.name);
    }
    measured_side_by_side(&of_workload);
}
