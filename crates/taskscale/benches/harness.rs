//! The overhead of taskscale, as ratios within one run: `cargo bench -p taskscale --bench harness`, with
//! `-- overhead`, `-- disturbance` or `-- memory` for one part of it.
//!
//! - the time of one run of `true` as a case with a durable record, next to other measuring tools
//! - whether a program runs the same with and without taskscale
//! - CPU time of taskscale while tasks wait, and its memory with 5,000 samples
//!
//! benches/README.md has results and how to read them.

use std::error::Error;
use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use taskscale::campaign::{planned_runs, prepare};
use taskscale::catalog::{Catalog, Kind, select};
use taskscale::record::{self, Campaign, Sample, Store};
use taskscale::stats;
use taskscale::toolchain::{Attend, Cache, path_lookup};
use taskscale_measure::{
    Bounds, GroupBounds, GroupRoot, HoldParams, Interrupt, LocalRunner, Measurement, RunEnd, RunSpec, Runner,
    Scenario,
};

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const TASKSCALE: &str = env!("CARGO_BIN_EXE_taskscale");

fn main() -> Result<()> {
    // `cargo test --benches` also runs every bench, but there is nothing to test here.
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if arguments.iter().any(|argument| argument == "--test") {
        return Ok(());
    }
    let chosen: Vec<&String> = arguments.iter().filter(|argument| !argument.starts_with("--")).collect();
    let wanted = |name: &str| chosen.is_empty() || chosen.iter().any(|word| *word == name);
    if wanted("overhead") {
        overhead()?;
    }
    if wanted("disturbance") {
        disturbance()?;
    }
    if wanted("memory") {
        memory()?;
    }
    Ok(())
}

fn median_of(values: &[f64]) -> f64 {
    stats::median(values).unwrap_or(f64::NAN)
}

fn spec(command: &[String], kind: Kind, tasks: u64, hold_s: f64) -> RunSpec {
    RunSpec {
        command: command.to_vec(),
        env: Default::default(),
        kind,
        tasks,
        scenario: Scenario::Hold(HoldParams { hold_s, ..HoldParams::default() }),
        check: None,
        cpus: None,
        bounds: Bounds { memory_bytes: Some(8 << 30), time: Duration::from_secs(60), output_bytes: 1 << 20 },
    }
}

fn measured(runner: &mut LocalRunner, spec: &RunSpec) -> Result<Measurement> {
    match runner.run(spec)? {
        RunEnd::Measured(measurement) => Ok(*measurement),
        RunEnd::Interrupted => Err("interrupted".into()),
    }
}

/// Times one run of `true` in milliseconds, each way in turn.
fn overhead() -> Result<()> {
    const ROUNDS: usize = 100;
    let interrupt = Interrupt::never()?;
    let mut runner = LocalRunner::new(GroupRoot::find(), &interrupt).with_launcher(TASKSCALE.into());
    let program = path_lookup("true").ok_or("no `true`")?.to_string_lossy().into_owned();
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let (campaign, sample) = example(folder.path())?;
    let mut store = Store::claim(&folder.path().join("bench"))?;
    store.write_campaign(&campaign)?;
    let run_true = spec(std::slice::from_ref(&program), Kind::Stackless, 1, 0.0);
    let mut peers = [
        BenchPeer::find("hyperfine -N", "hyperfine -N --warmup 0 --runs 100 --style none true", 100, 25),
        BenchPeer::find("GNU time -v", "time -v true", 1, 1),
        BenchPeer::find("BenchExec runexec", "runexec --no-container --output /dev/null -- true", 1, 10),
    ];

    let (mut bare, mut ours, mut kept) = (Vec::new(), Vec::new(), Vec::new());
    // The first run starts the process that the others are forked from.
    measured(&mut runner, &run_true)?;
    for round in 0..ROUNDS {
        bare.push(timed(|| Ok(Command::new(&program).status().map(|_| ())?))?);
        ours.push(timed(|| measured(&mut runner, &run_true).map(|_| ()))?);
        kept.push(timed(|| {
            measured(&mut runner, &run_true)?;
            Ok(store.append(&sample)?)
        })?);
        peers.iter_mut().filter(|peer| round % peer.every == 0).for_each(BenchPeer::run);
    }
    let bare = median_of(&bare);
    println!("one run of `true`, {ROUNDS} rounds in turn, median\n");
    println!("{:<44}{:>11}{:>13}{:>8}", "", "", "above", "ratio");
    let line = |name: &str, ms: f64| {
        println!("{name:<44}{ms:>8.2} ms{:>10.2} ms{:>8.2}", ms - bare, ms / bare);
    };
    line("bare process", bare);
    line("taskscale, without its record", median_of(&ours));
    line("taskscale, with a durable record", median_of(&kept));
    for peer in peers {
        match peer.why_not {
            None => line(peer.name, median_of(&peer.times_ms)),
            Some(why) => println!("{:<44}SKIPPED: {why}", peer.name),
        }
    }
    println!();
    Ok(())
}

/// Another tool, timed with its own start-up.
struct BenchPeer {
    name: &'static str,
    command: Vec<&'static str>,
    /// How many times one call of it runs the program.
    runs: usize,
    /// It is called once every this many rounds.
    every: usize,
    times_ms: Vec<f64>,
    why_not: Option<String>,
}

impl BenchPeer {
    fn find(name: &'static str, command: &'static str, runs: usize, every: usize) -> BenchPeer {
        let command: Vec<&str> = command.split(' ').collect();
        let why_not = path_lookup(command[0]).is_none().then(|| "not installed".to_owned());
        BenchPeer { name, command, runs, every, times_ms: Vec::new(), why_not }
    }

    fn run(&mut self) {
        if self.why_not.is_some() {
            return;
        }
        let begun = Instant::now();
        match Command::new(self.command[0]).args(&self.command[1..]).stdin(Stdio::null()).output() {
            Ok(output) if output.status.success() => {
                self.times_ms.push(begun.elapsed().as_secs_f64() * 1e3 / self.runs as f64);
            }
            Ok(output) => {
                let said = String::from_utf8_lossy(&output.stderr);
                self.why_not = Some(said.lines().next_back().unwrap_or("it failed").to_owned());
            }
            Err(error) => self.why_not = Some(error.to_string()),
        }
    }
}

fn timed(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    let begun = Instant::now();
    work()?;
    Ok(begun.elapsed().as_secs_f64() * 1e3)
}

/// The same program bare and under taskscale, in turn.
fn disturbance() -> Result<()> {
    const ROUNDS: usize = 7;
    const LONGER_S: f64 = 10.0;
    let interrupt = Interrupt::never()?;
    let mut runner = LocalRunner::new(GroupRoot::find(), &interrupt).with_launcher(TASKSCALE.into());
    println!("the same program bare and under taskscale in turn, median of {ROUNDS} rounds\n");
    println!("{:<28}{:>10}{:>10}    taskscale's own CPU", "", "wall", "CPU");
    for (name, tasks, hold_s) in [("tokio-spawn", 1_000_000, 4.0), ("thread", 10_000, 3.0)] {
        let Some((command, kind)) = entry(&format!("rust/{name}"))? else { continue };
        let spec = |hold_s: f64| {
            let mut command = command.clone();
            command.extend([tasks.to_string(), hold_s.to_string()]);
            spec(&command, kind, tasks, hold_s)
        };
        let watched = |runner: &mut LocalRunner, hold_s: f64| -> Result<(Measurement, f64)> {
            let before = own_cpu_s();
            let run = measured(runner, &spec(hold_s))?;
            Ok((run, own_cpu_s() - before))
        };
        let (mut walls, mut cpus, mut own) = (Vec::new(), Vec::new(), Vec::new());
        for _ in 0..ROUNDS {
            let (bare_wall_s, bare_cpu_s) = bare(&spec(hold_s).command, &mut runner.home)?;
            let (run, own_s) = watched(&mut runner, hold_s)?;
            own.push(own_s);
            walls.push(run.time.wall_s.unwrap_or(f64::NAN) / bare_wall_s);
            cpus.push(run.cpu.total_s().unwrap_or(f64::NAN) / bare_cpu_s);
        }
        // The cost of waiting is what a longer plateau adds. The rest is start, reading and end.
        let (_, long_s) = watched(&mut runner, hold_s + LONGER_S)?;
        println!(
            "{:<28}{:>10.3}{:>10.3}    {:.0} ms a run, and {:.3} % of one core while tasks wait",
            format!("rust/{name} × {tasks}"),
            median_of(&walls),
            median_of(&cpus),
            median_of(&own) * 1e3,
            (long_s - median_of(&own)).max(0.0) / LONGER_S * 100.0
        );
    }
    println!();
    Ok(())
}

/// An entry's command, built.
fn entry(name: &str) -> Result<Option<(Vec<String>, Kind)>> {
    let catalog = Catalog::load(&Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes"))?;
    let chosen = select(&catalog, &[name.to_owned()], &["sleep".to_owned()])?;
    let unattended = Attend { stop: &|| false, waiting: &|_| () };
    let prepared = prepare(&Cache::of_user(), &chosen.programs, &unattended, |_| {});
    match &prepared[0].command {
        Ok(command) => Ok(Some((command.clone(), prepared[0].facts.kind))),
        Err(why) => {
            println!("{name:<28}SKIPPED: {}", why.reason());
            Ok(None)
        }
    }
}

/// Wall and CPU time, in seconds, of a program that runs without taskscale, in a cgroup like taskscale's. The
/// CPU time is the cgroup's: that of a parent leaves out kernel work when threads end, 4% of the time of 10,000
/// threads.
fn bare(command: &[String], groups: &mut GroupRoot) -> Result<(f64, f64)> {
    let group = groups.create_group(GroupBounds::default())?;
    let join = group.join_files();
    let begun = Instant::now();
    let mut bare = Command::new(&command[0]);
    bare.args(&command[1..]).stdout(Stdio::null()).process_group(0);
    // SAFETY: between fork and exec, only writes to files whose names exist already.
    unsafe { bare.pre_exec(move || join.iter().try_for_each(|file| fs::write(file, "0"))) };
    let child = bare.spawn()?;
    let mut status = 0;
    // SAFETY: both pointers are valid, and only this code waits for the child.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::wait4(child.id() as i32, &mut status, 0, &mut usage);
        usage
    };
    let wall_s = begun.elapsed().as_secs_f64();
    let by_group = (!group.folders().is_empty()).then(|| group.cpu()).flatten();
    let cpu_s = by_group.map_or(seconds(usage.ru_utime) + seconds(usage.ru_stime), |cpu| cpu.total_s);
    for folder in group.folders() {
        while fs::remove_dir(&folder).is_err() && folder.exists() {
            std::thread::sleep(Duration::from_millis(1));
        }
    }
    Ok((wall_s, cpu_s))
}

fn own_cpu_s() -> f64 {
    // SAFETY: the pointer is valid.
    let usage = unsafe {
        let mut usage = std::mem::zeroed::<libc::rusage>();
        libc::getrusage(libc::RUSAGE_SELF, &mut usage);
        usage
    };
    seconds(usage.ru_utime) + seconds(usage.ru_stime)
}

fn seconds(time: libc::timeval) -> f64 {
    time.tv_sec as f64 + time.tv_usec as f64 / 1e6
}

/// A campaign of one case, and its sample.
fn example(folder: &Path) -> Result<(Campaign, Sample)> {
    let place = folder.join("example");
    let status = Command::new(TASKSCALE)
        .args(["rust/floor", "-n", "1", "-r", "1", "--quiet", "--format", "csv", "-o"])
        .arg(&place)
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .status()?;
    let loaded = record::load(&place)?;
    let sample = loaded.samples.first().ok_or(format!("the example campaign failed: {status}"))?;
    Ok((loaded.campaign, sample.clone()))
}

/// Prints the peak resident memory of a taskscale that resumes 5,000 samples for the last run.
fn memory() -> Result<()> {
    const REPETITIONS: u32 = 1_000;
    let folder = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR"))?;
    let place = folder.path().join("large");
    let arguments = ["rust/floor", "-n", "1,2,3,4,5", "-r", "1000", "--quiet", "--format", "csv", "-o"];
    // Its first run writes campaign.json. Then samples of all other runs but one are added.
    let mut first = Command::new(TASKSCALE).args(arguments).arg(&place).stdout(Stdio::null()).spawn()?;
    while fs::read(place.join("samples.jsonl")).map_or(true, |bytes| bytes.is_empty()) {
        std::thread::sleep(Duration::from_millis(50));
    }
    first.kill()?;
    first.wait()?;
    let loaded = record::load(&place)?;
    let example = loaded.samples.first().ok_or("no sample")?;
    let all: Vec<_> = planned_runs(&loaded.campaign).collect();
    assert_eq!(all.len() as u32, 5 * REPETITIONS);
    let mut lines = String::new();
    for run in &all[..all.len() - 1] {
        let sample = Sample { repetition: run.repetition, tasks: run.cell.tasks, ..example.clone() };
        lines.push_str(&serde_json::to_string(&sample)?);
        lines.push('\n');
    }
    fs::write(place.join("samples.jsonl"), lines)?;

    let child = Command::new(TASKSCALE).args(arguments).arg(&place).stdout(Stdio::null()).spawn()?;
    let peak = highest_resident(child.id());
    let mut child = child;
    child.wait()?;
    println!(
        "taskscale's own memory with a campaign of {} samples: {:.1} MiB at the most",
        all.len(),
        peak / 1048576.0
    );
    Ok(())
}

/// Peak resident memory (VmHWM) of a process in bytes, read until it ends: ru_maxrss would include this
/// process's at the fork.
fn highest_resident(pid: u32) -> f64 {
    let mut highest = 0.0f64;
    while let Ok(status) = fs::read_to_string(format!("/proc/{pid}/status")) {
        let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        // A zombie has no memory.
        let Some(kib) = line.and_then(|line| line.trim().strip_suffix(" kB")?.trim().parse::<f64>().ok())
        else {
            break;
        };
        highest = highest.max(kib * 1024.0);
        std::thread::sleep(Duration::from_millis(5));
    }
    highest
}
