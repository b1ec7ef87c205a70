//! Bad input: exit code 2, a message that names the thing and the nearest valid one, nothing written and nothing lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::process::{Command, Stdio};

use crate::support::{FakeEntry, World, is_root, write_script};

fn world() -> World {
    World::new(&[FakeEntry::new("goroutine", ""), FakeEntry::new("virtual-thread", "")])
}

/// Runs `taskscale ARGS` and looks at everything that it could have written.
#[track_caller]
fn refused(world: &World, args: &[&str], said: &[&str]) {
    let before = world.snapshot();
    let finished = world.run(world.command(args));
    finished.expect_code(2);
    for fragment in said {
        finished.expect_said(fragment);
    }
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    let after = world.snapshot();
    let new: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|(path, _)| path).collect();
    assert!(new.is_empty() && after.len() == before.len(), "{args:?} wrote {new:?}");
}

#[test]
fn arguments_that_make_no_sense_are_refused() {
    let world = world();
    let run = |more: &[&str], said: &[&str]| {
        let folder = world.path("out").display().to_string();
        let args = [&["run", "-o", &folder], more].concat();
        refused(&world, &args, said);
    };
    run(
        &["fake/goroutne"],
        &["no entry `fake/goroutne`", "did you mean `fake/goroutine`?", "`taskscale list` shows all"],
    );
    run(&["goroutine"], &["did you mean `fake/goroutine`?"]);
    run(&["fak"], &["did you mean `fake`?"]);
    run(&["@post"], &["did you mean `@posts`?"]);
    run(&["rust/*"], &["no entry `rust/*`"]);
    run(&["-w", "slep"], &["no workload `slep`", "did you mean `sleep`?"]);
    run(&["-w", "sleep,spwan"], &["no workload `spwan`", "did you mean `spawn`?"]);
    run(&["-w", "spawn"], &["no selected entry has the workload `spawn`"]);
    run(&["-p", "bytes=1"], &["-p bytes: not a parameter"]);
    run(&["-p", "bytes"], &["-p: \"bytes\" is not NAME=VALUE"]);
    run(&["--cpus", "100000"], &["--cpus: 100000: must be 1 to"]);
    run(&["--cpus", "1,1"], &["--cpus: 1 is given twice"]);
    run(&["-n", "1x"], &["-n: \"x\" in \"1x\" is not a unit of a count", "10k, 2.5k or 1M"]);
    run(&["-n", "0"], &["-n: \"0\" is zero"]);
    run(&["-n", "-5"], &["-n: \"-5\" is below zero"]);
    run(
        &["-n", "1000000000000000000000000000000"],
        &["is too large: the largest count is 18446744073709551615"],
    );
    run(&["-n", "1,,2"], &["-n: a count is missing"]);
    run(&["-n", "10k,10_000"], &["-n: 10k is given twice"]);
    run(&["-n", ""], &["-n: a count is missing"]);
    run(&["-r", "0"], &["invalid value '0' for '--repetitions"]);
    run(&["-r", "many"], &["invalid value 'many'"]);
    for (option, value) in [("-r", "-1"), ("--timeout", "-5s"), ("--memory-cap", "-1GiB"), ("--seed", "-1")] {
        let below = format!("error: {option}: {value:?} is below zero");
        run(&[option, value], &[&below]);
    }
    run(
        &["--memory-cap", "64k"],
        &["--memory-cap: \"64k\" may mean powers of 1000 or of 1024: write 64kB or 64KiB"],
    );
    run(&["--timeout", "10"], &["--timeout: \"10\" has no unit"]);
    run(&["--seed", "x"], &["invalid value 'x' for '--seed"]);
    run(&["--format", "htlm"], &["invalid value 'htlm'", "possible values"]);
    run(&["--repetition", "3"], &["unexpected argument", "--repetitions"]);
    run(&["--quick", "--classic"], &["cannot be used with"]);
    refused(&world, &["report", &world.path("nothing").display().to_string()], &["no such folder"]);
    let nothing = world.path("nothing").display().to_string();
    refused(&world, &["report", &nothing, "--rank", "alle"], &["invalid value 'alle'", "kind", "all"]);
    for format in ["html", "github", "bencher"] {
        let args = ["report", &*nothing, "--rank", "all", "--format", format];
        refused(&world, &args, &["--rank needs"]);
    }
    refused(&world, &["compare", &nothing, &nothing, "--allow-missing"], &["--fail-above"]);
    refused(&world, &["lsit"], &["`lsit`", "did you mean `taskscale list`?"]);
    world.assert_nothing_left();
}

/// A shell without PATH finds no tool: that is said, and which.
#[test]
fn an_empty_path_is_said() {
    let mut world = world();
    let manifest = fs::read_to_string(world.manifest()).unwrap();
    let fake = format!("{:?}", world.fake().display().to_string());
    fs::write(world.manifest(), manifest.replacen(&fake, "\"fake-tool\"", 1)).unwrap();
    let said = "warning: PATH is empty: cannot find fake-tool";
    let full = world.run(world.command(&["list"]));
    assert!(!full.stderr.contains("PATH"), "{}", full.stderr);
    world.env.insert("PATH".to_owned(), String::new());
    for command in ["list", "doctor", "run"] {
        world.run(world.command(&[command])).expect_said(said);
    }
}

#[test]
fn folders_that_cannot_be_used_are_refused() {
    let world = world();
    let full = world.path("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("thesis.tex"), "years of work").unwrap();
    let file = world.path("file");
    fs::write(&file, "").unwrap();
    let run = |folder: &std::path::Path, said: &[&str]| {
        refused(&world, &["run", "-n", "1", "-o", &folder.display().to_string()], said);
    };
    run(&full, &["-o ", "full: not empty"]);
    run(&file, &["-o ", "file: Not a directory"]);
    run(&file.join("below"), &["Not a directory"]);
    world.assert_nothing_left();
}

#[test]
fn a_folder_without_the_right_to_write_is_refused() {
    let world = world();
    let locked = world.path("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    let folder = locked.join("out").display().to_string();
    let mut command = world.command(&["run", "-n", "1", "-o", &folder]);
    if is_root() {
        // Root may write anywhere: try as nobody, who must be able to reach the world.
        fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(65534).gid(65534);
    }
    let finished = world.run(command);
    finished
        .expect_code(2)
        .expect_said("cannot write in")
        .expect_said("Permission denied")
        .expect_said(&folder);
    world.assert_nothing_left();
}

#[test]
fn another_campaigns_folder_is_refused_and_left_alone() {
    let world = world();
    world.run(world.campaign("out", "-n 2 --seed 1")).expect_code(0);
    // A line that would be set aside, were it the right campaign.
    let samples = world.path("out/samples.jsonl");
    let mut text = fs::read_to_string(&samples).unwrap();
    text.push_str("{\"torn");
    fs::write(&samples, &text).unwrap();
    let before = fs::read_dir(world.path("out")).unwrap().count();
    let folder = world.path("out").display().to_string();
    for (more, said) in [
        ("-n 3 --quick @all", "tasks were 2, now 3"),
        ("-n 2 --quick -r 2 @all", "repetitions were 1, now 2"),
        ("-n 2 --classic -r 1 @all", "plateau of 0.5 s, now 10 s"),
        ("-n 2 --quick fake/goroutine", "it includes fake/virtual-thread"),
    ] {
        let args: Vec<&str> = ["run", "-o", &folder].into_iter().chain(more.split(' ')).collect();
        let finished = world.run(world.command(&args));
        finished.expect_code(2).expect_said("cannot resume").expect_said(said);
        finished.expect_said("choose another folder with -o");
    }
    // The same entries, but other programs.
    let changed = world
        .manifest_of(&[FakeEntry::new("goroutine", "--launch-ms 1"), FakeEntry::new("virtual-thread", "")]);
    fs::write(world.manifest(), changed).unwrap();
    let finished = world.run(world.campaign("out", "-n 2 --seed 1"));
    finished.expect_code(2).expect_said("the program of fake/goroutine has changed (its commands)");
    assert_eq!(fs::read_to_string(&samples).unwrap(), text);
    assert_eq!(fs::read_dir(world.path("out")).unwrap().count(), before);
    world.assert_nothing_left();
}

#[test]
fn faults_of_manifests_are_named_with_their_place() {
    let world = world();
    let good = fs::read_to_string(world.manifest()).unwrap();
    let refuse = |text: &str, said: &[&str]| {
        fs::write(world.manifest(), text).unwrap();
        let folder = world.path("out").display().to_string();
        refused(&world, &["run", "-n", "1", "-o", &folder], said);
        refused(&world, &["list"], said);
    };
    // The first occurrence of one text becomes another, and the message names the line where the new one stands last.
    let replaced: [(&str, &str, &[&str]); 9] = [
        ("parallel = true", "paralell = true", &["unknown field `paralell`", "did you mean `parallel`?"]),
        ("\"stackless\"", "\"stackles\"", &["did you mean `stackless`?"]),
        ("\"virtual-thread\"", "\"goroutine\"", &["entry `goroutine` is defined twice: names must differ"]),
        ("\"fake\"", "\"fakir\"", &["name is `fakir` but the folder is `fake`"]),
        ("\"goroutine\"", "\"../../etc\"", &["entry name \"../../etc\" must start with"]),
        ("\"goroutine\"", "\"go\\u001b[31m\"", &["must start with a lowercase letter or digit"]),
        ("run = [", "run = [\"{src}/gone.py\", ", &["names a missing file", "gone.py"]),
        ("run = [", "run = [\"{scr}\", ", &["unknown placeholder {scr}", "{src}, {out}"]),
        ("why = \"a test\"", "why = \" \"", &["has an empty `why`"]),
    ];
    for (from, to, said) in replaced {
        let text = good.replacen(from, to, 1);
        assert_ne!(text, good, "{from}");
        refuse(&text, said);
    }
    let place = |wrong: &str| {
        let line = good.lines().position(|line| line.contains(wrong)).expect(wrong) + 1;
        format!("runtime.toml:{line}:")
    };
    refuse(&good.replacen("parallel = true", "paralell = true", 1), &[&place("parallel")]);
    refuse(&good.replacen("\"stackless\"", "\"stackles\"", 1), &[&place("\"stackless\"")]);
    refuse(&good.replacen("\"virtual-thread\"", "\"goroutine\"", 1), &[&place("\"virtual-thread\"")]);

    refuse(good.split("[[entry]]").next().unwrap(), &["no [[entry]]"]);
    refuse(&good[..good.len() / 2], &["runtime.toml:"]);
    refuse("\u{0}\u{1b}[2J", &["runtime.toml:1:"]);
    fs::remove_file(world.manifest()).unwrap();
    refused(&world, &["list"], &["cannot read", "runtime.toml"]);
    fs::remove_dir(world.path("catalog/fake")).unwrap();
    refused(&world, &["list"], &["no runtime in catalog"]);
    fs::remove_dir(world.path("catalog")).unwrap();
    refused(&world, &["list"], &["cannot read", "catalog"]);
}

/// A path means the same wherever programs are run.
#[test]
fn relative_paths_lead_where_they_should() {
    let world = world();
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
    world.run(command).expect_code(0);
    assert_eq!(world.runs("out").len(), 1);
    world.assert_nothing_left();
}
