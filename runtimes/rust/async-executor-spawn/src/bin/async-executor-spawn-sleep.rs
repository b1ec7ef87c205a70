//! One async-executor task per task, on an Executor with one thread per CPU.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use std::{env, future, thread};

use async_executor::Executor;
use async_io::{Timer, block_on};

static EXECUTOR: Executor = Executor::new();

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    start_threads();
    block_on(async {
        let handles: Vec<_> = (0..tasks).map(|_| EXECUTOR.spawn(task(tasks, wait))).collect();
        for handle in handles {
            handle.await;
        }
    });

    println!("done {}", FINISHED.load(SeqCst));
}

async fn task(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    Timer::after(wait).await;
    FINISHED.fetch_add(1, SeqCst);
}

/// One thread per CPU: the executor has none of its own.
fn start_threads() {
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        thread::spawn(|| block_on(EXECUTOR.run(future::pending::<()>())));
    }
}
