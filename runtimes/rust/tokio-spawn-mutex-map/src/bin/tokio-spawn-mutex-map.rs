//! One tokio task per task, all working on one map behind one lock, on the multi-threaded runtime.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::ops::Range;
use std::process::ExitCode;
use std::sync::{Arc, RwLock};

const FILLED: u32 = 65_536;

type Map = RwLock<HashMap<u32, u32>>;

#[tokio::main]
async fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: tokio-spawn-rwlock <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };
    let map: Arc<Map> = Arc::new(RwLock::new((0..FILLED).map(|i| (key(i), i)).collect()));
    println!("ready");

    let first = |task| (task * operations / tasks) as u32;
    let handles: Vec<_> = (0..tasks)
        .map(|number| tokio::spawn(task(Arc::clone(&map), first(number)..first(number + 1))))
        .collect();
    let mut sum = 0;
    for handle in handles {
        sum += handle.await.unwrap();
    }

    println!("done {operations}");
    println!("check {}", sum + map.read().unwrap().len() as u64);
    ExitCode::SUCCESS
}

async fn task(map: Arc<Map>, operations: Range<u32>) -> u64 {
    operations
        .map(|j| {
            map.write().unwrap().insert(key(FILLED + j), FILLED + j);
            u64::from(map.read().unwrap()[&key(j % FILLED)])
        })
        .sum()
}

/// No two are alike.
fn key(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761)
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
