//! How many connections wait to be accepted, and how many may: the kernel's own figures of sockets that listen, by
//! netlink (sock_diag(7)).
//!
//! `/proc/net/tcp` says the first of the two as well, but walks the table of all connections to its end: several
//! milliseconds, where this takes microseconds.

use std::io;
use std::net::SocketAddr;
use std::os::fd::{AsFd, FromRawFd, OwnedFd};

// linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
const NETLINK_SOCK_DIAG: libc::c_int = 4;
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const HEADER: usize = 16;
const REQUEST: usize = HEADER + 56;
/// In `inet_diag_msg`; of a socket that listens they are `sk_ack_backlog` and `sk_max_ack_backlog`
/// (tcp_diag_get_info).
const RQUEUE: usize = 56;
const WQUEUE: usize = 60;
const MESSAGE: usize = 72;
const LISTENING: u32 = 1 << 10;

/// The accept queue of a port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Connections that the kernel has made and the server has not yet accepted.
    pub waiting: u64,
    /// How many may wait; what comes beyond is dropped.
    pub most: u64,
}

/// The accept queue of a server, asked for again and again.
pub struct Queue {
    asker: Option<Asker>,
    port: u16,
}

impl Queue {
    pub fn of(address: SocketAddr) -> Queue {
        Queue { asker: Asker::new().ok().filter(|_| address.ip().is_loopback()), port: address.port() }
    }

    /// `None` where the server is far, or the kernel would not tell.
    pub fn ask(&self) -> Option<Backlog> {
        self.asker.as_ref()?.of_port(self.port)
    }
}

/// Asks the kernel.
struct Asker(OwnedFd);

impl Asker {
    fn new() -> io::Result<Asker> {
        // SAFETY: a plain system call; what it returns, if not negative, is a new descriptor that nobody else has.
        unsafe {
            let kind = libc::SOCK_DGRAM | libc::SOCK_CLOEXEC;
            let descriptor = libc::socket(libc::AF_NETLINK, kind, NETLINK_SOCK_DIAG);
            if descriptor < 0 {
                return Err(io::Error::last_os_error());
            }
            Ok(Asker(OwnedFd::from_raw_fd(descriptor)))
        }
    }

    /// Of all sockets that listen on the port here; `None` where none does, or the kernel would not tell.
    fn of_port(&self, port: u16) -> Option<Backlog> {
        let mut found: Option<Backlog> = None;
        for family in [libc::AF_INET, libc::AF_INET6] {
            // A kernel without this part for one family may have it for the other.
            self.ask(family as u8, port, &mut |backlog| {
                let sum = found.get_or_insert(Backlog { waiting: 0, most: 0 });
                sum.waiting += backlog.waiting;
                sum.most += backlog.most;
            });
        }
        found
    }

    fn ask(&self, family: u8, port: u16, found: &mut dyn FnMut(Backlog)) -> Option<()> {
        rustix::io::write(self.0.as_fd(), &request(family, port)).ok()?;
        let mut buffer = vec![0u8; 32 * 1024];
        loop {
            let length = rustix::io::read(self.0.as_fd(), &mut buffer[..]).ok()?;
            if !understand(&buffer[..length], found)? {
                return Some(());
            }
        }
    }
}

fn request(family: u8, port: u16) -> [u8; REQUEST] {
    let mut bytes = [0u8; REQUEST];
    bytes[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    bytes[HEADER] = family;
    bytes[HEADER + 1] = libc::IPPROTO_TCP as u8;
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&LISTENING.to_ne_bytes());
    bytes[HEADER + 8..HEADER + 10].copy_from_slice(&port.to_be_bytes());
    bytes
}

/// Takes the messages of one datagram. Whether more are to come; `None` where the kernel would not tell.
fn understand(mut bytes: &[u8], found: &mut dyn FnMut(Backlog)) -> Option<bool> {
    while bytes.len() >= HEADER {
        let length = number(bytes, 0)? as usize;
        let kind = u16::from_ne_bytes([bytes[4], bytes[5]]);
        match kind {
            NLMSG_DONE => return Some(false),
            NLMSG_ERROR => return None,
            _ => {}
        }
        let body = bytes.get(HEADER..length)?;
        if body.len() >= MESSAGE {
            found(Backlog { waiting: number(body, RQUEUE)?.into(), most: number(body, WQUEUE)?.into() });
        }
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or_default();
    }
    Some(true)
}

fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at + 4)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::{TcpListener, TcpStream};

    #[test]
    fn the_kernel_tells_of_ports_that_are_listened_on() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let asker = Asker::new().unwrap();
        let none = asker.of_port(address.port()).unwrap();
        assert_eq!(none.waiting, 0);
        assert!(none.most > 0, "{none:?}");
        let _waiting = [TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap()];
        assert_eq!(asker.of_port(address.port()), Some(Backlog { waiting: 2, ..none }));
        let _accepted = listener.accept().unwrap();
        assert_eq!(asker.of_port(address.port()), Some(Backlog { waiting: 1, ..none }));
        drop(listener);
        assert_eq!(asker.of_port(address.port()), None);
    }

    #[test]
    fn damaged_answers_are_no_answers() {
        let mut seen = 0;
        for length in [0u32, 3, 16, 1000, u32::MAX] {
            let mut bytes = vec![0u8; 100];
            bytes[..4].copy_from_slice(&length.to_ne_bytes());
            bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
            assert!(length == 16 || understand(&bytes, &mut |_| seen += 1).is_none(), "{length}");
        }
        assert_eq!(seen, 0);
    }
}
