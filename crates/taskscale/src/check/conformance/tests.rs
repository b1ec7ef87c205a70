//! Conformance runs with correct and faulty servers of fake-entry, and with other listeners.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, TcpListener};

use super::super::serve::RunningServer;
use super::*;
use scripted::fake_entry;

#[path = "../../../tests/support/port.rs"]
mod port;
#[path = "../../../tests/support/scripted.rs"]
mod scripted;

/// For servers that answer, even on a busy machine.
const LONG: Duration = Duration::from_secs(60);
/// For silent servers: tried in turn until the fault is found. A short wait may cause another fault on a busy
/// machine.
const SHORT: [Duration; 3] = [Duration::from_secs(1), PACE.patience, LONG];

fn pace(patience: Duration) -> Pace {
    Pace { patience, begun: 60 * LONG, whole: 60 * LONG, flood: 60 * LONG }
}

/// Raises the limit of open files: several conformance runs are active at once.
fn allow_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let _ = setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, maximum: limit.maximum });
}

fn serve(flags: &str) -> RunningServer {
    allow_files();
    let program = fake_entry().to_str().expect("a path that is text");
    let words = [program, "--serve"].into_iter().chain(flags.split_whitespace());
    let command: Vec<String> = words.map(str::to_owned).collect();
    RunningServer::start(&command, &BTreeMap::new()).expect("fake-entry serves")
}

fn server(flags: &str) -> Client {
    if flags.starts_with("echo") { Client::Echo } else { Client::Chat }
}

/// The faults that these cases find in a server with these flags, which has `patience` for each answer.
fn found(flags: &str, patience: Duration, cases: &'static [ConformanceCase]) -> Vec<ConformanceFault> {
    let serving = serve(flags);
    let faults = run_conformance_at(pace(patience), cases, serving.address, &|| serving.memory()).faults;
    for fault in &faults {
        println!("{flags}: {fault:?}");
    }
    faults
}

/// The fault expected of a server with these flags.
struct Expected {
    flags: &'static str,
    /// Time limits for an answer, tried in turn until the fault is found.
    patience: &'static [Duration],
    /// Whether the fault is grave, its case, and words of it.
    grave: bool,
    case: &'static str,
    words: &'static str,
}

/// A fault of a server that always answers. It must be the first one.
fn answering(flags: &'static str, grave: bool, case: &'static str, words: &'static str) -> Expected {
    Expected { flags, patience: &[LONG], grave, case, words }
}

/// A fault of a server that stops answering.
fn silent(flags: &'static str, case: &'static str, words: &'static str) -> Expected {
    Expected { flags, patience: &SHORT, grave: true, case, words }
}

impl Expected {
    /// Runs all cases up to the one with the fault.
    fn is_found(&self) -> bool {
        let all = cases_of(server(self.flags));
        let last = all.iter().position(|case| case.name == self.case).expect("a case");
        self.patience.iter().any(|patience| {
            let mut faults = found(self.flags, *patience, &all[..=last]);
            // A busy machine may cause it.
            faults.retain(|fault| fault.case != "latency" || self.case == "latency");
            let is_it = |fault: &ConformanceFault| {
                (fault.grave, fault.case) == (self.grave, self.case) && fault.what.contains(self.words)
            };
            if *patience == LONG { faults.first().is_some_and(is_it) } else { faults.iter().any(is_it) }
        })
    }
}

/// Runs all at once, as they mostly wait.
fn expect(all: &[Expected]) {
    std::thread::scope(|scope| {
        for expected in all {
            scope.spawn(|| assert!(expected.is_found(), "{}", expected.flags));
        }
    });
}

/// Expects no faults except latency, which a busy machine may cause.
fn expect_none(all: &[&str]) {
    std::thread::scope(|scope| {
        for flags in all {
            scope.spawn(move || {
                let mut faults = found(flags, LONG, cases_of(server(flags)));
                faults.retain(|fault| fault.case != "latency");
                assert_eq!(faults, [], "{flags}");
            });
        }
    });
}

#[test]
fn correct_echo_servers_pass() {
    expect_none(&["echo", "echo --op-sleep-us 3000"]);
}

#[test]
fn correct_chat_servers_pass() {
    expect_none(&["chat", "chat --op-cpu-us 100 --op-sleep-us 1000"]);
}

#[test]
fn faulty_echo_servers_are_detected() {
    expect(&[
        answering("echo --fault flip:100", true, "pieces", "message 101 of a connection: wrong byte at 50"),
        answering("echo --fault swap", true, "pieces", "wrong byte"),
        answering("echo --fault close-every:10", true, "idle connections", "connection closed"),
        silent("echo --fault stop-accepting:20", "idle connections", "no answer"),
        answering("echo --op-sleep-us 35000", false, "latency", "latency of 1 bytes"),
        answering("echo --fault crash:plateau", true, "idle connections", ""),
    ]);
}

#[test]
fn faulty_chat_servers_are_detected() {
    expect(&[
        answering("chat --fault double:400", true, "order", "received "),
        answering("chat --fault lose:400", true, "order", "received "),
        answering("chat --fault double:3", true, "rooms", "received "),
        silent("chat --fault lose:0", "rooms", "no answer"),
        answering("chat --fault stray:0", true, "rooms", "received "),
        answering("chat --fault stray:5", true, "rooms", "received "),
    ]);
}

#[test]
fn unserved_connections_are_detected() {
    expect(&[
        silent("chat --fault no-pong", "ping", "expected a pong"),
        answering("chat --fault close-every:4", true, "handshake", "connection closed"),
        silent("chat --fault stop-accepting:20", "ping", "no answer"),
        answering("chat --fault crash:plateau", true, "bad handshakes", "cannot connect"),
    ]);
}

#[test]
fn servers_that_stall_or_buffer_for_slow_readers_are_detected() {
    expect(&[
        silent("chat --fault stall", UNREAD, "no answer"),
        answering("chat --fault keep-all", true, UNREAD, "its memory grew by"),
    ]);
}

const UNREAD: &str = "a member that does not read";

/// Listens, and calls `answer` with each connection and its number. Returns the address.
fn listener(answer: impl Fn(std::net::TcpStream, u64) + Send + 'static) -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).expect("a port");
    let address = listener.local_addr().expect("an address");
    std::thread::spawn(move || {
        for (connection, number) in listener.incoming().flatten().zip(0..) {
            answer(connection, number);
        }
    });
    address
}

#[test]
fn listeners_that_are_not_servers_are_detected() {
    let held = std::sync::Mutex::new(Vec::new());
    let silent = listener(move |connection, _| held.lock().expect("a list").push(connection));
    let closing = listener(|connection, _| drop(connection));
    let noisy = listener(|mut connection, number| {
        let mut noise = vec![0; 10_000];
        fastrand::Rng::with_seed(number).fill(&mut noise);
        // Waits for the start of a request before it sends noise.
        let mut request = [0; 1024];
        let _ = connection.read(&mut request);
        let _ = connection.write_all(&noise);
    });
    let reserved = port::ReservedPort::on_loopback();
    let unused = SocketAddr::from((Ipv4Addr::LOCALHOST, reserved.number));
    for server in [Client::Echo, Client::Chat] {
        for address in [silent, closing, noisy, unused] {
            let pace = pace(Duration::from_millis(500));
            let faults = run_conformance_at(pace, cases_of(server), address, &|| None).faults;
            assert!(faults.iter().any(|fault| fault.grave), "{server:?} at {address}");
            if address == unused {
                assert!(faults[0].what.starts_with("cannot connect"), "{faults:?}");
                assert_eq!(faults.len(), 1);
            }
        }
    }
}
