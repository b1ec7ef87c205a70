//! A blocking connection with time limits for reads and writes.

use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Why a case stopped early.
#[derive(Debug, thiserror::Error)]
pub(super) enum ProtocolError {
    /// The server accepts no connection.
    #[error("cannot connect: {0}")]
    Refused(io::Error),
    /// Nothing was received or accepted within the time limit: what was expected.
    #[error("no answer: expected {0}")]
    Silent(String),
    /// The server closed the connection: what was expected.
    #[error("connection closed: expected {0}")]
    Cut(String),
    /// Something else was received.
    #[error("{0}")]
    Wrong(String),
}

/// The result of a part of a case.
pub(super) type ProtocolResult<T = ()> = Result<T, ProtocolError>;

/// The error of something else that was received.
pub(super) fn wrong<T>(what: impl Into<String>) -> ProtocolResult<T> {
    Err(ProtocolError::Wrong(what.into()))
}

/// Adds context to errors.
pub(super) trait Within {
    fn of(self, whose: &str) -> Self;
}

impl<T> Within for ProtocolResult<T> {
    fn of(self, whose: &str) -> Self {
        self.map_err(|error| match error {
            ProtocolError::Silent(what) => ProtocolError::Silent(format!("{what}, {whose}")),
            ProtocolError::Cut(what) => ProtocolError::Cut(format!("{what}, {whose}")),
            ProtocolError::Wrong(what) => ProtocolError::Wrong(format!("{whose}: {what}")),
            ProtocolError::Refused(error) => ProtocolError::Refused(error),
        })
    }
}

/// The address of a server, and the time limits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub address: SocketAddr,
    pub patience: Duration,
    /// The end of all waits.
    pub end: Instant,
}

impl Terms {
    fn until(&self) -> Instant {
        self.end.min(Instant::now() + self.patience)
    }
}

/// Waits, so that the next write is a packet of its own.
pub(super) fn settle() {
    thread::sleep(Duration::from_millis(20));
}

/// The largest kernel buffers of one direction of a connection, in bytes.
pub(super) fn kernel_bytes() -> usize {
    const MIB: usize = 1 << 20;
    let most = |file: &str| -> Option<usize> {
        fs::read_to_string(file).ok()?.split_whitespace().last()?.parse().ok()
    };
    let (read, write) = (most("/proc/sys/net/ipv4/tcp_rmem"), most("/proc/sys/net/ipv4/tcp_wmem"));
    // The kernel's defaults if unreadable. Capped, as the tests send more.
    (read.unwrap_or(6 * MIB) + write.unwrap_or(4 * MIB)).min(64 * MIB)
}

pub(super) struct Peer {
    stream: TcpStream,
    pub terms: Terms,
}

impl Peer {
    pub fn connect(terms: Terms) -> ProtocolResult<Peer> {
        let failed = |error| match again(&error) {
            true => ProtocolError::Silent("a connection".to_owned()),
            false => ProtocolError::Refused(error),
        };
        let stream = TcpStream::connect_timeout(&terms.address, terms.patience).map_err(failed)?;
        // Sends each piece at once.
        stream.set_nodelay(true).map_err(ProtocolError::Refused)?;
        Ok(Peer { stream, terms })
    }

    /// Reads once and returns the length: 0 at the end of the connection.
    fn read_some(&self, buffer: &mut [u8], until: Instant, what: &str) -> ProtocolResult<usize> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ProtocolError::Silent(what.to_owned()));
            }
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| (&self.stream).read(buffer));
            match read {
                Err(error) if again(&error) => {}
                // Usually a reset.
                Err(_) => return Err(ProtocolError::Cut(what.to_owned())),
                Ok(length) => return Ok(length),
            }
        }
    }

    /// Reads exactly the buffer.
    pub fn read(&self, buffer: &mut [u8], what: &str) -> ProtocolResult {
        let until = self.terms.until();
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_some(&mut buffer[filled..], until, what)? {
                0 => return Err(ProtocolError::Cut(what.to_owned())),
                length => filled += length,
            }
        }
        Ok(())
    }

    /// The next byte. `None` at the end of the connection.
    pub fn next(&self, what: &str) -> ProtocolResult<Option<u8>> {
        let mut byte = [0];
        let until = self.terms.until();
        Ok((self.read_some(&mut byte, until, what)? > 0).then_some(byte[0]))
    }

    pub fn write(&self, bytes: &[u8]) -> ProtocolResult {
        let until = self.terms.until();
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = || format!("{} bytes to be read ({} were left)", bytes.len(), rest.len());
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(ProtocolError::Silent(taken()));
            }
            match self.stream.set_write_timeout(Some(left)).and_then(|()| (&self.stream).write(rest)) {
                Err(error) if again(&error) => {}
                Ok(0) | Err(_) => return Err(ProtocolError::Cut(taken())),
                Ok(written) => rest = &rest[written..],
            }
        }
        Ok(())
    }

    /// Writes until nothing is accepted for a `pause`, or all is written. Returns the bytes written.
    pub fn write_until_full(&self, bytes: &[u8], pause: Duration) -> usize {
        let until = self.terms.until();
        let mut written = 0;
        while written < bytes.len() && Instant::now() < until {
            let part = &bytes[written..bytes.len().min(written + (64 << 10))];
            match self.stream.set_write_timeout(Some(pause)).and_then(|()| (&self.stream).write(part)) {
                Ok(length @ 1..) => written += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        written
    }

    /// Closes the client's side. The next read reports failures.
    pub fn finish(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// Requests a small receive buffer.
    pub fn shrink_receive_buffer(&self) {
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, 64 << 10);
    }

    /// Resets the connection instead of closing it.
    pub fn reset(self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
