//! Invalid frames, and how a server closes the connection (RFC 6455, 7.4.1).

use std::time::{Duration, Instant};

use super::ConformanceRun;
use super::frame::{BINARY, CLOSE, CONTINUED, OutgoingFrame, PING, TEXT};
use super::peer::ProtocolError;
use super::websocket::{ServerMessage, WebSocket};

const CASE: &str = "close codes";
const FIX: &str = "close with the code of RFC 6455, 7.4.1: 1002 for invalid frames, 1003 for binary messages, 1007 for bad \
                   UTF-8, 1008 for unknown commands, 1009 above 64 KiB";
const LIMIT_FIX: &str =
    "close with 1009 as soon as the length of a frame is above 64 KiB, before allocating memory for it";
/// The growth of a server while it receives a few frames, in bytes.
const FAIR_BYTES: u64 = 256 << 20;
/// The wait for what may have been received already.
const GLANCE: Duration = Duration::from_millis(100);
/// A claimed length of a frame without data.
const ABSURD: u64 = 1 << 40;

/// What is sent, and the expected close code.
fn all() -> Vec<(&'static str, Vec<u8>, u16)> {
    let long = "z".repeat(40_000);
    let (say, too_long) = (format!("say {long}"), format!("say {long}{long}"));
    let fragments =
        [OutgoingFrame::text(&say).begun().bytes(), OutgoingFrame::new(CONTINUED, long.as_bytes()).bytes()];
    let close = |code: u16| {
        OutgoingFrame::new(CLOSE, &[&code.to_be_bytes()[..], b"no code that is sent"].concat()).bytes()
    };
    let bad_reason = [&1000u16.to_be_bytes()[..], b"bad \xff"].concat();
    let text = |bytes: &[u8]| OutgoingFrame::new(TEXT, &[b"say ", bytes].concat()).bytes();
    let join = || OutgoingFrame::text("join elsewhere");
    vec![
        ("a text that is neither `join` nor `say`", OutgoingFrame::text("dance").bytes(), 1008),
        ("a binary message", OutgoingFrame::new(BINARY, b"\x00\x01").bytes(), 1003),
        ("an unmasked frame", join().unmasked().bytes(), 1002),
        ("the first reserved bit", join().reserved(1).bytes(), 1002),
        ("the second reserved bit", join().reserved(2).bytes(), 1002),
        ("the third reserved bit", join().reserved(3).bytes(), 1002),
        ("the unknown opcode 3", OutgoingFrame::new(3, b"x").bytes(), 1002),
        ("the unknown opcode 11", OutgoingFrame::new(11, b"x").bytes(), 1002),
        ("a continuation of nothing", OutgoingFrame::new(CONTINUED, b"x").bytes(), 1002),
        (
            "a message within another's fragments",
            [OutgoingFrame::text("say x").begun().bytes(), join().bytes()].concat(),
            1002,
        ),
        ("a ping of 126 bytes", OutgoingFrame::new(PING, &[b'p'; 126]).bytes(), 1002),
        ("a ping in fragments", OutgoingFrame::new(PING, b"p").begun().bytes(), 1002),
        ("a close frame of one byte", OutgoingFrame::new(CLOSE, b"x").bytes(), 1002),
        ("a close frame with 0", close(0), 1002),
        ("a close frame with 999", close(999), 1002),
        ("a close frame with 1004", close(1004), 1002),
        ("a close frame with 1005", close(1005), 1002),
        ("a close frame with 1006", close(1006), 1002),
        ("a close frame with 1015", close(1015), 1002),
        ("a close frame with 1016", close(1016), 1002),
        ("a close frame with 2999", close(2999), 1002),
        ("a close frame of 126 bytes", OutgoingFrame::new(CLOSE, &[3; 126]).bytes(), 1002),
        ("a close frame whose reason is bad UTF-8", OutgoingFrame::new(CLOSE, &bad_reason).bytes(), 1007),
        ("bad UTF-8", text(b"\xff\xfe"), 1007),
        ("bad UTF-8: a continuation alone", text(b"\x80"), 1007),
        ("bad UTF-8: cut off at the end", text(b"\xe2\x82"), 1007),
        ("bad UTF-8: 2 bytes for /", text(b"\xc0\xaf"), 1007),
        ("bad UTF-8: 3 bytes for /", text(b"\xe0\x80\xaf"), 1007),
        ("bad UTF-8: 4 bytes for /", text(b"\xf0\x80\x80\xaf"), 1007),
        ("bad UTF-8: a high surrogate", text(b"\xed\xa0\x80"), 1007),
        ("bad UTF-8: a low surrogate", text(b"\xed\xbf\xbf"), 1007),
        ("bad UTF-8: a pair of surrogates", text(b"\xed\xa0\x80\xed\xb0\x80"), 1007),
        ("bad UTF-8: above U+10FFFF", text(b"\xf4\x90\x80\x80"), 1007),
        (
            "bad UTF-8 across fragments",
            [
                OutgoingFrame::new(TEXT, b"say \xc3").begun().bytes(),
                OutgoingFrame::new(CONTINUED, b"(").bytes(),
            ]
            .concat(),
            1007,
        ),
        ("a frame above 64 KiB", OutgoingFrame::text(&too_long).bytes(), 1009),
        ("fragments above 64 KiB", fragments.concat(), 1009),
        ("an announced length of 2^40", OutgoingFrame::text("").announcing(ABSURD).bytes(), 1009),
    ]
}

/// How a connection ended.
enum Ended {
    With(Option<u16>),
    Cut,
    /// It did not: what was received instead, if anything.
    Not(Option<String>),
}

fn end(socket: &mut WebSocket) -> Result<Ended, ProtocolError> {
    match socket.hear("the end") {
        Ok(ServerMessage::Close(code)) => Ok(Ended::With(code)),
        Ok(other) => Ok(Ended::Not(Some(other.shown()))),
        Err(ProtocolError::Cut(_)) => Ok(Ended::Cut),
        Err(ProtocolError::Silent(_)) => Ok(Ended::Not(None)),
        Err(error) => Err(error),
    }
}

/// All frames at once, each on its own connection, so that a silent server costs one wait.
pub(super) fn close_codes(run: &mut ConformanceRun) -> Result<(), ProtocolError> {
    let mut sent = Vec::new();
    for (what, bytes, code) in all() {
        let mut socket = WebSocket::open(run)?;
        // Separate rooms, so that accepted messages reach no other test.
        socket.join(&format!("wrong {}", sent.len()))?;
        sent.push((what, bytes, code, socket));
    }
    let before = (run.memory)();
    for (_, bytes, _, socket) in &mut sent {
        // If the server has closed already, the read reports it.
        let _ = socket.peer.write(bytes);
    }
    let until = Instant::now() + run.terms.patience;
    let (mut other, mut cut, mut open) = (Vec::new(), Vec::new(), Vec::new());
    run.tried += sent.len();
    for (what, _, code, mut socket) in sent {
        // Reads what was received, even after the deadline.
        socket.peer.terms.end = until.max(Instant::now() + GLANCE).min(run.terms.end);
        match end(&mut socket).map_err(|error| error.of(what))? {
            Ended::With(Some(with)) if with == code => {}
            Ended::With(Some(with)) => other.push(format!("{what}: {with} instead of {code}")),
            Ended::With(None) => other.push(format!("{what}: no code instead of {code}")),
            Ended::Cut => cut.push(what.to_owned()),
            Ended::Not(Some(came)) => open.push(format!("{what} (received {came})")),
            Ended::Not(None) => open.push(what.to_owned()),
        }
    }
    if (run.memory)().zip(before).is_some_and(|(now, before)| now > before + FAIR_BYTES) {
        let what = format!("invalid and oversized frames use memory{}", run.grown(before));
        run.fault(CASE, what, LIMIT_FIX, true);
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
            run.fault(CASE, format!("{how}: {}", list.join("; ")), fix, false);
        }
    }
    Ok(())
}

/// A client that closes properly.
pub(super) fn closing(run: &mut ConformanceRun) -> Result<(), ProtocolError> {
    for code in [1000, 1001, 1003, 1011, 3000, 4999] {
        let data = [&u16::to_be_bytes(code)[..], "bye, 再见".as_bytes()].concat();
        run.part(|run| close(run, &data, &[Some(code)]))?;
    }
    run.part(|run| close(run, b"", &[None, Some(1000)]))
}

fn close(run: &mut ConformanceRun, data: &[u8], codes: &[Option<u16>]) -> Result<(), ProtocolError> {
    let mut socket = WebSocket::open(run)?;
    socket.send(&OutgoingFrame::new(CLOSE, data))?;
    let what = ServerMessage::Close(codes[0]).shown();
    let seen = match end(&mut socket)? {
        Ended::With(code) if codes.contains(&code) => match socket.peer.next("the end") {
            Ok(None) | Err(ProtocolError::Cut(_)) => return Ok(()),
            Ok(Some(_)) => "received data after the close frame".to_owned(),
            Err(_) => "the connection stays open after both close frames".to_owned(),
        },
        Ended::With(code) => format!("{what} is answered with {}", ServerMessage::Close(code).shown()),
        Ended::Cut => format!("{what} is not answered before the connection is closed"),
        Ended::Not(_) => format!("{what} is not answered with a close frame"),
    };
    Err(ProtocolError::Wrong(seen))
}
