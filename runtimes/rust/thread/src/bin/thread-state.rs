//! One operating system thread per task, each holding bytes of its own while it waits.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::hint::black_box;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;
use std::time::Duration;

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[derive(Clone, Copy)]
struct Given {
    tasks: u32,
    wait: Duration,
    bytes: u32,
    depth: u32,
}

fn main() -> ExitCode {
    let Some(given) = arguments() else {
        eprintln!(
            "usage: thread-state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: \
             whole numbers, at least one task, byte and call"
        );
        return ExitCode::from(2);
    };
    let tasks = given.tasks;

    // Out of memory maps, std panics in the new thread, where it sets up the thread's signal stack,
    // and aborts. The hook comes before that.
    panic::set_hook(Box::new(move |panic| give_up(tasks, panic)));

    let mut handles = Vec::with_capacity(tasks as usize);
    for number in 0..tasks {
        // Not `thread::spawn`, which panics when the system refuses a thread.
        match thread::Builder::new().spawn(move || task(number, given)) {
            Ok(handle) => handles.push(handle),
            Err(error) => give_up(tasks, &error),
        }
    }
    let sum: u64 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();

    println!("done {}", FINISHED.load(SeqCst));
    println!("check {sum}");
    ExitCode::SUCCESS
}

fn task(number: u32, given: Given) -> u64 {
    let sum = hold(number, given.depth, given);
    FINISHED.fetch_add(1, SeqCst);
    sum
}

/// Fills the bytes of a task so many calls down, waits, and sums them.
#[inline(never)]
fn hold(number: u32, depth: u32, given: Given) -> u64 {
    if depth > 1 {
        // Looked at behind the compiler's back, or the call would be made a jump that keeps no frame.
        return black_box(hold(number, depth - 1, given));
    }
    let state: Vec<u8> = (number..number + given.bytes).map(|k| (k % 251) as u8).collect();
    if STARTED.fetch_add(1, SeqCst) + 1 == given.tasks {
        println!("alive {}", given.tasks - FINISHED.load(SeqCst));
    }
    thread::sleep(given.wait);
    state.iter().copied().map(u64::from).sum()
}

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(tasks: u32, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let started = STARTED.load(SeqCst);
    let reason = reason.to_string().replace('\n', " ");
    eprintln!("thread-state: cannot start task {} of {tasks}: {reason}", started + 1);
    println!("done {}", FINISHED.load(SeqCst));
    println!("failed {}", tasks - started);
    process::exit(1)
}

fn arguments() -> Option<Given> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, seconds, options @ ..] = args.as_slice() else {
        return None;
    };
    let number = |text: &OsString| text.to_str()?.parse::<u32>().ok();
    let (mut bytes, mut depth) = (1024, 1);
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--bytes" => bytes = number(value)?,
            [name, value] if name == "--depth" => depth = number(value)?,
            _ => return None,
        }
    }
    let (tasks, seconds) = (number(tasks)?, number(seconds)?);
    let given = Given { tasks, wait: Duration::from_secs(seconds.into()), bytes, depth };
    (tasks >= 1 && bytes >= 1 && depth >= 1).then_some(given)
}
