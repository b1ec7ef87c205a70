//! Servers from end to end: costs, latencies and bytes that the server itself knows, clients that are started
//! by hand, and what is left behind after an interruption.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use crate::support::{FakeEntry, Finished, World, skipped, skipped_as_starved, was_starved};
use taskscale::metrics::{self, MetricDef};
use taskscale::record::{Sample, Status, Warning};

fn server(name: &str, workload: &'static str, flags: &str) -> FakeEntry {
    FakeEntry { waits: Some(workload), ..FakeEntry::new(name, &format!("--serve {workload} {flags}")) }
}

fn of<'a>(samples: &'a [Sample], name: &str, tasks: u64) -> &'a Sample {
    let entry = format!("fake/{name}");
    let sample = samples.iter().find(|sample| *sample.entry == *entry && sample.tasks == tasks);
    let sample = sample.unwrap_or_else(|| panic!("{name} at {tasks}"));
    assert_eq!(sample.status, Status::Ok, "{sample:?}");
    sample
}

fn figure(sample: &Sample, figure: &MetricDef) -> f64 {
    figure.read(sample).unwrap_or_else(|| panic!("{}: {sample:?}", figure.name))
}

/// The cost and latency of a message and the bytes of a connection are known. The plain server has only what
/// every server takes.
#[test]
#[ignore = "nightly: needs an idle machine"]
fn cost_latency_and_bytes_match_known_values() {
    const MESSAGE_US: f64 = 2_000.0;
    const HELD: f64 = 100_000.0;
    const LATE_US: f64 = 30_000.0;
    let world = World::new(&[
        server("plain", "echo", ""),
        server("costs", "echo", "--op-cpu-us 2000"),
        server("holds", "echo", "--bytes-per-connection 100000"),
        server("late", "echo", "--op-sleep-us 30000"),
    ]);
    world.run(world.campaign("out", "-w echo -n 1,400 -p rate=100")).expect_code(0);
    world.assert_nothing_left();
    let samples = world.load("out").samples;
    for tasks in [1, 400] {
        let plain = of(&samples, "plain", tasks);
        let load = plain.load.as_ref().expect("what its clients saw");
        let open = load.open.as_ref().expect("an open loop");
        assert_eq!((load.connected, open.messages, open.deliveries), (tasks, 100, 100));
        let [costs_us, plain_us] =
            ["costs", "plain"].map(|name| figure(of(&samples, name, tasks), &metrics::CPU_PER_MESSAGE));
        // The kernel's cost of a message varies with the machine's load: the bounds include all of it, or none.
        let bounds = 0.98 * MESSAGE_US..1.1 * MESSAGE_US + 2.0 * plain_us;
        assert!(
            bounds.contains(&costs_us) && plain_us < 0.5 * MESSAGE_US,
            "{tasks}: {costs_us} and {plain_us} µs"
        );
    }
    for tasks in [1, 400] {
        let p50_us = figure(of(&samples, "late", tasks), &metrics::LATENCY_P50);
        assert!((0.99 * LATE_US..5.0 * LATE_US).contains(&p50_us), "{tasks}: {p50_us} µs");
    }
    let growth = |name: &str| {
        figure(of(&samples, name, 400), &metrics::FOOTPRINT)
            - figure(of(&samples, name, 1), &metrics::FOOTPRINT)
    };
    let held = (growth("holds") - growth("plain")) / 399.0;
    // Memory is taken in whole pages.
    assert!((HELD..HELD * 1.06).contains(&held), "{held} bytes a connection");
}

/// Values include kernel memory, on both sides.
#[test]
fn kernel_memory_per_connection_is_within_bounds() {
    let world = World::new(&[server("plain", "echo", "")]);
    let finished = world.run(world.campaign("out", "-w echo -n 1,1000"));
    let samples = world.runs("out");
    finished.expect_good(&samples);
    if samples.iter().any(|run| was_starved(run)) {
        return skipped_as_starved();
    }
    let growth = |of_what: &dyn Fn(&Sample) -> f64| {
        (of_what(of(&samples, "plain", 1_000)) - of_what(of(&samples, "plain", 1))) / 999.0
    };
    let many = of(&samples, "plain", 1_000);
    if many.memory.source == taskscale::record::MemorySource::Proc {
        skipped("without control groups nobody sees the kernel's part");
        return;
    }
    let load = many.load.as_ref().expect("what its clients saw");
    assert!(load.first_message && load.curve.len() == 3 && load.open.is_some(), "{load:?}");
    assert!(many.memory.connected.is_some(), "read before the first message as well");
    // 3,867 and 4,001 bytes for a C server and its clients on Linux 6.18. This server also has a thread per
    // connection.
    let clients = growth(&|sample| figure(sample, &metrics::CLIENT_KERNEL));
    assert!((3_700.0..12_000.0).contains(&clients), "{clients} bytes of the kernel for each client");
    let server = growth(&|sample| figure(sample, &metrics::KERNEL));
    assert!(server > 3_700.0, "{server} bytes of the kernel for each connection");
}

/// A rate that the server cannot reach is reported, and its latencies are not shown.
#[test]
#[ignore = "nightly: needs an idle machine"]
fn missed_rates_are_reported() {
    // Each message takes 64 × 150 µs, and each of two connections gets 200 per second: two CPUs each.
    let world = World::new(&[server("slow", "echo", "--op-cpu-us 150")]);
    world.run(world.campaign("out", "-w echo -n 2 -p rate=400 -p size=4096")).expect_code(0);
    let samples = world.load("out").samples;
    let slow = of(&samples, "slow", 2);
    assert!(slow.warnings.contains(&Warning::RateNotReached), "{:?}", slow.warnings);
    assert_eq!(metrics::LATENCY_P99.read(slow), None);
    let open = slow.load.as_ref().and_then(|load| load.open.as_ref()).expect("an open loop");
    assert!(open.achieved_per_s < 0.99 * open.offered_per_s && open.messages == 400, "{open:?}");
}

#[test]
fn server_and_clients_end_if_taskscale_is_killed() {
    let world = World::new(&[server("plain", "chat", "")]);
    let running = world.start(world.campaign("out", "-w chat -n 200 -r 3"));
    world.until("a sample is there", || world.sample_count("out") >= 1);
    running.signal(libc::SIGKILL);
    running.wait();
    world.until("the server is gone", || world.processes("fake-entry").is_empty());
    world.until("the clients are gone", || world.processes("taskscale").is_empty());
    // The next start resumes, and removes the folders of the cgroups.
    world.run(world.campaign("out", "-w chat -n 200 -r 3")).expect_good(&world.runs("out"));
    assert_eq!(world.runs("out").len(), 3);
    world.assert_nothing_left();
}

/// A scripted server, killed when dropped.
struct Fake(Child, String);

impl Fake {
    fn start(world: &World, flags: &str) -> Fake {
        let mut child = Command::new(world.fake())
            .args(flags.split(' '))
            .args(["5000", "--listen", "127.0.0.1:0"])
            .stdout(Stdio::piped())
            .spawn()
            .expect("the scripted server");
        let mut line = String::new();
        BufReader::new(child.stdout.take().expect("its output")).read_line(&mut line).expect("a line");
        let port = line.trim().strip_prefix("listening ").expect("listening").to_owned();
        Fake(child, format!("127.0.0.1:{port}"))
    }
}

impl Drop for Fake {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn load_command_measures_an_external_server() {
    let world = World::new(&[]);
    let load = |words: &str| world.run(world.command(&words.split(' ').collect::<Vec<_>>()));
    let echo = Fake::start(&world, "--serve echo");
    let short = "--rate 500 --open-s 1 --closed-s 0.3";
    let words = format!("load echo --connect {} -n 50 {short}", echo.1);
    // On a busy machine the rate may not be reached: exit code 1.
    let code = |told: &Finished| {
        told.expect_code(i32::from(told.stdout.contains("rate not reached")));
    };
    let told = load(&words);
    code(&told);
    assert!(told.stdout.starts_with("connected  50 of 50"), "{told:?}");
    assert!(told.stdout.contains("500 messages, 500 deliveries"), "{told:?}");
    let told = load(&format!("{words} --json"));
    let seen: taskscale::record::Load = serde_json::from_str(&told.stdout).expect("JSON");
    let open = seen.open.expect("an open loop");
    told.expect_code(i32::from(!open.is_reached()));
    assert_eq!(open.messages, 500);
    let chat = Fake::start(&world, "--serve chat");
    let words = format!("load chat --connect {} -n 25 {short}", chat.1);
    // Two rooms of ten and one of five.
    let told = load(&words);
    code(&told);
    // Every fifth message is sent in the room of five.
    assert!(told.stdout.contains("500 messages, 4,500 deliveries"), "{told:?}");
    let wrong = Fake::start(&world, "--serve echo --fault flip:10");
    load(&format!("load echo --connect {} {short}", wrong.1)).expect_code(1).expect_said("expected");
}

/// Connections that wait to be accepted may be another process's: none subtracts them from its own.
#[test]
fn clients_in_many_processes_are_all_counted() {
    let world = World::new(&[]);
    let echo = Fake::start(&world, "--serve echo");
    // Room for 84 connections in each process.
    let words = format!(
        "ulimit -n 100 && exec \"$0\" load echo --connect {} -n 2000 --active 1 --rate 100 --open-s 0.2 --closed-s 0.1",
        echo.1
    );
    let mut command = Command::new("sh");
    command.args(["-c", &words, env!("CARGO_BIN_EXE_taskscale")]);
    let told = world.run_plain(command);
    told.expect_code(i32::from(told.stdout.contains("rate not reached")));
    assert!(told.stdout.starts_with("connected  2,000 of 2,000"), "{told:?}");
    let mut command = Command::new("sh");
    let words = "ulimit -n 100 && exec \"$0\" load chat --connect 127.0.0.1:1 -n 400 --room 200";
    command.args(["-c", words, env!("CARGO_BIN_EXE_taskscale")]);
    world.run_plain(command).expect_code(1).expect_said("a room of 200 members needs 200 connections");
}
