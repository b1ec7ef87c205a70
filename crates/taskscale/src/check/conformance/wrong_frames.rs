//! Invalid frames, and how a server closes the connection (RFC 6455, 7.4.1).

use std::time::{Duration, Instant};

use taskscale_load::websocket::{BINARY, CLOSE, CONTINUED, Frame, PING, TEXT};

use super::case::ConformanceRun;
use super::peer::{ProtocolError, ProtocolResult, Within, wrong};
use super::websocket::{ServerMessage, WebSocket, client_frame, client_text};

const FIX: &str = "close with the code of RFC 6455, 7.4.1: 1002 for invalid frames, 1003 for binary messages, 1007 for bad \
                   UTF-8, 1008 for unknown commands, 1009 above 64 KiB";
const LIMIT_FIX: &str =
    "close with 1009 as soon as the length of a frame is above 64 KiB, before allocating memory for it";
/// The most memory that a server may add while it receives a few frames, in bytes.
const FAIR_BYTES: u64 = 256 << 20;
/// The wait for data that may have arrived already.
const POLL: Duration = Duration::from_millis(100);
/// A claimed length of a frame without data.
const HUGE_LENGTH: u64 = 1 << 40;

/// Name, bytes to send, and expected close code.
fn all() -> Vec<(String, Vec<u8>, u16)> {
    let long = "z".repeat(40_000);
    let (say, too_long) = (format!("say {long}"), format!("say {long}{long}"));
    let frame = |opcode, data: &[u8]| client_frame(opcode, data).bytes();
    let begun = |opcode, data: &[u8]| client_frame(opcode, data).begun().bytes();
    let join = client_text("join elsewhere");
    let mut all = Vec::new();
    let mut add = |what: &str, bytes: Vec<u8>, code| all.push((what.to_owned(), bytes, code));
    add("a text that is neither `join` nor `say`", frame(TEXT, b"dance"), 1008);
    add("a binary message", frame(BINARY, b"\x00\x01"), 1003);
    add("an unmasked frame", Frame::new(TEXT, b"join elsewhere").bytes(), 1002);
    for (bit, name) in [(0x40, "first"), (0x20, "second"), (0x10, "third")] {
        let mut reserved = join;
        reserved.header.reserved = bit;
        add(&format!("the {name} reserved bit"), reserved.bytes(), 1002);
    }
    add("the unknown opcode 3", frame(3, b"x"), 1002);
    add("the unknown opcode 11", frame(11, b"x"), 1002);
    add("a continuation of nothing", frame(CONTINUED, b"x"), 1002);
    let within = [begun(TEXT, b"say x"), join.bytes()].concat();
    add("a message within another's fragments", within, 1002);
    add("a ping of 126 bytes", frame(PING, &[b'p'; 126]), 1002);
    add("a ping in fragments", begun(PING, b"p"), 1002);
    add("a close frame of one byte", frame(CLOSE, b"x"), 1002);
    for code in [0, 999, 1004, 1005, 1006, 1015, 1016, 2999] {
        let data = [&u16::to_be_bytes(code)[..], b"no code that is sent"].concat();
        add(&format!("a close frame with {code}"), frame(CLOSE, &data), 1002);
    }
    add("a close frame of 126 bytes", frame(CLOSE, &[3; 126]), 1002);
    let bad_reason = [&1000u16.to_be_bytes()[..], b"bad \xff"].concat();
    add("a close frame whose reason is bad UTF-8", frame(CLOSE, &bad_reason), 1007);
    for (what, bytes) in [
        ("", &b"\xff\xfe"[..]),
        (": a continuation alone", b"\x80"),
        (": cut off at the end", b"\xe2\x82"),
        (": 2 bytes for /", b"\xc0\xaf"),
        (": 3 bytes for /", b"\xe0\x80\xaf"),
        (": 4 bytes for /", b"\xf0\x80\x80\xaf"),
        (": a high surrogate", b"\xed\xa0\x80"),
        (": a low surrogate", b"\xed\xbf\xbf"),
        (": a pair of surrogates", b"\xed\xa0\x80\xed\xb0\x80"),
        (": above U+10FFFF", b"\xf4\x90\x80\x80"),
    ] {
        add(&format!("bad UTF-8{what}"), frame(TEXT, &[&b"say "[..], bytes].concat()), 1007);
    }
    let across = [begun(TEXT, b"say \xc3"), frame(CONTINUED, b"(")].concat();
    add("bad UTF-8 across fragments", across, 1007);
    add("a frame above 64 KiB", frame(TEXT, too_long.as_bytes()), 1009);
    let fragments = [begun(TEXT, say.as_bytes()), frame(CONTINUED, long.as_bytes())].concat();
    add("fragments above 64 KiB", fragments, 1009);
    let mut absurd = client_text("");
    absurd.header.length = HUGE_LENGTH;
    add("an announced length of 2^40", absurd.bytes(), 1009);
    all
}

/// Sends all frames at once, each on its own connection, so that a silent server costs one wait.
pub(super) fn close_codes(run: &mut ConformanceRun) -> ProtocolResult {
    let mut sent = Vec::new();
    for (what, bytes, code) in all() {
        let socket = WebSocket::open(run)?;
        // Separate rooms, so that accepted messages reach no other test.
        socket.join(&format!("wrong {}", sent.len()))?;
        sent.push((what, bytes, code, socket));
    }
    let before = (run.memory)();
    for (_, bytes, _, socket) in &sent {
        // If the server has closed already, the read reports it.
        let _ = socket.peer.write(bytes);
    }
    let until = Instant::now() + run.terms.patience;
    let (mut other, mut cut, mut open) = (Vec::new(), Vec::new(), Vec::new());
    run.tried += sent.len();
    for (what, _, code, mut socket) in sent {
        // Reads what was received, even after the deadline.
        socket.peer.terms.end = until.max(Instant::now() + POLL).min(run.terms.end);
        match socket.receive("the end").of(&what) {
            Ok(ServerMessage::Close(Some(with))) if with == code => {}
            Ok(ServerMessage::Close(Some(with))) => other.push(format!("{what}: {with} instead of {code}")),
            Ok(ServerMessage::Close(None)) => other.push(format!("{what}: no code instead of {code}")),
            Ok(came) => open.push(format!("{what} (received {})", came.shown())),
            Err(ProtocolError::Cut(_)) => cut.push(what),
            Err(ProtocolError::Silent(_)) => open.push(what),
            Err(error) => return Err(error),
        }
    }
    if run.growth(before) > FAIR_BYTES {
        let what = format!("invalid and oversized frames use memory{}", run.grown(before));
        run.fault(what, LIMIT_FIX, true);
    }
    let found = [
        (other, "wrong close code", FIX),
        (
            cut,
            "closed without a close frame",
            "send a close frame with the code before closing the connection",
        ),
        (open, "not closed", FIX),
    ];
    for (list, how, fix) in found {
        run.failed += list.len();
        if !list.is_empty() {
            run.fault(format!("{how}: {}", list.join("; ")), fix, false);
        }
    }
    Ok(())
}

/// A client that closes properly.
pub(super) fn closing(run: &mut ConformanceRun) -> ProtocolResult {
    for code in [1000, 1001, 1003, 1011, 3000, 4999] {
        let data = [&u16::to_be_bytes(code)[..], "bye, 再见".as_bytes()].concat();
        run.part(|run| close(run, &data, &[Some(code)]))?;
    }
    run.part(|run| close(run, b"", &[None, Some(1000)]))
}

fn close(run: &mut ConformanceRun, data: &[u8], codes: &[Option<u16>]) -> ProtocolResult {
    let socket = WebSocket::open(run)?;
    socket.send(client_frame(CLOSE, data))?;
    let what = ServerMessage::Close(codes[0]).shown();
    let seen = match socket.receive("the end") {
        Ok(ServerMessage::Close(code)) if codes.contains(&code) => match socket.peer.next("the end") {
            Ok(None) | Err(ProtocolError::Cut(_)) => return Ok(()),
            Ok(Some(_)) => "received data after the close frame".to_owned(),
            Err(_) => "the connection stays open after both close frames".to_owned(),
        },
        Ok(other @ ServerMessage::Close(_)) => format!("{what} is answered with {}", other.shown()),
        Ok(_) | Err(ProtocolError::Silent(_)) => format!("{what} is not answered with a close frame"),
        Err(ProtocolError::Cut(_)) => format!("{what} is not answered before the connection is closed"),
        Err(error) => return Err(error),
    };
    wrong(seen)
}
