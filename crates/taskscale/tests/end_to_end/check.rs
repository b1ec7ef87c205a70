//! `taskscale check`: a program for each fault, and its findings.

use std::fs;
use std::thread;

use serde_json::Value;

use crate::support::{FakeEntry, Finished, World, skipped};

/// What the scripted program cannot do: a shell script, told what to do wrong by its first argument.
const SCRIPT: &str = r#"
case=$1; shift
message() { echo "usage: <tasks> <seconds>" >&2; exit 2; }
whole() { case $1 in '' | *[!0-9]*) return 1 ;; esac; }
good() { [ $# -eq 2 ] && whole "$1" && whole "$2" && [ "$1" -ge 1 ]; }
case $case in
    takes-all) set -- "${1:-1}" "${2:-1}" ;;
    *) good "$@" || message ;;
esac
tasks=$1; wait=$2
case $case in
    order) echo "done $tasks"; echo "alive $tasks"; sleep "$wait"; exit ;;
    too-long) [ "$tasks" -gt 1 ] || wait=5.5 ;;
    too-short) wait=0 ;;
    # One write, as of one buffer.
    unflushed) sleep "$wait"; printf 'alive %s\ndone %s\n' "$tasks" "$tasks"; exit ;;
    files) echo left > left.txt ;;
    files-at-home) echo left > "$HOME/.left" ;;
    dear) sleep "$((tasks * 7 / 10))" ;;
    # In its first two runs: as on a machine that had no time for it.
    stalls)
        world=$(dirname "$0")/../..
        [ "$tasks" -ge 1000 ] && { mkdir "$world/stalled" || mkdir "$world/again"; } 2>/dev/null && sleep 5
        ;;
    source) echo left > "$(dirname "$0")/left.txt" ;;
esac
echo "alive $tasks"
sleep "$wait"
echo "done $tasks"
[ "$case" != lingers ] || [ "$tasks" -gt 1 ] || sleep 7.5
"#;

fn script(case: &str) -> FakeEntry {
    let mut entry = FakeEntry::new(case, "").program("sh").kind("timer");
    entry.flags = vec!["{src}/script.sh".into(), case.into()];
    entry
}

/// A scripted program that takes memory and CPU time and has threads, as tasks would, and this fault beside.
fn fake(name: &str, flags: &str) -> FakeEntry {
    FakeEntry::new(name, &format!("--threads 2 --anon-bytes-per-task 5000 --op-cpu-us 20 {flags}"))
}

fn world(entries: &[FakeEntry]) -> World {
    let world = World::new(entries);
    fs::write(world.path("catalog/fake/script.sh"), SCRIPT).unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    fs::write(world.path("catalog/fake/README.md"), format!("# Scripted\n\n{}\n", names.join(", "))).unwrap();
    world
}

/// A scripted program of work, and this fault beside.
fn work(name: &str, flags: &str) -> FakeEntry {
    FakeEntry::of_work(name, &format!("--op-cpu-us 20 {flags}"))
}

fn check(world: &World, more: &[&str]) -> Finished {
    world.run(world.command(&[&["check", "@all"], more].concat()))
}

/// `severity rule: what` of each finding of an entry.
fn found(json: &Value, name: &str) -> Vec<String> {
    let entries = json["entries"].as_array().expect("entries");
    let entry = entries.iter().find(|entry| entry["entry"] == format!("fake/{name}"));
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    entry.unwrap_or_else(|| panic!("{name} was not checked"))["findings"]
        .as_array()
        .expect("findings")
        .iter()
        .inspect(|found| assert!(text(&found["fix"]).contains(' '), "{found}: how is it fixed?"))
        .map(|found| {
            format!("{} {}: {}", text(&found["severity"]), text(&found["rule"]), text(&found["what"]))
        })
        .collect()
}

/// What is to be found of an entry: a severity and a rule, and a piece of what is said.
type Case = (FakeEntry, &'static str, &'static str);

/// Each entry with what is to be found of it. Side by side: most of the time their programs wait.
fn expect(cases: Vec<Case>) {
    thread::scope(|scope| {
        for case in cases {
            scope.spawn(|| expect_one(case));
        }
    });
}

/// Where the machine had no time for it, or hides what it did, that is said, and it is asked again; who never sees
/// it says so.
fn expect_one((entry, rule, said): Case) {
    let name = entry.name.clone();
    for attempt in 1.. {
        let world = world(std::slice::from_ref(&entry));
        let finished = check(&world, &["--json"]);
        let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:?}"));
        let found = found(&json, &name);
        finished.expect_code(if found.iter().any(|found| found.starts_with("error")) { 1 } else { 0 });
        world.assert_nothing_left();
        if found.iter().any(|found| found.starts_with(rule) && found.contains(said)) {
            return;
        }
        let hidden = found.iter().any(|found| {
            // What took too long on a busy machine weighs less.
            found.contains(said) || HIDDEN.iter().any(|words| found.contains(words))
        });
        assert!(hidden, "{name}: {rule}: {said}: not in {found:#?}");
        if attempt == ATTEMPTS {
            return skipped(&format!("the machine was too busy to see {name}: {found:#?}"));
        }
    }
}

const ATTEMPTS: u32 = 5;
/// Words of findings that blame the machine.
const HIDDEN: [&str; 4] = [
    "inconclusive",
    "other programs may have created",
    "taskscale was not scheduled",
    "by a CPU quota or a busy machine",
];

#[test]
fn conforming_programs_pass() {
    let entries = [
        fake("stackless", "").more("notes = [\"a\"]"),
        fake("stackful", "").kind("stackful"),
        FakeEntry::new("thread", "--threads-per-task 1").kind("thread"),
        script("timer"),
    ];
    let mut entries = entries.to_vec();
    // One that is not parallel may have one thread.
    entries[3].more = String::new();
    let world = world(&entries);
    let text = fs::read_to_string(world.manifest()).unwrap();
    let (before, last) = text.rsplit_once("parallel = true").unwrap();
    let text = format!("{before}parallel = false{last}");
    let text = text.replace("why = \"a test\"", "why = \"a program that does as it is told, for tests\"");
    let text = text.replace("install =", "minimum = \"0.1\"\ninstall =");
    fs::write(world.manifest(), text).unwrap();
    let finished = check(&world, &["--strict", "-q"]);
    finished.expect_code(0);
    // One timer for all takes nothing per task, give or take some pages.
    let text =
        without_figures(&finished.stdout).replace("100k tasks, about … bytes per task)", "100k tasks)");
    // On a busy machine growth is told from noise by more tasks.
    let text = text.replace("1k, 10k tasks, about", "1k tasks, about");
    insta::assert_snapshot!(text, @"
    fake/stackless: ok (1, 7, 1k tasks, about … bytes per task)
    fake/stackful: ok (1, 7, 1k tasks, about … bytes per task)
    fake/thread: ok (1, 7, 1k tasks, about … bytes per task)
    fake/timer: ok, 1 note (1, 7, 1k, 10k, 100k tasks)
      note [memory] 100000 tasks use … bytes per task more than one
        fix: none needed if one timer serves all tasks: explain it in `notes`

    4 entries: ok, 1 note
    ");
    assert_eq!(finished.stderr, "");
    world.assert_nothing_left();
}

/// Bytes a task differ from machine to machine.
fn without_figures(text: &str) -> String {
    let lines = text.lines().map(|line| match line.split_once(" bytes per task") {
        Some((before, after)) => {
            let start = before.rfind(' ').map_or(0, |space| space + 1);
            format!("{}… bytes per task{after}", &before[..start])
        }
        None => line.to_owned(),
    });
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn breaches_of_the_protocol_are_found() {
    expect(vec![
        (fake("no-alive", "--fault no-alive"), "error protocol", "`alive` was never printed"),
        (fake("twice", "--fault alive-twice"), "error protocol", "printed `alive` twice"),
        (fake("garbage", "--fault alive-garbage"), "error protocol", "printed \"alive lots\""),
        (fake("stray", "--fault long-line:20"), "error protocol", "unexpected output"),
        (script("order"), "error protocol", "`done` is printed before `alive`"),
        (script("unflushed"), "error protocol", "flush standard output"),
        (fake("too-many", "--fault alive-too-many"), "error counts", "`alive 2` for 1 tasks"),
        (fake("partial", "--fault partial:3"), "error counts", "3 of 7 tasks were alive at once"),
        (fake("short", "--fault done-short:1"), "error counts", "`done 0` for 1 tasks"),
        (fake("no-done", "--fault no-done"), "error counts", "`done` was never printed"),
    ]);
}

#[test]
#[ignore = "many checks: minutes"]
fn waits_ends_and_what_is_left_are_looked_at() {
    expect(vec![
        (script("too-long"), "error wait", "`done` came "),
        (script("too-short"), "error wait", "its tasks must wait 1 s"),
        (script("lingers"), "warning exit", "after `done`"),
        (fake("crash", "--fault crash:plateau"), "error exit", "SIGSEGV"),
        (fake("code", "--fault exit:end:3"), "error exit", "exited with code 3"),
        (fake("orphan", "--fault orphan"), "error processes", "processes outlive the program"),
        (script("files"), "error files", "leaves files in its working folder: left.txt"),
        (script("files-at-home"), "warning files", "leaves files in the user's home: .left"),
        (script("source"), "error files", "source folder: left.txt"),
    ]);
}

#[test]
#[ignore = "many checks: minutes"]
fn a_program_that_does_not_end_is_found() {
    expect(vec![(fake("hangs", "--fault hang:end"), "error exit", "`done` was printed, but")]);
}

#[test]
fn wrong_arguments_end_with_another_code_than_0() {
    expect(vec![(script("takes-all"), "error arguments", "no arguments: exit code 0")]);
}

#[test]
#[ignore = "needs an idle machine"]
fn claims_are_compared_with_what_the_kernel_counts() {
    expect(vec![
        (fake("not-threads", "").kind("thread"), "error kind", "kernel"),
        (fake("threads", "--threads-per-task 1"), "error kind", "kind is stackless, but the kernel counts"),
        (fake("busy", "--burn-percent 100"), "note quiet", "not idle"),
        (FakeEntry::new("one-thread", "--anon-bytes-per-task 5000"), "error parallel", "counts one thread"),
        (FakeEntry::new("nothing", "--threads 2"), "error memory", "100000 tasks use "),
        (
            FakeEntry::new("no-stack", "--threads 2 --anon-bytes-per-task 60").kind("stackful"),
            "error kind",
            "too little for a stack",
        ),
        (FakeEntry::new("one-timer", "--threads 2").kind("timer"), "note memory", " tasks use "),
        // 5 s for a thousand tasks are 500 s for 100,000: too many, were it so.
        (script("stalls"), "note memory", "100000 tasks use "),
    ]);
}

#[test]
#[ignore = "needs an idle machine"]
fn work_is_looked_at() {
    expect(vec![
        (work("no-ready", "--fault no-ready"), "error protocol", "`ready` was never printed"),
        (work("ready-twice", "--fault ready-twice"), "error protocol", "printed `ready` twice"),
        (work("done-early", "--fault done-early"), "error protocol", "`done` is printed before `ready`"),
        (work("no-check", "--fault no-check"), "error protocol", "`check` was never printed"),
        (work("wrong-check", "--fault wrong-check"), "error work", "expected 21"),
        (work("fewer", "--fault done-short:1"), "error counts", "`done 6` for 7 operations"),
        (work("no-done", "--fault no-done"), "error counts", "`done` was never printed"),
        (work("code", "--fault exit:end:1"), "error exit", "exited with code 1"),
        (work("crash", "--fault crash:plateau"), "error exit", "SIGSEGV"),
        (
            work("files", "--fault chdir-write"),
            "error files",
            "leaves files in its working folder: fake-entry",
        ),
        (work("orphan", "--fault orphan"), "error processes", "processes outlive the program"),
    ]);
}

#[test]
#[ignore = "needs an idle machine"]
fn operations_that_are_not_made_are_found() {
    expect(vec![
        (FakeEntry::of_work("nothing", ""), "error work", "is too little"),
        (FakeEntry::of_work("some", "--work-cpu-ms 1500"), "error work", "for twice the operations"),
        (work("ready-late", "--fault ready-late"), "error work", "before and after, which grow"),
        (work("no-threads", "").kind("thread"), "error kind", "kind is thread, which needs"),
    ]);
    // Alone: while others use the CPUs, threads that the machine makes may be theirs.
    let threads = FakeEntry::of_work("threads", "--op-threads");
    expect(vec![(threads, "error kind", "kind is stackless, but the machine created")]);
}

/// Each program of an entry is checked by what its own workload is, and named where there are several.
#[test]
#[ignore = "many checks: minutes"]
fn every_program_of_an_entry_is_checked() {
    let entries = [
        fake("both", "").and_work("--op-cpu-us 20"),
        FakeEntry::of_work("threads", "--op-threads").kind("thread"),
        // Operations that only wait cannot be told from none.
        FakeEntry::of_work("waits", "--op-sleep-us 500 --op-cpu-us 1"),
    ];
    let world = world(&entries);
    let text = (0..ATTEMPTS).find_map(|_| {
        let finished = check(&world, &["-q"]);
        let hidden = HIDDEN.iter().any(|words| finished.stdout.contains(words));
        (!hidden).then(|| {
            finished.expect_code(1);
            finished.stdout
        })
    });
    let Some(text) = text else { return skipped("the machine was too busy to see every program") };
    let lines: Vec<String> = without_figures(&text)
        .lines()
        .filter(|line| !line.starts_with("  "))
        .map(|line| match line.split_once(", about ") {
            Some((before, after)) if after.contains("ns of CPU") => format!("{before}, about … of CPU)"),
            _ => line.to_owned(),
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n"), @"
    fake/both sleep: ok, 1 warning, 1 note (1, 7, 1k tasks, about … bytes per task)
    fake/both spawn: ok (1, 10, 1k tasks, about … of CPU)
    fake/threads: ok, 1 warning, 1 note (1, 10, 1k tasks, about … of CPU)
    fake/waits: 1 error, 1 warning, 1 note (1, 10, 1k tasks)

    3 entries with 4 programs: 1 error, 3 warnings, 3 notes
    ");
    let finished = check(&world, &["--json", "-w", "spawn"]);
    finished.expect_code(1);
    let json: Value = serde_json::from_str(&finished.stdout).unwrap();
    for entry in json["entries"].as_array().unwrap() {
        assert_eq!(entry["workload"], "spawn", "{entry}");
        assert!(entry["trials"][0]["operations"] == 7 && entry["trials"][0]["hold_s"].is_null(), "{entry}");
    }
    world.assert_nothing_left();
}

#[test]
#[ignore = "many checks: minutes"]
fn dear_tasks_are_tried_in_smaller_numbers() {
    expect(vec![(script("dear"), "note limit", "not run with more than 7 tasks: 1000 need")]);
}

#[test]
#[ignore = "many checks: minutes"]
fn builds_are_looked_at() {
    let build = |line: &str| {
        let mut entry = script("built").more(&format!("build = [\"sh\", \"-c\", {line:?}]"));
        entry.flags[0] = "{out}/script.sh".into();
        entry
    };
    let named = |name: &str, line: &str| FakeEntry { name: name.into(), ..build(line) };
    let entries = [
        named("same", "cp script.sh {out}; echo '# {out}' >> {out}/script.sh"),
        named("other", "cp script.sh {out}; echo \"# $(date +%N)\" >> {out}/script.sh"),
        named("leaves", "cp script.sh {out}; date > left.o"),
        named("fails", "echo no compiler; exit 3"),
    ];
    let world = world(&entries);
    let finished = check(&world, &["--rebuild", "--json"]);
    finished.expect_code(1);
    let json: Value = serde_json::from_str(&finished.stdout).unwrap();
    let about_builds = |name: &str| -> Vec<String> {
        found(&json, name).into_iter().filter(|found| found.contains(" build: ")).collect()
    };
    assert_eq!(about_builds("same"), [""; 0]);
    assert_eq!(
        about_builds("other"),
        ["warning build: two builds of the same sources differ: other/sleep/script.sh"]
    );
    let left = found(&json, "leaves");
    assert!(left.iter().any(|found| found.contains("source folder: left.o")), "{left:?}");
    let failed = &about_builds("fails")[0];
    assert!(failed.starts_with("error build: ") && failed.contains("no compiler"), "{failed}");
    world.assert_nothing_left();
}

#[test]
fn manifests_are_looked_at() {
    let entries = [fake("a-thing", "").more("notes = []"), script("wrapped")];
    let world = world(&entries);
    let text = fs::read_to_string(world.manifest()).unwrap();
    let text = text.replace("https://example.org", "example");
    let text = text.replacen("why = \"a test\"", "why = \"TODO: say why this is the way\"", 1);
    let text = text.replace(
        "run = [\"sh\", \"{src}",
        "run = [\"sh\", \"-c\", \"sh \\\"$0\\\" \\\"$@\\\"; exit $?\", \"{src}",
    );
    fs::write(world.manifest(), text).unwrap();
    fs::write(world.path("catalog/fake/README.md"), "# Scripted: a-thing\n\nTODO\n").unwrap();
    let finished = check(&world, &["--json", "--strict"]);
    finished.expect_code(1);
    let json: Value = serde_json::from_str(&finished.stdout).unwrap();
    let about = |name: &str| -> Vec<String> {
        found(&json, name).into_iter().filter(|found| found.contains(" manifest: ")).collect()
    };
    insta::assert_snapshot!(about("a-thing").join("\n"), @r#"
    warning manifest: README.md has a TODO
    warning manifest: `url` is not a URL: "example"
    warning manifest: `why` is not written yet
    note manifest: no `minimum` version of Scripted
    "#);
    insta::assert_snapshot!(about("wrapped").join("\n"), @r#"
    warning manifest: `run` starts a wrapper that keeps running: `sh -c`
    warning manifest: `url` is not a URL: "example"
    warning manifest: `why` is too short: "a test"
    note manifest: README.md does not name `wrapped`
    note manifest: no `minimum` version of Scripted
    "#);
    fs::remove_file(world.path("catalog/fake/README.md")).unwrap();
    let finished = world.run(world.command(&["check", "fake/a-thing"]));
    finished.expect_code(1);
    assert!(finished.stdout.contains("error [manifest] no README.md"), "{}", finished.stdout);
    world.assert_nothing_left();
}

#[test]
fn what_cannot_be_checked_is_said() {
    let world = world(&[fake("good", "")]);
    let finished = world.run(world.command(&["check"]));
    finished.expect_code(2).expect_said("<ENTRY>");
    let finished = world.run(world.command(&["check", "fake/god"]));
    finished.expect_code(2).expect_said("did you mean `fake/good`?");
    let text = fs::read_to_string(world.manifest()).unwrap();
    let missing = text.replace(&world.fake().display().to_string(), "/no/such/compiler");
    fs::write(world.manifest(), missing).unwrap();
    let finished = check(&world, &[]);
    finished.expect_code(2).expect_said("none of these entries can run here: Scripted is not installed");
    assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    world.assert_nothing_left();
}
