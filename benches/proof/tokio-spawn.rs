//! `runtimes/rust/tokio-spawn` without the proof that its tasks are alive.

use std::env;
use std::ffi::OsString;
use std::num::NonZero;
use std::process::ExitCode;
use std::time::Duration;

use tokio::time::sleep;

#[tokio::main]
async fn main() -> ExitCode {
    let Some((tasks, wait)) = arguments() else {
        eprintln!("usage: tokio-spawn <tasks> <seconds>: whole numbers, at least one task");
        return ExitCode::from(2);
    };

    let handles: Vec<_> = (0..tasks).map(|_| tokio::spawn(task(wait))).collect();
    for handle in handles {
        handle.await.unwrap();
    }

    ExitCode::SUCCESS
}

async fn task(wait: Duration) {
    sleep(wait).await;
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
