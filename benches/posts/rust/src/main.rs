//! The async-std program of the second 2024 post: a task per sleep.

use std::time::Duration;

use async_std::task;

#[async_std::main]
async fn main() {
    let mut numbers = std::env::args().skip(1).map(|number| number.parse::<u64>().expect("a whole number"));
    let (tasks, seconds) = (numbers.next().expect("tasks"), numbers.next().expect("seconds"));
    let mut handles = Vec::with_capacity(tasks as usize);
    for _ in 0..tasks {
        handles.push(task::spawn(task::sleep(Duration::from_secs(seconds))));
    }
    println!("alive {tasks}"); // spawned, at least: the posts' program proves no more
    for handle in handles {
        handle.await;
    }
    println!("done {tasks}");
}
