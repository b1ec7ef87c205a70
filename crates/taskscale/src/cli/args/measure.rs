//! What `measure` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

use super::Format;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
{tasks} stands for the number of tasks: in the command, in --env and in --with. {seconds} stands for how long each \
task is to wait, where the program takes that; it is then let end by itself. A program without {seconds} is stopped \
after its plateau, by SIGTERM and then SIGKILL, which is no failure.

Without an option that says when the program is ready, it is its line `alive K` (docs/reference/protocol.md), and without that \
line the plateau is found from outside: CPU and memory quiet for half a second, and still so a second later.

Examples:
  taskscale measure -- ./my-server                                one measurement of it, as it is
  taskscale measure -n 1,10k,100k -r 3 -- ./my-server --conns {tasks}
  taskscale measure -n 1,1k,10k -- ./my-program {tasks} {seconds} one that speaks the protocol
  taskscale measure --ready-when listening -- ./my-server --config my.conf
  taskscale measure -n 1,1k,10k --connect 127.0.0.1:6379 -- redis-server --port 6379 --save ''
  taskscale measure --ready-tcp 8080 --with './client --users {tasks}' -- ./my-server --port 8080

Exit codes: 0 all well, 1 some run fell short, 2 wrong usage, 130 interrupted.")]
pub struct Measure {
    /// Numbers of tasks, such as 1,10k,1M [default: 1,10k,100k where {tasks} is used; else the program as it is]
    #[arg(short = 'n', long = "tasks", value_name = "COUNTS", allow_hyphen_values = true)]
    pub tasks: Option<String>,
    /// How often each cell is measured
    #[arg(short, long, default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    pub repetitions: u32,
    /// Name in results [default: the program's file name]
    #[arg(long)]
    pub name: Option<String>,
    /// It is ready when a line of its output holds TEXT, or matches /REGEX/
    #[arg(long, value_name = "TEXT", group = "ready", help_heading = "When it is ready")]
    pub ready_when: Option<String>,
    /// It is ready when it takes a connection at ADDRESS: 127.0.0.1:8080, or 8080 alone
    #[arg(long, value_name = "ADDRESS", group = "ready", help_heading = "When it is ready")]
    pub ready_tcp: Option<String>,
    /// It is ready so long after its start, such as 2s
    #[arg(long, value_name = "TIME", group = "ready", help_heading = "When it is ready")]
    pub ready_after: Option<String>,
    /// The longest wait for it to fall quiet [default: 10s once it is ready, 60s where nothing says when]
    #[arg(long, value_name = "TIME", help_heading = "When it is ready")]
    pub settle: Option<String>,
    /// Clients that hold {tasks} connections to ADDRESS and do nothing else; they are not in the figures
    #[arg(long, value_name = "ADDRESS", conflicts_with_all = ["with", "with_ready_after"], help_heading = "Load")]
    pub connect: Option<String>,
    /// A command of the shell that puts load on the program once that is ready; it is not in the figures. The plateau
    /// begins when it says `alive K`, or has fallen quiet
    #[arg(long, value_name = "COMMAND", help_heading = "Load")]
    pub with: Option<String>,
    /// The load stands so long after its start, such as 2s
    #[arg(long, value_name = "TIME", requires = "with", help_heading = "Load")]
    pub with_ready_after: Option<String>,
    /// A variable of its environment, NAME=VALUE, or NAME to hand on your own; otherwise it has PATH, HOME, USER, LANG
    #[arg(long, value_name = "NAME=VALUE", help_heading = "How it is started")]
    pub env: Vec<String>,
    /// Give it your whole environment
    #[arg(long, help_heading = "How it is started")]
    pub keep_env: bool,
    /// Its working folder [default: this one]
    #[arg(long, value_name = "DIR", help_heading = "How it is started")]
    pub cwd: Option<PathBuf>,
    /// What it reads on standard input [default: nothing]
    #[arg(long, value_name = "FILE", help_heading = "How it is started")]
    pub stdin: Option<PathBuf>,
    /// Results folder; an unfinished one resumes [default: taskscale-results/DATE-HOST]
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// Memory that a run may take, kernel memory included; the JVM, .NET and Node.js take it for the size of the machine,
    /// and size their heaps by it [default: 80 % of what is available]
    #[arg(long, value_name = "SIZE")]
    pub memory_cap: Option<String>,
    /// Time that a run may take, such as 90s [default: 120 s and three times its hold]
    #[arg(long, value_name = "TIME")]
    pub timeout: Option<String>,
    /// How the result is printed; `table` comes with a chart
    #[arg(short, long, value_enum, default_value_t = Format::Table)]
    pub format: Format,
    /// The program and its arguments
    #[arg(value_name = "COMMAND", last = true, required = true)]
    pub command: Vec<String>,
}
