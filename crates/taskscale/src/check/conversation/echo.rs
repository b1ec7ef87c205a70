//! Cases of the server `echo`.

use std::thread;
use std::time::{Duration, Instant};

use super::peer::{Peer, Trouble, kernel_bytes};
use super::{Case, Talk, crowd};

const FIX: &str =
    "send back each byte once, in the order in which they came, until the client has closed its side";

pub(super) const CASES: &[Case] = &[
    Case { name: "pieces", fix: FIX, grave: true, talk: pieces },
    Case { name: "half-closed", fix: FIX, grave: true, talk: half_closed },
    Case { name: "1 MiB", fix: FIX, grave: true, talk: much },
    Case { name: "latency", fix: FIX, grave: true, talk: latency },
    Case {
        name: "idle connections",
        fix: "let each connection be a task of its own, so that idle ones keep no other from being served",
        grave: true,
        talk: idle,
    },
    Case {
        name: "a client that does not read",
        fix: "read more only when what came before is sent, and let that keep no other connection waiting",
        grave: true,
        talk: unread,
    },
    Case {
        name: "clients that vanish",
        fix: "let an error of one connection end that connection, silently, and nothing else",
        grave: true,
        talk: vanish,
    },
];

/// Messages of all lengths up to this, one by one.
const PIECES: usize = 120;
/// Up to this where it is only to be seen that a connection is served.
const FEW_PIECES: usize = 20;
const MUCH_BYTES: usize = 1 << 20;
/// Beyond what the kernel holds for both directions of a connection: what a server may hold for one.
const FAIR_BYTES: usize = 32 << 20;
/// A server that took nothing for so long has stopped reading.
const FULL_AFTER: Duration = Duration::from_secs(1);
/// A delayed acknowledgement takes 40 ms on Linux; no answer on one machine takes nearly as long.
const DELAYED: Duration = Duration::from_millis(30);

fn connect(talk: &Talk) -> Result<Peer, Trouble> {
    Peer::connect(talk.terms)
}

/// Sends it, and wants it back.
fn echo(peer: &mut Peer, bytes: &[u8]) -> Result<(), Trouble> {
    peer.write(bytes)?;
    expect(peer, bytes)
}

fn expect(peer: &mut Peer, bytes: &[u8]) -> Result<(), Trouble> {
    let mut back = vec![0; bytes.len()];
    let what = match bytes.len() {
        1 => "the byte that was sent".to_owned(),
        length => format!("{length} bytes that were sent"),
    };
    // In parts, so that a slow server is waited for as long as anything comes.
    for part in back.chunks_mut(64 << 10) {
        peer.read(part, &what)?;
    }
    match bytes.iter().zip(&back).position(|(sent, came)| sent != came) {
        None => Ok(()),
        Some(at) => Err(Trouble::Wrong(format!(
            "of {} bytes the one at {at} came back as {}, and was {}",
            bytes.len(),
            back[at],
            bytes[at]
        ))),
    }
}

/// No more than was sent comes back, and then the end.
fn expect_end(talk: &mut Talk, peer: &mut Peer, case: &'static str) -> Result<(), Trouble> {
    match peer.next("the end of the connection") {
        Ok(None) => Ok(()),
        Ok(Some(_)) => Err(Trouble::Wrong("more came back than was sent".to_owned())),
        Err(_) => {
            talk.fault(
                case,
                "once the client has closed its side and all is sent back, the connection is not closed",
                "close a connection when its client has closed its side: it would be kept for ever",
                false,
            );
            Ok(())
        }
    }
}

fn pieces(talk: &mut Talk) -> Result<(), Trouble> {
    say_pieces(talk, PIECES)
}

fn say_pieces(talk: &mut Talk, most: usize) -> Result<(), Trouble> {
    let mut peer = connect(talk)?;
    for length in 1..=most {
        let bytes = talk.bytes(length);
        echo(&mut peer, &bytes)
            .map_err(|trouble| trouble.of(&format!("message {length} of a connection")))?;
    }
    // Several on the way at once.
    let bytes = talk.bytes(3000);
    for piece in bytes.chunks(7) {
        peer.write(piece)?;
    }
    expect(&mut peer, &bytes)
}

fn half_closed(talk: &mut Talk) -> Result<(), Trouble> {
    let mut peer = connect(talk)?;
    let bytes = talk.bytes(100_000);
    peer.write(&bytes)?;
    peer.finish();
    expect(&mut peer, &bytes).map_err(|trouble| trouble.of("after the client had closed its side"))?;
    expect_end(talk, &mut peer, "half-closed")?;
    // Nothing at all was sent.
    let mut peer = connect(talk)?;
    peer.finish();
    expect_end(talk, &mut peer, "half-closed")
}

fn much(talk: &mut Talk) -> Result<(), Trouble> {
    let mut peer = connect(talk)?;
    let bytes = talk.bytes(MUCH_BYTES);
    let mut writer = peer.twin().map_err(Trouble::Refused)?;
    thread::scope(|scope| {
        let writing = scope.spawn(|| writer.write(&bytes));
        let read = expect(&mut peer, &bytes);
        // What was not written was not read either, which says more.
        let _ = writing.join();
        read
    })
}

fn latency(talk: &mut Talk) -> Result<(), Trouble> {
    // The kernel acknowledges at once for as long as a connection is young.
    const YOUNG: usize = 20;
    let mut peer = connect(talk)?;
    // More than a buffer of 4 KiB: sent back in two parts, of which the second waits where Nagle is at work.
    for length in [1, 5_000] {
        let bytes = talk.bytes(length);
        let mut took = Vec::new();
        for round in 0..YOUNG + 15 {
            let start = Instant::now();
            echo(&mut peer, &bytes)?;
            if round >= YOUNG {
                took.push(start.elapsed());
            }
        }
        took.sort();
        let usual = took[took.len() / 2];
        if usual > DELAYED {
            talk.fault(
                "latency",
                format!("{length} bytes mostly take {} ms to come back", usual.as_millis()),
                "set TCP_NODELAY on each connection, and send back at once what was read",
                false,
            );
            break;
        }
    }
    Ok(())
}

fn idle(talk: &mut Talk) -> Result<(), Trouble> {
    let mut crowd = crowd::gather(talk.terms, crowd::size(), |peer| echo(peer, b"here"))?;
    say_pieces(talk, FEW_PIECES)
        .map_err(|trouble| trouble.of(&format!("beside {} idle connections", crowd.len())))?;
    // All at once, and none was closed meanwhile.
    let words: Vec<Vec<u8>> = (0..crowd.len()).map(|index| format!("{index:08}").into_bytes()).collect();
    for (peer, word) in crowd.iter_mut().zip(&words) {
        peer.write(word).map_err(|trouble| trouble.of("of many that were idle"))?;
    }
    for (peer, word) in crowd.iter_mut().zip(&words) {
        expect(peer, word).map_err(|trouble| trouble.of("of many that were idle"))?;
    }
    Ok(())
}

fn unread(talk: &mut Talk) -> Result<(), Trouble> {
    const CASE: &str = "a client that does not read";
    let mut peer = connect(talk)?;
    peer.take_little();
    let bytes = talk.bytes(2 * kernel_bytes() + FAIR_BYTES);
    let before = (talk.memory)();
    let taken = peer.write_until_full(&bytes, FULL_AFTER);
    if taken == bytes.len() {
        return Err(Trouble::Wrong(format!(
            "{} MiB were read from a client that read nothing{}",
            taken >> 20,
            talk.grown(before)
        )));
    }
    say_pieces(talk, FEW_PIECES).map_err(|trouble| trouble.of("beside a client that does not read"))?;
    // Now it reads.
    peer.finish();
    match expect(&mut peer, &bytes[..taken]) {
        Err(Trouble::Cut(_)) => {
            talk.fault(
                CASE,
                "a client that did not read for a while is cut off",
                "wait until there is room for what is to be sent: nothing is to be done for that client meanwhile",
                false,
            );
            Ok(())
        }
        Err(trouble) => Err(trouble.of("which a client had not read for a while")),
        Ok(()) => expect_end(talk, &mut peer, CASE),
    }
}

fn vanish(talk: &mut Talk) -> Result<(), Trouble> {
    let mut crowd = crowd::gather(talk.terms, crowd::size(), |peer| echo(peer, b"here"))?;
    let mut before = connect(talk)?;
    echo(&mut before, b"here")?;
    // Half of them with an answer on its way.
    for peer in crowd.iter_mut().step_by(2) {
        let _ = peer.write(b"gone");
    }
    let count = crowd.len();
    crowd.into_iter().for_each(Peer::vanish);
    let whose = format!("after {count} clients vanished");
    echo(&mut before, b"still").map_err(|trouble| trouble.of(&whose))?;
    say_pieces(talk, FEW_PIECES).map_err(|trouble| trouble.of(&whose))
}
