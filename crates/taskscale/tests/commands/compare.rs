//! `taskscale compare` as a gate: exit codes, and what is refused.

use std::fs;

use serde_json::Value;
use taskscale::catalog::Kind;

use crate::support::stored::{Results, results, store};
use crate::support::{Finished, World};

const TASKS: [u64; 2] = [1, 20_000];

/// Three entries: the second takes 30% more memory per task than the first, and the third crashes.
fn measured(repetitions: u32) -> Results {
    let entries = [
        ("fake/base", Kind::Stackless, Some(960)),
        ("fake/more", Kind::Stackless, Some(1_248)),
        ("fake/broken", Kind::Stackless, None),
    ];
    results(&entries, &TASKS, repetitions)
}

fn world() -> World {
    let world = World::new(&[]);
    for (folder, repetitions) in [("five", 5), ("again", 5), ("two", 2)] {
        store(&world.path(folder), &measured(repetitions));
    }
    world
}

fn compare(world: &World, args: &str) -> Finished {
    let args: Vec<&str> = std::iter::once("compare").chain(args.split_whitespace()).collect();
    let mut command = world.command(&args);
    command.current_dir(world.path(""));
    world.run(command)
}

#[test]
fn regressions_and_inconclusive_results_fail_the_gate() {
    let world = world();
    let more = "--base-entry fake/base --new-entry fake/more -m bytes-per-task";
    for (args, code) in [
        // The same results.
        ("five again --fail-above 20%".to_owned(), 0),
        (format!("five {more}"), 0),
        (format!("five {more} --fail-above 20%"), 1),
        (format!("five {more} --fail-above 40%"), 0),
        // In the other direction, it is an improvement, however large.
        ("five --base-entry fake/more --new-entry fake/base -m bytes-per-task --fail-above 0%".to_owned(), 0),
        // Two repetitions are inconclusive.
        (format!("two {more} --fail-above 5%"), 3),
        (format!("two {more} --fail-above 5% --allow-missing"), 3),
        (format!("two {more}"), 0),
        // A new failure is a regression at any threshold.
        ("five --base-entry fake/base --new-entry fake/broken --fail-above 50%".to_owned(), 1),
    ] {
        let finished = compare(&world, &args);
        assert_eq!(finished.code(), code, "{args}: {}{}", finished.stdout, finished.stderr);
        if code == 1 {
            finished.expect_said("regression").expect_said("fake/base");
        }
    }
    let json = compare(&world, &format!("five {more} --format json"));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let cells = json["cells"].as_array().unwrap();
    let cell = cells.iter().find(|cell| cell["metric"] == "bytes-per-task").expect("a cell");
    assert_eq!(cell["verdict"], "larger");
    assert!((cell["ratio"].as_f64().unwrap() - 1.3).abs() < 0.01, "{cell}");
}

#[test]
fn unmeasured_planned_cases_fail_the_gate() {
    let world = world();
    let (campaign, samples) = measured(5);
    let cut = samples.into_iter().filter(|sample| sample.tasks == 1).collect();
    store(&world.path("cut"), &(campaign, cut));
    compare(&world, "five cut --fail-above 50%").expect_code(1);
    compare(&world, "five cut --fail-above 50% --allow-missing").expect_code(0);
    compare(&world, "cut five --fail-above 50%").expect_code(3);
}

#[test]
fn different_machines_and_duplicate_records_are_refused() {
    let world = world();
    let campaign = world.path("again/campaign.json");
    let text = fs::read_to_string(&campaign).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["machine"]["kernel"] = "0.0.1".into();
    fs::write(&campaign, other.to_string()).unwrap();
    compare(&world, "five again").expect_code(2).expect_said("kernel").expect_said("--across");
    compare(&world, "five again --across --fail-above 20%").expect_code(0);
    fs::write(&campaign, text).unwrap();
    let samples = world.path("again/samples.jsonl");
    let text = fs::read_to_string(&samples).unwrap();
    fs::write(&samples, format!("{text}{}\n", text.lines().next().unwrap())).unwrap();
    compare(&world, "five again").expect_code(2).expect_said("twice");
}
