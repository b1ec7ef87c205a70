//! One may coroutine per operation, spawned and joined for its result.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, io, panic, process};

use may::go;

/// Operations done; static, because the panic hook prints it.
static DONE: AtomicU64 = AtomicU64::new(0);

fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);

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
    let sum = go!(move || rounds(tasks, operations)).join().unwrap();

    println!("done {operations}\ncheck {sum}");
}

fn rounds(tasks: u64, operations: u64) -> u64 {
    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        DONE.store(first, Relaxed);
        let round = first..operations.min(first + tasks);
        handles.extend(round.map(|number| go!(move || task(number))));
        for handle in handles.drain(..) {
            sum += handle.join().unwrap();
        }
    }
    sum
}

fn task(number: u64) -> u64 {
    number
}
