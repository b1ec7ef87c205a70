//! One operating system thread per connection of a chat over WebSocket.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::io::{self, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use socket2::SockRef;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tungstenite::{Error, Message, Utf8Bytes, accept_with_config};

/// How long a speaker waits for a member who does not read, once the kernel holds as much for it as it likes to.
const PATIENCE: Duration = Duration::from_millis(250);
const LARGEST_MESSAGE: usize = 64 << 10;

/// Read by its own thread, and written by the threads of all who speak in its room.
struct Member {
    stream: TcpStream,
    /// Held while writing.
    turn: Mutex<()>,
}

impl Member {
    fn send(&self, frames: &[u8]) -> io::Result<()> {
        let _turn = self.turn.lock().unwrap();
        self.send_in_turn(frames)
    }

    /// Cuts the member off if it does not take all of it.
    fn send_in_turn(&self, frames: &[u8]) -> io::Result<()> {
        // One call, as the timeout would begin anew with each.
        let sent = (&self.stream).write(frames);
        if sent.is_ok_and(|length| length == frames.len()) {
            return Ok(());
        }
        // Its own thread, which waits for it to say something, then ends.
        let _ = self.stream.shutdown(Shutdown::Both);
        Err(io::ErrorKind::TimedOut.into())
    }
}

/// What tungstenite reads from, and writes its answers to pings and closes to.
struct Connection(Arc<Member>);

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&self.0.stream).read(buffer)
    }
}

impl Write for Connection {
    fn write(&mut self, frames: &[u8]) -> io::Result<usize> {
        self.0.send(frames)?;
        Ok(frames.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The members of a room are behind an `Arc`, so that nobody waits for a lock until a speaker is through with them.
#[derive(Default)]
struct Rooms(RwLock<HashMap<String, Arc<Vec<Arc<Member>>>>>);

impl Rooms {
    fn join(&self, name: &str, member: &Arc<Member>) -> io::Result<()> {
        // What is said in the room from now on comes behind the answer.
        let _turn = member.turn.lock().unwrap();
        let mut rooms = self.0.write().unwrap();
        Arc::make_mut(rooms.entry(name.to_owned()).or_default()).push(Arc::clone(member));
        drop(rooms);
        member.send_in_turn(&frame(&format!("joined {name}")))
    }

    fn leave(&self, name: &str, member: &Arc<Member>) {
        let mut rooms = self.0.write().unwrap();
        if let Some(room) = rooms.get_mut(name) {
            Arc::make_mut(room).retain(|other| !Arc::ptr_eq(other, member));
            if room.is_empty() {
                rooms.remove(name);
            }
        }
    }

    fn say(&self, name: &str, text: &str) {
        let frame = frame(text);
        let room = Arc::clone(&self.0.read().unwrap()[name]);
        for member in room.iter() {
            // Who cannot be written to is taken out of the room by its own thread.
            let _ = member.send(&frame);
        }
    }
}

fn main() -> io::Result<ExitCode> {
    let Some(address) = arguments() else {
        eprintln!("usage: thread-chat <tasks> --listen <host>:<port>: a whole number, at least one task");
        return Ok(ExitCode::from(2));
    };
    let listener = TcpListener::bind(address)?;
    // std lets 128 connections wait, fewer than come at once.
    SockRef::from(&listener).listen(4096)?;
    println!("listening {}", listener.local_addr()?.port());

    let rooms = Arc::new(Rooms::default());
    loop {
        let (stream, _) = listener.accept()?;
        let rooms = Arc::clone(&rooms);
        // Not `thread::spawn`, which panics when the system refuses a thread.
        thread::Builder::new().spawn(move || task(stream, &rooms))?;
    }
}

fn task(stream: TcpStream, rooms: &Rooms) -> tungstenite::Result<()> {
    stream.set_nodelay(true)?;
    stream.set_write_timeout(Some(PATIENCE))?;
    let member = Arc::new(Member { stream, turn: Mutex::new(()) });
    let config = WebSocketConfig::default()
        // The default of 128 KiB would be cleared, and so be used, for every connection.
        .read_buffer_size(4 << 10)
        .max_frame_size(Some(LARGEST_MESSAGE))
        .max_message_size(Some(LARGEST_MESSAGE));
    let Ok(mut socket) = accept_with_config(Connection(Arc::clone(&member)), Some(config)) else {
        return Ok(());
    };

    let mut room: Option<String> = None;
    let end = loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if let Some(name) = text.strip_prefix("join ") {
                    if let Some(left) = room.replace(name.to_owned()) {
                        rooms.leave(&left, &member);
                    }
                    // An error shows when it is read from.
                    let _ = rooms.join(name, &member);
                } else if let (Some(said), Some(name)) = (text.strip_prefix("say "), &room) {
                    rooms.say(name, said);
                } else {
                    break Ok(CloseCode::Policy);
                }
            }
            Ok(Message::Binary(_)) => break Ok(CloseCode::Unsupported),
            Ok(_) => {}
            Err(Error::Capacity(_)) => break Ok(CloseCode::Size),
            Err(Error::Protocol(_)) => break Ok(CloseCode::Protocol),
            Err(Error::Utf8(_)) => break Ok(CloseCode::Invalid),
            Err(error) => break Err(error),
        }
    };
    if let Some(name) = room {
        rooms.leave(&name, &member);
    }
    socket.close(Some(CloseFrame { code: end?, reason: Utf8Bytes::default() }))
}

fn frame(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len() + 10);
    let frame = Frame::message(text.to_owned(), OpCode::Data(Data::Text), true);
    frame.format(&mut bytes).expect("a vector takes what is written to it");
    bytes
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
