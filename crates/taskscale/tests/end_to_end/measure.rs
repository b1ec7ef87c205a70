//! `taskscale measure` of programs that know nothing of taskscale, well-behaved and not, with its options.

use std::fs;
use std::net::TcpListener;
use std::process::Command;

use crate::support::{
    Finished, ReservedPort, World, assert_harmless, is_root, list, skipped, skipped_as_starved, was_starved,
    write_script,
};
use taskscale::record::{self, PlateauFrom, Sample, Status, Warning};
use taskscale_measure::{RunEvent, TimedEvent, read_trace};

const MIB: u64 = 1 << 20;

/// `taskscale measure OPTIONS -o DIR -- fake-entry FLAGS`, both as they are typed.
fn command(world: &World, folder: &str, options: &[&str], flags: &str) -> Command {
    let (folder, fake) = (world.path(folder).display().to_string(), world.fake().display().to_string());
    // On a busy machine, it takes long until a program is seen to be idle.
    let mut args = vec!["measure", "-o", &folder, "--memory-cap", "512MiB", "--settle", "60s"];
    args.extend(options);
    args.extend(["--", &fake]);
    args.extend(flags.split_whitespace());
    world.command(&args)
}

/// Measures one repetition, and checks that nothing is left behind.
fn measured(world: &World, folder: &str, options: &[&str], flags: &str) -> (Finished, Vec<Sample>) {
    let finished = world.run(command(world, folder, &[options, &["-r", "1"]].concat(), flags));
    world.assert_nothing_left();
    let samples = if world.path(folder).join("campaign.json").exists() {
        world.load(folder).samples
    } else {
        Vec::new()
    };
    (finished, samples)
}

/// The last attempt of the one run, which ended with this code: 0 for a good program.
#[track_caller]
fn one((finished, samples): (Finished, Vec<Sample>), code: i32) -> Sample {
    let runs = record::last_attempts(&samples);
    assert_eq!(runs.len(), 1, "{finished:?}");
    match code {
        0 => finished.expect_good(runs.iter().copied()),
        code => finished.expect_code(code),
    };
    runs[0].clone()
}

/// Checks the sample of a program that was stopped after its plateau. False if it was CPU-starved, so that
/// nothing is known.
#[track_caller]
fn stood(sample: &Sample, from: PlateauFrom) -> bool {
    if was_starved(sample) {
        return false;
    }
    assert_eq!((sample.status, sample.reason.as_deref()), (Status::Ok, None));
    assert_eq!((sample.plateau_from, sample.stopped), (Some(from), true));
    assert!(sample.time.plateau_s >= Some(1.0), "{:?}", sample.time);
    assert!(sample.memory.plateau.is_some());
    true
}

fn footprint(sample: &Sample) -> u64 {
    sample.memory.plateau.as_ref().expect("a plateau").footprint_bytes
}

#[track_caller]
fn assert_reason(sample: &Sample, status: Status, parts: &[&str]) {
    let reason = sample.reason.as_deref().unwrap_or_default();
    assert_eq!(sample.status, status, "{reason}");
    for part in parts {
        assert!(reason.contains(part), "{part:?} is not in {reason:?}");
    }
}

#[test]
fn protocol_programs_are_measured_like_entries() {
    let world = World::new(&[]);
    let sample = one(measured(&world, "ok", &["-n", "7"], "{tasks} {seconds} --say metric,rate,2.5,x"), 0);
    assert_eq!(sample.plateau_from, Some(PlateauFrom::Protocol));
    assert_eq!((sample.alive, sample.done, sample.exit_code), (Some(7), Some(7), Some(0)));
    assert!(!sample.stopped && sample.hold_s >= 2.0 && sample.time.drain_s.is_some(), "{sample:?}");
    assert_eq!(sample.metrics["rate"].value, 2.5);
    let sample = one(measured(&world, "stopped", &["-n", "7"], "{tasks} 100"), 0);
    stood(&sample, PlateauFrom::Protocol);
    assert_eq!((sample.alive, sample.done, sample.hold_s), (Some(7), None, 0.0));
    assert_eq!(sample.signal, Some(libc::SIGTERM));
}

#[test]
fn a_plateau_and_growth_are_found_from_outside() {
    let world = World::new(&[]);
    let flags = "{tasks} 100 --no-protocol --anon-bytes-per-task 8192";
    let finished = world.run(command(&world, "out", &["-n", "1,1k,5k", "-r", "2"], flags));
    world.assert_nothing_left();
    let samples = world.runs("out");
    finished.expect_good(&samples);
    assert_eq!(samples.len(), 6);
    let seen = samples.iter().filter(|sample| stood(sample, PlateauFrom::Outside)).count();
    assert!(samples.iter().all(|sample| sample.alive.is_none() && &*sample.entry == "fake-entry"));
    assert_harmless("the table and the chart", &finished.stdout);
    if seen < samples.len() {
        return skipped_as_starved();
    }
    // 8,192 bytes and two entries of a page table for each task.
    let report =
        world.run(world.command(&["report", &world.path("out").display().to_string(), "--format", "json"]));
    let report: serde_json::Value = serde_json::from_str(&report.stdout).unwrap();
    let per_task = report["growth"][0]["bytes_per_task"].as_f64().unwrap();
    assert!((per_task - 8208.0).abs() < 82.0, "{per_task}");
    assert_eq!(report["plateaus"][0]["alive_unknown"], 6);
}

/// A program that throttles itself to 1% of a CPU, with its own cgroup.
#[test]
fn a_throttled_program_is_not_idle() {
    let world = World::new(&[]);
    let group =
        std::path::Path::new("/sys/fs/cgroup/cpu").join(format!("taskscale-test-{}", std::process::id()));
    if !is_root() || fs::create_dir(&group).is_err() {
        return skipped("there is no control group of version 1 for CPU time that may be made here");
    }
    let held = world.path("held");
    let script = format!(
        "#!/bin/sh\necho 100000 > {0}/cpu.cfs_period_us && echo 1000 > {0}/cpu.cfs_quota_us && echo $$ > \
         {0}/cgroup.procs && exec {1} \"$@\"\n",
        group.display(),
        world.fake().display()
    );
    write_script(&held, &script);
    let folder = world.path("out").display().to_string();
    let mut command = world.command(&["measure", "-r", "1", "--settle", "3s", "-o", &folder, "--"]);
    command.arg(&held).args("1 100 --no-protocol --burn-percent 100".split(' '));
    let finished = world.run(command);
    world.assert_nothing_left();
    // An ended process may keep the cgroup busy a moment longer.
    world.until("nothing is left in the group", || fs::remove_dir(&group).is_ok());
    let sample = one((finished, world.load("out").samples), 1);
    assert_eq!(sample.status, Status::NoPlateau, "{:?}", sample.reason);
    assert!(sample.warnings.contains(&Warning::CpuStarved), "{sample:?}");
}

/// The program stops the launcher, which cannot report its end until taskscale resumes it.
#[test]
fn exit_code_is_reported_despite_a_stopped_launcher() {
    let world = World::new(&[]);
    let flags = "1 2 --no-protocol --fault signal-parent:plateau:STOP --fault exit:plateau:4";
    let traces = world.path("traces").display().to_string();
    world.run(command(&world, "out", &["-r", "1", "--trace", &traces], flags)).expect_code(1);
    world.assert_nothing_left();
    assert_reason(&world.runs("out")[0], Status::Failed, &["exited with code 4 after"]);
    let files = list(&world.path("traces"));
    assert!(!files.is_empty());
    for file in files {
        let (_, timeline) = read_trace(&file).unwrap();
        let before_end = |event: &&TimedEvent| !matches!(event.event, RunEvent::Ended(_));
        let mut until_end = timeline.events().iter().take_while(before_end);
        assert!(until_end.any(|event| event.event == RunEvent::Asked), "{:?}", timeline.events());
    }
}

#[test]
fn programs_with_much_output_are_measured() {
    let world = World::new(&[]);
    let sample = one(measured(&world, "much", &[], "1 100 --no-protocol --fault flood:20MiB"), 0);
    stood(&sample, PlateauFrom::Outside);
    assert!(!sample.warnings.contains(&Warning::StrayOutput), "{:?}", sample.warnings);
}

#[test]
fn all_descendants_are_measured_and_killed() {
    let world = World::new(&[]);
    let flags = "1 100 --no-protocol --processes 2 --grandchildren 2 --anon-bytes-per-process 10MiB";
    let sample = one(measured(&world, "out", &[], flags), 0);
    if stood(&sample, PlateauFrom::Outside) {
        assert_eq!(sample.processes, Some(5));
        assert!(footprint(&sample) > 40 * MIB, "{sample:?}");
    }
    // Processes with another parent and a session of their own are ended as well.
    let sample = one(measured(&world, "daemon", &[], "1 100 --no-protocol --fault daemon"), 0);
    stood(&sample, PlateauFrom::Outside);
}

#[test]
fn a_program_that_ignores_sigterm_is_killed_without_failure() {
    let world = World::new(&[]);
    let sample = one(measured(&world, "out", &[], "1 100 --no-protocol --fault ignore-term"), 0);
    stood(&sample, PlateauFrom::Outside);
    assert_eq!(sample.signal, Some(libc::SIGKILL));
}

#[test]
fn ready_line_delay_or_port_begins_the_plateau() {
    let world = World::new(&[]);
    // The line `alive 1` is a line like any other here, and its number of tasks is ignored.
    let line = ["--ready-when", "alive"];
    let sample = one(measured(&world, "line", &line, "1 100 --launch-ms 1200 --anon-bytes 8MiB"), 0);
    if stood(&sample, PlateauFrom::ReadyLine) {
        assert!(footprint(&sample) > 8 * MIB, "{sample:?}");
    }
    assert!(sample.time.launch_s > Some(1.2) && sample.alive.is_none(), "{sample:?}");
    // On standard error, and as a regular expression.
    let line = ["--ready-when", "/^fds [0-9 ]+$/"];
    let sample = one(measured(&world, "expression", &line, "1 100 --no-protocol --fault fd-dump"), 0);
    stood(&sample, PlateauFrom::ReadyLine);
    let after = ["--ready-after", "700ms"];
    let sample = one(measured(&world, "after", &after, "1 100 --no-protocol"), 0);
    stood(&sample, PlateauFrom::ReadyAfter);
    assert!(sample.time.launch_s >= Some(0.7), "{:?}", sample.time);
    let reserved = ReservedPort::on_loopback();
    let port = reserved.number;
    let tcp = ["--ready-tcp", &port.to_string()];
    let flags = format!("1 100 --no-protocol --launch-ms 600 --listen {port}");
    let sample = one(measured(&world, "tcp", &tcp, &flags), 0);
    stood(&sample, PlateauFrom::ReadyTcp);
    assert!(sample.time.launch_s >= Some(0.6), "{:?}", sample.time);
    // Another process listens there, which would be taken for the program.
    let listener = TcpListener::bind(("127.0.0.1", port)).unwrap();
    let (finished, samples) = measured(&world, "taken", &tcp, &flags);
    finished.expect_code(2).expect_said("already listens there");
    assert!(samples.is_empty() && !world.path("taken").exists());
    drop(listener);
}

#[test]
fn only_open_connections_are_alive() {
    let world = World::new(&[]);
    let reserved = ReservedPort::on_loopback();
    let port = reserved.number;
    let options = ["-n", "50", "--connect", &format!("127.0.0.1:{port}")];
    let flags = format!("1 100 --no-protocol --listen {port}");
    let sample = one(measured(&world, "all", &options, &flags), 0);
    if stood(&sample, PlateauFrom::LoadLine) {
        assert_eq!(sample.processes, Some(1), "the clients are in a group of their own");
    }
    assert_eq!(sample.alive, Some(50));
    // The first connection is that of the readiness check.
    let sample = one(measured(&world, "few", &options, &format!("{flags} --accept-most 21")), 1);
    assert_reason(&sample, Status::Partial, &["20 of 50 tasks were alive at once"]);
}

#[test]
fn the_load_starts_at_ready_and_is_not_counted() {
    let world = World::new(&[]);
    let fake = world.fake().display().to_string();
    let flags = "1 100 --no-protocol --launch-ms 300";
    let load = |folder: &str, with: &str, more: &[&str], code: i32| {
        let options = [&["-n", "3", "--with", with], more].concat();
        one(measured(&world, folder, &options, flags), code)
    };
    let sample = load("line", &format!("exec {fake} {{tasks}} 100 --anon-bytes 64MiB"), &[], 0);
    if stood(&sample, PlateauFrom::LoadLine) {
        assert!(footprint(&sample) < 16 * MIB, "{sample:?}");
    }
    assert_eq!(sample.alive, Some(3));
    assert!(sample.memory.peak_bytes < Some(16 * MIB), "{sample:?}");
    let command = sample.load_command.as_deref().unwrap();
    assert_eq!(command[..2], ["/bin/sh", "-c"]);
    assert!(command[2].contains(" 3 100 "), "{command:?}");
    let sample = load("after", "sleep 100; : {tasks}", &["--with-ready-after", "300ms"], 0);
    stood(&sample, PlateauFrom::LoadAfter);
    // The load's launcher is its parent.
    let sample = load("lost", "kill -9 $PPID; sleep 100; : {tasks}", &[], 1);
    assert_reason(&sample, Status::Failed, &["killed together with its launcher"]);
    // A load that ignores SIGTERM.
    let sample = load("stubborn", &format!("exec {fake} {{tasks}} 100 --fault ignore-term"), &[], 0);
    stood(&sample, PlateauFrom::LoadLine);
}

#[test]
fn the_load_is_not_counted_without_cgroups() {
    let mut world = World::new(&[]);
    world.env.insert("TASKSCALE_CGROUP".into(), "none".into());
    let with = format!("exec {} {{tasks}} 100 --anon-bytes 64MiB", world.fake().display());
    let options = ["-n", "3", "--with", &with];
    let sample = one(measured(&world, "out", &options, "1 100 --no-protocol --processes 1"), 0);
    if stood(&sample, PlateauFrom::LoadLine) {
        assert_eq!(sample.processes, Some(2));
        assert!(footprint(&sample) < 16 * MIB, "{sample:?}");
    }
}

#[test]
fn environment_folder_and_input_are_set() {
    let world = World::new(&[]);
    fs::create_dir(world.path("here")).unwrap();
    fs::write(world.path("here/input"), "hello\n").unwrap();
    let script = "read line; echo \"in=$line pwd=$PWD a=$A b=$B c=$C\" >&2; exit 9";
    let (folder, here) = (world.path("out").display().to_string(), world.path("here").display().to_string());
    let input = world.path("here/input").display().to_string();
    let run = |more: &[&str]| {
        let _ = fs::remove_dir_all(world.path("out"));
        let args = ["measure", "-r", "1", "-n", "4", "-o", &folder, "--cwd", &here, "--stdin", &input];
        let tail = ["--env", "A={tasks}", "--env", "B", "--", "sh", "-c", script];
        let mut command = world.command(&[&args, more, &tail].concat());
        command.env("B", "mine").env("C", "not yours");
        world.run(command).expect_code(1);
        let loaded = world.load("out");
        // Values of the caller's environment may be secrets.
        assert_eq!(loaded.campaign.entries[0].env.keys().collect::<Vec<_>>(), ["A"]);
        loaded.samples[0].stderr_tail.clone().unwrap_or_default()
    };
    assert_eq!(run(&[]), format!("in=hello pwd={here} a=4 b=mine c=\n"));
    assert_eq!(run(&["--keep-env"]), format!("in=hello pwd={here} a=4 b=mine c=not yours\n"));
    world.assert_nothing_left();
}

#[test]
fn the_same_command_resumes_and_another_is_refused() {
    let world = World::new(&[]);
    let gate = world.gate("out", 1);
    let folder = world.path("out").display().to_string();
    let mut args = vec!["measure", "-n", "1,2", "-r", "2", "--name", "mine/x", "-o", &folder];
    args.extend(["--timeout", "10m", "--", &gate.program, "{tasks}", "100"]);
    let run = || world.command(&args);
    let running = world.start(run());
    world.until("a sample is there", || world.sample_count("out") > 0);
    running.signal(libc::SIGINT);
    running.wait().expect_code(130).expect_said("resumes");
    world.assert_nothing_left();
    let _open = gate.open();
    let kept = world.load("out").samples;
    world.run(run()).expect_good(&world.runs("out"));
    assert_eq!(world.load("out").samples[..kept.len()], kept[..]);
    let runs = world.runs("out");
    let mut cells: Vec<_> = runs.iter().map(|s| (s.entry.as_ref(), s.tasks, s.repetition)).collect();
    cells.sort_unstable();
    assert_eq!(cells, [("mine/x", 1, 1), ("mine/x", 1, 2), ("mine/x", 2, 1), ("mine/x", 2, 2)]);
    let text = fs::read_to_string(&gate.program).unwrap();
    write_script(gate.program.as_ref(), &format!("{text}# changed\n"));
    world.run(run()).expect_code(2).expect_said("mine/x has changed");
}

/// The load has its own launcher and cgroup. Everything ends, however taskscale ends.
#[test]
fn loads_end_with_taskscale() {
    for signal in [libc::SIGINT, libc::SIGKILL] {
        let world = World::new(&[]);
        let with = format!("exec {} {{tasks}} 100 --processes 2", world.fake().display());
        let options = ["-n", "2", "--ready-after", "100ms", "--with", &with];
        let running = world.start(command(&world, "out", &options, "1 100 --no-protocol"));
        // The program, and the load with its two children.
        world.until("the load runs", || world.processes("fake-entry").len() >= 4);
        running.signal(signal);
        let finished = running.wait();
        if signal == libc::SIGINT {
            finished.expect_code(130);
        }
        world.until("all processes have ended", || {
            world.processes("fake-entry").is_empty() && world.processes("taskscale").is_empty()
        });
        // Folders that a killed taskscale left are removed by the next one.
        world.run(command(&world, "next", &["-r", "1"], "1 100")).expect_good(&world.runs("next"));
        world.assert_nothing_left();
    }
}

/// A server of a language's own library, which knows nothing of taskscale: each connection is a thread.
#[test]
fn python_http_server_is_measured() {
    let python = Command::new("python3").arg("--version").output();
    if !python.is_ok_and(|output| output.status.success()) {
        return skipped("python3 is not there");
    }
    let world = World::new(&[]);
    let reserved = ReservedPort::on_loopback();
    let port = reserved.number.to_string();
    let folder = world.path("out").display().to_string();
    let mut args = vec!["measure", "-n", "1,20", "-r", "1", "-o", &folder, "--connect", &port, "--"];
    args.extend(["python3", "-m", "http.server", "--bind", "127.0.0.1", &port]);
    world.run(world.command(&args)).expect_good(&world.runs("out"));
    world.assert_nothing_left();
    let mut samples = world.runs("out");
    samples.retain(|sample| !was_starved(sample));
    let threads: Vec<_> = samples.iter().map(|sample| (sample.tasks, sample.alive, sample.threads)).collect();
    let due = |(tasks, alive, threads): &(u64, Option<u64>, Option<u64>)| {
        (*alive, *threads) == (Some(*tasks), Some(tasks + 1))
    };
    assert!(threads.iter().all(due), "{threads:?}");
    assert!(samples.iter().all(|sample| &*sample.entry == "python3"));
}
