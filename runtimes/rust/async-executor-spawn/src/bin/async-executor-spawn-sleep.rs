//! One async-executor task per task, on an Executor run by all CPUs.

use std::env;
use std::ffi::OsString;
use std::future;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

use async_executor::Executor;
use async_io::{Timer, block_on};

static EXECUTOR: Executor = Executor::new();

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: async-executor <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    start_threads();
    block_on(async {
        let handles: Vec<_> = (0..tasks).map(|_| EXECUTOR.spawn(task(tasks, wait))).collect();
        for handle in handles {
            handle.await;
        }
    });

    println!("done {}", FINISHED.load(SeqCst));
    ExitCode::SUCCESS
}

async fn task(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    Timer::after(wait).await;
    FINISHED.fetch_add(1, SeqCst);
}

/// As many threads as there are CPUs, as the executor has none of its own.
fn start_threads() {
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        thread::spawn(|| block_on(EXECUTOR.run(future::pending::<()>())));
    }
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
