//! Pairs of sockets with data that nobody reads: memory of the kernel.

use std::io::{self, ErrorKind, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::time::Duration;

/// Asked for in both directions (the kernel doubles it), so that a pair holds a bounded amount.
static BUFFER_BYTES: libc::c_int = 64 * 1024;

/// The open pairs and the bytes written into them.
pub struct Sockets {
    _open: Vec<OwnedFd>,
    pub queued_bytes: u64,
}

pub fn fill(tcp_pairs: u64, unix_pairs: u64) -> io::Result<Sockets> {
    allow_descriptors(2 * (tcp_pairs + unix_pairs) + 64);
    let mut sockets = Sockets { _open: Vec::new(), queued_bytes: 0 };
    if tcp_pairs > 0 {
        let listener = TcpListener::bind(("127.0.0.1", 0))?;
        for _ in 0..tcp_pairs {
            let from = TcpStream::connect(listener.local_addr()?)?;
            let (to, _) = listener.accept()?;
            bound(&from, libc::SO_SNDBUF)?;
            bound(&to, libc::SO_RCVBUF)?;
            from.set_nonblocking(true)?;
            sockets.queued_bytes += write_until_full(&from)?;
            sockets._open.extend([OwnedFd::from(from), OwnedFd::from(to)]);
        }
    }
    for _ in 0..unix_pairs {
        let (from, to) = UnixStream::pair()?;
        bound(&from, libc::SO_SNDBUF)?;
        from.set_nonblocking(true)?;
        sockets.queued_bytes += write_until_full(&from)?;
        sockets._open.extend([OwnedFd::from(from), OwnedFd::from(to)]);
    }
    Ok(sockets)
}

/// Full means twice in a row, with time for the peer's kernel side in between.
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

fn bound(socket: &impl AsRawFd, option: libc::c_int) -> io::Result<()> {
    // SAFETY: the option is an int, and the pointer and length are of one.
    let result = unsafe {
        libc::setsockopt(
            socket.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw const BUFFER_BYTES).cast(),
            size_of::<libc::c_int>() as libc::socklen_t,
        )
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(())
}

/// Raises the soft limit as far as needed and allowed; opening says what is still missing.
pub fn allow_descriptors(count: u64) {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: reads and writes `limit` only.
    unsafe {
        if libc::getrlimit(libc::RLIMIT_NOFILE, &mut limit) == 0 && limit.rlim_cur < count {
            limit.rlim_cur = count.min(limit.rlim_max);
            libc::setrlimit(libc::RLIMIT_NOFILE, &limit);
        }
    }
}

/// Takes connections and holds them until this process ends; those beyond `most` are closed at once.
pub fn listen(address: SocketAddr, most: u64) -> io::Result<()> {
    let listener = TcpListener::bind(address)?;
    std::thread::Builder::new().stack_size(64 * 1024).spawn(move || {
        let mut held = Vec::new();
        for connection in listener.incoming().flatten() {
            if (held.len() as u64) < most {
                held.push(connection);
            }
        }
    })?;
    Ok(())
}
