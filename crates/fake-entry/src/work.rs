//! Operations instead of a wait: from `ready` to `done` and `check`, at a known cost.

use std::io;
use std::thread;
use std::time::Duration;

use rustix::thread::sched_getaffinity;

use crate::faults::{Fault, FaultPhase};
use crate::threads::{ALL_THREADS, burn, cpu};
use crate::{Script, perform};

impl Script {
    /// Does all operations at the requested cost, and prints the results. Returns the exit code.
    pub fn work(&self) -> io::Result<u8> {
        let options = &self.options;
        let operations = options.operations();
        let before = cpu(ALL_THREADS);
        if !self.has(Fault::NoReady) && !self.has(Fault::ReadyLate) {
            self.print("ready\n");
        }
        if options.op_threads {
            for _ in 0..operations {
                thread::Builder::new().stack_size(64 * 1024).spawn(|| ())?.join().ok();
            }
        }
        burn(ALL_THREADS, options.work_cpu() / 2);
        thread::sleep(options.work_sleep() / 2);
        perform::strike(options, FaultPhase::Plateau);
        burn(ALL_THREADS, options.work_cpu() / 2);
        thread::sleep(options.work_sleep() / 2);
        if self.has(Fault::ReadyLate) {
            self.print("ready\n");
        }
        perform::strike(options, FaultPhase::Drain);

        let mut text = options.lines.clone();
        text += &format!("metric work_cpu {} s\n", (cpu(ALL_THREADS) - before).as_secs_f64());
        text += &format!("metric affinity {} cpus\n", sched_getaffinity(None)?.count());
        let sum = operations * operations.saturating_sub(1) / 2;
        let check = format!("check {}\n", sum + u64::from(self.has(Fault::WrongCheck)));
        let code = self.print_outcome(text, operations, "operations", &check);
        burn(ALL_THREADS, Duration::from_millis(options.number(Fault::WorkAfter).unwrap_or(0)));
        Ok(code)
    }
}
