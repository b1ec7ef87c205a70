//! One glommio task per place in a ring, each handing on the tokens that come through its channel, on one executor.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::{self, ExitCode};
use std::rc::Rc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

use glommio::channels::local_channel::{self, LocalReceiver, LocalSender};
use glommio::{LocalExecutor, LocalExecutorBuilder, spawn_local};

// Static, so that proving the tasks alive adds nothing to what a task holds.
static STARTED: AtomicU32 = AtomicU32::new(0);

/// The hops that it has left.
type Token = u32;

fn main() -> ExitCode {
    let Some((tasks, operations, tokens)) = arguments() else {
        eprintln!(
            "usage: glommio-spawn-local-ring <tasks> <operations> [--tokens <tokens>]: \
             whole numbers, at least one operation, at most half as many tokens as tasks"
        );
        return ExitCode::from(2);
    };

    new_executor().run(async {
        let (senders, receivers): (Vec<_>, Vec<_>) = (0..tasks)
            .map(|_| {
                let (sender, receiver) = local_channel::new_bounded(1);
                (Rc::new(sender), receiver)
            })
            .unzip();
        let (note, noted) = local_channel::new_unbounded();
        let note = Rc::new(note);
        let mut handles = Vec::with_capacity(tasks as usize);
        for (number, receiver) in (0..).zip(receivers) {
            let next = senders[(number as usize + 1) % senders.len()].clone();
            handles.push(spawn_local(task(tasks, number, receiver, next, note.clone())));
        }
        // The first note is from the task that started last.
        noted.recv().await.unwrap();
        println!("ready");

        for token in 0..tokens {
            let first = u64::from(token) * u64::from(tasks) / u64::from(tokens);
            // Where the operations cannot be shared evenly, the first tokens make one hop more.
            let hops = operations / tokens + u32::from(token < operations % tokens);
            senders[first as usize].send(hops).await.unwrap();
        }
        let mut sum = 0;
        for _ in 0..tokens {
            sum += u64::from(noted.recv().await.unwrap());
        }

        println!("done {operations}");
        println!("check {sum}");

        for task in handles {
            task.cancel().await;
        }
    });
    ExitCode::SUCCESS
}

async fn task(
    tasks: u32,
    number: u32,
    tokens: LocalReceiver<Token>,
    next: Rc<LocalSender<Token>>,
    note: Rc<LocalSender<u32>>,
) {
    if STARTED.fetch_add(1, SeqCst) + 1 == tasks {
        println!("alive {tasks}");
        note.send(number).await.unwrap();
    }
    while let Some(hops) = tokens.recv().await {
        match hops.checked_sub(1) {
            Some(left) => next.send(left).await.unwrap(),
            None => note.send(number).await.unwrap(),
        }
    }
}

/// An executor on the thread that calls.
fn new_executor() -> LocalExecutor {
    LocalExecutorBuilder::default().make().unwrap_or_else(|error| {
        eprintln!("glommio-spawn-local-ring: cannot start an executor: {error}");
        process::exit(1)
    })
}

fn arguments() -> Option<(u32, u32, u32)> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let (tasks, operations, tokens) = match args.as_slice() {
        [tasks, operations] => (tasks, operations, "1"),
        [tasks, operations, name, tokens] if name == "--tokens" => (tasks, operations, tokens.to_str()?),
        _ => return None,
    };
    let tasks: u32 = tasks.to_str()?.parse().ok()?;
    let operations: NonZero<u32> = operations.to_str()?.parse().ok()?;
    let tokens: NonZero<u32> = tokens.parse().ok()?;
    (tokens.get() <= tasks / 2).then_some((tasks, operations.get(), tokens.get()))
}
