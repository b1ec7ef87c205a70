//! One OS thread per task, each holding bytes of its own while it waits.

use std::hint::black_box;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;
use std::{env, io, panic, process, thread};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy)]
struct Config {
    tasks: u32,
    wait: Duration,
    bytes: u32,
    depth: u32,
}

fn main() {
    let args: Vec<String> = env::args().collect();
    let config = Config {
        tasks: args[1].parse().unwrap(),
        wait: Duration::from_secs(args[2].parse().unwrap()),
        bytes: option("--bytes", 1024),
        depth: option("--depth", 1),
    };
    let tasks = config.tasks;

    // `thread::spawn` panics when the system refuses a thread, as does a new thread that gets no signal stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        println!("done {}\nfailed {}", FINISHED.load(SeqCst), tasks - STARTED.load(SeqCst));
        process::exit(1);
    }));

    let handles: Vec<_> = (0..tasks).map(|number| thread::spawn(move || task(number, config))).collect();
    let sum: u64 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();

    println!("done {}\ncheck {sum}", FINISHED.load(SeqCst));
}

fn task(number: u32, config: Config) -> u64 {
    let sum = hold(number, config.depth, config);
    FINISHED.fetch_add(1, SeqCst);
    sum
}

/// Calls itself `depth` deep; there it fills the bytes of the task, waits, and sums them.
#[inline(never)]
fn hold(number: u32, depth: u32, config: Config) -> u64 {
    if depth > 1 {
        // `black_box` prevents a tail call, which would keep no frame.
        return black_box(hold(number, depth - 1, config));
    }
    let state: Vec<u8> = (number..number + config.bytes).map(|k| (k % 251) as u8).collect();
    if STARTED.fetch_add(1, SeqCst) + 1 == config.tasks {
        println!("alive {}", config.tasks - FINISHED.load(SeqCst));
    }
    thread::sleep(config.wait);
    state.iter().copied().map(u64::from).sum()
}

/// Returns the number after `name`.
fn option(name: &str, default: u32) -> u32 {
    let value = env::args().skip_while(|arg| arg != name).nth(1);
    value.map_or(default, |value| value.parse().unwrap())
}
