//! `taskscale check`: a program for each fault, and its findings.

use std::fs;
use std::sync::Mutex;
use std::thread;

use serde_json::Value;

use crate::support::{FakeEntry, Finished, World, on_path, skipped};

/// Faults that the scripted program lacks: a shell script whose first argument selects the fault.
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
    # One write, as of one buffer.
    unflushed) sleep "$wait"; printf 'alive %s\ndone %s\n' "$tasks" "$tasks"; exit ;;
    files) echo left > left.txt ;;
    files-at-home) echo left > "$HOME/.left" ;;
    dear) sleep "$((tasks * 7 / 10))" ;;
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

/// A scripted program that takes memory and CPU time and has threads, as tasks would, with the flags of its
/// fault.
fn fake(name: &str, flags: &str) -> FakeEntry {
    FakeEntry::new(name, &format!("--threads 2 --anon-bytes-per-task 5000 --op-cpu-us 50 {flags}"))
}

fn world(entries: &[FakeEntry]) -> World {
    let world = World::new(entries);
    fs::write(world.path("catalog/fake/script.sh"), SCRIPT).unwrap();
    let names: Vec<&str> = entries.iter().map(|entry| entry.name.as_str()).collect();
    fs::write(world.path("catalog/fake/README.md"), format!("# Scripted\n\n{}\n", names.join(", "))).unwrap();
    world
}

/// A scripted program of work, with the flags of its fault.
fn work(name: &str, flags: &str) -> FakeEntry {
    FakeEntry::of_work(name, &format!("--op-cpu-us 20 {flags}"))
}

fn check(world: &World, more: &[&str]) -> Finished {
    world.run(world.command(&[&["check", "@all"], more].concat()))
}

/// `severity rule: what` of each finding of an entry's programs.
fn found(json: &Value, name: &str) -> Vec<String> {
    let text = |value: &Value| value.as_str().expect("a text").to_owned();
    let programs = json["entries"].as_array().expect("entries").iter();
    let of_entry = programs.filter(|entry| entry["entry"] == format!("fake/{name}"));
    of_entry
        .flat_map(|entry| entry["findings"].as_array().expect("findings"))
        .inspect(|found| assert!(text(&found["fix"]).contains(' '), "{found}: how is it fixed?"))
        .map(|found| {
            format!("{} {}: {}", text(&found["severity"]), text(&found["rule"]), text(&found["what"]))
        })
        .collect()
}

/// An entry, the severity and rule of its expected finding, and a part of the message.
type Case = (FakeEntry, &'static str, &'static str);

/// Cases in one check, and checks at a time.
const IN_ONE_CHECK: usize = 4;
const AT_A_TIME: usize = 3;

/// Asserts that each entry has its expected finding.
fn expect(cases: &[Case], at_a_time: usize) {
    let parts = Mutex::new(cases.chunks(IN_ONE_CHECK));
    let next = || parts.lock().expect("a list of cases").next();
    let missing: Vec<String> = thread::scope(|scope| {
        let workers: Vec<_> = (0..at_a_time)
            .map(|_| scope.spawn(|| std::iter::from_fn(next).flat_map(missing_of).collect::<Vec<_>>()))
            .collect();
        workers.into_iter().flat_map(|worker| worker.join().expect("checks")).collect()
    });
    assert!(missing.is_empty(), "{}", missing.join("\n"));
}

fn missing_of(cases: &[Case]) -> Vec<String> {
    let entries: Vec<FakeEntry> = cases.iter().map(|(entry, ..)| entry.clone()).collect();
    let world = world(&entries);
    let finished = check(&world, &["--json"]);
    world.assert_nothing_left();
    let json: Value = serde_json::from_str(&finished.stdout).unwrap_or_else(|_| panic!("{finished:?}"));
    let mut missing = Vec::new();
    for (entry, rule, said) in cases {
        let found = found(&json, &entry.name);
        if !found.iter().any(|found| found.starts_with(rule) && found.contains(said)) {
            missing.push(format!("{}: {rule}: {said}: not in {found:#?}", entry.name));
        }
    }
    let errors =
        cases.iter().any(|(entry, ..)| found(&json, &entry.name).iter().any(|f| f.starts_with("error")));
    assert_eq!(finished.code(), i32::from(errors), "{finished:?}");
    missing
}

/// Findings that depend on the machine's load are notes, warnings or `unconfirmed`: a conforming program has no
/// errors.
#[test]
fn conforming_programs_pass() {
    let entries = [
        fake("stackless", "").more("notes = [\"a\"]").and_work("--op-cpu-us 20"),
        fake("stackful", "").kind("stackful"),
        FakeEntry::new("thread", "--threads-per-task 1").kind("thread"),
    ];
    let world = world(&entries);
    let finished = check(&world, &["--json", "-q"]);
    assert_eq!(finished.stderr, "");
    let json: Value = serde_json::from_str(&finished.stdout).unwrap();
    assert_eq!(json["entries"].as_array().map(Vec::len), Some(4), "{json}");
    let found = entries.iter().flat_map(|entry| found(&json, &entry.name));
    let errors: Vec<String> = found.filter(|found| found.starts_with("error")).collect();
    let of_the_machine = |found: &String| {
        found.starts_with("error unconfirmed") && found.ends_with(": inconclusive on a busy machine")
    };
    assert!(errors.iter().all(of_the_machine), "{errors:#?}");
    finished.expect_code(i32::from(!errors.is_empty()));
    world.assert_nothing_left();
}

#[test]
fn protocol_errors_and_leftovers_are_detected() {
    let cases = [
        (fake("no-alive", "--fault no-alive"), "error protocol", "`alive` was never printed"),
        (fake("twice", "--fault alive-twice"), "error protocol", "printed `alive` twice"),
        (fake("stray", "--fault long-line:20"), "error protocol", "unexpected output"),
        (script("order"), "error protocol", "`done` is printed before `alive`"),
        (script("unflushed"), "error protocol", "flush standard output"),
        (fake("too-many", "--fault alive-too-many"), "error counts", "`alive 2` for 1 task"),
        (fake("partial", "--fault partial:3"), "error counts", "3 of 7 tasks were alive at once"),
        (fake("no-done", "--fault no-done"), "error counts", "`done` was never printed"),
        (fake("crash", "--fault crash:plateau"), "error exit", "SIGSEGV"),
        (fake("code", "--fault exit:end:3"), "error exit", "exited with code 3"),
        (fake("orphan", "--fault orphan"), "error processes", "outlive"),
        (script("files"), "error files", "left.txt"),
        (script("files-at-home"), "warning files", ".left"),
        (script("source"), "error files", "left.txt"),
        (script("takes-all"), "error arguments", "exit code 0"),
        (work("no-ready", "--fault no-ready"), "error protocol", "`ready` was never printed"),
        (work("wrong-check", "--fault wrong-check"), "error work", "expected 21"),
        (work("work-orphan", "--fault orphan"), "error processes", "outlive"),
    ];
    expect(&cases, AT_A_TIME);
}

/// These cases depend on times and on kernel counters, which a busy machine distorts.
#[test]
#[ignore = "nightly: needs an idle machine"]
fn claims_are_compared_with_kernel_counts_and_times() {
    let cases = [
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
        (script("too-long"), "error wait", "`done` came "),
        (script("lingers"), "warning exit", "after `done`"),
        (fake("hangs", "--fault hang:end"), "error exit", "`done` was printed, but"),
        (script("dear"), "note limit", "not run with more than 7 tasks: 1000 need"),
        (FakeEntry::of_work("no-work", ""), "error work", "is too little"),
        (FakeEntry::of_work("some-work", "--work-cpu-ms 1500"), "error work", "for twice the operations"),
        (work("ready-late", "--fault ready-late"), "error work", "before and after, which grow"),
        (work("no-threads", "").kind("thread"), "error kind", "kind is thread, which needs"),
        (
            FakeEntry::of_work("work-threads", "--op-threads"),
            "error kind",
            "kind is stackless, but the machine created",
        ),
    ];
    expect(&cases, 1);
}

#[test]
#[ignore = "nightly: many checks"]
fn builds_that_differ_leave_files_or_fail_are_reported() {
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

/// Programs that print the correct output but create no tasks never pass (`attacks/fakes.c`).
#[test]
fn programs_without_tasks_fail_the_check() {
    let world = World::new(&[]);
    if !on_path("cc") {
        return skipped("no C compiler is here");
    }
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/end_to_end/attacks/fakes.c");
    let program = world.path("bin/fakes");
    let compiled =
        std::process::Command::new("cc").args(["-O2", "-pthread", "-o"]).arg(&program).arg(source).status();
    assert!(compiled.expect("cc").success());
    let lies = |(name, workload): (&str, &'static str)| FakeEntry {
        waits: Some(workload),
        flags: vec![workload.to_owned()],
        ..FakeEntry::new(name, "").program(&program.display().to_string())
    };
    let entries = [("sleeps", "sleep"), ("spawns", "spawn")].map(lies);
    fs::write(world.manifest(), world.manifest_of(&entries)).unwrap();
    let finished = check(&world, &["--json"]);
    finished.expect_code(1);
    world.assert_nothing_left();
    let json: Value = serde_json::from_str(&finished.stdout).unwrap();
    // On a busy machine, it may remain unconfirmed, which is an error as well.
    for (name, rule) in [("sleeps", "error made"), ("spawns", "error work")] {
        let found = found(&json, name);
        let is_it = |found: &String| found.starts_with(rule) || found.starts_with("error unconfirmed");
        assert!(found.iter().any(is_it), "{name}: {found:#?}");
    }
}
