//! One tokio task per task, all of one JoinSet, on the multi-threaded runtime.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use tokio::task::JoinSet;
use tokio::time::sleep;

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[tokio::main]
async fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: tokio-join-set <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let mut set: JoinSet<_> = (0..tasks).map(|_| task(tasks, wait)).collect();
    while let Some(ended) = set.join_next().await {
        ended.unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    ExitCode::SUCCESS
}

async fn task(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    sleep(wait).await;
    FINISHED.fetch_add(1, SeqCst);
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
