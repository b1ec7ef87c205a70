//! What `limit`, `explain` and `bisect` take.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use strum::VariantArray;

use super::values::{DOCUMENT_FORMATS, figure, one_of, some_formats};
use crate::catalog::Adapter;
use crate::metrics::MetricDef;
use crate::report::Format;

#[derive(Debug, ClapArgs)]
#[command(group = clap::ArgGroup::new("find").required(true).multiple(true).args(["memory", "tasks", "rate"]))]
#[command(after_long_help = "\
Examples:
  taskscale limit go rust/tokio-spawn --memory 512MiB   the most tasks in 512 MiB
  taskscale limit java/virtual-thread -n 100k           the least memory for 100k tasks
  taskscale limit go -w echo --rate -n 1k               the highest message rate of 1k connections
  taskscale limit go/goroutine -n 100k --env 'GOMEMLIMIT={memory:90%}'

Each run gets its own cgroup with the memory as its limit. Kernel memory and files count, and swap is
off. So runtimes that size themselves by their container do so here. Runs at a rate have unlimited
memory. docs/reference/limit-method.md describes the method.

An answer must pass every confirming run (-r). If one of them fails, the answer moves to the safe side
and is confirmed again. The table shows how many runs passed, and between which values runs both
passed and failed. The same command with the same -o DIR resumes.

Exit status: 0 answered; 1 an answer is not confirmed, or not as precise as requested; 2 usage error, or no cgroup.")]
pub struct LimitArgs {
    /// Entries, as for `run`
    #[arg(value_name = "ENTRY", required = true)]
    pub entries: Vec<String>,
    /// Find the most tasks in this much memory, such as 512MiB
    #[arg(long, value_name = "SIZE", conflicts_with = "tasks")]
    pub memory: Option<String>,
    /// Find the least memory for this many tasks, such as 100k
    ///
    /// Also shows how much CPU time little memory costs.
    #[arg(short = 'n', long = "tasks", value_name = "COUNT")]
    pub tasks: Option<String>,
    /// Find the highest message rate of -n connections
    ///
    /// For workloads with servers, such as echo. Each run lasts 3 s.
    #[arg(long, requires = "tasks", conflicts_with_all = ["memory", "slowdown"])]
    pub rate: bool,
    /// With --rate: limit of the 99th percentile
    ///
    /// Latency is measured from the scheduled send time.
    #[arg(long, value_name = "TIME", default_value = "100ms", requires = "rate")]
    pub p99: String,
    /// Workload (see `list workloads`) [default: sleep]
    #[arg(short, long, value_name = "NAME")]
    pub workload: Option<String>,
    /// Set a workload parameter (see `list workloads`); repeatable
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// Precision of the answer [default: 2%, of a rate 5%]
    ///
    /// How close the answer must be to a value that fails. Half of it is the margin of the answer.
    #[arg(long, value_name = "SHARE")]
    pub precision: Option<String>,
    /// Confirming runs; all must pass
    ///
    /// Each memory of the curve is run as often.
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repetitions: u32,
    /// Most runs of a search per entry [default: 16, of a rate 24]
    ///
    /// Pilots and failed confirmations count. Passed confirmations, controls and the curve come on top.
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(3..=100))]
    pub most_runs: Option<u32>,
    /// Fail runs that are this many times slower
    ///
    /// Compares launch and drain with a run in unlimited memory. 10 s are always allowed.
    #[arg(long, value_name = "TIMES", default_value_t = 5.0)]
    pub slowdown: f64,
    /// Time limit of a run
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub timeout: String,
    /// Environment variable of the programs; repeatable
    ///
    /// {memory} becomes the limit in bytes, {memory:90%} a share of it.
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Results folder, resumed if it holds results
    ///
    /// The default is a new folder, taskscale-results/DATE-HOST.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Output format (see `list formats`) [default: table]
    #[arg(short, long, value_parser = some_formats(&DOCUMENT_FORMATS), default_value = "table")]
    pub format: Format,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale explain go java/virtual-thread         where the bytes of a sleeping task are
  taskscale explain rust/tokio-spawn -w echo -n 1k,10k
                                                   of a TCP connection
  taskscale explain -n 10k,100k -- ./my-server {tasks}
  taskscale explain c/pthread --adapter none       mappings and kernel memory alone

The rows add up to bytes per task; `unexplained` is always shown. An adapter asks the runtime or allocator in
runs of its own, which are never ranked: beam, cpython, dotnet, go, jvm, malloc or v8. docs/explain.md describes each.

Exit status: 0 success; 1 something is missing from a sheet; 2 usage error; 130 interrupted.")]
pub struct ExplainArgs {
    /// Names, globs, runtimes or sets, as for `run`
    #[arg(value_name = "ENTRY", required_unless_present = "command", conflicts_with = "command")]
    pub entries: Vec<String>,
    /// A workload whose tasks wait [default: sleep]
    #[arg(short, long, value_name = "NAME", conflicts_with = "command")]
    pub workload: Option<String>,
    /// Set a workload parameter (see `list workloads`); repeatable
    #[arg(short, long = "param", value_name = "NAME=VALUE", conflicts_with = "command")]
    pub params: Vec<String>,
    /// Two or more numbers of tasks
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS", default_value = "10k,100k")]
    pub tasks: String,
    /// Repetitions of each case
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// What asks the program, or `none` [default: by its files]
    #[arg(long, value_name = "NAME", value_parser = one_of(Adapter::VARIANTS.iter().map(|adapter| (adapter.name().into(), *adapter)).collect()))]
    pub adapter: Option<Adapter>,
    /// Results folder
    ///
    /// It gets explain.json as well. The default is a new folder, taskscale-results/DATE-HOST.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Output format (see `list formats`) [default: table]
    #[arg(short, long, default_value = "table", value_parser = some_formats(&DOCUMENT_FORMATS))]
    pub format: Format,
    /// Your own program, with {tasks} for their number
    #[arg(last = true, value_name = "COMMAND")]
    pub command: Vec<String>,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale bisect rust/tokio-spawn@tokio=1.25..1.54
  taskscale bisect python/asyncio-create-task@3.9..3.14 --by 2%
  taskscale bisect node/promise-timeout@16..26 -w spawn --metric cpu-ns-per-op

Measures the first and the last version, then halves wherever two differ, until every change lies
between two versions with none between them. A version that does not build is skipped. A version
whose verdict is unclear is measured again, three times as often. With -o, an interrupted search resumes.

Exit status: 0 success; 1 fewer than two versions could be measured; 2 usage error; 130 interrupted.")]
pub struct BisectArgs {
    /// ENTRY@FIRST..LAST or ENTRY@LIBRARY=FIRST..LAST
    #[arg(value_name = "ENTRY@RANGE")]
    pub entry: String,
    /// Workload [default: sleep]
    #[arg(short, long, value_name = "NAME")]
    pub workload: Option<String>,
    /// The metric [default: bytes-per-task or wall-ns-per-op]
    #[arg(long, value_parser = figure(), value_name = "NAME")]
    pub metric: Option<&'static MetricDef>,
    /// Smaller changes are not searched for
    #[arg(long, value_name = "SHARE", default_value = "5%")]
    pub by: String,
    /// Numbers of tasks, such as 1,10k [default: the workload's]
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS")]
    pub tasks: Option<String>,
    /// Repetitions of each version
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(3..=300))]
    pub repetitions: u32,
    /// Folder of results, one for each version; resumed
    ///
    /// The default is a new folder, taskscale-results/DATE-HOST.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
