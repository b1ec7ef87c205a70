//! Connections of one process, on one epoll: bytes in and out, and time.

use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::time::{Duration, Instant};

use rustix::buffer::spare_capacity;
use rustix::event::epoll::{self, EventData, EventFlags};
use rustix::event::{PollFd, PollFlags};
use rustix::io::Errno;
use rustix::net::{RecvFlags, SendFlags};
use rustix::time::Timespec;

use super::backlog::{Backlog, Queue};
use super::connect::{connect, wait_for_accepts, wait_for_room};
use super::error::LoadError;
use super::protocol::{Instants, Protocol, Received};

/// Key of standard input in epoll. Connections use their numbers.
const STDIN: u64 = u64::MAX;
/// Bytes read at once.
const CHUNK: usize = 64 * 1024;
const EVENTS: usize = 512;
/// Connections in progress at a time, handshakes included: over a slow network each takes several round trips.
const HANDSHAKES_IN_FLIGHT: usize = 256;
/// Half seconds in a row without an accepted connection after which a server gets no more connections.
const MAX_REFUSED: u32 = 10;
/// How long a server is observed after it accepted the last connection.
const SETTLED: Duration = Duration::from_millis(20);
/// How long a server may accept nothing while connections wait for it.
pub(super) const ACCEPT_TIMEOUT: Duration = Duration::from_secs(10);
/// How long a server may send nothing while a message is expected.
pub(super) const TIMEOUT: Duration = Duration::from_secs(30);

/// Connections, numbered from 0, with their received data.
pub(super) struct Engine {
    epoll: OwnedFd,
    clock: Instant,
    connections: Vec<Connection>,
    /// Buffers for bytes read, what they mean, and bytes to send: allocated once, not for each message.
    buffer: Vec<u8>,
    received: Received,
    outgoing: Vec<u8>,
    events: Vec<epoll::Event>,
    protocol: Box<dyn Protocol>,
    address: SocketAddr,
    /// The number of the first connection among those of all processes.
    first: usize,
    pub ready: usize,
    pub lost: usize,
    /// Connections whose `connect` has begun and not yet ended.
    connecting: usize,
    pub deliveries: u64,
    /// Messages that have reached all receivers: sender, send times, last arrival.
    pub complete: Vec<(usize, Instants, u64)>,
    /// There is something to read on standard input.
    stdin_ready: bool,
    /// The server stopped accepting connections, and is not waited for.
    gave_up: bool,
}

#[derive(Default)]
struct Connection {
    /// `None`: the server has closed it.
    socket: Option<OwnedFd>,
    /// What could not be sent yet.
    unsent: Vec<u8>,
    connected: bool,
    ready: bool,
}

impl Engine {
    pub fn new(protocol: Box<dyn Protocol>, address: SocketAddr, first: usize) -> Result<Engine, LoadError> {
        let io = |error: Errno| LoadError::Io("wait for connections", error.into());
        let epoll = epoll::create(epoll::CreateFlags::CLOEXEC).map_err(io)?;
        // Without this, a wait ends up to 50 µs late.
        // SAFETY: a plain system call.
        unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, 1) };
        Ok(Engine {
            epoll,
            clock: Instant::now(),
            connections: Vec::new(),
            buffer: vec![0; CHUNK],
            received: Received::default(),
            outgoing: Vec::new(),
            events: Vec::with_capacity(EVENTS),
            protocol,
            address,
            first,
            ready: 0,
            lost: 0,
            connecting: 0,
            deliveries: 0,
            complete: Vec::new(),
            stdin_ready: false,
            gave_up: false,
        })
    }

    pub fn now_ns(&self) -> u64 {
        self.clock.elapsed().as_nanos() as u64
    }

    pub fn len(&self) -> usize {
        self.connections.len()
    }

    /// Serves the connections until standard input is readable. Each wait for events takes at most this long.
    pub fn serve_until_input(&mut self, most: Duration) -> Result<(), LoadError> {
        let io = |error: Errno| LoadError::Io("read orders for", error.into());
        let stdin = rustix::stdio::stdin();
        epoll::add(&self.epoll, stdin, EventData::new_u64(STDIN), EventFlags::IN).map_err(io)?;
        while !std::mem::take(&mut self.stdin_ready) {
            self.turn(most)?;
        }
        epoll::delete(&self.epoll, stdin).map_err(io)
    }

    /// Connects `count` clients, several at a time and no faster than the server accepts them. Other processes
    /// may be connecting theirs meanwhile.
    pub fn connect(&mut self, count: usize) -> Result<(), LoadError> {
        let queue = Queue::of(self.address);
        self.connections.reserve_exact(count);
        let (mut refused, mut room) = (0, 0);
        for nth in 0..count {
            while self.unanswered() >= HANDSHAKES_IN_FLIGHT {
                self.progress()?;
            }
            while room == 0 && refused <= MAX_REFUSED {
                self.turn(Duration::ZERO)?;
                let connecting = self.connecting as u64;
                let backlog = || {
                    let now = queue.ask()?;
                    Some(Backlog { waiting: now.waiting + connecting, ..now })
                };
                room = wait_for_room(&backlog);
                refused = if room > 0 { 0 } else { refused + 1 };
            }
            if room == 0 {
                self.gave_up = true;
                break;
            }
            room -= 1;
            let socket =
                connect(self.address, self.first + nth).map_err(|error| self.not_connected(nth, error))?;
            self.admit(socket)?;
        }
        while self.connecting > 0 || !self.gave_up && self.unanswered() > 0 {
            self.progress()?;
        }
        Ok(())
    }

    fn unanswered(&self) -> usize {
        self.connections.len() - self.ready - self.lost
    }

    fn not_connected(&self, client: usize, error: Errno) -> LoadError {
        LoadError::Connect { nth: self.first + client + 1, address: self.address, error: error.into() }
    }

    /// Waits until the server has accepted all connections, as long as it makes progress. Returns the number that it has
    /// not accepted.
    pub fn wait_for_accepts(&mut self) -> Result<u64, LoadError> {
        let patience = if self.gave_up { Duration::ZERO } else { ACCEPT_TIMEOUT };
        let waiting =
            wait_for_accepts(&Queue::of(self.address), patience, || self.turn(Duration::from_millis(5)))?;
        self.settle()?;
        Ok(waiting)
    }

    /// Waits a moment for connections that the server closes after accepting them.
    pub fn settle(&mut self) -> Result<(), LoadError> {
        let settled = Instant::now() + SETTLED;
        while Instant::now() < settled {
            self.turn(SETTLED / 2)?;
        }
        Ok(())
    }

    /// Watches a socket whose `connect` has begun.
    fn admit(&mut self, socket: OwnedFd) -> Result<(), LoadError> {
        let client = self.connections.len();
        // Edge-triggered: otherwise the kernel checks every socket that stays ready again at each wait.
        let flags = EventFlags::IN | EventFlags::OUT | EventFlags::RDHUP | EventFlags::ET;
        epoll::add(&self.epoll, &socket, EventData::new_u64(client as u64), flags)
            .map_err(|error| LoadError::Io("prepare a connection of", error.into()))?;
        self.connections.push(Connection { socket: Some(socket), ..Connection::default() });
        self.connecting += 1;
        Ok(())
    }

    /// Handles the end of `connect`.
    fn note_connected(&mut self, client: usize) -> Result<(), LoadError> {
        let connection = &mut self.connections[client];
        let Some(socket) = connection.socket.as_ref().filter(|_| !connection.connected) else {
            return Ok(());
        };
        let io = |error: Errno| LoadError::Io("prepare a connection of", error.into());
        if let Err(error) = rustix::net::sockopt::socket_error(socket).map_err(io)? {
            return Err(self.not_connected(client, error));
        }
        rustix::net::sockopt::set_tcp_nodelay(socket, true).map_err(io)?;
        connection.connected = true;
        self.connecting -= 1;
        let greeting = self.protocol.greeting();
        connection.ready = greeting.is_none();
        self.ready += usize::from(connection.ready);
        self.send(client, greeting.unwrap_or_default().as_bytes())
    }

    /// Waits until the state of a connection changes.
    fn progress(&mut self) -> Result<(), LoadError> {
        let state = |engine: &Engine| (engine.connecting, engine.ready, engine.lost);
        let before = state(self);
        let deadline = Instant::now() + TIMEOUT;
        while state(self) == before {
            self.turn(Duration::from_millis(100))?;
            if Instant::now() > deadline {
                let silent = |connection: &Connection| !connection.ready && connection.socket.is_some();
                let silent = self.connections.iter().position(silent).unwrap_or(0);
                if !self.connections[silent].connected {
                    return Err(self.not_connected(silent, Errno::TIMEDOUT));
                }
                let what = format!("the server sent nothing for {} s after the handshake", TIMEOUT.as_secs());
                return Err(self.wrong(silent, what));
            }
        }
        Ok(())
    }

    /// Sends a client's next message, with this scheduled send time.
    pub fn send_message(&mut self, client: usize, due_ns: u64) -> Result<(), LoadError> {
        let sent_ns = self.now_ns();
        self.encode_and_send(client, Instants { due_ns: due_ns.min(sent_ns), sent_ns })
    }

    fn encode_and_send(&mut self, client: usize, when: Instants) -> Result<(), LoadError> {
        let mut bytes = std::mem::take(&mut self.outgoing);
        bytes.clear();
        self.protocol.encode(client, when, &mut bytes);
        let result = self.send(client, &bytes);
        self.outgoing = bytes;
        result
    }

    /// Waits for data, for at most this time, and processes it.
    pub fn turn(&mut self, most: Duration) -> Result<(), LoadError> {
        let mut events = std::mem::take(&mut self.events);
        self.wait(most, &mut events).map_err(|error| LoadError::Io("wait for", error.into()))?;
        for event in &events {
            let (which, flags) = (event.data.u64(), event.flags);
            if which == STDIN {
                self.stdin_ready = true;
                continue;
            }
            let client = which as usize;
            if flags.intersects(EventFlags::OUT | EventFlags::ERR | EventFlags::HUP) {
                self.note_connected(client)?;
            }
            if flags.contains(EventFlags::OUT) && !self.connections[client].unsent.is_empty() {
                self.send(client, &[])?;
            }
            let ended = flags.intersects(EventFlags::RDHUP | EventFlags::HUP | EventFlags::ERR);
            if ended || flags.contains(EventFlags::IN) {
                self.receive(client, ended)?;
            }
        }
        self.events = events;
        Ok(())
    }

    /// Waits for events, for at most this time: with ppoll, as epoll_wait counts in milliseconds.
    fn wait(&self, most: Duration, events: &mut Vec<epoll::Event>) -> Result<(), Errno> {
        const CONCURRENT: Timespec = Timespec { tv_sec: 0, tv_nsec: 0 };
        let timeout = Timespec { tv_sec: most.as_secs() as i64, tv_nsec: most.subsec_nanos().into() };
        events.clear();
        let result = epoll::wait(&self.epoll, spare_capacity(events), Some(&CONCURRENT)).and_then(|ready| {
            if ready == 0
                && rustix::event::poll(&mut [PollFd::new(&self.epoll, PollFlags::IN)], Some(&timeout))? > 0
            {
                epoll::wait(&self.epoll, spare_capacity(events), Some(&CONCURRENT))?;
            }
            Ok(())
        });
        if result == Err(Errno::INTR) { Ok(()) } else { result }
    }

    /// Reads and processes all received data. `ended`: the server will send no more.
    fn receive(&mut self, client: usize, ended: bool) -> Result<(), LoadError> {
        // Not put back after an error, which ends the run.
        let (mut buffer, mut received) =
            (std::mem::take(&mut self.buffer), std::mem::take(&mut self.received));
        while let Some(socket) = &self.connections[client].socket {
            let length = match rustix::net::recv(socket, &mut buffer[..], RecvFlags::empty()) {
                Ok((0, _)) | Err(Errno::CONNRESET | Errno::PIPE) => {
                    self.note_closed(client);
                    break;
                }
                Ok((length, _)) => length,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(LoadError::Io("read from", error.into())),
            };
            let at_ns = self.now_ns();
            received.clear();
            let result = self.protocol.receive(client, &buffer[..length], &mut received);
            result.map_err(|what| self.wrong(client, what))?;
            self.deliveries += received.deliveries;
            self.complete.extend(received.complete.iter().map(|(sender, when)| (*sender, *when, at_ns)));
            if received.ready {
                self.connections[client].ready = true;
                self.ready += 1;
            }
            if !received.answer.is_empty() {
                self.send(client, &received.answer)?;
            }
            for (sender, when) in received.released.drain(..) {
                self.encode_and_send(sender, when)?;
            }
            // After a short read, epoll reports the data that arrives later.
            if length < buffer.len() && !ended {
                break;
            }
        }
        (self.buffer, self.received) = (buffer, received);
        Ok(())
    }

    /// Sends what is unsent, then `bytes`, as far as the socket takes them.
    fn send(&mut self, client: usize, bytes: &[u8]) -> Result<(), LoadError> {
        let connection = &mut self.connections[client];
        let Some(socket) = &connection.socket else { return Ok(()) };
        let waited = !connection.unsent.is_empty();
        connection.unsent.extend_from_slice(if waited { bytes } else { &[] });
        let all = if waited { &connection.unsent[..] } else { bytes };
        let mut sent = 0;
        while sent < all.len() {
            match rustix::net::send(socket, &all[sent..], SendFlags::NOSIGNAL) {
                Ok(length) => sent += length,
                Err(Errno::AGAIN) => break,
                Err(Errno::INTR) => {}
                // Read what the server sent before it closed the connection.
                Err(Errno::CONNRESET | Errno::PIPE) => return self.receive(client, true),
                Err(error) => return Err(LoadError::Io("write to", error.into())),
            }
        }
        connection.unsent = all[sent..].to_vec();
        Ok(())
    }

    fn note_closed(&mut self, client: usize) {
        let connection = &mut self.connections[client];
        connection.socket = None;
        connection.unsent = Vec::new();
        self.lost += 1;
        if connection.ready {
            connection.ready = false;
            self.ready -= 1;
        }
    }

    /// The error of a connection.
    pub fn wrong(&self, client: usize, what: String) -> LoadError {
        LoadError::Wrong { client: self.first + client, what }
    }

    /// Returns an error if the server has closed a connection.
    pub fn check_open(&self) -> Result<(), LoadError> {
        match self.connections.iter().position(|connection| connection.socket.is_none()) {
            Some(client) => Err(self.wrong(client, "the server closed the connection".into())),
            None => Ok(()),
        }
    }
}
