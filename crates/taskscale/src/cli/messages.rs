//! Standard error: lines for people, or JSON Lines for programs (`--json`); with `--verbose` also the log of lower
//! modules.

use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;

use super::terminal::printable;
pub(super) use crate::record::Level;
use crate::record::{Event, EventLine};

/// How messages are written, for the life of this process.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    pub json: bool,
    pub verbose: bool,
    /// Only warnings and errors.
    pub quiet: bool,
}

static MODE: OnceLock<Mode> = OnceLock::new();

/// Sets the mode; only the first call has an effect. With `verbose`, the log of lower modules is written, too.
pub(super) fn set(mode: Mode) {
    if MODE.set(mode).is_ok() && mode.verbose && log::set_logger(&StatusLogger).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}

pub(super) fn is_json() -> bool {
    MODE.get().is_some_and(|mode| mode.json)
}

pub(super) fn is_verbose() -> bool {
    MODE.get().is_some_and(|mode| mode.verbose)
}

/// Writes a line to standard error, or with `--json` a message. A line that starts with `warning: ` is a warning.
pub(super) fn eprint_status(line: &str) {
    match line.strip_prefix("warning: ") {
        Some(text) if is_json() => message(Level::Warning, text),
        Some(_) => message(Level::Warning, line),
        None => message(Level::Info, line),
    }
}

/// Writes a message of this level. `--quiet` drops `Level::Info`.
pub(super) fn message(level: Level, text: &str) {
    if level == Level::Info && MODE.get().is_some_and(|mode| mode.quiet) {
        return;
    }
    if is_json() {
        emit(Event::Message { level, text: text.to_owned() });
    } else {
        put(&printable(text));
    }
}

/// Writes an error and its hint, in every mode.
pub(super) fn eprint_error(error: &str, hint: Option<&str>) {
    if is_json() {
        return emit(Event::Error { message: error.to_owned(), hint: hint.map(str::to_owned) });
    }
    let hint = hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default();
    put(&printable(&format!("error: {error}{hint}")));
}

/// Writes an event, with `--json` only.
pub(super) fn emit(event: Event) {
    if !is_json() {
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
            match is_json() {
                true => message(Level::Detail, &text),
                false => put(&printable(&format!("· {text}"))),
            }
        }
    }

    fn flush(&self) {}
}
