//! One OS thread per connection, echoing what it reads.

use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::{env, thread};

use socket2::SockRef;

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let _tasks: u32 = args[1].parse().unwrap();
    let listener = TcpListener::bind(&args[3])?;
    SockRef::from(&listener).listen(4096)?; // std's backlog is 128
    println!("listening {}", listener.local_addr()?.port());

    loop {
        let (stream, _) = listener.accept()?;
        thread::spawn(move || task(stream));
    }
}

fn task(mut stream: TcpStream) -> io::Result<()> {
    stream.set_nodelay(true)?;
    let mut buffer = [0; 4096];
    loop {
        let length = stream.read(&mut buffer)?;
        if length == 0 {
            return Ok(());
        }
        stream.write_all(&buffer[..length])?;
    }
}
