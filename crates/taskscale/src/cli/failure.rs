//! Why a command failed: its exit status, its message, and the line below it.

use std::error::Error;
use std::fmt;
use std::io;
use std::process::ExitCode;

use anyhow::Context;
use clap::CommandFactory;

use super::args::Args;
use super::output;
use super::output::print_result;
use crate::campaign::CampaignError;
use crate::catalog::{CatalogError, SelectError, closest};
use crate::check::CheckError;
use crate::compare::CompareError;
use crate::fleet::FleetError;
use crate::hint::{self, Hint};
use crate::limit::LimitError;
use crate::record::StoreError;
use crate::report::ExportError;
use crate::scaffold::ScaffoldError;
use crate::site::SiteError;
use crate::toolchain::{BuildError, ToolchainError};
use crate::units::UnitError;
use crate::versions::VersionError;
use taskscale_measure::{Interrupt, MeasureError};

/// The result of a command, which is its exit status, or of a part of a command.
pub(super) type CliResult<T = u8> = Result<T, Failure>;

/// The exit status of a command that did what it should.
pub(super) const SUCCESS: u8 = 0;
/// The exit status of a command that the user can fix.
pub(super) const USAGE: u8 = 2;

/// Why a command did not end well.
#[derive(Debug)]
pub enum Failure {
    /// Exit status 2: the user can fix the command.
    Usage(anyhow::Error),
    /// Exit status 1: the command was right, but failed.
    Broken(anyhow::Error),
    /// Exit status 128 + n: the user interrupted it by signal n. Nothing is reported.
    Signal(i32),
}

impl<E: Into<anyhow::Error>> From<E> for Failure {
    fn from(error: E) -> Failure {
        Failure::Broken(error.into())
    }
}

impl Failure {
    /// The user can fix the command.
    pub fn usage(error: impl fmt::Display) -> Failure {
        Failure::Usage(anyhow::anyhow!("{error}"))
    }

    /// The end of an interrupted command.
    pub fn interrupted(interrupt: &Interrupt) -> Failure {
        Failure::Signal(interrupt.signal().unwrap_or(libc::SIGINT))
    }

    /// Writes the error and its hint. `no_command`: `taskscale WORD` was typed, so the word may be a mistyped command.
    pub fn report(self, no_command: bool) -> ExitCode {
        let (code, error) = match self {
            Failure::Usage(error) => (USAGE, error),
            Failure::Broken(error) => (1, error),
            Failure::Signal(signal) => return output::end(128 + signal as u8),
        };
        let (message, hint) = message_and_hint(&error, code == USAGE, no_command);
        output::eprint_error(&message, hint.as_deref());
        output::end(code)
    }
}

/// Marks an error as the user's to fix.
pub(super) trait OrUsage<T> {
    fn or_usage(self) -> CliResult<T>;
}

impl<T, E: Into<anyhow::Error>> OrUsage<T> for Result<T, E> {
    fn or_usage(self) -> CliResult<T> {
        self.map_err(|error| Failure::Usage(error.into()))
    }
}

/// Catches the signals that ask taskscale to end.
pub(super) fn catch_signals() -> CliResult<Interrupt> {
    Ok(Interrupt::install().context("cannot catch signals")?)
}

/// Fails if the user has interrupted the command.
pub(super) fn check_interrupt(interrupt: &Interrupt) -> CliResult<()> {
    interrupt.signal().map_or(Ok(()), |signal| Err(Failure::Signal(signal)))
}

/// An error with a hint of its own.
pub(super) fn advised(error: impl fmt::Display, advice: impl Into<String>) -> anyhow::Error {
    anyhow::anyhow!("{error}").context(Advice(advice.into()))
}

/// Prints the result of a command that succeeds.
pub(super) fn succeed_with(result: &str) -> CliResult {
    print_result(result)?;
    Ok(SUCCESS)
}

/// A failure or success, as an exit code.
pub(super) fn exit_code(failed: bool) -> u8 {
    u8::from(failed)
}

/// A hint for one error, attached as its context. It is not part of the message.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
struct Advice(String);

/// The message of an error with all its causes, and its hint. `no_command`: `taskscale WORD` was typed, so the word may
/// be a mistyped command.
fn message_and_hint(error: &anyhow::Error, usage: bool, no_command: bool) -> (String, Option<String>) {
    let meant =
        error.chain().filter(|_| no_command).find_map(|cause| mistyped_command(cause.downcast_ref()?));
    if let Some((word, command)) = meant {
        let hint = format!("did you mean `taskscale {command}`?");
        return (format!("no command or entry `{word}`"), Some(hint));
    }
    let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    let advice = error.is::<Advice>().then(|| causes.remove(0));
    let hint = advice.or_else(|| match error.chain().find_map(hint_of) {
        Some(known) => known,
        // The message of wrong usage names the option and what it accepts.
        None if usage => None,
        None => Some(hint::UNKNOWN.to_owned()),
    });
    (causes.join(": "), hint)
}

/// The unknown entry, and the command whose name is nearer to it than any entry's.
fn mistyped_command(error: &SelectError) -> Option<(String, String)> {
    let SelectError::Unknown { name, nearest, .. } = error else { return None };
    let commands = Args::command();
    let command = closest(name, commands.get_subcommands().map(clap::Command::get_name))?;
    let distance = |candidate: &str| strsim::damerau_levenshtein(name, candidate);
    let is_nearer = |entry: &str| {
        // `lwt` is the entry `ocaml/lwt` rather than the command `list`.
        let own = entry.split_once('/').map_or(entry, |(_, own)| own);
        distance(command) < distance(entry).min(distance(own))
    };
    nearest.as_deref().is_none_or(is_nearer).then(|| (name.clone(), command.to_owned()))
}

/// The hint of an error of a known type: `Some(None)` if it needs none.
fn hint_of(cause: &(dyn Error + 'static)) -> Option<Option<String>> {
    fn of<E: Hint + 'static>(cause: &(dyn Error + 'static)) -> Option<Option<String>> {
        cause.downcast_ref::<E>().map(Hint::hint)
    }
    // A test compares this list with the errors that implement `Hint`.
    let known = [
        of::<BuildError>,
        of::<CampaignError>,
        of::<CatalogError>,
        of::<CheckError>,
        of::<CompareError>,
        of::<ExportError>,
        of::<FleetError>,
        of::<LimitError>,
        of::<MeasureError>,
        of::<ScaffoldError>,
        of::<SelectError>,
        of::<SiteError>,
        of::<StoreError>,
        of::<ToolchainError>,
        of::<UnitError>,
        of::<VersionError>,
        of::<io::Error>,
    ];
    known.iter().find_map(|of| of(cause))
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::hint::UNKNOWN;
    use crate::units::Quantity;

    fn io(kind: io::ErrorKind) -> io::Error {
        io::Error::from(kind)
    }

    /// Errors of the types in `hint_of`, except `FleetError`.
    fn all() -> Vec<anyhow::Error> {
        let path = || PathBuf::from("/x");
        let text = || "x".to_owned();
        let quantity = Quantity::Size;
        let json = || serde_json::from_str::<u8>("x").unwrap_err();
        vec![
            CampaignError::Measure(MeasureError::Launcher(text())).into(),
            CampaignError::Store(StoreError::InUse(path())).into(),
            CampaignError::Another { folder: path(), what: text() }.into(),
            CatalogError::NotFound.into(),
            CatalogError::Untrusted { folder: path(), why: text() }.into(),
            CatalogError::Unreadable { path: path(), error: io(io::ErrorKind::NotFound) }.into(),
            CatalogError::Invalid { path: path(), line: 1, column: 1, message: text() }.into(),
            CatalogError::Empty { folder: path(), below: None }.into(),
            SelectError::Unknown { name: text(), nearest: None }.into(),
            SelectError::EmptySet { set: text() }.into(),
            SelectError::NoWorkload { workload: text(), nearest: None, all: text() }.into(),
            SelectError::LacksWorkload { who: text(), workload: text(), does: "sleep".into() }.into(),
            SelectError::NobodyDoes { workload: text(), does: "sleep".into() }.into(),
            VersionError::Syntax(text()).into(),
            VersionError::NotInstalled { title: text(), range: text(), there: text(), install: None }.into(),
            VersionError::NotUsed { entry: text(), name: text(), uses: text() }.into(),
            VersionError::Uncountable { library: text(), range: text() }.into(),
            MeasureError::Io { what: "open", path: path(), error: io(io::ErrorKind::PermissionDenied) }
                .into(),
            MeasureError::Launcher(text()).into(),
            StoreError::Io { what: "write", path: path(), error: io(io::ErrorKind::StorageFull) }.into(),
            StoreError::NoCampaign(path()).into(),
            StoreError::NoneIn(path()).into(),
            StoreError::Malformed { path: path(), error: json() }.into(),
            StoreError::Newer { path: path(), found: 2 }.into(),
            StoreError::TooLarge { path: path(), what: "plans: 1001, at most 1000".into() }.into(),
            StoreError::InUse(path()).into(),
            StoreError::Orphans(path()).into(),
            StoreError::Begun(path()).into(),
            SiteError::Folder(text()).into(),
            SiteError::NoResults(path()).into(),
            CompareError::Workloads {
                base: text(),
                base_workload: text(),
                new: text(),
                new_workload: text(),
            }
            .into(),
            CompareError::NoEntry {
                folder: text(),
                entry: text(),
                nearest: String::new(),
                there: vec![text()],
            }
            .into(),
            CompareError::NothingInCommon { base: text(), new: text() }.into(),
            CompareError::Across { what: vec![text()] }.into(),
            CompareError::Twice { folder: text(), case: text(), repetition: 2 }.into(),
            CatalogError::Unpack { path: path(), error: io(io::ErrorKind::StorageFull) }.into(),
            CheckError::Interrupted.into(),
            CheckError::Measure(MeasureError::Launcher(text())).into(),
            CheckError::Io { what: "read", path: path(), error: io(io::ErrorKind::NotFound) }.into(),
            LimitError::Io { path: path(), error: io(io::ErrorKind::NotFound) }.into(),
            LimitError::Malformed { path: path(), error: json() }.into(),
            LimitError::Newer { path: path(), found: 2 }.into(),
            LimitError::Another { folder: path(), what: text() }.into(),
            LimitError::NoServer { workload: text() }.into(),
            LimitError::NoGroup { why: text() }.into(),
            ScaffoldError::Name { what: "entry", name: text() }.into(),
            ScaffoldError::NoProgram { workload: text(), language: "Go", there: vec![text()] }.into(),
            ScaffoldError::Model { error: CatalogError::NotFound }.into(),
            ScaffoldError::Exists(path()).into(),
            ScaffoldError::EntryExists { runtime: text(), entry: text() }.into(),
            ScaffoldError::Runtime { error: CatalogError::NotFound }.into(),
            ScaffoldError::Invalid { error: CatalogError::NotFound }.into(),
            ScaffoldError::Io { path: path(), error: io(io::ErrorKind::PermissionDenied) }.into(),
            ExportError::NoValues.into(),
            ExportError::MoreIsBetter("ops-per-s").into(),
            ExportError::Twice { name: text(), first: text(), second: text() }.into(),
            ExportError::NoSuchTasks { asked: 1, there: vec![2] }.into(),
            ExportError::TooFewTasks(1).into(),
            ExportError::NothingToDraw.into(),
            ExportError::OneCampaign(2).into(),
            ExportError::Nothing.into(),
            BuildError::Io { what: "read", path: path(), error: io(io::ErrorKind::ReadOnlyFilesystem) }
                .into(),
            BuildError::NoProgram { command: text(), program: "cargo".into() }.into(),
            BuildError::Failed { command: text(), status: text(), log: path(), tail: text() }.into(),
            BuildError::Stopped(text()).into(),
            BuildError::NoResult(path()).into(),
            ToolchainError::Missing { title: text(), install: text() }.into(),
            ToolchainError::TooOld { title: text(), minimum: text(), found: text(), install: text() }.into(),
            ToolchainError::Broken { title: text(), command: text(), why: text(), install: text() }.into(),
            UnitError::Invalid { quantity, what: "a size is missing".to_owned() }.into(),
            UnitError::Invalid { quantity, what: "\"x\" is not a size".to_owned() }.into(),
            UnitError::Invalid { quantity, what: "\"x\" is below zero".to_owned() }.into(),
            UnitError::Invalid { quantity, what: "\"x\" is zero".to_owned() }.into(),
            UnitError::Invalid { quantity, what: "\"x\" has no unit".to_owned() }.into(),
            UnitError::Invalid { quantity, what: "\"x\" in \"x\" is not a unit of a size".to_owned() }.into(),
            UnitError::Invalid { quantity, what: "\"x\" does not come out whole".to_owned() }.into(),
            UnitError::TooLarge { quantity, text: text(), largest: "x" }.into(),
            UnitError::Ambiguous { text: text(), number: "1".into(), decimal: "kB", binary: "KiB" }.into(),
            UnitError::OutOfOrder { text: text() }.into(),
        ]
    }

    #[test]
    fn known_errors_have_the_expected_hints() {
        let told: Vec<String> = all()
            .into_iter()
            .map(|error| {
                assert!(error.chain().find_map(hint_of).is_some(), "{error} is unknown here");
                // Also below a context.
                let (message, hint) = super::message_and_hint(&error.context("-o x"), true, false);
                assert!(message.starts_with("-o x: "), "{message}");
                let hint = hint.map(|hint| format!("\n    {hint}")).unwrap_or_default();
                format!("{message}{hint}")
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn advice_becomes_the_hint_not_the_message() {
        let error = anyhow::anyhow!("it rains").context("out of doors").context(Advice("stay in".into()));
        let told = super::message_and_hint(&error, true, true);
        assert_eq!(told, ("out of doors: it rains".to_owned(), Some("stay in".to_owned())));
        // The message of wrong usage is enough. Other failures get a general hint.
        let hint = |usage| super::message_and_hint(&anyhow::anyhow!("it rains"), usage, true).1;
        assert_eq!((hint(true), hint(false).as_deref()), (None, Some(UNKNOWN)));
    }

    #[test]
    fn mistyped_commands_get_a_suggestion() {
        let suggested = |word: &str, nearest: &str, no_command| {
            let (name, nearest) = (word.to_owned(), Some(nearest.to_owned()));
            let error = SelectError::Unknown { name, nearest };
            super::message_and_hint(&error.into(), true, no_command)
        };
        let said =
            ("no command or entry `lst`".to_owned(), Some("did you mean `taskscale list`?".to_owned()));
        assert_eq!(suggested("lst", "rust", true), said);
        assert!(suggested("limt", "nim", true).1.is_some_and(|hint| hint.contains("taskscale limit")));
        for (word, nearest, no_command) in
            [("lwt", "ocaml/lwt", true), ("lst", "rust", false), ("goroutne", "go/goroutine", true)]
        {
            assert!(!suggested(word, nearest, no_command).0.contains("command"), "{word}");
        }
    }
}
