//! Bad input: exit code 2, a message that names the thing and the nearest valid one, nothing written and nothing lost.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use taskscale::catalog::Kind;

use crate::support::stored::{results, store};
use crate::support::{FakeEntry, World, is_root};

fn world() -> World {
    let server = FakeEntry { waits: Some("echo"), ..FakeEntry::new("server", "") };
    World::new(&[FakeEntry::new("goroutine", ""), FakeEntry::new("virtual-thread", ""), server])
}

/// Arguments that are refused, and texts that the error must contain.
type Refusal<'a> = (&'a [&'a str], &'a [&'a str]);

/// Runs `taskscale COMMAND ARGS` for each, and checks that no file changed.
#[track_caller]
fn refused(world: &World, command: &[&str], refusals: &[Refusal]) {
    let before = world.snapshot();
    for (args, said) in refusals {
        let finished = world.run(world.command(&[command, args].concat()));
        assert_eq!(finished.code(), 2, "{args:?}: {finished:?}");
        for fragment in *said {
            assert!(finished.stderr.contains(fragment), "{args:?}: no {fragment:?} in {}", finished.stderr);
        }
        assert!(finished.stdout.is_empty(), "{args:?}: {}", finished.stdout);
    }
    let after = world.snapshot();
    let new: Vec<_> = after.iter().filter(|file| !before.contains(file)).map(|(path, _)| path).collect();
    assert!(new.is_empty() && after.len() == before.len(), "{command:?} wrote {new:?}");
}

#[test]
fn explain_takes_one_workload() {
    let refusal: Refusal = (&["fake", "-w", "all", "-n", "1,10"], &["-w", "one workload, not echo, sleep"]);
    refused(&world(), &["explain"], &[refusal]);
}

#[test]
fn invalid_arguments_are_refused() {
    let world = world();
    let out = world.path("out").display().to_string();
    refused(
        &world,
        &["run", "-o", &out],
        &[
            (&["fake/goroutne"], &["`fake/goroutne`", "`fake/goroutine`?", "`taskscale list`"]),
            (&["goroutine"], &["`fake/goroutine`?"]),
            (&["fak"], &["`fake`?"]),
            (&["@post"], &["`@posts`?"]),
            (&["rust/*"], &["`rust/*`"]),
            (&["-w", "slep"], &["`slep`", "`sleep`?"]),
            (&["-w", "sleep,spwan"], &["`spwan`", "`spawn`?"]),
            (&["-w", "spawn"], &["`spawn`"]),
            (&["fake/goroutine", "-w", "spawn"], &["fake/goroutine", "`spawn`", "sleep"]),
            (&["-p", "bytes=1"], &["-p bytes"]),
            (&["-p", "bytes"], &["-p", "\"bytes\"", "NAME=VALUE"]),
            (&["--cpus", "100000"], &["--cpus", "100000"]),
            (&["--cpus", "0"], &["--cpus", "0"]),
            (&["--cpus", "1,1"], &["--cpus", "1"]),
            (&["-n", "1x"], &["-n", "\"1x\"", "10k"]),
            (&["-n", "0"], &["-n", "\"0\""]),
            (&["-n", "-5"], &["-n", "\"-5\""]),
            (&["-n", "1000000000000000000000000000000"], &["-n", "18446744073709551615"]),
            (&["-n", "1,,2"], &["-n"]),
            (&["-n", "10k,10_000"], &["-n", "10k"]),
            (&["-n", ""], &["-n"]),
            (&["-r", "0"], &["'0'", "--repetitions"]),
            (&["-r", "many"], &["'many'"]),
            (&["-r", "-1"], &["'-1'", "--repetitions"]),
            (&["--timeout", "-5s"], &["error: --timeout", "\"-5s\""]),
            (&["--timeout", "10"], &["--timeout", "\"10\""]),
            (&["--memory-cap", "-1GiB"], &["error: --memory-cap", "\"-1GiB\""]),
            (&["--memory-cap", "64k"], &["--memory-cap", "64kB", "64KiB"]),
            (&["--seed", "-1"], &["'-1'", "--seed"]),
            (&["--seed", "x"], &["'x'", "--seed"]),
            (&["--format", "htlm"], &["'htlm'"]),
            (&["--repetition", "3"], &["--repetitions"]),
            (&["--quick", "--classic"], &["--quick", "--classic"]),
            (&["--quiet", "--verbose"], &["--quiet", "--verbose"]),
        ],
    );
    let nothing = world.path("nothing").display().to_string();
    refused(
        &world,
        &[],
        &[
            (&["report", &nothing], &["no such folder", &nothing]),
            (&["report", &nothing, "--rank", "alle"], &["'alle'", "kind", "all"]),
            (&["report", &nothing, "--rank", "all", "--format", "html"], &["--rank"]),
            (&["report", &nothing, "--rank", "all", "--format", "github"], &["--rank"]),
            (&["report", &nothing, "--rank", "all", "--format", "bencher"], &["--rank"]),
            (&["compare", &nothing, &nothing, "--allow-missing"], &["--fail-above"]),
            (&["lsit"], &["`lsit`", "`taskscale list`?"]),
            (&["check"], &["<ENTRY>"]),
            (&["check", "fake/gorutine"], &["`fake/goroutine`?"]),
        ],
    );
}

#[test]
fn arguments_of_measure_are_refused() {
    let world = world();
    let out = world.path("out").display().to_string();
    refused(
        &world,
        &["measure", "-o", &out],
        &[
            (&["-n", "1", "--", "sleep", "100"], &["-n", "{tasks}"]),
            (&["-n", "0", "--", "sleep", "{tasks}"], &["-n", "\"0\""]),
            (&["-n", "1"], &["COMMAND"]),
            (&["--", "no-such-program"], &["no-such-program"]),
            (&["--", "./none"], &["./none"]),
            (&["--", "/etc/passwd"], &["/etc/passwd"]),
            (&["--", "/"], &["/"]),
            (&["--cwd", "/nowhere", "--", "true"], &["--cwd", "/nowhere"]),
            (&["--stdin", "/nowhere", "--", "true"], &["--stdin", "/nowhere"]),
            (&["--stdin", "/", "--", "true"], &["--stdin", "not a regular file"]),
            (&["--env", "NOT_THERE", "--", "true"], &["NOT_THERE=VALUE"]),
            (&["--env", "=x", "--", "true"], &["NAME=VALUE"]),
            (&["--ready-when", "/(/", "--", "true"], &["--ready-when"]),
            (&["--ready-when", "", "--", "true"], &["--ready-when"]),
            (&["--ready-tcp", "nowhere", "--", "true"], &["nowhere"]),
            (&["--ready-after", "2", "--", "true"], &["--ready-after", "\"2\""]),
            (&["--ready-after", "2s", "--ready-tcp", "80", "--", "true"], &["--ready-tcp"]),
            (&["--connect", "80", "--with", "x", "--", "true"], &["--with"]),
            (&["--with-ready-after", "1s", "--", "true"], &["--with <COMMAND>"]),
            (&["--name", "\u{1b}[31m", "--", "true"], &["--name"]),
        ],
    );
}

#[test]
fn arguments_of_load_are_refused() {
    refused(
        &world(),
        &["load"],
        &[
            (&["echo", "--connect", "nowhere"], &["--connect nowhere"]),
            (&["echo", "--connect", "127.0.0.1:1", "--rate", "0"], &["--rate 0"]),
            (&["chat", "--connect", "127.0.0.1:1", "--size", "3"], &["--size 3"]),
            (&["echo", "--connect", "127.0.0.1:1", "-n", "many"], &["-n"]),
            (&["juggle", "--connect", "127.0.0.1:1"], &["juggle"]),
        ],
    );
}

#[test]
fn arguments_of_limit_are_refused() {
    let mut world = world();
    let out = world.path("out").display().to_string();
    let one = "fake/goroutine";
    let server = ["fake/server", "-w", "echo"];
    let with = |more: &[&'static str]| [&server[..], more].concat();
    let rates: [(Vec<&str>, &[&str]); 6] = [
        (with(&["-n", "10", "--p99", "10ms"]), &["--p99", "--rate"]),
        (with(&["--rate", "--memory", "64MiB"]), &["--rate", "--memory"]),
        (with(&["--rate", "-n", "10", "--slowdown", "3"]), &["--rate", "--slowdown"]),
        (with(&["--rate", "-n", "10", "-p", "rate=5"]), &["--rate", "-p rate="]),
        (with(&["--rate", "-n", "10", "--p99", "1h"]), &["--p99"]),
        (with(&["--rate"]), &["provided:\n  --tasks <COUNT>\n"]),
    ];
    for (args, said) in &rates {
        refused(&world, &["limit", "-o", &out], &[(args, said)]);
    }
    refused(
        &world,
        &["limit", "-o", &out],
        &[
            (&["--memory", "1GiB"], &["<ENTRY>"]),
            (&[one], &["--memory", "--tasks"]),
            (&[one, "--memory", "1GiB", "-n", "10"], &["--memory", "--tasks"]),
            (&[one, "--memory", "1k"], &["--memory"]),
            (&[one, "--memory", "1000"], &["--memory"]),
            (&[one, "-n", "0"], &["-n", "\"0\""]),
            (&[one, "-n", "10", "--precision", "0%"], &["0.01%", "50%"]),
            (&[one, "-n", "10", "--slowdown", "0.5"], &["--slowdown"]),
            (&[one, "-n", "10", "--env", "A"], &["\"A\"", "NAME=VALUE"]),
            (&[one, "-n", "10", "--env", "A={memory:200%}"], &["{memory:90%}"]),
            (&["fake/goroutin", "-n", "10"], &["`fake/goroutine`?"]),
            (&[one, "-w", "sleep", "--rate", "-n", "10"], &["--rate", "`sleep`"]),
        ],
    );
    world.env.insert("TASKSCALE_CGROUP".into(), "none".into());
    let without = world.run(world.command(&["limit", "-o", &out, one, "--memory", "32MiB"]));
    without.expect_code(2).expect_said("cgroup").expect_said("TASKSCALE_CGROUP=none");
    assert!(!world.path("out").exists());
}

#[test]
fn arguments_of_report_and_compare_are_refused() {
    let world = world();
    let entries = [("fake/well", Kind::Stackless, Some(0)), ("fake/crash", Kind::Thread, None)];
    for folder in ["one", "two"] {
        store(&world.path(folder), &results(&entries, &[1, 500], 1));
    }
    let (one, two) = (world.path("one").display().to_string(), world.path("two").display().to_string());
    refused(
        &world,
        &["report", &one],
        &[
            (&["nothing"], &["no such folder", "nothing"]),
            (&[&one], &["twice"]),
            (&["--samples"], &["--samples", "--format csv"]),
            (&["--chart", "scaling"], &["--chart", "--format svg"]),
            (&["--format", "svg", "--chart", "scaling", "-n", "1"], &["scaling"]),
            (&["--format", "svg", "-n", "7"], &["-n 7", "1, 500"]),
            (&["--format", "svg", "-n", "1x"], &["-n", "\"1x\""]),
            (&["--format", "csv", "--metric", "launch"], &["--metric"]),
            (&[&two, "--metric", "speed"], &["'speed'"]),
            (&[&two, "--format", "bencher"], &["one value per name"]),
            (&["--format", "htlm"], &["'htlm'"]),
        ],
    );
    let sides = ["--base-entry", "fake/well", "--new-entry"];
    refused(
        &world,
        &["compare", &one],
        &[
            (&[], &["required"]),
            (&["--base-entry", "fake/well"], &["--new-entry"]),
            (&[&two, "--metric", "footprnt"], &["footprint"]),
            (&[&two, "--fail-above", "5"], &["--fail-above", "\"5\"", "5%"]),
            (&[sides[0], sides[1], sides[2], "fake/wel"], &["`fake/well`?"]),
            (&[&two, "-m", "launch=10"], &["--metric launch=10"]),
        ],
    );
}

/// A hint adds a command or is left out, and comes after the error.
#[test]
fn errors_come_first_and_hints_add_a_command() {
    let world = world();
    let file = world.path("file");
    fs::write(&file, "").unwrap();
    let file = file.display().to_string();
    let below = format!("{file}/below");
    for (args, hint) in [
        (vec!["run", "nosuch"], "`taskscale list`"),
        (vec!["run", "-w", "nosuch"], "`taskscale list workloads`"),
        (vec!["run", "-n", "1x"], ""),
        (vec!["run", "--memory-cap", "64k"], "64KiB"),
        (vec!["run", "-o", &*below], ""),
        (vec!["--quick", "list"], "`taskscale list -h`"),
        (vec!["report", &*file], ""),
        (vec!["list", "nosuch"], "`taskscale list`"),
        (vec!["lst"], "`taskscale list`"),
        (vec!["man", "--output", &*below], ""),
    ] {
        let finished = world.run(world.command(&args));
        assert!([1, 2].contains(&finished.code()), "{args:?}");
        let hints: Vec<&str> =
            finished.stderr.lines().filter_map(|line| line.strip_prefix("hint: ")).collect();
        let is_right =
            if hint.is_empty() { hints.is_empty() } else { hints.len() == 1 && hints[0].contains(hint) };
        assert!(is_right, "{args:?}: {}", finished.stderr);
        // `list` prints its catalog first.
        let said = finished.stderr.lines().find(|line| !line.starts_with("catalog: "));
        assert!(said.is_some_and(|line| line.starts_with("error: ")), "{args:?}: {}", finished.stderr);
    }
}

/// With an empty PATH, a warning names the tools that cannot be found.
#[test]
fn empty_path_variable_is_reported() {
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
fn unusable_output_folders_are_refused() {
    let world = world();
    let full = world.path("full");
    fs::create_dir(&full).unwrap();
    fs::write(full.join("thesis.tex"), "years of work").unwrap();
    let file = world.path("file");
    fs::write(&file, "").unwrap();
    let below = file.join("below");
    let [full, file, below] = [full, file, below].map(|path| path.display().to_string());
    refused(
        &world,
        &["run", "-n", "1", "-o"],
        &[
            (&[&full], &["-o ", "full: not empty"]),
            (&[&file], &["-o ", "file: Not a directory"]),
            (&[&below], &["Not a directory"]),
        ],
    );
}

#[test]
fn unwritable_folders_are_refused() {
    let world = world();
    let locked = world.path("locked");
    fs::create_dir(&locked).unwrap();
    fs::set_permissions(&locked, fs::Permissions::from_mode(0o555)).unwrap();
    let folder = locked.join("out").display().to_string();
    let mut command = world.command(&["run", "-n", "1", "-o", &folder]);
    if is_root() {
        // Root may write anywhere, so this runs as the user `nobody`, who must be able to reach the world.
        fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
        command.uid(65534).gid(65534);
    }
    let finished = world.run(command);
    finished
        .expect_code(2)
        .expect_said("cannot write in")
        .expect_said("Permission denied")
        .expect_said(&folder);
}

#[test]
fn folders_with_unreadable_results_are_refused_unchanged() {
    let world = world();
    let (out, fake) = (world.path("out").display().to_string(), world.fake().display().to_string());
    store(&world.path("out"), &results(&[("fake/goroutine", Kind::Stackless, Some(0))], &[3], 1));
    let path = world.path("out/campaign.json");
    let good = fs::read_to_string(&path).unwrap();
    let run: &[&str] = &["run", "@all", "--quick", "-n", "3", "-o", &out];
    // Damaged, empty, and written by a newer taskscale.
    let newer = good.replacen("\"schema\": 1", "\"schema\": 2", 1);
    for (text, said) in
        [(&good[..good.len() / 2], "campaign.json"), ("", "campaign.json"), (newer.as_str(), "schema: 2")]
    {
        fs::write(&path, text).unwrap();
        refused(&world, &[], &[(run, &[said]), (&["report", &out], &[said])]);
    }
    // Samples without a campaign.json.
    fs::remove_file(&path).unwrap();
    let said: &[&str] = &["campaign.json not found", "hint: restore campaign.json"];
    refused(
        &world,
        &[],
        &[
            (run, said),
            (&[run, &["--dry-run"]].concat(), said),
            (&["measure", "-o", &out, "--", &fake, "1", "1"], said),
            (&["limit", "fake/goroutine", "--memory", "64MiB", "-o", &out], said),
        ],
    );
    // A search that was interrupted before its first run.
    fs::remove_file(world.path("out/samples.jsonl")).unwrap();
    fs::write(world.path("out/limit.json"), "{}").unwrap();
    refused(&world, &[], &[(run, &["not empty"])]);
}

/// `catalog::tests` tests the errors of manifests. This tests that commands print them and stop.
#[test]
fn manifest_errors_have_a_position() {
    let world = world();
    let good = fs::read_to_string(world.manifest()).unwrap();
    let place = |wrong: &str| {
        let line = good.lines().position(|line| line.contains(wrong)).expect(wrong) + 1;
        format!("runtime.toml:{line}:")
    };
    let out = world.path("out").display().to_string();
    let refuse = |text: Option<&str>, said: &[&str]| {
        if let Some(text) = text {
            fs::write(world.manifest(), text).unwrap();
        }
        refused(&world, &[], &[(&["run", "-n", "1", "-o", &out], said), (&["list"], said)]);
    };
    let misspelled = good.replacen("parallel = true", "paralell = true", 1);
    refuse(Some(&misspelled), &[&place("parallel"), "`paralell`", "`parallel`?"]);
    let twice = good.replacen("\"virtual-thread\"", "\"goroutine\"", 1);
    refuse(Some(&twice), &[&place("\"virtual-thread\""), "`goroutine`"]);
    refuse(Some(&good.replacen("\"goroutine\"", "\"../../etc\"", 1)), &["\"../../etc\""]);
    refuse(Some(&good.replacen("why = \"a test\"", "why = \" \"", 1)), &["`why`"]);
    refuse(Some(&good[..good.len() / 2]), &["runtime.toml:"]);
    refuse(Some("\u{0}\u{1b}[2J"), &["runtime.toml:1:"]);
    fs::remove_file(world.manifest()).unwrap();
    refuse(None, &["runtime.toml"]);
    fs::remove_dir(world.path("catalog/fake")).unwrap();
    refuse(None, &["no runtime in catalog"]);
    fs::remove_dir(world.path("catalog")).unwrap();
    refuse(None, &["catalog"]);
}
