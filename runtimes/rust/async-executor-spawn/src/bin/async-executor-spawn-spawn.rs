//! One async-executor task per operation, made and joined for its result, on an Executor run by all CPUs.

use std::env;
use std::ffi::OsString;
use std::future;
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;

use async_executor::Executor;
use async_io::block_on;

static EXECUTOR: Executor = Executor::new();

fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: async-executor-spawn <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };
    start_threads();
    println!("ready");

    // `main` is no thread of the executor: what it spawns has to be handed to one.
    let sum = block_on(EXECUTOR.spawn(rounds(tasks, operations)));

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
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

/// As many threads as there are CPUs, as the executor has none of its own.
fn start_threads() {
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        thread::spawn(|| block_on(EXECUTOR.run(future::pending::<()>())));
    }
}

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    Some((tasks.get().into(), operations.get().into()))
}
