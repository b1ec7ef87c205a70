//! What can be typed. The only place that knows clap.

use std::path::PathBuf;

use clap::{Arg, Args as ClapArgs, ColorChoice, Parser, Subcommand, ValueEnum};
use strum::VariantArray;

use crate::catalog::Kind;
use crate::metrics::MetricDef;

mod catalog;
mod fleet;
mod programs;
mod results;
mod searches;
mod shell;
mod values;

pub use catalog::{CheckArgs, CleanArgs, NewArgs, VersionsArgs};
pub use fleet::{FleetArgs, FleetCommand};
pub use programs::{LoadArgs, MeasureArgs, ProtocolArg, ReplayArgs};
pub use results::{CompareArgs, SiteArgs, SubmitArgs, VerifyArgs};
pub use searches::{BisectArgs, ExplainArgs, LimitArgs};
pub use shell::{CompletionsArgs, HelpArgs, ManArgs};
pub use values::{ReportFormat, formats};

use values::{figure, one_of};

/// The heading of `run`'s options where no command is named: only `--help` lists them there.
const RUN_OPTIONS: &str = "Options of `run`, the default command";

/// The names of values that are numbers, some with a unit.
const NUMBERS: [&str; 11] =
    ["BYTES", "COUNT", "COUNTS", "N", "RUNS", "SECONDS", "SEED", "SHARE", "SIZE", "TIME", "TIMES"];

/// A number below zero is refused as a value, not taken for an option. Help texts name values and defaults themselves.
fn adapt_arg(arg: Arg) -> Arg {
    let is_number = arg.get_value_names().is_some_and(|names| NUMBERS.contains(&names[0].as_str()));
    let is_hidden = arg.is_hide_short_help_set() || arg.get_help_heading() == Some(RUN_OPTIONS);
    let names_default = arg.get_help().is_some_and(|help| help.to_string().contains("[default: "));
    let is_option = arg.get_action().takes_values();
    let arg = arg.allow_hyphen_values(is_number).hide_short_help(is_hidden);
    arg.hide_possible_values(is_option).hide_default_value(is_option && names_default)
}

/// `-h` shows the examples alone: what `--help` shows below the options, up to the first empty line.
fn adapt_command(command: clap::Command) -> clap::Command {
    let command = command.mut_args(adapt_arg).mut_subcommands(adapt_command);
    let Some(help) = command.get_after_long_help().map(ToString::to_string) else { return command };
    command.after_help(help.split("\n\n").next().unwrap_or_default().to_owned())
}

const EXAMPLES: &str = "\
Examples:
  taskscale --quick                           a first table, in about two minutes
  taskscale 'rust/*' go -n 1,10k -o DIR       some entries; run it again to resume DIR
  taskscale list workloads                    what tasks can do (-w)
  taskscale run -h                            options of a run";

/// Measure what concurrent tasks cost in each language runtime: memory, CPU, time
#[derive(Debug, Parser)]
#[command(
    name = "taskscale",
    version,
    subcommand_precedence_over_arg = true,
    disable_help_subcommand = true,
    max_term_width = 100,
    mut_args = adapt_arg,
    mut_subcommands = adapt_command,
    after_help = EXAMPLES,
    after_long_help = format!(
        "{EXAMPLES}\n
`taskscale` alone measures the entries of the original blog posts (@posts) at 1, 10k, 100k and 1M tasks.
On a terminal it asks first.

Exit status: 0 success (a system limit is a result); 1 a case failed or timed out; 2 usage error; 130 interrupted (Ctrl-C)."
    )
)]
pub struct Args {
    #[command(flatten)]
    pub global: Global,
    #[command(flatten, next_help_heading = RUN_OPTIONS)]
    pub run: RunArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

impl Args {
    /// Whether no option of `run` was typed before the command, or without one: `taskscale` alone.
    pub fn runs_by_default(&self) -> bool {
        Args::try_parse_from(["taskscale"]).is_ok_and(|none| none.run == self.run)
    }

    /// The command before which options of `run` were typed, which it would ignore.
    pub fn misplaced_options(&self) -> Option<&'static str> {
        let name = self.command.as_ref()?.into();
        (!self.runs_by_default()).then_some(name)
    }
}

#[derive(Debug, ClapArgs)]
#[command(next_help_heading = "Global options")]
pub struct Global {
    /// Catalog folder, or `embedded`; repeatable
    ///
    /// Of several catalogs the first takes precedence. `embedded` is the catalog that taskscale carries. The default is
    /// $TASKSCALE_CATALOG, else the nearest `runtimes/`, completed by the embedded catalog.
    #[arg(long, value_name = "DIR", global = true)]
    pub catalog: Vec<PathBuf>,
    /// Folder of a runtime's version; repeatable
    ///
    /// Such as node=/opt/node-22, for entries in versions (`node@22`). `taskscale versions` shows which are found without it.
    #[arg(long, value_name = "NAME=DIR", global = true, hide_short_help = true)]
    pub toolchain: Vec<String>,
    /// Color output: auto, always or never [default: auto]
    ///
    /// `auto` means color on a terminal, and honors NO_COLOR and CLICOLOR_FORCE.
    #[arg(long, value_name = "WHEN", global = true, value_enum, default_value_t, hide_short_help = true)]
    pub color: ColorChoice,
    /// Fail if another taskscale is measuring, instead of waiting
    #[arg(long, global = true, hide_short_help = true)]
    pub no_wait: bool,
    /// Measure beside another taskscale; samples are marked
    #[arg(long, global = true, conflicts_with = "no_wait", hide_short_help = true)]
    pub no_lock: bool,
    /// Show only warnings and errors, no progress
    #[arg(short, long, global = true)]
    pub quiet: bool,
    /// Show each step: builds, commands, cgroups, waits
    #[arg(short, long, global = true, conflicts_with = "quiet")]
    pub verbose: bool,
    /// Print events as JSON Lines on standard error
    ///
    /// docs/reference/events.md describes the events. `bisect`, `check`, `doctor`, `fleet status`, `list`,
    /// `load`, `replay`, `submit`, `verify` and `versions` print their result as JSON.
    #[arg(long, global = true)]
    pub json: bool,
}

#[derive(Debug, Subcommand, strum::IntoStaticStr)]
#[strum(serialize_all = "kebab-case")]
pub enum Command {
    /// Measure entries (the default command)
    Run(RunArgs),
    /// Measure any program, without a manifest
    Measure(Box<MeasureArgs>),
    /// Find the most tasks in a memory, or the least memory
    Limit(LimitArgs),
    /// Show where the bytes of a task are
    Explain(Box<ExplainArgs>),
    /// Load a server: connections, rate, latency
    Load(LoadArgs),
    /// Compare two results; a regression gate for CI
    Compare(CompareArgs),
    /// Find the versions in which a metric changed
    Bisect(BisectArgs),
    /// Measure the machines of a Slurm cluster
    Fleet(FleetArgs),
    /// Show results as tables, charts or data
    Report(ReportArgs),
    /// Prepare results for submission
    Submit(SubmitArgs),
    /// Re-measure a random tenth of submitted results
    Verify(VerifyArgs),
    /// Build a static site from many results
    Site(SiteArgs),
    /// List entries, workloads, metrics or formats
    List(ListArgs),
    /// Show what this machine can measure, and its limits
    #[command(after_help = "\
Examples:
  taskscale doctor              before the first run, and whenever results look odd
  taskscale doctor --verbose    with the commands that query toolchains")]
    Doctor,
    /// Show versions of runtimes and libraries that can be measured
    Versions(VersionsArgs),
    /// Build entries without measuring them
    Build(BuildArgs),
    /// Judge kept runs by today's rules
    Replay(ReplayArgs),
    /// Check that entries conform
    Check(CheckArgs),
    /// Create a new, working entry
    New(NewArgs),
    /// Delete old builds from the cache
    Clean(CleanArgs),
    /// Explain a command, status, warning, kind or metric
    Help(HelpArgs),
    /// Print shell completions
    Completions(CompletionsArgs),
    /// Print or write the manual
    Man(ManArgs),
}

#[derive(Debug, PartialEq, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale run 'rust/*' go -n 1,10k -r 5 -o DIR   some entries; run it again to resume DIR
  taskscale run -w spawn,ring --cpus 1,2           the cost of starting a task, and of a message
  taskscale run @all --dry-run                     an estimate of time and memory
  taskscale run @all --quiet --format markdown     for an issue

Exit status: 0 success (a system limit is a result); 1 a case failed or timed out; 2 usage error; 130 interrupted (the same command resumes).")]
pub struct RunArgs {
    /// Names, globs, runtimes or sets [default: @posts]
    ///
    /// A name (rust/thread), a glob ('rust/*'), a runtime (go) or a set (@posts, @idiomatic, @all). `taskscale list`
    /// shows all entries. @posts are the entries of the original blog posts. With versions: node@16,22,
    /// python@3.10..3.14, rust/tokio-spawn@tokio=1.28,latest.
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// Workloads, or `all` (see `list workloads`) [default: sleep]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Set a workload parameter (see `list workloads`); repeatable
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Pin to this many CPUs; 1,2 runs once per count
    ///
    /// The default is all CPUs, without pinning.
    #[arg(long, value_name = "COUNTS", value_delimiter = ',')]
    pub cpus: Vec<u32>,
    /// Numbers of tasks, such as 1,10k [default: the workload's]
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS")]
    pub tasks: Option<String>,
    /// Repetitions of each case [default: 3]
    #[arg(short, long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// First look: one repetition, up to 100k tasks (about 2 min)
    ///
    /// Plateaus last 0.5 s, and runs of a workload without a wait are limited to 30 s. Where no entry is named, entries
    /// that need a second toolchain of their runtime are left out (GraalVM, Native AOT).
    #[arg(long, conflicts_with = "classic")]
    pub quick: bool,
    /// Wait a fixed 10 s, as in the original blog posts
    ///
    /// Shows which programs never have all tasks alive at once.
    #[arg(long)]
    pub classic: bool,
    #[command(flatten)]
    pub results: ResultsArgs,
    /// Seed of the random order [default: random]
    ///
    /// The seed is recorded in the results.
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Start clients on another machine by COMMAND: 'ssh other'
    ///
    /// For workloads with servers. Needs --listen. The other machine must have taskscale at the same path.
    #[arg(long, value_name = "COMMAND", requires = "listen")]
    pub clients: Option<String>,
    /// Address that servers listen at, for remote clients
    ///
    /// An address of this machine. Needs --clients. The default is 127.0.0.1.
    #[arg(long, value_name = "ADDRESS", requires = "clients")]
    pub listen: Option<String>,
    /// Print the plan with estimates and limits; start nothing
    #[arg(long)]
    pub dry_run: bool,
    /// Start without asking
    #[arg(short, long)]
    pub yes: bool,
}

/// Options of commands that measure into a folder and show it.
#[derive(Debug, PartialEq, ClapArgs)]
pub struct ResultsArgs {
    /// Results folder, resumed if it holds results
    ///
    /// The default is a new folder, taskscale-results/DATE-HOST.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Memory cap of a run [default: 80% of what is available]
    ///
    /// Kernel memory counts. The JVM, .NET and Node.js size their heaps by it, as in a container of that size.
    #[arg(long, value_name = "SIZE")]
    pub memory_cap: Option<String>,
    /// Time limit of a run, such as 90s [default: 120s + 3 × wait]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// Output format (see `list formats`) [default: table]
    #[arg(short, long, value_enum, default_value = "table")]
    pub format: ReportFormat,
    /// Keep a trace of every run in DIR, for `taskscale replay`
    ///
    /// One file of JSON lines per run, warm-ups included: the command line and its folder, protocol lines, usage,
    /// memory, limits of the machine, the end of standard error. Variables of the environment are not in it.
    #[arg(long, value_name = "DIR", hide_short_help = true)]
    pub trace: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale list                every entry: kind, workloads, version
  taskscale list 'rust/*' go    some of them
  taskscale list --missing      what is not installed, and how to install it
  taskscale list workloads      what tasks can do (-w), and their parameters (-p)
  taskscale list metrics        names for --metric
  taskscale list formats        names for --format
  taskscale list --json         everything in the catalog, for programs")]
pub struct ListArgs {
    /// Entries, or `workloads`, `metrics` or `formats`
    ///
    /// Entries as for `run`. The default is @all.
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// Only entries with these workloads [default: all]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Only entries whose toolchain is installed
    #[arg(long, conflicts_with = "missing")]
    pub installed: bool,
    /// Only entries whose toolchain is missing
    #[arg(long)]
    pub missing: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale build               build every entry whose toolchain is installed
  taskscale build go --verbose  and show the commands")]
pub struct BuildArgs {
    /// Entries, as for `run` [default: @all]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// Only these workloads [default: all]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub workload: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale report                                 the newest results, as tables
  taskscale report DIR --entry 'rust/*' go -n 1M   some entries, at one number of tasks
  taskscale report --open                          the page, in a browser
  taskscale report DIR --format csv                for a spreadsheet
  taskscale report DIR --format markdown           for an issue
  taskscale report DIR --rank all                  one ranking across all kinds")]
pub struct ReportArgs {
    /// Results folders [default: newest in taskscale-results/]
    ///
    /// Several folders are shown side by side.
    #[arg(value_name = "DIR")]
    pub folders: Vec<PathBuf>,
    /// Output format (see `list formats`) [default: table]
    #[arg(short, long, value_enum, default_value = "table")]
    pub format: ReportFormat,
    /// Write to FILE instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Metrics to show (see `list metrics`)
    ///
    /// The default depends on the workload. Several folders are compared by footprint and bytes-per-task. The formats
    /// github and bencher add launch and cpu.
    #[arg(short, long, value_parser = figure(), value_delimiter = ',', value_name = "NAMES")]
    pub metric: Vec<&'static MetricDef>,
    /// With --format csv: one line per sample
    ///
    /// Repeated attempts are included.
    #[arg(long)]
    pub samples: bool,
    /// For svg: ranking, scaling or versions [default: ranking]
    #[arg(long, value_enum)]
    pub chart: Option<ChartArg>,
    /// Only these entries: names, globs, runtimes or sets
    #[arg(short, long, value_name = "ENTRY", num_args = 1.., value_delimiter = ',')]
    pub entry: Vec<String>,
    /// Only these kinds, such as thread,stackless
    ///
    /// Kinds are thread, process, stackful, stackless, future, timer and program.
    #[arg(short, long, value_name = "KIND", num_args = 1.., value_delimiter = ',', value_parser = one_of(Kind::VARIANTS.iter().map(|kind| (kind.name().into(), *kind)).collect()))]
    pub kind: Vec<Kind>,
    /// Only these numbers of tasks, such as 1,10k [default: all]
    ///
    /// Bytes per task are still fitted to all numbers of tasks. A ranking chart shows one, by default the largest.
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS")]
    pub tasks: Option<String>,
    /// Show fits of memory, wall times and all notes
    ///
    /// Of several series every one at every N, where the default is an overview and the first series.
    #[arg(long)]
    pub stats: bool,
    /// Open the page in a browser
    ///
    /// The page is written to -o FILE, or to report.html in the results folder.
    #[arg(long)]
    pub open: bool,
    /// Only series that start with NAME; repeatable
    ///
    /// A series is a workload with its parameters and CPUs, such as `spawn` or 'spawn, 1 CPU'.
    #[arg(long, value_name = "NAME")]
    pub part: Vec<String>,
    /// Rank within each kind, or all together [default: kind]
    ///
    /// `kind` or `all`. The `vs best` column compares within the same group.
    #[arg(long, value_enum, value_name = "GROUP")]
    pub rank: Option<RankArg>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RankArg {
    /// Within each kind: threads with threads, timers with timers
    Kind,
    /// All entries in one order
    All,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ChartArg {
    /// Entries by footprint, stacked by type of memory
    Ranking,
    /// Footprint over the number of tasks
    Scaling,
    /// Entries in several versions, version by version
    Versions,
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_clap_definition_is_valid() {
        Args::command().debug_assert();
    }

    /// All commands but `help`, the root last.
    fn commands() -> Vec<clap::Command> {
        let mut root = Args::command().term_width(100);
        root.build();
        let subcommands: Vec<_> =
            root.get_subcommands().filter(|sub| sub.get_name() != "help").cloned().collect();
        subcommands.into_iter().chain([root]).collect()
    }

    #[test]
    fn every_command_has_examples() {
        for command in commands() {
            let name = command.get_name();
            let typed = if name == "taskscale" { name.to_owned() } else { format!("taskscale {name}") };
            for help in [command.get_after_help(), command.get_after_long_help().or(command.get_after_help())]
            {
                let help = help.map(ToString::to_string).unwrap_or_default();
                assert!(
                    help.contains("Examples:") && help.contains(&typed),
                    "`{typed} --help` has no example:\n{help}"
                );
            }
        }
    }

    #[test]
    fn short_help_fits_line_and_word_limits() {
        for mut command in commands() {
            let help = command.render_help().to_string();
            let name = command.get_name().to_owned();
            assert!(help.lines().count() <= 45, "{name} -h has {} lines:\n{help}", help.lines().count());
            let words = help.split_whitespace().count();
            assert!(name != "taskscale" || words <= 300, "{words} words:\n{help}");
            for arg in command.get_arguments() {
                let line = arg.get_help().map(ToString::to_string).unwrap_or_default();
                assert!(line.chars().count() <= 60, "{name} {}: {line}", arg.get_id());
            }
        }
    }

    #[test]
    fn run_options_have_their_own_heading() {
        let mut root = Args::command().term_width(100);
        assert!(!root.render_help().to_string().contains("--seed"));
        let long = root.render_long_help().to_string();
        let (_, after) = long.split_once(RUN_OPTIONS).expect("a heading");
        assert!(after.contains("--seed") && after.contains("[ENTRY]"), "{long}");
    }

    #[test]
    fn every_format_lists_its_commands() {
        let formats = formats();
        let of = |name: &str| formats.iter().find(|format| format.name == name).expect("a format");
        assert_eq!(of("html").commands, ["run", "measure", "report"]);
        assert!(of("csv").commands.contains(&"compare") && !of("csv").about.is_empty());
    }
}
