//! One tokio task per task, on the multi-threaded runtime, each holding bytes of its own while it waits.

use std::env;
use std::ffi::OsString;
use std::pin::Pin;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use tokio::time::sleep;

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

struct Given {
    tasks: u32,
    wait: Duration,
    bytes: u32,
    depth: u32,
}

#[tokio::main]
async fn main() -> ExitCode {
    let Some(given) = arguments() else {
        eprintln!(
            "usage: tokio-spawn-state <tasks> <seconds> [--bytes <bytes>] [--depth <calls>]: \
             whole numbers, at least one task, byte and call"
        );
        return ExitCode::from(2);
    };
    // Alive as long as the program is: no task need hold a share of it.
    let given: &'static Given = Box::leak(Box::new(given));

    let handles: Vec<_> = (0..given.tasks).map(|number| tokio::spawn(task(number, given))).collect();
    let mut sum = 0;
    for handle in handles {
        sum += handle.await.unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    println!("check {sum}");
    ExitCode::SUCCESS
}

async fn task(number: u32, given: &'static Given) -> u64 {
    let sum = hold(number, given.depth, given).await;
    FINISHED.fetch_add(1, SeqCst);
    sum
}

/// Fills the bytes of a task so many calls down, waits, and sums them.
async fn hold(number: u32, depth: u32, given: &'static Given) -> u64 {
    if depth > 1 {
        return deeper(number, depth - 1, given).await;
    }
    let state: Vec<u8> = (number..number + given.bytes).map(|k| (k % 251) as u8).collect();
    if STARTED.fetch_add(1, SeqCst) + 1 == given.tasks {
        println!("alive {}", given.tasks - FINISHED.load(SeqCst));
    }
    sleep(given.wait).await;
    state.iter().copied().map(u64::from).sum()
}

/// A future that holds one of its own kind must hold it in a box.
fn deeper(number: u32, depth: u32, given: &'static Given) -> Pin<Box<dyn Future<Output = u64> + Send>> {
    Box::pin(hold(number, depth, given))
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
