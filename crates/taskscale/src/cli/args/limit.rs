//! What `limit` takes.

use std::path::PathBuf;

use clap::{Args as ClapArgs, ValueEnum};

#[derive(Debug, ClapArgs)]
#[command(
    group = clap::ArgGroup::new("find").required(true).args(["memory", "tasks"]),
    after_help = "\
Examples:
  taskscale limit go rust/tokio-spawn --memory 512MiB   the most tasks that hold in 512 MiB
  taskscale limit java/virtual-thread -n 100k           the least memory, and what CPU it costs
  taskscale limit go -w echo --rate -n 1k               the highest rate of messages for 1,000 connections
  taskscale limit go/goroutine -n 100k --env 'GOMEMLIMIT={memory:90%}'
  taskscale limit go --memory 512MiB -o DIR             with the same DIR again: goes on

Every run has a control group of its own with the memory as its limit, kernel memory and files \
included and swap off, so that runtimes that size themselves by their container do so here. \
Runs at a rate have memory to spare. docs/reference/limit-method.md has the method.

An answer is what held each time when it was run again (-r). Where one of these runs fails, the \
answer moves to the safe side and is confirmed anew. The table says how often it held, and between \
which values runs both held and failed.

Exit codes: 0 found, or known to hold nowhere; 1 no answer was confirmed with the runs allowed, or \
none as near as asked; 2 wrong usage, or no control group."
)]
pub struct Limit {
    /// Entries, as for `run`
    #[arg(value_name = "ENTRY", required = true)]
    pub entries: Vec<String>,
    /// Find the most tasks that hold in so much memory, such as 512MiB
    #[arg(long, value_name = "SIZE")]
    pub memory: Option<String>,
    /// Find the least memory in which so many tasks hold, such as 100k, and what CPU it costs to have little
    #[arg(short = 'n', long = "tasks", value_name = "COUNT", allow_hyphen_values = true)]
    pub tasks: Option<String>,
    /// Find the highest rate of messages that a server of -n connections keeps up with, of a workload such as echo; for
    /// 3 s a run
    #[arg(long)]
    pub rate: bool,
    /// With --rate: 99 of 100 messages must take less, from when each was due [default: 100ms]
    #[arg(long, value_name = "TIME")]
    pub p99: Option<String>,
    /// What each task does (docs/workloads.md) [default: sleep]
    #[arg(short, long)]
    pub workload: Option<String>,
    /// Set a parameter of the workload; repeatable
    #[arg(short, long = "param", value_name = "NAME=VALUE")]
    pub params: Vec<String>,
    /// How near the answer must be to what fails; half of it is the answer's margin [default: 2%; of a rate 5%]
    #[arg(long, value_name = "SHARE")]
    pub precision: Option<String>,
    /// How often the answer must hold when it is run again, every time; each memory of the curve is run as often
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub repetitions: u32,
    /// Runs of an entry's search, pilots and runs that failed to confirm an answer included; those that held, controls
    /// and the curve come on top [default: 16; of a rate 24]
    #[arg(long, value_name = "RUNS", value_parser = clap::value_parser!(u32).range(3..=100))]
    pub most_runs: Option<u32>,
    /// A run fails whose launch and drain take so many times longer than with memory to spare (10 s are always allowed)
    /// [default: 5]
    #[arg(long, value_name = "TIMES")]
    pub slowdown: Option<f64>,
    /// Time that a run may take at all
    #[arg(long, value_name = "TIME", default_value = "5m")]
    pub timeout: String,
    /// Set a variable for the programs; {memory} is the limit in bytes, {memory:90%} a share of it; repeatable
    #[arg(long, value_name = "NAME=VALUE")]
    pub env: Vec<String>,
    /// Results folder; an unfinished one resumes [default: taskscale-results/DATE-HOST]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// How the result is printed; CSV has a line for each run
    #[arg(short, long, value_enum, default_value_t = LimitFormat::Table)]
    pub format: LimitFormat,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum LimitFormat {
    /// Tables for the terminal
    Table,
    /// For an issue, a README or a post
    Markdown,
    /// Everything, for programs
    Json,
    /// One line for each run
    Csv,
}
