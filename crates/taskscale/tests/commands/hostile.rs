//! Hostile input: catalogs in shared folders, escapes and HTML, endless files, impossible plans.

use std::fs;
use std::io::Write;
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use taskscale::catalog::Kind;

use crate::support::stored::{results, store};
use crate::support::{FakeEntry, Finished, World, assert_harmless, is_root, skipped};

/// taskscale in a folder of this world, without `--catalog`.
fn run_in(world: &World, folder: &str, args: &[&str]) -> Finished {
    let named = world.command(args);
    let mut command = Command::new(named.get_program());
    // Skips `--catalog DIR`.
    command.args(named.get_args().skip(2)).env_clear();
    command.envs(named.get_envs().filter_map(|(name, value)| Some((name, value?))));
    command.current_dir(world.path(folder));
    world.run_plain(command)
}

/// A catalog below `folder` whose `version` command leaves a file behind.
fn plant(world: &World, folder: &str) -> PathBuf {
    let runtime = world.path(folder).join("runtimes/fake");
    fs::create_dir_all(&runtime).unwrap();
    let trap = world.path(folder).join("ran");
    let version = format!("version = [\"touch\", {:?}]", trap.display().to_string());
    let manifest = fs::read_to_string(world.manifest()).unwrap();
    let line = manifest.lines().find(|line| line.starts_with("version")).unwrap();
    fs::write(runtime.join("runtime.toml"), manifest.replace(line, &version)).unwrap();
    trap
}

fn stored(world: &World, folder: &str) {
    store(&world.path(folder), &results(&[("fake/well", Kind::Stackless, Some(0))], &[1], 1));
}

#[test]
fn catalogs_writable_by_others_must_be_named() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    // No other toolchain can be found.
    let tools = world.path("tools");
    fs::create_dir(&tools).unwrap();
    symlink("/usr/bin/touch", tools.join("touch")).unwrap();
    world.env.insert("PATH".into(), tools.display().to_string());
    let trap = plant(&world, "shared");
    fs::create_dir(world.path("shared/below")).unwrap();
    let runtimes = world.path("shared/runtimes");
    let mode = |mode| fs::set_permissions(&runtimes, fs::Permissions::from_mode(mode)).unwrap();
    run_in(&world, "shared/below", &["list", "fake/well"]).expect_code(0);
    assert!(trap.exists(), "the trap works");
    let refused = |why: &str| {
        fs::remove_file(&trap).unwrap();
        for args in [&["list"][..], &["doctor"], &["run", "fake/well", "-n", "1"], &["new", "go/x"]] {
            let done = run_in(&world, "shared/below", args);
            done.expect_code(2);
            for said in [&*runtimes.display().to_string(), "not trusted", why, "--catalog "] {
                done.expect_said(said);
            }
        }
        assert!(!trap.exists(), "its commands were run");
        let named = runtimes.display().to_string();
        run_in(&world, "shared/below", &["--catalog", &named, "list", "fake/well"]).expect_code(0);
        assert!(trap.exists(), "what is named is trusted");
    };
    mode(0o1777);
    refused("every user can write to it");
    mode(0o755);
    if !is_root() {
        return skipped("only root can give a folder to another user");
    }
    chown(&runtimes, Some(65534), None).unwrap();
    refused("it belongs to another user (uid 65534)");
    // Another user's link to a folder of this user.
    fs::rename(&runtimes, world.path("shared/own")).unwrap();
    chown(world.path("shared/own"), Some(0), None).unwrap();
    symlink("own", &runtimes).unwrap();
    run_in(&world, "shared/below", &["list", "fake/well"]).expect_code(0);
    std::os::unix::fs::lchown(&runtimes, Some(65534), None).unwrap();
    refused("it belongs to another user");
}

#[test]
fn a_broken_catalog_does_not_prevent_reports() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    stored(&world, "measured");
    let planted = world.path("runtimes/broken");
    fs::create_dir_all(&planted).unwrap();
    fs::write(planted.join("runtime.toml"), "name = 7").unwrap();
    run_in(&world, "", &["list"]).expect_code(2);
    run_in(&world, "", &["report", "measured"]).expect_code(0);
    for args in [&["site", "measured", "-o", "site"][..], &["submit", "measured", "--dry-run"]] {
        let done = run_in(&world, "", args);
        done.expect_said("using the embedded catalog");
        // The embedded catalog lacks the entry: a violation (1) for `submit`, not an error (2).
        assert_eq!(done.code(), i32::from(args[0] == "submit"), "{}", done.stderr);
    }
    assert!(world.path("site/index.html").is_file());
}

#[test]
fn endless_files_and_absurd_plans_are_refused() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    stored(&world, "measured");
    let spoilt = |name: &str, change: &dyn Fn(&Path)| {
        let folder = world.path("results").join(name);
        fs::create_dir_all(&folder).unwrap();
        for file in ["campaign.json", "samples.jsonl"] {
            fs::copy(world.path("measured").join(file), folder.join(file)).unwrap();
        }
        change(&folder);
    };
    spoilt("endless", &|folder| {
        fs::remove_file(folder.join("samples.jsonl")).unwrap();
        symlink("/dev/zero", folder.join("samples.jsonl")).unwrap();
    });
    spoilt("pipe", &|folder| {
        let path = folder.join("samples.jsonl");
        fs::remove_file(&path).unwrap();
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    });
    spoilt("repeated", &|folder| {
        let path = folder.join("campaign.json");
        let mut campaign: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
        campaign["plan"]["repetitions"] = u32::MAX.into();
        fs::write(&path, campaign.to_string()).unwrap();
    });
    let reasons = [
        ("endless", "not a regular file"),
        ("pipe", "not a regular file"),
        ("repeated", "4294967295, at most"),
    ];
    for (name, why) in reasons {
        let folder = world.path("results").join(name).display().to_string();
        let done = world.run(world.command(&["report", &folder]));
        done.expect_code(2);
        done.expect_said(why);
    }
    let results = world.path("results").display().to_string();
    let checked = world.run(world.command(&["submit", "--check", &results]));
    checked.expect_code(1);
    let out = world.path("site").display().to_string();
    let site = world.run(world.command(&["site", &results, "-o", &out]));
    site.expect_code(2);
    for (name, why) in reasons {
        assert!(checked.stdout.contains(name), "{name}: {}", checked.stdout);
        site.expect_said(why);
    }
}

/// Writes and reads 200 MB. Quadratic time would hit the time limit, and a second copy of the samples would not
/// fit into memory. A release build does ten times as many (docs/guides/submit.md).
#[test]
#[ignore = "nightly: a hundred thousand samples"]
fn cost_of_reports_grows_linearly_with_samples() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    stored(&world, "measured");
    let line = fs::read_to_string(world.path("measured/samples.jsonl")).unwrap();
    let mut sample: Value = serde_json::from_str(line.lines().next().unwrap()).unwrap();
    let mut campaign: Value =
        serde_json::from_slice(&fs::read(world.path("measured/campaign.json")).unwrap()).unwrap();
    const SAMPLES: u64 = 100_000;
    for (name, repetitions) in [("repeated", SAMPLES), ("wide", SAMPLES / 20_000)] {
        let folder = world.path(name);
        fs::create_dir(&folder).unwrap();
        let tasks: Vec<u64> = (1..=SAMPLES / repetitions).collect();
        let mut lines = std::io::BufWriter::new(fs::File::create(folder.join("samples.jsonl")).unwrap());
        for repetition in 1..=repetitions {
            for &tasks in &tasks {
                for field in ["tasks", "alive", "done"] {
                    sample[field] = tasks.into();
                }
                sample["repetition"] = repetition.into();
                writeln!(lines, "{sample}").unwrap();
            }
        }
        lines.flush().unwrap();
        campaign["plan"]["repetitions"] = repetitions.into();
        campaign["plan"]["tasks"] = tasks.into();
        fs::write(folder.join("campaign.json"), campaign.to_string()).unwrap();
        for args in [&["report"][..], &["submit", "--check"]] {
            let own = world.command(&[args, &[&*folder.display().to_string()]].concat());
            let mut command = Command::new("sh");
            // In KiB. The limit is on the address space, so even less memory can be used.
            command.args(["-c", "ulimit -v 400000; exec \"$@\" >/dev/null", "sh"]).arg(own.get_program());
            command.args(own.get_args()).env_clear();
            command.envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
            let done = world.run_plain(command);
            assert!([0, 1].contains(&done.code()), "{name} {args:?}: {}", done.stderr);
        }
    }
}

/// Escapes and HTML from a catalog, from results and from the name of their folder.
#[test]
fn hostile_text_is_escaped_everywhere() {
    let hostile = "notes = [\"\\u001b]0;owned\\u0007 \\u202e<script>alert(3)</script>\"]";
    let formula = "unverified = \"\\u001b[2J=cmd|' /C calc'!A0\"";
    let world =
        World::new(&[FakeEntry::new("hostile", "").more(hostile), FakeEntry::new("well", "").more(formula)]);
    for args in [&["list"][..], &["list", "--json"]] {
        let shown = world.run(world.command(args));
        assert!(!shown.stdout.contains('\u{1b}'), "{}", shown.stdout);
    }
    let (mut campaign, mut samples) = results(&[("fake/hostile", Kind::Stackless, None)], &[1], 1);
    campaign.entries[0].notes = vec!["\u{1b}]0;owned\u{7} \u{202e}<script>alert(3)</script>".into()];
    samples[0].reason = Some("\u{1b}[2J</pre>=cmd|' /C calc'!A0".into());
    let folder = world.path("o\u{1b}[31mut");
    store(&folder, &(campaign, samples));
    let mut lines = fs::read_to_string(folder.join("samples.jsonl")).unwrap();
    lines.push_str("{\"schema\":1,\"status\":\"\u{1b}[31m\"}\n");
    fs::write(folder.join("samples.jsonl"), lines).unwrap();
    for format in ["table", "markdown", "csv", "json"] {
        let shown = world.run(world.command(&["report", &folder.display().to_string(), "--format", format]));
        shown.expect_code(0).expect_said("left out: line 2 of ");
        assert_harmless("standard error", &shown.stderr);
        // JSON escapes control characters. Its reader must handle those that reverse text.
        if format != "json" {
            assert_harmless(format, &shown.stdout);
        } else {
            assert!(!shown.stdout.contains('\u{1b}'), "{}", shown.stdout);
        }
        if format == "markdown" {
            let bare = shown.stdout.replace("\\<", "");
            assert!(!bare.contains("<script") && !bare.contains("</pre>"), "{}", shown.stdout);
        }
    }
}
