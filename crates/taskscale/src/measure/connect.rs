//! Clients that do nothing but hold a connection: what a server's idle connections cost is measured with these.
//!
//! taskscale starts itself anew as `taskscale __connect ADDRESS N` in a control group apart from the server's. It speaks
//! the protocol: `alive K` once all N are connected, K being those that the server has accepted and not closed.

mod backlog;

use std::io::{self, Write};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::io::Errno;
use rustix::net::{AddressFamily, RecvFlags, SocketType};
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use self::backlog::{Asker, Backlog};

/// The first argument that makes taskscale hold connections.
pub const CONNECT_ARGUMENT: &str = "__connect";

/// Connections from one address to one port: below the ports that net.ipv4.ip_local_port_range leaves by default
/// (32768 to 60999).
const FROM_ONE_ADDRESS: usize = 20_000;
/// Descriptors besides the connections.
const OTHER_FILES: u64 = 16;
/// How long a server may take to accept what was connected.
const PATIENCE: Duration = Duration::from_secs(30);
const PAUSE: Duration = Duration::from_millis(50);
/// Beyond a server's backlog (5 in Python's http.server, 511 in nginx and Redis) the kernel drops what comes, and a
/// client tries again after a second: so of those that may wait only this share does, unless the server takes its time.
const FILLED: f64 = 0.5;
const ROOM_PATIENCE: Duration = Duration::from_millis(500);
const ROOM_PAUSE: Duration = Duration::from_micros(200);

/// The whole life of these clients: until a signal ends it.
pub fn connect_main() -> ExitCode {
    let mut args = std::env::args().skip(2);
    let (address, count) = (args.next(), args.next());
    let parsed = address.and_then(|a| a.parse::<SocketAddr>().ok()).zip(count.and_then(|n| n.parse().ok()));
    let Some((address, count)) = parsed else {
        eprintln!("usage: taskscale {CONNECT_ARGUMENT} ADDRESS:PORT N");
        return ExitCode::from(2);
    };
    match hold(address, count) {
        Ok(never) => match never {},
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn hold(address: SocketAddr, count: usize) -> Result<std::convert::Infallible, String> {
    raise_file_limit(count as u64 + OTHER_FILES);
    let mut open = Vec::with_capacity(count);
    // Where the kernel will not tell, or the server is far, connections are made as they come.
    let asker = Asker::new().ok();
    let backlog = || asker.as_ref()?.of_port(address.port());
    for index in 0..count {
        wait_for_room(&backlog);
        let connected = connect(address, index);
        open.push(connected.map_err(|error| {
            format!(
                "cannot make connection {} of {count} to {address}: {}",
                index + 1,
                io::Error::from(error)
            )
        })?);
    }
    let deadline = Instant::now() + PATIENCE;
    let waiting = loop {
        std::thread::sleep(PAUSE);
        open.retain(is_open);
        match backlog().map_or(0, |backlog| backlog.waiting) {
            waiting if waiting > 0 && Instant::now() < deadline => {}
            waiting => break waiting,
        }
    };
    // One that is refused after it was accepted is closed a moment later.
    std::thread::sleep(2 * PAUSE);
    open.retain(is_open);
    let said = writeln!(io::stdout(), "alive {}", (open.len() as u64).saturating_sub(waiting));
    said.map_err(|error| error.to_string())?;
    loop {
        std::thread::park();
    }
}

fn wait_for_room(backlog: &dyn Fn() -> Option<Backlog>) {
    let since = Instant::now();
    while backlog().is_some_and(|now| now.waiting as f64 >= (now.most as f64 * FILLED).max(1.0))
        && since.elapsed() < ROOM_PATIENCE
    {
        std::thread::sleep(ROOM_PAUSE);
    }
}

/// Up to what the hard limit allows; connecting tells where that is too little.
fn raise_file_limit(wanted: u64) {
    let limit = getrlimit(Resource::Nofile);
    if limit.current.is_some_and(|current| current < wanted) {
        let current = limit.maximum.map_or(wanted, |most| most.min(wanted));
        let _ = setrlimit(Resource::Nofile, Rlimit { current: Some(current), maximum: limit.maximum });
    }
}

fn connect(address: SocketAddr, index: usize) -> Result<OwnedFd, Errno> {
    let family = if address.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
    let socket = rustix::net::socket(family, SocketType::STREAM, None)?;
    if let Some(from) = source(address, index) {
        // The port is found at connect, for the pair of addresses: otherwise ports end after 28 k in all.
        // SAFETY: a plain system call with a valid number of the size that is said.
        unsafe {
            let on: libc::c_int = 1;
            let size = size_of_val(&on) as libc::socklen_t;
            let (level, option) = (libc::IPPROTO_IP, libc::IP_BIND_ADDRESS_NO_PORT);
            libc::setsockopt(socket.as_raw_fd(), level, option, (&raw const on).cast(), size);
        }
        rustix::net::bind(&socket, &SocketAddr::new(from, 0))?;
    }
    loop {
        match rustix::net::connect(&socket, &address) {
            Err(Errno::INTR) => {}
            result => return result.map(|()| socket),
        }
    }
}

/// A machine has 16 million addresses of its own: with another one for every so many, ports do not end.
fn source(address: SocketAddr, index: usize) -> Option<IpAddr> {
    let of_loopback = matches!(address.ip(), IpAddr::V4(ip) if ip.is_loopback());
    let nth = (index / FROM_ONE_ADDRESS) as u8;
    (of_loopback && nth > 0).then(|| Ipv4Addr::new(127, 0, 1, nth).into())
}

/// Whether the server has not closed it. What it says is taken and let go.
fn is_open(socket: &OwnedFd) -> bool {
    let mut buffer = [0u8; 4096];
    loop {
        match rustix::net::recv(socket, &mut buffer[..], RecvFlags::DONTWAIT) {
            Ok((0, _)) => return false,
            Ok(_) | Err(Errno::INTR) => {}
            Err(error) => return error == Errno::AGAIN,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::net::TcpListener;

    #[test]
    fn connections_are_open_until_the_server_closes_them() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        // The second one comes from another address.
        let sockets = [0, FROM_ONE_ADDRESS].map(|index| connect(address, index).unwrap());
        let (first, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), Ipv4Addr::LOCALHOST);
        let (_second, from) = listener.accept().unwrap();
        assert_eq!(from.ip(), Ipv4Addr::new(127, 0, 1, 1));
        assert!(sockets.iter().all(is_open));
        drop(first);
        let deadline = Instant::now() + Duration::from_secs(10);
        while is_open(&sockets[0]) {
            assert!(Instant::now() < deadline, "a connection that was closed is seen to be");
        }
        assert!(is_open(&sockets[1]));
    }
}
