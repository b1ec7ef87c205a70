//! Whether a catalog that was found, not named, may be used. Its programs run as the user, so it must be the user's own or
//! root's, and nobody else may write in it: as git has it of repositories (`safe.directory`).

use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// Why programs of a catalog in this folder should not run as this user; `None` where they may.
pub(super) fn distrust(folder: &Path) -> io::Result<Option<String>> {
    let own = rustix::process::geteuid().as_raw();
    // Who became root by sudo trusts what is their own.
    let sudo = std::env::var("SUDO_UID").ok().and_then(|uid| uid.parse().ok()).filter(|_| own == 0);
    let trusted: Vec<u32> = [Some(0), Some(own), sudo].into_iter().flatten().collect();
    // The folder, and a link that leads to it.
    for facts in [fs::metadata(folder)?, fs::symlink_metadata(folder)?] {
        if let Some(why) = why_not(facts.uid(), facts.mode(), facts.is_symlink(), &trusted) {
            return Ok(Some(why));
        }
    }
    Ok(None)
}

fn why_not(uid: u32, mode: u32, is_link: bool, trusted: &[u32]) -> Option<String> {
    if !trusted.contains(&uid) {
        return Some(format!("it belongs to another user, uid {uid}"));
    }
    // Every link has these bits.
    (!is_link && mode & 0o002 != 0).then(|| "every user may write in it".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn another_users_and_everybodys_are_not_trusted() {
        let trusted = [0, 1000];
        for (uid, mode, is_link, expected) in [
            (0, 0o755, false, None),
            (1000, 0o775, false, None),
            (1000, 0o777, true, None),
            (1001, 0o755, false, Some("it belongs to another user, uid 1001")),
            (1001, 0o777, true, Some("it belongs to another user, uid 1001")),
            (1000, 0o757, false, Some("every user may write in it")),
            (0, 0o1777, false, Some("every user may write in it")),
        ] {
            assert_eq!(why_not(uid, mode, is_link, &trusted).as_deref(), expected, "{uid} {mode:o}");
        }
    }
}
