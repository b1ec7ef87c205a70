//! What clients, and those who order them about, write to each other: lines on standard input and output.

use std::fmt;
use std::io::{self, Write};
use std::net::SocketAddr;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

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

/// Connections that live now; said again where there are fewer.
pub fn print_alive(connections: u64) -> Result<(), LoadError> {
    print_line(&format!("alive {connections}"))
}

pub fn print_result(phase: &StageResult) -> Result<(), LoadError> {
    let text = serde_json::to_string(phase).map_err(|error| LoadError::Io("report on", error.into()))?;
    print_line(&format!("phase {text}"))
}

pub fn print_line(line: &str) -> Result<(), LoadError> {
    let mut out = io::stdout().lock();
    writeln!(out, "{line}").and_then(|()| out.flush()).map_err(|error| LoadError::Io("report on", error))
}
