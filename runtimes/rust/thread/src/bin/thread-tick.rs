//! One operating system thread per task, each a heartbeat: it wakes once in every period.

use std::env;
use std::ffi::OsString;
use std::fmt::Display;
use std::panic;
use std::process::{self, ExitCode};
use std::sync::Mutex;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::thread;
use std::time::{Duration, Instant};

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);
/// Bucket b: ticks that were late by less than 2^b µs, and not less than half of that.
static LATE: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];

#[derive(Clone, Copy)]
struct Given {
    tasks: u32,
    period: Duration,
    hogs: u32,
    hog: Duration,
    begin: Instant,
    end: Instant,
}

fn main() -> ExitCode {
    let Some(given) = arguments() else {
        eprintln!(
            "usage: thread-tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: \
             whole numbers, at least one task and millisecond"
        );
        return ExitCode::from(2);
    };
    let tasks = given.tasks;

    // Out of memory maps, std panics in the new thread, where it sets up the thread's signal stack,
    // and aborts. The hook comes before that.
    panic::set_hook(Box::new(move |panic| give_up(tasks, panic)));

    let mut handles = Vec::with_capacity(tasks as usize);
    for number in 0..tasks + given.hogs {
        let run = move || if number < tasks { task(number, given) } else { compute(given) };
        // Not `thread::spawn`, which panics when the system refuses a thread.
        match thread::Builder::new().spawn(run) {
            Ok(handle) => handles.push(handle),
            Err(error) => give_up(tasks, &error),
        }
    }
    for handle in handles {
        handle.join().unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    let late: Vec<String> = LATE.iter().map(|count| count.load(Relaxed).to_string()).collect();
    println!("histogram late_us {}", late.join(" "));
    ExitCode::SUCCESS
}

fn task(number: u32, given: Given) {
    let mut due = given.begin + given.period * number / given.tasks;
    let start = Instant::now();
    while due < start {
        due += given.period;
    }
    if STARTED.fetch_add(1, SeqCst) + 1 == given.tasks {
        println!("alive {}", given.tasks - FINISHED.load(SeqCst));
    }
    while due < given.end {
        sleep_until(due);
        let now = Instant::now();
        if now >= given.end {
            break;
        }
        if STARTED.load(SeqCst) == given.tasks {
            count(now - due);
        }
        due += given.period;
    }
    sleep_until(given.end);
    FINISHED.fetch_add(1, SeqCst);
}

fn sleep_until(instant: Instant) {
    thread::sleep(instant.saturating_duration_since(Instant::now()));
}

fn count(late: Duration) {
    let bucket = (128 - late.as_micros().leading_zeros()) as usize;
    LATE[bucket.min(LATE.len() - 1)].fetch_add(1, Relaxed);
}

/// Computes, yields, and so on.
fn compute(given: Given) {
    while Instant::now() < given.end {
        let begin = Instant::now();
        while begin.elapsed() < given.hog {}
        thread::yield_now();
    }
}

/// Ends the program, and every task with it, because a task cannot start.
fn give_up(tasks: u32, reason: &dyn Display) -> ! {
    // Several threads can fail at once; the first one reports, the others wait for the end here.
    static REPORT: Mutex<()> = Mutex::new(());
    let _first = REPORT.lock();

    let started = STARTED.load(SeqCst).min(tasks - 1);
    let reason = reason.to_string().replace('\n', " ");
    eprintln!("thread-tick: cannot start task {} of {tasks}: {reason}", started + 1);
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
    let (mut period_ms, mut hogs, mut hog_ms) = (1000, 0, 10);
    for option in options.chunks(2) {
        match option {
            [name, value] if name == "--period-ms" => period_ms = number(value)?,
            [name, value] if name == "--hogs" => hogs = number(value)?,
            [name, value] if name == "--hog-ms" => hog_ms = number(value)?,
            _ => return None,
        }
    }
    let (tasks, seconds) = (number(tasks)?, number(seconds)?);
    let begin = Instant::now();
    let given = Given {
        tasks,
        period: Duration::from_millis(period_ms.into()),
        hogs,
        hog: Duration::from_millis(hog_ms.into()),
        begin,
        end: begin + Duration::from_secs(seconds.into()),
    };
    (tasks >= 1 && period_ms >= 1 && hog_ms >= 1).then_some(given)
}
