//! What `check`, `new` and `clean` take.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale check go/goroutine              one entry, about ten seconds
  taskscale check rust --rebuild            and are two builds the same?
  taskscale check @all --strict --json      for a script: warnings count as well

Each finding names the rule that was broken, what was seen, and how to fix it.
Errors would make figures wrong, warnings are what reviewers will ask for, notes need nothing.
Exit codes: 0 no error, 1 some entry has an error (with --strict: or a warning), 2 wrong usage, 130 interrupted.")]
pub struct Check {
    /// Entries, as for `run`
    #[arg(value_name = "ENTRY", required = true)]
    pub entries: Vec<String>,
    /// Only the programs of these workloads [default: all of an entry]
    #[arg(short, long, value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Build twice into empty folders as well, and compare what is made
    #[arg(long)]
    pub rebuild: bool,
    /// Let warnings fail the check as well
    #[arg(long)]
    pub strict: bool,
    /// Only talk to servers, and print how each answers, as a Markdown table
    #[arg(long, conflicts_with_all = ["rebuild", "strict"])]
    pub conformance: bool,
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
  taskscale new go/errgroup -w sleep,ring      a program for each of these workloads
  taskscale new graalvm/thread --language java
  taskscale new rust/mine --catalog ./mine     into a catalogue of your own

It knows rust, go, java, node (JavaScript), python, c, dotnet (C#) and elixir, with a program of
every workload: that of an entry of the catalogue that taskscale carries, such as go/goroutine.
It goes into the catalogue in use; where that is the one that taskscale carries, into ./runtimes.
Nothing is overwritten. What is written passes `taskscale check` as it is.")]
pub struct New {
    /// The runtime and the new entry's name: small letters, digits, `-`, `_`, `+`, `.`
    #[arg(value_name = "LANGUAGE/NAME")]
    pub name: String,
    /// The language, where the runtime's name does not tell: rust, go, java, node, python, c, dotnet, elixir or shell
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<String>,
    /// Extension of the program's files, in a language that is not among these [default: the runtime's name]
    #[arg(long, value_name = "EXT")]
    pub extension: Option<String>,
    /// What the programs do: a workload, or several [default: sleep]
    #[arg(short, long, value_delimiter = ',')]
    pub workload: Vec<String>,
}
