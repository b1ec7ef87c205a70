//! One tokio task per node of a tree, each waiting for the JoinSet of its ten children, on the multi-threaded runtime.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;

use tokio::task::JoinSet;

#[tokio::main]
async fn main() -> ExitCode {
    let Some((leaves, operations)) = arguments() else {
        eprintln!(
            "usage: tokio-join-set-skynet <tasks> <operations>: \
             whole numbers, tasks a power of ten, operations a multiple of it"
        );
        return ExitCode::from(2);
    };
    println!("ready");

    // `main` is no worker of the runtime: what it spawns has to be handed to one.
    let sum = tokio::spawn(trees(operations / leaves, leaves)).await.unwrap();

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
}

async fn trees(trees: u64, leaves: u64) -> u64 {
    let mut root = JoinSet::new();
    let mut sum = 0;
    for _ in 0..trees {
        start(&mut root, 0, leaves);
        while let Some(of_tree) = root.join_next().await {
            sum += of_tree.unwrap();
        }
    }
    sum
}

// A function of its own: an `async fn` that spawns itself could not be seen to be `Send`.
fn start(set: &mut JoinSet<u64>, first: u64, leaves: u64) {
    set.spawn(node(first, leaves));
}

/// Sums the numbers of its leaves, which begin with `first`.
async fn node(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let share = leaves / 10;
    let mut children = JoinSet::new();
    for child in 0..10 {
        start(&mut children, first + child * share, share);
    }
    let mut sum = 0;
    while let Some(of_child) = children.join_next().await {
        sum += of_child.unwrap();
    }
    sum
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
