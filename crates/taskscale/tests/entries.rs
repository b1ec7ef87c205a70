//! Every entry of the catalogue, built and tried as a person would from a shell: does it speak the protocol?
//!
//! A runtime that is not installed is skipped, visibly; with TASKSCALE_REQUIRE=all that is a failure.

use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use taskscale::campaign::{NotReady, Prepared, prepare};
use taskscale::catalog::{Catalog, select};
use taskscale::record::{self, Status};
use taskscale::toolchain::Cache;

const WORKLOAD: &str = "sleep";

fn catalog_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes")
}

/// Every entry that can run here. Those that cannot are said.
fn ready() -> Vec<(Prepared, Vec<String>)> {
    let catalog = Catalog::load(&catalog_folder()).expect("the catalogue is sound");
    let all = select(&catalog, &["@all".into()], WORKLOAD).expect("@all names every entry");
    let required = std::env::var("TASKSCALE_REQUIRE").is_ok_and(|value| value == "all");
    let mut ready = Vec::new();
    for entry in prepare(&Cache::of_user(), &all, WORKLOAD, &|| false, |_| {}) {
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

fn try_program(entry: &Prepared, command: &[String], arguments: &[&str]) -> (Output, Duration) {
    let begun = Instant::now();
    let output = Command::new(&command[0])
        .args(&command[1..])
        .args(arguments)
        .envs(&entry.facts.env)
        .output()
        .unwrap_or_else(|error| panic!("{} cannot be started: {error}", entry.facts.name));
    (output, begun.elapsed())
}

/// The counts of the protocol's lines, in the order in which they were said.
fn said(output: &Output) -> Vec<(String, u64)> {
    let text = String::from_utf8_lossy(&output.stdout);
    let counted = |line: &str| {
        let (word, count) = line.split_once(' ')?;
        Some((word.to_owned(), count.parse().ok()?))
    };
    text.lines().map(|line| counted(line).unwrap_or_else(|| panic!("stray output: {line:?}"))).collect()
}

/// Tries every entry, several at a time: they mostly wait.
fn for_every_entry(check: impl Fn(&Prepared, &[String]) + Sync) {
    let ready = ready();
    std::thread::scope(|scope| {
        for some in ready.chunks(ready.len().div_ceil(4)) {
            scope.spawn(|| some.iter().for_each(|(entry, command)| check(entry, command)));
        }
    });
}

#[test]
fn every_entry_speaks_the_protocol() {
    for_every_entry(|entry, command| {
        let name = &entry.facts.name;
        for tasks in [1, 7, 1000] {
            let expected = [("alive".to_owned(), tasks), ("done".to_owned(), tasks)];
            let mut wait = 1;
            loop {
                let (output, took) = try_program(entry, command, &[&tasks.to_string(), &wait.to_string()]);
                let stderr = String::from_utf8_lossy(&output.stderr);
                assert!(output.status.success(), "{name} {tasks}: {} {stderr}", output.status);
                assert!(took >= Duration::from_secs(wait), "{name} {tasks}: did not wait: {took:?}");
                // Where the first task is due before the last has started, a longer wait lets all be alive.
                if said(&output) == expected {
                    break;
                }
                assert!(
                    wait < 60,
                    "{name} {tasks}: not all alive in a wait of {wait} s: {:?}",
                    said(&output)
                );
                wait += 2 * took.as_secs();
            }
        }
        let (output, _) = try_program(entry, command, &["7", "0"]);
        assert!(output.status.success(), "{name}: a wait of 0 s is allowed: {output:?}");
        assert_eq!(said(&output).last(), Some(&("done".to_owned(), 7)), "{name}");
    });
}

#[test]
fn every_entry_refuses_bad_arguments_with_a_message() {
    let bad: [&[&str]; 7] =
        [&["0", "1"], &["ten", "1"], &["-1", "1"], &["1", "soon"], &["1"], &[], &["1", "1", "1"]];
    for_every_entry(|entry, command| {
        for arguments in bad {
            let (output, _) = try_program(entry, command, arguments);
            let stderr = String::from_utf8_lossy(&output.stderr);
            let name = &entry.facts.name;
            assert_eq!(output.status.code(), Some(2), "{name} {arguments:?}: {stderr}");
            assert!(output.stdout.is_empty(), "{name} {arguments:?} wrote {:?}", output.stdout);
            let lines = stderr.lines().count();
            assert!((1..=3).contains(&lines), "{name} {arguments:?}: a short message, no trace:\n{stderr}");
        }
    });
}

#[test]
fn every_entry_can_be_measured() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let campaign = folder.path().join("campaign");
    let output = Command::new(env!("CARGO_BIN_EXE_taskscale"))
        .args(["@all", "-n", "1000", "-r", "1", "--catalog"])
        .arg(catalog_folder())
        .arg("-o")
        .arg(&campaign)
        .output()
        .expect("taskscale starts");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{stderr}", String::from_utf8_lossy(&output.stdout));
    let loaded = record::load(&campaign).expect("the campaign can be read");
    assert_eq!(record::last_attempts(&loaded.samples).len(), ready().len());
    for sample in record::last_attempts(&loaded.samples) {
        assert_eq!(sample.status, Status::Ok, "{sample:?}");
        assert_eq!((sample.alive, sample.done), (Some(1000), Some(1000)));
        let plateau = sample.memory.plateau.as_ref().expect("the plateau was read");
        let parts = plateau.anon_bytes + plateau.shmem_bytes + plateau.file_bytes + plateau.kernel_bytes;
        assert_eq!(plateau.footprint_bytes, parts);
        assert!(plateau.anon_bytes > 0 && plateau.file_bytes > 0 && plateau.kernel_bytes > 0, "{plateau:?}");
    }
}
