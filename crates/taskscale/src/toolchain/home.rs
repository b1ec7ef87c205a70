//! A temporary home folder for version commands, with links to the content of the user's. What a toolchain adds
//! (a telemetry folder, a certificate, a cache) is removed with it.

use std::env;
use std::fs;
use std::io;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;

use tempfile::TempDir;

/// Folders that many programs share (XDG base directories): new folders, with links to their content.
const SHARED: [&str; 5] = [".cache", ".config", ".local", ".local/share", ".local/state"];

/// Removed when dropped.
pub(super) struct Home {
    folder: TempDir,
    user: PathBuf,
}

impl Home {
    /// `None` if the user has no home, or nothing can be written: commands then use the user's own home.
    pub fn like_the_users() -> Option<Home> {
        let user =
            env::var_os("HOME").map(PathBuf::from).filter(|user| user.is_absolute() && user.is_dir())?;
        let folder = tempfile::tempdir().ok()?;
        mirror(&user, folder.path(), Path::new("")).ok()?;
        Some(Home { folder, user })
    }

    pub fn give(&self, command: &mut Command) {
        command.env("HOME", self.folder.path());
        // Unset, they default to HOME. Those outside of the user's home may have been moved for a reason.
        for (name, value) in env::vars_os() {
            if name.to_string_lossy().starts_with("XDG_") && Path::new(&value).starts_with(&self.user) {
                command.env_remove(name);
            }
        }
    }

    /// An answer with its paths moved to the user's own home.
    pub fn read(&self, answer: &str) -> String {
        answer.replace(&*self.folder.path().to_string_lossy(), &self.user.to_string_lossy())
    }
}

fn mirror(user: &Path, home: &Path, within: &Path) -> io::Result<()> {
    for child in fs::read_dir(user.join(within))? {
        let path = within.join(child?.file_name());
        let (there, here) = (user.join(&path), home.join(&path));
        if SHARED.iter().any(|shared| path == Path::new(shared)) && there.is_dir() {
            fs::create_dir(&here)?;
            mirror(user, home, &path)?;
        } else {
            symlink(&there, &here)?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn existing_home_files_are_visible_and_new_ones_discarded() {
        let user = tempfile::tempdir().unwrap();
        fs::create_dir_all(user.path().join(".config/tool")).unwrap();
        fs::write(user.path().join(".config/tool/settings"), "mine").unwrap();
        fs::write(user.path().join(".toolrc"), "mine").unwrap();
        let folder = tempfile::tempdir().unwrap();
        mirror(user.path(), folder.path(), Path::new("")).unwrap();
        let home = Home { folder, user: user.path().to_owned() };
        let mut ask = Command::new("sh");
        ask.args([
            "-c",
            "cat ~/.config/tool/settings ~/.toolrc; mkdir -p ~/.config/new ~/.new && echo ~/bin",
        ]);
        home.give(&mut ask);
        let said = String::from_utf8(ask.output().unwrap().stdout).unwrap();
        assert_eq!(home.read(&said), format!("minemine{}/bin\n", user.path().display()));
        drop(home);
        assert_eq!(fs::read_dir(user.path()).unwrap().count(), 2);
        assert_eq!(fs::read_dir(user.path().join(".config")).unwrap().count(), 1);
    }
}
