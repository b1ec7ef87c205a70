//! One may coroutine per task, each with a stack of its own.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use std::{env, io, panic, process};

use may::coroutine::sleep;
use may::go;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    // may panics when the system refuses memory for a stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        println!("done {}\nfailed {}", FINISHED.load(SeqCst), tasks - STARTED.load(SeqCst));
        process::exit(1);
    }));

    let handles: Vec<_> = (0..tasks).map(|_| go!(move || task(tasks, wait))).collect();
    for handle in handles {
        handle.join().unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
}

fn task(tasks: u32, wait: Duration) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    sleep(wait);
    FINISHED.fetch_add(1, SeqCst);
}
