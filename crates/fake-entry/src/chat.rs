//! Rooms over WebSockets (RFC 6455), by hand: two threads for each connection, one that reads and one that sends.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use taskscale_load::websocket::{self, BINARY, CLOSE, CONTINUED, Frame, FrameHeader, PING, PONG, TEXT};

use crate::args::Options;
use crate::faults::Fault;
use crate::sleep_until;
use crate::threads::{THIS_THREAD, burn};

/// Longest frame, and longest message of several frames.
const MAX_BYTES: usize = 64 * 1024;
const MAX_HEAD_BYTES: u64 = 16 * 1024;
/// A member with this many queued messages is disconnected.
const MAX_WAITING: usize = 256;
const STACK_BYTES: usize = 64 * 1024;
/// How long to read from a client after the close frame. If data were left unread, the kernel would reset the
/// connection, and the close frame might be lost. Long, as the frame may not be sent yet on a busy machine;
/// clients that close do not wait for it.
const LINGER: Duration = Duration::from_secs(60);

/// Built once, however many members it goes to.
type Message = Arc<[u8]>;
/// By number, each with its room.
type Members = BTreeMap<u64, (String, Arc<Member>)>;

pub struct ChatServer<'s> {
    options: &'s Options,
    members: Mutex<Members>,
    said: AtomicU64,
    delivered: AtomicU64,
}

struct Member {
    number: u64,
    socket: TcpStream,
    queue: Sender<(Instant, Message)>,
    waiting: Arc<AtomicUsize>,
}

/// Why a connection ends.
enum End {
    Gone,
    /// With a close frame; without a code where the client gave none.
    Close(Option<u16>),
}

impl From<io::Error> for End {
    fn from(_: io::Error) -> End {
        End::Gone
    }
}

fn close<T>(code: u16) -> Result<T, End> {
    Err(End::Close(Some(code)))
}

impl<'s> ChatServer<'s> {
    pub fn new(options: &'s Options) -> ChatServer<'s> {
        let (members, said, delivered) = Default::default();
        ChatServer { options, members, said, delivered }
    }

    /// Ignores poisoning: a panic elsewhere does not affect the rooms.
    fn members(&self) -> MutexGuard<'_, Members> {
        self.members.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn talk(&self, number: u64, socket: &TcpStream) -> io::Result<()> {
        let mut input = BufReader::new(socket);
        if !answer_handshake(&mut input, socket)? {
            return Ok(());
        }
        let (queue, queued) = mpsc::channel::<(Instant, Message)>();
        let waiting = Arc::new(AtomicUsize::new(0));
        let sent = Arc::clone(&waiting);
        let member = Arc::new(Member { number, socket: socket.try_clone()?, queue, waiting });
        thread::scope(|scope| {
            thread::Builder::new().stack_size(STACK_BYTES).spawn_scoped(scope, move || {
                for (when, message) in queued {
                    sleep_until(when);
                    if { socket }.write_all(&message).is_err() {
                        break;
                    }
                    sent.fetch_sub(1, Ordering::Relaxed);
                }
                let _ = socket.shutdown(Shutdown::Write);
            })?;
            let end = self.listen(&member, &mut input);
            self.members().remove(&number);
            let Err(End::Close(code)) = end else {
                return socket.shutdown(Shutdown::Both);
            };
            let code = code.map(u16::to_be_bytes);
            self.send(&member, &frame(CLOSE, code.as_slice().as_flattened()));
            // Closes the queue: the sending thread ends when it is empty.
            drop(member);
            socket.set_read_timeout(Some(LINGER))?;
            while input.read(&mut [0; 4096]).is_ok_and(|length| length > 0) {}
            // A client that does not read would keep the sending thread waiting.
            socket.shutdown(Shutdown::Both)
        })
    }

    /// Processes all frames of a client, until the connection ends.
    fn listen(&self, member: &Arc<Member>, input: &mut impl Read) -> Result<(), End> {
        // Fragments so far.
        let mut message: Option<Vec<u8>> = None;
        loop {
            let (header, data) = read_frame(input)?;
            match (header.opcode, &mut message) {
                (PING, _) if !self.options.has(Fault::NoPong) => self.send(member, &frame(PONG, &data)),
                (PING | PONG, _) => {}
                (CLOSE, _) => {
                    let reason = data.get(2..).unwrap_or_default();
                    return match data.first_chunk().map(|code| u16::from_be_bytes(*code)) {
                        Some(_) if std::str::from_utf8(reason).is_err() => close(1007),
                        // Codes that may be sent (RFC 6455, 7.4).
                        Some(code @ (1000..=1003 | 1007..=1011 | 3000..=4999)) => close(code),
                        None if data.is_empty() => Err(End::Close(None)),
                        _ => close(1002),
                    };
                }
                (BINARY, None) => return close(1003),
                (TEXT, None) => message = Some(data),
                (CONTINUED, Some(begun)) if begun.len() + data.len() > MAX_BYTES => return close(1009),
                (CONTINUED, Some(begun)) => begun.extend(data),
                _ => return close(1002),
            }
            if header.opcode < CLOSE && header.last {
                let Ok(text) = String::from_utf8(message.take().unwrap_or_default()) else {
                    return close(1007);
                };
                if !self.handle_command(member, &text) {
                    return close(1008);
                }
            }
        }
    }

    /// Carries out a command. Returns whether it was valid.
    fn handle_command(&self, member: &Arc<Member>, text: &str) -> bool {
        match text.split_once(' ') {
            Some(("join", room)) => {
                self.members().insert(member.number, (room.to_owned(), Arc::clone(member)));
                self.send(member, &frame(TEXT, format!("joined {room}").as_bytes()));
            }
            Some(("say", what)) => {
                let Some((room, _)) = self.members().get(&member.number).cloned() else { return false };
                burn(THIS_THREAD, self.options.op_cpu);
                let message = frame(TEXT, what.as_bytes());
                let said = self.said.fetch_add(1, Ordering::Relaxed);
                let astray = self.options.number(Fault::Stray).is_some_and(|after| said >= after);
                let members = self.members();
                let hear = members.values().filter(|(other, _)| astray || *other == room);
                hear.for_each(|(_, member)| self.deliver(member, &message));
            }
            _ => return false,
        }
        true
    }

    fn deliver(&self, member: &Member, message: &Message) {
        let number = self.delivered.fetch_add(1, Ordering::Relaxed);
        let strikes = |fault| self.options.number(fault) == Some(number);
        let times = if strikes(Fault::Lose) { 0 } else { 1 + usize::from(strikes(Fault::Double)) };
        (0..times).for_each(|_| self.send(member, message));
    }

    fn send(&self, member: &Member, message: &Message) {
        if self.options.has(Fault::Stall) {
            let _ = (&member.socket).write_all(message);
        } else if member.waiting.fetch_add(1, Ordering::Relaxed) < MAX_WAITING
            || self.options.has(Fault::KeepAll)
        {
            let _ = member.queue.send((Instant::now() + self.options.op_sleep, Arc::clone(message)));
        } else {
            let _ = member.socket.shutdown(Shutdown::Both);
        }
    }
}

/// Answers the handshake. Returns whether it succeeded.
fn answer_handshake(input: &mut impl BufRead, mut socket: &TcpStream) -> io::Result<bool> {
    let mut head = input.take(MAX_HEAD_BYTES);
    let (mut request, mut fields, mut line) = (String::new(), HashMap::new(), String::new());
    head.read_line(&mut request)?;
    while head.read_line(&mut line)? > 0 && !line.trim().is_empty() {
        let (name, value) = line.split_once(':').unwrap_or_default();
        fields.insert(name.to_ascii_lowercase(), value.trim().to_owned());
        line.clear();
    }
    if line.is_empty() {
        return Ok(false);
    }
    let has = |name: &str, word: &str| {
        let words = fields.get(name).into_iter().flat_map(|value| value.split(','));
        words.into_iter().any(|part| part.trim().eq_ignore_ascii_case(word))
    };
    let right = request.starts_with("GET ") && request.trim_end().ends_with(" HTTP/1.1");
    let right = right && has("upgrade", "websocket") && has("connection", "upgrade");
    let right = right && has("sec-websocket-version", "13");
    let accept = fields.get("sec-websocket-key").and_then(|key| websocket::accept(key));
    let answer = match accept.filter(|_| right) {
        None => "HTTP/1.1 400 Bad Request\r\nConnection: close\r\nContent-Length: 0\r\n\r\n".to_owned(),
        Some(accept) => format!(
            "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
             Sec-WebSocket-Accept: {accept}\r\n\r\n"
        ),
    };
    socket.write_all(answer.as_bytes())?;
    Ok(answer.contains(" 101 "))
}

/// Reads a client's frame, and unmasks its data.
fn read_frame(input: &mut impl Read) -> Result<(FrameHeader, Vec<u8>), End> {
    let header = FrameHeader::read(|buffer| input.read_exact(buffer))?;
    if header.violation(true).is_some() {
        return close(1002);
    }
    if header.length > MAX_BYTES as u64 {
        return close(1009);
    }
    let mut data = vec![0; header.length as usize];
    input.read_exact(&mut data)?;
    header.mask(&mut data);
    Ok((header, data))
}

fn frame(opcode: u8, data: &[u8]) -> Message {
    Frame::new(opcode, data).bytes().into()
}
