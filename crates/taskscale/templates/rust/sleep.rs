//! One thread per task. Put your way of running tasks in the place of `std::thread`.

use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

// Shared by all tasks: the proof must add nothing to what a task holds.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: sleep <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let mut handles = Vec::with_capacity(tasks as usize);
    for launched in 0..tasks {
        match thread::Builder::new().spawn(move || task(tasks, wait)) {
            Ok(handle) => handles.push(handle),
            // The system refuses: say so, and how many never started.
            Err(error) => {
                eprintln!("cannot start task {} of {tasks}: {error}", launched + 1);
                println!("done {}\nfailed {}", FINISHED.load(SeqCst), tasks - launched);
                return ExitCode::FAILURE;
            }
        }
    }
    for handle in handles {
        handle.join().unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    ExitCode::SUCCESS
}

fn task(tasks: u32, wait: Duration) {
    // The last to start says how many are alive. Rust's standard output is flushed at the end of each line.
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    thread::sleep(wait);
    FINISHED.fetch_add(1, SeqCst);
}

fn arguments() -> Option<(u32, Duration)> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tasks, seconds] = args.as_slice() else { return None };
    let tasks: u32 = tasks.parse().ok().filter(|tasks| *tasks > 0)?;
    Some((tasks, Duration::from_secs(seconds.parse::<u32>().ok()?.into())))
}
