//! Parser of the lines that a program prints (docs/reference/protocol.md): pure, for untrusted input, in
//! bounded memory.

use std::collections::BTreeMap;

use crate::Metric;

/// The longest protocol line, in bytes. Longer lines are ignored.
const LONGEST_LINE: usize = 512;
/// Maximum number of metrics, more than any workload has.
const MAX_METRICS: usize = 256;
const MAX_HISTOGRAMS: usize = 16;

/// What a program has printed so far in lines of the protocol.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Printed {
    pub alive: Option<u64>,
    /// The smallest `alive` printed after that. Only a load may print it again.
    pub fewer: Option<u64>,
    pub done: Option<u64>,
    pub failed: Option<u64>,
    /// Preparation is over, and the work begins.
    pub ready: bool,
    /// `alive` came after `ready`.
    pub alive_late: bool,
    /// The port on which it accepts connections.
    pub port: Option<u16>,
    /// The result of the work, to be compared with the correct one.
    pub check: Option<String>,
    pub metrics: BTreeMap<String, Metric>,
    pub histograms: BTreeMap<String, Vec<u64>>,
    /// The first protocol error, such as a count that is not a number or a line printed twice.
    pub breach: Option<String>,
    /// A wrong or repeated `alive` line: the program uses the protocol, but incorrectly.
    pub bad_alive: bool,
}

/// The effect of a line of output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LineKind {
    /// The first `alive`, on which taskscale acts.
    Alive,
    /// The first `ready`, likewise.
    Ready,
    /// The first `done`, likewise.
    Done,
    /// Changed what the program has printed.
    Noted,
    /// Changed nothing: an empty line, or one protocol error of many.
    Repeated,
    /// Not part of the protocol.
    Stray,
}

/// Splits output into lines, in bounded memory.
#[derive(Debug)]
pub struct Lines {
    longest: usize,
    line: Vec<u8>,
    too_long: bool,
    /// Number of bytes received.
    pub bytes: u64,
    /// Number of lines that were too long, not UTF-8, or refused by `take`.
    pub stray: u64,
}

impl Default for Lines {
    /// For the lines of a program.
    fn default() -> Lines {
        Lines::of_at_most(LONGEST_LINE)
    }
}

impl Lines {
    /// Accepts lines of at most this many bytes. Longer ones are stray.
    pub fn of_at_most(longest: usize) -> Lines {
        Lines { longest, line: Vec::new(), too_long: false, bytes: 0, stray: 0 }
    }

    /// Takes the next chunk and passes each completed line to `take`, which returns whether it wants the line.
    pub fn feed(&mut self, chunk: &[u8], mut take: impl FnMut(&str) -> bool) {
        self.bytes += chunk.len() as u64;
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = self.longest - self.line.len();
            self.too_long |= text.len() > room;
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            if piece.ends_with(b"\n") {
                self.end_line(&mut take);
            }
        }
    }

    /// The output has ended: a last line without a newline counts.
    pub fn finish(&mut self, mut take: impl FnMut(&str) -> bool) {
        if !self.line.is_empty() || self.too_long {
            self.end_line(&mut take);
        }
    }

    fn end_line(&mut self, take: &mut impl FnMut(&str) -> bool) {
        let wanted = !std::mem::take(&mut self.too_long)
            && std::str::from_utf8(&self.line).is_ok_and(|line| take(line.trim_end_matches('\r')));
        self.stray += u64::from(!wanted);
        self.line.clear();
    }
}

impl Printed {
    /// Takes one line.
    pub fn take(&mut self, line: &str) -> LineKind {
        let mut words = line.split(' ').filter(|word| !word.is_empty());
        let Some(word) = words.next() else { return LineKind::Repeated };
        match word {
            "alive" | "done" | "failed" => {
                let (Some(count), None) = (words.next().and_then(whole_number), words.next()) else {
                    let first_bad = word == "alive" && !std::mem::replace(&mut self.bad_alive, true);
                    let told = self.breach(format!("printed {line:?}, expected `{word}` and a whole number"));
                    return if first_bad { LineKind::Noted } else { told };
                };
                self.take_count(word, count)
            }
            "ready" if words.next().is_none() => {
                if std::mem::replace(&mut self.ready, true) {
                    return self.breach("printed `ready` twice".to_owned());
                }
                LineKind::Ready
            }
            "listening" => {
                let port = words.next().and_then(whole_number).and_then(|port| u16::try_from(port).ok());
                let (Some(port), None) = (port.filter(|port| *port > 0), words.next()) else {
                    return self.breach(format!("printed {line:?}, expected `listening` and a port"));
                };
                if self.port.is_some() {
                    return self.breach("printed `listening` twice".to_owned());
                }
                self.port = Some(port);
                LineKind::Noted
            }
            "check" => match (words.next(), words.next()) {
                (Some(check), None) if self.check.is_none() => {
                    self.check = Some(check.to_owned());
                    LineKind::Noted
                }
                (Some(_), None) => self.breach("printed `check` twice".to_owned()),
                _ => self.breach(format!("printed {line:?}, expected `check` and one word")),
            },
            "histogram" => self.take_histogram(line, words),
            "metric" => self.take_metric(line, words),
            _ => LineKind::Stray,
        }
    }

    fn take_count(&mut self, word: &str, count: u64) -> LineKind {
        self.alive_late |= word == "alive" && self.alive.is_none() && self.ready;
        let (place, kind) = match word {
            "alive" => (&mut self.alive, LineKind::Alive),
            "done" => (&mut self.done, LineKind::Done),
            _ => (&mut self.failed, LineKind::Noted),
        };
        let Some(first) = *place else {
            *place = Some(count);
            return kind;
        };
        let mut fewer = false;
        if word == "alive" {
            let least = self.fewer.unwrap_or(first).min(count);
            fewer = self.fewer.replace(least) != Some(least);
            fewer |= !std::mem::replace(&mut self.bad_alive, true);
        }
        let told = self.breach(format!("printed `{word}` twice: {first}, then {count}"));
        if fewer { LineKind::Noted } else { told }
    }

    fn take_histogram<'w>(&mut self, line: &str, mut words: impl Iterator<Item = &'w str>) -> LineKind {
        let name = words.next().map(str::to_owned);
        let counts: Option<Vec<u64>> = words.map(whole_number).collect();
        match (name, counts) {
            (Some(name), Some(_)) if self.histograms.contains_key(&name) => {
                self.breach(format!("printed `histogram {name}` twice"))
            }
            (Some(name), Some(counts)) if !counts.is_empty() && self.histograms.len() < MAX_HISTOGRAMS => {
                self.histograms.insert(name, counts);
                LineKind::Noted
            }
            (Some(_), Some(counts)) if !counts.is_empty() => LineKind::Stray,
            _ => self.breach(format!("printed {line:?}, expected `histogram <name> <count> <count>…`")),
        }
    }

    fn take_metric<'w>(&mut self, line: &str, mut words: impl Iterator<Item = &'w str>) -> LineKind {
        let metric = (|| {
            let (name, value, unit) = (words.next()?, words.next()?, words.next()?);
            let value = value.parse::<f64>().ok().filter(|_| !value.starts_with('+'))?;
            (value.is_finite() && words.next().is_none()).then(|| (name.to_owned(), value, unit.to_owned()))
        })();
        match metric {
            Some((name, value, unit)) if self.metrics.len() < MAX_METRICS => {
                self.metrics.insert(name, Metric { value, unit });
                LineKind::Noted
            }
            Some(_) => LineKind::Stray,
            None => self.breach(format!("printed {line:?}, expected `metric <name> <value> <unit>`")),
        }
    }

    fn breach(&mut self, breach: String) -> LineKind {
        let first = self.breach.is_none();
        self.breach.get_or_insert(breach);
        if first { LineKind::Noted } else { LineKind::Repeated }
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

    /// Parses `bytes` in pieces of this length. Returns the result and the number of stray lines.
    fn heard_in(bytes: &[u8], length: usize) -> (Printed, u64) {
        let (mut lines, mut printed) = (Lines::default(), Printed::default());
        let mut take = |line: &str| printed.take(line) != LineKind::Stray;
        bytes.chunks(length).for_each(|piece| lines.feed(piece, &mut take));
        lines.finish(&mut take);
        (printed, lines.stray)
    }

    fn heard(text: &str) -> Printed {
        heard_in(text.as_bytes(), usize::MAX).0
    }

    #[test]
    fn the_lines_of_a_correct_program_are_parsed() {
        let printed = heard("alive 10\nmetric rate 2.5 tasks/s\ndone 10\n");
        assert_eq!((printed.alive, printed.done, printed.failed), (Some(10), Some(10), None));
        assert_eq!(printed.metrics["rate"], Metric { value: 2.5, unit: "tasks/s".into() });
        assert_eq!(printed.breach, None);
        let printed = heard("ready\nhistogram late_us 0 3 12\ndone 10\ncheck 45\n");
        assert_eq!((printed.ready, printed.done, printed.check.as_deref()), (true, Some(10), Some("45")));
        assert_eq!(printed.histograms["late_us"], [0, 3, 12]);
        assert_eq!(printed.breach, None);
    }

    #[test]
    fn missing_final_newline_and_crlf_are_accepted() {
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
            let printed = heard(text);
            assert!(printed.breach.is_some() && printed.alive.is_none(), "{text}: {printed:?}");
        }
    }

    #[test]
    fn other_output_is_counted_and_ignored() {
        let (printed, stray) = heard_in(b"hello\n\x1b[31malive 3\n\nalive 2\n", usize::MAX);
        assert_eq!((printed.alive, stray), (Some(2), 2));
    }

    #[test]
    fn a_line_of_any_length_takes_bounded_memory() {
        let mut lines = Lines::default();
        for _ in 0..10_000 {
            lines.feed(&[b'x'; 4096], |_| true);
            assert!(lines.line.capacity() <= 4 * LONGEST_LINE);
        }
        let mut taken = Vec::new();
        lines.feed(b"\nalive 7\n", |line| {
            taken.push(line.to_owned());
            true
        });
        assert_eq!((taken, lines.stray), (vec!["alive 7".to_owned()], 1));
    }

    proptest! {
        #[test]
        fn parsing_does_not_depend_on_chunks(bytes in proptest::collection::vec(any::<u8>(), 0..2000), cut in 1usize..50) {
            prop_assert_eq!(heard_in(&bytes, usize::MAX), heard_in(&bytes, cut));
        }
    }
}
