//! One async-std task per task.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use async_std::task;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[async_std::main]
async fn main() {
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    // For `taskscale explain`: of the block of a task, so much is its future.
    println!("metric future {} bytes", size_of_val(&wait_once(tasks, wait)));

    let handles: Vec<_> = (0..tasks).map(|_| task::spawn(wait_once(tasks, wait))).collect();
    for handle in handles {
        handle.await;
    }

    println!("done {}", FINISHED.load(SeqCst));
}

async fn wait_once(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    task::sleep(wait).await;
    FINISHED.fetch_add(1, SeqCst);
}
