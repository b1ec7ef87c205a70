//! Cases of the server `echo`.

use std::thread;
use std::time::{Duration, Instant};

use super::case::{ConformanceCase, ConformanceRun, grave};
use super::concurrency;
use super::peer::{Peer, ProtocolError, ProtocolResult, Within, kernel_bytes, wrong};

const FIX: &str = "send back each byte once and in order, until the client closes its side";

pub(super) const CASES: &[ConformanceCase] = &[
    grave("pieces", |run| send_pieces(run, PIECES), FIX),
    grave("half-closed", half_closed, FIX),
    grave("1 MiB", much, FIX),
    grave("latency", latency, FIX),
    grave(
        "idle connections",
        idle,
        "handle each connection in its own task, so that idle connections do not block others",
    ),
    grave(
        "a client that does not read",
        unread,
        "read more only after the previous data is sent, without blocking other connections",
    ),
    grave("clients that vanish", vanish, "on an error, close only that connection, silently"),
];

/// The longest message. All lengths up to it are tested.
const PIECES: usize = 120;
/// The longest message of a short test.
const FEW_PIECES: usize = 20;
const LARGE_ECHO_BYTES: usize = 1 << 20;
/// The memory that a server may use for one connection, beyond kernel buffers.
const FAIR_BYTES: usize = 32 << 20;
/// A server that accepts nothing for this long has stopped reading.
const FULL_AFTER: Duration = Duration::from_secs(1);
/// A delayed acknowledgment takes 40 ms on Linux. Local answers are much faster.
const DELAYED: Duration = Duration::from_millis(30);

/// Sends bytes and expects them back.
fn echo(peer: &Peer, bytes: &[u8]) -> ProtocolResult {
    peer.write(bytes)?;
    expect(peer, bytes)
}

fn expect(peer: &Peer, bytes: &[u8]) -> ProtocolResult {
    let mut back = vec![0; bytes.len()];
    let what = match bytes.len() {
        1 => "1 byte back".to_owned(),
        length => format!("{length} bytes back"),
    };
    // In parts, so that a slow server is not timed out while it sends.
    for part in back.chunks_mut(64 << 10) {
        peer.read(part, &what)?;
    }
    // Whole slices first: byte by byte, megabytes are slow in a debug build.
    if back == bytes {
        return Ok(());
    }
    let at = bytes.iter().zip(&back).position(|(sent, came)| sent != came).unwrap_or_default();
    wrong(format!("wrong byte at {at} of {}: received {}, sent {}", bytes.len(), back[at], bytes[at]))
}

/// Expects the end of the connection.
fn expect_end(run: &mut ConformanceRun, peer: &Peer) -> ProtocolResult {
    match peer.next("the end of the connection") {
        Ok(None) => Ok(()),
        Ok(Some(_)) => wrong("received more bytes than were sent"),
        Err(_) => {
            run.fault(
                "the connection stays open after the client closed its side and all bytes were sent back",
                "close a connection when the client closes its side",
                false,
            );
            Ok(())
        }
    }
}

fn send_pieces(run: &mut ConformanceRun, most: usize) -> ProtocolResult {
    let peer = Peer::connect(run.terms)?;
    for length in 1..=most {
        let bytes = run.bytes(length);
        echo(&peer, &bytes).of(&format!("message {length} of a connection"))?;
    }
    // Several messages in flight, of more bytes than a server reads at once.
    let bytes = run.bytes(9000);
    for piece in bytes.chunks(7) {
        peer.write(piece)?;
    }
    expect(&peer, &bytes)
}

fn half_closed(run: &mut ConformanceRun) -> ProtocolResult {
    let peer = Peer::connect(run.terms)?;
    let bytes = run.bytes(100_000);
    peer.write(&bytes)?;
    peer.finish();
    expect(&peer, &bytes).of("after the client closed its side")?;
    expect_end(run, &peer)?;
    // Without sending anything.
    let peer = Peer::connect(run.terms)?;
    peer.finish();
    expect_end(run, &peer)
}

fn much(run: &mut ConformanceRun) -> ProtocolResult {
    let peer = Peer::connect(run.terms)?;
    let bytes = run.bytes(LARGE_ECHO_BYTES);
    thread::scope(|scope| {
        let writing = scope.spawn(|| peer.write(&bytes));
        let read = expect(&peer, &bytes);
        // A failed write also fails the read, which is more specific.
        let _ = writing.join();
        read
    })
}

fn latency(run: &mut ConformanceRun) -> ProtocolResult {
    // The kernel acknowledges at once at the start of a connection.
    const NEW_CONNECTIONS: usize = 20;
    let peer = Peer::connect(run.terms)?;
    // More than a buffer of 4 KiB: sent back in two parts, the second of which waits with Nagle's algorithm.
    for length in [1, 5_000] {
        let bytes = run.bytes(length);
        let mut times = Vec::new();
        for round in 0..NEW_CONNECTIONS + 15 {
            let start = Instant::now();
            echo(&peer, &bytes)?;
            if round >= NEW_CONNECTIONS {
                times.push(start.elapsed());
            }
        }
        times.sort();
        let usual = times[times.len() / 2];
        if usual > DELAYED {
            run.fault(
                format!("median latency of {length} bytes: {} ms", usual.as_millis()),
                "set TCP_NODELAY on each connection, and send data back as soon as it is read",
                false,
            );
            break;
        }
    }
    Ok(())
}

fn idle(run: &mut ConformanceRun) -> ProtocolResult {
    let peers = concurrency::connect_all(run.terms, concurrency::size(), |peer| echo(peer, b"here"))?;
    send_pieces(run, FEW_PIECES).of(&format!("with {} idle connections", peers.len()))?;
    // All at once. None may have been closed.
    let words: Vec<Vec<u8>> = (0..peers.len()).map(|index| format!("{index:08}").into_bytes()).collect();
    for (peer, word) in peers.iter().zip(&words) {
        peer.write(word).of("on a connection that was idle")?;
    }
    for (peer, word) in peers.iter().zip(&words) {
        expect(peer, word).of("on a connection that was idle")?;
    }
    Ok(())
}

fn unread(run: &mut ConformanceRun) -> ProtocolResult {
    let peer = Peer::connect(run.terms)?;
    peer.shrink_receive_buffer();
    let bytes = run.bytes(2 * kernel_bytes() + FAIR_BYTES);
    let before = (run.memory)();
    let taken = peer.write_until_full(&bytes, FULL_AFTER);
    if taken == bytes.len() {
        let (mib, grown) = (taken >> 20, run.grown(before));
        return wrong(format!("the server read {mib} MiB from a client that reads nothing{grown}"));
    }
    send_pieces(run, FEW_PIECES).of("with a client that does not read")?;
    // Now it reads.
    peer.finish();
    match expect(&peer, &bytes[..taken]) {
        Err(ProtocolError::Cut(_)) => {
            run.fault(
                "a client that paused reading is disconnected",
                "wait until the client reads, and read nothing from it meanwhile",
                false,
            );
            Ok(())
        }
        Err(error) => Err(error).of("to a client that paused reading"),
        Ok(()) => expect_end(run, &peer),
    }
}

fn vanish(run: &mut ConformanceRun) -> ProtocolResult {
    let peers = concurrency::connect_all(run.terms, concurrency::size(), |peer| echo(peer, b"here"))?;
    let before = Peer::connect(run.terms)?;
    echo(&before, b"here")?;
    // Half of them with an answer in flight.
    for peer in peers.iter().step_by(2) {
        let _ = peer.write(b"gone");
    }
    let count = peers.len();
    peers.into_iter().for_each(Peer::reset);
    let whose = format!("after {count} clients vanished");
    echo(&before, b"still").of(&whose)?;
    send_pieces(run, FEW_PIECES).of(&whose)
}
