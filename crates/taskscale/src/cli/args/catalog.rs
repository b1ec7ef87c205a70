//! What `check`, `new`, `clean` and `versions` take.

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale check go/goroutine              one entry, about ten seconds
  taskscale check rust --rebuild            also compare two builds
  taskscale check @all --strict --json      for a script: warnings fail, too

Checks protocol, waits, claims, files and pinned versions. Each finding names the rule, what was
observed, and how to fix it. Errors make results wrong, reviewers ask about warnings, and notes need
no action.

Exit status: 0 no errors; 1 an entry has an error (with --strict: or a warning); 2 usage error; 130 interrupted.")]
pub struct CheckArgs {
    /// Entries, as for `run`
    #[arg(value_name = "ENTRY", required = true)]
    pub entries: Vec<String>,
    /// Only these workloads [default: all]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub workload: Vec<String>,
    /// Also build twice into empty folders and compare
    #[arg(long)]
    pub rebuild: bool,
    /// Fail on warnings, too
    #[arg(long)]
    pub strict: bool,
    /// Only test how servers answer; print a Markdown table
    #[arg(long, conflicts_with_all = ["rebuild", "strict"])]
    pub conformance: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale clean --dry-run     what would be deleted
  taskscale clean               builds of older sources and toolchains
  taskscale clean --all         every build and every unpacked catalog

Builds are kept in $TASKSCALE_CACHE, by default `taskscale` in the XDG cache folder (~/.cache), one
for each version of sources and toolchain. Results are kept.")]
pub struct CleanArgs {
    /// Delete every build and unpacked catalog
    ///
    /// Those in use are deleted, too.
    #[arg(long)]
    pub all: bool,
    /// Print what would be deleted; delete nothing
    #[arg(long)]
    pub dry_run: bool,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale new go/errgroup                    beside Go's other entries, or a new runtime `go`
  taskscale new perl/fork                      another language: a shell script shows the protocol
  taskscale new go/errgroup -w sleep,ring      a program for each workload
  taskscale new graalvm/thread --language java
  taskscale new rust/mine --catalog ./mine     in a catalog of your own

Known languages: rust, go, java, node (JavaScript), python, c, dotnet (C#) and elixir, with a program
for every workload. Each is a copy of an entry of the embedded catalog, such as go/goroutine.
The entry is added to the catalog in use, or to ./runtimes where that is the embedded one.
Nothing is overwritten. The new entry passes `taskscale check` as it is.")]
pub struct NewArgs {
    /// Runtime and entry, such as go/errgroup
    ///
    /// Lowercase letters, digits, `-`, `_`, `+` and `.`.
    #[arg(value_name = "LANGUAGE/NAME")]
    pub name: String,
    /// Language, where it differs from the runtime's name
    ///
    /// rust, go, java, node, python, c, dotnet, elixir or shell.
    #[arg(long, value_name = "LANGUAGE")]
    pub language: Option<String>,
    /// File extension in another language [default: the runtime]
    #[arg(long, value_name = "EXT")]
    pub extension: Option<String>,
    /// Workloads to write programs for [default: sleep]
    #[arg(short, long, value_name = "NAMES", value_delimiter = ',')]
    pub workload: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale versions                                    all that can be chosen here
  taskscale versions node python                        of some runtimes
  taskscale node@20,26 python@3.10..3.14 -n 1,10k,100k  measure them
  taskscale rust/tokio-spawn@tokio=1.25,1.28,latest     versions of a library

Versions of runtimes are looked for in PATH, in the folders of version managers and in --toolchain.
taskscale installs none. Versions of libraries are resolved by their package manager, in a copy of
the sources.")]
pub struct VersionsArgs {
    /// Runtimes [default: all with versions to choose from]
    #[arg(value_name = "RUNTIME")]
    pub runtimes: Vec<String>,
}
