//! One tokio task per place in a ring, each handing on the tokens that come through its channel, of a LocalSet
//! on the current-thread runtime.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use tokio::sync::Notify;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedSender};
use tokio::task::{LocalSet, spawn_local};

// Static, so that proving the tasks alive adds nothing to what a task holds.
static STARTED: AtomicU32 = AtomicU32::new(0);
static ALL_ALIVE: Notify = Notify::const_new();

/// The hops that it has left.
type Token = u32;

#[tokio::main(flavor = "current_thread")]
async fn main() -> ExitCode {
    let Some((tasks, operations, tokens)) = arguments() else {
        eprintln!(
            "usage: tokio-local-set-ring <tasks> <operations> [--tokens <tokens>]: \
             whole numbers, at least one operation, at most half as many tokens as tasks"
        );
        return ExitCode::from(2);
    };

    // The tasks end with their LocalSet.
    LocalSet::new()
        .run_until(async {
            let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| mpsc::channel(1)).unzip();
            let (note, mut noted) = mpsc::unbounded_channel();
            for (number, receiver) in (0..).zip(receivers) {
                let next = senders[(number as usize + 1) % senders.len()].clone();
                spawn_local(task(tasks, number, receiver, next, note.clone()));
            }
            ALL_ALIVE.notified().await;
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
        })
        .await;
    ExitCode::SUCCESS
}

async fn task(
    tasks: u32,
    number: u32,
    mut tokens: Receiver<Token>,
    next: Sender<Token>,
    note: UnboundedSender<u32>,
) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {tasks}");
        ALL_ALIVE.notify_one();
    }
    while let Some(hops) = tokens.recv().await {
        match hops.checked_sub(1) {
            Some(left) => next.send(left).await.unwrap(),
            None => note.send(number).unwrap(),
        }
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
