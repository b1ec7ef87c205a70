//! A chat over WebSocket with two async-std tasks per connection: one reads from it, one writes what is queued for it.

use std::collections::HashMap;
use std::net::{Shutdown, SocketAddr};
use std::sync::{Arc, RwLock};
use std::{env, io};

use async_std::channel::{self, Receiver, Sender};
use async_std::net::{TcpListener, TcpStream};
use async_std::stream::StreamExt;
use async_std::task;
use async_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use async_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use async_tungstenite::tungstenite::{Error, Message, Utf8Bytes};
use async_tungstenite::{WebSocketSender, accept_async_with_config};
use futures_util::SinkExt;
use socket2::{Domain, Socket, Type};

/// The most messages that wait for one member.
const QUEUE: usize = 256;
const MAX_MESSAGE: usize = 64 << 10;

struct Member {
    stream: TcpStream,
    queue: Sender<Utf8Bytes>,
}

impl Member {
    /// Never waits: a member that lets its queue fill up is disconnected.
    fn send(&self, text: Utf8Bytes) {
        if self.queue.try_send(text).is_err() {
            let _ = self.stream.shutdown(Shutdown::Both);
        }
    }
}

#[derive(Default)]
struct Rooms(RwLock<HashMap<String, HashMap<SocketAddr, Arc<Member>>>>);

impl Rooms {
    fn join(&self, name: &str, peer: SocketAddr, member: &Arc<Member>) {
        let mut rooms = self.0.write().unwrap();
        member.send(format!("joined {name}").into());
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
        let text = Utf8Bytes::from(text);
        for member in self.0.read().unwrap()[name].values() {
            member.send(text.clone());
        }
    }
}

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

    let rooms = Arc::new(Rooms::default());
    loop {
        let (stream, peer) = listener.accept().await?;
        task::spawn(read(stream, peer, Arc::clone(&rooms)));
    }
}

/// Returns the socket when the queue is closed and empty.
async fn write_queued(
    mut socket: WebSocketSender<TcpStream>,
    queue: Receiver<Utf8Bytes>,
) -> Result<WebSocketSender<TcpStream>, Error> {
    while let Ok(text) = queue.recv().await {
        socket.feed(Message::Text(text)).await?;
        // Whatever else is queued by now goes out in the same write.
        while let Ok(text) = queue.try_recv() {
            socket.feed(Message::Text(text)).await?;
        }
        socket.flush().await?;
    }
    Ok(socket)
}

async fn read(stream: TcpStream, peer: SocketAddr, rooms: Arc<Rooms>) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    let config = WebSocketConfig::default()
        // tungstenite zeroes its read buffer, 128 KiB by default, for every connection.
        .read_buffer_size(4 << 10)
        .max_frame_size(Some(MAX_MESSAGE))
        .max_message_size(Some(MAX_MESSAGE));
    let (writer, mut socket) = accept_async_with_config(stream.clone(), Some(config)).await?.split();
    let (sender, queue) = channel::bounded(QUEUE);
    let writer = task::spawn(write_queued(writer, queue));
    let member = Arc::new(Member { stream, queue: sender });

    let mut room: Option<String> = None;
    let end = loop {
        match socket.next().await {
            Some(Ok(Message::Text(text))) => {
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
            Some(Ok(Message::Binary(_))) => break Ok(CloseCode::Unsupported),
            Some(Ok(_)) => {}
            Some(Err(Error::Capacity(_))) => break Ok(CloseCode::Size),
            Some(Err(Error::Protocol(_))) => break Ok(CloseCode::Protocol),
            Some(Err(Error::Utf8(_))) => break Ok(CloseCode::Invalid),
            Some(Err(error)) => break Err(error),
            None => break Err(Error::ConnectionClosed),
        }
    };
    if let Some(name) = room {
        rooms.leave(&name, peer);
    }
    drop(member); // the last to hold the queue's sender
    writer.await?.close(Some(CloseFrame { code: end?, reason: Utf8Bytes::default() })).await
}
