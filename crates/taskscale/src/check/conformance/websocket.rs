//! A minimal WebSocket client: the handshake, and messages from frames.

use taskscale_load::websocket::{self, CLOSE, CONTINUED, Frame, FrameHeader, PING, PONG, TEXT};

use super::case::ConformanceRun;
use super::peer::{self, Peer, ProtocolError, ProtocolResult, wrong};

/// The longest frame of a server, in bytes.
const MAX_BYTES: u64 = 1 << 20;
/// The placeholder of the key in a handshake.
pub(super) const KEY: &str = "{key}";
pub(super) const HANDSHAKE: &str = "\
    GET /chat HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
    Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n";
const MAX_HEAD_BYTES: usize = 16 * 1024;
/// Longer than any message of a conformance run.
const MAX_MESSAGE_BYTES: usize = 1 << 20;
/// The shown length of a server's message.
const SHOWN_CHARS: usize = 40;

/// A message of a server, except pings.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum ServerMessage {
    Text(Vec<u8>),
    Binary,
    Pong(Vec<u8>),
    /// Usually with a code.
    Close(Option<u16>),
}

pub(super) struct WebSocket {
    pub peer: Peer,
}

/// A client's frame. The mask differs between bytes, so that the server must unmask.
pub(super) fn client_frame(opcode: u8, data: &[u8]) -> Frame<'_> {
    Frame::new(opcode, data).masked([0x17, 0xa5, 0x4c, 0xf0])
}

pub(super) fn client_text(text: &str) -> Frame<'_> {
    client_frame(TEXT, text.as_bytes())
}

impl WebSocket {
    pub fn open(run: &mut ConformanceRun) -> ProtocolResult<WebSocket> {
        WebSocket::open_with(run, HANDSHAKE, usize::MAX)
    }

    /// Opens with this handshake, whose first `alone` bytes are a packet of their own.
    pub fn open_with(run: &mut ConformanceRun, handshake: &str, alone: usize) -> ProtocolResult<WebSocket> {
        let key = websocket::key(&run.bytes(16));
        let request = handshake.replace(KEY, &key);
        let peer = Peer::connect(run.terms)?;
        let (first, second) = request.as_bytes().split_at(alone.min(request.len()));
        peer.write(first)?;
        if !second.is_empty() {
            peer::settle();
            peer.write(second)?;
        }
        let head = read_head(&peer)?;
        agreed(&head, &key).map_err(ProtocolError::Wrong)?;
        Ok(WebSocket { peer })
    }

    pub fn send(&self, frame: Frame) -> ProtocolResult {
        self.peer.write(&frame.bytes())
    }

    pub fn send_text(&self, text: &str) -> ProtocolResult {
        self.send(client_text(text))
    }

    /// Expects this text next.
    pub fn expect(&self, text: &str) -> ProtocolResult {
        match self.receive(&format!("the message {}", shown(text.as_bytes())))? {
            ServerMessage::Text(came) if came == text.as_bytes() => Ok(()),
            other => wrong(format!("received {}, expected {}", other.shown(), shown(text.as_bytes()))),
        }
    }

    /// Joins a room, and expects the confirmation.
    pub fn join(&self, room: &str) -> ProtocolResult {
        self.send_text(&format!("join {room}"))?;
        self.expect(&format!("joined {room}"))
    }

    pub fn receive(&self, what: &str) -> ProtocolResult<ServerMessage> {
        let mut begun: Option<(u8, Vec<u8>)> = None;
        loop {
            let (header, data) = self.read_frame(what)?;
            match (header.opcode, &mut begun) {
                (PING, _) => self.send(client_frame(PONG, &data))?,
                (PONG, None) => return Ok(ServerMessage::Pong(data)),
                // Between fragments: not an expected one.
                (PONG, Some(_)) => {}
                (CLOSE, _) => {
                    let code = data.first_chunk().map(|code| u16::from_be_bytes(*code));
                    return Ok(ServerMessage::Close(code));
                }
                (CONTINUED, Some((_, message))) => {
                    message.extend(data);
                    if message.len() > MAX_MESSAGE_BYTES {
                        return wrong("received a fragmented message without end");
                    }
                }
                (CONTINUED, None) => return wrong("received a fragment that continues no message"),
                (_, Some(_)) => return wrong("received a new message between fragments"),
                (opcode, None) => begun = Some((opcode, data)),
            }
            if let Some((opcode, message)) = begun.take_if(|_| header.last && header.opcode < CLOSE) {
                return Ok(if opcode == TEXT { ServerMessage::Text(message) } else { ServerMessage::Binary });
            }
        }
    }

    fn read_frame(&self, what: &str) -> ProtocolResult<(FrameHeader, Vec<u8>)> {
        let header = FrameHeader::read(|buffer| self.peer.read(buffer, what))?;
        let too_long = || format!("received a frame header of {} bytes", header.length);
        let why = header.violation(false).or_else(|| (header.length > MAX_BYTES).then(too_long));
        if let Some(why) = why {
            return wrong(why);
        }
        let mut data = vec![0; header.length as usize];
        self.peer.read(&mut data, what)?;
        Ok((header, data))
    }
}

impl ServerMessage {
    pub fn shown(&self) -> String {
        match self {
            ServerMessage::Text(text) => shown(text),
            ServerMessage::Binary => "a binary message".to_owned(),
            ServerMessage::Pong(_) => "a pong".to_owned(),
            ServerMessage::Close(Some(code)) => format!("a close frame with {code}"),
            ServerMessage::Close(None) => "a close frame without a code".to_owned(),
        }
    }
}

/// The start of a message, escaped.
pub(super) fn shown(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut short: String = text.chars().take(SHOWN_CHARS).collect();
    if short.len() < text.len() {
        short.push('…');
    }
    format!("{short:?}")
}

/// An answer up to its empty line.
pub(super) fn read_head(peer: &Peer) -> ProtocolResult<String> {
    let what = "an answer to the handshake";
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        if head.len() > MAX_HEAD_BYTES {
            return wrong("the answer to the handshake has no end");
        }
        head.push(peer.next(what)?.ok_or_else(|| ProtocolError::Cut(what.to_owned()))?);
    }
    Ok(String::from_utf8_lossy(&head).into_owned())
}

/// Checks that a server's answer accepts the WebSocket. The error is the reason.
fn agreed(head: &str, key: &str) -> Result<(), String> {
    let mut lines = head.lines();
    let status = lines.next().unwrap_or_default();
    if !status.starts_with("HTTP/1.1 101") {
        return Err(format!("the handshake is answered with {}", shown(status.as_bytes())));
    }
    let fields: Vec<(String, &str)> = lines
        .filter_map(|line| line.split_once(':'))
        .map(|(name, value)| (name.trim().to_ascii_lowercase(), value.trim()))
        .collect();
    let field = |name: &str| fields.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
    let has = |name: &str, word: &str| {
        field(name).is_some_and(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
    };
    for (name, word) in [("upgrade", "websocket"), ("connection", "upgrade")] {
        if !has(name, word) {
            return Err(format!("the answer to the handshake has no `{name}: {word}`"));
        }
    }
    let accept = websocket::accept(key).unwrap_or_default();
    if field("sec-websocket-accept") != Some(&accept) {
        let given = field("sec-websocket-accept").unwrap_or_default();
        return Err(format!("Sec-WebSocket-Accept is {}, not {accept:?}", shown(given.as_bytes())));
    }
    for name in ["sec-websocket-extensions", "sec-websocket-protocol"] {
        if field(name).is_some_and(|value| !value.is_empty()) {
            return Err(format!("the answer to the handshake has {name}, which was not requested"));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The example of RFC 6455, 1.3.
    const RIGHT: &str = "HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                         Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n";
    const RFC_KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";

    #[test]
    fn handshakes_match_the_rfc() {
        assert_eq!(agreed(RIGHT, RFC_KEY), Ok(()));
        let odd = RIGHT
            .replace("Upgrade: websocket", "uPGRADE:WebSocket ")
            .replace(": Upgrade", ": keep-alive, upgrade");
        assert_eq!(agreed(&odd, RFC_KEY), Ok(()));
        for (from, to, words) in [
            ("101", "200", "answered"),
            ("Upgrade: websocket\r\n", "", "no `upgrade: websocket`"),
            ("Connection: Upgrade", "Connection: close", "no `connection: upgrade`"),
            ("s3pPL", "S3pPL", "Sec-WebSocket-Accept is"),
            ("\r\n\r\n", "\r\nSec-WebSocket-Extensions: permessage-deflate\r\n\r\n", "not requested"),
        ] {
            let why = agreed(&RIGHT.replace(from, to), RFC_KEY).expect_err(words);
            assert!(why.contains(words), "{why}");
        }
    }

    #[test]
    fn messages_of_a_server_are_escaped() {
        assert_eq!(shown(b"\x1b[31m\xff"), "\"\\u{1b}[31m\u{fffd}\"");
        assert_eq!(shown(&[b'x'; 100]).len(), SHOWN_CHARS + 5);
    }

    proptest! {
        #[test]
        fn answers_never_panic(head in ".{0,200}", key in ".{0,30}") {
            let _ = agreed(&head, &key);
            let _ = agreed(&format!("HTTP/1.1 101 x\r\n{head}"), &key);
            let _ = shown(head.as_bytes());
        }
    }
}
