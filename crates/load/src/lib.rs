//! Clients of a server: they connect, stay idle, send messages, and verify all that comes back.
//!
//! Each process has one thread, on epoll. Several processes are used only if one may not open enough files:
//! they run the embedding program again with the arguments `load …` of `LoadOrder::words`. This crate does not
//! know where the clients run.

mod backlog;
mod chat;
mod client_pool;
mod connect;
mod control;
mod engine;
mod error;
mod latency;
mod order;
mod protocol;
mod results;
mod stages;
#[cfg(test)]
mod tests;
pub mod websocket;

use std::io::{self, BufRead};

use serde_json::json;

pub use backlog::{Connections, Queue};
pub use connect::room_for;
pub use control::{Begin, Connected, StageResult};
pub use error::LoadError;
pub use order::{CLOSED_LOOPS, Client, Elsewhere, LoadOrder, PROGRAM, SHARES, USUAL_SHARE, rates};
pub use results::{ClosedLoad, IdleLoad, Latency, Load, OpenLoad};

use client_pool::ClientPool;
use control::{print_alive, print_line, print_result};

/// The open loop whose results represent all of them.
pub fn usual(curve: &[OpenLoad]) -> Option<&OpenLoad> {
    let distance = |open: &OpenLoad| (open.share.unwrap_or(USUAL_SHARE) - USUAL_SHARE).abs();
    curve.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

/// Runs all phases, one after the other.
pub fn run(order: &LoadOrder) -> Result<Load, LoadError> {
    let mut pool = ClientPool::new(order)?;
    let Connected { connected, connect_s, .. } = pool.connect()?;
    let mut load = Load { connected, connect_s, ..Load::default() };
    if order.client.is_some() && connected > 0 {
        load.first_message = pool.first_messages()? > 0;
        for _ in 1..CLOSED_LOOPS {
            pool.closed()?;
        }
        let closed = pool.closed()?;
        for per_s in rates(order.rate, closed.per_s) {
            let share = (closed.per_s > 0.0).then(|| per_s / closed.per_s);
            load.curve.push(OpenLoad { share, ..pool.open(per_s)? });
        }
        load.open = usual(&load.curve).cloned();
        load.closed = Some(closed);
    }
    Ok(load)
}

/// Connects, prints `alive K`, and begins each phase on an order from standard input, until that ends.
pub fn run_stepwise(order: &LoadOrder) -> Result<(), LoadError> {
    let mut pool = ClientPool::new(order)?;
    let connected = pool.connect()?;
    print_result(&StageResult::Connected(connected))?;
    print_alive(connected.connected)?;
    if order.client.is_none() {
        return pool.hold(connected.connected);
    }
    while let Some(begin) = next_phase(&mut pool)? {
        print_result(&match begin {
            Begin::First => StageResult::First(pool.first_messages()?),
            Begin::Open(per_s) => StageResult::Open(pool.open(per_s)?),
            Begin::Closed => StageResult::Closed(pool.closed()?),
        })?;
    }
    Ok(())
}

/// Runs the clients of one of several processes, like `run_stepwise`, with results that can be added up.
/// `first` is the number of its first client.
pub fn run_shard(order: &LoadOrder, first: usize) -> Result<(), LoadError> {
    let mut pool = ClientPool::of_shard(order, first)?;
    print_result(&StageResult::Connected(pool.connect_shard()?))?;
    while let Some(begin) = next_phase(&mut pool)? {
        print_line(&json!(pool.run_loop(begin)?).to_string())?;
    }
    Ok(())
}

/// The phase that the next line on standard input begins, or `None` at its end. Serves the connections while it
/// waits.
fn next_phase(pool: &mut ClientPool) -> Result<Option<Begin>, LoadError> {
    pool.serve_until_input()?;
    let mut line = String::new();
    io::stdin().lock().read_line(&mut line).map_err(|error| LoadError::Io("wait for", error))?;
    if line.is_empty() {
        return Ok(None);
    }
    serde_json::from_str(&line).map(Some).map_err(|error| LoadError::Share(error.to_string()))
}
