//! One may coroutine per node of a tree, each waiting for its ten children.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZero;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use may::coroutine::JoinHandle;
use may::go;

/// Operations of the trees that are over; static, because the panic hook reports it.
static DONE: AtomicU64 = AtomicU64::new(0);

fn main() -> ExitCode {
    let Some((leaves, operations)) = arguments() else {
        eprintln!(
            "usage: may-spawn-skynet <tasks> <operations>: \
             whole numbers, tasks a power of ten, operations a multiple of it"
        );
        return ExitCode::from(2);
    };

    // Refused memory for a stack, may panics.
    panic::set_hook(Box::new(move |panic| give_up(leaves, operations, panic)));
    println!("ready");

    // `main` is a thread, not a coroutine: what it starts has to be handed to a worker.
    let sum = go!(move || trees(operations, leaves)).join().unwrap();

    println!("done {operations}");
    println!("check {sum}");
    ExitCode::SUCCESS
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

/// Sums the numbers of its leaves, which begin with `first`.
fn node(first: u64, leaves: u64) -> u64 {
    if leaves == 1 {
        return first;
    }
    let share = leaves / 10;
    let children: Vec<_> = (0..10).map(|child| start(first + child * share, share)).collect();
    children.into_iter().map(|child| child.join().unwrap()).sum()
}

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(leaves: u64, operations: u64, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let done = DONE.load(Relaxed);
    let reason = reason.to_string().replace('\n', " ");
    eprintln!("may-spawn-skynet: cannot start a tree of {leaves} leaves: {reason}");
    println!("done {done}");
    println!("failed {}", operations - done);
    process::exit(1)
}

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let leaves: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    let whole_trees = leaves.get() == 10_u32.pow(leaves.ilog10()) && operations.get() % leaves == 0;
    whole_trees.then_some((leaves.get().into(), operations.get().into()))
}
