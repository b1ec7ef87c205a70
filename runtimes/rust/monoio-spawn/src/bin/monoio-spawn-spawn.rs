//! One monoio task per operation, spawned and joined for its result, on one thread, with io_uring where the kernel has it.

use std::env;

#[monoio::main]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    println!("ready");

    let sum = rounds(tasks, operations).await;

    println!("done {operations}\ncheck {sum}");
}

async fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| monoio::spawn(task(number))));
        for handle in handles.drain(..) {
            sum += handle.await;
        }
    }
    sum
}

async fn task(number: u64) -> u64 {
    number
}
