//! One tokio task per operation, spawned in a JoinSet and joined for its result, on the multi-threaded runtime.

use std::env;

use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    println!("ready");

    // Not in `main`, which is not on a worker thread: what it spawns goes through a shared queue.
    let sum = tokio::spawn(rounds(tasks, operations)).await.unwrap();

    println!("done {operations}\ncheck {sum}");
}

async fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut set = JoinSet::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        let round = first..operations.min(first + tasks);
        for number in round {
            set.spawn(task(number));
        }
        while let Some(number) = set.join_next().await {
            sum += number.unwrap();
        }
    }
    sum
}

async fn task(number: u64) -> u64 {
    number
}
