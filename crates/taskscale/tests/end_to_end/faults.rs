//! Programs that lie, fail, flood or hang: each run ends as a sample with a status and a reason, samples of
//! other entries are good, and nothing is left behind.

use std::fs;

use crate::cases::{self, CHAT, ECHO, ENDS, HANGS, LIES, LOST, OUTPUT, SHORT, STATE, WORK};
use crate::support::{FakeEntry, World, assert_good, is_root, skipped, write_script};
use taskscale::record::{MemorySource, Status};

#[test]
fn every_fault_yields_a_sample_with_a_reason() {
    // The slowest come first.
    cases::check(&[&SHORT, &HANGS, &ENDS, &LIES, &OUTPUT, &STATE, &WORK, &ECHO, &CHAT]);
}

#[test]
#[ignore = "nightly: waits 30 s"]
fn a_lost_message_is_detected() {
    cases::check(&[&LOST]);
}

#[test]
fn leaving_the_cgroup_fails_the_run() {
    if !is_root() {
        return skipped("only root may leave a control group");
    }
    let world = World::new(&[FakeEntry::new("escape", "--fault escape"), FakeEntry::new("well", "")]);
    let finished = world.run(world.campaign("out", "-n 2"));
    world.assert_nothing_left();
    let samples = world.samples("out");
    if samples["well"].memory.source == MemorySource::Proc {
        return skipped("there is no control group to leave");
    }
    finished.expect_code(1);
    let (left, well) = (&samples["escape"], &samples["well"]);
    assert_good(well);
    assert_eq!(left.status, Status::Failed, "{left:?}");
    let reason = left.reason.as_deref().unwrap_or_default();
    assert!(reason.starts_with("1 process left"), "{reason}");
}

#[test]
fn a_program_that_cannot_be_started_is_unavailable() {
    let world = World::new(&[]);
    let script = |name: &str, text: &str, mode: u32| {
        use std::os::unix::fs::PermissionsExt;
        let path = world.path(name);
        write_script(&path, text);
        fs::set_permissions(&path, fs::Permissions::from_mode(mode)).unwrap();
        path.display().to_string()
    };
    let entries = [
        FakeEntry::new("well", ""),
        // Known before any run, so there is no sample, and the report shows why.
        FakeEntry::new("missing", "").program(&world.path("nothing").display().to_string()),
        FakeEntry::new("not-executable", "").program(&script("plain", "#!/bin/sh\n", 0o644)),
        // Only a start shows the fault.
        FakeEntry::new("no-interpreter", "").program(&script("script", "#!/nowhere/interpreter\n", 0o755)),
        FakeEntry::new("no-format", "").program(&script("data", "no program at all", 0o755)),
        // Debian's Node.js comes without npm: what npm builds counts as not installed, not as failed.
        FakeEntry::new("no-builder", "").more("build = [\"no-such-program\", \"ci\"]"),
    ];
    fs::write(world.manifest(), world.manifest_of(&entries)).unwrap();
    let finished = world.run(world.campaign("out", "-n 2"));
    world.assert_nothing_left();
    // A build that made no program is a failure: exit code 1.
    finished.expect_code(1);
    for name in ["missing", "not-executable"] {
        finished.expect_said(&format!("left out fake/{name}: build failed: "));
    }
    finished.expect_said("left out fake/no-builder: ").expect_said("`no-such-program`");
    let loaded = world.load("out");
    for entry in &loaded.campaign.entries {
        let left_out =
            ["fake/missing", "fake/not-executable", "fake/no-builder"].contains(&entry.name.as_str());
        assert_eq!(entry.unavailable.is_some(), left_out, "{}: {:?}", entry.name, entry.unavailable);
    }
    let samples = world.samples("out");
    assert_eq!(samples.len(), 3, "{:?}", samples.keys());
    assert_good(&samples["well"]);
    for name in ["no-interpreter", "no-format"] {
        let reason = samples[name].reason.as_deref().unwrap_or_default();
        assert_eq!(samples[name].status, Status::Unavailable, "{name}: {reason}");
        assert!(reason.starts_with("the program could not be started: "), "{reason}");
    }
}
