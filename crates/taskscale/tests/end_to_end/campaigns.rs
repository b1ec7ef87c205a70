//! Campaigns that are interrupted, collide or lose their folder: samples are kept, each case is measured once,
//! and nothing is left running.

use std::collections::BTreeSet;
use std::fs;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::Duration;

use crate::support::{FakeEntry, Finished, World, assert_good, is_root, overheard, says, skipped};
use taskscale::record;

/// Printed by `--verbose` when a run begins, including warm-ups.
const RUNNING: &str = "· running ";

/// Three entries, two of which create processes that try to stay.
fn entries() -> [FakeEntry; 3] {
    [
        FakeEntry::new("well", ""),
        FakeEntry::new("family", "--processes 2 --grandchildren 2 --fault ignore-term --faults-from 9999999"),
        FakeEntry::new("daemon", "--fault daemon --fault orphan-holds-stdout"),
    ]
}

/// Asserts that every run of the plan was measured once, and is good.
#[track_caller]
fn assert_complete(world: &World, folder: &str) {
    let loaded = world.load(folder);
    let cells: BTreeSet<_> =
        loaded.samples.iter().map(|s| (&s.entry, s.tasks, s.repetition, s.attempt)).collect();
    assert_eq!(cells.len(), loaded.samples.len(), "a cell was measured twice: {cells:?}");
    let last = record::last_attempts(&loaded.samples);
    let plan = &loaded.campaign.plan;
    assert_eq!(last.len(), plan.entries.len() * plan.tasks.len() * plan.repetitions as usize, "{cells:?}");
    last.into_iter().for_each(assert_good);
    assert!(loaded.rejected.is_empty(), "{:?}", loaded.rejected);
}

/// Signals at random moments of small campaigns, which then resume (`campaign::tests` interrupts every run of a
/// plan). `TASKSCALE_TEST_SEED` repeats a failure.
#[test]
fn campaign_killed_at_any_moment_resumes() {
    const ROUNDS: usize = 3;
    const SIGNALS: [i32; 5] = [libc::SIGKILL, libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGKILL];
    let seed =
        std::env::var("TASKSCALE_TEST_SEED").ok().and_then(|seed| seed.parse().ok()).unwrap_or(20_260_101);
    thread::scope(|scope| {
        for (index, signal) in SIGNALS.into_iter().enumerate() {
            scope.spawn(move || cut_off(signal, ROUNDS, seed ^ index as u64));
        }
    });
}

fn cut_off(signal: i32, rounds: usize, seed: u64) {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut world = World::new(&entries());
    if seed.is_multiple_of(4) {
        world.env.insert("TASKSCALE_CGROUP".into(), "none".into());
    }
    let (mut campaign, mut cut) = (1, 0);
    while cut < rounds {
        let folder = format!("out-{campaign}");
        let mut running = world.start(world.campaign(&folder, "-n 3 --format json --verbose"));
        thread::sleep(Duration::from_secs_f64(3.0 * random.f64().powi(2)));
        let before = world.sample_count(&folder);
        if running.has_ended() {
            running.wait().expect_good(&world.runs(&folder));
            campaign += 1;
            continue;
        }
        running.signal(signal);
        let finished = running.wait();
        cut += 1;
        let context = format!("seed {seed}, signal {signal}, cut {cut}, after {:?}", finished.took);
        if signal == libc::SIGKILL {
            // The launcher ends the program without being asked.
            world.until(&format!("all is quiet ({context})"), || {
                world.processes("fake-entry").is_empty() && world.processes("taskscale").is_empty()
            });
        } else {
            // Before taskscale handles signals, and after its work is done, a signal ends it like any program.
            let code = finished.status.code();
            let expected = [None, Some(128 + signal), Some(0)];
            let starved = code == Some(1) && world.any_starved(&folder);
            assert!(starved || expected.contains(&code), "{context}: {code:?}\n{}", finished.stderr);
            // Once it measures, it prints how to resume. Before that, there is nothing to resume.
            if code == Some(128 + signal) && finished.stderr.contains(RUNNING) {
                finished.expect_said("resumes");
            }
            world.assert_nothing_left();
        }
        assert!(world.sample_count(&folder) >= before, "{context}: a sample was lost");
    }
    for campaign in 1..=campaign {
        let folder = format!("out-{campaign}");
        world.run(world.campaign(&folder, "-n 3 --format json")).expect_good(&world.runs(&folder));
        world.assert_nothing_left();
        assert_complete(&world, &folder);
    }
}

/// `nohup taskscale … &`, then the terminal closes: SIGHUP is ignored, and nothing reads the output.
#[test]
fn campaign_survives_its_terminal() {
    let world = World::new(&[]);
    let gate = world.gate("out", 1);
    let gated = entries().map(|entry| entry.program(&gate.program));
    fs::write(world.manifest(), world.manifest_of(&gated)).unwrap();
    let mut command = world.campaign("out", "-n 3 --timeout 10m");
    let (reader, writer) = std::io::pipe().unwrap();
    command.stderr(Stdio::from(writer.try_clone().unwrap())).stdout(Stdio::from(writer));
    // SAFETY: a plain system call between fork and exec.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGHUP, libc::SIG_IGN);
            Ok(())
        });
    }
    let running = world.start(command);
    world.until("the first sample is there", || world.sample_count("out") > 0);
    drop(reader);
    running.signal(libc::SIGHUP);
    let _open = gate.open();
    running.wait().expect_good(&world.runs("out"));
    world.assert_nothing_left();
    assert_complete(&world, "out");
}

/// Enough repetitions that the campaign runs until it is stopped.
const ENDLESS: &str = "-n 3 --repetitions 1000";

/// An interrupted run is ended at once: it leaves no sample, and no other run begins.
#[test]
fn interruption_ends_the_current_run_at_once() {
    let world = World::new(&[FakeEntry::new("hang", "--fault hang:launch")]);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        // The warm-up's timeout is 20 s, and the run's an hour.
        let heard = world.path("heard");
        let running = world.start(overheard(world.campaign("out", "-n 3 --timeout 1h --verbose"), &heard));
        // Not the version command, which runs before.
        world.until("a program is at work", || {
            says(&heard, RUNNING) && !world.processes("fake-entry").is_empty()
        });
        running.signal(signal);
        running.wait().expect_code(128 + signal);
        world.assert_nothing_left();
        assert!(says(&heard, "resumes"));
        assert_eq!(world.sample_count("out"), 0);
    }
}

#[test]
fn concurrent_campaigns_wait_for_the_machine() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    let other = World::new(&[FakeEntry::new("well", "")]);
    let first = world.start(world.campaign("out", ENDLESS));
    world.until("the first is at work", || world.sample_count("out") > 0);

    let with_its_lock = |heard: &Path| {
        let mut command = other.campaign("out", "-n 3");
        command.env("TASKSCALE_LOCK", world.path("lock"));
        other.start(overheard(command, heard))
    };
    let holder = format!("taskscale {} with {}", first.pid(), world.path("out").display());
    let said = format!("waiting: {holder} ({}", world.path("bin/taskscale").display());
    // A taskscale that is stopped while it waits has written nothing.
    let heard = other.path("impatient");
    let impatient = with_its_lock(&heard);
    other.until("it waits", || says(&heard, &said));
    impatient.signal(libc::SIGINT);
    impatient.wait().expect_code(130);
    assert!(!other.path("out").exists());

    // With --no-wait, the error names the taskscale that is measuring.
    let mut hurried = other.campaign("out", "-n 3 --no-wait");
    hurried.env("TASKSCALE_LOCK", world.path("lock"));
    let refused = other.run(hurried);
    refused.expect_code(2).expect_said(&format!("error: {holder} (")).expect_said("--no-wait");
    refused.expect_said("measuring on this machine");
    // An unusable folder is refused at once, not after a wait.
    fs::create_dir(other.path("full")).unwrap();
    fs::write(other.path("full/thesis.tex"), "years of work").unwrap();
    let mut unusable = other.campaign("full", "-n 3");
    unusable.env("TASKSCALE_LOCK", world.path("lock"));
    other.run(unusable).expect_code(2).expect_said("not empty");

    let heard = other.path("patient");
    let second = with_its_lock(&heard);
    other.until("it waits", || says(&heard, &said));
    assert!(!other.path("out").exists(), "it has begun beside the first");
    first.signal(libc::SIGINT);
    first.wait().expect_code(130);
    second.wait().expect_good(&other.runs("out"));
    // Another plan in the same folder is refused even while the machine is in use.
    let taken = fs::File::open(world.path("lock")).unwrap();
    taken.lock().unwrap();
    let mut another = other.campaign("out", "-n 4");
    another.env("TASKSCALE_LOCK", world.path("lock"));
    other.run(another).expect_code(2).expect_said("cannot resume");
    drop(taken);
    assert_complete(&other, "out");
    world.assert_nothing_left();
    other.assert_nothing_left();
}

#[test]
fn results_folder_in_use_is_refused() {
    let mut world = World::new(&[FakeEntry::new("well", "")]);
    let first_command = world.campaign("out", ENDLESS);
    // No common lock, as on two machines with one network disk, or after /tmp was cleaned.
    world.env.insert("TASKSCALE_LOCK".into(), world.path("other-lock").display().to_string());
    let first = world.start(first_command);
    world.until("the first is at work", || world.sample_count("out") > 0);
    let second = world.run(world.campaign("out", ENDLESS));
    second.expect_code(2).expect_said("another taskscale is measuring into");
    second.expect_said("-o DIR");
    first.signal(libc::SIGINT);
    first.wait().expect_code(130);
    world.assert_nothing_left();
    let kept = world.load("out");
    assert!(kept.rejected.is_empty(), "{:?}", kept.rejected);
    let cells: BTreeSet<_> = kept.samples.iter().map(|s| (s.repetition, s.attempt)).collect();
    assert_eq!(cells.len(), kept.samples.len(), "a cell was measured twice");
}

/// Quick runs with large samples, so that the disk is full before the campaign is done.
fn talkative() -> FakeEntry {
    FakeEntry::new("talkative", "--fault flood-stderr:4096 --fault exit:launch:1")
}

#[test]
fn full_disk_stops_the_campaign_and_keeps_samples() {
    let world = World::new(&[talkative()]);
    let cells = "-n 3 --repetitions 20 --format csv";
    // A limit on file sizes fails a write half-way, as a full disk does, and needs no privileges.
    let mut command = world.campaign("out", cells);
    // SAFETY: plain system calls between fork and exec. Without the signal the write itself fails.
    unsafe {
        command.pre_exec(|| {
            libc::signal(libc::SIGXFSZ, libc::SIG_IGN);
            let limit = libc::rlimit { rlim_cur: 40_000, rlim_max: libc::RLIM_INFINITY };
            libc::setrlimit(libc::RLIMIT_FSIZE, &limit);
            Ok(())
        });
    }
    stopped_and_gone_on_with(&world, world.run(command), "File too large", cells);

    if !is_root() {
        return skipped("only root can mount a small disk");
    }
    let world = World::new(&[talkative()]);
    let mount = world.path("out");
    let disk = Disk::mount(&mount, "size=64k");
    let Some(disk) = disk else { return skipped("no tmpfs can be mounted here") };
    let finished = world.run(world.campaign("out/campaign", cells));
    finished.expect_code(1).expect_said("No space left on device").expect_said(" kept: ");
    let kept = world.load("out/campaign");
    assert!(!kept.samples.is_empty() && kept.rejected.is_empty());
    disk.remount("size=4m");
    world.run(world.campaign("out/campaign", cells)).expect_code(1);
    assert_eq!(world.load("out/campaign").samples.len(), 20);

    // Read-only from now on, as after a disk error: reported before anything is measured.
    disk.remount("ro");
    let finished = world.run(world.campaign("out/campaign", cells));
    finished.expect_code(2).expect_said("Read-only file system");
    let elsewhere = world.run(world.campaign("out/new", cells));
    elsewhere.expect_code(2).expect_said("Read-only file system");
    world.run(world.command(&["report", &world.path("out/campaign").display().to_string()])).expect_code(0);
    drop(disk);
    world.assert_nothing_left();
}

fn stopped_and_gone_on_with(world: &World, finished: Finished, why: &str, cells: &str) {
    world.assert_nothing_left();
    finished.expect_code(1).expect_said(why).expect_said("resumes");
    let kept = world.load("out");
    assert!(!kept.samples.is_empty() && kept.samples.len() < 20, "{}", kept.samples.len());
    // The part of a line that was written is removed.
    assert!(kept.rejected.is_empty(), "{:?}", kept.rejected);
    finished.expect_said(&format!("stopped; {} sample", kept.samples.len()));
    finished.expect_said(&format!("`-o {}` resumes", world.path("out").display()));
    assert!(finished.stdout.lines().count() > 1, "what is known is shown: {}", finished.stdout);

    world.run(world.campaign("out", cells)).expect_code(1);
    let loaded = world.load("out");
    assert_eq!(loaded.samples.len(), 20);
    assert_eq!(record::last_attempts(&loaded.samples).len(), 20);
}

/// A file system of its own. Unmounted when dropped.
struct Disk<'a>(&'a Path);

impl Disk<'_> {
    fn mount<'a>(folder: &'a Path, options: &str) -> Option<Disk<'a>> {
        fs::create_dir_all(folder).ok()?;
        let mounted =
            Command::new("mount").args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(folder).status();
        mounted.is_ok_and(|status| status.success()).then_some(Disk(folder))
    }

    fn remount(&self, options: &str) {
        let mounted = Command::new("mount").args(["-o", &format!("remount,{options}")]).arg(self.0).status();
        assert!(mounted.is_ok_and(|status| status.success()), "{options}");
    }
}

impl Drop for Disk<'_> {
    fn drop(&mut self) {
        let _ = Command::new("umount").arg(self.0).status();
    }
}

#[test]
fn vanished_folder_stops_the_campaign_and_shows_results() {
    let world = World::new(&[FakeEntry::new("well", "")]);
    let running = world.start(world.campaign("out", "-n 3 --repetitions 50 --format csv"));
    world.until("the first sample is there", || world.sample_count("out") > 0);
    fs::remove_dir_all(world.path("out")).unwrap();
    let finished = running.wait();
    world.assert_nothing_left();
    finished
        .expect_code(1)
        .expect_said("the results folder was removed")
        .expect_said("is gone or unreadable");
    assert!(finished.stdout.contains("fake/well"), "{}", finished.stdout);

    // taskscale does not write into a new folder of that name.
    let running = world.start(world.campaign("out", "-n 3 --repetitions 50 --format csv"));
    world.until("the first sample is there", || world.sample_count("out") > 0);
    fs::rename(world.path("out"), world.path("moved")).unwrap();
    fs::create_dir(world.path("out")).unwrap();
    let mut file = fs::File::create(world.path("out/samples.jsonl")).unwrap();
    file.write_all(b"another's\n").unwrap();
    running.wait().expect_code(1).expect_said("the results folder was removed");
    assert_eq!(fs::read(world.path("out/samples.jsonl")).unwrap(), b"another's\n");
    let kept = world.load("moved").samples;
    assert!(!kept.is_empty() && kept.len() < 50);
    world.assert_nothing_left();
}
