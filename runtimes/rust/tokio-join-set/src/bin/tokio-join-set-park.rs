//! One tokio task per task, all in one JoinSet, each waiting for one message, on the multi-threaded runtime.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, sleep_until};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[tokio::main]
async fn main() {
    let begin = Instant::now();
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    let mut set = JoinSet::new();
    let mut mailboxes = Vec::with_capacity(tasks as usize);
    for _ in 0..tasks {
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
}

async fn task(tasks: u32, mailbox: oneshot::Receiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.await.unwrap();
    FINISHED.fetch_add(1, SeqCst);
}
