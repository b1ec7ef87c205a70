//! Errors of clients.

use std::io;
use std::net::SocketAddr;

/// Why clients failed.
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
