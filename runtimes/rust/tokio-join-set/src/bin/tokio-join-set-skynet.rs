//! A tree of tokio tasks, each waiting for a JoinSet of its ten children, on the multi-threaded runtime.

use std::env;

use tokio::task::JoinSet;

#[tokio::main]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (leaves, operations) = (args[0], args[1]);
    println!("ready");

    // Not in `main`, which is not on a worker thread: what it spawns goes through a shared queue.
    let sum = tokio::spawn(trees(operations / leaves, leaves)).await.unwrap();

    println!("done {operations}\ncheck {sum}");
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

// A separate function: the compiler cannot prove that an `async fn` which spawns itself is `Send`.
fn start(set: &mut JoinSet<u64>, first: u64, leaves: u64) {
    set.spawn(node(first, leaves));
}

/// Returns the sum of `first..first + leaves`.
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
