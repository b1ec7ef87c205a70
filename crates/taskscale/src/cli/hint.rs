//! The line below an error: a command to run, or a cause. An error that needs neither has no hint.
//!
//! Each kind of error is matched exhaustively, so that a new one does not compile before its hint is decided.

use std::fmt;
use std::io::{Error as IoError, ErrorKind};

use clap::CommandFactory;

use super::args::Args;
use crate::campaign::CampaignError;
use crate::catalog::{CatalogError, SelectError, closest};
use crate::check::CheckError;
use crate::compare::CompareError;
use crate::document::quoted;
use crate::fleet::FleetError;
use crate::limit::LimitError;
use crate::record::StoreError;
use crate::report::{ChartError, ExportError, ServiceError};
use crate::scaffold::ScaffoldError;
use crate::toolchain::{BuildError, ToolchainError};
use crate::units::UnitError;
use taskscale_measure::MeasureError;

/// For a failure of which no cause is known.
const UNKNOWN: &str = "--verbose shows each step; `taskscale doctor` checks this machine";
const DOCTOR: &str = "`taskscale doctor` shows which cgroups this user can create, and how to get one";
const NEWER: &str = "install the taskscale that wrote it, or a newer one";
const OTHER_FOLDER: &str = "wait until it ends, or choose another folder: -o DIR";

/// A hint for one error, attached as its context. It is not part of the message.
#[derive(Debug)]
pub(super) struct Advice(pub String);

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The message of an error with all its causes, and its hint. `no_command`: `taskscale WORD` was typed, so the word may
/// be a mistyped command.
pub(super) fn message_and_hint(
    error: &anyhow::Error,
    usage: bool,
    no_command: bool,
) -> (String, Option<String>) {
    let meant =
        error.chain().filter(|_| no_command).find_map(|cause| mistyped_command(cause.downcast_ref()?));
    if let Some((word, command)) = meant {
        let hint = format!("did you mean `taskscale {command}`?");
        return (format!("no command or entry `{word}`"), Some(hint));
    }
    let is_advice = error.downcast_ref::<Advice>().is_some();
    let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    let advice = if is_advice { Some(causes.remove(0)) } else { None };
    let hint = advice.or_else(|| match error.chain().find_map(of_cause) {
        Some(known) => known,
        // The message of wrong usage names the option and what it accepts.
        None if usage => None,
        None => Some(UNKNOWN.to_owned()),
    });
    (causes.join(": "), hint)
}

/// The word that is no entry, and the command that is nearer to it than any entry.
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

/// The hint of a known cause: `Some(None)` where it needs none.
fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<Option<String>> {
    None.or_else(|| cause.downcast_ref().map(of_campaign))
        .or_else(|| cause.downcast_ref().map(of_catalog))
        .or_else(|| cause.downcast_ref().map(of_selection))
        .or_else(|| cause.downcast_ref().map(of_measuring))
        .or_else(|| cause.downcast_ref().map(of_store))
        .or_else(|| cause.downcast_ref().map(of_comparison))
        .or_else(|| cause.downcast_ref().map(of_check))
        .or_else(|| cause.downcast_ref().map(of_limit))
        .or_else(|| cause.downcast_ref().map(of_fleet))
        .or_else(|| cause.downcast_ref().map(of_scaffold))
        .or_else(|| cause.downcast_ref().map(of_export))
        .or_else(|| cause.downcast_ref().map(of_build))
        .or_else(|| cause.downcast_ref().map(of_toolchain))
        .or_else(|| cause.downcast_ref().map(of_unit))
        .or_else(|| cause.downcast_ref().map(of_io))
}

fn some(hint: &str) -> Option<String> {
    Some(hint.to_owned())
}

fn of_campaign(error: &CampaignError) -> Option<String> {
    match error {
        CampaignError::Measure(error) => of_measuring(error),
        CampaignError::Store(error) => of_store(error),
        CampaignError::Another { .. } => some("choose another folder with -o, or omit -o for a new one"),
    }
}

fn of_catalog(error: &CatalogError) -> Option<String> {
    match error {
        CatalogError::NotFound => some("run it in a checkout of taskscale, or name a catalog: --catalog DIR"),
        CatalogError::Unpack { .. } => {
            some("set TASKSCALE_CACHE to a writable folder, or name a catalog: --catalog DIR")
        }
        CatalogError::Untrusted { folder, .. } => {
            let folder = quoted(&folder.display().to_string());
            Some(format!(
                "if you trust it, use it with `--catalog {folder}`; `--catalog embedded` uses taskscale's own"
            ))
        }
        CatalogError::Unreadable { error, .. } => of_io(error),
        CatalogError::Invalid { .. } => {
            some("docs/guides/add-a-runtime.md explains every key of runtime.toml")
        }
        CatalogError::Empty { below: Some(below), .. } => Some(format!("did you mean {}?", below.display())),
        CatalogError::Empty { .. } => some("name the folder above them: --catalog DIR"),
    }
}

fn of_selection(error: &SelectError) -> Option<String> {
    match error {
        SelectError::Unknown { .. } => some(
            "`taskscale list` shows all entries; globs ('rust/*'), runtimes (go) and sets (@posts, @idiomatic, @all) work, too",
        ),
        SelectError::EmptySet { .. } => {
            some("`taskscale list` shows the entries of this catalog; @all means all")
        }
        SelectError::NoWorkload { .. } => some("`taskscale list workloads` describes each"),
        SelectError::NobodyDoes { workload, .. } => {
            Some(format!("`taskscale list -w {workload}` shows the entries that have it"))
        }
    }
}

fn of_measuring(error: &MeasureError) -> Option<String> {
    match error {
        MeasureError::Io { error, .. } => match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => some(DOCTOR),
            _ => of_io(error),
        },
        MeasureError::NotInitialized => None,
        MeasureError::Launcher(_) => some("`dmesg` may show the kernel's reason; the same command resumes"),
    }
}

fn of_store(error: &StoreError) -> Option<String> {
    match error {
        StoreError::Io { error, .. } => of_io(error),
        StoreError::NoCampaign(_) => {
            some("name a folder that `taskscale run` wrote; `ls taskscale-results` lists the usual ones")
        }
        StoreError::Malformed { .. } | StoreError::Orphans(_) => {
            some("restore campaign.json from a copy, or measure into a new folder: -o DIR")
        }
        StoreError::Newer { .. } => some(NEWER),
        StoreError::TooLarge { .. } => None,
        StoreError::InUse(_) | StoreError::Begun(_) => some(OTHER_FOLDER),
    }
}

fn of_comparison(error: &CompareError) -> Option<String> {
    match error {
        CompareError::Workloads { .. } => {
            some("measure both with the same workload: `taskscale run -w WORKLOAD`")
        }
        CompareError::NoEntry { there, .. } => Some(format!("its entries are {}", there.join(", "))),
        CompareError::NothingInCommon { .. } => some(
            "measure the same entries at the same -n, or compare two entries with --base-entry and --new-entry",
        ),
        CompareError::Across { .. } => {
            some("measure both on one machine with one taskscale, or compare them all the same: --across")
        }
        CompareError::Twice { .. } => some("measure again into a new folder: -o DIR"),
    }
}

fn of_check(error: &CheckError) -> Option<String> {
    match error {
        CheckError::Interrupted => None,
        CheckError::Measure(error) => of_measuring(error),
        CheckError::Io { error, .. } => of_io(error),
    }
}

fn of_limit(error: &LimitError) -> Option<String> {
    match error {
        LimitError::Measure(error) => of_measuring(error),
        LimitError::Store(error) => of_store(error),
        LimitError::Io { error, .. } => of_io(error),
        LimitError::Malformed { .. } => {
            some("restore limit.json from a copy, or search into a new folder: -o DIR")
        }
        LimitError::Newer { .. } => some(NEWER),
        LimitError::Another { .. } => some("choose another folder with -o, or omit -o for a new one"),
    }
}

fn of_fleet(error: &FleetError) -> Option<String> {
    match error {
        FleetError::Plan { .. } | FleetError::Machines { .. } => {
            some("docs/guides/fleet.md describes plans, with an example")
        }
        FleetError::Io { error, .. } => of_io(error),
        FleetError::NoFleet(_) => some("submit one: `taskscale fleet plan.toml`"),
        FleetError::Malformed { .. } => {
            some("restore the file from a copy, or name a new folder in the plan")
        }
        FleetError::AnotherPlan { folder, .. } => Some(format!(
            "name a new folder in the plan, or resume what was submitted: `taskscale fleet resume {}`",
            folder.display()
        )),
        FleetError::Busy(_) => some("wait for it, then run the same command again"),
        FleetError::NoSlurm(_) => some(
            "run it on a submit host (Debian: apt install slurm-client munge, with the cluster's slurm.conf); \
             --dry-run prints scripts that run without Slurm",
        ),
        FleetError::Slurm { said, .. } => of_slurm(said),
        FleetError::NotShared { .. } => {
            some("name another folder in the plan, for example one below home if all nodes mount it")
        }
        FleetError::Incomplete { .. } => {
            some("fix the cause, then `taskscale fleet resume DIR`; complete results are kept")
        }
        FleetError::Changed { .. } => {
            some("restore it from a copy, or delete its folder and run `taskscale fleet resume DIR`")
        }
        FleetError::Untrusted { path, .. } => Some(format!(
            "`chmod go-w {}`; if another user owns it, name a folder of your own in the plan",
            path.display()
        )),
        FleetError::Superseded { .. } => None,
        FleetError::NoTarget { .. } => some("`taskscale fleet status DIR` shows all of them"),
    }
}

/// What Slurm's messages mean to its users.
fn of_slurm(said: &str) -> Option<String> {
    let said = said.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    // All that Slurm tells a client whose credential it rejects.
    some(if any(&["credential", "munge", "zero bytes were transmitted", "authentication error"]) {
        "the clocks or the munge keys of this machine and the cluster differ: `munge -n | ssh CONTROLLER unmunge` \
         shows which"
    } else if any(&["partition"]) {
        "`sinfo --summarize` lists the partitions"
    } else if any(&["feature", "constraint"]) {
        "`sinfo --format '%P %N %f'` lists the features of nodes, which a constraint may name"
    } else if any(&["node name", "nodelist", "node count", "node configuration"]) {
        "`sinfo --Node` lists the nodes and their partitions"
    } else if any(&["time limit"]) {
        "`sinfo --format '%P %l'` lists the time limits of the partitions"
    } else if any(&["contact", "controller", "configuration source", "connect"]) {
        "`scontrol ping` shows whether the controller is up; SLURM_CONF names another slurm.conf"
    } else {
        "to reproduce it: `sbatch --test-only SCRIPT` on the output of --dry-run"
    })
}

fn of_scaffold(error: &ScaffoldError) -> Option<String> {
    match error {
        ScaffoldError::Name { .. } => some("for example `taskscale new go/errgroup`"),
        ScaffoldError::NoProgram { .. } => {
            some("leave it out of -w; docs/reference/protocol.md describes what its program must do")
        }
        ScaffoldError::Exists(_) | ScaffoldError::EntryExists { .. } => {
            some("choose another name, or another catalog: --catalog DIR")
        }
        ScaffoldError::Runtime { error } | ScaffoldError::Model { error } => of_catalog(error),
        ScaffoldError::Invalid { .. } => some("please report it, with that runtime.toml"),
        ScaffoldError::Io { error, .. } => of_io(error),
    }
}

fn of_export(error: &ExportError) -> Option<String> {
    match error {
        ExportError::Service(ServiceError::Twice { .. }) => {
            some("pass one folder at a time, each with its own -o FILE; --part selects a series")
        }
        ExportError::OneCampaign(_) => some("`taskscale report DIR` shows the series of a folder"),
        ExportError::Service(ServiceError::MoreIsBetter(_)) => {
            some("use its inverse: --metric wall-ns-per-op")
        }
        ExportError::Service(ServiceError::Nothing) => {
            some("`taskscale report DIR` shows the status of each case")
        }
        ExportError::Chart(ChartError::NoSuchTasks { .. }) => None,
        ExportError::Chart(ChartError::TooFewTasks(_)) => {
            some("measure at more than one N, or draw --chart ranking")
        }
        ExportError::Chart(ChartError::Nothing) | ExportError::Nothing => None,
    }
}

fn of_build(error: &BuildError) -> Option<String> {
    match error {
        BuildError::Io { error, .. } => of_io(error),
        BuildError::NoProgram { .. } => some("`taskscale list --missing` shows what to install"),
        BuildError::Failed { .. } | BuildError::Stopped(_) => None,
        BuildError::NoResult(_) => some("the build commands in runtime.toml do not create what `run` names"),
    }
}

fn of_toolchain(error: &ToolchainError) -> Option<String> {
    match error {
        // They end with how to install it.
        ToolchainError::Missing { .. } | ToolchainError::TooOld { .. } => None,
        ToolchainError::Broken { command, why, .. } => Some(format!("`{command}` failed: {why}")),
    }
}

fn of_unit(error: &UnitError) -> Option<String> {
    match error {
        // They end with what is accepted.
        UnitError::Empty(_)
        | UnitError::NotANumber { .. }
        | UnitError::Negative { .. }
        | UnitError::Zero { .. }
        | UnitError::NoUnit { .. }
        | UnitError::UnknownUnit { .. }
        | UnitError::NotWhole { .. }
        | UnitError::TooLarge { .. }
        | UnitError::OutOfOrder { .. } => None,
        UnitError::Ambiguous { number, binary, .. } => Some(format!("most tools mean {number}{binary}")),
    }
}

/// What can be done about a refusal of the system.
fn of_io(error: &IoError) -> Option<String> {
    match error.kind() {
        ErrorKind::NotFound
        | ErrorKind::ReadOnlyFilesystem
        | ErrorKind::NotADirectory
        | ErrorKind::AlreadyExists => None,
        ErrorKind::PermissionDenied => some("`ls -ld PATH` shows its owner and mode"),
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            some("free space on that disk (`df -h`); results are kept, and the same command resumes")
        }
        ErrorKind::OutOfMemory => some("free memory, or use fewer tasks: -n"),
        _ if error.raw_os_error() == Some(libc::EMFILE) => {
            some("raise the limit of open files: `ulimit -n 65536`")
        }
        _ => some(UNKNOWN),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::units::Quantity;

    fn io(kind: ErrorKind) -> IoError {
        IoError::from(kind)
    }

    /// One of each; the matches above have no rest, so that none can be forgotten there.
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
            CatalogError::Unreadable { path: path(), error: io(ErrorKind::NotFound) }.into(),
            CatalogError::Invalid { path: path(), line: 1, column: 1, message: text() }.into(),
            CatalogError::Empty { folder: path(), below: None }.into(),
            SelectError::Unknown { name: text(), catalogs: text(), nearest: None }.into(),
            SelectError::EmptySet { set: text() }.into(),
            SelectError::NoWorkload { workload: text(), nearest: None, all: text() }.into(),
            SelectError::NobodyDoes { who: None, workload: text(), does: "sleep".into() }.into(),
            MeasureError::Io { what: "open", path: path(), error: io(ErrorKind::PermissionDenied) }.into(),
            MeasureError::Launcher(text()).into(),
            StoreError::Io { what: "write", path: path(), error: io(ErrorKind::StorageFull) }.into(),
            StoreError::NoCampaign(path()).into(),
            StoreError::Malformed { path: path(), error: json() }.into(),
            StoreError::Newer { path: path(), found: 2 }.into(),
            StoreError::TooLarge { path: path(), what: "plans: 1001, at most 1000".into() }.into(),
            StoreError::InUse(path()).into(),
            StoreError::Orphans(path()).into(),
            StoreError::Begun(path()).into(),
            CompareError::Workloads {
                base: text(),
                base_workload: text(),
                new: text(),
                new_workload: text(),
            }
            .into(),
            CompareError::NoEntry { folder: text(), entry: text(), nearest: None, there: vec![text()] }
                .into(),
            CompareError::NothingInCommon { base: text(), new: text() }.into(),
            CompareError::Across { what: vec![text()] }.into(),
            CompareError::Twice { folder: text(), case: text(), repetition: 2 }.into(),
            CatalogError::Unpack { path: path(), error: io(ErrorKind::StorageFull) }.into(),
            CheckError::Interrupted.into(),
            CheckError::Measure(MeasureError::Launcher(text())).into(),
            CheckError::Io { what: "read", path: path(), error: io(ErrorKind::NotFound) }.into(),
            LimitError::Measure(MeasureError::Launcher(text())).into(),
            LimitError::Store(StoreError::InUse(path())).into(),
            LimitError::Io { what: "read", path: path(), error: io(ErrorKind::NotFound) }.into(),
            LimitError::Malformed { path: path(), error: json() }.into(),
            LimitError::Newer { path: path(), found: 2 }.into(),
            LimitError::Another { folder: path(), what: text() }.into(),
            ScaffoldError::Name { what: "entry", name: text() }.into(),
            ScaffoldError::NoProgram { workload: text(), language: "Go", there: vec![text()] }.into(),
            ScaffoldError::Model { error: CatalogError::NotFound }.into(),
            ScaffoldError::Exists(path()).into(),
            ScaffoldError::EntryExists { runtime: text(), entry: text() }.into(),
            ScaffoldError::Runtime { error: CatalogError::NotFound }.into(),
            ScaffoldError::Invalid { error: CatalogError::NotFound }.into(),
            ScaffoldError::Io { path: path(), error: io(ErrorKind::PermissionDenied) }.into(),
            ExportError::Service(ServiceError::Nothing).into(),
            ExportError::Service(ServiceError::MoreIsBetter("ops-per-s")).into(),
            ExportError::Service(ServiceError::Twice { name: text(), first: text(), second: text() }).into(),
            ExportError::Chart(ChartError::NoSuchTasks { asked: 1, there: vec![2] }).into(),
            ExportError::Chart(ChartError::TooFewTasks(1)).into(),
            ExportError::Chart(ChartError::Nothing).into(),
            ExportError::OneCampaign(2).into(),
            ExportError::Nothing.into(),
            BuildError::Io { what: "read", path: path(), error: io(ErrorKind::ReadOnlyFilesystem) }.into(),
            BuildError::NoProgram { command: text(), program: "cargo".into() }.into(),
            BuildError::Failed { command: text(), status: text(), log: path(), tail: text() }.into(),
            BuildError::Stopped(text()).into(),
            BuildError::NoResult(path()).into(),
            ToolchainError::Missing { title: text(), install: text() }.into(),
            ToolchainError::TooOld { title: text(), minimum: text(), found: text(), install: text() }.into(),
            ToolchainError::Broken { title: text(), command: text(), why: text(), install: text() }.into(),
            UnitError::Empty(quantity).into(),
            UnitError::NotANumber { quantity, text: text() }.into(),
            UnitError::Negative { quantity, text: text() }.into(),
            UnitError::Zero { quantity, text: text() }.into(),
            UnitError::NoUnit { quantity, text: text() }.into(),
            UnitError::UnknownUnit { quantity, text: text(), unit: text() }.into(),
            UnitError::NotWhole { quantity, text: text() }.into(),
            UnitError::TooLarge { quantity, text: text(), largest: "x" }.into(),
            UnitError::Ambiguous { text: text(), number: "1".into(), decimal: "kB", binary: "KiB" }.into(),
            UnitError::OutOfOrder { text: text() }.into(),
        ]
    }

    #[test]
    fn errors_have_the_hints_that_they_need() {
        let told: Vec<String> = all()
            .into_iter()
            .map(|error| {
                assert!(error.chain().find_map(of_cause).is_some(), "{error} is unknown here");
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
    fn advice_is_the_hint_and_not_part_of_the_message() {
        let error = anyhow::anyhow!("it rains").context("out of doors").context(Advice("stay in".into()));
        let told = super::message_and_hint(&error, true, true);
        assert_eq!(told, ("out of doors: it rains".to_owned(), Some("stay in".to_owned())));
        // The message of wrong usage is enough; other failures can be looked into.
        let hint = |usage| super::message_and_hint(&anyhow::anyhow!("it rains"), usage, true).1;
        assert_eq!((hint(true), hint(false).as_deref()), (None, Some(UNKNOWN)));
    }

    #[test]
    fn a_mistyped_command_is_suggested_where_it_is_nearer_than_any_entry() {
        let suggested = |word: &str, nearest: &str, no_command| {
            let (name, nearest) = (word.to_owned(), Some(nearest.to_owned()));
            let error = SelectError::Unknown { name, catalogs: String::new(), nearest };
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
