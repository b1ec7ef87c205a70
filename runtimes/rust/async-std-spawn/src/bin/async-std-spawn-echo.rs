//! One async-std task per connection, echoing what it reads.

use std::env;
use std::net::SocketAddr;

use async_std::io;
use async_std::net::{TcpListener, TcpStream};
use async_std::prelude::*;
use async_std::task;
use socket2::{Domain, Socket, Type};

#[async_std::main]
async fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let _tasks: u32 = args[1].parse().unwrap();
    // Not `TcpListener::bind`, whose backlog is 128.
    let address: SocketAddr = args[3].parse().unwrap();
    let socket = Socket::new(Domain::IPV4, Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.bind(&address.into())?;
    socket.listen(4096)?;
    let listener = TcpListener::from(std::net::TcpListener::from(socket));
    println!("listening {}", listener.local_addr()?.port());

    loop {
        let (stream, _) = listener.accept().await?;
        task::spawn(echo(stream));
    }
}

async fn echo(mut stream: TcpStream) -> io::Result<()> {
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
