//! One may coroutine per place in a ring, each handing on the tokens that come through its channel.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZero;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{LazyLock, Mutex};

use may::go;
use may::sync::Semphore;
use may::sync::mpsc::{self, Receiver, Sender};

// Static, so that proving the tasks alive adds nothing to what a task holds.
static STARTED: AtomicU32 = AtomicU32::new(0);
static ALL_ALIVE: LazyLock<Semphore> = LazyLock::new(|| Semphore::new(0));

/// The hops that it has left; `None` ends the task.
type Token = Option<u32>;

fn main() -> ExitCode {
    let Some((tasks, operations, tokens)) = arguments() else {
        eprintln!(
            "usage: may-spawn-ring <tasks> <operations> [--tokens <tokens>]: \
             whole numbers, at least one operation, at most half as many tokens as tasks"
        );
        return ExitCode::from(2);
    };

    // Refused memory for a stack, may panics.
    panic::set_hook(Box::new(move |panic| give_up(tasks, panic)));

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
        // Where the operations cannot be shared evenly, the first tokens make one hop more.
        let hops = operations / tokens + u32::from(token < operations % tokens);
        senders[first as usize].send(Some(hops)).unwrap();
    }
    let sum: u64 = noted.iter().take(tokens as usize).map(u64::from).sum();

    println!("done {operations}");
    println!("check {sum}");

    for sender in senders {
        sender.send(None).unwrap();
    }
    for handle in handles {
        handle.join().unwrap();
    }
    ExitCode::SUCCESS
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

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(tasks: u32, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let started = STARTED.load(SeqCst);
    let reason = reason.to_string().replace('\n', " ");
    eprintln!("may-spawn-ring: cannot start task {} of {tasks}: {reason}", started + 1);
    println!("done 0");
    println!("failed {}", tasks - started);
    process::exit(1)
}

fn arguments() -> Option<(u32, u32, u32)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let (tasks, operations, tokens) = match args.as_slice() {
        [tasks, operations] => (tasks, operations, "1"),
        [tasks, operations, name, tokens] if name == "--tokens" => (tasks, operations, tokens.to_str()?),
        _ => return None,
    };
    let tasks: u32 = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    let tokens: NonZero<u32> = tokens.parse().ok()?;
    (tokens.get() <= tasks / 2).then_some((tasks, operations.get(), tokens.get()))
}
