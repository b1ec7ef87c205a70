//! One tokio task per connection, sending back what comes, on the multi-threaded runtime.

use std::env;
use std::ffi::OsString;
use std::net::SocketAddr;
use std::num::NonZero;
use std::process::ExitCode;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

#[tokio::main]
async fn main() -> io::Result<ExitCode> {
    let Some(address) = arguments() else {
        eprintln!(
            "usage: tokio-spawn-echo <tasks> --listen <host>:<port>: a whole number, at least one task"
        );
        return Ok(ExitCode::from(2));
    };
    // Not `TcpListener::bind`, which lets 128 connections wait, fewer than come at once.
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    let listener = socket.listen(4096)?;
    println!("listening {}", listener.local_addr()?.port());

    loop {
        let (stream, _) = listener.accept().await?;
        tokio::spawn(task(stream));
    }
}

async fn task(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer).await?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length]).await?;
    }
}

fn arguments() -> Option<SocketAddr> {
    let args: Vec<OsString> = env::args_os().skip(1).collect();
    let [tasks, name, address] = args.as_slice() else {
        return None;
    };
    // Nothing has to be sized beforehand.
    let _tasks: NonZero<u32> = tasks.to_str()?.parse().ok()?;
    if name != "--listen" {
        return None;
    }
    address.to_str()?.parse().ok()
}
