//! One tokio task per task, all of one JoinSet, each waiting for one message, on the multi-threaded runtime.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[tokio::main]
async fn main() -> ExitCode {
    let begin = Instant::now();
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: tokio-join-set-park <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let mut set = JoinSet::new();
    let mut mailboxes = Vec::with_capacity(tasks as usize);
    for _ in 0..tasks {
        // Not `mpsc`, whose channel has a queue of blocks: this one is for one message, once.
        let (sender, receiver) = oneshot::channel();
        mailboxes.push(sender);
        set.spawn(task(tasks, receiver));
    }
    sleep_until(begin + wait).await;
    for mailbox in mailboxes {
        mailbox.send(()).unwrap();
    }
    while let Some(ended) = set.join_next().await {
        ended.unwrap();
    }

    println!("done {}", FINISHED.load(SeqCst));
    ExitCode::SUCCESS
}

async fn task(tasks: u32, mailbox: oneshot::Receiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.await.unwrap();
    FINISHED.fetch_add(1, SeqCst);
}

fn arguments() -> Option<(u32, Duration)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, seconds] = args.as_slice() else {
        return None;
    };
    let tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    let seconds: u32 = seconds.to_str()?.parse().ok()?;
    Some((tasks.get(), Duration::from_secs(seconds.into())))
}
