//! A blocking connection of which no read and no write waits for longer than a bound.

use std::fmt;
use std::fs;
use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

/// Why a case ends before its time.
#[derive(Debug)]
pub(super) enum Trouble {
    /// No connection can be made.
    Refused(io::Error),
    /// Nothing came, or nothing was taken, for as long as anything is waited for: what was waited for.
    Silent(String),
    /// The server ended the connection: what was waited for.
    Cut(String),
    /// Something else came.
    Wrong(String),
}

impl fmt::Display for Trouble {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Trouble::Refused(error) => write!(f, "no connection can be made: {error}"),
            Trouble::Silent(what) => write!(f, "waited in vain for {what}"),
            Trouble::Cut(what) => write!(f, "the server ended the connection in the place of {what}"),
            Trouble::Wrong(what) => f.write_str(what),
        }
    }
}

impl Trouble {
    /// The same, said of something.
    pub fn of(self, whose: &str) -> Trouble {
        match self {
            Trouble::Silent(what) => Trouble::Silent(format!("{what}, {whose}")),
            Trouble::Cut(what) => Trouble::Cut(format!("{what}, {whose}")),
            Trouble::Wrong(what) => Trouble::Wrong(format!("{whose}: {what}")),
            Trouble::Refused(error) => Trouble::Refused(error),
        }
    }
}

/// Where a server is, and for how long anything of it is waited for.
#[derive(Debug, Clone, Copy)]
pub(super) struct Terms {
    pub address: SocketAddr,
    pub patience: Duration,
    /// Nothing at all is waited for any more.
    pub end: Instant,
}

impl Terms {
    fn until(&self) -> Instant {
        self.end.min(Instant::now() + self.patience)
    }
}

/// What was sent goes on its way, apart from what is sent next.
pub(super) fn settle() {
    thread::sleep(Duration::from_millis(20));
}

/// What the kernel holds at most for one direction of a connection, in bytes.
pub(super) fn kernel_bytes() -> usize {
    const MIB: usize = 1 << 20;
    let most = |file: &str| -> Option<usize> {
        fs::read_to_string(file).ok()?.split_whitespace().last()?.parse().ok()
    };
    let (read, write) = (most("/proc/sys/net/ipv4/tcp_rmem"), most("/proc/sys/net/ipv4/tcp_wmem"));
    // The kernel's own defaults; beyond the bound nothing is sent here.
    (read.unwrap_or(6 * MIB) + write.unwrap_or(4 * MIB)).min(64 * MIB)
}

pub(super) struct Peer {
    stream: TcpStream,
    pub terms: Terms,
}

impl Peer {
    pub fn connect(terms: Terms) -> Result<Peer, Trouble> {
        let stream =
            TcpStream::connect_timeout(&terms.address, terms.patience).map_err(|error| {
                match error.kind() {
                    ErrorKind::TimedOut | ErrorKind::WouldBlock => Trouble::Silent("a connection".to_owned()),
                    _ => Trouble::Refused(error),
                }
            })?;
        // What is told to go in pieces goes in pieces.
        stream.set_nodelay(true).map_err(Trouble::Refused)?;
        Ok(Peer { stream, terms })
    }

    /// Waits as long as there is time for one read that brings something; nothing at the end of the connection.
    fn read_some(&mut self, buffer: &mut [u8], until: Instant, what: &str) -> Result<usize, Trouble> {
        loop {
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Silent(what.to_owned()));
            }
            let read = self.stream.set_read_timeout(Some(left)).and_then(|()| self.stream.read(buffer));
            match read {
                Err(error) if again(&error) => {}
                // Reset, mostly.
                Err(_) => return Err(Trouble::Cut(what.to_owned())),
                Ok(length) => return Ok(length),
            }
        }
    }

    /// Exactly so many bytes.
    pub fn read(&mut self, buffer: &mut [u8], what: &str) -> Result<(), Trouble> {
        let until = self.terms.until();
        let mut filled = 0;
        while filled < buffer.len() {
            match self.read_some(&mut buffer[filled..], until, what)? {
                0 => return Err(Trouble::Cut(what.to_owned())),
                length => filled += length,
            }
        }
        Ok(())
    }

    /// One byte more, or none at the end of the connection.
    pub fn next(&mut self, what: &str) -> Result<Option<u8>, Trouble> {
        let mut byte = [0];
        let until = self.terms.until();
        Ok((self.read_some(&mut byte, until, what)? > 0).then_some(byte[0]))
    }

    pub fn write(&mut self, bytes: &[u8]) -> Result<(), Trouble> {
        let until = self.terms.until();
        let mut rest = bytes;
        while !rest.is_empty() {
            let taken = || format!("{} bytes to be taken, of which {} were left", bytes.len(), rest.len());
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(Trouble::Silent(taken()));
            }
            match self.stream.set_write_timeout(Some(left)).and_then(|()| self.stream.write(rest)) {
                Err(error) if again(&error) => {}
                Ok(0) | Err(_) => return Err(Trouble::Cut(taken())),
                Ok(written) => rest = &rest[written..],
            }
        }
        Ok(())
    }

    /// Writes until nothing was taken for so long, or all is written; how much was. An end counts as nothing taken.
    pub fn write_until_full(&mut self, bytes: &[u8], pause: Duration) -> usize {
        let until = self.terms.until();
        let mut written = 0;
        while written < bytes.len() && Instant::now() < until {
            let part = &bytes[written..bytes.len().min(written + (64 << 10))];
            match self.stream.set_write_timeout(Some(pause)).and_then(|()| self.stream.write(part)) {
                Ok(length @ 1..) => written += length,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                _ => break,
            }
        }
        written
    }

    /// No more will be written. What fails here, the next read says.
    pub fn finish(&self) {
        let _ = self.stream.shutdown(Shutdown::Write);
    }

    /// A second handle of the same connection, so that one thread writes while another reads.
    pub fn twin(&self) -> io::Result<Peer> {
        Ok(Peer { stream: self.stream.try_clone()?, terms: self.terms })
    }

    /// Little room for what is not read. The kernel may allow more, which does no harm.
    pub fn take_little(&self) {
        let _ = rustix::net::sockopt::set_socket_recv_buffer_size(&self.stream, 64 << 10);
    }

    /// Goes without a word: the connection is reset, not closed.
    pub fn vanish(self) {
        let _ = rustix::net::sockopt::set_socket_linger(&self.stream, Some(Duration::ZERO));
    }
}

fn again(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}
