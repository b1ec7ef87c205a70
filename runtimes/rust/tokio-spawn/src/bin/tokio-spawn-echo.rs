//! One tokio task per connection, echoing what it reads, on the multi-threaded runtime.

use std::env;

use tokio::io::{self, AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio_spawn as _; // the allocator

#[tokio::main]
async fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let _tasks: u32 = args[1].parse().unwrap();
    // Not `TcpListener::bind`, whose backlog is 128.
    let socket = TcpSocket::new_v4()?;
    socket.set_reuseaddr(true)?;
    socket.bind(args[3].parse().unwrap())?;
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
