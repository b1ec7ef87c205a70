//! One tokio task per task, on the multi-threaded runtime, each a heartbeat: it wakes once in every period.

use std::env;
use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::Duration;

use tokio::task::yield_now;
use tokio::time::{Instant, sleep_until};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);
/// Bucket b: ticks that were late by less than 2^b µs, and not less than half of that.
static LATE: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];

struct Given {
    tasks: u32,
    period: Duration,
    hogs: u32,
    hog: Duration,
    begin: Instant,
    end: Instant,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(given) = arguments() else {
        eprintln!(
            "usage: tokio-spawn-tick <tasks> <seconds> [--period-ms <ms>] [--hogs <tasks>] [--hog-ms <ms>]: \
             whole numbers, at least one task and millisecond"
        );
        return ExitCode::from(2);
    };
    // Alive as long as the program is: no task need hold a share of it.
    let given: &'static Given = Box::leak(Box::new(given));

    let mut handles: Vec<_> = (0..given.tasks).map(|number| tokio::spawn(task(number, given))).collect();
    handles.extend((0..given.hogs).map(|_| tokio::spawn(compute(given))));
    for handle in handles {
        handle.await.unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    let late: Vec<String> = LATE.iter().map(|count| count.load(Relaxed).to_string()).collect();
    println!("histogram late_us {}", late.join(" "));
    ExitCode::SUCCESS
}

async fn task(number: u32, given: &'static Given) {
    let mut due = given.begin + given.period * number / given.tasks;
    let start = Instant::now();
    while due < start {
        due += given.period;
    }
    if STARTED.fetch_add(1, SeqCst) + 1 == given.tasks {
        println!("alive {}", given.tasks - FINISHED.load(SeqCst));
    }
    while due < given.end {
        sleep_until(due).await;
        let now = Instant::now();
        if now >= given.end {
            break;
        }
        if STARTED.load(SeqCst) == given.tasks {
            count(now - due);
        }
        due += given.period;
    }
    sleep_until(given.end).await;
    FINISHED.fetch_add(1, SeqCst);
}

fn count(late: Duration) {
    let bucket = (128 - late.as_micros().leading_zeros()) as usize;
    LATE[bucket.min(LATE.len() - 1)].fetch_add(1, Relaxed);
}

/// Computes, yields, and so on.
async fn compute(given: &'static Given) {
    while Instant::now() < given.end {
        let begin = Instant::now();
        while begin.elapsed() < given.hog {}
        yield_now().await;
    }
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
