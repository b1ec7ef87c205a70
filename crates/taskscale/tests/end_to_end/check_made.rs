//! `taskscale check` of programs that print what a right one prints and make no task, and of findings that stand
//! beside each other.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;

use crate::support::{FakeEntry, World, on_path, skipped};

fn compiled(world: &World) -> Option<PathBuf> {
    if !on_path("cc") {
        skipped("no C compiler is here");
        return None;
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/end_to_end/attacks/fakes.c");
    let program = world.path("bin/fakes");
    let compiled = Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status();
    assert!(compiled.expect("cc").success());
    Some(program)
}

/// What `check` finds of an entry that has one program, each as `severity rule: what`.
fn found(workload: &'static str, more: &str) -> Option<(i32, Vec<String>)> {
    let world = World::new(&[]);
    let program = compiled(&world)?.display().to_string();
    let mut entry = FakeEntry::new("lies", "").program(&program).more(more);
    (entry.waits, entry.flags) = (Some(workload), vec![workload.to_owned()]);
    std::fs::write(world.manifest(), world.manifest_of(&[entry])).expect("a manifest");
    let finished = world.run(world.command(&["check", "@all", "--json"]));
    world.assert_nothing_left();
    let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:?}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let findings = json["entries"][0]["findings"].as_array().expect("findings").iter();
    let of = |found: &Value| {
        format!("{} {}: {}", text(&found["severity"]), text(&found["rule"]), text(&found["what"]))
    };
    Some((finished.code(), findings.map(of).collect()))
}

#[test]
fn programs_that_make_no_task_are_not_good() {
    let cases = [
        ("sleep", "error made", "starting and ending 100k tasks took"),
        ("state", "error made", "starting and ending 100k tasks took"),
        ("tick", "error made", "its threads waited"),
        ("spawn", "error work", "is too little"),
        ("map", "error work", "is too little"),
    ];
    std::thread::scope(|scope| {
        for (workload, rule, words) in cases {
            scope.spawn(move || {
                let Some((code, found)) = found(workload, "") else { return };
                let is_it = |found: &String| found.starts_with(rule) && found.contains(words);
                assert!(found.iter().any(is_it) && code == 1, "{workload}: {code} {found:#?}");
            });
        }
    });
}

/// What nobody can see from outside is an error, unless the manifest says why.
#[test]
fn what_cannot_be_confirmed_needs_a_reason() {
    for (why, code, severity) in [(None, 1, "error"), (Some("its operations wait for a device"), 0, "note")] {
        let world = World::new(&[]);
        let text = world.manifest_of(&[FakeEntry::of_work("waits", "--op-sleep-us 500 --op-cpu-us 1")]);
        let why = why.map(|why| format!("unconfirmed = {why:?}, ")).unwrap_or_default();
        let text = text.replace("workloads.spawn = { ", &format!("workloads.spawn = {{ {why}"));
        std::fs::write(world.manifest(), text).expect("a manifest");
        std::fs::write(world.path("catalog/fake/README.md"), "# Scripted: waits\n").expect("a file");
        let finished = world.run(world.command(&["check", "@all", "--json"]));
        let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:?}"));
        let findings = json["entries"][0]["findings"].as_array().expect("findings");
        let open: Vec<&Value> = findings.iter().filter(|found| found["rule"] == "unconfirmed").collect();
        assert!(open.len() == 1 && open[0]["severity"] == severity, "{findings:#?}");
        finished.expect_code(code);
        world.assert_nothing_left();
    }
}
