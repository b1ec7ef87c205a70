//! The results folders that a site shows.

use std::fs;
use std::path::{Path, PathBuf};

use walkdir::{DirEntry, WalkDir};

use crate::record::{StoreError, at, holds_campaign};
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
    let is_shown = |child: &DirEntry| {
        let is_hidden = child.file_name().to_string_lossy().starts_with('.');
        child.depth() == 0 || child.file_type().is_dir() && !is_hidden
    };
    let mut found = Vec::new();
    for child in WalkDir::new(results).into_iter().filter_entry(is_shown) {
        let folder = at("read", results, child.map_err(Into::into))?.into_path();
        if holds_campaign(&folder) || folder.join(WITHDRAWN).is_file() {
            let real = fs::canonicalize(&folder).unwrap_or_default();
            let place = match folder.strip_prefix(results) {
                Ok(inside) if inside != "" => inside,
                _ => Path::new(real.file_name().unwrap_or("campaign".as_ref())),
            };
            found.push(ResultsFolder { place: place.to_string_lossy().into_owned(), folder });
        }
    }
    found.sort_by(|a, b| a.place.cmp(&b.place));
    Ok(found)
}
