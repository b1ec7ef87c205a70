//! One async-std task per task, each holding bytes of its own while it waits.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use async_std::task;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

struct Config {
    tasks: u32,
    wait: Duration,
    bytes: u32,
    depth: u32,
}

#[async_std::main]
async fn main() {
    let args: Vec<String> = env::args().collect();
    // Leaked, so that a task holds a reference and not an `Arc`.
    let config: &'static Config = Box::leak(Box::new(Config {
        tasks: args[1].parse().unwrap(),
        wait: Duration::from_secs(args[2].parse().unwrap()),
        bytes: option("--bytes", 1024),
        depth: option("--depth", 1),
    }));

    let handles: Vec<_> = (0..config.tasks).map(|number| task::spawn(work(number, config))).collect();
    let mut sum = 0;
    for handle in handles {
        sum += handle.await;
    }

    println!("done {}\ncheck {sum}", FINISHED.load(SeqCst));
}

async fn work(number: u32, config: &'static Config) -> u64 {
    let sum = hold(number, config.depth, config).await;
    FINISHED.fetch_add(1, SeqCst);
    sum
}

/// Calls itself `depth` deep; there it fills the bytes of the task, waits, and sums them.
async fn hold(number: u32, depth: u32, config: &'static Config) -> u64 {
    if depth > 1 {
        return Box::pin(hold(number, depth - 1, config)).await;
    }
    let state: Vec<u8> = (number..number + config.bytes).map(|k| (k % 251) as u8).collect();
    if STARTED.fetch_add(1, SeqCst) + 1 == config.tasks {
        println!("alive {}", config.tasks - FINISHED.load(SeqCst));
    }
    task::sleep(config.wait).await;
    state.iter().copied().map(u64::from).sum()
}

/// Returns the number after `name`.
fn option(name: &str, default: u32) -> u32 {
    let value = env::args().skip_while(|arg| arg != name).nth(1);
    value.map_or(default, |value| value.parse().unwrap())
}
