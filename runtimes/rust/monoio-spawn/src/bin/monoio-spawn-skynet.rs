//! A tree of monoio tasks, each waiting for its ten children, on one thread, with io_uring where the kernel has it.

use std::env;

use monoio::task::JoinHandle;

#[monoio::main]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (leaves, operations) = (args[0], args[1]);
    println!("ready");

    let sum = trees(operations / leaves, leaves).await;

    println!("done {operations}\ncheck {sum}");
}

async fn trees(trees: u64, leaves: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..trees {
        sum += start(0, leaves).await;
    }
    sum
}

// A separate function: an `async fn` that spawns itself would have a recursive type.
fn start(first: u64, leaves: u64) -> JoinHandle<u64> {
    monoio::spawn(node(first, leaves))
}

/// Returns the sum of `first..first + leaves`.
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
