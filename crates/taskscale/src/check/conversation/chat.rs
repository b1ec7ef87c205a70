//! Cases of the server `chat`.

use std::time::{Duration, Instant};

use super::frame::{CONTINUED, Frame, PING, PONG, TEXT};
use super::peer::{Peer, Trouble, kernel_bytes, settle};
use super::websocket::{HANDSHAKE, Heard, KEY, WebSocket, read_head, shown};
use super::{Case, Talk, crowd, wrong_frames};

const HANDSHAKE_FIX: &str =
    "answer handshakes by RFC 6455, 4.2: headers in any case and order, and only after the empty line";
const TASK_FIX: &str =
    "handle each connection in its own task; on an error, close only that connection, silently";

pub(super) const CASES: &[Case] = &[
    Case { name: "handshake", fix: HANDSHAKE_FIX, grave: true, talk: handshake },
    Case {
        name: "plain request",
        fix: "answer a request without a handshake with a status of 400 or above, or close the connection",
        grave: false,
        talk: plain,
    },
    Case {
        name: "bad handshakes",
        fix: "answer a handshake that violates RFC 6455, 4.2.1 with a status of 400 or above (426 for another version), or close \
              the connection",
        grave: false,
        talk: bad_handshakes,
    },
    Case {
        name: "rooms",
        fix: "send each message once to each member of the sender's room, including the sender, and to no others; joining a room \
              leaves the previous one",
        grave: true,
        talk: rooms,
    },
    Case {
        name: "ping",
        fix: "answer a ping at once with a pong of the same payload",
        grave: true,
        talk: pings,
    },
    Case {
        name: "fragments",
        fix: "assemble fragmented messages (RFC 6455, 5.4), and answer pings between fragments",
        grave: true,
        talk: fragments,
    },
    Case {
        name: "pieces",
        fix: "read until a frame is complete, and handle all frames of one read",
        grave: true,
        talk: pieces,
    },
    Case { name: "64 KiB", fix: "accept and send messages of up to 65,536 bytes", grave: true, talk: large },
    Case {
        name: "order",
        fix: "send each message to each member once, in the order of its sender",
        grave: true,
        talk: order,
    },
    Case {
        name: "close codes",
        fix: "on invalid frames, close only the connection that sent them",
        grave: true,
        talk: wrong_frames::close_codes,
    },
    Case {
        name: "closing",
        fix: "answer a close frame with a close frame of the same code, and close the connection",
        grave: false,
        talk: wrong_frames::closing,
    },
    Case { name: "half-open connections", fix: TASK_FIX, grave: true, talk: half_open },
    Case { name: "clients that vanish", fix: TASK_FIX, grave: true, talk: vanish },
    Case { name: UNREAD, fix: QUEUE_FIX, grave: true, talk: unread },
];

const UNREAD: &str = "a member that does not read";
const QUEUE_FIX: &str = "use a bounded send queue per connection (for example 256 messages), and close the connection when it is full";

/// Messages in flight, fewer than a queue must hold.
const AT_ONCE: usize = 100;
const LOTS: usize = 6;
/// Half-open connections of each type.
const HALF_OPEN: usize = 10;
const ROOMS: usize = 10;
/// The size of unread messages: small enough for every server, large enough to fill kernel buffers quickly.
const LARGE_BYTES: usize = 32 * 1024;
/// A queue of 256 such messages, and half as much again.
const QUEUE_BYTES: usize = 12 << 20;
/// The time of sending to a member that does not read.
const FLOOD: Duration = Duration::from_secs(30);
/// The growth of memory after which it counts as unbounded.
const RUNAWAY_BYTES: u64 = 1 << 30;

/// A member of a room.
fn member(talk: &mut Talk, room: &str) -> Result<WebSocket, Trouble> {
    let mut member = WebSocket::open(talk)?;
    member.join(room)?;
    Ok(member)
}

/// All of them expect this text next.
fn all_hear(members: &mut [&mut WebSocket], text: &str) -> Result<(), Trouble> {
    members.iter_mut().try_for_each(|member| member.expect(text))
}

fn handshake(talk: &mut Talk) -> Result<(), Trouble> {
    talk.part(|talk| member(talk, "plain").map(drop))?;
    let odd = [
        ("sEC-websocket-VERSION", "13"),
        ("sec-WEBSOCKET-key", KEY),
        ("X-Odd", "a, b: c"),
        ("CONNECTION", "keep-alive, UPGRADE"),
        ("uPGRADE", "WebSocket"),
        ("HOST", "localhost"),
    ];
    talk.part(|talk| {
        WebSocket::open_with(talk, &odd, usize::MAX)
            .and_then(|mut odd| odd.join("odd"))
            .map_err(|trouble| trouble.of("handshake headers in unusual case and order"))
    })?;
    for alone in [3, 40] {
        talk.part(|talk| {
            WebSocket::open_with(talk, HANDSHAKE, alone).and_then(|mut pieces| pieces.join("pieces")).map_err(
                |trouble| trouble.of(&format!("handshake in two pieces, the first of {alone} bytes")),
            )
        })?;
    }
    Ok(())
}

fn plain(talk: &mut Talk) -> Result<(), Trouble> {
    refused(talk, "a plain request", "GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
}

/// Expects a status of 400 or above, or the end of the connection.
fn refused(talk: &Talk, what: &str, request: &str) -> Result<(), Trouble> {
    let mut peer = Peer::connect(talk.terms)?;
    peer.write(request.as_bytes())?;
    let head = match read_head(&mut peer) {
        Ok(head) => head,
        Err(Trouble::Cut(_)) => return Ok(()),
        Err(trouble) => return Err(trouble.of(what)),
    };
    let refused = ["HTTP/1.1 4", "HTTP/1.1 5", "HTTP/1.0 4", "HTTP/1.0 5"];
    if refused.iter().any(|status| head.starts_with(status)) {
        return Ok(());
    }
    let first = head.lines().next().unwrap_or_default();
    Err(Trouble::Wrong(format!("{what} is answered with {}", shown(first.as_bytes()))))
}

fn bad_handshakes(talk: &mut Talk) -> Result<(), Trouble> {
    const KEY_LINE: &str = "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n";
    const RIGHT: &str = "GET /chat HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\
                         Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    let key = |key: &str| format!("Sec-WebSocket-Key: {key}\r\n");
    for (what, from, to) in [
        ("the method POST", "GET", "POST".to_owned()),
        ("HTTP/1.0", "HTTP/1.1", "HTTP/1.0".to_owned()),
        ("version 12", "Version: 13", "Version: 12".to_owned()),
        ("version 130", "Version: 13", "Version: 130".to_owned()),
        ("no version", "Sec-WebSocket-Version: 13\r\n", String::new()),
        ("no key", KEY_LINE, String::new()),
        ("a key of 15 bytes", KEY_LINE, key("dGhlIHNhbXBsZSBub25j")),
        ("a key of 17 bytes", KEY_LINE, key("dGhlIHNhbXBsZSBub25jZSE=")),
        ("a key that is not Base64", KEY_LINE, key("!!!!IHNhbXBsZSBub25jZQ==")),
        ("another upgrade", "Upgrade: websocket", "Upgrade: h2c".to_owned()),
        ("no connection upgrade", "Connection: Upgrade", "Connection: keep-alive".to_owned()),
    ] {
        let request = RIGHT.replacen(from, &to, 1);
        talk.part(|talk| refused(talk, &format!("a handshake with {what}"), &request))?;
    }
    Ok(())
}

fn rooms(talk: &mut Talk) -> Result<(), Trouble> {
    let (mut a, mut b, mut c) = (member(talk, "räume")?, member(talk, "räume")?, member(talk, "other")?);
    a.say("say héllo wörld")?;
    all_hear(&mut [&mut a, &mut b], "héllo wörld")?;
    c.say("say apart")?;
    c.expect("apart").map_err(|trouble| trouble.of("in another room"))?;
    c.join("räume").map_err(|trouble| trouble.of("to a member that changes rooms"))?;
    b.say("say welcome")?;
    all_hear(&mut [&mut a, &mut b, &mut c], "welcome")
        .map_err(|trouble| trouble.of("after a member joined"))?;
    // Joining again must not duplicate the membership.
    b.join("räume")?;
    a.say("say once")?;
    all_hear(&mut [&mut a, &mut b, &mut c], "once")
        .map_err(|trouble| trouble.of("after a member joined again"))?;
    b.join("third").map_err(|trouble| trouble.of("to a member that changes rooms"))?;
    for (speaker, text) in [(&mut a, "say without b"), (&mut b, "say alone")] {
        speaker.say(text)?;
    }
    all_hear(&mut [&mut a, &mut c], "without b").map_err(|trouble| trouble.of("after a member left"))?;
    b.expect("alone").map_err(|trouble| trouble.of("to a member that left"))?;
    // Duplicate or misdirected messages would be received instead.
    for speaker in [&mut a, &mut b] {
        speaker.say("say the end")?;
    }
    all_hear(&mut [&mut a, &mut b, &mut c], "the end")
}

fn fragments(talk: &mut Talk) -> Result<(), Trouble> {
    // Split within a two-byte letter, with an empty fragment.
    let letter = [
        Frame::new(TEXT, b"say fra\xc3").begun(),
        Frame::new(CONTINUED, b"\xa9gmen").begun(),
        Frame::new(CONTINUED, b"").begun(),
        Frame::new(CONTINUED, b"ted"),
    ];
    let plain = [Frame::text("say pl").begun(), Frame::new(CONTINUED, b"ain")];
    for (parts, text) in [(&plain[..], "plain"), (&letter[..], "fraégmented")] {
        talk.part(|talk| {
            let (mut a, mut b) = (member(talk, "fragments")?, member(talk, "fragments")?);
            parts.iter().try_for_each(|part| a.send(part))?;
            all_hear(&mut [&mut a, &mut b], text)
        })?;
    }
    talk.part(around_a_ping)
}

fn around_a_ping(talk: &mut Talk) -> Result<(), Trouble> {
    let (mut a, mut b) = (member(talk, "fragments")?, member(talk, "fragments")?);
    let parts =
        [Frame::text("say around").begun(), Frame::new(PING, b"between"), Frame::new(CONTINUED, b" a ping")];
    for part in &parts {
        a.send(part)?;
    }
    let mut heard = [a.hear("a pong between fragments")?, a.hear("a message around a ping")?];
    heard.sort_by_key(|heard| matches!(heard, Heard::Text(_)));
    if heard != [Heard::Pong(b"between".to_vec()), Heard::Text(b"around a ping".to_vec())] {
        let [first, second] = heard.map(|heard| heard.shown());
        return Err(Trouble::Wrong(format!(
            "a ping between fragments is answered with {first} and {second}"
        )));
    }
    b.expect("around a ping")
}

fn pings(talk: &mut Talk) -> Result<(), Trouble> {
    for payload in [&b"ping"[..], b"", &[0xf5; 125]] {
        talk.part(|talk| {
            let mut a = WebSocket::open(talk)?;
            a.send(&Frame::new(PING, payload))?;
            let what = format!("a ping with {} bytes", payload.len());
            match a.hear(&format!("a pong, after {what}"))? {
                Heard::Pong(came) if came == payload => Ok(()),
                Heard::Pong(_) => {
                    Err(Trouble::Wrong(format!("{what} is answered with a pong of another payload")))
                }
                other => Err(Trouble::Wrong(format!("{what} is answered with {}", other.shown()))),
            }
        })?;
    }
    // A pong needs no answer, and must not close the connection.
    talk.part(|talk| {
        let mut a = member(talk, "pongs")?;
        a.send(&Frame::new(PONG, b"unasked"))?;
        a.say("say on")?;
        a.expect("on").map_err(|trouble| trouble.of("after an unsolicited pong"))
    })
}

fn pieces(talk: &mut Talk) -> Result<(), Trouble> {
    talk.part(|talk| {
        let mut a = member(talk, "pieces")?;
        for byte in Frame::text("say bytes").bytes() {
            a.peer.write(&[byte])?;
            std::thread::sleep(Duration::from_millis(1));
        }
        a.expect("bytes").map_err(|trouble| trouble.of("sent byte by byte"))
    })?;
    talk.part(|talk| {
        let mut a = member(talk, "pieces")?;
        let two = [Frame::text("say first").bytes(), Frame::text("say second").bytes()].concat();
        let (all_but_last, last) = two.split_at(two.len() - 1);
        a.peer.write(all_but_last)?;
        a.expect("first").map_err(|trouble| trouble.of("sent with most of another frame"))?;
        a.peer.write(last)?;
        a.expect("second").map_err(|trouble| trouble.of("sent with another frame"))
    })
}

fn large(talk: &mut Talk) -> Result<(), Trouble> {
    // Around each boundary of the length encoding, up to a frame of 65,536 bytes.
    for length in [120, 121, 122, 125, 126, 127, 65_531, 65_532] {
        talk.part(|talk| {
            let (mut a, mut b) = (member(talk, "large")?, member(talk, "large")?);
            let text = "l".repeat(length);
            a.say(&format!("say {text}"))?;
            all_hear(&mut [&mut a, &mut b], &text)
                .map_err(|trouble| trouble.of(&format!("a message of {length} bytes")))
        })?;
    }
    Ok(())
}

fn order(talk: &mut Talk) -> Result<(), Trouble> {
    let names = ["a", "b"];
    let mut members = [member(talk, "order")?, member(talk, "order")?, member(talk, "order")?];
    for lot in 0..LOTS {
        let numbers = lot * AT_ONCE / 2..(lot + 1) * AT_ONCE / 2;
        for number in numbers.clone() {
            for (sender, name) in members.iter_mut().zip(names) {
                sender.say(&format!("say {name}{number}"))?;
            }
        }
        for member in &mut members {
            let mut due = [numbers.start; 2];
            for _ in 0..AT_ONCE {
                let due_texts = [0, 1].map(|sender| format!("{}{}", names[sender], due[sender]));
                let wanted = format!("{:?} or {:?}", due_texts[0], due_texts[1]);
                let heard = member.hear(&format!("the message {wanted}"))?;
                let sender = due_texts
                    .iter()
                    .position(|due| matches!(&heard, Heard::Text(text) if text == due.as_bytes()));
                let wrong = || Trouble::Wrong(format!("received {}, expected {wanted}", heard.shown()));
                due[sender.ok_or_else(wrong)?] += 1;
            }
        }
    }
    // Duplicates would be received instead.
    members[0].say("say the end")?;
    members.iter_mut().try_for_each(|member| member.expect("the end"))
}

fn half_open(talk: &mut Talk) -> Result<(), Trouble> {
    let mut silent = Vec::new();
    for index in 0..2 * HALF_OPEN {
        let mut peer = Peer::connect(talk.terms)?;
        if index % 2 == 0 {
            peer.write(b"GET / HT")?;
        }
        silent.push(peer);
    }
    let mut begun = member(talk, "half-open")?;
    begun.peer.write(&Frame::text("say half").bytes()[..5])?;
    settle();
    rooms(talk).map_err(|trouble| trouble.of("with half-open connections"))
}

fn vanish(talk: &mut Talk) -> Result<(), Trouble> {
    let mut before = member(talk, "vanish 0")?;
    let half = crowd::size() / 2;
    let mut crowd = Vec::new();
    for index in 0..half as usize {
        let joined = member(talk, &format!("vanish {}", index % ROOMS));
        crowd.push(joined.map_err(|trouble| trouble.of(&format!("with {index} other members")))?);
    }
    let idle = crowd::gather(talk.terms, half, |_| Ok(()))?;
    // With messages in flight in all rooms but the first.
    for member in crowd.iter_mut().take(ROOMS).skip(1) {
        let _ = member.say("say farewell");
    }
    let count = 2 * half;
    crowd.into_iter().map(|member| member.peer).chain(idle).for_each(Peer::vanish);
    let whose = format!("after {count} clients vanished");
    for text in ["still", "here"] {
        before.say(&format!("say {text}"))?;
        before.expect(text).map_err(|trouble| trouble.of(&whose))?;
    }
    let mut after = member(talk, "vanish 1").map_err(|trouble| trouble.of(&whose))?;
    after.say("say alone")?;
    // An early member may still receive the farewell.
    match after.hear("the message \"alone\"").map_err(|trouble| trouble.of(&whose))? {
        Heard::Text(text) if text == b"farewell" => after.expect("alone"),
        Heard::Text(text) if text == b"alone" => Ok(()),
        other => Err(Trouble::Wrong(format!("received {}, expected \"alone\", {whose}", other.shown()))),
    }
}

fn unread(talk: &mut Talk) -> Result<(), Trouble> {
    let (mut slow, mut fast) = (member(talk, "slow")?, member(talk, "slow")?);
    slow.peer.take_little();
    let text = "w".repeat(LARGE_BYTES);
    let frame = Frame::text(&format!("say {text}")).bytes();
    // More than kernel buffers and a queue hold.
    let fair = (kernel_bytes() + QUEUE_BYTES) / LARGE_BYTES;
    let (start, before) = (Instant::now(), (talk.memory)());
    let runs_away =
        |talk: &Talk| (talk.memory)().zip(before).is_some_and(|(now, before)| now > before + RUNAWAY_BYTES);
    let mut said = 0;
    while said < 2 * fair && start.elapsed() < FLOOD {
        let round = fast.peer.write(&frame).and_then(|()| fast.expect(&text));
        round.map_err(|trouble| {
            trouble
                .of(&format!("in a room with a member that does not read, after {said} messages of 32 KiB"))
        })?;
        said += 1;
        if said % 64 == 0 && runs_away(talk) {
            let so_far = (said * LARGE_BYTES) >> 20;
            let grown = talk.grown(before);
            return Err(Trouble::Wrong(format!(
                "unbounded queue: a member did not read {so_far} MiB{grown}"
            )));
        }
    }
    fast.say("say the end")?;
    fast.expect("the end")?;
    let grown = talk.grown(before);
    // Now it reads what was kept for it.
    let mut heard = 0;
    let kept = loop {
        match slow.hear("the unread messages") {
            Ok(Heard::Text(came)) if came == text.as_bytes() => heard += 1,
            Ok(Heard::Text(came)) if came == b"the end" => break true,
            Ok(Heard::Close(_)) | Err(Trouble::Cut(_)) => break false,
            Err(Trouble::Silent(_)) => break true,
            Ok(other) => {
                return Err(Trouble::Wrong(format!("received {} after unread messages", other.shown())));
            }
            Err(trouble) => return Err(trouble),
        }
    };
    let mib = (said * LARGE_BYTES) >> 20;
    if kept && heard == said && said > fair {
        return Err(Trouble::Wrong(format!(
            "unbounded queue: all {mib} MiB were kept for a member that did not read{grown}"
        )));
    }
    if kept && heard == said {
        talk.fault(
            UNREAD,
            format!(
                "inconclusive: only {mib} MiB were sent to a member that does not read in {} s",
                FLOOD.as_secs()
            ),
            "none in the program if the machine is busy; otherwise answer faster",
            false,
        );
    } else if kept {
        let lost = said - heard;
        talk.fault(
            UNREAD,
            format!(
                "a member that did not read {mib} MiB is still connected, but lost {lost} of {said} messages"
            ),
            QUEUE_FIX,
            false,
        );
    }
    // The room still works.
    let mut after = member(talk, "slow")?;
    after.say("say on")?;
    after
        .expect("on")
        .and_then(|()| fast.expect("on"))
        .map_err(|trouble| trouble.of("after a member did not read"))
}
