//! A tree of tokio tasks, each waiting for its ten children, on the current-thread runtime.

use std::env;

use tokio::task::JoinHandle;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (leaves, operations) = (args[0], args[1]);
    println!("ready");

    // Not in `main`, whose wake-ups go through the driver.
    let sum = tokio::spawn(trees(operations / leaves, leaves)).await.unwrap();

    println!("done {operations}\ncheck {sum}");
}

async fn trees(trees: u64, leaves: u64) -> u64 {
    let mut sum = 0;
    for _ in 0..trees {
        sum += start(0, leaves).await.unwrap();
    }
    sum
}

// A separate function: the compiler cannot prove that an `async fn` which spawns itself is `Send`.
fn start(first: u64, leaves: u64) -> JoinHandle<u64> {
    tokio::spawn(node(first, leaves))
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
        sum += child.await.unwrap();
    }
    sum
}
