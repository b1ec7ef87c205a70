//! Options of `taskscale explain`.

use std::path::PathBuf;

use clap::Args as ClapArgs;
use strum::VariantArray;

use super::values::{DOCUMENT_FORMATS, one_of, some_formats};
use crate::catalog::Adapter;
use crate::report::Format;

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
    #[arg(long, value_name = "NAME", value_parser = one_of(Adapter::VARIANTS, Adapter::name))]
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
