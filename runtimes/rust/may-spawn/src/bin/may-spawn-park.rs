//! One may coroutine per task, each waiting for one message.

use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use std::{env, io, panic, process, thread};

use may::go;
use may::sync::spsc::{self, Receiver};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let begin = Instant::now();
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    // may panics when the system refuses memory for a stack.
    panic::set_hook(Box::new(move |reason| {
        let _lock = io::stdout().lock(); // several threads can fail at once: the first reports
        eprintln!("{reason}");
        println!("done {}\nfailed {}", FINISHED.load(SeqCst), tasks - STARTED.load(SeqCst));
        process::exit(1);
    }));

    let mut mailboxes = Vec::with_capacity(tasks as usize);
    let mut handles = Vec::with_capacity(tasks as usize);
    for _ in 0..tasks {
        let (sender, receiver) = spsc::channel();
        mailboxes.push(sender);
        handles.push(go!(move || task(tasks, receiver)));
    }
    thread::sleep(wait.saturating_sub(begin.elapsed()));
    for mailbox in mailboxes {
        mailbox.send(()).unwrap();
    }
    for handle in handles {
        handle.join().unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
}

fn task(tasks: u32, mailbox: Receiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.recv().unwrap();
    FINISHED.fetch_add(1, SeqCst);
}
