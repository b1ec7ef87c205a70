//! What must not be mixed in one campaign, or run beside it: other samples, other conditions, other builds.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use crate::support::{FakeEntry, World, is_root, list, skipped};
use taskscale::record::{self, MemorySource, Status, Warning};

/// Entries `a` and `b`; `b` has a toolchain of its own, whose version a file of the world says.
fn two_toolchains() -> World {
    let world = World::new(&[]);
    let entries = [FakeEntry::new("a", ""), FakeEntry::new("b", "").more("toolchain = \"other\"")];
    let other = format!(
        "\n[toolchain.other]\ntitle = \"Other\"\nversion = [\"cat\", {:?}]\ninstall = {{ other = \"write it\" }}\n",
        world.path("version").display().to_string()
    );
    fs::write(world.path("version"), "other 1.0\n").unwrap();
    fs::write(world.manifest(), world.manifest_of(&entries) + &other).unwrap();
    world
}

/// A command whose standard error can be read while it runs.
fn overheard(mut command: Command, path: &Path) -> Command {
    command.stderr(fs::File::create(path).unwrap());
    command
}

fn says(path: &Path, what: &str) -> bool {
    fs::read_to_string(path).unwrap().contains(what)
}

/// Lines of a campaign's samples, or of what is to be one.
fn write_lines(world: &World, folder: &str, lines: &[String]) {
    fs::write(world.path(folder).join("samples.jsonl"), lines.join("\n") + "\n").unwrap();
}

fn lines(world: &World, folder: &str) -> Vec<String> {
    let text = fs::read_to_string(world.path(folder).join("samples.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A sample with a footprint that nobody can overlook.
fn enormous(line: &str) -> String {
    let mut sample: serde_json::Value = serde_json::from_str(line).unwrap();
    sample["memory"]["plateau"]["footprint_bytes"] = 999_999_999_u64.into();
    sample.to_string()
}

#[test]
fn samples_without_a_campaign_are_nobodys() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    world.run(world.campaign("made", "-n 3")).expect_code(0);
    fs::create_dir(world.path("out")).unwrap();
    write_lines(&world, "out", &[enormous(&lines(&world, "made")[0])]);
    let before = world.snapshot();
    let (folder, fake) = (world.path("out").display().to_string(), world.fake().display().to_string());
    for args in [
        vec!["run", "@all", "--quick", "-n", "3", "-o", &folder],
        vec!["run", "@all", "--quick", "-n", "3", "-o", &folder, "--dry-run"],
        vec!["measure", "-o", &folder, "--", &fake, "1", "1"],
        vec!["limit", "fake/well", "--memory", "64MiB", "-o", &folder],
    ] {
        let finished = world.run(world.command(&args));
        finished.expect_code(2).expect_said("campaign.json not found");
        finished.expect_said("hint: restore campaign.json");
        assert!(finished.stdout.is_empty(), "{}", finished.stdout);
    }
    let after = world.snapshot();
    assert!(after == before, "something was written");
    // What a start that was cut off leaves is no sample.
    write_lines(&world, "out", &[]);
    fs::write(world.path("out/samples.jsonl"), "").unwrap();
    world.run(world.campaign("out", "-n 3")).expect_code(0);
    assert_eq!(world.runs("out").len(), 1);
}

#[test]
fn another_campaigns_sample_counts_nowhere() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    for folder in ["one", "other"] {
        world.run(world.campaign(folder, "-n 3")).expect_code(0);
    }
    let ids = ["one", "other"].map(|folder| world.load(folder).campaign.id.unwrap());
    assert_ne!(ids[0], ids[1]);
    let own = lines(&world, "one").pop().unwrap();
    assert_eq!(world.load("one").samples[0].campaign.as_deref(), Some(&*ids[0]));
    let unmarked = enormous(&own.replacen(&format!(",\"campaign\":{:?}", ids[0]), "", 1));
    assert!(!unmarked.contains(&ids[0]));
    let external = enormous(&lines(&world, "other")[0]);
    write_lines(&world, "one", &[own.clone(), external.clone(), unmarked.clone()]);

    let (one, other) = (world.path("one").display().to_string(), world.path("other").display().to_string());
    for args in [
        vec!["report", &one],
        vec!["report", &one, "--format", "csv", "--samples"],
        vec!["report", &one, &other],
        vec!["compare", &one, &other],
    ] {
        let finished = world.run(world.command(&args));
        let said = format!("campaign {:?}, expected {:?}", ids[1], ids[0]);
        finished.expect_code(0).expect_said("line 2 of ").expect_said(&said);
        finished.expect_said("line 3 of ").expect_said("campaign without an id");
        for enormous in ["999999999", "999,999,999", "953.7"] {
            assert!(!finished.stdout.contains(enormous), "{args:?}:\n{}", finished.stdout);
        }
    }
    let finished = world.run(world.campaign("one", "-n 3"));
    finished.expect_code(0).expect_said("set aside in samples.rejected.jsonl: line 2 of ");
    assert_eq!(lines(&world, "one"), std::slice::from_ref(&own));
    let aside = fs::read_to_string(world.path("one/samples.rejected.jsonl")).unwrap();
    assert_eq!(aside, format!("{external}\n{unmarked}\n"));
}

/// A folder that an older taskscale made, which knew no ids and no conditions.
#[test]
fn an_older_campaign_is_read_and_gone_on_with_as_before() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    world.run(world.campaign("out", "-n 3,4")).expect_code(0);
    let path = world.path("out/campaign.json");
    let mut campaign: serde_json::Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let of_today = campaign.clone();
    for field in ["id", "conditions"] {
        assert!(campaign.as_object_mut().unwrap().remove(field).is_some(), "{field}");
    }
    assert!(campaign["entries"][0].as_object_mut().unwrap().remove("program_digest").is_some());
    fs::write(&path, campaign.to_string()).unwrap();
    let last = |tasks| {
        let of = format!(",\"tasks\":{tasks},");
        lines(&world, "out").into_iter().rfind(|line| line.contains(&of)).expect("a run")
    };
    let marked = [last(3), last(4)];
    let mark = format!(",\"campaign\":{}", of_today["id"]);
    let unmarked = marked[0].replacen(&mark, "", 1);
    // A line that carries an id is not of a campaign that has none.
    write_lines(&world, "out", &[unmarked.clone(), marked[1].clone()]);
    let shown = world.run(world.command(&["report", &world.path("out").display().to_string()]));
    shown.expect_code(0).expect_said("left out: line 2 of ");
    world.run(world.campaign("out", "-n 3,4")).expect_code(0).expect_said("resuming ");
    let loaded = world.load("out");
    assert_eq!(record::last_attempts(&loaded.samples).len(), 2);
    assert!(loaded.campaign.id.is_none() && loaded.samples.iter().all(|sample| sample.campaign.is_none()));
    assert_eq!(lines(&world, "out")[0], unmarked, "good lines stay as they are");
    world.run(world.campaign("out", "-n 3,4")).expect_code(0);
}

#[test]
fn a_campaign_goes_on_under_the_conditions_that_it_was_begun_under() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    world.run(world.campaign("out", "-n 3 --memory-cap 300MiB --timeout 90s --seed 1")).expect_code(0);
    let conditions = world.load("out").campaign.conditions.expect("conditions");
    assert_eq!((conditions.memory_cap_bytes, conditions.time_cap_s), (Some(300 << 20), Some(90.0)));
    assert_eq!(conditions.memory_source, Some(world.load("out").samples[0].memory.source));
    let refused = |world: &World, more: &str, said: &str| {
        let files =
            || ["campaign.json", "samples.jsonl"].map(|name| fs::read(world.path("out").join(name)).unwrap());
        let before = files();
        for more in [more.to_owned(), format!("{more} --dry-run")] {
            // Without starting anything it is not known how memory would be read.
            if said.contains("now proc") && more.contains("--dry-run") {
                continue;
            }
            let finished = world.run(world.campaign("out", &format!("-n 3 {more}")));
            finished.expect_code(2).expect_said("cannot resume").expect_said(said);
        }
        assert!(files() == before, "something was written");
    };
    refused(&world, "--memory-cap 2MiB", "300 MiB, now 2.00 MiB (leave out --memory-cap");
    refused(&world, "--timeout 3s", "1 m 30 s, now 3.00 s (leave out --timeout");
    refused(&world, "--seed 2", "seed is 1, not 2");
    if conditions.memory_source != Some(MemorySource::Proc) {
        world.env.insert("TASKSCALE_CGROUP".into(), "none".into());
        refused(&world, "", "now proc");
        world.env.remove("TASKSCALE_CGROUP");
    }
    // What is not said is as it was, and so is what is said alike.
    fs::write(world.path("out/samples.jsonl"), "").unwrap();
    world.run(world.campaign("out", "-n 3 --timeout 90s")).expect_code(0).expect_said("resuming ");
    assert_eq!(world.load("out").samples[0].memory.cap_bytes, Some(300 << 20));
    // A cap that nobody named stays what it was found to be, whatever is available today.
    world.run(world.campaign("own", "-n 3")).expect_code(0);
    let cap = world.load("own").samples[0].memory.cap_bytes;
    assert!(cap.is_some() && world.load("own").campaign.conditions.unwrap().memory_cap_bytes == cap);
    fs::write(world.path("own/samples.jsonl"), "").unwrap();
    world.run(world.campaign("own", "-n 3")).expect_code(0);
    assert_eq!(world.load("own").samples[0].memory.cap_bytes, cap);
    world.assert_nothing_left();
}

#[test]
fn a_toolchain_that_was_away_may_not_come_back_newer() {
    let world = two_toolchains();
    let version = world.path("version");
    world.run(world.campaign("out", "-n 3")).expect_code(0);
    let facts = |world: &World| world.load("out").campaign.entries.remove(1);
    let known = facts(&world);
    assert_eq!((known.name.as_str(), known.version.as_deref()), ("fake/b", Some("other 1.0")));

    fs::remove_file(&version).unwrap();
    world.run(world.campaign("out", "-n 3")).expect_code(0).expect_said("left out fake/b");
    let away = facts(&world);
    assert!(away.unavailable.is_some());
    assert_eq!((&away.version, &away.digest), (&known.version, &known.digest), "what was known is kept");

    fs::write(&version, "other 2.0\n").unwrap();
    let finished = world.run(world.campaign("out", "-n 3"));
    finished.expect_code(2).expect_said("fake/b was other 1.0, now other 2.0");
    fs::write(&version, "other 1.0\n").unwrap();
    world.run(world.campaign("out", "-n 3")).expect_code(0).expect_said("resuming ");
    assert_eq!(facts(&world), known);
}

#[test]
fn a_search_and_a_campaign_do_not_share_a_folder() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    world.run(world.campaign("out", "-n 3")).expect_code(0);
    fs::write(world.path("out/limit.json"), "{}").unwrap();
    let finished = world.run(world.campaign("out", "-n 3"));
    finished.expect_code(2).expect_said("a search of `taskscale limit`");
    // Nor one that was cut off before its first run.
    fs::create_dir(world.path("begun")).unwrap();
    fs::write(world.path("begun/limit.json"), "{}").unwrap();
    let finished = world.run(world.campaign("begun", "-n 3"));
    finished.expect_code(2).expect_said("not empty");
}

/// Folders that nobody named are named by the second: none is shared, whatever the second.
#[test]
fn campaigns_begun_at_once_have_folders_of_their_own() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    let mut commands = Vec::new();
    for number in 0..4 {
        world
            .env
            .insert("TASKSCALE_LOCK".into(), world.path(&format!("lock-{number}")).display().to_string());
        let mut command = world.command(&["run", "@all", "--quick", "-n", "3"]);
        command.current_dir(world.path(""));
        commands.push(command);
    }
    let running: Vec<_> = commands.into_iter().map(|command| world.start(command)).collect();
    running.into_iter().for_each(|running| {
        running.wait().expect_code(0);
    });
    let folders: Vec<_> = fs::read_dir(world.path("taskscale-results")).unwrap().flatten().collect();
    assert_eq!(folders.len(), 4, "{folders:?}");
    for folder in folders {
        let samples = record::load(&folder.path()).unwrap().samples;
        assert_eq!(record::last_attempts(&samples).len(), 1);
    }
    world.assert_nothing_left();
}

#[test]
fn a_machine_that_cannot_be_locked_is_measured_with_a_warning() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    // No file, and nothing that root could open all the same.
    fs::create_dir(world.path("no-lock")).unwrap();
    world.env.insert("TASKSCALE_LOCK".into(), world.path("no-lock").display().to_string());
    let finished = world.run(world.campaign("out", "-n 3 --quiet"));
    finished.expect_code(0).expect_said("the machine is not locked (cannot open");
    assert_eq!(world.load("out").samples[0].status, Status::Ok);
    assert!(world.load("out").samples[0].warnings.contains(&Warning::MachineNotLocked));
    assert!(finished.stdout.contains("The machine could not be locked"), "{}", finished.stdout);
}

#[test]
fn without_the_lock_samples_are_marked_and_no_file_is_emptied_for_it() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    let taken = fs::File::create(world.path("lock")).unwrap();
    taken.lock().unwrap();
    let beside = world.run(world.campaign("beside", "-n 3 --no-lock"));
    beside.expect_code(0).expect_said("the machine is not locked (--no-lock");
    let samples = world.load("beside").samples;
    assert!(samples.iter().all(|sample| sample.warnings.contains(&Warning::MachineNotLocked)));
    world.run(world.campaign("neither", "-n 3 --no-lock --no-wait")).expect_code(2);
    // What somebody wrote is no lock.
    world.env.insert("TASKSCALE_LOCK".into(), world.path("thesis.tex").display().to_string());
    fs::write(world.path("thesis.tex"), "years of work").unwrap();
    let finished = world.run(world.campaign("out", "-n 3"));
    finished.expect_code(0).expect_said("not a lock file of taskscale");
    assert_eq!(fs::read_to_string(world.path("thesis.tex")).unwrap(), "years of work");
    world.assert_nothing_left();
}

/// Another user's lock file, made under the usual umask by an older taskscale: it can be read and not written.
#[test]
fn another_users_campaign_is_waited_for() {
    if !is_root() {
        return skipped("only root can be somebody else");
    }
    let world = World::new(&[]);
    fs::set_permissions(world.path(""), fs::Permissions::from_mode(0o755)).unwrap();
    let path = world.path("lock");
    fs::write(&path, "taskscale 1 with what was measured long ago").unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
    let file = fs::File::open(&path).unwrap();
    file.lock().unwrap();
    let heard = world.path("heard");
    let mut command = world.command(&["clean"]);
    command.uid(65534).gid(65534);
    let waiting = world.start(overheard(command, &heard));
    let said = format!("waiting: process {} (", std::process::id());
    world.until("it waits", || says(&heard, &said));
    drop(file);
    waiting.wait().expect_code(0);
    assert!(!says(&heard, "cannot be locked"));
}

/// A world with two entries that are built in one folder, one after the other: `slow` until it is told to go on.
fn builders() -> World {
    let world = World::new(&[]);
    let gate = world.path("gate").display().to_string();
    let slow = format!("build = [\"sh\", \"-c\", \"until test -e {gate}; do sleep 0.05; done\"]");
    // By commands of its own each: what the same commands make is built once.
    let entries = ["quick", "other"].map(|name| (name, format!("build = [\"true\", \"{name}\"]")));
    let entries = entries.into_iter().chain([("slow", slow)]);
    let entries: Vec<FakeEntry> =
        entries.map(|(name, build)| FakeEntry::new(name, "").more(&build)).collect();
    fs::write(world.manifest(), world.manifest_of(&entries)).unwrap();
    world
}

#[test]
fn a_build_waits_aloud_for_another_and_what_is_built_does_not_wait() {
    let world = builders();
    world.run(world.command(&["build", "fake/quick"])).expect_code(0);
    let slow = world.start(world.command(&["build", "fake/slow"]));
    let log = || list(&world.path("cache")).iter().any(|path| path.ends_with("slow.sleep.log"));
    world.until("the slow build is at work", log);
    // Built already: nobody is waited for.
    world.run(world.command(&["build", "fake/quick"])).expect_code(0);

    let said = format!("waiting to build fake/other: taskscale {} is building fake/slow", slow.pid());
    let heard = world.path("heard");
    let impatient = world.start(overheard(world.command(&["build", "fake/other"]), &heard));
    world.until("it waits", || says(&heard, &said));
    impatient.signal(libc::SIGINT);
    impatient.wait().expect_code(130);

    let patient = world.start(overheard(world.command(&["build", "fake/other", "fake/slow"]), &heard));
    world.until("it waits", || says(&heard, &said));
    fs::write(world.path("gate"), "").unwrap();
    slow.wait().expect_code(0);
    patient.wait().expect_code(0);
}

#[test]
fn twins_are_built_once_and_runtimes_side_by_side() {
    let world = World::new(&[]);
    let path = |name: &str| world.path(name).display().to_string();
    let count = format!("build = [\"sh\", \"-c\", \"echo >> {}\"]", path("times"));
    let twins: Vec<FakeEntry> = ["one", "other"].map(|name| FakeEntry::new(name, "").more(&count)).into();
    fs::write(world.manifest(), world.manifest_of(&twins)).unwrap();
    world.run(world.command(&["build", "fake/other"])).expect_code(0);
    world.run(world.command(&["build", "fake/one", "fake/other"])).expect_code(0);
    assert_eq!(fs::read_to_string(world.path("times")).unwrap().lines().count(), 1);

    // Each of two runtimes waits until the other is being built. On one CPU they are built in turn.
    if std::thread::available_parallelism().is_ok_and(|cpus| cpus.get() > 1) {
        for (own, other) in [("fake", "else"), ("else", "fake")] {
            let meet = format!("touch {}; until test -e {}; do sleep 0.05; done", path(own), path(other));
            let entry = FakeEntry::new("meets", "").more(&format!("build = [\"sh\", \"-c\", \"{meet}\"]"));
            let folder = world.path("catalog").join(own);
            fs::create_dir_all(&folder).unwrap();
            let manifest =
                world.manifest_of(&[entry]).replace("name = \"fake\"", &format!("name = \"{own}\""));
            fs::write(folder.join("runtime.toml"), manifest).unwrap();
        }
        world.run(world.command(&["build", "fake/meets", "else/meets"])).expect_code(0);
    }
}

#[test]
fn a_build_gets_what_finds_things_and_nothing_that_says_how_to_build() {
    let mut world = World::new(&[]);
    let made = world.path("environment").display().to_string();
    let entry = FakeEntry::new("built", "")
        .more(&format!("build = [\"sh\", \"-c\", \"env > {made}; echo >> {made}-times\"]"));
    fs::write(world.manifest(), world.manifest_of(&[entry])).unwrap();
    let times = |world: &World| fs::read_to_string(world.path("environment-times")).unwrap().lines().count();
    for (name, value) in [
        ("CARGO_HOME", "/cargo"),
        ("https_proxy", "http://proxy"),
        ("GOAMD64", "v3"),
        ("CC", "clang"),
        ("CARGO_PROFILE_RELEASE_LTO", "fat"),
        ("RUSTFLAGS", "-O"),
        ("MAVEN_OPTS", "-Xmx1g"),
    ] {
        world.env.insert(name.into(), value.into());
    }
    world.run(world.campaign("out", "-n 3")).expect_code(0);
    let seen = fs::read_to_string(&made).unwrap();
    for name in ["PATH=", "HOME=", "CARGO_HOME=/cargo", "https_proxy=http://proxy"] {
        assert!(seen.lines().any(|line| line.starts_with(name)), "{name} is not in\n{seen}");
    }
    for name in ["GOAMD64", "CC=", "CARGO_PROFILE", "RUSTFLAGS", "MAVEN_OPTS", "TASKSCALE"] {
        assert!(!seen.lines().any(|line| line.starts_with(name)), "{name} is in\n{seen}");
    }
    // What says how to build makes no difference, neither to the build nor to the campaign.
    world.env.insert("GOAMD64".into(), "v4".into());
    world.run(world.campaign("out", "-n 3")).expect_code(0);
    assert_eq!(times(&world), 1);
    // What the user lets through is part of the program.
    world.env.insert("TASKSCALE_BUILD_ENV".into(), "CC, NOT_SET".into());
    let finished = world.run(world.campaign("out", "-n 3"));
    finished.expect_code(2).expect_said("the program of fake/built has changed");
    assert_eq!(times(&world), 2);
    assert!(fs::read_to_string(&made).unwrap().contains("\nCC=clang\n"));
    world.env.insert("CC".into(), "gcc".into());
    world.run(world.command(&["build"])).expect_code(0);
    assert_eq!(times(&world), 3);
}
