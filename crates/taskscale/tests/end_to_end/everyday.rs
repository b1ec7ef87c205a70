//! What a run shows while it measures: results on a terminal, events, verbose messages, the page.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use crate::support::{FakeEntry, Finished, World, skipped_as_starved, write_script};
use serde_json::Value;
use taskscale::record::Status;

fn events(finished: &Finished) -> Vec<Value> {
    finished
        .stderr
        .lines()
        .map(|line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {line}")))
        .collect()
}

fn names(events: &[Value]) -> Vec<&str> {
    events.iter().map(|event| event["event"].as_str().unwrap()).collect()
}

/// Each result appears above the progress bar as it arrives, and next steps at the end.
#[test]
fn results_appear_on_a_terminal_during_the_run() {
    let world = World::new(&[
        FakeEntry::new("one", "--anon-bytes-per-task 1KiB"),
        FakeEntry::new("two", "--anon-bytes-per-task 64KiB"),
        FakeEntry::new("crash", "--fault crash:plateau").kind("thread"),
    ]);
    let args = ["run", "@all", "--quick", "-n", "1k", "-o", "my results"];
    let Some(command) = world.on_terminal(100, &args, "") else { return };
    let run = world.run(command);
    run.expect_code(1);
    if world.any_starved("my results") {
        return skipped_as_starved();
    }
    // Overwritten text begins with a carriage return, and the progress bar follows the lines above it.
    let written: Vec<&str> =
        run.stdout.split(['\n', '\r']).filter_map(|text| text.split(['━', '─']).next()).collect();
    let place = |name: &str| {
        // The table at the end has bars as well, but no ranks.
        let line = written
            .iter()
            .find(|text| text.contains(name) && text.contains('█'))
            .copied()
            .unwrap_or_default();
        ["1st of 1", "1st of 2", "2nd of 2"].into_iter().find(|place| line.contains(place))
    };
    // Each campaign has a random order.
    let places = (place("fake/one"), place("fake/two"));
    let either = [(Some("1st of 1"), Some("2nd of 2")), (Some("1st of 2"), Some("1st of 1"))];
    assert!(either.contains(&places), "{places:?}: {}", run.stdout);
    assert!(run.stdout.contains("1k tasks"), "{}", run.stdout);
    let next = run.stdout.split("Next:").nth(1).unwrap_or_default();
    assert!(next.contains("taskscale report 'my results' --open"), "{}", run.stdout);
    assert!(next.contains("--base-entry fake/one --new-entry fake/two"), "{}", run.stdout);
    // Nothing of it appears in a pipe.
    let piped = world.run(world.campaign("piped", "-n 1k"));
    assert!(!piped.stderr.contains("Next:") && !piped.stderr.contains("1st of"), "{}", piped.stderr);
    world.assert_nothing_left();
}

#[test]
fn events_match_their_schema() {
    let world = World::new(&[
        FakeEntry::new("well", ""),
        FakeEntry::new("crash", "--fault crash:plateau"),
        FakeEntry::new("unbuilt", "").more("build = [[\"false\"]]"),
    ]);
    let schema = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../schema/event.schema.json");
    let schema: Value = serde_json::from_slice(&fs::read(schema).unwrap()).unwrap();
    let schema = jsonschema::validator_for(&schema).unwrap();
    let valid = |events: &[Value]| {
        for event in events {
            let errors: Vec<String> = schema.iter_errors(event).map(|error| error.to_string()).collect();
            assert!(errors.is_empty(), "{errors:?}: {event}");
        }
    };
    let run = world.run(world.campaign("out", "-n 2 --json --verbose"));
    run.expect_code(1);
    let told = events(&run);
    valid(&told);
    let is = |name: &str| told.iter().filter(|event| event["event"] == name).collect::<Vec<_>>();
    assert_eq!(is("build").len(), 6);
    let states: Vec<&str> = is("build").iter().map(|build| build["state"].as_str().unwrap()).collect();
    assert_eq!(states.iter().filter(|state| **state == "failed").count(), 1, "{states:?}");
    assert_eq!((is("plan").len(), is("plan")[0]["runs"].as_u64()), (1, Some(2)));
    assert!(is("warm-up").len() == 2 && is("run-started").len() >= 2);
    let statuses: Vec<&str> =
        is("run-ended").iter().map(|ended| ended["sample"]["status"].as_str().unwrap()).collect();
    assert!(statuses.contains(&"crashed"), "{statuses:?}");
    let details = is("message").into_iter().filter(|message| message["level"] == "detail");
    let details: Vec<&str> = details.map(|message| message["text"].as_str().unwrap()).collect();
    for expected in ["asking for the version", "running ", "building "] {
        assert!(details.iter().any(|text| text.starts_with(expected)), "{expected}: {details:?}");
    }
    assert_eq!(names(&told).last(), Some(&"end"));
    assert_eq!(told.last().unwrap()["exit_code"], 1);
    // Standard output still has the result.
    assert!(run.stdout.contains("fake/well"), "{}", run.stdout);

    for (args, code) in [
        (["run", "nosuch", "--json"], 2),
        (["report", "nowhere", "--json"], 2),
        (["run", "--jsn", "--json"], 2),
    ] {
        let refused = world.run(world.command(&args));
        refused.expect_code(code);
        let told = events(&refused);
        valid(&told);
        assert_eq!(names(&told), ["error", "end"]);
    }
    let built = world.run(world.command(&["build", "fake/well", "--json"]));
    let told = events(&built);
    valid(&told);
    assert_eq!(names(&told), ["build", "build", "end"]);
    // A schema that accepts anything would prove nothing.
    assert!(!schema.is_valid(&serde_json::json!({"schema": 1, "at": "", "event": "plan"})));
}

#[test]
fn verbose_reports_actions_and_quiet_only_errors() {
    let world = World::new(&[FakeEntry::new("well", "").more("build = [[\"true\"]]")]);
    let verbose = world.run(world.campaign("out", "-n 2 --verbose"));
    verbose.expect_good(&world.runs("out"));
    for expected in
        ["· building fake/well", "· asking for the version", "· wait ", "bin/fake-entry 2 1", "cgroup"]
    {
        verbose.expect_said(expected);
    }
    // Only the result, as another tool reads it.
    let quiet = world.run(world.campaign("other", "-n 2 --quiet --format bencher"));
    let good = world.runs("other").iter().all(|sample| sample.status == Status::Ok);
    assert_eq!((good, &*quiet.stderr), (good, if good { "" } else { &*quiet.stderr }));
    if good {
        let value: Value = serde_json::from_str(&quiet.stdout).expect("JSON and nothing else");
        assert!(value["fake/well sleep 2"]["footprint-bytes"]["value"].is_number(), "{value}");
    }
    // Errors are printed all the same.
    world
        .run(world.command(&["run", "nosuch", "--quiet"]))
        .expect_code(2)
        .expect_said("error: no entry `nosuch`");
}

#[test]
fn campaign_ends_with_a_page_or_a_warning() {
    let world = World::new(&[FakeEntry::new("goroutine", ""), FakeEntry::new("thread", "--fault failed:1")]);
    let finished = world.run(world.campaign("out", "-n 2"));
    let page = world.path("out/report.html");
    finished.expect_code(1).expect_said(&format!("report: {}", page.display()));
    let text = fs::read_to_string(&page).unwrap();
    assert!(text.starts_with("<!doctype html>") && text.contains("fake/goroutine"), "{}", text.len());
    assert!(!text.contains("@@TASKSCALE") && !world.path("out/report.html.new").exists());
    // The same from the stored campaign, on standard output.
    let folder = world.path("out").display().to_string();
    let again = world.run(world.command(&["report", &folder, "--format", "html"]));
    assert_eq!(again.expect_code(0).stdout, text);

    fs::remove_file(&page).unwrap();
    fs::create_dir(&page).unwrap();
    let finished = world.run(world.campaign("out", "-n 2"));
    finished.expect_code(1).expect_said("warning: no page (");
    assert!(finished.stdout.contains("fake/goroutine"), "{}", finished.stdout);
    world.assert_nothing_left();
}

/// Relative paths work although programs run in other folders.
#[test]
fn relative_paths_resolve_from_the_working_directory() {
    let world = World::new(&[]);
    let entry = FakeEntry::new("script", "").program("{src}/script");
    let script = world.path("catalog/fake/script");
    write_script(&script, &format!("#!/bin/sh\nexec {} \"$@\"\n", world.fake().display()));
    fs::write(world.manifest(), world.manifest_of(&[entry])).unwrap();
    let mut command = Command::new(world.path("bin/taskscale"));
    command
        .args(["@all", "--quick", "-n", "2", "-o", "out", "--catalog", "catalog"])
        .current_dir(world.path(""));
    command.env("TASKSCALE_CACHE", "cache").env("TASKSCALE_LOCK", "lock");
    command.env("TMPDIR", world.path("tmp")).env("XDG_RUNTIME_DIR", world.path("run"));
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    let finished = world.run(command);
    finished.expect_good(&world.runs("out"));
    assert_eq!(world.runs("out").len(), 1);
    world.assert_nothing_left();
}
