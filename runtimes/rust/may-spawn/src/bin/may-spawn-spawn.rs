//! One may coroutine per operation, made and joined for its result.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZero;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use may::go;

/// Operations of the rounds that are over; static, because the panic hook reports it.
static DONE: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: may-spawn-spawn <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };

    // Refused memory for a stack, may panics.
    panic::set_hook(Box::new(move |panic| give_up(tasks, operations, panic)));
    println!("ready");

    // `main` is a thread, not a coroutine: what it starts has to be handed to a worker.
    let sum = go!(move || rounds(tasks, operations)).join().unwrap();

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
}

fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        DONE.store(first, Relaxed);
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| go!(move || task(number))));
        for handle in handles.drain(..) {
            sum += handle.join().unwrap();
        }
    }
    sum
}

fn task(number: u64) -> u64 {
    number
}

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(tasks: u64, operations: u64, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let done = DONE.load(Relaxed);
    let reason = reason.to_string().replace('\n', " ");
    eprintln!("may-spawn-spawn: cannot start {tasks} tasks at once: {reason}");
    println!("done {done}");
    println!("failed {}", operations - done);
    process::exit(1)
}

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    Some((tasks.get().into(), operations.get().into()))
}
