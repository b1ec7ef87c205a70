//! Programs that claim more than they do, on a real kernel: none of them is `ok`.

use std::net::{IpAddr, TcpListener, UdpSocket};
use std::path::PathBuf;
use std::process::Command;

use crate::support::{FakeEntry, ReservedPort, World, on_path, skipped, was_starved};
use taskscale::record::Status;

/// Compiles the programs. `None`, reported as skipped, without a compiler.
fn programs(world: &World) -> Option<PathBuf> {
    if !on_path("cc") {
        skipped("no C compiler is here");
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/end_to_end/attacks/servers.c");
    let program = world.path("bin/servers");
    let compiled = Command::new("cc").args(["-O1", "-o"]).arg(&program).arg(source).status();
    assert!(compiled.expect("cc").success());
    Some(program)
}

/// One entry for each case, with the case as its name and its argument.
fn entries(program: &str, workload: &'static str, cases: &[&str]) -> Vec<FakeEntry> {
    let entry = |case: &&str| FakeEntry {
        waits: Some(workload),
        flags: vec![(*case).to_owned()],
        ..FakeEntry::new(case, "").program(program)
    };
    cases.iter().map(entry).collect()
}

#[test]
fn connections_closed_by_the_server_are_not_alive() {
    let world = World::new(&[]);
    let Some(program) = programs(&world) else { return };
    let cases = ["half", "half-reset", "deferred"];
    let text = world.manifest_of(&entries(&program.display().to_string(), "echo", &cases));
    std::fs::write(world.manifest(), text).expect("a manifest");
    // Whether the server closes them before the reading or before the plateau ends.
    world.run(world.campaign("out", "-w echo -n 100 -r 1")).expect_code(1);
    let samples = world.runs("out");
    let alive = |entry| if entry == "fake/deferred" { 0 } else { 50 };
    for sample in &samples {
        let (entry, status, seen) = (&*sample.entry, sample.status, sample.alive);
        // A connection that is reset on its first message fails the run, and so does one that is closed after
        // all were counted.
        let said = sample.reason.as_deref().unwrap_or_default();
        let reset = entry == "fake/half-reset" || entry == "fake/half" && said.contains("closed");
        let failed = reset && status == Status::Failed;
        assert!(failed || (status, seen) == (Status::Partial, Some(alive(entry))), "{entry}: {samples:#?}");
    }
    assert_eq!(samples.len(), cases.len());
    world.assert_nothing_left();
}

/// An address of this machine that is not loopback. No packet is sent.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip()).filter(|ip| !ip.is_loopback() && !ip.is_unspecified())
}

/// `few` accepts 10 of 100, `slow` all of them, one by one, with a backlog of five.
#[test]
fn connections_to_a_local_nonloopback_address_are_counted() {
    let world = World::new(&[]);
    let Some(program) = programs(&world) else { return };
    let Some(ip) = own_address() else { return skipped("this machine has no address but loopback") };
    for (case, status, alive) in [("few", Status::Partial, 10), ("slow", Status::Ok, 100)] {
        let reserved = ReservedPort::at(ip);
        let (port, ip) = (reserved.number.to_string(), ip.to_string());
        let address = format!("{ip}:{port}");
        let out = world.path(case).display().to_string();
        let program = program.display().to_string();
        let measure = ["measure", "-n", "100", "-r", "1", "--connect", &address, "-o", &out, "--"];
        let server = [program.as_str(), case, "{tasks}", &ip, &port];
        world.run(world.command(&[&measure[..], &server[..]].concat()));
        let samples = world.runs(case);
        assert_eq!(samples.len(), 1);
        let seen = (samples[0].status, samples[0].alive);
        assert!(
            seen == (status, Some(alive)) || status == Status::Ok && was_starved(&samples[0]),
            "{:#?}",
            samples[0]
        );
    }
    world.assert_nothing_left();
}

/// For example, if a command lets a service start its server, or shares the port of an earlier one.
#[test]
fn a_server_outside_the_run_fails_the_run() {
    let world = World::new(&[]);
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let port = listener.local_addr().expect("an address").port().to_string();
    std::thread::spawn(move || listener.incoming().collect::<Vec<_>>());
    let out = world.path("out").display().to_string();
    let measure =
        ["measure", "-n", "20", "-r", "1", "--connect", &port, "--ready-when", "up", "-o", &out, "--"];
    world
        .run(world.command(&[&measure[..], &["/bin/sh", "-c", "echo up; exec sleep 60"]].concat()))
        .expect_code(1);
    let samples = world.runs("out");
    let reason = samples[0].reason.as_deref().unwrap_or_default();
    assert!(
        samples[0].status == Status::Failed && reason.contains("outside of the run listens"),
        "{samples:#?}"
    );
    world.assert_nothing_left();
}

#[test]
fn early_done_and_invalid_counts_are_failures() {
    let world = World::new(&[]);
    let Some(program) = programs(&world) else { return };
    let program = program.display().to_string();
    let text = world.manifest_of(&entries(&program, "sleep", &["done-at-once", "signed"]));
    std::fs::write(world.manifest(), text).expect("a manifest");
    world.run(world.campaign("out", "-n 10 -r 1")).expect_code(1);
    for (entry, sample) in world.samples("out") {
        let said = if entry == "signed" { "printed \"alive +10\"" } else { "printed `done 10` after" };
        assert_eq!(sample.status, Status::Failed, "{sample:#?}");
        assert!(sample.reason.as_ref().is_some_and(|reason| reason.contains(said)), "{sample:#?}");
    }
    // The same with black-box programs.
    for (case, words) in [("done-at-once", "printed `done`"), ("signed", "protocol error")] {
        let out = world.path(case).display().to_string();
        let words_of = ["measure", "-n", "10", "-r", "1", "-o", &out, "--", &program, case, "{tasks}", "9"];
        world.run(world.command(&words_of)).expect_code(1);
        let samples = world.runs(case);
        assert!(samples[0].reason.as_ref().is_some_and(|reason| reason.contains(words)), "{samples:#?}");
    }
    world.assert_nothing_left();
}
