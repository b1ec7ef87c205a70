//! Loops by tokio alone, within its runtime: nanoseconds an operation.

use std::future::Future;
use std::pin::Pin;
use std::time::Instant;

use tokio::sync::mpsc;
use tokio::task::JoinSet;

/// As in tokio's benches/spawn.rs: one at a time, awaited.
async fn spawn_one() {
    for _ in 0..1_000_000 {
        tokio::spawn(async {}).await.expect("a task");
    }
}

async fn spawn_thousand() {
    for _ in 0..1_000 {
        let handles: Vec<_> = (0..1_000).map(|_| tokio::spawn(async {})).collect();
        for handle in handles {
            handle.await.expect("a task");
        }
    }
}

/// As in jimblandy/context-switch's async-mem-brigade, with two tasks and channels of one.
async fn hop() {
    let (there, mut heard) = mpsc::channel::<usize>(1);
    let (back, mut answer) = mpsc::channel::<usize>(1);
    let other = tokio::spawn(async move {
        while let Some(token) = heard.recv().await {
            back.send(token).await.expect("somebody who listens");
        }
    });
    for token in 0..500_000 {
        there.send(token).await.expect("somebody who listens");
        answer.recv().await.expect("an answer");
    }
    drop(there);
    other.await.expect("a task");
}

/// As atemerev/skynet, by JoinSet.
fn node(first: u64, leaves: u64) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(async move {
        if leaves == 1 {
            return first;
        }
        let mut children: JoinSet<u64> =
            (0..10).map(|i| node(first + i * leaves / 10, leaves / 10)).collect();
        let mut sum = 0;
        while let Some(child) = children.join_next().await {
            sum += child.expect("a task");
        }
        sum
    })
}

async fn leaf() {
    assert_eq!(node(0, 1_000_000).await, 499_999_500_000);
}

fn main() {
    let workers = std::thread::available_parallelism().expect("the number of CPUs").get();
    let runtime =
        tokio::runtime::Builder::new_multi_thread().worker_threads(workers).build().expect("a runtime");
    let name = std::env::args().nth(1).unwrap_or_default();
    let start = Instant::now();
    let of_a_task = match &*name {
        "spawn-one" => runtime.spawn(spawn_one()),
        "spawn-thousand" => runtime.spawn(spawn_thousand()),
        "hop" => runtime.spawn(hop()),
        "leaf" => runtime.spawn(leaf()),
        _ => panic!("loops spawn-one|spawn-thousand|hop|leaf"),
    };
    runtime.block_on(of_a_task).expect("the loop");
    // Each loop does a million.
    println!("{:.1}", start.elapsed().as_nanos() as f64 / 1e6);
}
