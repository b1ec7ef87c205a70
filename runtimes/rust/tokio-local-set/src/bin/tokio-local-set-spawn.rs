//! One tokio task per operation, spawned and joined for its result, in a LocalSet on the current-thread runtime.

use std::env;

use tokio::task::{LocalSet, spawn_local};

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    println!("ready");

    let sum =
        LocalSet::new().run_until(async move { spawn_local(rounds(tasks, operations)).await.unwrap() }).await;

    println!("done {operations}\ncheck {sum}");
}

async fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| spawn_local(task(number))));
        for handle in handles.drain(..) {
            sum += handle.await.unwrap();
        }
    }
    sum
}

async fn task(number: u64) -> u64 {
    number
}
