//! Programs that may know nothing of taskscale: how it is known that one stands at its plateau, and what loads it.
//!
//! Only what was asked and the parsing of output; the course of such a run is in `run::external`.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use regex_lite::Regex;

/// Output lines are looked at up to here, in bytes: what tells that a program is ready stands at a line's beginning.
const LONGEST_LINE: usize = 4096;

/// How to run a program that is not of the catalogue.
#[derive(Debug, Clone)]
pub struct ExternalCommand {
    pub ready: Ready,
    /// Started once the program is ready; the plateau begins when the load stands.
    pub load: Option<Load>,
    /// Whether the program was told how long its tasks wait: it then ends by itself. One that was not is stopped
    /// after its plateau.
    pub told_hold: bool,
    /// The working folder; an empty one of the run where absent.
    pub folder: Option<PathBuf>,
    /// What it reads on standard input; nothing where absent.
    pub stdin: Option<PathBuf>,
    /// Whether it gets the whole environment of taskscale, and not the clean one.
    pub full_environment: bool,
    /// The longest wait for it to fall quiet: after that it is read as it is.
    pub settle: Duration,
}

/// What tells that a program has come to stand.
#[derive(Debug, Clone)]
pub enum Ready {
    /// The line `alive K` of the protocol; where it never comes, CPU and memory that have fallen quiet.
    Itself,
    /// A line on standard output or standard error.
    Line(LinePattern),
    /// Something takes connections at this address.
    Tcp(SocketAddr),
    /// So much time since its exec.
    After(Duration),
    /// The line `listening PORT` of the protocol.
    Listening,
}

impl Ready {
    /// What was waited for, for a message.
    pub fn awaited(&self) -> String {
        match self {
            Ready::Itself => "it never stood still".to_owned(),
            Ready::Line(pattern) => format!("no line with {} came on its output", pattern.text),
            Ready::Tcp(address) => format!("nothing took a connection at {address}"),
            Ready::After(time) => format!("{} s had not passed", time.as_secs_f64()),
            Ready::Listening => "it never said `listening PORT`".to_owned(),
        }
    }

    /// What may help where it never came.
    pub fn hint(&self) -> &'static str {
        match self {
            Ready::Itself => "say when it is ready with --ready-when, --ready-tcp or --ready-after",
            Ready::Line(_) => {
                "many programs keep back what they write to a pipe (PYTHONUNBUFFERED=1 and `stdbuf -oL` help), and \
                 --ready-tcp needs no line; --timeout allows more time"
            }
            Ready::Tcp(_) => "is it the address that the program listens on? --timeout allows more time",
            Ready::After(_) => "--timeout allows more time",
            Ready::Listening => "flush standard output after that line; --timeout allows more time",
        }
    }
}

/// A command that puts load on the program: a client, as a rule.
#[derive(Debug, Clone)]
pub struct Load {
    pub command: Vec<String>,
    pub stands: LoadStands,
}

/// What tells that a load has brought all its tasks about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LoadStands {
    /// Its line `alive K`, which is sure to come.
    Alive,
    /// The same; where it never comes, program and load that have fallen quiet.
    AliveOrQuiet,
    /// So much time since its start.
    After(Duration),
}

/// What a line must hold: a text, or a regular expression between slashes.
#[derive(Debug, Clone)]
pub struct LinePattern {
    /// As the user gave it, in quotes.
    text: String,
    regex: Regex,
    whole_lines: bool,
}

impl LinePattern {
    /// `/ready in \d+ ms/` is a regular expression; anything else a text that a line must hold as it stands.
    pub fn parse(text: &str) -> Result<LinePattern, regex_lite::Error> {
        let inner = text.strip_prefix('/').and_then(|rest| rest.strip_suffix('/')).filter(|t| !t.is_empty());
        let source = inner.map_or_else(|| regex_lite::escape(text), str::to_owned);
        Ok(LinePattern {
            text: format!("{text:?}"),
            regex: Regex::new(&source)?,
            // A part of a line may match an expression that the whole does not, such as one that ends in `$`.
            whole_lines: inner.is_some(),
        })
    }
}

/// Looks for a line in a stream that comes in chunks, in bounded memory.
#[derive(Debug, Default)]
pub struct LineWatch {
    line: Vec<u8>,
}

impl LineWatch {
    /// Takes the next chunk; whether a line that matches is in what has come so far.
    pub fn hear(&mut self, chunk: &[u8], pattern: &LinePattern) -> bool {
        let mut rest = chunk;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            self.keep(&rest[..end]);
            let found = self.matches(pattern);
            self.line.clear();
            if found {
                return true;
            }
            rest = &rest[end + 1..];
        }
        self.keep(rest);
        // A prompt has no line end.
        !pattern.whole_lines && self.matches(pattern)
    }

    fn keep(&mut self, bytes: &[u8]) {
        let room = LONGEST_LINE - self.line.len();
        self.line.extend_from_slice(&bytes[..bytes.len().min(room)]);
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
        chunks.iter().any(|chunk| watch.hear(chunk.as_bytes(), &pattern))
    }

    #[test]
    fn a_text_is_found_wherever_chunks_are_cut() {
        assert!(found("listening", &["starting\nnow list", "ening on 80\n"]));
        assert!(found("ready> ", &["ready> "]), "a prompt has no line end");
        assert!(!found("listening", &["list\nening\n"]));
        assert!(!found("a.c", &["abc\n"]), "a text is no expression");
    }

    #[test]
    fn an_expression_stands_between_slashes_and_sees_whole_lines() {
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
            assert!(!watch.hear(&[b'x'; 4096], &pattern));
            assert!(watch.line.capacity() <= 2 * LONGEST_LINE);
        }
        assert!(watch.hear(b"\nthe end\n", &pattern));
    }
}
