//! What clients and servers say to each other: one implementation for each protocol, on bytes alone.

use std::collections::VecDeque;

/// When a message was due, and when it was sent, in nanoseconds of the clients' clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Instants {
    pub due_ns: u64,
    pub sent_ns: u64,
}

/// What came of bytes that a server sent.
#[derive(Debug, Default)]
pub(super) struct Heard {
    /// To be sent on the same connection.
    pub answer: Vec<u8>,
    /// The connection has become ready to talk.
    pub ready: bool,
    /// How many messages came, to whomever.
    pub deliveries: u64,
    /// Messages that all who should have them now have: the connection that sent each, and when.
    pub complete: Vec<(usize, Instants)>,
}

impl Heard {
    /// As if nothing had come; what it holds is kept for the next.
    pub fn clear(&mut self) {
        self.answer.clear();
        self.complete.clear();
        (self.ready, self.deliveries) = (false, 0);
    }
}

/// One protocol, seen from the clients of one process, which are numbered from 0.
pub(super) trait Talk {
    /// What a client sends as soon as it is connected.
    fn greeting(&self, client: usize) -> Vec<u8>;

    /// Whether a client is ready once it is accepted, with no word from the server.
    fn ready_at_once(&self) -> bool;

    /// Adds the client's next message.
    fn say(&mut self, client: usize, when: Instants, bytes: &mut Vec<u8>);

    /// Takes what a client received. An error is the server's: what came is not what should have come.
    fn hear(&mut self, client: usize, bytes: &[u8], heard: &mut Heard) -> Result<(), String>;
}

/// Clients that say nothing, and let go what they hear.
pub(super) struct Silence;

impl Talk for Silence {
    fn greeting(&self, _: usize) -> Vec<u8> {
        Vec::new()
    }

    fn ready_at_once(&self) -> bool {
        true
    }

    fn say(&mut self, _: usize, _: Instants, _: &mut Vec<u8>) {}

    fn hear(&mut self, _: usize, _: &[u8], _: &mut Heard) -> Result<(), String> {
        Ok(())
    }
}

/// Bytes that are sent back.
pub(super) struct Echo {
    size: usize,
    /// What all messages are cut from, each at a place of its own: byte `i` is `i mod PERIOD`.
    pattern: Vec<u8>,
    /// The number of the first client of this process: no two of all processes say the same.
    first: usize,
    clients: Vec<EchoClient>,
}

/// A prime, so that neighbours differ in every byte.
const PERIOD: usize = 251;

#[derive(Default)]
struct EchoClient {
    said: u64,
    /// Bytes that have come back.
    heard: u64,
    /// Of messages that are on their way, the first first.
    waiting: VecDeque<Instants>,
}

impl Echo {
    pub fn new(size: usize, first: usize, clients: usize) -> Echo {
        let clients = std::iter::repeat_with(EchoClient::default).take(clients).collect();
        let pattern = (0..PERIOD + size).map(|i| (i % PERIOD) as u8).collect();
        Echo { size, pattern, first, clients }
    }

    /// Message `nth` of a client: neighbours in either differ in every byte.
    fn message(&self, client: usize, nth: u64) -> &[u8] {
        let at = ((self.first + client) as u64 * 31 + nth * 17) % PERIOD as u64;
        &self.pattern[at as usize..][..self.size]
    }
}

impl Talk for Echo {
    fn greeting(&self, _: usize) -> Vec<u8> {
        Vec::new()
    }

    fn ready_at_once(&self) -> bool {
        true
    }

    fn say(&mut self, client: usize, when: Instants, bytes: &mut Vec<u8>) {
        bytes.extend_from_slice(self.message(client, self.clients[client].said));
        self.clients[client].said += 1;
        self.clients[client].waiting.push_back(when);
    }

    fn hear(&mut self, client: usize, bytes: &[u8], heard: &mut Heard) -> Result<(), String> {
        let mut rest = bytes;
        while !rest.is_empty() {
            let at = self.clients[client].heard;
            let (nth, k) = (at / self.size as u64, (at % self.size as u64) as usize);
            if nth >= self.clients[client].said {
                return Err("it sent more than it had received".into());
            }
            let due = &self.message(client, nth)[k..];
            let (piece, further) = rest.split_at(due.len().min(rest.len()));
            if let Some(wrong) = first_difference(piece, due) {
                let (came, due) = (piece[wrong], due[wrong]);
                return Err(format!(
                    "byte {} of message {nth} came back as {came}, and {due} was sent",
                    k + wrong
                ));
            }
            let state = &mut self.clients[client];
            state.heard += piece.len() as u64;
            if k + piece.len() == self.size {
                heard.deliveries += 1;
                heard.complete.extend(state.waiting.pop_front().map(|when| (client, when)));
            }
            rest = further;
        }
        Ok(())
    }
}

/// Where `piece` is not as `due` begins. All at once first: that is what nearly every message comes to.
fn first_difference(piece: &[u8], due: &[u8]) -> Option<usize> {
    if due.starts_with(piece) { None } else { piece.iter().zip(due).position(|(came, due)| came != due) }
}

#[cfg(test)]
mod tests {
    use super::*;

    const WHEN: Instants = Instants { due_ns: 1, sent_ns: 2 };

    fn said(echo: &mut Echo, client: usize) -> Vec<u8> {
        let mut bytes = Vec::new();
        echo.say(client, WHEN, &mut bytes);
        bytes
    }

    #[test]
    fn what_comes_back_whole_and_in_order_is_complete() {
        let mut echo = Echo::new(64, 5, 2);
        let bytes = [said(&mut echo, 1), said(&mut echo, 1)].concat();
        assert_eq!(bytes.len(), 128);
        let mut heard = Heard::default();
        echo.hear(1, &bytes[..100], &mut heard).unwrap();
        assert_eq!((heard.deliveries, heard.complete.len()), (1, 1));
        echo.hear(1, &bytes[100..], &mut heard).unwrap();
        assert_eq!((heard.deliveries, heard.complete), (2, vec![(1, WHEN), (1, WHEN)]));
        assert!(echo.hear(1, b"x", &mut Heard::default()).unwrap_err().contains("more than it had received"));
    }

    #[test]
    fn what_comes_back_damaged_or_out_of_order_or_from_another_is_an_error() {
        for size in [1, 16, 64] {
            let mut echo = Echo::new(size, 0, 2);
            let (first, second, other) = (said(&mut echo, 0), said(&mut echo, 0), said(&mut echo, 1));
            for wrong in [&second, &other, &first.iter().map(|byte| byte ^ 1).collect()] {
                let error = echo.hear(0, wrong, &mut Heard::default()).unwrap_err();
                assert!(error.starts_with("byte 0 of message 0 came back as"), "{error}");
            }
        }
    }
}
