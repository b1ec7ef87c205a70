//! A chat over WebSocket with two OS threads per connection: one reads from it, one writes what is queued for it.

use std::collections::HashMap;
use std::io::{self, BufWriter, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, RwLock};
use std::{env, thread};

use socket2::SockRef;
use tungstenite::protocol::frame::Frame;
use tungstenite::protocol::frame::coding::{CloseCode, Data, OpCode};
use tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tungstenite::{Error, Message, Utf8Bytes, accept_with_config};

/// The most frames that wait for one member.
const QUEUE: usize = 256;
const MAX_MESSAGE: usize = 64 << 10;

/// The bytes of a frame, shared by the queues of a room.
type Bytes = Arc<[u8]>;

struct Member {
    stream: Arc<TcpStream>,
    queue: SyncSender<Bytes>,
}

impl Member {
    /// Never blocks: a member that lets its queue fill up is disconnected.
    fn send(&self, frame: Bytes) {
        if self.queue.try_send(frame).is_err() {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }
}

/// The stream of tungstenite, which replies to pings and closes itself: the replies are queued, too.
struct Connection(Arc<Member>);

impl Read for Connection {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        (&*self.0.stream).read(buffer)
    }
}

impl Write for Connection {
    fn write(&mut self, frame: &[u8]) -> io::Result<usize> {
        self.0.send(frame.into());
        Ok(frame.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[derive(Default)]
struct Rooms(RwLock<HashMap<String, HashMap<SocketAddr, Arc<Member>>>>);

impl Rooms {
    fn join(&self, name: &str, peer: SocketAddr, member: &Arc<Member>) {
        let mut rooms = self.0.write().unwrap();
        member.send(frame(format!("joined {name}")));
        rooms.entry(name.to_owned()).or_default().insert(peer, Arc::clone(member));
    }

    fn leave(&self, name: &str, peer: SocketAddr) {
        let mut rooms = self.0.write().unwrap();
        if let Some(room) = rooms.get_mut(name) {
            room.remove(&peer);
            if room.is_empty() {
                rooms.remove(name);
            }
        }
    }

    fn say(&self, name: &str, text: &str) {
        let frame = frame(text.to_owned());
        for member in self.0.read().unwrap()[name].values() {
            member.send(Arc::clone(&frame));
        }
    }
}

fn main() -> io::Result<()> {
    let args: Vec<String> = env::args().collect();
    let _tasks: u32 = args[1].parse().unwrap();
    let listener = TcpListener::bind(&args[3])?;
    SockRef::from(&listener).listen(4096)?; // std's backlog is 128
    println!("listening {}", listener.local_addr()?.port());

    let rooms = Arc::new(Rooms::default());
    loop {
        let (stream, peer) = listener.accept()?;
        let stream = Arc::new(stream);
        let (sender, queue) = sync_channel(QUEUE);
        let member = Member { stream: Arc::clone(&stream), queue: sender };
        let rooms = Arc::clone(&rooms);
        thread::spawn(move || write_queued(&stream, queue));
        thread::spawn(move || read(Arc::new(member), peer, &rooms));
    }
}

/// Ends when the queue has no sender left, or the connection is closed.
fn write_queued(stream: &TcpStream, queue: Receiver<Bytes>) -> io::Result<()> {
    let mut writer = BufWriter::new(stream);
    while let Ok(frame) = queue.recv() {
        writer.write_all(&frame)?;
        // Whatever else is queued by now goes out in the same write.
        for frame in queue.try_iter() {
            writer.write_all(&frame)?;
        }
        writer.flush()?;
    }
    Ok(())
}

fn read(member: Arc<Member>, peer: SocketAddr, rooms: &Rooms) -> tungstenite::Result<()> {
    member.stream.set_nodelay(true)?;
    let config = WebSocketConfig::default()
        // tungstenite zeroes its read buffer, 128 KiB by default, for every connection.
        .read_buffer_size(4 << 10)
        .max_frame_size(Some(MAX_MESSAGE))
        .max_message_size(Some(MAX_MESSAGE));
    let Ok(mut socket) = accept_with_config(Connection(Arc::clone(&member)), Some(config)) else {
        return Ok(());
    };

    let mut room: Option<String> = None;
    let end = loop {
        match socket.read() {
            Ok(Message::Text(text)) => {
                if let Some(name) = text.strip_prefix("join ") {
                    if let Some(left) = room.replace(name.to_owned()) {
                        rooms.leave(&left, peer);
                    }
                    rooms.join(name, peer, &member);
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
        rooms.leave(&name, peer);
    }
    socket.close(Some(CloseFrame { code: end?, reason: Utf8Bytes::default() }))
}

fn frame(text: String) -> Bytes {
    let mut bytes = Vec::with_capacity(text.len() + 10);
    let frame = Frame::message(text, OpCode::Data(Data::Text), true);
    frame.format(&mut bytes).expect("writing to a Vec does not fail");
    bytes.into()
}
