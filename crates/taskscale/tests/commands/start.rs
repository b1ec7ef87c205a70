//! Before anything is measured: `--dry-run`, and the question on a terminal. Nothing is started or written.

use std::fs;

use serde_json::Value;

use crate::support::{FakeEntry, Finished, World};

/// Two programs of a catalog.
fn two() -> World {
    World::new(&[FakeEntry::new("base", ""), FakeEntry::new("more", "")])
}

#[test]
fn a_dry_run_starts_and_writes_nothing() {
    let world = two();
    let out = world.path("out").display().to_string();
    let before = world.snapshot();
    let dry =
        |more: &[&str]| {
            world.run(world.command(
                &[&["run", "@all", "-n", "1,20k", "-r", "2", "--quick", "--dry-run"], more].concat(),
            ))
        };
    let planned = dry(&["-o", &out]);
    planned.expect_code(0);
    assert!(planned.stdout.contains("8 runs and 2 warm-ups"), "{}", planned.stdout);
    assert!(planned.stdout.contains("\n~ "), "{}", planned.stdout);
    assert_eq!(world.snapshot(), before);
    // Not even for a version: a command that crashes would be reported.
    let mut manifest = fs::read_to_string(world.manifest()).unwrap();
    manifest = manifest.replacen("\"--version\"]", "\"--fault\", \"crash:launch\"]", 1);
    fs::write(world.manifest(), &manifest).unwrap();
    dry(&["-o", &out]).expect_code(0);
}

/// A dry run predicts which cases will hit a limit.
#[test]
fn a_dry_run_predicts_limits() {
    let world =
        World::new(&[FakeEntry::new("os", "").kind("thread"), FakeEntry::new("timer", "").kind("timer")]);
    let counts = ["-n", "2,1G"];
    let dry = world.run(world.command(&[&["run", "@all", "--dry-run"], &counts[..]].concat()));
    dry.expect_code(0);
    let line = dry.stdout.lines().find(|line| line.starts_with("  fake/os × 1G: limit: "));
    assert!(line.is_some_and(|line| line.contains(": room for ")), "{}", dry.stdout);
    assert!(!dry.stdout.contains("  fake/os × 2:"), "{}", dry.stdout);
    // Memory is a limit too: a billion timers of 200 bytes each.
    assert!(dry.stdout.contains("  fake/timer × 1G: killed-oom: "), "{}", dry.stdout);
    let json = world.run(world.command(&[&["run", "@all", "--dry-run", "-f", "json"], &counts[..]].concat()));
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let ending = json["will_end_at_a_limit"].as_array().unwrap();
    assert_eq!(ending.len(), 1, "{ending:?}");
    assert_eq!(
        (ending[0]["entry"].as_str(), ending[0]["tasks"].as_u64()),
        (Some("fake/os"), Some(1_000_000_000))
    );
}

/// `--quick` leaves out entries of other toolchains unless they are named.
#[test]
fn quick_skips_entries_of_other_toolchains() {
    let world =
        World::new(&[FakeEntry::new("own", ""), FakeEntry::new("other", "").more("toolchain = \"slow\"")]);
    let mut manifest = fs::read_to_string(world.manifest()).unwrap();
    let fake = world.fake().display().to_string();
    manifest.push_str(&format!(
        "[toolchain.slow]\ntitle = \"Slow\"\nversion = [{fake:?}, \"--version\"]\ninstall = {{ other = \"none\" }}\n"
    ));
    fs::write(world.manifest(), manifest).unwrap();
    let plan = |args: &[&str]| world.run(world.command(&[&["run", "--dry-run"], args].concat())).stdout;
    assert!(plan(&[]).contains("fake/other"));
    let quick = plan(&["--quick"]);
    assert!(quick.contains("fake/own") && !quick.contains("fake/other"), "{quick}");
    assert!(plan(&["--quick", "@posts"]).contains("fake/other"));
}

/// `taskscale` without arguments measures everything: on a terminal it shows the plan and asks.
#[test]
fn the_full_run_starts_only_after_confirmation() {
    let mut world = World::new(&[FakeEntry::new("unbuilt", "").more("build = [[\"false\"]]")]);
    let question = "Start? [Y/n]";
    let typed =
        |world: &World, args: &[&str], answer: &str| Some(world.run(world.on_terminal(80, args, answer)?));
    let Some(no) = typed(&world, &[], "n\n") else { return };
    no.expect_code(0);
    for said in [
        "taskscale measures 1 entry at N = 1, 10k, 100k, 1M",
        "12 runs, about",
        question,
        "Nothing was started.",
    ] {
        assert!(no.stdout.contains(said), "{said}: {}", no.stdout);
    }
    assert!(!no.stdout.contains("building") && !world.path("taskscale-results").exists(), "{}", no.stdout);
    // Without input, nothing is started.
    typed(&world, &[], "").unwrap().expect_code(0);
    let begun = "none of these entries can be built here";
    let asked = |finished: &Finished| finished.stdout.contains(question);
    let yes = typed(&world, &[], "\n").unwrap();
    assert!(asked(&yes) && yes.stdout.contains(begun), "{}", yes.stdout);
    for args in [&["--yes"][..], &["run"], &["--quick"], &["--quiet"]] {
        let begins = typed(&world, args, "n\n").unwrap();
        assert!(!asked(&begins) && begins.stdout.contains(begun), "{args:?}: {}", begins.stdout);
    }
    world.run(world.command(&[])).expect_code(2).expect_said(begun);
    world.env.insert("CI".into(), "true".into());
    let ci = typed(&world, &[], "n\n").unwrap();
    assert!(!asked(&ci) && ci.stdout.contains(begun), "{}", ci.stdout);
}
