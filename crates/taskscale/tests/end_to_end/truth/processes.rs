//! Processes, compared with an independent meter: the same program in a cgroup of this test, started as a user
//! starts it.

use std::fs;
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use taskscale::catalog::Kind;
use taskscale::record::Status;
use taskscale_measure::{
    Bounds, GroupRoot, HoldParams, Interrupt, LocalRunner, Measurement, RunEnd, RunSpec, Runner, Scenario,
};

use crate::support::{fake_entry, skipped, skipped_as_starved, was_starved};

/// Forked by the first process, so there is one more in all.
const CHILDREN: u64 = 200;
/// Wait of the measured program, in seconds: long enough on a busy machine.
const HOLD_S: u64 = 15;
/// Wait of the bare program, in seconds. It is ended once all is read.
const BARE_S: u64 = 300;
/// Consecutive readings without a decrease: the kernel frees unused memory a little later.
const EQUAL_READINGS: u32 = 5;

/// Kernel memory of a program, by either meter.
#[derive(Debug)]
struct KernelMemory {
    kernel_bytes: u64,
    page_tables_bytes: u64,
}

impl KernelMemory {
    /// Kernel memory besides page tables, in bytes. Page tables differ between runs with the addresses, the
    /// rest does not.
    fn besides_tables(&self) -> u64 {
        self.kernel_bytes - self.page_tables_bytes
    }
}

fn command(fake: &Path, hold_s: u64) -> Vec<String> {
    let words = [&*fake.to_string_lossy(), "--processes", &CHILDREN.to_string(), "1", &hold_s.to_string()];
    words.map(str::to_owned).to_vec()
}

fn measured(runner: &mut LocalRunner, command: Vec<String>) -> Measurement {
    let spec = RunSpec {
        command,
        env: Default::default(),
        kind: Kind::Stackless,
        tasks: 1,
        scenario: Scenario::Hold(HoldParams { hold_s: HOLD_S as f64, ..HoldParams::default() }),
        check: None,
        cpus: None,
        bounds: Bounds { memory_bytes: None, time: Duration::from_secs(100), output_bytes: 1 << 20 },
    };
    match runner.run(&spec).unwrap() {
        RunEnd::Measured(measurement) => *measurement,
        RunEnd::Interrupted => unreachable!("nothing interrupts it"),
    }
}

/// A cgroup, v1 or v2 below the root, that taskscale does not know.
struct Meter(PathBuf);

impl Meter {
    fn new() -> Option<Meter> {
        let name = format!("truth-meter-{}", std::process::id());
        ["/sys/fs/cgroup/memory", "/sys/fs/cgroup"]
            .map(|mount| Path::new(mount).join(&name))
            .into_iter()
            .find(|folder| {
                let made = fs::create_dir(folder).is_ok();
                let counts = Meter::kernel_bytes(folder).is_some();
                if made && !counts {
                    let _ = fs::remove_dir(folder);
                }
                made && counts
            })
            .map(Meter)
    }

    fn kernel_bytes(folder: &Path) -> Option<u64> {
        let number = |text: String| text.trim().parse().ok();
        fs::read_to_string(folder.join("memory.kmem.usage_in_bytes")).ok().and_then(number).or_else(|| {
            let stat = fs::read_to_string(folder.join("memory.stat")).ok()?;
            number(stat.lines().find_map(|line| line.strip_prefix("kernel "))?.to_owned())
        })
    }

    fn pids(&self) -> Vec<u32> {
        let text = fs::read_to_string(self.0.join("cgroup.procs")).unwrap();
        text.lines().map(|pid| pid.parse().unwrap()).collect()
    }

    /// Kernel memory of the command once all its processes have started: it does not change while they wait.
    fn hold(&self, command: &[String]) -> KernelMemory {
        let procs = self.0.join("cgroup.procs");
        let mut bare = Command::new(&command[0]);
        bare.args(&command[1..]).stdout(Stdio::piped());
        // SAFETY: between fork and exec, only system calls, and a write to a file whose name exists already.
        unsafe {
            bare.pre_exec(move || {
                // An inherited descriptor above 63, such as cargo's, makes every child's table of files larger.
                libc::syscall(libc::SYS_close_range, 3, libc::c_uint::MAX, libc::CLOSE_RANGE_CLOEXEC);
                fs::write(&procs, "0")
            })
        };
        let mut child = bare.spawn().unwrap();
        let mut line = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line, "alive 1\n");
        let pids = self.pids();
        assert_eq!(pids.len() as u64, CHILDREN + 1);
        let (mut kernel_bytes, mut equal) = (u64::MAX, 0);
        while equal < EQUAL_READINGS {
            let now = Meter::kernel_bytes(&self.0).expect("the meter counts");
            equal = if now < kernel_bytes { 0 } else { equal + 1 };
            kernel_bytes = kernel_bytes.min(now);
            std::thread::sleep(Duration::from_millis(100));
        }
        let held = KernelMemory {
            kernel_bytes,
            page_tables_bytes: pids.iter().map(|pid| page_tables_bytes(*pid)).sum(),
        };
        assert_eq!(self.pids().len(), pids.len(), "all of them were there to the last");
        // None was reaped, so the numbers are still theirs.
        for pid in pids {
            unsafe { libc::kill(pid as i32, libc::SIGKILL) };
        }
        child.wait().unwrap();
        held
    }
}

impl Drop for Meter {
    fn drop(&mut self) {
        // An ended process may keep the cgroup busy a moment longer.
        while fs::remove_dir(&self.0).is_err() && self.0.exists() {
            std::thread::yield_now();
        }
    }
}

fn page_tables_bytes(pid: u32) -> u64 {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmPTE:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() << 10
}

#[test]
fn kernel_memory_of_processes_matches_an_independent_meter() {
    let Some(meter) = Meter::new() else {
        return skipped("no control group can be made for the independent meter");
    };
    let interrupt = Interrupt::never().unwrap();
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_taskscale"));
    let mut runner = LocalRunner::new(GroupRoot::find(), &interrupt).with_launcher(launcher);
    let bare = meter.hold(&command(fake_entry(), BARE_S));
    let run = measured(&mut runner, command(fake_entry(), HOLD_S));
    if was_starved(&run) {
        return skipped_as_starved();
    }
    assert_eq!((run.status, run.processes), (Status::Ok, Some(CHILDREN + 1)), "{:?}", run.reason);
    let plateau = run.memory.plateau.unwrap();
    let ours = KernelMemory {
        kernel_bytes: plateau.kernel_bytes,
        page_tables_bytes: plateau.page_tables_bytes.unwrap(),
    };
    println!("{CHILDREN} forked processes: bare {bare:?}, taskscale {ours:?}");
    let (there, here) = (bare.besides_tables(), ours.besides_tables());
    assert!(here.abs_diff(there) < there / 50, "besides page tables: bare {bare:?}, taskscale {ours:?}");
}

/// Without random addresses, processes share page tables more tightly than in practice: 2,000 forked ones were
/// understated by 10%.
#[test]
fn programs_keep_their_personality() {
    let bare = Command::new("cat").arg("/proc/self/personality").output().unwrap();
    let Ok(bare) = String::from_utf8(bare.stdout) else { panic!("no personality") };
    let interrupt = Interrupt::never().unwrap();
    let launcher = PathBuf::from(env!("CARGO_BIN_EXE_taskscale"));
    let mut runner = LocalRunner::new(GroupRoot::none(), &interrupt).with_launcher(launcher);
    let words = ["/bin/sh", "-c", "cat /proc/self/personality >&2; exit 3"].map(str::to_owned);
    let run = measured(&mut runner, words.to_vec());
    assert_eq!(run.stderr_tail, Some(bare), "{:?}", run.reason);
}
