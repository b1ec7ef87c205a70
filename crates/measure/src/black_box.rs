//! Black-box programs, which need not know taskscale: how to recognize that one is ready, and its load.
//!
//! Only the settings and the parsing of output; `decide::black_box` decides, and `observe` runs them.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use regex_lite::Regex;
use serde::{Deserialize, Serialize};

/// How much of an output line is searched, in bytes: the ready signal is near its beginning.
const LONGEST_LINE: usize = 4096;

/// How to run a program that is not in the catalog.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct BlackBoxCommand {
    pub ready: Ready,
    /// Started once the program is ready; the plateau begins when the load is ready.
    pub load: Option<LoadCommand>,
    /// Whether the program was given the time that its tasks wait, and so exits by itself. Otherwise taskscale stops it
    /// after the plateau.
    pub told_hold: bool,
    /// The working folder; by default an empty one of the run.
    pub folder: Option<PathBuf>,
    /// The file on standard input, if any.
    pub stdin: Option<PathBuf>,
    /// Whether it gets the whole environment of taskscale instead of a clean one.
    pub full_environment: bool,
    /// The longest wait for it to become idle: after that memory is read anyway.
    pub settle: Duration,
}

impl Default for BlackBoxCommand {
    fn default() -> BlackBoxCommand {
        BlackBoxCommand {
            ready: Ready::Itself,
            load: None,
            told_hold: false,
            folder: None,
            stdin: None,
            full_environment: false,
            settle: Duration::from_secs(60),
        }
    }
}

/// The signal that a program is ready.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ready {
    /// The line `alive K` of the protocol, or without that line idle CPU and memory.
    Itself,
    /// A line on standard output or standard error.
    Line(LinePattern),
    /// A server accepts connections at this address.
    Tcp(SocketAddr),
    /// This time since its exec.
    After(Duration),
    /// The line `listening PORT` of the protocol.
    Listening,
}

impl Ready {
    /// What did not happen, for a message.
    pub fn awaited(&self) -> String {
        match self {
            Ready::Itself => "it was never idle".to_owned(),
            Ready::Line(pattern) => format!("its output had no line with {:?}", pattern.text),
            Ready::Tcp(address) => format!("no server accepted a connection at {address}"),
            Ready::After(time) => format!("{} s had not passed", time.as_secs_f64()),
            Ready::Listening => "`listening PORT` was never printed".to_owned(),
        }
    }

    /// What may help where the signal never came.
    pub fn hint(&self) -> &'static str {
        match self {
            Ready::Itself => "name its ready signal with --ready-when, --ready-tcp or --ready-after",
            Ready::Line(_) => {
                "many programs buffer what they write to a pipe: set PYTHONUNBUFFERED=1, use `stdbuf -oL` or \
                 --ready-tcp; or raise --timeout"
            }
            Ready::Tcp(_) => "check the address that the program listens on, or raise --timeout",
            Ready::After(_) => "raise --timeout",
            Ready::Listening => "flush standard output after that line, or raise --timeout",
        }
    }
}

/// A command that loads the program, usually a client.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct LoadCommand {
    pub command: Vec<String>,
    pub stands: LoadAliveWhen,
}

/// The signal that a load has started all its tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LoadAliveWhen {
    /// Its line `alive K`, which always comes.
    Alive,
    /// Its line `alive K`, or without that line an idle program and load.
    AliveOrQuiet,
    /// This time since its start.
    After(Duration),
}

/// What a line must contain: a text, or a regular expression between slashes.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(into = "String", try_from = "String")]
pub struct LinePattern {
    /// As the user gave it.
    text: String,
    regex: Regex,
    whole_lines: bool,
}

impl LinePattern {
    /// `/ready in \d+ ms/` is a regular expression; anything else is a text that a line must contain literally.
    pub fn parse(text: &str) -> Result<LinePattern, regex_lite::Error> {
        let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|t| !t.is_empty());
        let source = inner.map_or_else(|| regex_lite::escape(text), str::to_owned);
        Ok(LinePattern {
            text: text.to_owned(),
            regex: Regex::new(&source)?,
            // A part of a line may match an expression that the whole does not, such as one that ends in `$`.
            whole_lines: inner.is_some(),
        })
    }
}

impl From<LinePattern> for String {
    fn from(pattern: LinePattern) -> String {
        pattern.text
    }
}

impl TryFrom<String> for LinePattern {
    type Error = regex_lite::Error;

    fn try_from(text: String) -> Result<LinePattern, regex_lite::Error> {
        LinePattern::parse(&text)
    }
}

/// Searches a stream of chunks for a line, in bounded memory.
#[derive(Debug, Default)]
pub struct LineWatch {
    line: Vec<u8>,
}

impl LineWatch {
    /// Takes the next chunk and returns whether a line has matched so far.
    pub fn feed(&mut self, chunk: &[u8], pattern: &LinePattern) -> bool {
        for piece in chunk.split_inclusive(|byte| *byte == b'\n') {
            let ended = piece.ends_with(b"\n");
            let text = piece.strip_suffix(b"\n").unwrap_or(piece);
            let room = LONGEST_LINE - self.line.len();
            self.line.extend_from_slice(&text[..text.len().min(room)]);
            // A prompt has no line end.
            if (ended || !pattern.whole_lines) && self.matches(pattern) {
                return true;
            }
            if ended {
                self.line.clear();
            }
        }
        false
    }

    fn matches(&self, pattern: &LinePattern) -> bool {
        pattern.regex.is_match(String::from_utf8_lossy(&self.line).trim_end_matches('\r'))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(pattern: &str, chunks: &[&str]) -> bool {
        let pattern = LinePattern::parse(pattern).unwrap();
        let mut watch = LineWatch::default();
        chunks.iter().any(|chunk| watch.feed(chunk.as_bytes(), &pattern))
    }

    #[test]
    fn text_is_found_across_chunks() {
        assert!(found("listening", &["starting\nnow list", "ening on 80\n"]));
        assert!(found("ready> ", &["ready> "]), "a prompt has no line end");
        assert!(!found("listening", &["list\nening\n"]));
        assert!(!found("a.c", &["abc\n"]), "a text is no expression");
    }

    #[test]
    fn slashes_mark_a_regex_over_whole_lines() {
        assert!(found(r"/^ready in \d+ ms$/", &["x\nready in 1", "2 ms\r\n"]));
        assert!(!found(r"/^ready in \d+$/", &["ready in 1", "2 ms\n"]));
        assert!(found("/", &["a/b\n"]), "a single slash is a text");
        assert!(LinePattern::parse("/(/").is_err());
    }

    #[test]
    fn a_line_of_any_length_takes_bounded_memory() {
        let pattern = LinePattern::parse("end").unwrap();
        let mut watch = LineWatch::default();
        for _ in 0..1000 {
            assert!(!watch.feed(&[b'x'; 4096], &pattern));
            assert!(watch.line.capacity() <= 2 * LONGEST_LINE);
        }
        assert!(watch.feed(b"\nthe end\n", &pattern));
    }
}
