//! No tasks: one entry of a tokio-util `DelayQueue` per task, taken out by one task as they expire.

use std::env;
use std::time::Duration;

use futures::StreamExt;
use tokio_util::time::DelayQueue;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

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
}
