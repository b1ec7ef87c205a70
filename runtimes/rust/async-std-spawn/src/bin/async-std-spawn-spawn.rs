//! One async-std task per operation, spawned and joined for its result.

use std::env;

use async_std::task;

#[async_std::main]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    println!("ready");

    // Not on the thread of `main`, which does not run tasks.
    let sum = task::spawn(rounds(tasks, operations)).await;

    println!("done {operations}\ncheck {sum}");
}

async fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| task::spawn(number_of(number))));
        for handle in handles.drain(..) {
            sum += handle.await;
        }
    }
    sum
}

async fn number_of(number: u64) -> u64 {
    number
}
