//! What is printed: results on standard output, in the color and width of the stream. On standard error lines for
//! people, or JSON Lines for programs (`--json`); with `--verbose` also the log of lower modules.

use std::io::{self, IsTerminal, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;
use std::sync::OnceLock;

use clap::ColorChoice;
use serde::Serialize;

use crate::document::{Bars, RenderOptions, acts, joined, json};
pub(super) use crate::record::Level;
use crate::record::{Event, EventLine};

/// How output is written, for the life of this process.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Mode {
    /// The value of `--color`.
    pub color: ColorChoice,
    pub json: bool,
    pub verbose: bool,
    /// Only warnings and errors.
    pub quiet: bool,
}

static MODE: OnceLock<Mode> = OnceLock::new();

pub(super) fn mode() -> Mode {
    MODE.get().copied().unwrap_or_default()
}

/// Sets the mode; only the first call has an effect. With `verbose`, the log of lower modules is written, too.
pub(super) fn set(mode: Mode) {
    if MODE.set(mode).is_ok() && mode.verbose && log::set_logger(&StatusLogger).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}

/// The widest table, also without a terminal: longer lines are hard to follow.
pub(super) const WIDEST: usize = 120;

/// Whether to color a stream: by `--color`, else not with NO_COLOR (no-color.org), always with CLICOLOR_FORCE
/// (bixense.com/clicolors), else on a terminal.
pub(super) fn color(stream: &impl IsTerminal) -> bool {
    let set = |name: &str| std::env::var_os(name).filter(|value| !value.is_empty());
    match mode().color {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto if set("NO_COLOR").is_some() => false,
        ColorChoice::Auto if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") => true,
        ColorChoice::Auto => {
            stream.is_terminal() && std::env::var_os("TERM").is_none_or(|term| term != "dumb")
        }
    }
}

/// Text from outside made safe for a terminal: control characters but line ends and tabs are replaced.
pub(super) fn printable(text: &str) -> String {
    text.replace(|c| acts(c) && c != '\n' && c != '\t', "\u{fffd}")
}

/// Writes a result to standard output.
pub(super) fn print_result(text: &str) -> io::Result<()> {
    print_through(|out| out.write_all(text.as_bytes()))
}

/// A result as JSON, or as a text.
pub(super) fn json_or(json: bool, result: &impl Serialize, text: impl FnOnce() -> String) -> String {
    if json { json::pretty(result) } else { text() }
}

/// Writes a result to standard output with `write`. Ignores a closed pipe (`| head`).
pub(super) fn print_through(write: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = io::BufWriter::new(io::stdout().lock());
    match write(&mut out).and_then(|()| out.flush()) {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => Err(error),
        _ => Ok(()),
    }
}

/// Options for standard output: a terminal, a pipe or a file.
pub(super) fn for_standard_output() -> RenderOptions {
    let stdout = io::stdout();
    let (color, width) = (color(&stdout), width_of(&stdout).unwrap_or(WIDEST).min(WIDEST));
    let bars = match (color, stdout.is_terminal()) {
        (true, _) => Bars::Blocks,
        (false, true) => Bars::Plain,
        (false, false) => Bars::Hidden,
    };
    RenderOptions { width, color, bars }
}

/// COLUMNS, or the width of the terminal that a stream is.
pub(super) fn width_of(stream: &impl AsFd) -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    if let Some(columns) = said.filter(|columns| *columns > 0) {
        return Some(columns);
    }
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

/// Rows as aligned columns; the last column is not padded.
pub(super) fn columns<const N: usize>(rows: &[[String; N]]) -> String {
    let width = |i: usize| rows.iter().map(|row| row[i].chars().count()).max().unwrap_or(0);
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let padded = row.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}"));
        format!("{}\n", joined(padded, "  ").trim_end())
    };
    rows.iter().map(line).collect()
}

/// Writes a line to standard error, or with `--json` a message. A line that starts with `warning: ` is a warning.
pub(super) fn eprint_status(line: &str) {
    match line.strip_prefix("warning: ") {
        Some(text) if mode().json => message(Level::Warning, text),
        Some(_) => message(Level::Warning, line),
        None => message(Level::Info, line),
    }
}

/// Writes a message of this level. `--quiet` drops `Level::Info`.
pub(super) fn message(level: Level, text: &str) {
    if level == Level::Info && mode().quiet {
        return;
    }
    if mode().json {
        emit(Event::Message { level, text: text.to_owned() });
    } else {
        put(&printable(text));
    }
}

/// Writes an error and its hint, in every mode.
pub(super) fn eprint_error(error: &str, hint: Option<&str>) {
    if mode().json {
        return emit(Event::Error { message: error.to_owned(), hint: hint.map(str::to_owned) });
    }
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    put(&printable(&format!("error: {error}{hint}")));
}

/// Writes an event, with `--json` only.
pub(super) fn emit(event: Event) {
    if !mode().json {
        return;
    }
    // Serializing an event cannot fail.
    put(&serde_json::to_string(&EventLine::now(event)).unwrap_or_default());
}

/// Emits the last event, and returns the code.
pub(super) fn end(exit_code: u8) -> ExitCode {
    emit(Event::End { exit_code });
    ExitCode::from(exit_code)
}

/// A closed standard error (`2>&1 | head`, a closed terminal) is ignored.
fn put(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// Writes what lower modules log.
struct StatusLogger;

impl log::Log for StatusLogger {
    fn enabled(&self, metadata: &log::Metadata) -> bool {
        metadata.target().starts_with("taskscale")
    }

    fn log(&self, record: &log::Record) {
        if self.enabled(record.metadata()) {
            let text = record.args().to_string();
            match mode().json {
                true => message(Level::Detail, &text),
                false => put(&printable(&format!("· {text}"))),
            }
        }
    }

    fn flush(&self) {}
}
