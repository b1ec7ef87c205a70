//! Cases of the server `chat`.

use std::time::{Duration, Instant};

use taskscale_load::websocket::{CONTINUED, PING, PONG, TEXT};

use super::case::{ConformanceCase, ConformanceRun, grave, minor};
use super::peer::{Peer, ProtocolError, ProtocolResult, Within, kernel_bytes, settle, wrong};
use super::websocket::{
    HANDSHAKE, KEY, ServerMessage, WebSocket, client_frame, client_text, read_head, shown,
};
use super::{concurrency, wrong_frames};

const HANDSHAKE_FIX: &str =
    "answer handshakes by RFC 6455, 4.2: headers in any case and order, and only after the empty line";
const TASK_FIX: &str =
    "handle each connection in its own task; on an error, close only that connection, silently";

pub(super) const CASES: &[ConformanceCase] = &[
    grave("handshake", handshake, HANDSHAKE_FIX),
    minor(
        "plain request",
        plain,
        "answer a request without a handshake with a status of 400 or above, or close the connection",
    ),
    minor(
        "bad handshakes",
        bad_handshakes,
        "answer a handshake that violates RFC 6455, 4.2.1 with a status of 400 or above (426 for another version), or close \
              the connection",
    ),
    grave(
        "rooms",
        rooms,
        "send each message once to each member of the sender's room, including the sender, and to no others; joining a room \
              leaves the previous one",
    ),
    grave("ping", pings, "answer a ping at once with a pong of the same payload"),
    grave(
        "fragments",
        fragments,
        "assemble fragmented messages (RFC 6455, 5.4), and answer pings between fragments",
    ),
    grave("pieces", split_writes, "read until a frame is complete, and handle all frames of one read"),
    grave("64 KiB", large, "accept and send messages of up to 65,536 bytes"),
    grave("order", order, "send each message to each member once, in the order of its sender"),
    grave(
        "close codes",
        wrong_frames::close_codes,
        "on invalid frames, close only the connection that sent them",
    ),
    minor(
        "closing",
        wrong_frames::closing,
        "answer a close frame with a close frame of the same code, and close the connection",
    ),
    grave("half-open connections", half_open, TASK_FIX),
    grave("clients that vanish", vanish, TASK_FIX),
    grave("a member that does not read", unread, QUEUE_FIX),
];

const QUEUE_FIX: &str = "use a bounded send queue per connection (for example 256 messages), and close the connection when it is full";

/// Messages in flight, fewer than a queue must take.
const CONCURRENT: usize = 100;
const LOTS: usize = 6;
/// Half-open connections of each type.
const HALF_OPEN: usize = 10;
const ROOMS: usize = 10;
/// The size of unread messages: small enough for every server, large enough to fill kernel buffers quickly.
const LARGE_BYTES: usize = 32 * 1024;
/// A queue of 256 such messages, and half as much again.
const QUEUE_BYTES: usize = 12 << 20;
/// Memory growth that counts as unbounded, in bytes.
const RUNAWAY_BYTES: u64 = 1 << 30;

/// A member of a room.
fn member(run: &mut ConformanceRun, room: &str) -> ProtocolResult<WebSocket> {
    let member = WebSocket::open(run)?;
    member.join(room)?;
    Ok(member)
}

/// All of them expect this text next.
fn expect_all(members: &[&WebSocket], text: &str) -> ProtocolResult {
    members.iter().try_for_each(|member| member.expect(text))
}

fn handshake(run: &mut ConformanceRun) -> ProtocolResult {
    run.part(|run| member(run, "plain").map(drop))?;
    let odd = "GET /chat HTTP/1.1\r\nsEC-websocket-VERSION: 13\r\nsec-WEBSOCKET-key: {key}\r\nX-Odd: a, b: c\r\n\
               CONNECTION: keep-alive, UPGRADE\r\nuPGRADE: WebSocket\r\nHOST: localhost\r\n\r\n";
    run.part(|run| {
        WebSocket::open_with(run, odd, usize::MAX)
            .and_then(|odd| odd.join("odd"))
            .of("handshake headers in unusual case and order")
    })?;
    for alone in [3, 40] {
        run.part(|run| {
            WebSocket::open_with(run, HANDSHAKE, alone)
                .and_then(|pieces| pieces.join("pieces"))
                .of(&format!("handshake in two pieces, the first of {alone} bytes"))
        })?;
    }
    Ok(())
}

fn plain(run: &mut ConformanceRun) -> ProtocolResult {
    refused(run, "a plain request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// Expects a status of 400 or above, or the end of the connection.
fn refused(run: &ConformanceRun, what: &str, request: &str) -> ProtocolResult {
    let peer = Peer::connect(run.terms)?;
    peer.write(request.as_bytes())?;
    let head = match read_head(&peer) {
        Ok(head) => head,
        Err(ProtocolError::Cut(_)) => return Ok(()),
        Err(error) => return Err(error).of(what),
    };
    let refused = ["HTTP/1.1 4", "HTTP/1.1 5", "HTTP/1.0 4", "HTTP/1.0 5"];
    if refused.iter().any(|status| head.starts_with(status)) {
        return Ok(());
    }
    let first = head.lines().next().unwrap_or_default();
    wrong(format!("{what} is answered with {}", shown(first.as_bytes())))
}

fn bad_handshakes(run: &mut ConformanceRun) -> ProtocolResult {
    const RIGHT_KEY: &str = "dGhlIHNhbXBsZSBub25jZQ==";
    for (what, from, to) in [
        ("the method POST", "GET", "POST"),
        ("HTTP/1.0", "HTTP/1.1", "HTTP/1.0"),
        ("version 12", "Version: 13", "Version: 12"),
        ("version 130", "Version: 13", "Version: 130"),
        ("no version", "Sec-WebSocket-Version: 13\r\n", ""),
        ("no key", "Sec-WebSocket-Key: {key}\r\n", ""),
        ("a key of 15 bytes", KEY, "dGhlIHNhbXBsZSBub25j"),
        ("a key of 17 bytes", KEY, "dGhlIHNhbXBsZSBub25jZSE="),
        ("a key that is not Base64", KEY, "!!!!IHNhbXBsZSBub25jZQ=="),
        ("another upgrade", "Upgrade: websocket", "Upgrade: h2c"),
        ("no connection upgrade", "Connection: Upgrade", "Connection: keep-alive"),
    ] {
        let request = HANDSHAKE.replacen(from, to, 1).replace(KEY, RIGHT_KEY);
        run.part(|run| refused(run, &format!("a handshake with {what}"), &request))?;
    }
    Ok(())
}

fn rooms(run: &mut ConformanceRun) -> ProtocolResult {
    let (a, b, c) = (member(run, "räume")?, member(run, "räume")?, member(run, "other")?);
    a.send_text("say héllo wörld")?;
    expect_all(&[&a, &b], "héllo wörld")?;
    c.send_text("say apart")?;
    c.expect("apart").of("in another room")?;
    c.join("räume").of("to a member that changes rooms")?;
    b.send_text("say welcome")?;
    expect_all(&[&a, &b, &c], "welcome").of("after a member joined")?;
    // Joining again must not duplicate the membership.
    b.join("räume")?;
    a.send_text("say once")?;
    expect_all(&[&a, &b, &c], "once").of("after a member joined again")?;
    b.join("third").of("to a member that changes rooms")?;
    a.send_text("say without b")?;
    b.send_text("say alone")?;
    expect_all(&[&a, &c], "without b").of("after a member left")?;
    b.expect("alone").of("to a member that left")?;
    // Duplicate or misdirected messages would be received instead.
    a.send_text("say the end")?;
    b.send_text("say the end")?;
    expect_all(&[&a, &b, &c], "the end")
}

fn fragments(run: &mut ConformanceRun) -> ProtocolResult {
    // Split within a two-byte letter, with an empty fragment.
    let letter = [
        client_frame(TEXT, b"say fra\xc3").begun(),
        client_frame(CONTINUED, b"\xa9gmen").begun(),
        client_frame(CONTINUED, b"").begun(),
        client_frame(CONTINUED, b"ted"),
    ];
    let plain = [client_text("say pl").begun(), client_frame(CONTINUED, b"ain")];
    for (parts, text) in [(&plain[..], "plain"), (&letter[..], "fraégmented")] {
        run.part(|run| {
            let (a, b) = (member(run, "fragments")?, member(run, "fragments")?);
            parts.iter().try_for_each(|part| a.send(*part))?;
            expect_all(&[&a, &b], text)
        })?;
    }
    run.part(around_a_ping)
}

fn around_a_ping(run: &mut ConformanceRun) -> ProtocolResult {
    let (a, b) = (member(run, "fragments")?, member(run, "fragments")?);
    a.send(client_text("say around").begun())?;
    a.send(client_frame(PING, b"between"))?;
    a.send(client_frame(CONTINUED, b" a ping"))?;
    let mut messages = [a.receive("a pong between fragments")?, a.receive("a message around a ping")?];
    messages.sort_by_key(|message| matches!(message, ServerMessage::Text(_)));
    if messages != [ServerMessage::Pong(b"between".to_vec()), ServerMessage::Text(b"around a ping".to_vec())]
    {
        let [first, second] = messages.map(|message| message.shown());
        return wrong(format!("a ping between fragments is answered with {first} and {second}"));
    }
    b.expect("around a ping")
}

fn pings(run: &mut ConformanceRun) -> ProtocolResult {
    for payload in [&b"ping"[..], b"", &[0xf5; 125]] {
        run.part(|run| {
            let a = WebSocket::open(run)?;
            a.send(client_frame(PING, payload))?;
            let what = format!("a ping with {} bytes", payload.len());
            match a.receive(&format!("a pong, after {what}"))? {
                ServerMessage::Pong(came) if came == payload => Ok(()),
                ServerMessage::Pong(_) => wrong(format!("{what} is answered with a pong of another payload")),
                other => wrong(format!("{what} is answered with {}", other.shown())),
            }
        })?;
    }
    // A pong needs no answer, and must not close the connection.
    run.part(|run| {
        let a = member(run, "pongs")?;
        a.send(client_frame(PONG, b"unasked"))?;
        a.send_text("say on")?;
        a.expect("on").of("after an unsolicited pong")
    })
}

fn split_writes(run: &mut ConformanceRun) -> ProtocolResult {
    run.part(|run| {
        let a = member(run, "pieces")?;
        for byte in client_text("say bytes").bytes() {
            a.peer.write(&[byte])?;
            std::thread::sleep(Duration::from_millis(1));
        }
        a.expect("bytes").of("sent byte by byte")
    })?;
    run.part(|run| {
        let a = member(run, "pieces")?;
        let two = [client_text("say first").bytes(), client_text("say second").bytes()].concat();
        let (all_but_last, last) = two.split_at(two.len() - 1);
        a.peer.write(all_but_last)?;
        a.expect("first").of("sent with most of another frame")?;
        a.peer.write(last)?;
        a.expect("second").of("sent with another frame")
    })
}

fn large(run: &mut ConformanceRun) -> ProtocolResult {
    // Around each boundary of the length encoding, up to a frame of 65,536 bytes.
    for length in [120, 121, 122, 125, 126, 127, 65_531, 65_532] {
        run.part(|run| {
            let (a, b) = (member(run, "large")?, member(run, "large")?);
            let text = "l".repeat(length);
            a.send_text(&format!("say {text}"))?;
            expect_all(&[&a, &b], &text).of(&format!("a message of {length} bytes"))
        })?;
    }
    Ok(())
}

fn order(run: &mut ConformanceRun) -> ProtocolResult {
    let names = ["a", "b"];
    let members = [member(run, "order")?, member(run, "order")?, member(run, "order")?];
    for lot in 0..LOTS {
        let numbers = lot * CONCURRENT / 2..(lot + 1) * CONCURRENT / 2;
        for number in numbers.clone() {
            for (sender, name) in members.iter().zip(names) {
                sender.send_text(&format!("say {name}{number}"))?;
            }
        }
        for member in &members {
            let mut due = [numbers.start; 2];
            for _ in 0..CONCURRENT {
                let due_texts = [0, 1].map(|sender| format!("{}{}", names[sender], due[sender]));
                let wanted = format!("{:?} or {:?}", due_texts[0], due_texts[1]);
                let received = member.receive(&format!("the message {wanted}"))?;
                let sender = due_texts
                    .iter()
                    .position(|due| matches!(&received, ServerMessage::Text(text) if text == due.as_bytes()));
                let wrong =
                    || ProtocolError::Wrong(format!("received {}, expected {wanted}", received.shown()));
                due[sender.ok_or_else(wrong)?] += 1;
            }
        }
    }
    // Duplicates would be received instead.
    members[0].send_text("say the end")?;
    members.iter().try_for_each(|member| member.expect("the end"))
}

fn half_open(run: &mut ConformanceRun) -> ProtocolResult {
    let mut silent = Vec::new();
    for index in 0..2 * HALF_OPEN {
        let peer = Peer::connect(run.terms)?;
        if index % 2 == 0 {
            peer.write(b"GET / HT")?;
        }
        silent.push(peer);
    }
    let begun = member(run, "half-open")?;
    begun.peer.write(&client_text("say half").bytes()[..5])?;
    settle();
    rooms(run).of("with half-open connections")
}

fn vanish(run: &mut ConformanceRun) -> ProtocolResult {
    let before = member(run, "vanish 0")?;
    let half = concurrency::size() / 2;
    let mut peers = Vec::new();
    for index in 0..half as usize {
        let joined = member(run, &format!("vanish {}", index % ROOMS));
        peers.push(joined.of(&format!("with {index} other members"))?);
    }
    let idle = concurrency::connect_all(run.terms, half, |_| Ok(()))?;
    // With messages in flight in all rooms but the first.
    for member in peers.iter().take(ROOMS).skip(1) {
        let _ = member.send_text("say farewell");
    }
    let count = 2 * half;
    peers.into_iter().map(|member| member.peer).chain(idle).for_each(Peer::reset);
    let whose = format!("after {count} clients vanished");
    for text in ["still", "here"] {
        before.send_text(&format!("say {text}"))?;
        before.expect(text).of(&whose)?;
    }
    let after = member(run, "vanish 1").of(&whose)?;
    after.send_text("say alone")?;
    // An early member may still receive the farewell.
    match after.receive("the message \"alone\"").of(&whose)? {
        ServerMessage::Text(text) if text == b"farewell" => after.expect("alone"),
        ServerMessage::Text(text) if text == b"alone" => Ok(()),
        other => wrong(format!("received {}, expected \"alone\", {whose}", other.shown())),
    }
}

fn unread(run: &mut ConformanceRun) -> ProtocolResult {
    let (slow, fast) = (member(run, "slow")?, member(run, "slow")?);
    slow.peer.shrink_receive_buffer();
    let text = "w".repeat(LARGE_BYTES);
    let frame = client_text(&format!("say {text}")).bytes();
    // More messages than kernel buffers and a queue can keep.
    let fair = (kernel_bytes() + QUEUE_BYTES) / LARGE_BYTES;
    let (start, before) = (Instant::now(), (run.memory)());
    let mut sent = 0;
    while sent < 2 * fair && start.elapsed() < run.flood {
        let round = fast.peer.write(&frame).and_then(|()| fast.expect(&text));
        round.of(&format!("in a room with a member that does not read, after {sent} messages of 32 KiB"))?;
        sent += 1;
        if sent % 64 == 0 && run.growth(before) > RUNAWAY_BYTES {
            let so_far = (sent * LARGE_BYTES) >> 20;
            let grown = run.grown(before);
            return wrong(format!("unbounded queue: a member did not read {so_far} MiB{grown}"));
        }
    }
    fast.send_text("say the end")?;
    fast.expect("the end")?;
    let grown = run.grown(before);
    // Now the slow member reads what was kept.
    let mut received = 0;
    let kept = loop {
        match slow.receive("the unread messages") {
            Ok(ServerMessage::Text(came)) if came == text.as_bytes() => received += 1,
            Ok(ServerMessage::Text(came)) if came == b"the end" => break true,
            Ok(ServerMessage::Close(_)) | Err(ProtocolError::Cut(_)) => break false,
            Err(ProtocolError::Silent(_)) => break true,
            Ok(other) => return wrong(format!("received {} after unread messages", other.shown())),
            Err(error) => return Err(error),
        }
    };
    let mib = (sent * LARGE_BYTES) >> 20;
    if kept && received == sent && sent > fair {
        return wrong(format!(
            "unbounded queue: all {mib} MiB were kept for a member that did not read{grown}"
        ));
    }
    if kept {
        let lost = sent - received;
        let (what, fix) = if lost == 0 {
            let seconds = run.flood.as_secs();
            let what = format!(
                "inconclusive: only {mib} MiB were sent to a member that does not read in {seconds} s"
            );
            (what, "none in the program if the machine is busy; otherwise answer faster")
        } else {
            let what = "a member that did not read";
            (format!("{what} {mib} MiB is still connected, but lost {lost} of {sent} messages"), QUEUE_FIX)
        };
        run.fault(what, fix, false);
    }
    // The room still works.
    let after = member(run, "slow")?;
    after.send_text("say on")?;
    after.expect("on").and_then(|()| fast.expect("on")).of("after a member did not read")
}
