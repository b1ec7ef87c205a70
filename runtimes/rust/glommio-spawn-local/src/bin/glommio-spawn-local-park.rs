//! One glommio task per task, each waiting for one message, on one executor.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use glommio::channels::local_channel::{self, LocalReceiver};
use glommio::timer::sleep;
use glommio::{LocalExecutor, spawn_local};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

fn main() {
    let begin = Instant::now();
    let args: Vec<u32> = env::args().skip(1).map(|arg| arg.parse().unwrap()).collect();
    let (tasks, wait) = (args[0], Duration::from_secs(args[1].into()));

    LocalExecutor::default().run(async {
        let (mailboxes, handles): (Vec<_>, Vec<_>) = (0..tasks)
            .map(|_| {
                // Capacity 1: sending does not wait for the receiver.
                let (sender, receiver) = local_channel::new_bounded(1);
                (sender, spawn_local(task(tasks, receiver)))
            })
            .unzip();
        sleep(wait.saturating_sub(begin.elapsed())).await;
        for mailbox in mailboxes {
            mailbox.send(()).await.unwrap();
        }
        for handle in handles {
            handle.await;
        }
    });

    println!("done {}", FINISHED.load(SeqCst));
}

async fn task(tasks: u32, mailbox: LocalReceiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.recv().await.unwrap();
    FINISHED.fetch_add(1, SeqCst);
}
