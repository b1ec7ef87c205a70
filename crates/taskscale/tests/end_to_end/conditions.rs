//! What must not be mixed in one campaign, or run in parallel: other samples, other conditions, other locks.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;

use crate::support::{FakeEntry, World, assert_good, is_root, overheard, says, skipped};
use taskscale::record::{self, MemorySource, Warning};

/// `campaign::same_tests` tests the rules. This tests that a refusal leaves the folder as it was.
#[test]
fn campaign_resumes_only_under_its_conditions() {
    let entries = |flags| [FakeEntry::new("well", flags), FakeEntry::new("other", "")];
    let mut world = World::new(&entries(""));
    let begun = "-n 3 --memory-cap 300MiB --timeout 90s --seed 1";
    world.run(world.campaign("out", begun)).expect_good(&world.runs("out"));
    let conditions = world.load("out").campaign.conditions.expect("conditions");
    assert_eq!((conditions.memory_cap_bytes, conditions.time_cap_s), (Some(300 << 20), Some(90.0)));
    assert_eq!(conditions.memory_source, Some(world.runs("out")[0].memory.source));
    // A line that is set aside when the campaign resumes.
    let samples = world.path("out/samples.jsonl");
    fs::write(&samples, fs::read_to_string(&samples).unwrap() + "{\"torn").unwrap();
    let files = |world: &World| {
        ["campaign.json", "samples.jsonl"].map(|name| fs::read(world.path("out").join(name)).unwrap())
    };
    let before = files(&world);
    let refused = |world: &World, more: &str, said: &str| {
        for dry in ["", " --dry-run"] {
            // A dry run starts nothing, so it does not know the memory source.
            if said.contains("proc") && !dry.is_empty() {
                continue;
            }
            let finished = world.run(world.campaign("out", &format!("{more}{dry}")));
            finished.expect_code(2).expect_said("cannot resume").expect_said(said);
        }
        assert!(files(world) == before, "{more}: something was written");
    };
    refused(&world, "-n 3 --memory-cap 2MiB", "--memory-cap");
    refused(&world, "-n 3 --timeout 3s", "--timeout");
    refused(&world, "-n 3 --seed 2", "seed");
    refused(&world, "-n 4", "tasks were 3, now 4");
    refused(&world, "-n 3 -r 2", "repetitions were 1, now 2");
    if conditions.memory_source != Some(MemorySource::Proc) {
        world.env.insert("TASKSCALE_CGROUP".into(), "none".into());
        refused(&world, "-n 3", "proc");
        world.env.remove("TASKSCALE_CGROUP");
    }
    let manifest = fs::read_to_string(world.manifest()).unwrap();
    fs::write(world.manifest(), world.manifest_of(&entries("--launch-ms 1"))).unwrap();
    let changed = world.run(world.campaign("out", "-n 3"));
    changed.expect_code(2).expect_said("fake/well has changed");
    assert!(files(&world) == before, "something was written");
    fs::write(world.manifest(), manifest).unwrap();
    // Options that are left out, or given the same value, stay as they were.
    fs::write(&samples, "{\"torn").unwrap();
    let resumed = world.run(world.campaign("out", "-n 3 --timeout 90s"));
    resumed.expect_good(&world.runs("out")).expect_said("resuming ");
    assert!(world.runs("out").iter().all(|sample| sample.memory.cap_bytes == Some(300 << 20)));
    world.assert_nothing_left();
}

#[test]
fn damaged_and_foreign_samples_are_rejected_and_others_kept() {
    let world = World::new(&[FakeEntry::new("well", ""), FakeEntry::new("other", "")]);
    world.run(world.campaign("out", "-n 3,4")).expect_good(&world.runs("out"));
    let path = world.path("out/samples.jsonl");
    let id = world.load("out").campaign.id.expect("an id");
    // The last attempts of the four runs.
    let lines: Vec<String> =
        world.runs("out").iter().map(|sample| serde_json::to_string(sample).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    // A newer taskscale's field in a good line, noise, another campaign's sample, and a line cut off by a
    // crash.
    let good = lines[0].replacen('{', "{\"of_the_future\":[1,2],", 1);
    let noise: &[u8] = b"\xff\xfe\x00 no sample \x1b[2J";
    let foreign = lines[1].replacen(&id, "another", 1);
    let cut = &lines[3][..lines[3].len() / 2];
    let parts: [&[u8]; 6] =
        [good.as_bytes(), noise, foreign.as_bytes(), b"", lines[2].as_bytes(), cut.as_bytes()];
    fs::write(&path, parts.join(&b'\n')).unwrap();

    let shown = world.run(world.command(&["report", &world.path("out").display().to_string()]));
    shown.expect_code(0).expect_said("left out: line 2 of ").expect_said("line 3 of ");
    assert_eq!(fs::read(&path).unwrap(), parts.join(&b'\n'), "a report writes nothing");

    let finished = world.run(world.campaign("out", "-n 3,4"));
    finished.expect_good(&world.runs("out")).expect_said("resuming ");
    for line in [2, 3, 6] {
        finished.expect_said(&format!("set aside in samples.rejected.jsonl: line {line} of "));
    }
    assert_eq!(world.runs("out").len(), 4);
    let kept = fs::read_to_string(&path).unwrap();
    assert!(kept.starts_with(&format!("{good}\n{}\n", lines[2])), "good lines stay as they were:\n{kept}");
    let aside = fs::read(world.path("out/samples.rejected.jsonl")).unwrap();
    let expected = [noise, foreign.as_bytes(), cut.as_bytes(), b""].join(&b'\n');
    assert_eq!(aside, expected, "bad lines are kept as they were");

    // A good line without its line end: the next sample must not continue it.
    fs::write(&path, kept.trim_end()).unwrap();
    world.run(world.campaign("out", "-n 3,4")).expect_good(&world.runs("out"));
    assert_eq!(fs::read_to_string(&path).unwrap(), kept);
    world.assert_nothing_left();
}

/// Default names of folders differ by the second, but are unique even within one.
#[test]
fn simultaneous_campaigns_get_separate_folders() {
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
    let ended: Vec<_> = running.into_iter().map(|running| running.wait()).collect();
    let folders: Vec<_> = fs::read_dir(world.path("taskscale-results")).unwrap().flatten().collect();
    assert_eq!(folders.len(), 4, "{folders:?}");
    for folder in folders {
        let samples = record::load(&folder.path()).unwrap().samples;
        let last = record::last_attempts(&samples);
        assert_eq!(last.len(), 1);
        assert_good(last[0]);
    }
    assert!(ended.iter().all(|finished| [0, 1].contains(&finished.code())), "{ended:?}");
    world.assert_nothing_left();
}

#[test]
fn samples_without_the_lock_are_marked() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    let marked = |world: &World, folder: &str| {
        let samples = world.runs(folder);
        samples.iter().for_each(assert_good);
        assert!(
            samples.iter().all(|sample| sample.warnings.contains(&Warning::MachineNotLocked)),
            "{folder}"
        );
    };
    let taken = fs::File::create(world.path("lock")).unwrap();
    taken.lock().unwrap();
    world.run(world.campaign("beside", "-n 3 --no-lock")).expect_said("--no-lock");
    marked(&world, "beside");
    world.run(world.campaign("neither", "-n 3 --no-lock --no-wait")).expect_code(2);
    // A folder, which even root cannot open as a lock, then a user's file, which is no lock.
    fs::create_dir(world.path("no-lock")).unwrap();
    fs::write(world.path("thesis.tex"), "years of work").unwrap();
    for (lock, folder, said) in
        [("no-lock", "none", "cannot open"), ("thesis.tex", "thesis", "not a lock file")]
    {
        world.env.insert("TASKSCALE_LOCK".into(), world.path(lock).display().to_string());
        world.run(world.campaign(folder, "-n 3 --quiet")).expect_said(said);
        marked(&world, folder);
    }
    assert_eq!(fs::read_to_string(world.path("thesis.tex")).unwrap(), "years of work");
    world.assert_nothing_left();
}

/// Another user's lock file, made with the usual umask by an older taskscale: readable but not writable.
#[test]
fn lock_of_another_user_is_awaited() {
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
