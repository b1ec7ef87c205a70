//! What `completions` and `man` take.

use std::path::PathBuf;

use clap::Args as ClapArgs;

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale completions bash > ~/.local/share/bash-completion/completions/taskscale
  taskscale completions zsh > ~/.zfunc/_taskscale    with `fpath+=~/.zfunc` before compinit
  taskscale completions fish > ~/.config/fish/completions/taskscale.fish

Entry names are those of the current catalog.")]
pub struct CompletionsArgs {
    /// bash, elvish, fish, powershell or zsh
    pub shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale man | man -l -                          read it
  taskscale man --output ~/.local/share/man/man1    install it: `man taskscale-run`")]
pub struct ManArgs {
    /// Write one page per command into DIR
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale help no-plateau     a status: what it means, its cause and remedy
  taskscale help machine-busy   a warning
  taskscale help limit          the command, then the status of the same name")]
pub struct HelpArgs {
    /// A command, or a code such as no-plateau, machine-busy, stackful, footprint
    #[arg(value_name = "CODE")]
    pub topic: Vec<String>,
    /// Statuses and warnings as docs/troubleshooting.md has them
    #[arg(long, hide = true)]
    pub markdown: bool,
}
