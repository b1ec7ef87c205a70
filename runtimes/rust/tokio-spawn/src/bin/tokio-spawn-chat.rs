//! One tokio task per connection of a chat over WebSocket, on the multi-threaded runtime.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, RwLock};
use std::{env, io};

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::select;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_spawn as _; // the allocator
use tokio_tungstenite::accept_async_with_config;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

/// The most messages that wait for one member.
const QUEUE: usize = 256;
const MAX_MESSAGE: usize = 64 << 10;

struct Member {
    queue: Sender<Utf8Bytes>,
    disconnect: Notify,
}

impl Member {
    /// Never waits: a member that lets its queue fill up is disconnected.
    fn send(&self, text: Utf8Bytes) {
        if self.queue.try_send(text).is_err() {
            self.disconnect.notify_one();
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

    let rooms = Arc::new(Rooms::default());
    loop {
        let (stream, peer) = listener.accept().await?;
        tokio::spawn(task(stream, peer, Arc::clone(&rooms)));
    }
}

async fn task(stream: TcpStream, peer: SocketAddr, rooms: Arc<Rooms>) {
    let (sender, queue) = mpsc::channel(QUEUE);
    let member = Arc::new(Member { queue: sender, disconnect: Notify::new() });
    let mut room = None;
    select! {
        // An error ends this connection alone.
        _ = talk(stream, peer, &rooms, &member, queue, &mut room) => {}
        () = member.disconnect.notified() => {}
    }
    if let Some(name) = room {
        rooms.leave(&name, peer);
    }
}

async fn talk(
    stream: TcpStream,
    peer: SocketAddr,
    rooms: &Rooms,
    member: &Arc<Member>,
    mut queue: Receiver<Utf8Bytes>,
    room: &mut Option<String>,
) -> Result<(), Error> {
    stream.set_nodelay(true)?;
    let config = WebSocketConfig::default()
        // tungstenite zeroes its read buffer, 128 KiB by default, for every connection.
        .read_buffer_size(4 << 10)
        .max_frame_size(Some(MAX_MESSAGE))
        .max_message_size(Some(MAX_MESSAGE));
    let mut socket = accept_async_with_config(stream, Some(config)).await?;

    let code = loop {
        let message = select! {
            // Writes come before reads, so a member cannot speak faster than it receives.
            biased;
            Some(text) = queue.recv() => {
                socket.feed(Message::Text(text)).await?;
                // Whatever else is queued by now goes out in the same write.
                while let Ok(text) = queue.try_recv() {
                    socket.feed(Message::Text(text)).await?;
                }
                socket.flush().await?;
                continue;
            }
            message = socket.next() => message,
        };
        match message {
            Some(Ok(Message::Text(text))) => {
                if let Some(name) = text.strip_prefix("join ") {
                    if let Some(left) = room.replace(name.to_owned()) {
                        rooms.leave(&left, peer);
                    }
                    rooms.join(name, peer, member);
                } else if let (Some(said), Some(name)) = (text.strip_prefix("say "), &*room) {
                    rooms.say(name, said);
                } else {
                    break CloseCode::Policy;
                }
            }
            Some(Ok(Message::Binary(_))) => break CloseCode::Unsupported,
            // The reply is buffered.
            Some(Ok(Message::Close(_))) => return socket.flush().await,
            Some(Ok(_)) => {}
            Some(Err(Error::Capacity(_))) => break CloseCode::Size,
            Some(Err(Error::Protocol(_))) => break CloseCode::Protocol,
            Some(Err(Error::Utf8(_))) => break CloseCode::Invalid,
            Some(Err(error)) => return Err(error),
            None => return Ok(()),
        }
    };
    socket.close(Some(CloseFrame { code, reason: Utf8Bytes::default() })).await
}
