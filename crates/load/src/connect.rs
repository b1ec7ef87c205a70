//! Connects to a server, from several addresses if needed, and no faster than it accepts.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::time::{Duration, Instant};

use rustix::io::{Errno, retry_on_intr};
use rustix::net::{AddressFamily, SocketFlags, SocketType};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use super::backlog::{Backlog, Queue};

/// Most connections from one address to one port. Finding a free port takes longer the more are in use: 17 µs
/// of CPU at 12,000, 266 at 19,900 (Linux 6.18, net.ipv4.ip_local_port_range of 32768 to 60999).
const FROM_ONE_ADDRESS: usize = 12_000;
/// Descriptors besides the connections.
const OTHER_FILES: u64 = 16;
/// Share of the server's backlog that waiting connections may fill. Beyond the backlog (5 in Python's
/// http.server, 511 in nginx and Redis) the kernel drops connections, and a client retries only after a second.
const FILLED: f64 = 0.5;
const ROOM_TIMEOUT: Duration = Duration::from_millis(500);
const ROOM_PAUSE: Duration = Duration::from_micros(200);

/// Most connections made before the kernel is queried again. A query takes longer than a connection, and other
/// client processes connect meanwhile.
const ASKED_FOR_AT_ONCE: u64 = 32;

/// Waits until the server has accepted enough connections, as long as it accepts some. Returns how many may be made
/// now; 0 if it accepted none for a while.
pub(super) fn wait_for_room(backlog: &dyn Fn() -> Option<Backlog>) -> u64 {
    let (mut least, mut since) = (u64::MAX, Instant::now());
    while let Some(now) = backlog() {
        let most = ((now.most as f64 * FILLED).ceil() as u64).max(1);
        if now.waiting < most {
            return (most - now.waiting).min(ASKED_FOR_AT_ONCE);
        }
        if now.waiting < least {
            (least, since) = (now.waiting, Instant::now());
        } else if since.elapsed() >= ROOM_TIMEOUT {
            return 0;
        }
        std::thread::sleep(ROOM_PAUSE);
    }
    ASKED_FOR_AT_ONCE
}

/// Waits until the server has accepted all connections, as long as it accepts some within `patience`; runs `meanwhile`
/// repeatedly. Returns the number that it has not accepted.
pub(super) fn wait_for_accepts<E>(
    queue: &Queue,
    patience: Duration,
    mut meanwhile: impl FnMut() -> Result<(), E>,
) -> Result<u64, E> {
    let (mut least, mut since) = (u64::MAX, Instant::now());
    while let Some(Backlog { waiting, .. }) = queue.ask().filter(|now| now.waiting > 0) {
        if waiting < least {
            (least, since) = (waiting, Instant::now());
        } else if since.elapsed() >= patience {
            return Ok(waiting);
        }
        meanwhile()?;
    }
    Ok(0)
}

/// Raises the limit of open files to what this many connections need, or to the hard limit. Returns the number of
/// connections that it leaves room for.
pub fn room_for(connections: usize) -> usize {
    let wanted = connections as u64 + OTHER_FILES;
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let current = limit.maximum.map_or(wanted, |most| most.min(wanted));
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: limit.maximum });
    }
    let now = getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX);
    usize::try_from(now.saturating_sub(OTHER_FILES)).unwrap_or(usize::MAX)
}

/// Begins a nonblocking connection, from the source address of the client with this number, counted from 0.
pub(super) fn connect(address: SocketAddr, index: usize) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let flags = SocketFlags::NONBLOCK | SocketFlags::CLOEXEC;
    let socket = rustix::net::socket_with(family, SocketType::STREAM, flags, None)?;
    if let Some(from) = source(address, index) {
        // The port is chosen at connect, for the pair of addresses. Otherwise 28k connections in all exhaust
        // the ports.
        // SAFETY: a plain system call with a valid number and its size.
        unsafe {
            let on: libc::c_int = 1;
            let size = size_of_val(&on) as libc::socklen_t;
            let (level, option) = (libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
            libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), size);
        }
        rustix::net::bind(&socket, &SocketAddr::new(from, 0))?;
    }
    match retry_on_intr(|| rustix::net::connect(&socket, &address)) {
        Ok(()) | Err(Errno::INPROGRESS) => Ok(socket),
        Err(error) => Err(error),
    }
}

/// A client's source address on loopback: another one every `FROM_ONE_ADDRESS` clients, so ports do not run
/// out.
fn source(address: SocketAddr, index: usize) -> Option<IpAddr> {
    let of_loopback = matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback());
    let [high, low] = u16::try_from(index / FROM_ONE_ADDRESS).ok()?.to_be_bytes();
    (of_loopback && index >= FROM_ONE_ADDRESS).then(|| Ipv4Addr::new(127, 1, high, low).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn connections_in_flight_fit_the_accept_queue() {
        let room = |waiting, most| wait_for_room(&|| Some(Backlog { waiting, most }));
        // Half of the backlog, and at least one.
        assert_eq!((room(0, 5), room(2, 5), room(0, 1), room(0, 0)), (3, 1, 1, 1));
        assert_eq!((room(2_000, 4_096), room(2_040, 4_096), room(0, 4_096)), (32, 8, 32));
        assert_eq!((room(3, 5), room(2_048, 4_096)), (0, 0));
        // If the kernel does not report it.
        assert_eq!(wait_for_room(&|| None), 32);
    }

    /// Once the server has accepted some there is room again.
    #[test]
    fn connecting_waits_for_room_in_the_accept_queue() {
        let asked = std::cell::Cell::new(0);
        let backlog = || {
            asked.set(asked.get() + 1);
            Some(Backlog { waiting: if asked.get() < 4 { 5 } else { 1 }, most: 10 })
        };
        assert_eq!((wait_for_room(&backlog), asked.get()), (4, 4));
    }

    /// A slow server is waited for as long as it makes progress.
    #[test]
    fn late_accepts_are_not_counted_as_refused() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let queue = Queue::of(listener.local_addr().unwrap());
        // A connection is in the queue only after its handshake, which the kernel may do later.
        let await_queue = |waiting| {
            while queue.ask().unwrap().waiting < waiting {
                std::thread::yield_now();
            }
        };
        let _clients = [0, 1, 2].map(|nth| connect(listener.local_addr().unwrap(), nth).unwrap());
        await_queue(3);
        let mut accepted = Vec::new();
        let mut wait =
            |patience| wait_for_accepts(&queue, patience, || listener.accept().map(|one| accepted.push(one)));
        assert_eq!(wait(Duration::from_secs(30)).unwrap(), 0);
        assert_eq!(accepted.len(), 3);
        let _one_more = connect(listener.local_addr().unwrap(), 3).unwrap();
        await_queue(1);
        let nobody = || Ok::<(), ()>(());
        assert_eq!(wait_for_accepts(&queue, Duration::ZERO, nobody), Ok(1));
    }

    #[test]
    fn connections_use_enough_source_addresses() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // The second one comes from another address.
        let sockets = [0, FROM_ONE_ADDRESS].map(|index| connect(address, index).unwrap());
        let (_first, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), Ipv4Addr::LOCALHOST);
        let (_second, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), Ipv4Addr::new(127, 1, 0, 1));
        drop(sockets);
    }
}
