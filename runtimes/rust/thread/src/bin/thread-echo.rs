//! One operating system thread per connection, sending back what comes.

use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::num::NonZero;
use std::process::ExitCode;
use std::thread;

use socket2::SockRef;

fn main() -> io::Result<ExitCode> {
    let Some(address) = arguments() else {
        eprintln!("usage: thread-echo <tasks> --listen <host>:<port>: a whole number, at least one task");
        return Ok(ExitCode::from(2));
    };
    let listener = TcpListener::bind(address)?;
    // std lets 128 connections wait, fewer than come at once.
    SockRef::from(&listener).listen(4096)?;
    println!("listening {}", listener.local_addr()?.port());

    loop {
        let (stream, _) = listener.accept()?;
        // Not `thread::spawn`, which panics when the system refuses a thread.
        thread::Builder::new().spawn(move || task(stream))?;
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
