//! `taskscale load`.

use clap::{Args as ClapArgs, ValueEnum};

/// How clients talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolArg {
    /// Connect, and send nothing
    Hold,
    /// Bytes over TCP, which the server sends back
    Echo,
    /// Rooms over WebSocket
    Chat,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale load echo --connect 127.0.0.1:7000 -n 10k            capacity, then latency
  taskscale load chat --connect 10.0.0.7:7000 -n 1k --rate 5000  a server on another machine
  taskscale load hold --connect 127.0.0.1:6379 -n 5k             idle connections, until interrupted

Every byte that comes back is verified. Wrong bytes, lost bytes and bytes that are more than 30 s late
end the load with exit status 1. An open loop that misses its rate, or whose clients send late, has
no latency.

Exit status: 0 all messages arrived, at 50% of the capacity or at --rate; 1 a message is missing or wrong; 2 usage error.")]
pub struct LoadArgs {
    /// hold, echo or chat
    #[arg(value_enum, value_name = "PROTOCOL")]
    pub protocol: ProtocolArg,
    /// Address of the server
    #[arg(long, value_name = "HOST:PORT")]
    pub connect: String,
    /// Number of connections
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "1")]
    pub connections: String,
    /// Bytes per message
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub size: u32,
    /// Members per room
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub room: u32,
    /// Messages per second of the open loop
    ///
    /// By default 10%, 50% and 90% of the capacity, which the closed loop measures.
    #[arg(long, value_name = "N")]
    pub rate: Option<f64>,
    /// Messages in flight in the closed loop
    ///
    /// One per active connection.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub active: usize,
    /// Seconds of each open loop
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub open_s: f64,
    /// Seconds of the closed loop, after a warm-up as long
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    pub closed_s: f64,
    /// Start each phase on a line of standard input
    #[arg(long, hide = true)]
    pub stepwise: bool,
    /// Number of the first client of this process
    #[arg(long, hide = true)]
    pub share: Option<usize>,
}
