//! The protocols between clients and servers: one implementation each, on bytes only.

use std::collections::VecDeque;

/// The scheduled and the actual send time of a message, in nanoseconds of the clients' clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instants {
    pub due_ns: u64,
    pub sent_ns: u64,
}

/// The result of processing bytes from the server.
#[derive(Debug, Default)]
pub(super) struct Received {
    /// To be sent on the same connection.
    pub answer: Vec<u8>,
    /// The connection has become ready to talk.
    pub ready: bool,
    /// Number of messages received.
    pub deliveries: u64,
    /// Messages that have reached all receivers: the connection that sent each, and when.
    pub complete: Vec<(usize, Instants)>,
    /// Messages that were held back and may be sent now: the sender of each, and its send times.
    pub released: Vec<(usize, Instants)>,
}

impl Received {
    /// Empties it, keeping its buffers.
    pub fn clear(&mut self) {
        self.answer.clear();
        self.complete.clear();
        self.released.clear();
        (self.ready, self.deliveries) = (false, 0);
    }
}

/// One protocol, seen from the clients of one process, which are numbered from 0.
pub(super) trait Protocol {
    /// The first bytes of a client, which is ready when the server has answered them. `None`: a client is ready
    /// once it is connected.
    fn greeting(&self) -> Option<String> {
        None
    }

    /// Appends the client's next message to `bytes`, or nothing if it is held back until `receive` releases it.
    fn encode(&mut self, client: usize, when: Instants, bytes: &mut Vec<u8>);

    /// Processes bytes that a client received. Returns an error if the server should not have sent them.
    fn receive(&mut self, client: usize, bytes: &[u8], received: &mut Received) -> Result<(), String>;
}

/// Clients that send nothing, and ignore what they receive.
pub(super) struct SilentProtocol;

impl Protocol for SilentProtocol {
    fn encode(&mut self, _: usize, _: Instants, _: &mut Vec<u8>) {}

    fn receive(&mut self, _: usize, _: &[u8], _: &mut Received) -> Result<(), String> {
        Ok(())
    }
}

/// Bytes that the server sends back. A message begins with the number of its client and its own number, eight
/// bytes each.
pub(super) struct EchoProtocol {
    size: usize,
    /// The number of the first client of this process, so that no two processes send the same message.
    first: usize,
    clients: Vec<EchoClient>,
    /// Makes messages unpredictable: a server must read what it returns.
    key: u64,
    /// Buffer for the message that is expected on a connection, allocated once.
    due: Vec<u8>,
}

/// Bytes of both numbers. Shorter messages are a hash of them.
const NUMBERS: usize = 16;

#[derive(Default)]
struct EchoClient {
    sent: u64,
    /// Bytes that have come back.
    received: u64,
    /// Send times of messages in flight, oldest first.
    waiting: VecDeque<Instants>,
}

impl EchoProtocol {
    pub fn new(size: usize, first: usize, clients: usize) -> EchoProtocol {
        let clients = std::iter::repeat_with(EchoClient::default).take(clients).collect();
        EchoProtocol { size, first, clients, key: fastrand::u64(..), due: Vec::with_capacity(size) }
    }

    /// Appends message `nth` of a client.
    fn put_message(&self, client: usize, nth: u64, bytes: &mut Vec<u8>) {
        let client = (self.first + client) as u64;
        // Reproducible from both numbers and the key.
        let mut random = fastrand::Rng::with_seed(client.rotate_left(32) ^ nth ^ self.key);
        if self.size < NUMBERS {
            let hash = [random.u64(..).to_le_bytes(), random.u64(..).to_le_bytes()];
            bytes.extend_from_slice(&hash.as_flattened()[..self.size]);
            return;
        }
        bytes.extend_from_slice(&client.to_le_bytes());
        bytes.extend_from_slice(&nth.to_le_bytes());
        let begin = bytes.len();
        bytes.resize(begin + self.size - NUMBERS, 0);
        random.fill(&mut bytes[begin..]);
    }

    /// How `piece`, received from byte `k` of message `nth` on, differs from the expected message.
    fn difference(&self, client: usize, nth: u64, k: usize, piece: &[u8]) -> Option<String> {
        let due = &self.due[k..];
        if due.starts_with(piece) {
            return None;
        }
        let own = (self.first + client) as u64;
        if k == 0 && self.size >= NUMBERS && piece.len() >= NUMBERS {
            let number = |at: usize| u64::from_le_bytes(std::array::from_fn(|byte| piece[at + byte]));
            let (whose, which) = (number(0), number(8));
            if whose == own && (nth + 1..self.clients[client].sent).contains(&which) {
                return Some(format!("expected message {nth}, received message {which}"));
            }
            if whose == own && which < nth {
                return Some(format!("expected message {nth}, received message {which} again"));
            }
            let here = whose.checked_sub(self.first as u64).and_then(|at| self.clients.get(at as usize));
            if whose != own && here.is_some_and(|other| which < other.sent) {
                return Some(format!("received message {which} of connection {whose}"));
            }
        }
        let at = piece.iter().zip(due).position(|(came, due)| came != due)?;
        let (came, due) = (piece[at], due[at]);
        Some(format!("byte {} of message {nth} is {came}, expected {due}", k + at))
    }
}

impl Protocol for EchoProtocol {
    fn encode(&mut self, client: usize, when: Instants, bytes: &mut Vec<u8>) {
        self.put_message(client, self.clients[client].sent, bytes);
        self.clients[client].sent += 1;
        self.clients[client].waiting.push_back(when);
    }

    fn receive(&mut self, client: usize, bytes: &[u8], received: &mut Received) -> Result<(), String> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = self.clients[client].received;
            let (nth, k) = (at / self.size as u64, (at % self.size as u64) as usize);
            if nth >= self.clients[client].sent {
                return Err("the server sent more than it received".into());
            }
            let mut due = std::mem::take(&mut self.due);
            due.clear();
            self.put_message(client, nth, &mut due);
            self.due = due;
            let (piece, further) = rest.split_at((self.size - k).min(rest.len()));
            if let Some(what) = self.difference(client, nth, k, piece) {
                return Err(what);
            }
            let state = &mut self.clients[client];
            state.received += piece.len() as u64;
            if k + piece.len() == self.size {
                received.deliveries += 1;
                received.complete.extend(state.waiting.pop_front().map(|when| (client, when)));
            }
            rest = further;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEN: Instants = Instants { due_ns: 1, sent_ns: 2 };

    fn said(echo: &mut EchoProtocol, client: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        echo.encode(client, WHEN, &mut bytes);
        bytes
    }

    #[test]
    fn ordered_echoes_complete_messages() {
        let mut echo = EchoProtocol::new(64, 5, 2);
        let bytes = [said(&mut echo, 1), said(&mut echo, 1)].concat();
        assert_eq!(bytes.len(), 128);
        let mut received = Received::default();
        echo.receive(1, &bytes[..100], &mut received).unwrap();
        assert_eq!((received.deliveries, received.complete.len()), (1, 1));
        echo.receive(1, &bytes[100..], &mut received).unwrap();
        assert_eq!((received.deliveries, received.complete), (2, vec![(1, WHEN), (1, WHEN)]));
        assert!(
            echo.receive(1, b"x", &mut Received::default()).unwrap_err().contains("more than it received")
        );
    }

    #[test]
    fn wrong_echoes_are_errors() {
        for (size, named) in [(1, false), (8, false), (16, true), (64, true)] {
            let mut echo = EchoProtocol::new(size, 500, 3);
            let [first, second, third] = [0; 3].map(|client| said(&mut echo, client));
            let other = said(&mut echo, 1);
            let mut error = |bytes: &[u8]| echo.receive(0, bytes, &mut Received::default()).unwrap_err();
            let damaged: Vec<u8> = first.iter().map(|byte| byte ^ 1).collect();
            assert!(error(&damaged).starts_with("byte 0 of message 0 is "));
            for (bytes, what) in [
                (&second, "expected message 0, received message 1"),
                (&third, "expected message 0, received message 2"),
                (&other, "received message 0 of connection 501"),
            ] {
                assert!(if named { error(bytes) == what } else { error(bytes).starts_with("byte 0") });
            }
        }
        let mut echo = EchoProtocol::new(64, 0, 1);
        let first = said(&mut echo, 0);
        said(&mut echo, 0);
        let error = echo.receive(0, &first.repeat(2), &mut Received::default()).unwrap_err();
        assert_eq!(error, "expected message 1, received message 0 again");
    }

    /// Otherwise a server that answers on the wrong connection would pass.
    #[test]
    fn clients_never_send_the_same_message() {
        for size in [16, 64] {
            let mut echo = EchoProtocol::new(size, 0, 60_000);
            let mut all: Vec<_> = (0..60_000).map(|client| said(&mut echo, client)).collect();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), 60_000);
        }
    }
}
