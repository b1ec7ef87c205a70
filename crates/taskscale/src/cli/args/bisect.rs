//! Options of `taskscale bisect`.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::values::figure;
use crate::metrics::MetricDef;

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
