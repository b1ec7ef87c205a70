//! Clients of a server: they connect, stay idle, send messages, and verify all that comes back.
//!
//! One thread per process, on epoll, and several processes only if one may not open enough files. These start the
//! embedding program again with the arguments `load …` of `LoadOrder::words`. Who runs the clients, and where, is not
//! known here.

mod backlog;
mod chat;
mod client_pool;
mod connect;
mod engine;
mod latency;
mod protocol;
mod results;
mod stages;
#[cfg(test)]
mod tests;
pub mod websocket;

use std::fmt;
use std::io::{self, Read, Write};
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::str::FromStr;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use backlog::{Connections, Queue};
pub use connect::room_for;
pub use results::{ClosedLoad, IdleLoad, Latency, Load, OpenLoad};

use client_pool::ClientPool;

/// How the clients of a server talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Client {
    /// Bytes over TCP, which come back.
    Echo,
    /// Rooms over WebSocket: each message goes to all members of its room.
    Chat,
}

/// The orders of clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LoadOrder {
    /// The protocol; absent if they only keep their connections open.
    pub client: Option<Client>,
    pub address: SocketAddr,
    pub connections: usize,
    /// Bytes of a message.
    pub size: usize,
    /// Members of a room.
    pub room: usize,
    /// Messages per second of the only open loop; shares of the capacity (`SHARES`) where absent.
    pub rate: Option<f64>,
    /// How long each open loop lasts, in seconds.
    pub open_s: f64,
    /// Connections with a message in flight, in the closed loop.
    pub active: usize,
    pub closed_s: f64,
    /// Another machine for the clients; by default the server's.
    pub elsewhere: Option<Elsewhere>,
}

/// Another machine than the server's, for its clients.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Elsewhere {
    /// The command that starts another there and forwards its standard input, output and signals: `ssh other`,
    /// `srun …`.
    pub start: Vec<String>,
    /// The path of the same program on that machine.
    pub program: PathBuf,
    /// Where servers listen: an address of this machine that the other can reach.
    pub listen: IpAddr,
}

/// Why clients cannot do their work.
#[derive(Debug, thiserror::Error)]
pub enum LoadError {
    #[error("cannot {0} the server: {1}")]
    Io(&'static str, io::Error),
    #[error("cannot make connection {nth} to {address}: {error}")]
    Connect { nth: usize, address: SocketAddr, error: io::Error },
    /// The server did not do what its workload requires.
    #[error("connection {client}: {what}")]
    Wrong { client: usize, what: String },
    #[error("missing messages: {messages} (the server sent nothing for {seconds} s)")]
    Lost { messages: u64, seconds: u64 },
    #[error(
        "a room of {room} members needs {room} connections in one process, which may open {most} (ulimit -n)"
    )]
    Room { room: usize, most: usize },
    #[error("a client process exited: {0}")]
    Share(String),
}

/// The result of a phase, printed when it is over on a line after the word `phase`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum StageResult {
    Connected(Connected),
    /// Number of messages.
    First(u64),
    Open(OpenLoad),
    Closed(ClosedLoad),
}

/// A line on the clients' standard input that begins a phase.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Begin {
    First,
    Open(f64),
    Closed,
}

/// The result of connecting.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Connected {
    /// Connections that the server accepted and has not closed.
    pub connected: u64,
    /// Time to connect, in seconds.
    pub connect_s: f64,
    /// The server, if it runs on this machine, so that the kernel can count its connections again.
    pub server: Option<SocketAddr>,
}

/// The embedding program itself, for any parent process.
pub const PROGRAM: &str = "/proc/self/exe";

/// Number of closed loops: the last one counts, and those before it warm up the server.
pub const CLOSED_LOOPS: usize = 2;
/// Shares of the closed loop's capacity at which open loops run.
pub const SHARES: [f64; 3] = [0.1, 0.5, 0.9];
/// The share whose results are in `load.open`.
pub const USUAL_SHARE: f64 = 0.5;

impl fmt::Display for Begin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Begin::First => f.write_str("first"),
            Begin::Open(per_s) => write!(f, "open {per_s}"),
            Begin::Closed => f.write_str("closed"),
        }
    }
}

impl FromStr for Begin {
    type Err = String;

    fn from_str(line: &str) -> Result<Begin, String> {
        match line.split_once(' ').map_or((line, None), |(word, number)| (word, number.parse().ok())) {
            ("first", None) => Ok(Begin::First),
            ("open", Some(per_s)) => Ok(Begin::Open(per_s)),
            ("closed", None) => Ok(Begin::Closed),
            _ => Err(format!("unknown phase: {line:?} (expected first, open RATE or closed)")),
        }
    }
}

impl Client {
    /// The name used in files and on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Client::Echo => "echo",
            Client::Chat => "chat",
        }
    }
}

impl LoadOrder {
    /// How long the clients send messages, in seconds.
    pub fn talk_s(&self) -> f64 {
        let open_loops = if self.rate.is_some() { 1 } else { SHARES.len() };
        open_loops as f64 * self.open_s + CLOSED_LOOPS as f64 * self.closed_s
    }
}

/// The rates of the open loops after a closed loop of this capacity, in messages per second, ascending.
pub fn rates(wanted: Option<f64>, capacity_per_s: f64) -> Vec<f64> {
    match wanted {
        Some(per_s) => vec![per_s],
        None => SHARES.iter().map(|share| (share * capacity_per_s).max(1.0)).collect(),
    }
}

/// The open loop whose results represent all of them.
pub fn usual(curve: &[OpenLoad]) -> Option<&OpenLoad> {
    let distance = |open: &OpenLoad| (open.share.unwrap_or(USUAL_SHARE) - USUAL_SHARE).abs();
    curve.iter().min_by(|a, b| distance(a).total_cmp(&distance(b)))
}

impl LoadOrder {
    /// The command line of clients that wait for an order before each phase, for a server at this port.
    pub fn command(&self, port: u16) -> Vec<String> {
        let order = LoadOrder { address: SocketAddr::new(self.address.ip(), port), ..self.clone() };
        let program = match &self.elsewhere {
            None => vec![PROGRAM.to_owned()],
            Some(there) => there.start.iter().cloned().chain([there.program.display().to_string()]).collect(),
        };
        let words = ["load".to_owned()].into_iter().chain(order.words());
        program.into_iter().chain(words).chain(["--stepwise".to_owned()]).collect()
    }

    /// The arguments of `taskscale load` for the same load.
    pub fn words(&self) -> Vec<String> {
        let LoadOrder { address, connections, size, room, rate, open_s, active, closed_s, .. } = self;
        let client = self.client.map_or("hold", Client::name);
        let rate = rate.map_or(String::new(), |rate| format!(" --rate {rate}"));
        format!(
            "{client} --connect {address} -n {connections} --size {size} --room {room}{rate} --open-s {open_s} \
             --active {active} --closed-s {closed_s}"
        )
        .split(' ')
        .map(str::to_owned)
        .collect()
    }
}

/// All phases, one after the other.
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
    let mut control = ControlInput::default();
    while let Some(word) = control.next(&mut pool)? {
        print_result(&match word.parse().map_err(LoadError::Share)? {
            Begin::First => StageResult::First(pool.first_messages()?),
            Begin::Open(per_s) => StageResult::Open(pool.open(per_s)?),
            Begin::Closed => StageResult::Closed(pool.closed()?),
        })?;
    }
    Ok(())
}

/// The part of one process of several, where `first` is the number of its first client: like `run_stepwise`, with results that
/// can be added up.
pub fn run_shard(order: &LoadOrder, first: usize) -> Result<(), LoadError> {
    let mut pool = ClientPool::of_shard(order, first)?;
    print_result(&StageResult::Connected(pool.connect_shard()?))?;
    let mut control = ControlInput::default();
    while let Some(word) = control.next(&mut pool)? {
        let seen = pool.run_loop(word.parse().map_err(LoadError::Share)?)?;
        print_line(&serde_json::to_string(&seen).map_err(|error| LoadError::Io("report on", error.into()))?)?;
    }
    Ok(())
}

/// Connections that live now; said again where there are fewer.
fn print_alive(connections: u64) -> Result<(), LoadError> {
    print_line(&format!("alive {connections}"))
}

fn print_result(phase: &StageResult) -> Result<(), LoadError> {
    let text = serde_json::to_string(phase).map_err(|error| LoadError::Io("report on", error.into()))?;
    print_line(&format!("phase {text}"))
}

fn print_line(line: &str) -> Result<(), LoadError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| LoadError::Io("report on", error))
}

/// Lines on standard input.
#[derive(Default)]
struct ControlInput(Vec<u8>);

impl ControlInput {
    /// The next line; meanwhile the connections are looked after. `None` when there will be no more.
    fn next(&mut self, pool: &mut ClientPool) -> Result<Option<String>, LoadError> {
        loop {
            if let Some(end) = self.0.iter().position(|byte| *byte == b'\n') {
                let line: Vec<u8> = self.0.drain(..=end).collect();
                return Ok(Some(String::from_utf8_lossy(&line).trim().to_owned()));
            }
            pool.serve_until_input()?;
            let mut some = [0u8; 64];
            let length =
                io::stdin().lock().read(&mut some).map_err(|error| LoadError::Io("wait for", error))?;
            if length == 0 {
                return Ok(None);
            }
            self.0.extend_from_slice(&some[..length]);
        }
    }
}

/// How long an engine rests at a time.
const REST: Duration = Duration::from_millis(500);
