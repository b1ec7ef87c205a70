//! What can be typed. The only place that knows clap.

use std::path::PathBuf;

use clap::{Args as ClapArgs, Parser, Subcommand, ValueEnum};

/// What do N concurrent tasks cost - memory, CPU, time - in each language runtime, and where does each one break?
#[derive(Debug, Parser)]
#[command(
    name = "taskscale",
    version,
    subcommand_precedence_over_arg = true,
    max_term_width = 100,
    after_help = "\
Examples:
  taskscale                                    the posts' entries at 1, 10k, 100k and 1M tasks
  taskscale --quick                            a first table within a minute
  taskscale 'rust/*' go -n 1,10k -r 3 -o DIR   narrowed; the same command goes on where it stopped
  taskscale doctor                             what this machine can measure, and what limits it

Exit codes: 0 all well, 1 some cell fell short, 2 wrong usage."
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
    /// Options of `run` before another command, where they would mean nothing: the command's name, for a message.
    pub fn misplaced_options(&self) -> Option<&'static str> {
        let none_given = || Args::try_parse_from(["taskscale"]).is_ok_and(|none| none.run == self.run);
        let name = match self.command.as_ref()? {
            Command::Run(_) => "run",
            Command::List(_) => "list",
            Command::Build(_) => "build",
            Command::Doctor => "doctor",
            Command::Report(_) => "report",
            Command::Check(_) => "check",
            Command::New(_) => "new",
            Command::Clean(_) => "clean",
        };
        (!none_given()).then_some(name)
    }
}

#[derive(Debug, ClapArgs)]
pub struct Global {
    /// Use the catalogue in DIR [default: $TASKSCALE_CATALOG, the nearest `runtimes/`, or the one that taskscale carries]
    #[arg(long, value_name = "DIR", global = true)]
    pub catalog: Option<PathBuf>,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure entries (the main job; `run` may be left out)
    Run(Run),
    /// Show the catalogue: entries, kinds, versions, and why some are unavailable
    List(List),
    /// Build entries into the cache without measuring them
    Build(Build),
    /// Examine this machine: control groups, limits, disturbances, toolchains
    Doctor,
    /// Show campaigns again, in any format: tables, charts, data for other tools
    Report(Report),
    /// Check that entries are good citizens: protocol, waits, claims, files, pinned versions
    Check(Check),
    /// Write a new entry that works: program, manifest and README, to be made your own
    New(New),
    /// Remove builds that are kept of older sources and toolchains, and say how much was freed
    Clean(Clean),
}

#[derive(Debug, PartialEq, ClapArgs)]
pub struct Run {
    /// Entries: names (rust/thread), globs ('rust/*'), runtimes (go), sets (@posts, @idiomatic, @all) [default: @posts]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// What each task does
    #[arg(short, long, default_value = "sleep")]
    pub workload: String,
    /// Numbers of tasks, such as 1,10k,1M [default: 1,10k,100k,1M]
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS", allow_hyphen_values = true)]
    pub tasks: Option<String>,
    /// How often each cell is measured [default: 3]
    #[arg(short, long, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: Option<u32>,
    /// One repetition up to 100k tasks, with plateaus of half a second: a first table within a minute
    #[arg(long, conflicts_with = "classic")]
    pub quick: bool,
    /// Wait 10 s flat as the posts did, and show who never had all tasks alive
    #[arg(long)]
    pub classic: bool,
    /// Folder of the campaign; one that is unfinished is gone on with [default: results/DATE-HOST]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Seed of the random order [default: random, recorded in the campaign]
    #[arg(long)]
    pub seed: Option<u64>,
    /// Memory that a run may take, kernel memory included [default: 80 % of what is available]
    #[arg(long, value_name = "SIZE")]
    pub memory_cap: Option<String>,
    /// Time that a run may take, such as 90s [default: 120 s and three times its hold]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// How the result is printed
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, ClapArgs)]
pub struct List {
    /// Entries, as for `run` [default: @all]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// What each task does
    #[arg(short, long, default_value = "sleep")]
    pub workload: String,
    /// Print JSON, with all that the catalogue says
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, ClapArgs)]
pub struct Build {
    /// Entries, as for `run` [default: @all]
    #[arg(value_name = "ENTRY")]
    pub entries: Vec<String>,
    /// What each task does
    #[arg(short, long, default_value = "sleep")]
    pub workload: String,
}

#[derive(Debug, ClapArgs)]
pub struct Report {
    /// Folders of campaigns; several are set side by side
    #[arg(value_name = "DIR", required = true)]
    pub folders: Vec<PathBuf>,
    /// How it is printed
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// Write it to FILE, whole or not at all, instead of standard output
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Figures to set side by side or to hand to a service
    /// [default: footprint,bytes-per-task; for github and bencher launch and cpu as well]
    #[arg(
        short,
        long,
        value_enum,
        value_delimiter = ',',
        value_name = "METRICS",
        hide_possible_values = false
    )]
    pub metric: Vec<Metric>,
    /// With csv: one line for each sample, repeated attempts included
    #[arg(long)]
    pub samples: bool,
    /// With svg: what is drawn [default: ranking]
    #[arg(long, value_enum)]
    pub chart: Option<Chart>,
    /// With svg: the number of tasks of the ranking [default: the largest]
    #[arg(short = 'n', long = "tasks", value_name = "COUNT", allow_hyphen_values = true)]
    pub tasks: Option<String>,
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
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Chart {
    /// Entries by footprint, stacked by what the memory is
    Ranking,
    /// Footprint over the number of tasks
    Scaling,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Metric {
    Footprint,
    Kernel,
    Peak,
    RssPeak,
    BytesPerTask,
    Base,
    Launch,
    Wall,
    Cpu,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale check go/goroutine              one entry, about ten seconds
  taskscale check rust --rebuild            and are two builds the same?
  taskscale check @all --strict --json      for a script: warnings count as well

Each finding names the rule that was broken, what was seen, and how to mend it.
Errors would make figures wrong, warnings are what reviewers will ask for, notes need nothing.
Exit codes: 0 no error, 1 some entry has an error (with --strict: or a warning), 2 wrong usage.")]
pub struct Check {
    /// Entries, as for `run`
    #[arg(value_name = "ENTRY", required = true)]
    pub entries: Vec<String>,
    /// What each task does
    #[arg(short, long, default_value = "sleep")]
    pub workload: String,
    /// Build twice into empty folders as well, and compare what is made
    #[arg(long)]
    pub rebuild: bool,
    /// Let warnings fail the check as well
    #[arg(long)]
    pub strict: bool,
    /// Print JSON
    #[arg(long)]
    pub json: bool,
    /// No progress on standard error
    #[arg(short, long)]
    pub quiet: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale clean --dry-run     what would be removed
  taskscale clean               builds that no catalogue asks for any more
  taskscale clean --all         every build, and unpacked catalogues

Builds are kept in $TASKSCALE_CACHE, or `taskscale` in the user's XDG cache folder (~/.cache), one per version
of sources and toolchain. Campaigns are not touched.")]
pub struct Clean {
    /// Remove every build and every unpacked catalogue, those in use as well
    #[arg(long)]
    pub all: bool,
    /// Say what would be removed, and remove nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale new go/errgroup                    beside Go's other entries, or a new runtime `go`
  taskscale new perl/fork                      any other language: a shell script shows the protocol
  taskscale new graalvm/thread --language java
  taskscale new rust/mine --catalog ./mine     into a catalogue of your own

There are templates for rust, go, java, node (JavaScript), python, c, dotnet (C#) and elixir.
It goes into the catalogue in use; where that is the one that taskscale carries, into ./runtimes.
Nothing is overwritten. What is written passes `taskscale check` as it is.")]
pub struct New {
    /// The runtime and the new entry's name: small letters, digits, `-`, `_`, `+`, `.`
    #[arg(value_name = "LANGUAGE/NAME")]
    pub name: String,
    /// The template, where the runtime's name does not tell: rust, go, java, node, python, c, dotnet, elixir or shell
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<String>,
}
