//! Programs that lie, fail, flood or hang: each run ends as a sample with a status and a reason, beside good samples of
//! other entries, and nothing of it is left.

use std::fs;

use crate::support::cases::{self, ENDS, GROWS, HANGS, LIES, OUTPUT, SHORT, STATE, TICK};
use crate::support::{FakeEntry, World, assert_harmless, is_root, skipped, write_script};
use taskscale::record::{MemorySource, Status};

#[test]
fn every_fault_of_a_program_is_a_sample_with_a_reason() {
    cases::check(&[&ENDS, &LIES, &SHORT, &GROWS, &OUTPUT, &HANGS, &STATE, &TICK]);
}

#[test]
fn a_program_that_leaves_its_control_group_failed() {
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
    assert_eq!((left.status, well.status), (Status::Failed, Status::Ok), "{left:?}");
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
        // Known before any run, and so no sample: the report says why.
        FakeEntry::new("missing", "").program(&world.path("nothing").display().to_string()),
        FakeEntry::new("not-executable", "").program(&script("plain", "#!/bin/sh\n", 0o644)),
        // Found out by the start alone.
        FakeEntry::new("no-interpreter", "").program(&script("script", "#!/nowhere/interpreter\n", 0o755)),
        FakeEntry::new("no-format", "").program(&script("data", "no program at all", 0o755)),
    ];
    fs::write(world.manifest(), world.manifest_of(&entries)).unwrap();
    let finished = world.run(world.campaign("out", "-n 2"));
    world.assert_nothing_left();
    // A build that made no program is somebody's fault: exit code 1.
    finished.expect_code(1);
    for name in ["missing", "not-executable"] {
        finished.expect_said(&format!("left out fake/{name}: build failed: "));
    }
    let loaded = world.load("out");
    for entry in &loaded.campaign.entries {
        let left_out = ["fake/missing", "fake/not-executable"].contains(&entry.name.as_str());
        assert_eq!(entry.unavailable.is_some(), left_out, "{}: {:?}", entry.name, entry.unavailable);
    }
    let samples = world.samples("out");
    assert_eq!(samples.len(), 3, "{:?}", samples.keys());
    assert_eq!(samples["well"].status, Status::Ok);
    for name in ["no-interpreter", "no-format"] {
        let reason = samples[name].reason.as_deref().unwrap_or_default();
        assert_eq!(samples[name].status, Status::Unavailable, "{name}: {reason}");
        assert!(reason.starts_with("the program could not be started: "), "{reason}");
    }
}

/// Escapes and HTML from a program's output and from a manifest act nowhere: not on a terminal, not in Markdown or CSV.
#[test]
fn hostile_text_is_shown_and_does_not_act() {
    let hostile = "notes = [\"\\u001b]0;owned\\u0007 \\u202e<script>alert(3)</script>\"]";
    let entries = [
        FakeEntry::new("hostile", "--fault escape-text --fault exit:end:1").more(hostile),
        FakeEntry::new("well", "").more("unverified = \"\\u001b[2J=cmd|' /C calc'!A0\""),
    ];
    let world = World::new(&entries);
    let finished = world.run(world.campaign("out", "-n 2"));
    world.assert_nothing_left();
    finished.expect_code(1).expect_said("exited with code 1; stderr: ");
    assert_harmless("standard error", &finished.stderr);
    assert_harmless("the table", &finished.stdout);

    let folder = world.path("out").display().to_string();
    for format in ["table", "markdown", "csv", "json"] {
        let shown = world.run(world.command(&["report", &folder, "--format", format]));
        shown.expect_code(0);
        // JSON escapes control characters; those that reverse text are the reader's to mind there.
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
    for args in [vec!["list"], vec!["list", "--json"]] {
        let shown = world.run(world.command(&args));
        assert!(!shown.stdout.contains('\u{1b}'), "{}", shown.stdout);
    }
    // A folder's name is as external as any text.
    let moved = world.path("o\u{1b}[31mut");
    fs::rename(world.path("out"), &moved).unwrap();
    fs::write(moved.join("samples.jsonl"), "{\"schema\":1,\"status\":\"\u{1b}[31m\"}\n").unwrap();
    let shown = world.run(world.command(&["report", &moved.display().to_string()]));
    shown.expect_code(0).expect_said("left out: line 1 of ");
    assert_harmless("standard error", &shown.stderr);
    assert_harmless("the table", &shown.stdout);
}
