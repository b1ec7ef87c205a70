//! One thread per operation, made and joined for its result. Put your way of running tasks in the place of
//! `std::thread`.

use std::num::NonZero;
use std::process::ExitCode;
use std::thread;

fn main() -> ExitCode {
    let Some((tasks, operations)) = arguments() else {
        eprintln!("usage: spawn <tasks> <operations>: whole numbers, at least one of each");
        return ExitCode::from(2);
    };
    // All is prepared. Rust's standard output is flushed at the end of each line.
    println!("ready");

    let mut handles = Vec::new();
    let mut sum = 0;
    for first in (0..operations).step_by(tasks as usize) {
        for number in first..operations.min(first + tasks) {
            match thread::Builder::new().spawn(move || number) {
                Ok(handle) => handles.push(handle),
                // The system refuses: say so, and how many were never done.
                Err(error) => {
                    eprintln!("cannot start {tasks} tasks at once: {error}");
                    println!("done {first}\nfailed {}", operations - first);
                    return ExitCode::FAILURE;
                }
            }
        }
        for handle in handles.drain(..) {
            sum += handle.join().unwrap();
        }
    }

    println!("done {operations}\ncheck {sum}");
    ExitCode::SUCCESS
}

fn arguments() -> Option<(u64, u64)> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let [tasks, operations] = args.as_slice() else { return None };
    let number = |text: &String| Some(text.parse::<NonZero<u32>>().ok()?.get().into());
    Some((number(tasks)?, number(operations)?))
}
