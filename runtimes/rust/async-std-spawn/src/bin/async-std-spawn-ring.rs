//! A ring of async-std tasks, each passing tokens from its channel to the next.

use std::env;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use async_std::channel::{self, Receiver, Sender};
use async_std::task;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);
static ALL_ALIVE: LazyLock<(Sender<()>, Receiver<()>)> = LazyLock::new(|| channel::bounded(1));

/// The number of hops left.
type Token = u32;

#[async_std::main]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let [tasks, operations] = [1, 2].map(|i| args[i].parse::<u32>().unwrap());
    let tokens = args.get(4).map_or(1, |tokens| tokens.parse().unwrap()); // after `--tokens`

    let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| channel::bounded(1)).unzip();
    let (note, noted) = channel::unbounded();
    let mut handles = Vec::with_capacity(tasks as usize);
    for (number, receiver) in (0..).zip(receivers) {
        let next = senders[(number as usize + 1) % senders.len()].clone();
        handles.push(task::spawn(hand_on(tasks, number, receiver, next, note.clone())));
    }
    ALL_ALIVE.1.recv().await.unwrap();
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

    for sender in senders {
        sender.close();
    }
    for handle in handles {
        handle.await;
    }
}

async fn hand_on(tasks: u32, number: u32, tokens: Receiver<Token>, next: Sender<Token>, note: Sender<u32>) {
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
