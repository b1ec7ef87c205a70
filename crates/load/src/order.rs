//! The orders of clients.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

/// The embedding program itself, for any parent process.
pub const PROGRAM: &str = "/proc/self/exe";

/// Number of closed loops: the last one counts, and those before it warm up the server.
pub const CLOSED_LOOPS: usize = 2;
/// Shares of the closed loop's capacity at which open loops run.
pub const SHARES: [f64; 3] = [0.1, 0.5, 0.9];
/// The share whose results are in `load.open`.
pub const USUAL_SHARE: f64 = 0.5;

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
    /// Messages per second of the only open loop. If absent, open loops run at `SHARES` of the capacity.
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
    /// The command that starts another command there and forwards its standard input, output and signals:
    /// `ssh other`, `srun …`.
    pub start: Vec<String>,
    /// The path of the same program on that machine.
    pub program: PathBuf,
    /// Where servers listen: an address of this machine that the other can reach.
    pub listen: IpAddr,
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

/// The rates of the open loops after a closed loop of this capacity, in messages per second, ascending.
pub fn rates(wanted: Option<f64>, capacity_per_s: f64) -> Vec<f64> {
    match wanted {
        Some(per_s) => vec![per_s],
        None => SHARES.iter().map(|share| (share * capacity_per_s).max(1.0)).collect(),
    }
}
