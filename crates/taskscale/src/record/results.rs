//! Folders of results.

use std::cmp::Reverse;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::Timestamp;
use super::bounds::read_document;
use super::store::{CAMPAIGN_FILE, holds_campaign};

/// Results folders directly below `folder`, the newest first by creation time, unreadable ones last. Empty if
/// `folder` is unreadable.
pub fn campaigns_in(folder: &Path) -> Vec<PathBuf> {
    let children = fs::read_dir(folder).into_iter().flatten().flatten().map(|child| child.path());
    let mut found: Vec<(Option<Timestamp>, PathBuf)> =
        children.filter(|path| holds_campaign(path)).map(|path| (begun(&path), path)).collect();
    found.sort_by_key(|found| Reverse(found.clone()));
    found.into_iter().map(|(_, path)| path).collect()
}

fn begun(folder: &Path) -> Option<Timestamp> {
    #[derive(Deserialize)]
    struct Begun {
        created_at: Timestamp,
    }
    let text = read_document(&folder.join(CAMPAIGN_FILE)).ok()?;
    serde_json::from_slice::<Begun>(&text).ok().map(|begun| begun.created_at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_are_listed_newest_first() {
        let results = tempfile::tempdir().unwrap();
        let add = |name: &str, text: &str| {
            fs::create_dir(results.path().join(name)).unwrap();
            fs::write(results.path().join(name).join(CAMPAIGN_FILE), text).unwrap();
        };
        add("z-old", r#"{"created_at":"2026-01-01T00:00:00Z"}"#);
        add("a-new", r#"{"created_at":"2026-02-01T00:00:00Z","more":1}"#);
        add("torn", "{");
        fs::create_dir(results.path().join("none")).unwrap();
        let found = campaigns_in(results.path());
        let names: Vec<_> = found.iter().map(|path| path.file_name().unwrap().to_str().unwrap()).collect();
        assert_eq!(names, ["a-new", "z-old", "torn"]);
        assert!(campaigns_in(&results.path().join("nowhere")).is_empty());
    }
}
