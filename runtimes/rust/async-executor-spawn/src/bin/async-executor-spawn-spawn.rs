//! One async-executor task per operation, spawned and joined for its result, on an Executor with one thread per CPU.

use std::num::NonZero;
use std::{env, future, thread};

use async_executor::Executor;
use async_io::block_on;

static EXECUTOR: Executor = Executor::new();

fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    start_threads();
    println!("ready");

    // Not on the thread of `main`, which does not run tasks.
    let sum = block_on(EXECUTOR.spawn(rounds(tasks, operations)));

    println!("done {operations}\ncheck {sum}");
}

async fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| EXECUTOR.spawn(task(number))));
        for handle in handles.drain(..) {
            sum += handle.await;
        }
    }
    sum
}

async fn task(number: u64) -> u64 {
    number
}

/// One thread per CPU: the executor has none of its own.
fn start_threads() {
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        thread::spawn(|| block_on(EXECUTOR.run(future::pending::<()>())));
    }
}
