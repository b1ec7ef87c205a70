//! Parser of the lines that a program prints (docs/reference/protocol.md): pure, of untrusted bytes, in bounded memory.

use std::collections::BTreeMap;

use crate::record::Metric;

/// The longest protocol line, in bytes. Longer lines are ignored.
const LONGEST_LINE: usize = 512;
/// More metrics than any workload has.
const MOST_METRICS: usize = 256;
const MOST_HISTOGRAMS: usize = 16;

/// What a program has printed so far.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Said {
    pub alive: Option<u64>,
    /// The smallest `alive` printed after that. Only a load may print it again.
    pub fewer: Option<u64>,
    pub done: Option<u64>,
    pub failed: Option<u64>,
    /// Preparation is over, and the work begins.
    pub ready: bool,
    /// The result of the work, to be compared with the correct one.
    pub check: Option<String>,
    pub metrics: BTreeMap<String, Metric>,
    pub histograms: BTreeMap<String, Vec<u64>>,
    /// Number of lines outside the protocol.
    pub stray_lines: u64,
    /// The first protocol error: a count that is not a number, a line printed twice.
    pub breach: Option<String>,
    /// A line `alive` was wrong: the program uses the protocol, but incorrectly.
    pub bad_alive: bool,
}

/// A protocol line that taskscale acts on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProtocolEvent {
    Alive,
    Ready,
    /// It accepts connections at this port.
    Listening(u16),
    Done,
}

/// Splits standard output into lines and parses them.
#[derive(Debug, Default)]
pub struct Listener {
    pub said: Said,
    line: Vec<u8>,
    too_long: bool,
    listening: bool,
    /// Number of bytes received.
    pub bytes: u64,
}

impl Listener {
    /// Takes the next chunk and returns its events, in order.
    pub fn feed(&mut self, chunk: &[u8]) -> Vec<ProtocolEvent> {
        self.bytes += chunk.len() as u64;
        let mut events = Vec::new();
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            events.extend(self.end_line());
            rest = &rest[end + 1..];
        }
        self.keep(rest);
        events
    }

    /// The output has ended: a last line without a newline counts.
    pub fn finish(&mut self) -> Vec<ProtocolEvent> {
        if self.line.is_empty() && !self.too_long {
            Vec::new()
        } else {
            self.end_line().into_iter().collect()
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE - self.line.len();
        self.too_long |= bytes.len() > room;
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn end_line(&mut self) -> Option<ProtocolEvent> {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.too_long) {
            self.said.stray_lines += 1;
            return None;
        }
        match std::str::from_utf8(&line) {
            Ok(line) => self.parse_line(line.trim_end_matches('\r')),
            Err(_) => {
                self.said.stray_lines += 1;
                None
            }
        }
    }

    fn parse_line(&mut self, line: &str) -> Option<ProtocolEvent> {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let word = words.next()?;
        match word {
            "alive" | "done" | "failed" => {
                let (Some(count), None) = (words.next().and_then(whole_number), words.next()) else {
                    self.said.bad_alive |= word == "alive";
                    self.breach(format!("printed {line:?}, expected `{word}` and a whole number"));
                    return None;
                };
                let (place, event) = match word {
                    "alive" => (&mut self.said.alive, Some(ProtocolEvent::Alive)),
                    "done" => (&mut self.said.done, Some(ProtocolEvent::Done)),
                    _ => (&mut self.said.failed, None),
                };
                if let Some(first) = place {
                    let breach = format!("printed `{word}` twice: {first}, then {count}");
                    if word == "alive" {
                        let least = self.said.fewer.unwrap_or(*first).min(count);
                        self.said.fewer = Some(least);
                        self.said.bad_alive = true;
                    }
                    self.breach(breach);
                    return None;
                }
                *place = Some(count);
                event
            }
            "ready" if words.next().is_none() => {
                if std::mem::replace(&mut self.said.ready, true) {
                    self.breach("printed `ready` twice".to_owned());
                    return None;
                }
                Some(ProtocolEvent::Ready)
            }
            "listening" => {
                let port = words.next().and_then(whole_number).and_then(|port| u16::try_from(port).ok());
                let (Some(port), None) = (port.filter(|port| *port > 0), words.next()) else {
                    self.breach(format!("printed {line:?}, expected `listening` and a port"));
                    return None;
                };
                if std::mem::replace(&mut self.listening, true) {
                    self.breach("printed `listening` twice".to_owned());
                    return None;
                }
                Some(ProtocolEvent::Listening(port))
            }
            "check" => {
                match (words.next(), words.next()) {
                    (Some(check), None) if self.said.check.is_none() => {
                        self.said.check = Some(check.to_owned());
                    }
                    (Some(_), None) => self.breach("printed `check` twice".to_owned()),
                    _ => self.breach(format!("printed {line:?}, expected `check` and one word")),
                }
                None
            }
            "histogram" => {
                let name = words.next().map(str::to_owned);
                let counts: Option<Vec<u64>> = words.map(whole_number).collect();
                match (name, counts) {
                    (Some(name), Some(_)) if self.said.histograms.contains_key(&name) => {
                        self.breach(format!("printed `histogram {name}` twice"));
                    }
                    (Some(name), Some(counts))
                        if !counts.is_empty() && self.said.histograms.len() < MOST_HISTOGRAMS =>
                    {
                        self.said.histograms.insert(name, counts);
                    }
                    (Some(_), Some(counts)) if !counts.is_empty() => self.said.stray_lines += 1,
                    _ => {
                        self.breach(format!("printed {line:?}, expected `histogram <name> <count> <count>…`"))
                    }
                }
                None
            }
            "metric" => {
                let metric = (|| {
                    let (name, value, unit) = (words.next()?, words.next()?, words.next()?);
                    let value = value.parse::<f64>().ok().filter(|_| !value.starts_with('+'))?;
                    (value.is_finite() && words.next().is_none())
                        .then(|| (name.to_owned(), value, unit.to_owned()))
                })();
                match metric {
                    Some((name, value, unit)) if self.said.metrics.len() < MOST_METRICS => {
                        self.said.metrics.insert(name, Metric { value, unit });
                    }
                    Some(_) => self.said.stray_lines += 1,
                    None => self.breach(format!("printed {line:?}, expected `metric <name> <value> <unit>`")),
                }
                None
            }
            _ => {
                self.said.stray_lines += 1;
                None
            }
        }
    }

    fn breach(&mut self, breach: String) {
        self.said.breach.get_or_insert(breach);
    }
}

/// Decimal digits only: Rust would accept a sign as well.
fn whole_number(word: &str) -> Option<u64> {
    word.bytes().all(|byte| byte.is_ascii_digit()).then(|| word.parse().ok())?
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn heard(text: &str) -> Said {
        let mut listener = Listener::default();
        listener.feed(text.as_bytes());
        listener.finish();
        listener.said
    }

    #[test]
    fn the_lines_of_a_correct_program_are_parsed() {
        let said = heard("alive 10\nmetric rate 2.5 tasks/s\ndone 10\n");
        assert_eq!((said.alive, said.done, said.failed), (Some(10), Some(10), None));
        assert_eq!(said.metrics["rate"], Metric { value: 2.5, unit: "tasks/s".into() });
        assert_eq!((said.stray_lines, said.breach), (0, None));
        let said = heard("ready\nhistogram late_us 0 3 12\ndone 10\ncheck 45\n");
        assert_eq!((said.ready, said.done, said.check.as_deref()), (true, Some(10), Some("45")));
        assert_eq!(said.histograms["late_us"], [0, 3, 12]);
        assert_eq!((said.stray_lines, said.breach), (0, None));
    }

    #[test]
    fn the_last_line_needs_no_newline_and_windows_line_ends_do() {
        assert_eq!(heard("alive 3\r\ndone 3").done, Some(3));
    }

    #[test]
    fn protocol_errors_are_named() {
        assert_eq!(heard("alive 1\nalive 2\n").breach.as_deref(), Some("printed `alive` twice: 1, then 2"));
        for text in [
            "alive lots",
            "alive -1",
            "alive +5",
            "alive 5.0",
            "alive 0x5",
            "alive 1_000",
            "alive \u{665}",
            "done +5",
            "failed +0",
            "listening +80",
            "listening 65536",
            "histogram late 1 +2",
            "histogram late 1\nhistogram late 1",
            "metric a +1 s",
            "alive 1000000000000000000000000000000",
            "alive",
            "alive 1 2",
            "metric a b c",
            "metric a NaN s",
            "ready\nready",
            "check",
            "check 1 2",
            "histogram late",
            "histogram late 1 x",
        ] {
            let said = heard(text);
            assert!(said.breach.is_some() && said.alive.is_none(), "{text}: {said:?}");
        }
    }

    #[test]
    fn other_output_is_counted_and_ignored() {
        let said = heard("hello\n\u{1b}[31malive 3\n\nalive 2\n");
        assert_eq!((said.alive, said.stray_lines), (Some(2), 2));
    }

    #[test]
    fn a_line_of_any_length_takes_bounded_memory() {
        let mut listener = Listener::default();
        for _ in 0..10_000 {
            listener.feed(&[b'x'; 4096]);
            assert!(listener.line.capacity() <= 4 * LONGEST_LINE);
        }
        assert_eq!(listener.feed(b"\nalive 7\n"), [ProtocolEvent::Alive]);
        assert_eq!(listener.said.stray_lines, 1);
    }

    proptest! {
        #[test]
        fn any_bytes_in_any_chunks_mean_the_same(bytes in proptest::collection::vec(any::<u8>(), 0..2000), cut in 1usize..50) {
            let mut whole = Listener::default();
            whole.feed(&bytes);
            whole.finish();
            let mut pieces = Listener::default();
            for piece in bytes.chunks(cut) {
                pieces.feed(piece);
            }
            pieces.finish();
            prop_assert_eq!(whole.said, pieces.said);
        }
    }
}
