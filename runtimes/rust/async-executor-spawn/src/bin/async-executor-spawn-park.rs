//! One async-executor task per task, each waiting for one message, on an Executor with one thread per CPU.

use std::num::NonZero;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};
use std::{env, future, thread};

use async_executor::Executor;
use async_io::{Timer, block_on};
use futures_channel::oneshot;

static EXECUTOR: Executor = Executor::new();

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let begin = Instant::now();
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    start_threads();
    block_on(async {
        let (mailboxes, handles): (Vec<_>, Vec<_>) = (0..tasks)
            .map(|_| {
                let (sender, receiver) = oneshot::channel();
                (sender, EXECUTOR.spawn(task(tasks, receiver)))
            })
            .unzip();
        Timer::at(begin + wait).await;
        for mailbox in mailboxes {
            mailbox.send(()).unwrap();
        }
        for handle in handles {
            handle.await;
        }
    });

    println!("done {}", FINISHED.load(SeqCst));
}

async fn task(tasks: u32, mailbox: oneshot::Receiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.await.unwrap();
    FINISHED.fetch_add(1, SeqCst);
}

/// One thread per CPU: the executor has none of its own.
fn start_threads() {
    for _ in 0..thread::available_parallelism().map_or(1, NonZero::get) {
        thread::spawn(|| block_on(EXECUTOR.run(future::pending::<()>())));
    }
}
