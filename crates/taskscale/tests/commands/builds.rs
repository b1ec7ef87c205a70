//! Builds: which ones wait for others or are shared, their environment, and how they are stopped.

use std::fs;

use crate::support::{FakeEntry, World, list, overheard, says};

/// A world with three entries that are built in one folder, one at a time. `slow` builds until the file `gate`
/// exists.
fn builders() -> World {
    let world = World::new(&[]);
    let gate = world.path("gate").display().to_string();
    let slow = format!("build = [\"sh\", \"-c\", \"until test -e {gate}; do sleep 0.05; done\"]");
    // Each has its own command, as programs with the same commands are built once.
    let entries = ["quick", "other"].map(|name| (name, format!("build = [\"true\", \"{name}\"]")));
    let entries = entries.into_iter().chain([("slow", slow)]);
    let entries: Vec<FakeEntry> =
        entries.map(|(name, build)| FakeEntry::new(name, "").more(&build)).collect();
    fs::write(world.manifest(), world.manifest_of(&entries)).unwrap();
    world
}

#[test]
fn builds_wait_for_each_other_and_finished_ones_do_not() {
    let world = builders();
    world.run(world.command(&["build", "fake/quick"])).expect_code(0);
    let slow = world.start(world.command(&["build", "fake/slow"]));
    let log = || list(&world.path("cache")).iter().any(|path| path.ends_with("slow.sleep.log"));
    world.until("the slow build is at work", log);
    // Already built, so it does not wait.
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
fn twins_are_built_once_and_runtimes_in_parallel() {
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
fn builds_get_only_lookup_variables() {
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
    world.run(world.command(&["build"])).expect_code(0);
    let seen = fs::read_to_string(&made).unwrap();
    for name in ["PATH=", "HOME=", "CARGO_HOME=/cargo", "https_proxy=http://proxy"] {
        assert!(seen.lines().any(|line| line.starts_with(name)), "{name} is not in\n{seen}");
    }
    for name in ["GOAMD64", "CC=", "CARGO_PROFILE", "RUSTFLAGS", "MAVEN_OPTS", "TASKSCALE"] {
        assert!(!seen.lines().any(|line| line.starts_with(name)), "{name} is in\n{seen}");
    }
    // Variables that change how to build have no effect.
    world.env.insert("GOAMD64".into(), "v4".into());
    world.run(world.command(&["build"])).expect_code(0);
    assert_eq!(times(&world), 1);
    // Variables of TASKSCALE_BUILD_ENV are part of the digest.
    world.env.insert("TASKSCALE_BUILD_ENV".into(), "CC, NOT_SET".into());
    world.run(world.command(&["build"])).expect_code(0);
    assert_eq!(times(&world), 2);
    assert!(fs::read_to_string(&made).unwrap().contains("\nCC=clang\n"));
    world.env.insert("CC".into(), "gcc".into());
    world.run(world.command(&["build"])).expect_code(0);
    assert_eq!(times(&world), 3);
}

#[test]
fn builds_end_with_taskscale() {
    let world = World::new(&[]);
    let fake = world.fake().display().to_string();
    let outlasted = world.path("outlasted").display().to_string();
    let entry = FakeEntry::new("slow", "")
        .more(&format!("build = [\"sh\", \"-c\", \"{fake} 1 60 & {fake} 1 60; touch {outlasted}\"]"));
    fs::write(world.manifest(), world.manifest_of(&[entry])).unwrap();
    for signal in [libc::SIGINT, libc::SIGTERM] {
        let running = world.start(world.campaign("out", "-n 3"));
        world.until("the build is at work", || world.processes("fake-entry").len() == 2);
        running.signal(signal);
        running.wait().expect_code(128 + signal);
        world.until("the build has ended", || world.processes("fake-entry").is_empty());
        world.assert_nothing_left();
        assert!(!world.path("out").exists());
        assert!(!world.path("outlasted").exists(), "the build was let come to its end");
    }
}
