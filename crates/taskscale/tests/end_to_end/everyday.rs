//! Commands of every day, run as a user would: compare as a gate, a dry run, events, verbose, completions, the manual.

use std::fs;
use std::path::Path;

use crate::support::{FakeEntry, Finished, World};
use serde_json::Value;

fn folder(world: &World, name: &str) -> String {
    world.path(name).display().to_string()
}

/// Two programs, of which the second takes 48 bytes a task more: 5 %.
fn two() -> World {
    World::new(&[
        FakeEntry::new("base", "--anon-bytes-per-task 960"),
        FakeEntry::new("more", "--anon-bytes-per-task 1008"),
    ])
}

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

#[test]
fn five_per_cent_more_bytes_per_task_close_the_gate() {
    let world = two();
    world.run(world.campaign("all", "-n 1,20k -r 5")).expect_code(0);
    world.run(world.campaign("again", "-n 1,20k -r 3")).expect_code(0);
    let (all, again) = (folder(&world, "all"), folder(&world, "again"));
    let compare = |args: &[&str]| world.run(world.command(&[&["compare"], args].concat()));

    let same = compare(&[&all, &again, "--fail-above", "1%"]);
    same.expect_code(0).expect_said("pass: no regression above 1% in 4 comparisons");
    assert!(same.stdout.lines().any(|line| line.starts_with("repetitions")), "{}", same.stdout);
    assert!(same.stdout.contains("4 same; judged 4 of 4 comparisons"), "{}", same.stdout);

    let entries = ["--base-entry", "fake/base", "--new-entry", "fake/more"];
    let more = compare(&[&[&*all, "-m", "bytes-per-task"], &entries[..]].concat());
    more.expect_code(0);
    assert!(more.stdout.contains("2 larger"), "{}", more.stdout);
    let gate = compare(&[&[&*all, "-m", "bytes-per-task", "--fail-above", "4%"], &entries[..]].concat());
    gate.expect_code(1)
        .expect_said("regression: fake/base → fake/more: bytes per task")
        .expect_said("fail: 2 regressions above 4% in 2 comparisons");
    compare(&[&[&*all, "-m", "bytes-per-task", "--fail-above", "6%"], &entries[..]].concat()).expect_code(0);
    // The other way about it is no regression, however large.
    let back = ["--base-entry", "fake/more", "--new-entry", "fake/base"];
    compare(&[&[&*all, "--fail-above", "0%"], &back[..]].concat()).expect_code(0);

    let json = compare(&[&[&*all, "--format", "json"], &entries[..]].concat());
    let json: Value = serde_json::from_str(&json.stdout).unwrap();
    let line =
        json["cells"].as_array().unwrap().iter().find(|cell| cell["metric"] == "bytes-per-task").unwrap();
    assert_eq!((line["verdict"].as_str(), line["tasks"].is_null()), (Some("larger"), true));
    assert!((line["ratio"].as_f64().unwrap() - 1.05).abs() < 0.005, "{line}");

    for (args, said) in [
        (vec![&*all], "the following required arguments"),
        (vec![&*all, "--base-entry", "fake/base"], "--new-entry"),
        (vec![&*all, &*again, "--metric", "footprnt"], "footprint"),
        (
            vec![&*all, &*again, "--fail-above", "5"],
            "--fail-above: \"5\" has no unit: give a percentage such as 5%",
        ),
        (vec![&*all, "--base-entry", "fake/bas", "--new-entry", "fake/more"], "did you mean `fake/base`?"),
        (vec![&*all, &*again, "-m", "launch=10"], "--metric launch=10: \"10\" has no unit"),
    ] {
        compare(&args).expect_code(2).expect_said(said);
    }

    // Times as well, with a margin of their own: those of a test say nothing.
    let times = compare(&[&all, &again, "-m", "launch=10%", "-f", "json"]);
    times.expect_code(0);
    let json: Value = serde_json::from_str(&times.stdout).unwrap();
    let launch = json["cells"].as_array().unwrap().iter().find(|cell| cell["metric"] == "launch").unwrap();
    assert_eq!(launch["margin"].as_f64(), Some(0.1));

    // Another kernel, and a run that was recorded twice.
    let campaign = world.path("again").join("campaign.json");
    let text = fs::read_to_string(&campaign).unwrap();
    let mut other: Value = serde_json::from_str(&text).unwrap();
    other["machine"]["kernel"] = "0.0.1".into();
    fs::write(&campaign, other.to_string()).unwrap();
    compare(&[&all, &again]).expect_code(2).expect_said("different kernel").expect_said("--across");
    compare(&[&all, &again, "--across", "--fail-above", "5%"]).expect_code(0);
    fs::write(&campaign, text).unwrap();
    let samples = world.path("again").join("samples.jsonl");
    let text = fs::read_to_string(&samples).unwrap();
    fs::write(&samples, format!("{text}{}\n", text.lines().next().unwrap())).unwrap();
    compare(&[&all, &again]).expect_code(2).expect_said("recorded twice");
    world.assert_nothing_left();
}

#[test]
fn a_case_that_fails_now_fails_the_gate() {
    let world = World::new(&[
        FakeEntry::new("ok", ""),
        FakeEntry::new("broken", "--fault crash:plateau --faults-from 2"),
    ]);
    world.run(world.campaign("out", "-n 1,2 -r 3")).expect_code(1);
    let out = folder(&world, "out");
    let entries = ["--base-entry", "fake/ok", "--new-entry", "fake/broken"];
    let gate = world.run(world.command(&[&["compare", &out, "--fail-above", "50%"], &entries[..]].concat()));
    gate.expect_code(1).expect_said("fake/ok → fake/broken × 2: 3/3 ok → crashed");
    assert!(gate.stdout.contains("fails now"), "{}", gate.stdout);
}

/// Twice the footprint, and two repetitions: that cannot be told, and is no pass. Nor is a campaign that was cut off.
#[test]
fn a_gate_that_cannot_tell_does_not_pass() {
    let world = World::new(&[
        FakeEntry::new("base", "--anon-bytes-per-task 960"),
        FakeEntry::new("double", "--anon-bytes-per-task 1920"),
    ]);
    world.run(world.campaign("two", "-n 1,20k -r 2")).expect_code(0);
    let two = folder(&world, "two");
    let entries = ["--base-entry", "fake/base", "--new-entry", "fake/double"];
    let gate = |more: &[&str]| {
        world.run(world.command(&[&["compare", &*two, "--fail-above", "5%"], &entries[..], more].concat()))
    };
    let undecided = gate(&[]);
    undecided
        .expect_code(3)
        .expect_said(
            "undecided: fake/base → fake/double × 20k, footprint: only 2 repetitions: a verdict needs 3 per side; \
             needs 3 repetitions: taskscale run fake/base fake/double -n 1,20k -r 3",
        )
        .expect_said("undecided: no regression above 5% found, 2 of 2 comparisons not decided");
    // The comparison is there all the same.
    assert!(undecided.stdout.contains("judged 0 of 2 comparisons"), "{}", undecided.stdout);
    gate(&["--allow-missing"]).expect_code(3);
    // Without a gate it informs.
    world.run(world.command(&[&["compare", &*two], &entries[..]].concat())).expect_code(0);

    world.run(world.campaign("whole", "-n 1,2 -r 3")).expect_code(0);
    world.run(world.campaign("cut", "-n 1,2 -r 3")).expect_code(0);
    let samples = world.path("cut").join("samples.jsonl");
    let lines = fs::read_to_string(&samples).unwrap();
    let of_one: Vec<&str> = lines
        .lines()
        .filter(|line| line.contains("\"fake/base\"") && line.contains("\"tasks\":1,"))
        .collect();
    assert_eq!(of_one.len(), 3);
    fs::write(&samples, of_one.join("\n") + "\n").unwrap();
    let (whole, cut) = (folder(&world, "whole"), folder(&world, "cut"));
    let gate = |base: &str, new: &str, more: &[&str]| {
        world.run(world.command(&[&["compare", base, new, "--fail-above", "50%"], more].concat()))
    };
    gate(&whole, &cut, &[]).expect_code(1).expect_said("fake/double × 2 (planned, but not measured)");
    gate(&whole, &cut, &["--allow-missing"]).expect_code(0);
    gate(&cut, &whole, &[]).expect_code(3).expect_said("fake/base × 2: planned in BASE, but not measured");
    world.assert_nothing_left();
}

#[test]
fn a_dry_run_starts_and_writes_nothing() {
    let world = two();
    let out = folder(&world, "out");
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
    // Not even to ask for a version: a program that cannot be started would be named.
    let mut manifest = fs::read_to_string(world.manifest()).unwrap();
    manifest = manifest.replacen("\"--version\"]", "\"--fault\", \"crash:launch\"]", 1);
    fs::write(world.manifest(), &manifest).unwrap();
    dry(&["-o", &out]).expect_code(0);

    let manifest = manifest.replacen("\"--fault\", \"crash:launch\"]", "\"--version\"]", 1);
    fs::write(world.manifest(), manifest).unwrap();
    world.run(world.campaign("out", "-n 1,20k -r 2")).expect_code(0);
    let left = dry(&["-o", &out, "--format", "json"]);
    let left: Value = serde_json::from_str(&left.stdout).unwrap();
    assert_eq!((left["estimate"]["runs"].as_u64(), left["estimate"]["done"].as_u64()), (Some(0), Some(8)));
    let other = world.run(world.command(&["run", "@all", "-n", "3", "--dry-run", "-o", &out]));
    other.expect_code(2).expect_said("cannot resume");
    world.assert_nothing_left();
}

/// A dry run knows which cells a limit will end, and what lifts it.
#[test]
fn a_dry_run_foresees_limits() {
    let world =
        World::new(&[FakeEntry::new("os", "").kind("thread"), FakeEntry::new("timer", "").kind("timer")]);
    let counts = ["-n", "2,1G"];
    let dry = world.run(world.command(&[&["run", "@all", "--dry-run"], &counts[..]].concat()));
    dry.expect_code(0);
    let line = dry.stdout.lines().find(|line| line.starts_with("  fake/os × 1G: limit: "));
    assert!(line.is_some_and(|line| line.contains(": room for ")), "{}", dry.stdout);
    assert!(!dry.stdout.contains("  fake/os × 2:"), "{}", dry.stdout);
    // Memory is one, too: 200 bytes a timer, and a billion of them.
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

/// `taskscale` and nothing else is the whole job: on a terminal it says so and asks.
#[test]
fn the_whole_job_is_begun_only_after_a_yes() {
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
    // Nobody types anything: no answer is a no.
    typed(&world, &[], "").unwrap().expect_code(0);
    let begun = "none of these entries can run here";
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
    world.assert_nothing_left();
}

/// Each result stands above the bar as it comes, and at the end what can be done next.
#[test]
fn results_are_seen_on_a_terminal_as_they_come() {
    let world = World::new(&[
        FakeEntry::new("one", "--anon-bytes-per-task 1KiB"),
        FakeEntry::new("two", "--anon-bytes-per-task 64KiB"),
        FakeEntry::new("crash", "--fault crash:plateau").kind("thread"),
    ]);
    let args = ["run", "@all", "--quick", "-n", "1k", "-o", "my results"];
    let Some(command) = world.on_terminal(100, &args, "") else { return };
    let run = world.run(command);
    run.expect_code(1);
    // What is written over begins with a carriage return, and the bar of the whole stands behind what is above it.
    let written: Vec<&str> =
        run.stdout.split(['\n', '\r']).filter_map(|text| text.split(['━', '─']).next()).collect();
    let place = |name: &str| {
        // The table at the end has bars as well, and no places.
        let line = written
            .iter()
            .find(|text| text.contains(name) && text.contains('█'))
            .copied()
            .unwrap_or_default();
        ["1st of 1", "1st of 2", "2nd of 2"].into_iter().find(|place| line.contains(place))
    };
    // The order is drawn anew for each campaign.
    let places = (place("fake/one"), place("fake/two"));
    let either = [(Some("1st of 1"), Some("2nd of 2")), (Some("1st of 2"), Some("1st of 1"))];
    assert!(either.contains(&places), "{places:?}: {}", run.stdout);
    assert!(run.stdout.contains("1k tasks"), "{}", run.stdout);
    let next = run.stdout.split("Next:").nth(1).unwrap_or_default();
    assert!(next.contains("taskscale report 'my results' --open"), "{}", run.stdout);
    assert!(next.contains("--base-entry fake/one --new-entry fake/two"), "{}", run.stdout);
    // Nothing of it in a pipe.
    let piped = world.run(world.campaign("piped", "-n 1k"));
    assert!(!piped.stderr.contains("Next:") && !piped.stderr.contains("1st of"), "{}", piped.stderr);
    world.assert_nothing_left();
}

/// A first table does without what another toolchain builds, unless it is named.
#[test]
fn quick_leaves_other_toolchains_out() {
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

#[test]
fn events_are_what_their_schema_says() {
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
    assert_eq!((is("warm-up").len(), is("run-started").len()), (2, 2));
    let statuses: Vec<&str> =
        is("run-ended").iter().map(|ended| ended["sample"]["status"].as_str().unwrap()).collect();
    assert!(statuses.contains(&"ok") && statuses.contains(&"crashed"), "{statuses:?}");
    let details = is("message").into_iter().filter(|message| message["level"] == "detail");
    let details: Vec<&str> = details.map(|message| message["text"].as_str().unwrap()).collect();
    for expected in ["asking for the version", "running ", "building "] {
        assert!(details.iter().any(|text| text.starts_with(expected)), "{expected}: {details:?}");
    }
    assert_eq!(names(&told).last(), Some(&"end"));
    assert_eq!(told.last().unwrap()["exit_code"], 1);
    // The result is still the result.
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
    // A schema that takes anything would prove nothing.
    assert!(!schema.is_valid(&serde_json::json!({"schema": 1, "at": "", "event": "plan"})));
}

#[test]
fn verbose_says_what_is_done_and_quiet_nothing() {
    let world = World::new(&[FakeEntry::new("well", "").more("build = [[\"true\"]]")]);
    let verbose = world.run(world.campaign("out", "-n 2 --verbose"));
    verbose.expect_code(0);
    for expected in
        ["· building fake/well", ": true", "· asking for the version", "· wait 1 s: ", "bin/fake-entry 2 1"]
    {
        verbose.expect_said(expected);
    }
    assert!(verbose.stderr.contains("cgroup"), "{}", verbose.stderr);
    let quiet = world.run(world.campaign("other", "-n 2 --quiet"));
    quiet.expect_code(0);
    assert_eq!(quiet.stderr, "");
    let quiet = world.run(world.campaign("third", "-n 2 --quiet --format csv"));
    assert_eq!((quiet.code(), &*quiet.stderr), (0, ""));
    // What is wrong is said all the same.
    world
        .run(world.command(&["run", "nosuch", "--quiet"]))
        .expect_code(2)
        .expect_said("error: no entry `nosuch`");
    world.run(world.command(&["run", "--quiet", "--verbose"])).expect_code(2);
}

#[test]
fn errors_come_first_and_hints_add_a_command() {
    let world = two();
    let file = world.path("file");
    fs::write(&file, "").unwrap();
    let file = file.display().to_string();
    let below = format!("{file}/below");
    for (args, hint) in [
        (vec!["run", "nosuch"], "`taskscale list`"),
        (vec!["run", "-w", "nosuch"], "`taskscale list workloads`"),
        (vec!["run", "-n", "1x"], ""),
        (vec!["run", "-n", "1,1"], ""),
        (vec!["run", "--memory-cap", "64k"], "64KiB"),
        (vec!["run", "-o", &*below], ""),
        (vec!["--quick", "list"], "`taskscale list -h`"),
        (vec!["report", &*file], ""),
        (vec!["compare", &*file, &*file], ""),
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
        // `list` first names its catalog.
        let said = finished.stderr.lines().find(|line| !line.starts_with("catalog: "));
        assert!(said.is_some_and(|line| line.starts_with("error: ")), "{args:?}: {}", finished.stderr);
    }
}

#[test]
fn completions_and_the_manual_know_every_command() {
    let world = two();
    let help = world.run(world.command(&["--help"])).stdout;
    let commands: Vec<&str> = help
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.strip_prefix("  ")?.split(' ').next())
        .filter(|name| !name.is_empty() && *name != "help")
        .collect();
    assert!(commands.contains(&"compare") && commands.len() >= 8, "{commands:?}");
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = world.run(world.command(&["completions", shell]));
        script.expect_code(0);
        for word in commands.iter().chain(&["fail-above"]) {
            assert!(script.stdout.contains(word), "{shell} does not know {word}");
        }
        // The scripts for the other two know no values of arguments without a name.
        if ["bash", "zsh", "fish"].contains(&shell) {
            assert!(script.stdout.contains("fake/base"), "{shell}");
        }
    }
    let page = world.run(world.command(&["man"]));
    page.expect_code(0);
    assert!(page.stdout.contains(".TH taskscale 1"), "{}", page.stdout);
    let pages = folder(&world, "man1");
    world.run(world.command(&["man", "--output", &pages])).expect_code(0);
    for name in commands {
        let page = fs::read_to_string(world.path("man1").join(format!("taskscale-{name}.1"))).unwrap();
        assert!(page.contains(".SH EXAMPLES"), "{name}: {page}");
    }
}

/// Debian's Node.js comes without npm: what npm builds is not installed, and is no failure.
#[test]
fn a_build_whose_program_is_missing_is_left_out() {
    let lacking = FakeEntry::new("lacking", "").more("build = [\"no-such-program\", \"ci\"]");
    let world = World::new(&[FakeEntry::new("plain", ""), lacking]);
    let ended = world.run(world.campaign("out", "-n 1 -r 1"));
    ended.expect_code(0).expect_said("left out fake/lacking: program not found in PATH: `no-such-program`");
    assert!(world.load("out").samples.iter().all(|sample| sample.entry.as_ref() == "fake/plain"));
}
