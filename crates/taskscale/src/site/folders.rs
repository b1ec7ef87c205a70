//! The results folders that a site shows.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use crate::record::{StoreError, holds_campaign};
use crate::submit::WITHDRAWN;

/// A results folder, and its path below the searched folder: `machine/2026-11-22`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ResultsFolder {
    pub place: String,
    pub folder: PathBuf,
}

impl ResultsFolder {
    /// The page of its results, inside the site.
    pub fn page(&self) -> String {
        format!("campaigns/{}.html", self.place)
    }
}

/// All results folders in a folder or below it, sorted by path. Hidden folders are left out, and links are not
/// followed, as one could lead back.
pub fn find(results: &Path) -> Result<Vec<ResultsFolder>, StoreError> {
    let (mut found, mut folders) = (Vec::new(), vec![(String::new(), results.to_owned())]);
    while let Some((place, folder)) = folders.pop() {
        let children = fs::read_dir(&folder).and_then(|all| all.collect::<io::Result<Vec<_>>>());
        for child in children.map_err(|error| at("read", &folder, error))? {
            let name = child.file_name().to_string_lossy().into_owned();
            if !name.starts_with('.') && child.file_type().is_ok_and(|kind| kind.is_dir()) {
                let place = if place.is_empty() { name } else { format!("{place}/{name}") };
                folders.push((place, child.path()));
            }
        }
        if holds_campaign(&folder) || folder.join(WITHDRAWN).is_file() {
            let own_name = || {
                fs::canonicalize(&folder).ok()?.file_name().map(|name| name.to_string_lossy().into_owned())
            };
            let place =
                if place.is_empty() { own_name().unwrap_or_else(|| "campaign".into()) } else { place };
            found.push(ResultsFolder { place, folder });
        }
    }
    found.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(found)
}

pub(super) fn at(what: &'static str, path: &Path, error: io::Error) -> StoreError {
    StoreError::Io { what, path: path.to_owned(), error }
}
