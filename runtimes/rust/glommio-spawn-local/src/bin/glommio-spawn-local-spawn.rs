//! One glommio task per operation, made and joined for its result, on one executor.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::{self, ExitCode};

use glommio::{LocalExecutor, LocalExecutorBuilder, spawn_local};

fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!(
            "usage: glommio-spawn-local-spawn <tasks> <operations>: whole numbers, at least one of each"
        );
        return ExitCode::from(2);
    };
    println!("ready");

    let sum = new_executor().run(rounds(tasks, operations));

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
            sum += handle.await;
        }
    }
    sum
}

async fn task(number: u64) -> u64 {
    number
}

/// An executor on the thread that calls.
fn new_executor() -> LocalExecutor {
    LocalExecutorBuilder::default().make().unwrap_or_else(|error| {
        eprintln!("glommio-spawn-local-spawn: cannot start an executor: {error}");
        process::exit(1)
    })
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
