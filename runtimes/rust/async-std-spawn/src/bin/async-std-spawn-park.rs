//! One async-std task per task, each waiting for one message.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use async_std::task;
use futures_channel::oneshot;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[async_std::main]
async fn main() {
    let begin = Instant::now();
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    let (mailboxes, handles): (Vec<_>, Vec<_>) = (0..tasks)
        .map(|_| {
            let (sender, receiver) = oneshot::channel();
            (sender, task::spawn(wait_once(tasks, receiver)))
        })
        .unzip();
    task::sleep(wait.saturating_sub(begin.elapsed())).await;
    for mailbox in mailboxes {
        mailbox.send(()).unwrap();
    }
    for handle in handles {
        handle.await;
    }

    println!("done {}", FINISHED.load(SeqCst));
}

async fn wait_once(tasks: u32, mailbox: oneshot::Receiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.await.unwrap();
    FINISHED.fetch_add(1, SeqCst);
}
