//! `taskscale load`.

use clap::{Args as ClapArgs, ValueEnum};

use super::help;

/// How clients talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Talk {
    /// Connect, and say nothing
    Hold,
    /// Bytes over TCP, which come back
    Echo,
    /// Rooms over WebSocket
    Chat,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = help(
    "\
Examples:
  taskscale load echo --connect 127.0.0.1:7000 -n 10k               connect, find the capacity, talk at shares of it
  taskscale load chat --connect 10.0.0.7:7000 -n 1k --rate 5000     a server on another machine
  taskscale load hold --connect 127.0.0.1:6379 -n 5k                hold connections until interrupted",
    "Every byte that comes back is verified: what is wrong, late beyond 30 s, or lost ends it with exit code 1.\nA loop whose rate is not reached, or whose clients send late, has no latency.\nExit codes: 0 every message arrived, at 50% of the capacity or at --rate; 1 something did not, 2 wrong usage."
))]
pub struct Load {
    /// How the clients talk
    #[arg(value_enum)]
    pub talk: Talk,
    /// Address of the server
    #[arg(long, value_name = "HOST:PORT")]
    pub connect: String,
    /// Connections
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "1")]
    pub connections: String,
    /// Bytes of a message
    #[arg(long, default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub size: u32,
    /// Members of a room
    #[arg(long, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub room: u32,
    /// Messages per second of the open loop [default: 10%, 50% and 90% of the closed loop's]
    #[arg(long)]
    pub rate: Option<f64>,
    /// Connections with a message in flight, in the closed loop
    #[arg(long, default_value_t = 64)]
    pub active: usize,
    /// How long each open loop lasts, in seconds
    #[arg(long, default_value_t = 5.0)]
    pub open_s: f64,
    /// How long the closed loop lasts, in seconds; it runs twice, and the first time warms up
    #[arg(long, default_value_t = 3.0)]
    pub closed_s: f64,
    /// Begin each phase when a line on standard input says so: first, closed, open RATE
    #[arg(long, hide = true)]
    pub stepwise: bool,
    /// Be one of several processes, the first of whose clients has this number
    #[arg(long, hide = true)]
    pub share: Option<usize>,
}
