//! The server's side of connections on this machine, by the kernel's tables (netlink, sock_diag(7)): the length and
//! limit of the accept queue, and the number of accepted connections.
//!
//! The accept queue is queried often: that takes microseconds, as only listening sockets are walked. Connections are
//! counted once or twice per run: that walks all of them, 1 µs each.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, UdpSocket};
use std::os::fd::OwnedFd;

use rustix::net::{AddressFamily, SocketFlags, SocketType, netlink, socket_with};

// linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
const SOCK_DIAG_BY_FAMILY: u16 = 20;
const NLM_F_REQUEST_DUMP: u16 = 0x301;
const NLMSG_ERROR: u16 = 2;
const NLMSG_DONE: u16 = 3;
const HEADER: usize = 16;
const REQUEST: usize = HEADER + 56;
/// Offsets in `inet_diag_msg`.
const STATE: usize = 1;
const SOURCE: usize = 8;
/// For a listening socket, RQUEUE and WQUEUE are `sk_ack_backlog` and `sk_max_ack_backlog` (tcp_diag_get_info).
const RQUEUE: usize = 56;
const WQUEUE: usize = 60;
/// 0 if no process has the socket: it waits to be accepted, or its handshake is not over.
const INODE: usize = 68;
const MESSAGE: usize = 72;
// net/tcp_states.h
const ESTABLISHED: u8 = 1;
const TIME_WAIT: u8 = 6;
const LISTEN: u8 = 10;
const OF_CONNECTIONS: u32 = 0xfff & !(1 << LISTEN | 1 << TIME_WAIT);

/// The accept queue of a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Backlog {
    /// Connections that the kernel has made and the server has not yet accepted.
    pub waiting: u64,
    /// The limit of the queue; further connections are dropped.
    pub most: u64,
}

/// Connections of a server, on its side.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Connections {
    /// Established, and accepted by the server.
    pub accepted: u64,
    /// In any other state: not yet accepted (for a client they are connected; with TCP_DEFER_ACCEPT they may stay so),
    /// or closed by one side.
    pub others: u64,
}

/// Repeated queries of a server's sockets.
pub struct Queue {
    /// `None` if the server is on another machine, or the kernel gives no socket for queries.
    kernel: Option<OwnedFd>,
    address: SocketAddr,
}

impl Queue {
    pub fn of(address: SocketAddr) -> Queue {
        // Only addresses of this machine can be bound.
        let local = UdpSocket::bind((address.ip(), 0)).is_ok();
        let (family, kind) = (AddressFamily::NETLINK, SocketType::DGRAM);
        let socket = socket_with(family, kind, SocketFlags::CLOEXEC, Some(netlink::SOCK_DIAG));
        Queue { kernel: socket.ok().filter(|_| local), address: reached(address) }
    }

    /// The queues of all sockets that listen at the address, added up. `None` if there are none, the server is
    /// on another machine, or the kernel does not report it.
    pub fn ask(&self) -> Option<Backlog> {
        let mut found: Option<Backlog> = None;
        self.find_listeners(&mut |socket| {
            let sum = found.get_or_insert(Backlog { waiting: 0, most: 0 });
            sum.waiting += socket.rqueue;
            sum.most += socket.wqueue;
        })?;
        found
    }

    /// Inode numbers of the sockets that listen at the address, as /proc/PID/fd shows them; `None` if the server is on
    /// another machine, or the kernel does not report it.
    pub fn listeners(&self) -> Option<BTreeSet<u64>> {
        let mut found = Vec::new();
        self.find_listeners(&mut |socket| found.push((socket.source, u64::from(socket.inode))))?;
        // A socket of the other family may not accept these connections, even if it listens at all addresses.
        let same = |(source, _): &(IpAddr, u64)| source.is_ipv4() == self.address.is_ipv4();
        if found.iter().any(same) {
            found.retain(same);
        }
        Some(found.into_iter().map(|(_, inode)| inode).collect())
    }

    fn find_listeners(&self, found: &mut dyn FnMut(Socket)) -> Option<()> {
        self.query_kernel(1 << LISTEN, &mut |socket| {
            if socket.source == self.address.ip() || socket.source.is_unspecified() {
                found(socket);
            }
        })
    }

    /// Counts all connections to the address. `None` if the server is on another machine, or the kernel does
    /// not report it.
    pub fn connections(&self) -> Option<Connections> {
        let mut found = Connections::default();
        self.query_kernel(OF_CONNECTIONS, &mut |socket| {
            if socket.source == self.address.ip() {
                let accepted = socket.state == ESTABLISHED && socket.inode != 0;
                *(if accepted { &mut found.accepted } else { &mut found.others }) += 1;
            }
        })?;
        Some(found)
    }

    /// Finds the sockets of the server's port in these states.
    fn query_kernel(&self, states: u32, found: &mut dyn FnMut(Socket)) -> Option<()> {
        // A kernel may support these queries for only one of the families.
        let [v4, v6] = [libc::AF_INET, libc::AF_INET6].map(|family| self.query_family(family, states, found));
        v4.or(v6)
    }

    fn query_family(&self, family: i32, states: u32, found: &mut dyn FnMut(Socket)) -> Option<()> {
        let kernel = self.kernel.as_ref()?;
        rustix::io::write(kernel, &request(family as u8, self.address.port(), states)).ok()?;
        let mut buffer = vec![0u8; 32 * 1024];
        loop {
            let length = rustix::io::read(kernel, &mut buffer[..]).ok()?;
            if !understand(&buffer[..length], found)? {
                return Some(());
            }
        }
    }
}

/// The address that a connection to this one reaches: loopback if the address is unspecified.
fn reached(address: SocketAddr) -> SocketAddr {
    let ip = match address.ip().to_canonical() {
        IpAddr::V4(ip) if ip.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
        IpAddr::V6(ip) if ip.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
        ip => ip,
    };
    SocketAddr::new(ip, address.port())
}

/// The kernel's report on a socket.
struct Socket {
    state: u8,
    source: IpAddr,
    rqueue: u64,
    wqueue: u64,
    inode: u32,
}

impl Socket {
    fn parse(body: &[u8]) -> Option<Socket> {
        let source: [u8; 16] = body.get(SOURCE..SOURCE + 16)?.try_into().ok()?;
        let source = match *body.first()? as i32 {
            libc::AF_INET => IpAddr::from([source[0], source[1], source[2], source[3]]),
            // A dual-stack socket has IPv4 addresses mapped into IPv6.
            _ => IpAddr::from(source).to_canonical(),
        };
        Some(Socket {
            state: body[STATE],
            source,
            rqueue: number(body, RQUEUE)?.into(),
            wqueue: number(body, WQUEUE)?.into(),
            inode: number(body, INODE)?,
        })
    }
}

fn request(family: u8, port: u16, states: u32) -> [u8; REQUEST] {
    let mut bytes = [0u8; REQUEST];
    bytes[..4].copy_from_slice(&(REQUEST as u32).to_ne_bytes());
    bytes[4..6].copy_from_slice(&SOCK_DIAG_BY_FAMILY.to_ne_bytes());
    bytes[6..8].copy_from_slice(&NLM_F_REQUEST_DUMP.to_ne_bytes());
    bytes[HEADER] = family;
    bytes[HEADER + 1] = libc::IPPROTO_TCP as u8;
    bytes[HEADER + 4..HEADER + 8].copy_from_slice(&states.to_ne_bytes());
    bytes[HEADER + 8..HEADER + 10].copy_from_slice(&port.to_be_bytes());
    bytes
}

/// Parses one datagram. Returns whether more follow, or `None` on an error or a malformed message.
fn understand(mut bytes: &[u8], found: &mut dyn FnMut(Socket)) -> Option<bool> {
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
            found(Socket::parse(body)?);
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
    fn waiting_and_accepted_connections_are_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let server = Queue::of(address);
        let none = server.ask().unwrap();
        assert_eq!((none.waiting, server.connections()), (0, Some(Connections::default())));
        assert!(none.most > 0, "{none:?}");
        let _clients = [TcpStream::connect(address).unwrap(), TcpStream::connect(address).unwrap()];
        let seen = |waiting, accepted, others| {
            assert_eq!(server.ask(), Some(Backlog { waiting, ..none }));
            assert_eq!(server.connections(), Some(Connections { accepted, others }));
        };
        seen(2, 0, 2);
        let first = listener.accept().unwrap();
        seen(1, 1, 1);
        let _second = listener.accept().unwrap();
        seen(0, 2, 0);
        // Closed by the server, while the client still has it.
        drop(first);
        seen(0, 1, 1);
        assert_eq!(server.listeners().map(|inodes| inodes.len()), Some(1));
        drop(listener);
        assert_eq!((server.ask(), server.listeners()), (None, Some(BTreeSet::new())));
    }

    #[test]
    fn servers_at_other_addresses_are_not_counted() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let _client = TcpStream::connect(address).unwrap();
        let at = |ip: &str| Queue::of(SocketAddr::new(ip.parse().unwrap(), address.port()));
        assert_eq!(
            (at("127.0.0.2").ask(), at("127.0.0.2").connections()),
            (None, Some(Connections::default()))
        );
        assert_eq!((at("198.51.100.1").ask(), at("198.51.100.1").connections()), (None, None));
        let any = Queue::of(SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), address.port()));
        assert_eq!(any.connections(), Some(Connections { accepted: 0, others: 1 }));
    }

    #[test]
    fn dual_stack_sockets_are_found_by_both_addresses() {
        let Ok(listener) = TcpListener::bind("[::]:0") else { return };
        let address: SocketAddr = ([127, 0, 0, 1], listener.local_addr().unwrap().port()).into();
        let Ok(_client) = TcpStream::connect(address) else { return };
        let server = Queue::of(address);
        assert_eq!(server.ask().map(|backlog| backlog.waiting), Some(1));
        let _accepted = listener.accept().unwrap();
        assert_eq!(server.connections(), Some(Connections { accepted: 1, others: 0 }));
    }

    #[test]
    fn damaged_netlink_answers_are_ignored() {
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
