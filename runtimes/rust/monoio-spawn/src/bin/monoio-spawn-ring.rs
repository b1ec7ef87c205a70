//! A ring of monoio tasks, each passing tokens from its channel to the next, on one thread, with io_uring where the
//! kernel has it.

use std::env;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use local_sync::mpsc::bounded::{self, Rx, Tx};
use local_sync::mpsc::unbounded;

// Static, so that counting adds nothing to the memory of a task.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// The number of hops left.
type Token = u32;

#[monoio::main]
async fn main() {
    let args: Vec<String> = env::args().collect();
    let [tasks, operations] = [1, 2].map(|i| args[i].parse::<u32>().unwrap());
    let tokens = args.get(4).map_or(1, |tokens| tokens.parse().unwrap()); // after `--tokens`

    let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks).map(|_| bounded::channel(1)).unzip();
    let (note, mut noted) = unbounded::channel();
    for (number, receiver) in (0..).zip(receivers) {
        let next = senders[(number as usize + 1) % senders.len()].clone();
        monoio::spawn(task(tasks, number, receiver, next, note.clone()));
    }
    // Sent by the task that started last.
    noted.recv().await.unwrap();
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
    // The tasks end with the process.
}

async fn task(tasks: u32, number: u32, mut tokens: Rx<Token>, next: Tx<Token>, note: unbounded::Tx<u32>) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {tasks}");
        note.send(number).unwrap();
    }
    while let Some(hops) = tokens.recv().await {
        match hops.checked_sub(1) {
            Some(left) => next.send(left).await.unwrap(),
            None => note.send(number).unwrap(),
        }
    }
}
