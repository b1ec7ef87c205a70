//! One tokio task per operation, made and joined for its result, in a LocalSet on the current-thread runtime.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;

use tokio::task::{LocalSet, spawn_local};

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: tokio-local-set-spawn <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };
    println!("ready");

    let sum =
        LocalSet::new().run_until(async move { spawn_local(rounds(tasks, operations)).await.unwrap() }).await;

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
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

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    Some((tasks.get().into(), operations.get().into()))
}
