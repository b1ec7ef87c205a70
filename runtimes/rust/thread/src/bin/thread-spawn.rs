//! One OS thread per operation, spawned and joined for its result.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::{env, io, panic, process, thread};

/// Operations done; static, because the panic hook prints it.
static DONE: AtomicU64 = AtomicU64::new(0);

fn main() {
    let args: Vec<u64> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, operations) = (args[0], args[1]);

    // `thread::spawn` panics when the system refuses a thread, as does a new thread that gets no signal stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        let done = DONE.load(Relaxed);
        println!("done {done}\nfailed {}", operations - done);
        process::exit(1);
    }));
    println!("ready");

    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        DONE.store(first, Relaxed);
        for number in first..operations.min(first + tasks) {
            handles.push(thread::spawn(move || task(number)));
        }
        for handle in handles.drain(..) {
            sum += handle.join().unwrap();
        }
    }

    println!("done {operations}\ncheck {sum}");
}

fn task(number: u64) -> u64 {
    number
}
