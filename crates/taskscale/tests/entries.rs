//! Every entry of the catalogue, built and held to what `taskscale check` asks of anybody's.
//!
//! A runtime that is not installed is skipped, visibly; with TASKSCALE_REQUIRE=all that is a failure.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use serde_json::Value;
use taskscale::campaign::{NotReady, Prepared, prepare};
use taskscale::catalog::{Catalog, Style, select};
use taskscale::record::{self, Loaded, Status};
use taskscale::toolchain::{Attend, Cache};

fn catalog_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes")
}

/// The programs of every entry that can run here, of these workloads or of all. Those that cannot are said.
fn ready(workloads: &[String]) -> Vec<(Prepared, Vec<String>)> {
    let catalog = Catalog::load(&catalog_folder()).expect("the catalogue is sound");
    let all = select(&catalog, &["@all".into()], workloads).expect("@all names every entry");
    let required = std::env::var("TASKSCALE_REQUIRE").is_ok_and(|value| value == "all");
    let mut ready = Vec::new();
    for entry in prepare(&Cache::of_user(), &all.programs, &Attend::NEVER, |_| {}) {
        match entry.command.clone() {
            Ok(command) => ready.push((entry, command)),
            Err(NotReady::BuildFailed(why)) => panic!("{} does not build: {why}", entry.facts.name),
            // What cannot be had on any machine of ours says so in its manifest.
            Err(why) if entry.facts.unverified.is_some() => {
                println!("SKIPPED: {} (unverified): {}", entry.facts.name, why.reason());
            }
            Err(why) if required => panic!("{} is required: {}", entry.facts.name, why.reason()),
            Err(why) => println!("SKIPPED: {}: {}", entry.facts.name, why.reason()),
        }
    }
    assert!(!ready.is_empty(), "not even Rust's entries can run");
    ready
}

/// Runtimes whose builds are quick enough to be made twice more in every run of the tests.
const CHEAP_BUILDS: [&str; 6] = ["c", "cpp", "elixir", "erlang", "go", "java"];

/// Entries of the second rank of which a check takes minutes for each workload, as their compilers or their tasks are
/// slow: `sleep` and `spawn` are checked of them, and the others are measured once.
const SLOW_CHECKS: [&str; 8] =
    ["bun/", "deno/", "haskell/", "node/worker", "python/thread", "python/trio", "ruby/", "scala/"];

fn is_slow(entry: &Prepared) -> bool {
    SLOW_CHECKS.iter().any(|name| entry.facts.name.starts_with(name))
}

/// Servers that are made as a sibling's are (Elixir's, .NET's), or of the second rank: a talk by hand takes half a minute.
const TALKED_TO_ELSEWHERE: [&str; 5] = ["crystal/", "dotnet/nativeaot", "erlang/", "kotlin/", "zig/"];

fn workload(entry: &Prepared) -> String {
    entry.facts.workload.clone().expect("the workload of a program")
}

/// Not checked, for the time that it takes: that it does what it is told to is seen by measuring it.
fn is_measured_alone(entry: &Prepared) -> bool {
    let serves = ["chat", "echo"].contains(&&*workload(entry));
    let elsewhere = TALKED_TO_ELSEWHERE.iter().any(|name| entry.facts.name.starts_with(name));
    serves && elsewhere || is_slow(entry) && !["sleep", "spawn"].contains(&&*workload(entry))
}

/// Of those that wait, of those that work and of servers so many at a time; each taskscale checks one entry after the other. Were
/// more at work than there are CPUs, each would be held back by the others, and tried again.
const AT_A_TIME: usize = 2;

/// What one `taskscale check` is asked for.
#[derive(Debug, Clone)]
struct Job {
    runtime: String,
    entries: BTreeSet<String>,
    workloads: BTreeSet<String>,
}

/// `taskscale check` of these programs, as a person would; what it found, and what it left out.
fn checked(job: &Job, lock: &Path) -> Value {
    let mut command = Command::new(env!("CARGO_BIN_EXE_taskscale"));
    command.arg("check").args(&job.entries).args(["--json", "--quiet", "--catalog"]).arg(catalog_folder());
    command.arg("-w").arg(job.workloads.iter().cloned().collect::<Vec<_>>().join(","));
    // All programs of a runtime are built by the same commands.
    if CHEAP_BUILDS.contains(&job.runtime.as_str()) && job.workloads.contains("sleep") {
        command.arg("--rebuild");
    }
    let output = command.env("TASKSCALE_LOCK", lock).output().expect("taskscale starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{job:?}: {error}\n{stderr}"))
}

#[test]
fn every_entry_is_a_good_citizen() {
    // What is left out for lack of a toolchain is said, or a failure. A tuned entry is mostly a twin, an idiomatic one's
    // program with other settings: what it does while its tasks wait is looked at, not each workload once more.
    let mut ready = ready(&[]);
    ready.retain(|(entry, _)| {
        let waits = workload(entry) == "sleep";
        waits || entry.facts.style == Style::Idiomatic && !is_measured_alone(entry)
    });
    let mut jobs: BTreeMap<(String, usize, bool), Job> = BTreeMap::new();
    for (entry, _) in &ready {
        let (name, workload) = (&entry.facts.name, workload(entry));
        let runtime = name.split('/').next().unwrap_or(name).to_owned();
        let queue =
            ["sleep", "echo", "chat"].iter().position(|name| *name == workload).map_or(2, |at| at.min(1));
        let job = jobs.entry((runtime.clone(), queue, is_slow(entry))).or_insert_with(|| Job {
            runtime,
            entries: BTreeSet::new(),
            workloads: BTreeSet::new(),
        });
        job.entries.insert(name.clone());
        job.workloads.insert(workload);
    }
    let queues = [0, 1, 2].map(|queue| {
        let of_queue = jobs.iter().filter(|((_, of, _), _)| *of == queue).map(|(_, job)| job.clone());
        Mutex::new(of_queue.collect::<Vec<Job>>())
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let results: Vec<Value> = std::thread::scope(|scope| {
        let workers: Vec<_> = (0..queues.len() * AT_A_TIME)
            .map(|worker| {
                let (queue, lock) = (&queues[worker % queues.len()], folder.path().join(worker.to_string()));
                let next = move || queue.lock().expect("no worker panicked").pop();
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
    let accused = entries.into_iter().filter(|entry| !faults(entry).is_empty());
    let wrong: Vec<String> = accused.flat_map(|entry| asked_again(entry, folder.path())).collect();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// What is found while others are checked beside it, on few CPUs, is asked again alone: a fault is found each time.
fn asked_again(entry: &Value, folder: &Path) -> Vec<String> {
    let text = |key: &str| entry[key].as_str().expect("a name").to_owned();
    let (name, workload) = (text("entry"), text("workload"));
    let runtime = name.split('/').next().unwrap_or(&name).to_owned();
    let job = Job { runtime, entries: BTreeSet::from([name]), workloads: BTreeSet::from([workload]) };
    println!("once more, alone: {job:?}");
    let again = checked(&job, &folder.join("alone"));
    again["entries"].as_array().expect("entries").iter().flat_map(faults).collect()
}

/// What speaks against an entry. Says all that was found.
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
        // The catalogue keeps to what is only asked of others.
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

/// What `taskscale run` of these, and so many tasks, comes to.
fn measured(words: &[&str]) -> Loaded {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let campaign = folder.path().join("campaign");
    let output = Command::new(env!("CARGO_BIN_EXE_taskscale"))
        .arg("run")
        .args(words)
        .args(["-r", "1", "--catalog"])
        .arg(catalog_folder())
        .arg("-o")
        .arg(&campaign)
        .output()
        .expect("taskscale starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{words:?}: {}\n{stderr}", String::from_utf8_lossy(&output.stdout));
    record::load(&campaign).expect("the campaign can be read")
}

#[test]
fn what_is_slow_to_check_does_its_work() {
    let programs: Vec<Prepared> = ready(&[]).into_iter().map(|(entry, _)| entry).collect();
    let programs = programs.iter().filter(|entry| is_measured_alone(entry));
    let mut entries_of: BTreeMap<String, BTreeSet<&str>> = BTreeMap::new();
    for entry in programs {
        entries_of.entry(workload(entry)).or_default().insert(&entry.facts.name);
    }
    for (workload, entries) in entries_of {
        // A thousand threads with an engine each take a minute while others are checked beside them.
        let words: Vec<&str> = entries
            .iter()
            .copied()
            .chain(["-w", &workload, "-n", "10", "--quick", "--timeout", "5m"])
            .collect();
        let loaded = measured(&words);
        let samples = record::last_attempts(&loaded.samples);
        let seen: BTreeSet<&str> = samples.iter().map(|sample| &*sample.entry).collect();
        assert_eq!(seen, entries);
        for sample in samples {
            assert_eq!(sample.status, Status::Ok, "{workload}: {sample:?}");
        }
    }
}

#[test]
fn every_entry_can_be_measured() {
    let loaded = measured(&["@all", "-n", "100"]);
    assert_eq!(record::last_attempts(&loaded.samples).len(), ready(&["sleep".into()]).len());
    for sample in record::last_attempts(&loaded.samples) {
        assert_eq!(sample.status, Status::Ok, "{sample:?}");
        assert_eq!((sample.alive, sample.done), (Some(100), Some(100)));
        let plateau = sample.memory.plateau.as_ref().expect("the plateau was read");
        let parts = plateau.anon_bytes + plateau.shmem_bytes + plateau.file_bytes + plateau.kernel_bytes;
        assert_eq!(plateau.footprint_bytes, parts);
        assert!(plateau.anon_bytes > 0 && plateau.file_bytes > 0 && plateau.kernel_bytes > 0, "{plateau:?}");
    }
}
