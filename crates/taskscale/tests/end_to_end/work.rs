//! Work from end to end: the cost of an operation that the program itself knows, interrupted campaigns,
//! workloads, CPUs.

use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;

use crate::support::{FakeEntry, World};
use taskscale::record::{Sample, Status, last_attempts};

/// Pairs of runs of one N and repetition: the single run that was long enough, and the doubled one.
fn pairs(samples: &[Sample]) -> Vec<[&Sample; 2]> {
    let mut by_run: BTreeMap<(&str, u64, u32), [Option<&Sample>; 2]> = BTreeMap::new();
    for sample in last_attempts(samples) {
        assert_eq!(sample.status, Status::Ok, "{sample:?}");
        let pair = by_run.entry((&sample.entry, sample.tasks, sample.repetition)).or_default();
        let place = &mut pair[usize::from(sample.is_double())];
        assert!(place.replace(sample).is_none(), "measured twice: {sample:?}");
    }
    by_run.into_values().map(|pair| pair.map(|sample| sample.expect("both runs of a pair"))).collect()
}

/// Time of an operation by one clock, in nanoseconds: the difference of a pair.
fn slope_ns(pair: [&Sample; 2], seconds: impl Fn(&Sample) -> f64) -> f64 {
    let [once, twice] = pair;
    let operations = |sample: &Sample| sample.work.as_ref().expect("work").operations;
    assert_eq!(operations(twice), 2 * operations(once));
    (seconds(twice) - seconds(once)) * 1e9 / operations(once) as f64
}

fn cpu_s(sample: &Sample) -> f64 {
    sample.work.as_ref().and_then(|work| work.cpu_s).expect("CPU of the work")
}

fn wall_s(sample: &Sample) -> f64 {
    sample.work.as_ref().and_then(|work| work.wall_s).expect("time of the work")
}

/// Every value of a key, at any depth.
fn values<'a>(json: &'a Value, key: &str, into: &mut Vec<&'a Value>) {
    match json {
        Value::Object(fields) => {
            into.extend(fields.get(key));
            fields.values().for_each(|value| values(value, key, into));
        }
        Value::Array(items) => items.iter().for_each(|value| values(value, key, into)),
        _ => {}
    }
}

/// The program counts its own CPU time over the same work, so that influences of the machine cancel.
#[test]
#[ignore = "nightly: needs an idle machine"]
fn operation_cost_matches_the_programs_own_measurement() {
    let world = World::new(&[
        FakeEntry::of_work("works", "--op-cpu-us 100 --launch-ms 100 --work-cpu-ms 40"),
        FakeEntry::of_work("waits", "--op-sleep-us 400"),
    ]);
    world.run(world.campaign("out", "-w spawn -n 1,1000 -r 2")).expect_code(0);
    world.assert_nothing_left();
    let wrong = wrong_costs(&world);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn wrong_costs(world: &World) -> Vec<String> {
    let loaded = world.load("out");
    let pairs = pairs(&loaded.samples);
    assert_eq!(pairs.len(), 2 * 2 * 2);
    let mut wrong = Vec::new();
    for pair in pairs {
        let what = format!("{} x {}: {pair:?}", pair[0].entry, pair[0].tasks);
        if &*pair[0].entry == "fake/works" {
            let (cpu_ns, own_ns) =
                (slope_ns(pair, cpu_s), slope_ns(pair, |sample| sample.metrics["work_cpu"].value));
            // The fixed cost of all runs cancels.
            if (own_ns / 100_000.0 - 1.0).abs() >= 0.02 || (cpu_ns / own_ns - 1.0).abs() >= 0.05 {
                wrong.push(format!("{cpu_ns} and {own_ns}: {what}"));
            }
        }
        for sample in pair {
            // Other load can only make it longer, by an unknown amount.
            let operations = sample.work.as_ref().map_or(0, |work| work.operations) as f64;
            let least_s = if &*sample.entry == "fake/works" { cpu_s(sample) } else { operations * 400e-6 };
            let wall_s = wall_s(sample);
            if !(0.98 * least_s..10.0 * least_s).contains(&wall_s) {
                wrong.push(format!("{wall_s} s of {least_s}: {what}"));
            }
        }
    }
    let folder = world.path("out").display().to_string();
    let report = world.run(world.command(&["report", &folder, "--format", "json"]));
    let json: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let mut found = Vec::new();
    values(&json, "cpu_ns_per_op", &mut found);
    let told = found.iter().filter_map(|value| value.as_f64().or_else(|| value["median"].as_f64()));
    if told.filter(|ns| (ns / 100_000.0 - 1.0).abs() < 0.05).count() != 2 {
        wrong.push(format!("one for each N: {found:?}"));
    }
    wrong
}

#[test]
fn work_resumes_without_repeating_runs() {
    let world = World::new(&[]);
    let gate = world.gate("out", 1);
    let entry = |name, flags| FakeEntry::of_work(name, flags).program(&gate.program);
    let entries = [entry("works", "--work --op-cpu-us 100"), entry("more", "--work --op-cpu-us 200")];
    std::fs::write(world.manifest(), world.manifest_of(&entries)).expect("a manifest");
    // Interrupted between the runs of a pair.
    let campaign = || world.campaign("out", "-w spawn -n 1,10 -r 1 --timeout 10m");
    let running = world.start(campaign());
    world.until("a sample is there", || world.sample_count("out") > 0);
    running.signal(libc::SIGINT);
    running.wait().expect_code(128 + libc::SIGINT).expect_said("resumes");
    world.assert_nothing_left();
    let _open = gate.open();
    let before = world.load("out").samples;
    world.run(campaign()).expect_code(0);
    let samples = world.load("out").samples;
    assert!(
        samples.len() > before.len() && samples[..before.len()] == before[..],
        "what was measured is kept"
    );
    let runs: BTreeSet<_> =
        samples.iter().map(|s| (&s.entry, s.tasks, s.repetition, s.is_double(), s.attempt)).collect();
    assert_eq!(runs.len(), samples.len(), "a run was measured twice: {runs:?}");
    assert_eq!(pairs(&samples).len(), 4);
    // Once all is measured, nothing is left to do.
    world.run(campaign()).expect_code(0);
    assert_eq!(world.load("out").samples.len(), samples.len());
    world.assert_nothing_left();
}

#[test]
fn programs_get_the_requested_cpus() {
    let world = World::new(&[FakeEntry::of_work("works", "--op-cpu-us 200")]);
    let all = std::thread::available_parallelism().expect("CPUs").get();
    world.run(world.campaign("one", "-w spawn -n 2 --cpus 1 --timeout 10m")).expect_code(0);
    world.run(world.campaign("all", "-w spawn -n 2 --timeout 10m")).expect_code(0);
    for (folder, cpus, seen) in [("one", Some(1), 1), ("all", None, all)] {
        for sample in world.load(folder).samples {
            assert_eq!((sample.cpus, sample.metrics["affinity"].value), (cpus, seen as f64), "{folder}");
        }
    }
    world.assert_nothing_left();
}

#[test]
fn workloads_share_one_results_folder() {
    let world =
        World::new(&[FakeEntry::new("both", "").and_work("--op-cpu-us 200"), FakeEntry::new("sleeps", "")]);
    let finished = world.run(world.campaign("out", "-w spawn,sleep -n 2 --timeout 10m"));
    let loaded = world.load("out");
    finished.expect_good(last_attempts(&loaded.samples)).expect_said("no `spawn` in fake/sleeps");
    let plans: Vec<_> = loaded.campaign.plans().map(|plan| plan.workload.as_str()).collect();
    assert_eq!(plans, ["sleep", "spawn"]);
    let of = |workload: &str| -> BTreeSet<&str> {
        let samples = loaded.samples.iter().filter(|sample| *sample.workload == *workload);
        samples.map(|sample| &*sample.entry).collect()
    };
    assert_eq!(of("sleep"), BTreeSet::from(["fake/both", "fake/sleeps"]));
    assert_eq!(of("spawn"), BTreeSet::from(["fake/both"]));
    for sample in &loaded.samples {
        let work = &*sample.workload == "spawn";
        assert_eq!((sample.work.is_some(), sample.hold_s > 0.0), (work, !work), "{sample:?}");
    }
    world.assert_nothing_left();
}
