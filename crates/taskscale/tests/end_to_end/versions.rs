//! Entries in versions: of a toolchain whose versions take different memory, and of a pinned library.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::support::{FakeEntry, World, skipped_as_starved, write_script};

/// A script at a path.
fn script(path: &Path, text: &str) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    write_script(path, &format!("#!/bin/sh\n{text}\n"));
}

/// A world with versions of a toolchain, each with the bytes that its tasks take.
fn world(versions: &[(&str, &str)]) -> World {
    let world = World::new(&[]);
    for (version, bytes) in versions {
        let fake = world.fake().display().to_string();
        let text = format!(
            "[ \"$1\" = --version ] && echo tool {version} && exit\nexec {fake} --anon-bytes-per-task \"{bytes}\" \"$@\""
        );
        script(&world.path(&format!("tools/{version}/bin/tool")), &text);
    }
    let entry = FakeEntry::new("plain", "").program("tool");
    let manifest = world.manifest_of(&[entry]).replace(
        "\n\n[[entry]]",
        &format!(
            "\n\n[versions]\nprogram = \"bin/tool\"\nfolders = [\"{}/*\"]\ninstall = \"get tool {{version}}\"\n\n[[entry]]",
            world.path("tools").display()
        ),
    );
    let command = format!("version = [{:?}, \"--version\"]", world.fake().display().to_string());
    fs::write(world.manifest(), manifest.replace(&command, "version = [\"tool\", \"--version\"]")).unwrap();
    world
}

#[test]
fn versions_are_entries_and_bisect_finds_the_step() {
    let world = world(&[("1.0.3", "1KiB"), ("1.1.0", "1KiB"), ("1.2.5", "1KiB"), ("1.3.0", "4KiB")]);
    let folder = world.path("out/run").display().to_string();
    let words = ["run", "fake/plain@1.0,1.3", "--quick", "-n", "1k,10k", "-o", &folder];
    let finished = world.run(world.command(&words));
    if world.any_starved("out") {
        assert!([0, 1].contains(&finished.code()), "{finished:?}");
        return skipped_as_starved();
    }
    finished.expect_code(0);
    assert!(finished.stdout.contains("what changed"), "{finished:?}");
    let found: BTreeMap<String, BTreeMap<String, String>> = world
        .load("out/run")
        .campaign
        .entries
        .into_iter()
        .map(|facts| (facts.name, facts.versions))
        .collect();
    let versions = |version: &str| BTreeMap::from([("fake".to_owned(), version.to_owned())]);
    let expected = [("fake/plain@1.0", versions("1.0.3")), ("fake/plain@1.3", versions("1.3.0"))];
    assert_eq!(found, expected.map(|(name, versions)| (name.to_owned(), versions)).into());
    for sample in world.runs("out/run") {
        assert_eq!(sample.versions, found[&*sample.entry], "{}", sample.entry);
    }

    let folder = world.path("out/bisect").display().to_string();
    let words = ["--json", "bisect", "fake/plain@1.0..1.3", "-n", "1k,10k", "-o", &folder];
    let finished = world.run(world.command(&words));
    if world.any_starved("out") {
        assert!([0, 1].contains(&finished.code()), "{finished:?}");
        return skipped_as_starved();
    }
    finished.expect_code(0);
    let report: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{report:#}");
    assert_eq!((&steps[0]["from"], &steps[0]["to"]), (&"1.2".into(), &"1.3".into()), "{report:#}");
    assert_eq!(steps[0]["verdict"], "larger", "{report:#}");
    world.assert_nothing_left();
}

/// Memory that is not linear has no bytes per task to compare. A version that fails has nothing to compare at
/// all.
#[test]
fn nonlinear_memory_is_bisected_at_the_largest_count() {
    let grows = |small: &str, large: &str| format!("$(test $1 -gt 5000 && echo {large} || echo {small})");
    let (less, more, fails) = (grows("1KiB", "4KiB"), grows("1KiB", "8KiB"), grows("1KiB", "no size"));
    let world = world(&[("1.0.3", &less), ("1.1.0", &more), ("1.2.5", &fails)]);
    let folder = world.path("out").display().to_string();
    let words = ["--json", "bisect", "fake/plain@1.0..1.2", "-n", "1k,4k,10k", "-o", &folder];
    let finished = world.run(world.command(&words));
    if world.any_starved("out") {
        assert!([0, 1].contains(&finished.code()), "{finished:?}");
        return skipped_as_starved();
    }
    finished.expect_code(0);
    let report: Value =
        serde_json::from_str(&finished.stdout).unwrap_or_else(|error| panic!("{error}: {finished:?}"));
    assert_eq!(report["metric"], "footprint", "{report:#}");
    let steps = report["steps"].as_array().unwrap();
    assert_eq!(steps.len(), 1, "{report:#}");
    assert_eq!((&steps[0]["from"], &steps[0]["to"]), (&"1.0".into(), &"1.1".into()), "{report:#}");
    let [low, high, why] = &report["unclear"][0].as_array().unwrap()[..] else { panic!("{report:#}") };
    assert_eq!((low, high), (&"1.1".into(), &"1.2".into()), "{report:#}");
    assert!(why.as_str().unwrap().starts_with("10k tasks: 3/3 ok, then"), "{report:#}");
}

#[test]
fn missing_versions_are_errors_with_available_ones() {
    let world = world(&[("1.0.3", "1KiB"), ("1.1.0", "1KiB")]);
    for (word, why) in [
        ("fake/plain@2", "Scripted 2 is not installed (found: 1.0.3, 1.1.0)"),
        ("fake/plain@lib=2", "fake/plain does not use `lib`"),
        ("fake/plain@1.x", "`1.x` is no version"),
        ("fake/plian@1.0", "no entry `fake/plian`"),
    ] {
        let finished = world.run(world.command(&["run", word, "-n", "1"]));
        finished.expect_code(2);
        assert!(finished.stderr.contains(why), "{word}: {}", finished.stderr);
    }
    let finished = world.run(world.command(&["--json", "versions"]));
    finished.expect_code(0);
    let all: Value = serde_json::from_str(&finished.stdout).unwrap();
    let installed = all[0]["installed"].as_array().unwrap();
    let versions: Vec<&str> = installed.iter().filter_map(|one| one["version"].as_str()).collect();
    assert_eq!(versions, ["1.0.3", "1.1.0"], "{all:#}");
}

#[test]
fn libraries_are_pinned_in_a_copy() {
    let world = World::new(&[]);
    let start = world.path("catalog/fake/start.sh");
    let fake = world.fake().display().to_string();
    script(&start, &format!("cd \"$(dirname \"$0\")\" && exec {fake} \"$@\""));
    fs::write(world.path("catalog/fake/need.txt"), "lib = 9\n").unwrap();
    fs::write(world.path("catalog/fake/lock"), "lib 9.4.0\n").unwrap();
    let entry = FakeEntry::new("plain", "")
        .program("{src}/start.sh")
        .more("library = { name = \"lib\", file = \"lock\", version = 'lib ([0-9.]+)' }");
    let pin = "\n\n[library.lib]\nfiles = \"need.txt\"\nrequirement = 'lib = (.*)'\nexact = \"={version}\"\n\
               resolve = [[\"sh\", \"-c\", \"test {version} != 3 && sed 's/lib = =/lib /; s/$/.7/' need.txt > lock\"]]\n\
               releases = [\"echo\", \"1.5.0, 2.0.0-rc.1, 2.1.0\"]\n\n[[entry]]";
    let manifest = world.manifest_of(&[entry]).replace("\n\n[[entry]]", pin);
    fs::write(world.manifest(), manifest).unwrap();
    let folder = world.path("out").display().to_string();
    let words = ["run", "fake/plain@lib=1.2,3,latest", "--quick", "-n", "10", "-o", &folder];
    let finished = world.run(world.command(&words));
    // A version that cannot be resolved is recorded, and the others are measured.
    finished.expect_code(1);
    let loaded = world.load("out");
    let versions: Vec<(String, Option<String>, bool)> = loaded
        .campaign
        .entries
        .iter()
        .map(|facts| (facts.name.clone(), facts.versions.get("lib").cloned(), facts.unavailable.is_some()))
        .collect();
    let expected = [
        ("fake/plain@lib=1.2", Some("1.2.7"), false),
        ("fake/plain@lib=3", None, true),
        ("fake/plain@lib=9.4.0", Some("9.4.0.7"), false),
    ];
    let expected = expected.map(|(name, version, gone)| (name.to_owned(), version.map(str::to_owned), gone));
    assert_eq!(versions, expected, "{finished:?}");
    assert_eq!(
        fs::read_to_string(world.path("catalog/fake/lock")).unwrap(),
        "lib 9.4.0\n",
        "the sources stay"
    );

    // The series of the range that the package manager lists.
    let folder = world.path("bisect").display().to_string();
    let words = ["--json", "bisect", "fake/plain@lib=1..3", "-n", "1k,10k", "-o", &folder];
    let finished = world.run(world.command(&words));
    if world.any_starved("bisect") {
        return skipped_as_starved();
    }
    finished.expect_code(0);
    let report: Value = serde_json::from_str(&finished.stdout).unwrap();
    let measured = report["measured"].as_array().unwrap().iter().map(|one| one[0].as_str().unwrap());
    assert_eq!(measured.collect::<Vec<_>>(), ["1", "2"], "{report:#}");
    assert_eq!(report["skipped"], Value::Array(Vec::new()), "{report:#}");
    world.assert_nothing_left();
}
