//! One async-std task per operation, made and joined for its result.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;

use async_std::task;

#[async_std::main]
async fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: async-std-spawn-spawn <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };
    println!("ready");

    // `main` is no worker of the runtime: what it spawns has to be handed to one.
    let sum = task::spawn(rounds(tasks, operations)).await;

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
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

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    Some((tasks.get().into(), operations.get().into()))
}
