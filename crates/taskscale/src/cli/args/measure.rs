//! What `measure` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::ResultsArgs;

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale measure -- ./my-server                                once, as it is
  taskscale measure -n 1,10k,100k -- ./my-server --conns {tasks}  at several numbers of tasks
  taskscale measure --ready-tcp 8080 --with './client --users {tasks}' -- ./my-server --port 8080

  taskscale measure -n 1,1k,10k -- ./my-program {tasks} {seconds}
  taskscale measure --ready-when listening -- ./my-server --config my.conf
  taskscale measure -n 1,1k,10k --connect 127.0.0.1:6379 -- redis-server --port 6379 --save ''

{tasks} is replaced by the number of tasks: in the command, in --env and in --with. {seconds} is
replaced by the time that each task should wait. A program that takes {seconds} ends by itself. Any
other program is stopped after its plateau by SIGTERM, then SIGKILL, which does not count as a failure.

Without a readiness option, the program is ready when it prints `alive K` (docs/reference/protocol.md). If it
never does, taskscale finds the plateau from outside: CPU and memory are stable for 0.5 s, and still
stable 1 s later.

Exit status: 0 success (a system limit is a result); 1 a run failed or timed out; 2 usage error; 130 interrupted.")]
pub struct MeasureArgs {
    /// Numbers of tasks, such as 1,10k [default: 1,10k,100k]
    ///
    /// Without {tasks} in the command, the program is measured once, as it is.
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS")]
    pub tasks: Option<String>,
    /// Repetitions of each case
    #[arg(short, long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// Name in results [default: the program's file name]
    #[arg(long)]
    pub name: Option<String>,
    /// Ready when an output line contains TEXT or matches /REGEX/
    #[arg(long, value_name = "TEXT", group = "ready", help_heading = "Readiness")]
    pub ready_when: Option<String>,
    /// Ready when ADDRESS accepts connections: 8080 or HOST:8080
    #[arg(long, value_name = "ADDRESS", group = "ready", help_heading = "Readiness")]
    pub ready_tcp: Option<String>,
    /// Ready this long after the start, such as 2s
    #[arg(long, value_name = "TIME", group = "ready", help_heading = "Readiness")]
    pub ready_after: Option<String>,
    /// Longest wait for a stable state [default: 10s]
    ///
    /// 60s where no readiness option is given.
    #[arg(long, value_name = "TIME", help_heading = "Readiness")]
    pub settle: Option<String>,
    /// Open {tasks} idle connections to ADDRESS
    ///
    /// The clients are not part of the results.
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["with", "with_ready_after"], help_heading = "Load")]
    pub connect: Option<String>,
    /// Shell command that loads the program once it is ready
    ///
    /// It is not part of the results. The plateau starts when it prints `alive K`, or is idle.
    #[arg(long, value_name = "COMMAND", help_heading = "Load")]
    pub with: Option<String>,
    /// Load is complete this long after its start, such as 2s
    #[arg(long, value_name = "TIME", requires = "with", help_heading = "Load")]
    pub with_ready_after: Option<String>,
    /// Environment variable: NAME=VALUE, or NAME to pass yours
    ///
    /// By default the program gets PATH, HOME, USER and LANG.
    #[arg(long, value_name = "NAME=VALUE", help_heading = "Start")]
    pub env: Vec<String>,
    /// Pass your whole environment
    #[arg(long, help_heading = "Start")]
    pub keep_env: bool,
    /// Working folder [default: the current one]
    #[arg(long, value_name = "DIR", help_heading = "Start")]
    pub cwd: Option<PathBuf>,
    /// Standard input [default: empty]
    #[arg(long, value_name = "FILE", help_heading = "Start")]
    pub stdin: Option<PathBuf>,
    #[command(flatten)]
    pub results: ResultsArgs,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<String>,
}
