//! One tokio task per task, each waiting for one message, on the current-thread runtime.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

use tokio::sync::oneshot;
use tokio::time::{Instant, sleep_until};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let begin = Instant::now();
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    let (mailboxes, handles): (Vec<_>, Vec<_>) = (0..tasks)
        .map(|_| {
            let (sender, receiver) = oneshot::channel();
            (sender, tokio::spawn(task(tasks, receiver)))
        })
        .unzip();
    sleep_until(begin + wait).await;
    for mailbox in mailboxes {
        mailbox.send(()).unwrap();
    }
    for handle in handles {
        handle.await.unwrap();
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
