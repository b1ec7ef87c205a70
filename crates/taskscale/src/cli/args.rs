//! What can be typed. The only place that knows clap.

use std::path::PathBuf;

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

use crate::catalog::{Kind, carried_workloads};
use crate::figures::{self, Figure};

mod catalogue;
mod compare;
mod fleet;
mod limit;
mod load;
mod measure;
mod shell;
mod site;
mod submit;

pub use catalogue::{Check, Clean, New};
pub use compare::{Compare, CompareFormat};
pub use fleet::{Fleet, GatherFormat, Step as FleetStep};
pub use limit::{Limit, LimitFormat};
pub use load::{Load, Talk};
pub use measure::Measure;
pub use shell::{Completions, Help, Man};
pub use site::Site;
pub use submit::{Submit, Verify};

/// Examples, the workloads that taskscale carries, and what exit codes mean.
fn help(examples: &str, exit_codes: &str) -> String {
    let mut text = format!("{examples}\n\nWorkloads (-w):\n");
    for workload in carried_workloads() {
        text.push_str(&format!("  {:<8} {}\n", workload.name, workload.answers));
    }
    format!("{text}\n{exit_codes}")
}

/// What do N concurrent tasks cost - memory, CPU, time - in each language runtime, and where does each one break?
#[derive(Debug, Parser)]
#[command(
    name = "taskscale",
    version,
    subcommand_precedence_over_arg = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    after_help = help(
        "\
Examples:
  taskscale                                    the posts' entries at 1, 10k, 100k and 1M tasks; asks first
  taskscale --quick                            a first table: one repetition, up to 100k tasks
  taskscale 'rust/*' go -n 1,10k -r 3 -o DIR   narrowed; the same again goes on with DIR
  taskscale -w spawn,ring --cpus 1,2           what starting a task and a message cost
  taskscale doctor                             what this machine can measure, and what limits it",
        "Exit codes: 0 all well, 1 some cell fell short, 2 wrong usage, 130 interrupted (Ctrl-C)."
    )
)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(flatten)]
    pub run: Run,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Args {
    /// Nothing was typed that says what to measure: the whole job is meant, or its name was tried.
    pub fn is_bare(&self) -> bool {
        self.command.is_none() && self.runs_by_default()
    }

    fn runs_by_default(&self) -> bool {
        Args::try_parse_from(["taskscale"]).is_ok_and(|none| none.run == self.run)
    }

    /// Options of `run` before another command, where they would mean nothing: the command's name, for a message.
    pub fn misplaced_options(&self) -> Option<&'static str> {
        let name = match self.command.as_ref()? {
            Command::Run(_) => "run",
            Command::List(_) => "list",
            Command::Build(_) => "build",
            Command::Doctor => "doctor",
            Command::Report(_) => "report",
            Command::Check(_) => "check",
            Command::New(_) => "new",
            Command::Clean(_) => "clean",
            Command::Compare(_) => "compare",
            Command::Completions(_) => "completions",
            Command::Man(_) => "man",
            Command::Help(_) => "help",
            Command::Limit(_) => "limit",
            Command::Measure(_) => "measure",
            Command::Load(_) => "load",
            Command::Fleet(_) => "fleet",
            Command::Submit(_) => "submit",
            Command::Verify(_) => "verify",
            Command::Site(_) => "site",
        };
        (!self.runs_by_default()).then_some(name)
    }
}

/// What to do where another taskscale measures on this machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WhenTaken {
    Wait,
    /// `--no-wait`.
    Fail,
    /// `--no-lock`.
    Ignore,
}

impl Global {
    pub fn when_taken(&self) -> WhenTaken {
        match (self.no_wait, self.no_lock) {
            (_, true) => WhenTaken::Ignore,
            (true, false) => WhenTaken::Fail,
            (false, false) => WhenTaken::Wait,
        }
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Options of every command")]
pub struct Global {
    /// Use the catalogue in DIR, `embedded` for the one that taskscale carries; the first of several goes before the
    /// others [default: $TASKSCALE_CATALOG, or the nearest `runtimes/` and beneath it the one that taskscale carries]
    #[arg(long, value_name = "DIR", global = true)]
    pub catalog: Vec<PathBuf>,
    /// When to colour: NO_COLOR and CLICOLOR_FORCE are heeded where nothing is said here
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t)]
    pub color: When,
    /// Where another taskscale measures on this machine, end with an error instead of waiting for it
    #[arg(long, global = true)]
    pub no_wait: bool,
    /// Do not lock the machine and wait for nobody: each sample is marked
    #[arg(long, global = true, conflicts_with = "no_wait")]
    pub no_lock: bool,
    /// No progress on standard error: warnings and errors only
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Say what is done: builds, commands, control groups, the hold of each run and why
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// For machines: standard error is JSON Lines, an event each (docs/reference/events.md); `list`, `check` and `submit` print JSON
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, ValueEnum)]
pub enum When {
    /// On a terminal
    #[default]
    Auto,
    Always,
    Never,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure entries (the main job; `run` may be left out)
    Run(Run),
    /// Measure any program, which need not know anything of taskscale
    Measure(Box<Measure>),
    /// Find the most tasks that fit in a memory, or the least memory for some tasks
    Limit(Limit),
    /// Talk to a server as its clients: connections, latency at a rate, messages in a second
    Load(Load),
    /// Compare two campaigns, or two entries of one: what costs more, less, the same
    Compare(Compare),
    /// Measure the machines of a Slurm cluster, a campaign each
    Fleet(Fleet),
    /// Show campaigns again, in any format: tables, charts, data for other tools
    Report(Report),
    /// Hand a campaign in: check it, take host, users and paths out, write the text of the pull request
    Submit(Submit),
    /// Measure a random tenth of submitted results again, and record whether they agree
    Verify(Verify),
    /// Make a static site of many campaigns: a page for each of them and for each entry
    Site(Site),
    /// Show the catalogue: entries, kinds, versions, and why some are unavailable
    List(List),
    /// Examine this machine: control groups, limits, disturbances, toolchains
    #[command(after_help = "\
Examples:
  taskscale doctor              before the first campaign, and whenever figures look odd
  taskscale doctor --verbose    with the commands that toolchains are asked by")]
    Doctor,
    /// Build entries into the cache without measuring them
    Build(Build),
    /// Check that entries are good citizens: protocol, waits, claims, files, pinned versions
    Check(Check),
    /// Write a new entry that works: program, manifest and README, to be made your own
    New(New),
    /// Remove builds that are kept of older sources and toolchains, and say how much was freed
    Clean(Clean),
    /// Explain a command, status, warning, kind, column or metric
    Help(Help),
    /// Print the completions of a shell
    Completions(Completions),
    /// Print the manual page, or write one for each command
    Man(Man),
}

#[derive(Debug, PartialEq, ClapArgs)]
#[command(after_help = help(
    "\
Examples:
  taskscale run                                    the posts' entries at 1, 10k, 100k and 1M tasks
  taskscale run 'rust/*' go -n 1,10k -r 5 -o DIR   narrowed; the same again goes on with DIR
  taskscale run @all --dry-run                     an estimate of time and memory
  taskscale run @all --quiet --format markdown     for an issue
  taskscale run --json 2>events.jsonl              events for a program that watches",
    "Exit codes: 0 all well, 1 some cell fell short, 2 wrong usage, 130 interrupted (Ctrl-C; the same command goes on)."
))]
pub struct Run {
    /// Entries: names (rust/thread), globs ('rust/*'), runtimes (go), sets (@posts, @idiomatic, @all) [default: @posts]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// What each task does: one or more workloads, or all (docs/workloads.md) [default: sleep]
    #[arg(short, long, value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Set a parameter of the workloads that have it; repeatable
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Let programs run on so many CPUs; several numbers, such as 1,2, are several parts [default: all]
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub cpus: Vec<u32>,
    /// Numbers of tasks, such as 1,10k,1M [default: the workload's, such as 1,10k,100k,1M]
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS", allow_hyphen_values = true)]
    pub tasks: Option<String>,
    /// How often each cell is measured [default: 3]
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// One repetition up to 100k tasks, with plateaus of half a second: a first table, in two minutes for 16 entries that
    /// have to be built (two CPUs, 2026-11-24). Where no entry is named, without those of a runtime that another toolchain
    /// builds (GraalVM, Native AOT)
    #[arg(long, conflicts_with = "classic")]
    pub quick: bool,
    /// Wait 10 s flat as the posts did, and show who never had all tasks alive
    #[arg(long)]
    pub classic: bool,
    /// Results folder; an unfinished one resumes [default: taskscale-results/DATE-HOST]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Seed of the random order [default: random, recorded in the campaign]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Memory that a run may take, kernel memory included; the JVM, .NET and Node.js take it for the size of the machine,
    /// and size their heaps by it [default: 80 % of what is available]
    #[arg(long, value_name = "SIZE")]
    pub memory_cap: Option<String>,
    /// Time that a run may take, such as 90s [default: 120 s and three times its hold; work with --quick 30 s]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Start the clients of servers by COMMAND, such as 'ssh other', on another machine; with --listen
    #[arg(long, value_name = "COMMAND", requires = "listen")]
    pub clients: Option<String>,
    /// Have servers listen at this address of this machine, for clients on another [default: 127.0.0.1]
    #[arg(long, value_name = "ADDRESS", requires = "clients")]
    pub listen: Option<String>,
    /// How the result is printed
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Print the plan with an estimate of time and memory and the limits that it will meet, and start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Start at once: `taskscale` alone asks first on a terminal
    #[arg(short, long)]
    pub yes: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale list               every entry, its kind and version, or why it is unavailable
  taskscale list 'rust/*' go   some of them
  taskscale list --json        with all that the catalogue says, for a program")]
pub struct List {
    /// Entries, as for `run` [default: @all]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// Only those that do one of these workloads, and only these of them [default: all]
    #[arg(short, long, value_delimiter = ',')]
    pub workload: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale build               build every entry whose toolchain is here
  taskscale build go --verbose  with the commands that are run")]
pub struct Build {
    /// Entries, as for `run` [default: @all]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// Only those that do one of these workloads, and only these of them [default: all]
    #[arg(short, long, value_delimiter = ',')]
    pub workload: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale report                                 the table of your newest campaign
  taskscale report DIR                             the table again
  taskscale report --entry 'rust/*' go -n 1M       some of it; the fits are of all
  taskscale report --open                          the page, in a browser
  taskscale report DIR --format csv                for a spreadsheet
  taskscale report DIR --format markdown           for an issue
  taskscale report DIR --rank all                  one ranking across all kinds")]
pub struct Report {
    /// Folders of campaigns; several are set side by side [default: the newest below taskscale-results/]
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write it to FILE, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Figures to show, as `compare` names them: columns of a table, what campaigns are set side by side by, what goes to
    /// a service [default: those that suit the workload; of several footprint,bytes-per-task; for github and bencher
    /// launch and cpu as well]
    #[arg(
        short,
        long,
        value_parser = figure(),
        value_delimiter = ',',
        value_name = "METRICS"
    )]
    pub metric: Vec<&'static Figure>,
    /// With csv: one line for each sample, repeated attempts included
    #[arg(long)]
    pub samples: bool,
    /// With svg: what is drawn [default: ranking]
    #[arg(long, value_enum)]
    pub chart: Option<Chart>,
    /// Only these entries: names, globs ('rust/*'), runtimes (go), sets (@posts, @idiomatic, @all)
    #[arg(short, long, value_name = "ENTRY", num_args = 1.., value_delimiter = ',')]
    pub entry: Vec<String>,
    /// Only entries of these kinds
    #[arg(short, long, value_name = "KIND", num_args = 1.., value_delimiter = ',', value_parser = kind())]
    pub kind: Vec<Kind>,
    /// Only rows of these numbers of tasks, such as 1,10k; what a task costs is fitted to all. Of a chart of svg the
    /// ranking's [default: all; of the ranking chart the largest]
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS", allow_hyphen_values = true)]
    pub tasks: Option<String>,
    /// Show the page in a browser: written to -o FILE, or report.html in the campaign's folder
    #[arg(long)]
    pub open: bool,
    /// Only the parts of campaigns whose name begins so, such as spawn or 'spawn, 1 CPU' (docs/workloads.md)
    #[arg(long, value_name = "PART")]
    pub part: Option<String>,
    /// Among whom entries are ranked, and whose best `× best` is against [default: kind]
    #[arg(long, value_enum)]
    pub rank: Option<Rank>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Rank {
    /// Those of the same kind: threads among threads, timers among timers
    Kind,
    /// All in one order, unlike as they are
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Tables for the terminal
    Table,
    /// For an issue, a README or a post
    Markdown,
    /// Everything, for programs
    Json,
    /// One line for each entry and number of tasks
    Csv,
    /// JSON for github-action-benchmark, customSmallerIsBetter
    Github,
    /// Bencher Metric Format
    Bencher,
    /// A picture for a README or a post
    Svg,
    /// One page: charts, tables, sources, every sample
    Html,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Chart {
    /// Entries by footprint, stacked by what the memory is
    Ranking,
    /// Footprint over the number of tasks
    Scaling,
}

/// Kinds by their names.
fn kind() -> impl TypedValueParser<Value = Kind> {
    let named = |name: String| Kind::ALL.into_iter().find(|kind| kind.name() == name);
    // The parser takes no other names.
    PossibleValuesParser::new(Kind::ALL.map(Kind::name)).map(move |name| named(name).unwrap_or(Kind::Program))
}

/// Figures by their names.
fn figure() -> impl TypedValueParser<Value = &'static Figure> {
    let known = figures::ALL.map(|figure| PossibleValue::new(figure.name).help(figure.about));
    // The parser takes no other names.
    PossibleValuesParser::new(known).map(|name| figures::named(&name).unwrap_or(&figures::FOOTPRINT))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_definition_is_sound() {
        Args::command().debug_assert();
    }

    #[test]
    fn the_help_of_every_command_has_examples() {
        let command = Args::command();
        for sub in command.get_subcommands().chain([&command]) {
            let name = sub.get_name();
            let help = sub.get_after_help().map(ToString::to_string).unwrap_or_default();
            let typed = if name == "taskscale" { name.to_owned() } else { format!("taskscale {name}") };
            assert!(
                help.contains("Examples:") && help.contains(&typed),
                "`{typed} --help` has no example:\n{help}"
            );
        }
    }
}
