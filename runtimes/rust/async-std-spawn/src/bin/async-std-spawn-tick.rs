//! One async-std task per task, each waking once per period.

use std::env;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::Relaxed, Ordering::SeqCst};
use std::time::{Duration, Instant};

use async_std::task;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);
/// A histogram of lateness: bucket b counts ticks late by less than 2^b µs, but not less than half of that.
static LATE: [AtomicU64; 32] = [const { AtomicU64::new(0) }; 32];

struct Config {
    tasks: u32,
    period: Duration,
    busy: Duration,
    begin: Instant,
    end: Instant,
}

#[async_std::main]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let begin = Instant::now();
    // Leaked, so that a task holds a reference and not an `Arc`.
    let config: &'static Config = Box::leak(Box::new(Config {
        tasks: args[1].parse().unwrap(),
        period: Duration::from_millis(option("--period-ms", 1000).into()),
        busy: Duration::from_millis(option("--hog-ms", 10).into()),
        begin,
        end: begin + Duration::from_secs(args[2].parse().unwrap()),
    }));

    let mut handles: Vec<_> = (0..config.tasks).map(|number| task::spawn(wake(number, config))).collect();
    handles.extend((0..option("--hogs", 0)).map(|_| task::spawn(hog(config))));
    for handle in handles {
        handle.await;
    }

    let late: Vec<String> = LATE.iter().map(|count| count.load(Relaxed).to_string()).collect();
    println!("done {}\nhistogram late_us {}", FINISHED.load(SeqCst), late.join(" "));
}

async fn wake(number: u32, config: &'static Config) {
    let start = Instant::now();
    let mut due = config.begin + config.period * number / config.tasks;
    while due < start {
        due += config.period;
    }
    if STARTED.fetch_add(1, SeqCst) + 1 == config.tasks {
        println!("alive {}", config.tasks - FINISHED.load(SeqCst));
    }
    while due < config.end {
        sleep_until(due).await;
        let now = Instant::now();
        if now >= config.end {
            break;
        }
        if STARTED.load(SeqCst) == config.tasks {
            count(now - due);
        }
        due += config.period;
    }
    sleep_until(config.end).await;
    FINISHED.fetch_add(1, SeqCst);
}

fn count(late: Duration) {
    let bucket = (128 - late.as_micros().leading_zeros()) as usize;
    LATE[bucket.min(LATE.len() - 1)].fetch_add(1, Relaxed);
}

async fn sleep_until(due: Instant) {
    task::sleep(due.saturating_duration_since(Instant::now())).await;
}

/// Computes without waiting, and yields between bursts.
async fn hog(config: &'static Config) {
    while Instant::now() < config.end {
        let begin = Instant::now();
        while begin.elapsed() < config.busy {}
        task::yield_now().await;
    }
}

/// Returns the number after `name`.
fn option(name: &str, default: u32) -> u32 {
    let value = env::args().skip_while(|arg| arg != name).nth(1);
    value.map_or(default, |value| value.parse().unwrap())
}
