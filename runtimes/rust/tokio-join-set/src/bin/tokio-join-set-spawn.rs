//! One tokio task per operation, made in a JoinSet and joined for its result, on the multi-threaded runtime.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;

use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: tokio-join-set-spawn <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };
    println!("ready");

    // `main` is no worker of the runtime: what it spawns has to be handed to one.
    let sum = tokio::spawn(rounds(tasks, operations)).await.unwrap();

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
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

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    Some((tasks.get().into(), operations.get().into()))
}
