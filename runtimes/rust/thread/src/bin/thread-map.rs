//! One operating system thread per task, all working on one map.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::num::NonZero;
use std::ops::Range;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::{Arc, Mutex};
use std::thread;

use dashmap::DashMap;

const FILLED: u32 = 65_536;

type Map = DashMap<u32, u32>;

fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: thread-map <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };

    // Out of memory maps, std panics in the new thread, where it sets up the thread's signal stack,
    // and aborts. The hook comes before that.
    panic::set_hook(Box::new(move |panic| give_up(tasks, operations, panic)));

    let map: Arc<Map> = Arc::new((0..FILLED).map(|i| (key(i), i)).collect());
    println!("ready");

    let first = |number| (number * operations / tasks) as u32;
    let mut handles = Vec::new();
    for number in 0..tasks {
        let map = Arc::clone(&map);
        let operations_of_it = first(number)..first(number + 1);
        // Not `thread::spawn`, which panics when the system refuses a thread.
        match thread::Builder::new().spawn(move || task(&map, operations_of_it)) {
            Ok(handle) => handles.push(handle),
            Err(error) => give_up(tasks, operations, &error),
        }
    }
    let sum: u64 = handles.into_iter().map(|handle| handle.join().unwrap()).sum();

    println!("done {operations}");
    println!("check {}", sum + map.len() as u64);
    ExitCode::SUCCESS
}

fn task(map: &Map, operations: Range<u32>) -> u64 {
    operations
        .map(|j| {
            map.insert(key(FILLED + j), FILLED + j);
            u64::from(*map.get(&key(j % FILLED)).unwrap())
        })
        .sum()
}

/// No two are alike.
fn key(i: u32) -> u32 {
    i.wrapping_mul(2_654_435_761)
}

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(tasks: u64, operations: u64, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let reason = reason.to_string().replace('\n', " ");
    eprintln!("thread-map: cannot start {tasks} tasks: {reason}");
    println!("done 0");
    println!("failed {operations}");
    process::exit(1)
}

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, operations] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    Some((tasks.get().into(), operations.get().into()))
}
