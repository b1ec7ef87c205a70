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
pub struct Completions {
    /// bash, elvish, fish, powershell or zsh
    #[arg(value_name = "SHELL", hide_possible_values = true)]
    pub shell: clap_complete::Shell,
}

#[derive(Debug, ClapArgs)]
#[command(after_help = "\
Examples:
  taskscale man | man -l -                          read it
  taskscale man --output ~/.local/share/man/man1    install it: `man taskscale-run`")]
pub struct Man {
    /// Write one page per command into DIR
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
}
