//! One may coroutine per task, each with a stack of its own.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZero;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use may::coroutine::sleep;
use may::go;

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: may-spawn <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    // Refused memory for a stack, may panics.
    panic::set_hook(Box::new(move |panic| give_up(tasks, panic)));

    let handles: Vec<_> = (0..tasks).map(|_| go!(move || task(tasks, wait))).collect();
    for handle in handles {
        handle.join().unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    ExitCode::SUCCESS
}

fn task(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    sleep(wait);
    FINISHED.fetch_add(1, SeqCst);
}

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(tasks: u32, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let started = STARTED.load(SeqCst);
    let reason = reason.to_string().replace('\n', " ");
    eprintln!("may-spawn: cannot start task {} of {tasks}: {reason}", started + 1);
    println!("done {}", FINISHED.load(SeqCst));
    println!("failed {}", tasks - started);
    process::exit(1)
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
