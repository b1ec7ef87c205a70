//! What `replay` takes.

use std::path::PathBuf;

use clap::Args as ClapArgs;

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
