//! Whether files that the user did not name may run: a catalog found by searching upward, a fleet's scripts. They run
//! as the user, so they must belong to the user or root, and others must not be able to write to them, as git requires
//! of repositories (`safe.directory`).

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Other users who must not be able to write, as bits of a file's mode.
#[derive(Debug, Clone, Copy)]
pub enum Others {
    /// A team's folder may be trusted.
    NotOfTheGroup = 0o002,
    All = 0o022,
}

/// Why a folder or file must not run as this user, if so.
pub fn distrust(path: &Path, others: Others) -> io::Result<Option<String>> {
    let own = rustix::process::geteuid().as_raw();
    // Under sudo, files of the calling user are trusted too.
    let sudo = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok()).filter(|_| own == 0);
    let trusted: Vec<u32> = [Some(0), Some(own), sudo].into_iter().flatten().collect();
    // The file or folder itself, and a link that leads to it.
    for facts in [fs::metadata(path)?, fs::symlink_metadata(path)?] {
        // The mode of a link has all bits set.
        let mode = if facts.is_symlink() { 0 } else { facts.mode() & others as u32 };
        if let Some(why) = why_not(facts.uid(), mode, &trusted) {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

fn why_not(uid: u32, mode: u32, trusted: &[u32]) -> Option<String> {
    if !trusted.contains(&uid) {
        return Some(format!("it belongs to another user (uid {uid})"));
    }
    let who = if mode & 0o002 != 0 { "every user" } else { "its group" };
    (mode != 0).then(|| format!("{who} can write to it"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn foreign_or_writable_folders_are_not_trusted() {
        let trusted = [0, 1000];
        for (uid, mode, expected) in [
            (0, 0, None),
            (1000, 0, None),
            (1001, 0, Some("it belongs to another user (uid 1001)")),
            (1001, 0o002, Some("it belongs to another user (uid 1001)")),
            (1000, 0o002, Some("every user can write to it")),
            (0, 0o022, Some("every user can write to it")),
            (0, 0o020, Some("its group can write to it")),
        ] {
            assert_eq!(why_not(uid, mode, &trusted).as_deref(), expected, "{uid} {mode:o}");
        }
    }

    #[test]
    fn group_writable_folders_are_trusted_for_teams() {
        let folder = tempfile::tempdir().unwrap();
        let mode = |mode| std::os::unix::fs::PermissionsExt::from_mode(mode);
        for (bits, of_team, of_all) in [(0o755, true, true), (0o775, true, false), (0o777, false, false)] {
            fs::set_permissions(folder.path(), mode(bits)).unwrap();
            let trusts = |others| distrust(folder.path(), others).unwrap().is_none();
            assert_eq!((trusts(Others::NotOfTheGroup), trusts(Others::All)), (of_team, of_all), "{bits:o}");
        }
    }
}
