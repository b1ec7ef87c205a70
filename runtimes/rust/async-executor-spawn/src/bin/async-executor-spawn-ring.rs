//! One async-executor task per place in a ring, each handing on the tokens that come through its channel, on an Executor run by all CPUs.

use std::env;
use std::ffi::OsString;
use std::future;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::thread;

use async_channel::{Receiver, Sender};
use async_executor::Executor;
use async_io::block_on;

static EXECUTOR: Executor = Executor::new();

// Static, so that proving the tasks alive adds nothing to what a task holds.
static STARTED: AtomicU32 = AtomicU32::new(0);
static ALL_ALIVE: LazyLock<(Sender<()>, Receiver<()>)> = LazyLock::new(|| async_channel::bounded(1));

/// The hops that it has left.
type Token = u32;

fn main() -> ExitCode {
    let Some((tasks, operations, tokens)) = arguments() else {
        eprintln!(
            "usage: async-executor-ring <tasks> <operations> [--tokens <tokens>]: \
             whole numbers, at least one operation, at most half as many tokens as tasks"
        );
        return ExitCode::from(2);
    };

    start_threads();
    block_on(async {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| async_channel::bounded(1)).unzip();
        let (note, noted) = async_channel::unbounded();
        let mut handles = Vec::with_capacity(tasks as usize);
        for (number, receiver) in (0..).zip(receivers) {
            let next = senders[(number as usize + 1) % senders.len()].clone();
            handles.push(EXECUTOR.spawn(task(tasks, number, receiver, next, note.clone())));
        }
        ALL_ALIVE.1.recv().await.unwrap();
        println!("ready");

        for token in 0..tokens {
            let first = u64::from(token) * u64::from(tasks) / u64::from(tokens);
            // Where the operations cannot be shared evenly, the first tokens make one hop more.
            let hops = operations / tokens + u32::from(token < operations % tokens);
            senders[first as usize].send(hops).await.unwrap();
        }
        let mut sum = 0;
        for _ in 0..tokens {
            sum += u64::from(noted.recv().await.unwrap());
        }

        println!("done {operations}");
        println!("check {sum}");

        for sender in senders {
            sender.close();
        }
        for handle in handles {
            handle.await;
        }
    });
    ExitCode::SUCCESS
}

async fn task(tasks: u32, number: u32, tokens: Receiver<Token>, next: Sender<Token>, note: Sender<u32>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {tasks}");
        ALL_ALIVE.0.try_send(()).unwrap();
    }
    while let Ok(hops) = tokens.recv().await {
        match hops.checked_sub(1) {
            Some(left) => next.send(left).await.unwrap(),
            None => note.send(number).await.unwrap(),
        }
    }
}

/// As many threads as there are CPUs, as the executor has none of its own.
fn start_threads() {
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        thread::spawn(|| block_on(EXECUTOR.run(future::pending::<()>())));
    }
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
