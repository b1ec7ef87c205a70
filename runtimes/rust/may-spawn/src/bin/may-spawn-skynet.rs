//! A tree of may coroutines, each waiting for its ten children.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, io, panic, process};

use may::coroutine::JoinHandle;
use may::go;

/// Operations done; static, because the panic hook prints it.
static DONE: AtomicU64 = AtomicU64::new(0);

fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (leaves, operations) = (args[0], args[1]);

    // may panics when the system refuses memory for a stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        let done = DONE.load(Relaxed);
        println!("done {done}\nfailed {}", operations - done);
        process::exit(1);
    }));
    println!("ready");

    // Not on the thread of `main`, which is not a worker: what it spawns goes through a shared queue.
    let sum = go!(move || trees(operations, leaves)).join().unwrap();

    println!("done {operations}\ncheck {sum}");
}

fn trees(operations: u64, leaves: u64) -> u64 {
    let mut sum = 0;
    for done in (0..operations).step_by(leaves as usize) {
        DONE.store(done, Relaxed);
        sum += start(0, leaves).join().unwrap();
    }
    sum
}

fn start(first: u64, leaves: u64) -> JoinHandle<u64> {
    go!(move || node(first, leaves))
}

/// Returns the sum of `first..first + leaves`.
fn node(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let share = leaves / 10;
    let children: Vec<_> = (0..10).map(|child| start(first + child * share, share)).collect();
    children.into_iter().map(|child| child.join().unwrap()).sum()
}
