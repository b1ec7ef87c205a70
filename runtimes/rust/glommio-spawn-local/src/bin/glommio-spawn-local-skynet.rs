//! One glommio task per node of a tree, each waiting for its ten children, on one executor.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::{self, ExitCode};

use glommio::{LocalExecutor, LocalExecutorBuilder, Task, spawn_local};

fn main() -> ExitCode {
    let Some((leaves, operations)) = arguments() else {
        eprintln!(
            "usage: glommio-spawn-local-skynet <tasks> <operations>: \
             whole numbers, tasks a power of ten, operations a multiple of it"
        );
        return ExitCode::from(2);
    };
    println!("ready");

    let sum = new_executor().run(trees(operations / leaves, leaves));

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

// A function of its own: the type of an `async fn` that spawns itself would hold itself.
fn start(first: u64, leaves: u64) -> Task<u64> {
    spawn_local(node(first, leaves))
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

/// An executor on the thread that calls.
fn new_executor() -> LocalExecutor {
    LocalExecutorBuilder::default().make().unwrap_or_else(|error| {
        eprintln!("glommio-spawn-local-skynet: cannot start an executor: {error}");
        process::exit(1)
    })
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
