//! taskscale without its repository.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

use super::copy_program;

/// A taskscale that was installed, for a user who has nothing else.
pub struct Installed {
    pub root: TempDir,
}

/// Exit code, standard output, standard error.
pub type CommandOutput = (i32, String, String);

impl Installed {
    pub fn new() -> Installed {
        let installed = Installed { root: tempfile::tempdir().unwrap() };
        for folder in ["bin", "home", "tmp", "here"] {
            fs::create_dir(installed.path(folder)).unwrap();
        }
        // Not a link: what is installed is a copy.
        copy_program(Path::new(env!("CARGO_BIN_EXE_taskscale")), &installed.path("bin/taskscale"));
        installed
    }

    pub fn path(&self, inside: &str) -> PathBuf {
        self.root.path().join(inside)
    }

    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(self.path("bin/taskscale"));
        command.args(args).current_dir(self.path("here")).env_clear();
        // Toolchains such as rustup's are in the tester's own home, which these variables name.
        for name in ["PATH", "RUSTUP_HOME", "CARGO_HOME", "DOTNET_ROOT", "JAVA_HOME"] {
            command.envs(std::env::var_os(name).map(|value| (name, value)));
        }
        if let Some(home) = std::env::var_os("HOME").map(PathBuf::from) {
            for (name, folder) in [("RUSTUP_HOME", ".rustup"), ("CARGO_HOME", ".cargo")] {
                if std::env::var_os(name).is_none() && home.join(folder).is_dir() {
                    command.env(name, home.join(folder));
                }
            }
        }
        command
            .env("HOME", self.path("home"))
            .env("TMPDIR", self.path("tmp"))
            .env("TASKSCALE_LOCK", self.path("lock"));
        command
    }

    pub fn run(&self, args: &[&str]) -> CommandOutput {
        said(self.command(args))
    }
}

pub fn said(mut command: Command) -> CommandOutput {
    let output = command.output().expect("taskscale starts");
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code().expect("no signal"), text(&output.stdout), text(&output.stderr))
}
