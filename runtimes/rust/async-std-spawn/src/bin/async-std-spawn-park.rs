//! One async-std task per task, each waiting for one message.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::{Duration, Instant};

use async_std::channel::{self, Receiver};
use async_std::task;

// Static, so that proving the tasks alive adds nothing to what a task holds.
// `SeqCst`, because `alive` is the difference of the two.
static STARTED: AtomicU32 = AtomicU32::new(0);
static FINISHED: AtomicU32 = AtomicU32::new(0);

#[async_std::main]
async fn main() -> ExitCode {
    let begin = Instant::now();
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: async-std-spawn-park <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let (mailboxes, handles): (Vec<_>, Vec<_>) = (0..tasks)
        .map(|_| {
            // Room for one message, so that sending does not wait for the receiver.
            let (sender, receiver) = channel::bounded(1);
            (sender, task::spawn(wait_once(tasks, receiver)))
        })
        .unzip();
    task::sleep(wait.saturating_sub(begin.elapsed())).await;
    for mailbox in mailboxes {
        mailbox.send(()).await.unwrap();
    }
    for handle in handles {
        handle.await;
    }

    println!("done {}", FINISHED.load(SeqCst));
    ExitCode::SUCCESS
}

async fn wait_once(tasks: u32, mailbox: Receiver<()>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {}", tasks - FINISHED.load(SeqCst));
    }
    mailbox.recv().await.unwrap();
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
