//! Pairs of sockets with unread data, which is kernel memory.

use std::fs::File;
use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::OwnedFd;
use std::os::unix::net::UnixStream;
use std::time::Duration;

use rustix::net::sockopt::{set_socket_recv_buffer_size, set_socket_send_buffer_size};
use taskscale_load::room_for;

/// Requested buffer size at both ends, in bytes (the kernel doubles it), to bound the data in a pair.
const BUFFER_BYTES: usize = 64 * 1024;

type Pairs = Vec<(OwnedFd, OwnedFd)>;

/// Opens and fills pairs. Returns them and the bytes written.
pub fn fill(tcp_pairs: u64, unix_pairs: u64) -> io::Result<(Pairs, u64)> {
    room_for(2 * (tcp_pairs + unix_pairs) as usize + 64);
    let mut pairs = Pairs::new();
    if tcp_pairs > 0 {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        for _ in 0..tcp_pairs {
            let from = TcpStream::connect(listener.local_addr()?)?;
            pairs.push((from.into(), listener.accept()?.0.into()));
        }
    }
    for _ in 0..unix_pairs {
        let (from, to) = UnixStream::pair()?;
        pairs.push((from.into(), to.into()));
    }
    let mut queued_bytes = 0;
    for (from, to) in &pairs {
        set_socket_send_buffer_size(from, BUFFER_BYTES)?;
        set_socket_recv_buffer_size(to, BUFFER_BYTES)?;
        rustix::io::ioctl_fionbio(from, true)?;
        queued_bytes += write_until_full(File::from(from.try_clone()?))?;
    }
    Ok((pairs, queued_bytes))
}

/// Writes until refused twice, with time for the kernel in between. Returns the bytes written.
fn write_until_full(mut socket: impl Write) -> io::Result<u64> {
    static PART: [u8; 4096] = [b's'; 4096];
    let (mut written, mut refusals) = (0, 0);
    while refusals < 2 {
        match socket.write(&PART) {
            Ok(bytes) => {
                written += bytes as u64;
                refusals = 0;
            }
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                refusals += 1;
                std::thread::sleep(Duration::from_millis(1));
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(written)
}

/// Accepts connections and keeps them open until this process ends. Those beyond `most` are closed at once.
pub fn listen(address: SocketAddr, most: Option<u64>) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let mut held = Vec::new();
        for connection in listener.incoming().flatten() {
            if most.is_none_or(|most| (held.len() as u64) < most) {
                held.push(connection);
            }
        }
    })?;
    Ok(())
}
