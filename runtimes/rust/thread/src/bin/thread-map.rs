//! One OS thread per task, all working on one map.

use std::ops::Range;
use std::sync::Arc;
use std::{env, io, panic, process, thread};

use dashmap::DashMap;

const FILLED: u32 = 65_536;

type Map = DashMap<u32, u32>;

fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);

    // `thread::spawn` panics when the system refuses a thread, as does a new thread that gets no signal stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        println!("done 0\nfailed {operations}");
        process::exit(1);
    }));

    let map: Arc<Map> = Arc::new((0..FILLED).map(|i| (key(i), i)).collect());
    println!("ready");

    let first = |number| (number * operations / tasks) as u32;
    let mut handles = Vec::new();
    for number in 0..tasks {
        let map = Arc::clone(&map);
        let range = first(number)..first(number + 1);
        handles.push(thread::spawn(move || task(&map, range)));
    }
    let sum: u64 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();

    println!("done {operations}");
    println!("check {}", sum + map.len() as u64);
}

fn task(map: &Map, operations: Range<u32>) -> u64 {
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
