//! No tasks: one entry of a tokio-util `DelayQueue` per task, taken out by one task as they expire.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use futures::StreamExt;
use tokio_util::time::DelayQueue;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: tokio-delay-queue <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let mut queue = DelayQueue::new();
    for _ in 0..tasks {
        queue.insert((), wait);
    }
    println!("alive {}", queue.len());

    let mut done = 0;
    while queue.next().await.is_some() {
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
