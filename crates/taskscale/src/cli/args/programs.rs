//! What `measure`, `replay` and `load` take.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

use super::ResultsArgs;

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale measure -- ./my-server                                as it is
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
    /// Without {tasks} in the command, --env or --with, and without --connect, the program runs as
    /// it is.
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

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale measure --trace traces -- ./my-server    keep a trace of each run
  taskscale replay traces/*.jsonl                    the verdicts, with their main values

Exit status: 0 success; 2 a file is no trace that this taskscale reads.")]
pub struct ReplayArgs {
    /// Traces, as written by `--trace`
    #[arg(value_name = "FILE", required = true)]
    pub files: Vec<PathBuf>,
}

/// How clients talk.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ProtocolArg {
    /// Connect, and send nothing
    Hold,
    /// Bytes over TCP, which the server sends back
    Echo,
    /// Rooms over WebSocket
    Chat,
}

#[derive(Debug, ClapArgs)]
#[command(after_long_help = "\
Examples:
  taskscale load echo --connect 127.0.0.1:7000 -n 10k            capacity, then latency
  taskscale load chat --connect 10.0.0.7:7000 -n 1k --rate 5000  a server on another machine
  taskscale load hold --connect 127.0.0.1:6379 -n 5k             idle connections, until interrupted

Every byte that comes back is verified. Wrong bytes, lost bytes and bytes that are more than 30 s late
end the load with exit status 1. An open loop that misses its rate, or whose clients send late, has
no latency.

Exit status: 0 all messages arrived, at 50% of the capacity or at --rate; 1 a message is missing or wrong; 2 usage error.")]
pub struct LoadArgs {
    /// hold, echo or chat
    pub protocol: ProtocolArg,
    /// Address of the server
    #[arg(long, value_name = "HOST:PORT")]
    pub connect: String,
    /// Number of connections
    #[arg(short = 'n', long, value_name = "COUNT", default_value = "1")]
    pub connections: String,
    /// Bytes per message
    #[arg(long, value_name = "BYTES", default_value_t = 64, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub size: u32,
    /// Members per room
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=1_000))]
    pub room: u32,
    /// Messages per second of the open loop
    ///
    /// By default 10%, 50% and 90% of the capacity, which the closed loop measures.
    #[arg(long, value_name = "N")]
    pub rate: Option<f64>,
    /// Messages in flight in the closed loop
    ///
    /// One per active connection.
    #[arg(long, value_name = "N", default_value_t = 64)]
    pub active: usize,
    /// Seconds of each open loop
    #[arg(long, value_name = "SECONDS", default_value_t = 5.0)]
    pub open_s: f64,
    /// Seconds of the closed loop, after a warm-up as long
    #[arg(long, value_name = "SECONDS", default_value_t = 3.0)]
    pub closed_s: f64,
    /// Start each phase on a line of standard input
    #[arg(long, hide = true)]
    pub stepwise: bool,
    /// Number of the first client of this process
    #[arg(long, hide = true)]
    pub share: Option<usize>,
}
