//! A port for a server that is started later.

use std::net::{IpAddr, SocketAddr};
use std::os::fd::OwnedFd;

use rustix::net::sockopt::set_socket_reuseaddr;
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, getsockname, socket_with};

/// A port that the kernel gives to no other program. It is bound, but does not listen, so that a server that sets
/// `SO_REUSEADDR`, as most do, can listen there.
pub struct ReservedPort {
    pub number: u16,
    _socket: OwnedFd,
}

impl ReservedPort {
    pub fn at(ip: IpAddr) -> ReservedPort {
        let family = if ip.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::STREAM, SocketFlags::CLOEXEC, None).expect("a socket");
        set_socket_reuseaddr(&socket, true).expect("an option of a socket");
        bind(&socket, &SocketAddr::new(ip, 0)).expect("a port");
        let address = getsockname(&socket).expect("an address");
        let address = SocketAddr::try_from(address).expect("an internet address");
        ReservedPort { number: address.port(), _socket: socket }
    }

    pub fn on_loopback() -> ReservedPort {
        ReservedPort::at(IpAddr::from([127, 0, 0, 1]))
    }
}
