//! One async-executor task per node of a tree, each waiting for its ten children, on an Executor run by all CPUs.

use std::env;
use std::ffi::OsString;
use std::future;
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;

use async_executor::{Executor, Task};
use async_io::block_on;

static EXECUTOR: Executor = Executor::new();

fn main() -> ExitCode {
    let Some((leaves, operations)) = arguments() else {
        eprintln!(
            "usage: async-executor-skynet <tasks> <operations>: \
             whole numbers, tasks a power of ten, operations a multiple of it"
        );
        return ExitCode::from(2);
    };
    start_threads();
    println!("ready");

    // `main` is no thread of the executor: what it spawns has to be handed to one.
    let sum = block_on(EXECUTOR.spawn(trees(operations / leaves, leaves)));

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
}

async fn trees(trees: u64, leaves: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..trees {
        sum += start(0, leaves).await;
    }
    sum
}

// A function of its own: an `async fn` that spawns itself could not be seen to be `Send`.
fn start(first: u64, leaves: u64) -> Task<u64> {
    EXECUTOR.spawn(node(first, leaves))
}

/// Sums the numbers of its leaves, which begin with `first`.
async fn node(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let share = leaves / 10;
    let children: Vec<_> = (0..10).map(|child| start(first + child * share, share)).collect();
    let mut sum = 0;
    for child in children {
        sum += child.await;
    }
    sum
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
    let leaves: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    let whole_trees = leaves.get() == 10_u32.pow(leaves.ilog10()) && operations.get() % leaves == 0;
    whole_trees.then_some((leaves.get().into(), operations.get().into()))
}
