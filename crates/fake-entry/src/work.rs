//! Operations in the place of a wait: from `ready` to `done` and `check`, with a cost that the program knows.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::thread::sched_getaffinity;
use rustix::time::ClockId;

use crate::faults::{Fault, FaultPhase};
use crate::threads::{burn, cpu};
use crate::{Script, output, perform};

const ALL_THREADS: ClockId = ClockId::ProcessCPUTime;

impl Script {
    /// All operations, and what is said of them. Their cost is what was asked for, whatever they are.
    pub fn work(&self) -> io::Result<u8> {
        let options = &self.options;
        let operations = options.operations();
        let (done, failed) = options.outcome(operations);
        if self.has(Fault::DoneEarly) {
            self.say(&format!("done {done}\n"));
        }
        let before = cpu(ALL_THREADS);
        if !self.has(Fault::NoReady) && !self.has(Fault::ReadyLate) {
            self.say("ready\n");
        }
        if self.has(Fault::ReadyTwice) {
            self.say("ready\n");
        }
        if options.op_threads {
            for _ in 0..operations {
                thread::Builder::new().stack_size(64 * 1024).spawn(|| ())?.join().ok();
            }
        }
        burn(options.work_cpu() / 2);
        thread::sleep(options.work_sleep() / 2);
        perform::strike(options, FaultPhase::Plateau);
        burn(options.work_cpu() / 2);
        thread::sleep(options.work_sleep() / 2);
        if self.has(Fault::ReadyLate) {
            self.say("ready\n");
        }
        perform::strike(options, FaultPhase::Drain);

        let mut text = options.metrics.clone();
        text += &format!("metric work_cpu {} s\n", (cpu(ALL_THREADS) - before).as_secs_f64());
        text += &format!("metric affinity {} cpus\n", sched_getaffinity(None)?.count());
        if !self.has(Fault::NoDone) && !self.has(Fault::DoneEarly) {
            text += &format!("done {done}\n");
        }
        if failed > 0 {
            text += &format!("failed {failed}\n");
            output::err(format!("fake-entry: {failed} operations failed\n").as_bytes());
        }
        if !self.has(Fault::NoCheck) {
            let sum = operations * operations.saturating_sub(1) / 2;
            text += &format!("check {}\n", sum + u64::from(self.has(Fault::WrongCheck)));
        }
        if self.has(Fault::NoNewline) {
            text.pop();
        }
        self.say(&text);
        burn(Duration::from_millis(options.number(Fault::WorkAfter).unwrap_or(0)));
        Ok(u8::from(failed > 0))
    }
}
