//! One tokio task per operation, spawned and joined for its result, on the current-thread runtime.

use std::env;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    println!("ready");

    // Not in `main`, whose wake-ups go through the driver.
    let sum = tokio::spawn(rounds(tasks, operations)).await.unwrap();

    println!("done {operations}\ncheck {sum}");
}

async fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| tokio::spawn(task(number))));
        for handle in handles.drain(..) {
            sum += handle.await.unwrap();
        }
    }
    sum
}

async fn task(number: u64) -> u64 {
    number
}
