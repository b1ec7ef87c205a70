//! What is said on standard error: lines for people, or JSON Lines for machines (`--json`); and what lower modules
//! log, with `--verbose`.

use std::io::Write;
use std::process::ExitCode;
use std::sync::OnceLock;

use super::printable;
use crate::catalog::Program;
pub(super) use crate::record::Level;
use crate::record::{BuildState, Event, EventLine};

/// How things are said, for as long as this process lives.
#[derive(Debug, Clone, Copy)]
pub(super) struct Mode {
    pub json: bool,
    pub verbose: bool,
    /// Nothing but warnings and errors.
    pub quiet: bool,
}

static MODE: OnceLock<Mode> = OnceLock::new();

/// Sets the mode; the first call counts. With `verbose`, what lower modules log is said as well.
pub(super) fn set(mode: Mode) {
    if MODE.set(mode).is_ok() && mode.verbose && log::set_logger(&Aside).is_ok() {
        log::set_max_level(log::LevelFilter::Info);
    }
}

pub(super) fn is_json() -> bool {
    MODE.get().is_some_and(|mode| mode.json)
}

pub(super) fn is_verbose() -> bool {
    MODE.get().is_some_and(|mode| mode.verbose)
}

/// A line for people on standard error; under `--json`, a message. `warning: ` at its beginning makes it a warning.
pub(super) fn say_aside(line: &str) {
    match line.strip_prefix("warning: ") {
        Some(text) if is_json() => message(Level::Warning, text),
        Some(_) => message(Level::Warning, line),
        None => message(Level::Info, line),
    }
}

/// The same, with its level.
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

/// Why a command did not do what was asked, and what to do about it. Said in every mode.
pub(super) fn say_error(error: &str, hint: &str) {
    match is_json() {
        true => emit(Event::Error { message: error.to_owned(), hint: hint.to_owned() }),
        false => put(&printable(&format!("error: {error}\nhint: {hint}"))),
    }
}

/// An event, for machines alone.
pub(super) fn emit(event: Event) {
    if !is_json() {
        return;
    }
    match serde_json::to_string(&EventLine::now(event)) {
        Ok(line) => put(&line),
        // Nothing in an event refuses to be written; and if so, no run should end for it.
        Err(error) => put(&format!("{{\"event\":\"unwritable\",\"text\":{:?}}}", error.to_string())),
    }
}

/// The last event. The code as it came.
pub(super) fn end(code: ExitCode) -> ExitCode {
    if is_json() {
        emit(Event::End { exit_code: number(code) });
    }
    code
}

/// An exit code keeps its number to itself, except where it is shown.
fn number(code: ExitCode) -> u8 {
    (0..=u8::MAX).find(|number| ExitCode::from(*number) == code).unwrap_or(u8::MAX)
}

/// Nobody may be listening any more (`2>&1 | head`, a closed terminal): no reason to stop.
fn put(line: &str) {
    let _ = std::io::stderr().write_all(format!("{line}\n").as_bytes());
}

/// The listener of what lower modules log.
struct Aside;

impl log::Log for Aside {
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

/// Says that a program is looked after now.
pub(super) fn begun(program: &Program) {
    if is_json() {
        emit(Event::Build {
            entry: program.entry.full_name.clone(),
            workload: Some(program.workload.name.clone()),
            state: BuildState::Started,
            command: None,
            version: None,
            reason: None,
        });
    } else {
        say_aside(&format!("building {}", program.name()));
    }
}
