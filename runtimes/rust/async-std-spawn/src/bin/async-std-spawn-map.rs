//! One async-std task per task, all working on one map.

use std::env;
use std::ops::Range;
use std::sync::Arc;

use async_std::task;
use dashmap::DashMap;

const FILLED: u32 = 65_536;

type Map = DashMap<u32, u32>;

#[async_std::main]
async fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);
    let map: Arc<Map> = Arc::new((0..FILLED).map(|i| (key(i), i)).collect());
    println!("ready");

    let first = |task| (task * operations / tasks) as u32;
    let handles: Vec<_> = (0..tasks)
        .map(|number| task::spawn(work(Arc::clone(&map), first(number)..first(number + 1))))
        .collect();
    let mut sum = 0;
    for handle in handles {
        sum += handle.await;
    }

    println!("done {operations}");
    println!("check {}", sum + map.len() as u64);
}

async fn work(map: Arc<Map>, operations: Range<u32>) -> u64 {
    operations
        .map(|j| {
            map.insert(key(FILLED + j), FILLED + j);
            u64::from(*map.get(&key(j % FILLED)).unwrap())
        })
        .sum()
}

/// Distinct for every `i`.
fn key(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761)
}
