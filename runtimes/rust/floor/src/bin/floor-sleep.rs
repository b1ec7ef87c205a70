//! No tasks: a heap of deadlines, and one thread that sleeps until the next. No runtime can use less for a timer.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::time::{Duration, Instant};
use std::{env, thread};

fn main() {
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    let mut deadlines = BinaryHeap::with_capacity(tasks as usize);
    for _ in 0..tasks {
        deadlines.push(Reverse(Instant::now() + wait));
    }
    println!("alive {}", deadlines.len());

    let mut done = 0;
    while let Some(Reverse(deadline)) = deadlines.pop() {
        thread::sleep(deadline.saturating_duration_since(Instant::now()));
        done += 1;
    }

    println!("done {done}");
}
