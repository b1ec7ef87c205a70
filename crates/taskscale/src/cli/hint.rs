//! What to do about an error: a line below each.
//!
//! Each kind of error is matched without a rest, so that a new one does not compile before it has its advice.

use std::fmt;
use std::io::{Error as IoError, ErrorKind};

use clap::CommandFactory;

use super::args::Args;
use crate::campaign::CampaignError;
use crate::catalog::{CatalogError, SelectError, closest};
use crate::check::CheckError;
use crate::compare::CompareError;
use crate::fleet::FleetError;
use crate::limit::LimitError;
use crate::measure::MeasureError;
use crate::record::StoreError;
use crate::report::{ChartError, ExportError, ServiceError};
use crate::scaffold::ScaffoldError;
use crate::sheet::quoted;
use crate::toolchain::{BuildError, Unavailable};
use crate::units::UnitError;

/// Where nothing better is known of wrong usage.
pub(super) const USAGE: &str = "`taskscale COMMAND --help` shows what is accepted, with examples";

/// How quantities are written, none of them below zero.
pub(super) const QUANTITIES: &str = "counts read 10k or 1M, sizes 512MiB, times 90s, shares 5%";

/// Advice that goes with one error, given as its context: shown as the hint, not as a part of the message.
#[derive(Debug)]
pub(super) struct Advice(pub String);

impl fmt::Display for Advice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The message of an error with all its causes, and what to do about it.
pub(super) fn told(error: &anyhow::Error, usage: bool) -> (String, String) {
    let is_advice = error.downcast_ref::<Advice>().is_some();
    let mut causes: Vec<String> = error.chain().map(ToString::to_string).collect();
    let advice = if is_advice { Some(causes.remove(0)) } else { None };
    let hint = advice.or_else(|| error.chain().find_map(of_cause)).unwrap_or_else(|| {
        if usage {
            USAGE.to_owned()
        } else {
            "the same with --verbose says what was being done; `taskscale doctor` examines this machine"
                .to_owned()
        }
    });
    (causes.join(": "), hint)
}

fn of_cause(cause: &(dyn std::error::Error + 'static)) -> Option<String> {
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

fn of_campaign(error: &CampaignError) -> String {
    match error {
        CampaignError::Measure(error) => of_measuring(error),
        CampaignError::Store(error) => of_store(error),
        CampaignError::Another { .. } => {
            "name a new folder with -o; `taskscale report` shows what the old one holds".to_owned()
        }
    }
}

fn of_catalog(error: &CatalogError) -> String {
    match error {
        CatalogError::NotFound => {
            "run it in a checkout of taskscale, or name the folder of runtimes: --catalog DIR".to_owned()
        }
        CatalogError::Unpack { .. } => {
            "set TASKSCALE_CACHE to a folder that can be written, or name a catalogue with --catalog DIR"
                .to_owned()
        }
        CatalogError::Untrusted { folder, .. } => {
            let folder = quoted(&folder.display().to_string());
            format!(
                "if you trust it, `--catalog {folder}` uses it; `--catalog embedded` uses taskscale's own"
            )
        }
        CatalogError::Unreadable { error, .. } => of_io(error),
        CatalogError::Invalid { .. } => {
            "fix that line: docs/guides/add-a-runtime.md explains every key of runtime.toml".to_owned()
        }
        CatalogError::Empty { below: Some(below), .. } => format!("did you mean {}?", below.display()),
        CatalogError::Empty { .. } => {
            "a catalogue is a folder of folders, each with a runtime.toml: name another with --catalog DIR"
                .to_owned()
        }
    }
}

fn of_selection(error: &SelectError) -> String {
    match error {
        SelectError::Unknown { name, .. } => {
            let commands = Args::command();
            let names = commands.get_subcommands().map(clap::Command::get_name);
            let command = closest(name, names).map(|command| format!("`taskscale {command}` is a command; "));
            format!(
                "{}an entry is a name (go/goroutine), a glob ('rust/*'), a runtime (go) or a set (@posts, @idiomatic, @all)",
                command.unwrap_or_default()
            )
        }
        SelectError::EmptySet { .. } => {
            "@all means every entry of a catalogue; `taskscale list` shows them".to_owned()
        }
        SelectError::NoWorkload { .. } => "`taskscale list` shows which entry does which".to_owned(),
        SelectError::NobodyDoes { does, .. } => {
            format!("choose other entries, or a workload that these do with -w: {does}")
        }
    }
}

fn of_measuring(error: &MeasureError) -> String {
    match error {
        MeasureError::Io { error, .. } => match error.kind() {
            ErrorKind::PermissionDenied | ErrorKind::ReadOnlyFilesystem => {
                "`taskscale doctor` says which control groups this user may make, and how to get one".to_owned()
            }
            _ => of_io(error),
        },
        MeasureError::Launcher(_) => {
            "taskscale's own helper could not do its work: fix what it says, look into `dmesg` for what the kernel says, \
             and start taskscale again: it goes on where it stopped"
                .to_owned()
        }
    }
}

fn of_store(error: &StoreError) -> String {
    match error {
        StoreError::Io { error, .. } => of_io(error),
        StoreError::NoCampaign(_) => {
            "name the folder that `taskscale run` printed last, such as one below taskscale-results/".to_owned()
        }
        StoreError::Malformed { .. } => {
            "restore campaign.json from a copy, or measure into a new folder; samples.jsonl beside it can still be read"
                .to_owned()
        }
        StoreError::Newer { .. } => "install the taskscale that made it, or a later one".to_owned(),
        StoreError::TooLarge { .. } => "name results that `taskscale run` wrote".to_owned(),
        StoreError::InUse(_) | StoreError::Begun(_) => {
            "wait until it has ended, or measure into another folder: -o DIR".to_owned()
        }
        StoreError::Orphans(_) => {
            "restore campaign.json from a copy, or measure into a new folder: -o DIR".to_owned()
        }
    }
}

fn of_comparison(error: &CompareError) -> String {
    match error {
        CompareError::Workloads { .. } => {
            "measure both with the same workload: `taskscale run -w WORKLOAD`".to_owned()
        }
        CompareError::NoEntry { there, .. } => format!("its entries are {}", there.join(", ")),
        CompareError::NothingInCommon { .. } => {
            "measure the same entries at the same -n in both; or compare two entries with --base-entry and --new-entry"
                .to_owned()
        }
        CompareError::Across { .. } => {
            "measure both sides on one machine with one taskscale; or add --across to compare all the same".to_owned()
        }
        CompareError::Twice { .. } => "measure again into a new folder: -o DIR".to_owned(),
    }
}

fn of_check(error: &CheckError) -> String {
    match error {
        CheckError::Interrupted => "the same command checks again".to_owned(),
        CheckError::Measure(error) => of_measuring(error),
        CheckError::Io { error, .. } => of_io(error),
    }
}

fn of_limit(error: &LimitError) -> String {
    match error {
        LimitError::Measure(error) => of_measuring(error),
        LimitError::Store(error) => of_store(error),
        LimitError::Io { error, .. } => of_io(error),
        LimitError::Malformed { .. } => {
            "restore limit.json from a copy, or search into a new folder: -o DIR".to_owned()
        }
        LimitError::Newer { .. } => "install the taskscale that made it, or a later one".to_owned(),
        LimitError::Another { .. } => {
            "name a new folder with -o; `taskscale report` shows what the old one holds".to_owned()
        }
    }
}

fn of_fleet(error: &FleetError) -> String {
    match error {
        FleetError::Plan { .. } | FleetError::Machines { .. } => {
            "docs/guides/fleet.md says what a plan holds, with an example".to_owned()
        }
        FleetError::Io { error, .. } => of_io(error),
        FleetError::NoFleet(_) => "submit one: `taskscale fleet plan.toml`".to_owned(),
        FleetError::Malformed { .. } => "restore the file from a copy, or begin a new folder".to_owned(),
        FleetError::AnotherPlan { folder, .. } => format!(
            "name a new folder in the plan, or go on with what was submitted: `taskscale fleet resume {}`",
            folder.display()
        ),
        FleetError::Busy(_) => "wait for it; then the same command again submits what is left".to_owned(),
        FleetError::NoSlurm(_) => {
            "run it where jobs are submitted (Debian: apt install slurm-client munge, and the cluster's slurm.conf);              --dry-run prints scripts that run without Slurm"
                .to_owned()
        }
        FleetError::Slurm { said, .. } => of_slurm(said),
        FleetError::NotShared { .. } => {
            "name a folder in the plan that is mounted at the same path everywhere, as home often is".to_owned()
        }
        FleetError::Superseded { .. } => {
            "nothing is lost: the newer job goes on, or begins anew on its node".to_owned()
        }
        FleetError::Incomplete { .. } => {
            "what is there is kept: `taskscale fleet resume DIR` goes on once the cause above is gone".to_owned()
        }
        FleetError::Changed { .. } => {
            "restore it from a copy, or remove the slot's folder and `taskscale fleet resume DIR`".to_owned()
        }
        FleetError::Untrusted { path, .. } => format!(
            "make it yours alone: `chmod go-w {}`; where it is another user's, begin a fleet in a folder of your own",
            path.display()
        ),
        FleetError::NoSlot { .. } => "`taskscale fleet status DIR` names them all".to_owned(),
    }
}

/// What Slurm's own words mean for its users.
fn of_slurm(said: &str) -> String {
    let said = said.to_lowercase();
    let any = |words: &[&str]| words.iter().any(|word| said.contains(word));
    // All that Slurm tells a client whose credential it does not take.
    if any(&["credential", "munge", "zero bytes were transmitted", "authentication error"]) {
        "this machine and the cluster do not trust each other: their clocks differ, or their munge keys; \
         `munge -n | ssh CONTROLLER unmunge` says which"
            .to_owned()
    } else if any(&["partition"]) {
        "`sinfo --summarize` lists the partitions".to_owned()
    } else if any(&["feature", "constraint"]) {
        "`sinfo --format '%P %N %f'` lists the features of nodes, which a constraint may name".to_owned()
    } else if any(&["node name", "nodelist", "node count", "node configuration"]) {
        "`sinfo --Node` lists the nodes and their partitions".to_owned()
    } else if any(&["time limit"]) {
        "`sinfo --format '%P %l'` lists the longest times of partitions".to_owned()
    } else if any(&["contact", "controller", "configuration source", "connect"]) {
        "is the controller up? `scontrol ping` asks it; SLURM_CONF names another slurm.conf".to_owned()
    } else {
        "that is Slurm's answer: `sbatch --test-only SCRIPT` on the output of --dry-run gives it again"
            .to_owned()
    }
}

fn of_scaffold(error: &ScaffoldError) -> String {
    match error {
        ScaffoldError::Name { .. } => "such as `taskscale new go/errgroup`".to_owned(),
        ScaffoldError::NoProgram { .. } => {
            "leave it out of -w; docs/reference/protocol.md says what a program of it does".to_owned()
        }
        ScaffoldError::Exists(_) | ScaffoldError::EntryExists { .. } => {
            "choose another name, or another catalogue with --catalog DIR".to_owned()
        }
        ScaffoldError::Runtime { error } | ScaffoldError::Model { error } => of_catalog(error),
        ScaffoldError::Invalid { .. } => {
            "report it with the runtime.toml that it was to be added to".to_owned()
        }
        ScaffoldError::Io { error, .. } => of_io(error),
    }
}

fn of_export(error: &ExportError) -> String {
    match error {
        ExportError::Service(ServiceError::Twice { .. }) | ExportError::OneCampaign(_) => {
            "give one folder at a time, each with an -o of its own".to_owned()
        }
        ExportError::Service(ServiceError::MoreIsBetter(_)) => {
            "--metric wall-ns-per-op says the same the other way round".to_owned()
        }
        ExportError::Service(ServiceError::Nothing) => {
            "`taskscale report DIR` shows what became of each cell".to_owned()
        }
        ExportError::Chart(ChartError::NoSuchTasks { .. }) => "choose one of those with -n".to_owned(),
        ExportError::Chart(ChartError::TooFewTasks(_)) => {
            "measure at more than one N, or draw --chart ranking".to_owned()
        }
        ExportError::Chart(ChartError::Nothing) | ExportError::Nothing => {
            "name the folder of a campaign that measured something".to_owned()
        }
    }
}

fn of_build(error: &BuildError) -> String {
    match error {
        BuildError::Io { error, .. } => of_io(error),
        BuildError::NoProgram { program, .. } => {
            format!("install `{program}`: `taskscale list` says how for each runtime")
        }
        BuildError::Failed { log, .. } => format!("read {}, fix the cause and build again", log.display()),
        BuildError::Stopped(_) => "the same command builds again".to_owned(),
        BuildError::NoResult(_) => {
            "the build commands in runtime.toml must put the program where `run` looks for it".to_owned()
        }
    }
}

fn of_toolchain(error: &Unavailable) -> String {
    match error {
        Unavailable::Missing { install, .. } | Unavailable::TooOld { install, .. } => {
            format!("install it: {install}")
        }
        Unavailable::Broken { command, .. } => format!("find out why `{command}` fails, or install it anew"),
    }
}

fn of_unit(error: &UnitError) -> String {
    match error {
        UnitError::Empty(_)
        | UnitError::NotANumber { .. }
        | UnitError::Negative { .. }
        | UnitError::Zero { .. }
        | UnitError::NoUnit { .. }
        | UnitError::UnknownUnit { .. }
        | UnitError::NotWhole { .. }
        | UnitError::TooLarge { .. } => QUANTITIES.to_owned(),
        UnitError::Ambiguous { number, binary, .. } => format!("most likely {number}{binary} is meant"),
        UnitError::OutOfOrder { .. } => "hours before minutes before seconds: 1h30m".to_owned(),
    }
}

/// What can be done about what the system refused.
fn of_io(error: &IoError) -> String {
    match error.kind() {
        ErrorKind::NotFound => "look whether the path is spelled right and still there".to_owned(),
        ErrorKind::PermissionDenied => {
            "choose a place that you may read and write, or change its owner (`ls -ld` shows it)".to_owned()
        }
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded => {
            "make room on that disk (`df -h`); what was measured is kept, and the same command goes on"
                .to_owned()
        }
        ErrorKind::ReadOnlyFilesystem => "choose a place on a disk that can be written to".to_owned(),
        ErrorKind::NotADirectory | ErrorKind::AlreadyExists => "name another folder".to_owned(),
        ErrorKind::OutOfMemory => "free memory, or ask for fewer tasks".to_owned(),
        _ if error.raw_os_error() == Some(libc::EMFILE) => {
            "raise the limit of open files: `ulimit -n 65536`".to_owned()
        }
        _ => "the same with --verbose says what was being done; `taskscale doctor` examines this machine"
            .to_owned(),
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
            Unavailable::Missing { title: text(), install: text() }.into(),
            Unavailable::TooOld { title: text(), minimum: text(), found: text(), install: text() }.into(),
            Unavailable::Broken { command: text(), why: text(), install: text() }.into(),
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
    fn every_error_says_what_to_do() {
        let told: Vec<String> = all()
            .into_iter()
            .map(|error| {
                assert!(error.chain().find_map(of_cause).is_some(), "{error} has no hint of its own");
                // Also below a context.
                let (message, hint) = super::told(&error.context("-o x"), true);
                assert!(message.starts_with("-o x: ") && !hint.is_empty());
                format!("{message}\n    {hint}")
            })
            .collect();
        insta::assert_snapshot!(told.join("\n"));
    }

    #[test]
    fn advice_is_the_hint_and_no_part_of_the_message() {
        let error = anyhow::anyhow!("it rains").context("out of doors").context(Advice("stay in".into()));
        assert_eq!(super::told(&error, true), ("out of doors: it rains".to_owned(), "stay in".to_owned()));
        let (_, hint) = super::told(&anyhow::anyhow!("it rains"), true);
        assert!(hint.contains("--help"), "{hint}");
    }
}
