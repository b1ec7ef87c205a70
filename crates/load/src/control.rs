//! Messages between clients and their controller: lines on standard input and output.

use std::io::{self, Write};
use std::net::SocketAddr;

use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::error::LoadError;
use crate::results::{ClosedLoad, OpenLoad};

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

/// What begins a phase: a line on the clients' standard input, as JSON.
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

/// Prints the number of open connections. Printed again when it falls.
pub fn print_alive(connections: u64) -> Result<(), LoadError> {
    print_line(&format!("alive {connections}"))
}

pub fn print_result(phase: &StageResult) -> Result<(), LoadError> {
    print_line(&format!("phase {}", json!(phase)))
}

pub fn print_line(line: &str) -> Result<(), LoadError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| LoadError::Io("report on", error))
}
