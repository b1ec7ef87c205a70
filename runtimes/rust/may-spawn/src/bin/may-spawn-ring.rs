//! A ring of may coroutines, each passing tokens from its channel to the next.

use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::{env, io, panic, process};

use may::go;
use may::sync::Semphore;
use may::sync::mpsc::{self, Receiver, Sender};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static ALL_ALIVE: LazyLock<Semphore> = LazyLock::new(|| Semphore::new(0));

/// The number of hops left; `None` ends the task.
type Token = Option<u32>;

fn main() {
    let args: Vec<String> = env::args().collect();
    let [tasks, operations] = [1, 2].map(|i| args[i].parse::<u32>().unwrap());
    let tokens = args.get(4).map_or(1, |tokens| tokens.parse().unwrap()); // after `--tokens`

    // may panics when the system refuses memory for a stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        println!("done 0\nfailed {}", tasks - STARTED.load(SeqCst));
        process::exit(1);
    }));

    let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| mpsc::channel()).unzip();
    let (note, noted) = mpsc::channel();
    let mut handles = Vec::with_capacity(tasks as usize);
    for (number, receiver) in (0..).zip(receivers) {
        let next = senders[(number as usize + 1) % senders.len()].clone();
        let note = note.clone();
        handles.push(go!(move || task(tasks, number, receiver, next, note)));
    }
    ALL_ALIVE.wait();
    println!("ready");

    for token in 0..tokens {
        let first = u64::from(token) * u64::from(tasks) / u64::from(tokens);
        // The first tokens take the remainder.
        let hops = operations / tokens + u32::from(token < operations % tokens);
        senders[first as usize].send(Some(hops)).unwrap();
    }
    let sum: u64 = noted.iter().take(tokens as usize).map(u64::from).sum();

    println!("done {operations}\ncheck {sum}");

    for sender in senders {
        sender.send(None).unwrap();
    }
    for handle in handles {
        handle.join().unwrap();
    }
}

fn task(tasks: u32, number: u32, tokens: Receiver<Token>, next: Sender<Token>, note: Sender<u32>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {tasks}");
        ALL_ALIVE.post();
    }
    while let Some(hops) = tokens.recv().unwrap() {
        match hops.checked_sub(1) {
            Some(left) => next.send(Some(left)).unwrap(),
            None => note.send(number).unwrap(),
        }
    }
}
