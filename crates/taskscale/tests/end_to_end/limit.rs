//! `taskscale limit` on programs whose memory is known exactly, and on installed runtimes.

use std::fs;

use crate::support::{FakeEntry, Finished, World, skipped, skipped_as_starved};
use taskscale::record::{MemorySource, Sample, Status};

const KIB: u64 = 1 << 10;
const MIB: u64 = 1 << 20;

fn limit(world: &World, folder: &str, args: &str) -> std::process::Command {
    let folder = world.path(folder).display().to_string();
    let mut all = vec!["limit", "-o", &folder];
    all.extend(args.split_whitespace());
    world.command(&all)
}

fn answers(finished: &Finished) -> Vec<serde_json::Value> {
    let report: serde_json::Value = serde_json::from_str(&finished.stdout)
        .unwrap_or_else(|error| panic!("{error}: {} {}", finished.stdout, finished.stderr));
    report["answers"].as_array().expect("answers").clone()
}

/// Whether this machine can limit memory. If not, `limit` refuses, which another test checks.
fn can_limit(world: &World) -> bool {
    let found = world.run(world.command(&["limit", "fake/plain", "--memory", "1PiB"]));
    let can = !found.stderr.contains("needs a cgroup");
    if !can {
        skipped("no control group that can limit memory can be made here");
    }
    can
}

/// Asserts that all runs had this cap, except that one that thrashed at it until its timeout is repeated without.
fn assert_capped(samples: &[Sample], cap_bytes: u64) {
    let is_capped = |sample: &Sample| sample.memory.cap_bytes == Some(cap_bytes);
    for (at, control) in samples.iter().enumerate().filter(|(_, sample)| !is_capped(sample)) {
        let slow = |sample: &Sample| sample.tasks == control.tasks && sample.status == Status::TimedOut;
        assert!(samples[..at].iter().any(|sample| slow(sample) && is_capped(sample)), "{control:?}");
    }
}

#[test]
#[ignore = "nightly: needs an idle machine"]
fn answer_passes_and_a_larger_count_is_killed() {
    let world = World::new(&[FakeEntry::new("plain", "--anon-bytes 4MiB --anon-bytes-per-task 16KiB")]);
    if !can_limit(&world) {
        return;
    }
    let finished = world.run(limit(&world, "out", "fake/plain --memory 192MiB --format json"));
    world.assert_nothing_left();
    finished.expect_code(0);
    let answer = &answers(&finished)[0];
    let tasks = answer["tasks"].as_u64().unwrap();
    // 188 MiB are left for tasks of 16 KiB, less what the program and the kernel take: page tables, stacks, text.
    assert!((11_580..12_032).contains(&tasks), "{answer:#}");
    assert_eq!(answer["state"], "found");
    // Just below what is killed, a program may drop and read its own text until it is too slow.
    assert!(answer["limited_by"].as_str().is_some_and(|by| by.starts_with("memory")), "{answer:#}");
    assert_eq!(answer["fails"]["peak_bytes"], 192 * MIB, "{answer:#}");
    assert_eq!(answer["holds"]["tasks"], tasks);
    assert!(answer["fails"]["tasks"].as_u64().unwrap() as f64 <= tasks as f64 * 1.02);
    assert_eq!((&answer["tried"]["held"], &answer["tried"]["runs"]), (&3.into(), &3.into()), "{answer:#}");
    let confirming = answer["probes"].as_array().unwrap().iter().filter(|run| run["purpose"] == "confirm");
    assert!(confirming.filter(|run| run["tasks"] == tasks).all(|run| run["holds"] == true), "{answer:#}");
    // More runs are needed if the kernel's batches of pages blur the boundary.
    assert!(answer["runs_of_search"].as_u64().unwrap() <= 16, "{answer:#}");
    let slope = answer["bytes_per_task"].as_f64().unwrap();
    assert!((16_384.0..16_800.0).contains(&slope), "{slope}");

    let samples = world.load("out").samples;
    assert_capped(&samples, 192 * MIB);
    assert!(samples.iter().all(|sample| sample.memory.source != MemorySource::Proc));
    assert!(samples.iter().any(|sample| sample.status == Status::KilledOom));

    // Again: nothing is left to run, and the answer is the same. `report` shows it as well.
    let before = fs::read(world.path("out/samples.jsonl")).unwrap();
    let again = world.run(limit(&world, "out", "fake/plain --memory 192MiB --format json"));
    again.expect_code(0);
    assert_eq!(answers(&again), answers(&finished));
    assert_eq!(fs::read(world.path("out/samples.jsonl")).unwrap(), before);
    let folder = world.path("out").display().to_string();
    for (format, said) in [("table", "most tasks"), ("markdown", "| most tasks"), ("csv", "answer")] {
        let shown = world.run(world.command(&["report", &folder, "--format", format]));
        shown.expect_code(0);
        assert!(shown.stdout.contains(said), "{}", shown.stdout);
    }
    // A search with more precision resumes from there.
    let finer = world.run(limit(&world, "out", "fake/plain --memory 192MiB --precision 0.2% --format json"));
    finer.expect_code(0);
    let width = |answers: &[serde_json::Value]| answers[0]["width"].as_f64().unwrap();
    assert!(width(&answers(&finer)) <= width(&answers(&finished)).min(0.01));
    assert!(world.load("out").samples.len() > samples.len());
    world.assert_nothing_left();
}

/// `limit::search::tests` tests the rules of a search. This tests that a real limit ends real programs.
#[test]
fn interrupted_searches_resume_and_other_searches_are_refused() {
    let world = World::new(&[]);
    let gate = world.gate("out", 2);
    let entry = FakeEntry::new("plain", "--anon-bytes-per-task 4096").program(&gate.program);
    fs::write(world.manifest(), world.manifest_of(&[entry])).unwrap();
    if !can_limit(&world) {
        return;
    }
    let search = "fake/plain --memory 32MiB --precision 10% --json";
    let running = world.start(limit(&world, "out", search));
    world.until("two runs are kept", || world.sample_count("out") >= 2);
    running.signal(libc::SIGINT);
    running.wait().expect_code(130).expect_said("resumes");
    let _open = gate.open();
    let kept = world.load("out").samples;
    let finished = world.run(limit(&world, "out", search));
    let samples = world.load("out").samples;
    assert_eq!(samples[..kept.len()], kept[..]);
    let mut runs: Vec<_> =
        samples.iter().map(|sample| (sample.tasks, sample.repetition, sample.attempt)).collect();
    runs.sort_unstable();
    runs.dedup();
    assert_eq!(runs.len(), samples.len(), "no run was taken twice");
    assert_capped(&samples, 32 * MIB);
    // A busy machine can leave it undecided (exit code 1), but never moves the answer beyond the memory.
    assert!([0, 1].contains(&finished.code()), "{finished:?}");
    if world.any_starved("out") && samples.iter().all(|sample| sample.status != Status::Ok) {
        return skipped_as_starved();
    }
    let most = 32 * MIB / 4096;
    let passed = samples.iter().filter(|sample| sample.status == Status::Ok).map(|sample| sample.tasks);
    assert!(passed.max().is_some_and(|tasks| tasks < most), "{samples:?}");
    assert!(samples.iter().any(|sample| sample.status == Status::KilledOom), "{samples:?}");

    let events: Vec<serde_json::Value> =
        finished.stderr.lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    assert!(events.iter().any(|event| event["event"] == "answer"), "{}", finished.stderr);
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../schema/event.schema.json");
    let schema = serde_json::from_slice(&fs::read(path).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    assert!(events.iter().all(|event| schema.is_valid(event)), "{}", finished.stderr);

    for (args, said) in [
        ("fake/plain --memory 33MiB", "33 MiB"),
        ("fake/plain -n 10", "the least memory for 10 tasks"),
        ("fake/plain --memory 32MiB --env A=1", "environment variables"),
        ("fake/plain --memory 32MiB --slowdown 9", "time limits"),
    ] {
        world.run(limit(&world, "out", args)).expect_code(2).expect_said(said);
    }
    world.run(world.campaign("out", "-n 2")).expect_code(2).expect_said("cannot resume");
    world.assert_nothing_left();
}

#[test]
fn variables_contain_the_memory_cap() {
    let world = World::new(&[FakeEntry::new("dump", "--fault env-dump --fault exit:end:1")
        .more("limit_env = { HEAP = \"{memory:50%}\" }")]);
    if !can_limit(&World::new(&[FakeEntry::new("plain", "")])) {
        return;
    }
    world.run(limit(&world, "out", "fake/dump --memory 32MiB --env ALL={memory}")).expect_code(0);
    let samples = world.load("out").samples;
    let said = samples[0].stderr_tail.as_deref().unwrap();
    assert!(said.contains("HEAP=16777216") && said.contains("ALL=33554432"), "{said}");
    world.assert_nothing_left();
}

/// Real runtimes, whether or not they size themselves by their cgroup: each has an answer that is consistent.
#[test]
#[ignore = "nightly: builds and searches real entries"]
fn installed_runtimes_yield_consistent_answers() {
    let world = World::new(&[FakeEntry::new("plain", "")]);
    if !can_limit(&world) {
        return;
    }
    let catalog = concat!(env!("CARGO_MANIFEST_DIR"), "/../../runtimes");
    let names = ["rust/tokio-spawn", "go/goroutine", "java/virtual-thread"];
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_taskscale"));
    command.args(["limit", "--memory", "128MiB", "--precision", "10%", "--format", "json"]);
    command.args(["--most-runs", "12", "--timeout", "1m", "-o"]);
    command.arg(world.path("real")).args(["--catalog", catalog]).args(names);
    command.env("TASKSCALE_LOCK", world.path("lock")).env("XDG_RUNTIME_DIR", world.path("run"));
    // Its own options bound it. On a busy machine it takes minutes.
    let output = command.output().expect("taskscale starts");
    let (stdout, stderr) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    if stderr.contains("none of these entries can run here") {
        return skipped("no toolchain is installed");
    }
    let report: serde_json::Value =
        serde_json::from_str(&stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"));
    let answers = report["answers"].as_array().unwrap();
    assert_eq!(answers.len(), names.len());
    for answer in answers {
        let name = answer["entry"].as_str().unwrap();
        if let Some(why) = answer["unavailable"].as_str() {
            skipped(&format!("{name}: {why}"));
            continue;
        }
        let tasks = answer["tasks"].as_u64().unwrap_or_else(|| panic!("{answer:#}"));
        // A garbage-collected heap may not grow linearly. Then there are no bytes per task.
        let per_task = answer["bytes_per_task"].as_f64();
        assert!(per_task.is_some() || name == "java/virtual-thread", "{answer:#}");
        if let Some(per_task) = per_task {
            assert!((100.0..20_000.0).contains(&per_task), "{name}: {per_task}");
            // The tasks fit, with some tolerance.
            assert!(tasks as f64 * per_task <= 134.3e6 * 1.2, "{name}: {tasks} of {per_task} bytes");
        }
        assert!(answer["fails"]["tasks"].as_u64().unwrap() > tasks, "{answer:#}");
        assert_eq!(answer["by_memory"], true, "{answer:#}");
    }
    for sample in world.load("real").samples.iter().filter(|sample| sample.status == Status::Ok) {
        // The kernel charges allocations that must not fail even beyond the limit: on each CPU at most a stack
        // (16 KiB) at a time.
        let forced = 16 * KIB * std::thread::available_parallelism().unwrap().get() as u64;
        let cap = sample.memory.cap_bytes.unwrap();
        assert!(sample.memory.peak_bytes.unwrap() <= cap + forced, "{sample:#?}");
    }
}

/// An echo server that handles at most 1,500 messages of 64 bytes per second.
const SLOW_ECHO: &str = "
import signal, socket, sys, threading, time
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
listener = socket.create_server(('127.0.0.1', 0))
print('listening', listener.getsockname()[1], flush=True)
def serve(connection):
    # Or the last message may come 40 ms late, which is more than 1 % of a run.
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    free_at = time.monotonic()
    while data := connection.recv(4096):
        free_at = max(free_at, time.monotonic()) + len(data) / 64 / 1500
        time.sleep(max(0, free_at - time.monotonic()))
        connection.sendall(data)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
";

#[test]
#[ignore = "nightly: needs an idle machine"]
fn the_highest_rate_of_a_server_is_found() {
    if std::process::Command::new("python3").arg("--version").output().is_err() {
        return skipped("no python3");
    }
    let server = FakeEntry {
        waits: Some("echo"),
        flags: vec!["-c".into(), SLOW_ECHO.into()],
        ..FakeEntry::new("server", "").program("python3").kind("thread")
    };
    let world = World::new(&[server]);
    let args = "fake/server -w echo --rate -n 1 -r 1 --precision 40% --format json";
    let finished = world.run(limit(&world, "out", args));
    world.assert_nothing_left();
    finished.expect_code(0);
    let answer = &answers(&finished)[0];
    let rate = answer["rate_per_s"].as_u64().unwrap();
    // On a busy machine, single messages are late, and the answer errs on the safe side.
    assert!((50..1_550).contains(&rate), "{answer:#}");
    assert_eq!((&answer["state"], &answer["tasks"]), (&"found".into(), &1.into()), "{answer:#}");
    assert_eq!(answer["tried"]["rate_per_s"], rate);

    let samples = world.load("out").samples;
    let rates: Vec<f64> = samples.iter().map(|sample| sample.params["rate"].parse().unwrap()).collect();
    assert_eq!(rates[0], 1_000.0);
    for (sample, rate) in samples.iter().zip(rates) {
        let open = sample.load.as_ref().unwrap().open.as_ref().unwrap();
        assert_eq!((open.offered_per_s, open.messages as f64), (rate, 3.0 * rate));
    }
    // Again: nothing is left to run.
    let again = world.run(limit(&world, "out", args));
    again.expect_code(0);
    assert_eq!(answers(&again), answers(&finished));
    assert_eq!(world.load("out").samples.len(), samples.len());
    let shown = world.run(world.command(&["report", &world.path("out").display().to_string()]));
    shown.expect_code(0);
    assert!(shown.stdout.contains("messages/s") && shown.stdout.contains("1 of 1"), "{}", shown.stdout);
    world
        .run(limit(&world, "out", "fake/server -w echo --rate -n 1 --p99 50ms"))
        .expect_code(2)
        .expect_said("the highest message rate with p99 below 100 ms over 1 connection");
}
