//! Operations in the place of a wait: from `ready` to `done` and `check`, with a cost that the program knows.

use std::io;
use std::thread;
use std::time::Duration;

use crate::args::WorkOptions;
use crate::faults::{self, Fault, Phase};
use crate::{Script, output, perform};

impl Script {
    /// All operations, and what is said of them. Their cost is what was asked for, whatever they are.
    pub fn work(&self, work: &WorkOptions) -> io::Result<u8> {
        let options = &self.options;
        let (done, failed) = faults::outcome(&options.faults, work.operations);
        if self.has(Fault::DoneEarly) {
            self.say(&format!("done {done}\n"));
        }
        let before = cpu();
        if !self.has(Fault::NoReady) && !self.has(Fault::ReadyLate) {
            self.say("ready\n");
        }
        if self.has(Fault::ReadyTwice) {
            self.say("ready\n");
        }
        if work.threads {
            for _ in 0..work.operations {
                thread::Builder::new().stack_size(64 * 1024).spawn(|| ())?.join().ok();
            }
        }
        burn(work.cpu / 2);
        thread::sleep(work.sleep / 2);
        perform::strike(options, Phase::Plateau);
        burn(work.cpu - work.cpu / 2);
        thread::sleep(work.sleep - work.sleep / 2);
        if self.has(Fault::ReadyLate) {
            self.say("ready\n");
        }
        perform::strike(options, Phase::Drain);

        let mut text = self.metrics();
        text += &format!("metric work_cpu {} s\n", (cpu() - before).as_secs_f64());
        text += &format!("metric affinity {} cpus\n", affinity());
        if !self.has(Fault::NoDone) && !self.has(Fault::DoneEarly) {
            text += &format!("done {done}\n");
        }
        if failed > 0 {
            text += &format!("failed {failed}\n");
            output::err(format!("fake-entry: {failed} operations failed\n").as_bytes());
        }
        let wrong = u128::from(self.has(Fault::WrongCheck));
        let operations = u128::from(work.operations);
        if !self.has(Fault::NoCheck) {
            text += &format!("check {}\n", operations * (operations - 1) / 2 + wrong);
        }
        if self.has(Fault::NoNewline) {
            text.pop();
        }
        self.say(&text);
        for fault in &options.faults {
            if let Fault::WorkAfter(ms) = fault {
                burn(Duration::from_millis(*ms));
            }
        }
        Ok(u8::from(failed > 0))
    }
}

/// Uses so much CPU time of this process, however long that takes.
pub fn burn(time: Duration) {
    let until = cpu() + time;
    while cpu() < until {
        for _ in 0..100 {
            std::hint::spin_loop();
        }
    }
}

/// CPU time of the whole process so far.
fn cpu() -> Duration {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: writes to `time` only.
    unsafe { libc::clock_gettime(libc::CLOCK_PROCESS_CPUTIME_ID, &mut time) };
    Duration::new(time.tv_sec.unsigned_abs(), time.tv_nsec.unsigned_abs() as u32)
}

/// On how many CPUs it may run.
fn affinity() -> i32 {
    // SAFETY: a set of no CPU is all zeros, and the call writes to it only.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut set);
        libc::CPU_COUNT(&set)
    }
}
