//! All futures inside one tokio task, taken from a `FuturesUnordered` as they complete.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use futures::stream::{FuturesUnordered, StreamExt};
use tokio::time::sleep;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

// Not the current-thread runtime: there a million futures due at once outlast the task's cooperative
// budget, and each poll of the set then visits every one that is left.
#[tokio::main]
async fn main() {
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    // For `taskscale explain`: of the block of a task, so much is its future.
    println!("metric future {} bytes", size_of_val(&task(tasks, wait)));

    let mut futures: FuturesUnordered<_> = (0..tasks).map(|_| task(tasks, wait)).collect();
    while futures.next().await.is_some() {}

    println!("done {}", FINISHED.load(SeqCst));
}

async fn task(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    sleep(wait).await;
    FINISHED.fetch_add(1, SeqCst);
}
