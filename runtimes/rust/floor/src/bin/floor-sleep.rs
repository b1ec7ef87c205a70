//! No tasks at all: a heap of deadlines, and one thread that sleeps until the next one.
//! Whatever waits on a timer has to remember when it is due; a runtime cannot need less than this.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: floor <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let mut deadlines = BinaryHeap::with_capacity(tasks as usize);
    for _ in 0..tasks {
        deadlines.push(Reverse(Instant::now() + wait));
    }
    println!("alive {}", deadlines.len());

    let mut done = 0;
    while let Some(Reverse(deadline)) = deadlines.pop() {
        thread::sleep(deadline.saturating_duration_since(Instant::now()));
        done += 1;
    }

    println!("done {done}");
    ExitCode::SUCCESS
}

fn arguments() -> Option<(u32, Duration)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, seconds] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let seconds: u32 = seconds.to_str()?.parse().ok()?;
    Some((tasks.get(), Duration::from_secs(seconds.into())))
}
