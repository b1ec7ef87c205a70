//! One tokio task per connection of a chat over WebSocket, on the multi-threaded runtime.

use std::collections::HashMap;
use std::env;
use std::ffi::OsString;
use std::io;
use std::net::SocketAddr;
use std::num::NonZero;
use std::process::ExitCode;
use std::sync::{Arc, RwLock};

use futures_util::{SinkExt, StreamExt};
use tokio::net::{TcpSocket, TcpStream};
use tokio::select;
use tokio::sync::Notify;
use tokio::sync::mpsc::{self, Receiver, Sender};
use tokio_tungstenite::accept_async_with_config;
use tokio_tungstenite::tungstenite::protocol::frame::coding::CloseCode;
use tokio_tungstenite::tungstenite::protocol::{CloseFrame, WebSocketConfig};
use tokio_tungstenite::tungstenite::{Error, Message, Utf8Bytes};

#[cfg(feature = "jemalloc")]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

#[cfg(feature = "mimalloc")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// Messages that wait for one member at most.
const QUEUE: usize = 256;
const LARGEST_MESSAGE: usize = 64 << 10;

struct Member {
    queue: Sender<Utf8Bytes>,
    cut_off: Notify,
}

impl Member {
    /// Never waits: a member whose queue is full does not read.
    fn send(&self, text: Utf8Bytes) {
        if self.queue.try_send(text).is_err() {
            self.cut_off.notify_one();
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
async fn main() -> io::Result<ExitCode> {
    let Some(address) = arguments() else {
        eprintln!(
            "usage: tokio-spawn-chat <tasks> --listen <host>:<port>: a whole number, at least one task"
        );
        return Ok(ExitCode::from(2));
    };
    // Not `TcpListener::bind`, which lets 128 connections wait, fewer than come at once.
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
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
    let member = Arc::new(Member { queue: sender, cut_off: Notify::new() });
    let mut room = None;
    select! {
        // An error is the end of this connection, and of nothing else.
        _ = talk(stream, peer, &rooms, &member, queue, &mut room) => {}
        () = member.cut_off.notified() => {}
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
        // The default of 128 KiB would be cleared, and so be used, for every connection.
        .read_buffer_size(4 << 10)
        .max_frame_size(Some(LARGEST_MESSAGE))
        .max_message_size(Some(LARGEST_MESSAGE));
    let mut socket = accept_async_with_config(stream, Some(config)).await?;

    let code = loop {
        let heard = select! {
            // Who is owed messages is not heard: nobody fills queues faster than it takes its own messages.
            biased;
            Some(text) = queue.recv() => {
                socket.feed(Message::Text(text)).await?;
                // What else has come by now goes with it, in one write.
                while let Ok(text) = queue.try_recv() {
                    socket.feed(Message::Text(text)).await?;
                }
                socket.flush().await?;
                continue;
            }
            heard = socket.next() => heard,
        };
        match heard {
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
            // The answer to it is waiting to be sent.
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
