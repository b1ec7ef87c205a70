//! Rooms over WebSocket (RFC 6455), from the clients' side: each message must reach all members of its room, once and
//! in order.

use std::collections::VecDeque;
use std::io::Read;

use super::protocol::{Instants, Protocol, Received};
use super::websocket::{CLOSE, Frame, FrameHeader, PING, PONG, TEXT};

/// From section 1.3 of the RFC. All clients use the same key, as there is no proxy in front of the server.
const KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
const ACCEPT: &str = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=";
const HANDSHAKE: &str = "GET / HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ";
/// Longest answer to a handshake, in bytes.
const LONGEST_ANSWER: usize = 4_096;
/// Shortest text of a message, in bytes: its sender and its number, eight hexadecimal digits each.
pub(super) const MIN_MESSAGE_BYTES: usize = 16;
/// Most messages, and most bytes, in flight in a room. Further messages wait: clients that catch up with their
/// schedule send a burst, and a server must disconnect a member whose queue is too long. The catalog's servers
/// queue twice as much.
const MAX_IN_FLIGHT: usize = 128;
const MAX_BYTES_IN_FLIGHT: usize = 512 * 1024;

/// Rooms with `members` members each. The last one may have fewer.
pub(super) struct ChatProtocol {
    size: usize,
    members: usize,
    /// The number of the first room of this process.
    first_room: usize,
    /// Makes messages unpredictable: a server must read what it sends on.
    key: u64,
    clients: Vec<ChatClient>,
    rooms: Vec<Room>,
}

#[derive(Default)]
struct Room {
    /// In the order in which they were sent.
    in_flight: VecDeque<InFlightMessage>,
    /// Messages that wait until fewer are in flight: the sender of each, and its send times.
    held_back: VecDeque<(usize, Instants)>,
}

#[derive(Default)]
struct ChatClient {
    stage: JoinState,
    said: u32,
    /// The beginning of a frame or an answer whose end is still to come.
    rest: Vec<u8>,
}

#[derive(Default, Clone, Copy, PartialEq, Eq)]
enum JoinState {
    #[default]
    Connecting,
    Joining,
    Member,
}

/// A message that some members of its room do not have yet.
struct InFlightMessage {
    sender: usize,
    nth: u32,
    when: Instants,
    /// Number of members that do not have it yet. `has` has a bit for each that does.
    missing: usize,
    has: Vec<u64>,
}

impl InFlightMessage {
    fn has(&self, member: usize) -> bool {
        self.has[member / 64] & 1 << (member % 64) != 0
    }
}

impl ChatProtocol {
    /// `first` is the number of the first client of this process, which is the first of its room.
    pub fn new(size: usize, members: usize, first: usize, clients: usize) -> ChatProtocol {
        ChatProtocol {
            size,
            members,
            first_room: first / members,
            key: fastrand::u64(..),
            clients: std::iter::repeat_with(ChatClient::default).take(clients).collect(),
            rooms: std::iter::repeat_with(Room::default).take(clients.div_ceil(members)).collect(),
        }
    }

    /// How many members the room of a client has.
    fn members_with(&self, client: usize) -> usize {
        let first = client / self.members * self.members;
        self.members.min(self.clients.len() - first)
    }

    fn take_text(&mut self, client: usize, text: &[u8], received: &mut Received) -> Result<(), String> {
        if self.clients[client].stage == JoinState::Joining {
            let due = format!("joined {}", self.room_name(client));
            if text != due.as_bytes() {
                return Err(format!("received {:?}, expected {due:?}", String::from_utf8_lossy(text)));
            }
            self.clients[client].stage = JoinState::Member;
            received.ready = true;
            return Ok(());
        }
        let number = |at: usize| {
            let digits = std::str::from_utf8(text.get(at..at + 8)?).ok()?;
            u32::from_str_radix(digits, 16).ok()
        };
        let unknown = || format!("received {:?}, which no client sent", String::from_utf8_lossy(text));
        let (Some(sender), Some(nth)) = (number(0), number(8)) else { return Err(unknown()) };
        let room = client / self.members;
        let (first, members) = (room * self.members, self.members_with(client));
        let local = (sender as usize).checked_sub(self.first_room * self.members + first);
        let Some(slot) = local.filter(|slot| *slot < members) else {
            return Err(format!("received a message of client {sender}, which is in another room"));
        };
        if nth >= self.clients[first + slot].said {
            return Err(unknown());
        }
        // A message that is no longer in flight has reached every member.
        let Room { in_flight, held_back } = &mut self.rooms[room];
        let member = client - first;
        let due = in_flight.iter().position(|some| some.sender == first + slot && !some.has(member));
        let Some(at) = due.filter(|at| in_flight[*at].nth == nth) else {
            let due = due.map_or(self.clients[first + slot].said, |at| in_flight[at].nth);
            let what = if nth < due { "repeated or late" } else { "early" };
            return Err(format!("message {nth} of client {sender} is {what}: expected message {due}"));
        };
        let mut due = Vec::with_capacity(self.size);
        put_text(self.key, sender, nth, self.size, &mut due);
        if text != due {
            return Err(format!("message {nth} of client {sender} has a wrong text"));
        }
        received.deliveries += 1;
        let message = &mut in_flight[at];
        message.has[member / 64] |= 1 << (member % 64);
        message.missing -= 1;
        if message.missing == 0 {
            received.complete.extend(in_flight.remove(at).map(|message| (message.sender, message.when)));
            received.released.extend(held_back.pop_front());
        }
        Ok(())
    }

    fn room_name(&self, client: usize) -> String {
        format!("r{}", self.first_room + client / self.members)
    }
}

impl Protocol for ChatProtocol {
    fn greeting(&self) -> Option<String> {
        Some(format!("{HANDSHAKE}{KEY}\r\n\r\n"))
    }

    fn encode(&mut self, client: usize, when: Instants, bytes: &mut Vec<u8>) {
        let room = &mut self.rooms[client / self.members];
        if room.in_flight.len() >= MAX_IN_FLIGHT.min(MAX_BYTES_IN_FLIGHT / self.size).max(1) {
            room.held_back.push_back((client, when));
            return;
        }
        let nth = self.clients[client].said;
        let mut text = Vec::with_capacity(self.size + 4);
        text.extend_from_slice(b"say ");
        put_text(self.key, (self.first_room * self.members + client) as u32, nth, self.size, &mut text);
        put_frame(TEXT, &text, bytes);
        self.clients[client].said += 1;
        let missing = self.members_with(client);
        let has = vec![0; missing.div_ceil(64)];
        let message = InFlightMessage { sender: client, nth, when, missing, has };
        self.rooms[client / self.members].in_flight.push_back(message);
    }

    fn receive(&mut self, client: usize, bytes: &[u8], received: &mut Received) -> Result<(), String> {
        let mut joined = std::mem::take(&mut self.clients[client].rest);
        let mut rest = if joined.is_empty() {
            bytes
        } else {
            joined.extend_from_slice(bytes);
            &joined
        };
        if self.clients[client].stage == JoinState::Connecting {
            let Some(end) = rest.windows(4).position(|four| four == b"\r\n\r\n") else {
                if rest.len() > LONGEST_ANSWER {
                    return Err("the answer to the handshake has no end".into());
                }
                self.clients[client].rest = rest.to_vec();
                return Ok(());
            };
            let answer = String::from_utf8_lossy(&rest[..end]);
            if !answer.starts_with("HTTP/1.1 101") || !answer.contains(ACCEPT) {
                let line = answer.lines().next().unwrap_or_default();
                return Err(format!("the server refused the handshake: {line}"));
            }
            rest = &rest[end + 4..];
            self.clients[client].stage = JoinState::Joining;
            put_frame(TEXT, format!("join {}", self.room_name(client)).as_bytes(), &mut received.answer);
        }
        while let Some((opcode, data)) = take_first(&mut rest)? {
            match opcode {
                TEXT => self.take_text(client, data, received)?,
                PING => put_frame(PONG, data, &mut received.answer),
                // A heartbeat, which needs no answer (RFC 6455, 5.5.3).
                PONG => {}
                CLOSE => {
                    let code = data.first_chunk().map(|code| u16::from_be_bytes(*code));
                    let code = code.map_or(String::new(), |code| format!(" with {code}"));
                    return Err(format!("the server closed the connection{code}"));
                }
                _ => return Err(format!("received a frame with opcode {opcode}, expected a text")),
            }
        }
        // Only if there is something to keep: a million idle connections have no buffer.
        if !rest.is_empty() {
            self.clients[client].rest = rest.to_vec();
        }
        Ok(())
    }
}

/// Appends the text of a message: its sender, its number, and letters up to the size.
fn put_text(key: u64, sender: u32, nth: u32, size: usize, text: &mut Vec<u8>) {
    text.extend_from_slice(format!("{sender:08x}{nth:08x}").as_bytes());
    let mut random = fastrand::Rng::with_seed(u64::from(sender).rotate_left(32) ^ u64::from(nth) ^ key);
    text.extend((MIN_MESSAGE_BYTES..size).map(|_| random.lowercase() as u8));
}

/// Takes the first frame: its opcode and its data; `None` if its end is still to come.
fn take_first<'b>(bytes: &mut &'b [u8]) -> Result<Option<(u8, &'b [u8])>, String> {
    let mut rest = *bytes;
    let Ok(header) = FrameHeader::read(|buffer| rest.read_exact(buffer)) else { return Ok(None) };
    if let Some(why) = header.violation(false) {
        return Err(why);
    }
    if !header.last {
        return Err("received a fragmented frame".into());
    }
    let length = usize::try_from(header.length).map_err(|_| "received a frame that is too long")?;
    let Some((data, after)) = rest.split_at_checked(length) else { return Ok(None) };
    *bytes = after;
    Ok(Some((header.opcode, data)))
}

/// Appends a client's frame.
fn put_frame(opcode: u8, data: &[u8], bytes: &mut Vec<u8>) {
    Frame::new(opcode, data).masked(fastrand::u32(..).to_ne_bytes()).put(bytes);
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEN: Instants = Instants { due_ns: 1, sent_ns: 2 };

    fn frame(opcode: u8, data: &[u8]) -> Vec<u8> {
        Frame::new(opcode, data).bytes()
    }

    /// The data of a client's frame.
    fn unmasked(bytes: &[u8]) -> Vec<u8> {
        let mut rest = bytes;
        let header = FrameHeader::read(|buffer| rest.read_exact(buffer)).unwrap();
        let mut data = rest.to_vec();
        header.mask(&mut data);
        data
    }

    fn receive(chat: &mut ChatProtocol, client: usize, bytes: &[u8]) -> Result<Received, String> {
        let mut received = Received::default();
        chat.receive(client, bytes, &mut received).map(|()| received)
    }

    /// Three clients, the first two in one room. Another process has the room before it.
    fn members() -> ChatProtocol {
        let mut chat = ChatProtocol::new(40, 2, 2, 3);
        for client in 0..3 {
            assert!(chat.greeting().unwrap().ends_with("\r\n\r\n"));
            let answer =
                format!("HTTP/1.1 101 Switching Protocols\r\nsec-websocket-accept: {ACCEPT}\r\n\r\n");
            let (head, tail) = answer.split_at(30);
            assert!(receive(&mut chat, client, head.as_bytes()).unwrap().answer.is_empty());
            let room = if client < 2 { "r1" } else { "r2" };
            let answer = receive(&mut chat, client, tail.as_bytes()).unwrap().answer;
            assert_eq!(unmasked(&answer), format!("join {room}").into_bytes());
            assert!(
                receive(&mut chat, client, &frame(TEXT, format!("joined {room}").as_bytes())).unwrap().ready
            );
        }
        chat
    }

    fn said(chat: &mut ChatProtocol, client: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        chat.encode(client, WHEN, &mut bytes);
        let text = unmasked(&bytes);
        assert_eq!(text.len(), 44);
        frame(TEXT, text.strip_prefix(b"say ").unwrap())
    }

    #[test]
    fn a_message_arrives_when_the_last_member_has_it() {
        let mut chat = members();
        let (first, second) = (said(&mut chat, 0), said(&mut chat, 0));
        let both = [first.clone(), frame(PING, b"p"), second.clone()].concat();
        let mut received = Received::default();
        both.iter().for_each(|byte| chat.receive(0, &[*byte], &mut received).unwrap());
        assert_eq!((received.deliveries, received.complete.len()), (2, 0));
        assert_eq!((received.answer[0], unmasked(&received.answer)), (0x80 | PONG, b"p".to_vec()));
        assert_eq!(receive(&mut chat, 1, &first).unwrap().complete, [(0, WHEN)]);
        assert_eq!(receive(&mut chat, 1, &second).unwrap().complete, [(0, WHEN)]);
        let alone = said(&mut chat, 2);
        assert_eq!(receive(&mut chat, 2, &alone).unwrap().complete, [(2, WHEN)]);
    }

    /// Clients that catch up with their schedule send a burst, which must not overflow a queue.
    #[test]
    fn messages_in_flight_fit_the_queue_of_a_member() {
        let mut chat = members();
        let mut frames: Vec<_> = (0..MAX_IN_FLIGHT).map(|_| said(&mut chat, 0)).collect();
        for due_ns in [1_000, 1_001] {
            let mut bytes = Vec::new();
            chat.encode(1, Instants { due_ns, sent_ns: due_ns }, &mut bytes);
            assert!(bytes.is_empty());
        }
        let frame_of_another_room = said(&mut chat, 2);
        assert!(receive(&mut chat, 2, &frame_of_another_room).unwrap().released.is_empty());
        assert!(
            receive(&mut chat, 0, &frames[0]).unwrap().released.is_empty(),
            "the other has yet to get it"
        );
        let released = receive(&mut chat, 1, &frames[0]).unwrap().released;
        assert_eq!(released, [(1, Instants { due_ns: 1_000, sent_ns: 1_000 })]);
        frames.push(said(&mut chat, 1));
        let rest = frames.split_off(1).concat();
        assert!(receive(&mut chat, 0, &rest).unwrap().released.is_empty());
        let all = receive(&mut chat, 1, &rest).unwrap();
        assert_eq!((all.released.len(), all.complete.len()), (1, MAX_IN_FLIGHT));
        assert!(chat.rooms.iter().all(|room| room.in_flight.is_empty() && room.held_back.is_empty()));
    }

    #[test]
    fn large_messages_reduce_messages_in_flight_to_at_least_one() {
        for (size, most) in [(16, MAX_IN_FLIGHT), (32 * 1024, 16), (MAX_BYTES_IN_FLIGHT + 1, 1)] {
            let mut chat = ChatProtocol::new(size, 1, 0, 1);
            let mut sent = 0;
            while chat.rooms[0].held_back.is_empty() {
                let mut bytes = Vec::new();
                chat.encode(0, WHEN, &mut bytes);
                sent += usize::from(!bytes.is_empty());
            }
            assert_eq!(sent, most, "{size} bytes");
        }
    }

    #[test]
    fn wrong_deliveries_are_errors() {
        let wrong = |client: usize, change: fn(&mut Vec<Vec<u8>>), expected: &str| {
            let mut chat = members();
            let mut frames = vec![said(&mut chat, 0), said(&mut chat, 0)];
            change(&mut frames);
            let error = receive(&mut chat, client, &frames.concat()).expect_err(expected);
            assert!(error.contains(expected), "{error}: {expected}");
        };
        wrong(1, |frames| frames.swap(0, 1), "message 1 of client 2 is early: expected message 0");
        wrong(
            1,
            |frames| frames[1] = frames[0].clone(),
            "message 0 of client 2 is repeated or late: expected message 1",
        );
        wrong(1, |frames| drop(frames.remove(0)), "is early");
        wrong(1, |frames| frames[0][30] ^= 1, "message 0 of client 2 has a wrong text");
        wrong(2, |_| {}, "which is in another room");
        wrong(0, |frames| frames[0] = frame(TEXT, b"hello"), "\"hello\", which no client sent");
        wrong(
            0,
            |frames| frames[0] = frame(CLOSE, &1011_u16.to_be_bytes()),
            "closed the connection with 1011",
        );
        wrong(0, |frames| frames[0] = frame(2, b"x"), "a frame with opcode 2");
        wrong(0, |frames| frames[0][0] &= 0x7f, "fragmented frame");
        wrong(0, |frames| frames[0][1] |= 0x80, "masked frame");
    }

    #[test]
    fn refused_and_endless_handshakes_are_errors() {
        for (answer, expected) in [
            ("HTTP/1.1 400 Bad Request\r\n\r\n", "refused the handshake: HTTP/1.1 400 Bad Request"),
            ("HTTP/1.1 101 X\r\nSec-WebSocket-Accept: no\r\n\r\n", "refused the handshake"),
            (&*"x".repeat(LONGEST_ANSWER + 1), "has no end"),
        ] {
            let error = receive(&mut ChatProtocol::new(16, 1, 0, 1), 0, answer.as_bytes()).unwrap_err();
            assert!(error.contains(expected), "{error}");
        }
    }
}
