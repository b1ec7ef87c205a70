//! A ring of tokio tasks, each passing tokens from its channel to the next, on the current-thread runtime.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use tokio::sync::Notify;
use tokio::sync::mpsc::{self, Receiver, Sender, UnboundedSender};

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static ALL_ALIVE: Notify = Notify::const_new();

/// The number of hops left.
type Token = u32;

#[tokio::main(flavor = "current_thread")]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let [tasks, operations] = [1, 2].map(|i| args[i].parse::<u32>().unwrap());
    let tokens = args.get(4).map_or(1, |tokens| tokens.parse().unwrap()); // after `--tokens`

    let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| mpsc::channel(1)).unzip();
    let (note, mut noted) = mpsc::unbounded_channel();
    for (number, receiver) in (0..).zip(receivers) {
        let next = senders[(number as usize + 1) % senders.len()].clone();
        tokio::spawn(task(tasks, number, receiver, next, note.clone()));
    }
    ALL_ALIVE.notified().await;
    println!("ready");

    for token in 0..tokens {
        let first = u64::from(token) * u64::from(tasks) / u64::from(tokens);
        // The first tokens take the remainder.
        let hops = operations / tokens + u32::from(token < operations % tokens);
        senders[first as usize].send(hops).await.unwrap();
    }
    let mut sum = 0;
    for _ in 0..tokens {
        sum += u64::from(noted.recv().await.unwrap());
    }

    println!("done {operations}\ncheck {sum}");
    // The runtime ends with `main`, and the tasks with it.
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
