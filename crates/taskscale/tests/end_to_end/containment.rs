//! Programs that try to outlive, outgrow or escape their run: everything they start ends with it, with and
//! without a cgroup.

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::cases::{self, BARE, BARE_HANGS, CAUSES, LEAVES, MEMORY};
use crate::support::{FakeEntry, World, is_root, skipped, write_script};
use taskscale::record::{Status, Warning};

#[test]
fn nothing_outlives_its_run() {
    cases::check(&[&CAUSES, &BARE_HANGS, &LEAVES, &MEMORY, &BARE]);
}

/// In a container with a limit on processes, a fork bomb ends at the limit, which leaves enough for taskscale
/// to end it.
#[test]
fn a_fork_bomb_hits_the_limit_of_its_cgroup() {
    const BOUND: u64 = 200;
    let mut world = World::new(&[]);
    let entries = [
        FakeEntry::new(
            "bomb",
            &format!("--fault fork-bomb:5000 --pidfile {}", world.path("pids/bomb").display()),
        ),
        FakeEntry::new("threads", "--fault thread-limit").kind("thread"),
        FakeEntry::new("well", ""),
    ];
    fs::write(world.manifest(), world.manifest_of(&entries)).unwrap();
    let Some(container) = Container::new(BOUND) else {
        return skipped("no control group with a bound on processes can be made here");
    };
    world.env.insert("TASKSCALE_LOCK".into(), world.path("lock").display().to_string());
    let mut command = world.campaign("out", "-n 1500");
    container.holds(&mut command);
    let finished = world.run(command);
    world.assert_nothing_left();
    let samples = world.samples("out");
    let good = [&samples["well"], &samples["bomb"]];
    finished.expect_good(good);
    let bomb = &samples["bomb"];
    assert!(bomb.warnings.contains(&Warning::LeftProcesses), "{:?}", bomb.warnings);
    // One or more attempts. None had more processes than the limit.
    let runs = u64::from(bomb.attempt);
    let pids = fs::read_to_string(world.path("pids/bomb.1500")).unwrap().lines().count() as u64;
    assert!((50..=runs * BOUND).contains(&pids), "{pids} processes in {runs} runs under a bound of {BOUND}");
    let threads = &samples["threads"];
    let limit = threads.limit.as_ref().unwrap_or_else(|| panic!("{}: {:?}", threads.status, threads.reason));
    assert_eq!((threads.status, limit.name.as_str(), limit.value), (Status::Limit, "pids.max", BOUND));
}

/// As in two containers with one TMPDIR: the pids of one mean nothing in the other.
#[test]
fn cgroups_of_other_pid_namespaces_are_kept() {
    let world = World::new(&[]);
    let gate = world.gate("out", 1);
    let entry = FakeEntry::new("well", "").program(&gate.program);
    fs::write(world.manifest(), world.manifest_of(&[entry])).unwrap();
    let unshared = || {
        let own = world.command(&["doctor"]);
        let mut command = Command::new("unshare");
        command.args(["--pid", "--fork", "--mount-proc"]).arg(own.get_program()).args(own.get_args());
        command.env_clear().envs(own.get_envs().filter_map(|(name, value)| Some((name, value?))));
        world.run_plain(command)
    };
    if !is_root()
        || !Command::new("unshare")
            .args(["--pid", "--fork", "true"])
            .status()
            .is_ok_and(|status| status.success())
    {
        return skipped("no other PID namespace can be made here");
    }
    let running = world.start(world.campaign("out", "-n 1,2 --timeout 10m"));
    world.until("it is at work", || world.sample_count("out") > 0);
    unshared().expect_code(0);
    let _open = gate.open();
    let finished = running.wait();
    let samples = world.runs("out");
    finished.expect_good(&samples);
    assert_eq!(samples.len(), 2);
    world.assert_nothing_left();
}

/// A cgroup with a limit on processes, like a container's. Removed when dropped.
struct Container(PathBuf);

impl Container {
    fn new(bound: u64) -> Option<Container> {
        let parents = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"].map(Path::new);
        let parent = parents.into_iter().find(|parent| parent.join("cgroup.procs").exists())?;
        let folder = parent.join(format!("test-of-taskscale-{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        let container = Container(folder);
        fs::write(container.0.join("pids.max"), bound.to_string()).ok()?;
        Some(container)
    }

    fn holds(&self, command: &mut Command) {
        let procs = self.0.join("cgroup.procs");
        // SAFETY: writes a file between fork and exec, with a path made beforehand.
        unsafe {
            command.pre_exec(move || fs::write(&procs, "0"));
        }
    }
}

impl Drop for Container {
    fn drop(&mut self) {
        let _ = fs::remove_dir(&self.0);
    }
}

/// If the launcher is killed, by the program or another process (taskscale cannot tell), the run is a sample,
/// the program's processes are ended, and the campaign continues.
#[test]
fn a_killed_launcher_yields_a_sample_and_no_orphans() {
    let world = World::new(&[]);
    // The second run hangs.
    let [script, hangs, samples] = ["family", "hangs", "out/samples.jsonl"].map(|name| world.path(name));
    let text = format!(
        "#!/bin/sh\n[ -s {0} ] && ! [ -e {1} ] && : > {1} && exec {2} --fault hang:plateau \"$@\"\nexec {2} \"$@\"\n",
        samples.display(),
        hangs.display(),
        world.fake().display()
    );
    write_script(&script, &text);
    let family = FakeEntry::new("family", "--processes 2 --grandchildren 2 --fault daemon");
    let manifest = world.manifest_of(&[family.program(&script.display().to_string())]);
    fs::write(world.manifest(), manifest).unwrap();
    let running = world.start(world.campaign("out", "-n 5 --repetitions 3 --timeout 10m"));
    let launcher = || {
        // A fork of the process that taskscale itself has started.
        let all = world.processes("taskscale");
        let template = all.iter().find(|process| process.parent() == Some(running.pid()))?.pid;
        all.into_iter().find(|process| process.parent() == Some(template))
    };
    world.until("a launcher runs a program", || {
        hangs.exists() && launcher().is_some() && world.processes("fake-entry").len() >= 6
    });
    launcher().expect("the program stays").kill(libc::SIGKILL);
    let finished = running.wait();
    world.assert_nothing_left();
    finished.expect_code(1).expect_said("launcher");
    let samples = world.load("out").samples;
    let crashed: Vec<_> = samples.iter().filter(|sample| sample.status == Status::Crashed).collect();
    assert!(samples.len() >= 3 && crashed.len() == 1, "{samples:?}");
    let reason = crashed[0].reason.as_deref().unwrap_or_default();
    assert!(reason.contains("launcher"), "{reason}");
}

/// If taskscale and its launcher are killed, the next start removes their cgroups, with those that the program
/// created below them and all processes in them.
#[test]
fn nested_cgroups_of_a_killed_taskscale_are_removed() {
    let flags = "--fault subgroups --processes 2 --fault daemon --fault hang:plateau";
    let world = World::new(&[FakeEntry::new("nested", flags)]);
    let running = world.start(world.campaign("out", "-n 5"));
    let launchers = || {
        let all = world.processes("taskscale").into_iter();
        all.filter(|process| process.command.contains("__launch")).collect::<Vec<_>>()
    };
    world.until("a launcher runs a program", || {
        !launchers().is_empty() && world.processes("fake-entry").len() >= 4
    });
    // Stops taskscale first, which would otherwise clean up when the launchers are gone.
    running.signal(libc::SIGSTOP);
    launchers().iter().for_each(|launcher| launcher.kill(libc::SIGKILL));
    world.until("the launchers are gone", || launchers().is_empty());
    running.signal(libc::SIGKILL);
    running.wait();
    world.run(world.command(&["doctor"])).expect_code(0);
    world.assert_nothing_left();
}

/// Launchers are forks of a template process. If it is killed, another is started, and no run is lost.
#[test]
fn a_killed_launcher_template_is_replaced() {
    let world = World::new(&[]);
    let gate = world.gate("out", 1);
    let entry = FakeEntry::new("family", "--processes 2").program(&gate.program);
    fs::write(world.manifest(), world.manifest_of(&[entry])).unwrap();
    let running = world.start(world.campaign("out", "-n 5 --repetitions 3 --timeout 10m"));
    world.until("the first sample is there", || world.sample_count("out") > 0);
    let all = world.processes("taskscale");
    let template = all.iter().find(|process| process.parent() == Some(running.pid()));
    template.expect("it stays for the whole campaign").kill(libc::SIGKILL);
    let _open = gate.open();
    let finished = running.wait();
    let kept = world.runs("out");
    finished.expect_good(&kept);
    assert_eq!(kept.len(), 3);
    world.assert_nothing_left();
}

/// The user `nobody` can measure as well.
#[test]
fn unprivileged_user_can_measure() {
    if !is_root() {
        return skipped("only root can try how another user fares");
    }
    let world = World::new(&[FakeEntry::new("well", ""), FakeEntry::new("orphan", "--fault orphan")]);
    let given = Command::new("chown").args(["-R", "65534:65534"]).arg(world.path("")).status();
    assert!(given.is_ok_and(|status| status.success()));
    let mut command = world.campaign("out", "-n 5");
    command.uid(65534).gid(65534);
    let finished = world.run(command);
    world.assert_nothing_left();
    let samples = world.samples("out");
    finished.expect_good(samples.values());
    assert_eq!(samples.len(), 2);
}
