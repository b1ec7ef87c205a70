//! Where the catalogue is, and where builds are kept.

use std::fmt;
use std::path::{Path, PathBuf};

use super::args::Global;
use super::say_aside;
use crate::catalog::{Catalog, CatalogError, embedded_name, nearest_catalog, unpack_embedded};
use crate::toolchain::Cache;

/// Names a catalogue for every command, below `--catalog`.
const CATALOG_VARIABLE: &str = "TASKSCALE_CATALOG";
/// The word that names the catalogue that taskscale carries, where one expects a folder.
const EMBEDDED: &str = "embedded";

/// Which catalogue is used, and why that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogPlace {
    pub folder: PathBuf,
    pub origin: Origin,
}

/// What led to a catalogue, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Origin {
    Option,
    Variable,
    Nearest,
    Embedded,
}

impl fmt::Display for Origin {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            Origin::Option => "named by --catalog",
            Origin::Variable => "named by TASKSCALE_CATALOG",
            Origin::Nearest => "the nearest runtimes/",
            Origin::Embedded => "the one that this taskscale carries",
        })
    }
}

impl fmt::Display for CatalogPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        write!(formatter, "{} ({})", self.folder.display(), self.origin)
    }
}

/// Where catalogues that taskscale carries are unpacked.
pub(super) fn unpacked_catalogs(cache: &Cache) -> PathBuf {
    cache.root().join("catalogs")
}

/// The catalogue to use: `--catalog`, else `$TASKSCALE_CATALOG`, else the nearest `runtimes/`, else the one that this
/// program carries, which is unpacked for it.
pub(super) fn find_catalog(global: &Global) -> Result<CatalogPlace, CatalogError> {
    if let Some(place) = named(global)? {
        return Ok(place);
    }
    let folder = if asks_for_embedded(global) { None } else { nearest_catalog() };
    if let Some(folder) = folder {
        return Ok(CatalogPlace { folder, origin: Origin::Nearest });
    }
    let folder = unpack_embedded(&unpacked_catalogs(&Cache::of_user()))?;
    Ok(CatalogPlace { folder, origin: Origin::Embedded })
}

/// What the user named, and how.
fn named_folder(global: &Global) -> Option<(PathBuf, Origin)> {
    let variable = || std::env::var_os(CATALOG_VARIABLE).filter(|value| !value.is_empty()).map(PathBuf::from);
    let option = global.catalog.clone().map(|folder| (folder, Origin::Option));
    option.or_else(|| variable().map(|folder| (folder, Origin::Variable)))
}

/// A folder of that name goes before the word's meaning.
fn asks_for_embedded(global: &Global) -> bool {
    named_folder(global).is_some_and(|(folder, _)| folder == Path::new(EMBEDDED) && !folder.is_dir())
}

fn named(global: &Global) -> Result<Option<CatalogPlace>, CatalogError> {
    match named_folder(global) {
        Some((folder, origin)) if !asks_for_embedded(global) => {
            Ok(Some(CatalogPlace { folder: absolute(&folder)?, origin }))
        }
        _ => Ok(None),
    }
}

/// Programs run in another folder: a relative path would lead nowhere there.
fn absolute(folder: &Path) -> Result<PathBuf, CatalogError> {
    std::path::absolute(folder).map_err(|error| CatalogError::Unreadable { path: folder.to_owned(), error })
}

/// Whether there is a catalogue in this program.
pub(super) fn carries_catalog() -> bool {
    embedded_name().is_some()
}

/// A catalogue where one helps and none is needed: the nearest, or the one that this program carries.
pub(super) fn any_catalog() -> Option<Catalog> {
    let folder = nearest_catalog().or_else(|| unpack_embedded(&unpacked_catalogs(&Cache::of_user())).ok())?;
    Catalog::load(&folder).ok()
}

pub(super) fn open_catalog(global: &Global) -> Result<Catalog, CatalogError> {
    Catalog::load(&find_catalog(global)?.folder)
}

/// The same, for commands whose result depends on which one it is: says so on standard error.
pub(super) fn open_catalog_aloud(global: &Global) -> Result<Catalog, CatalogError> {
    let place = find_catalog(global)?;
    say_aside(&format!("catalogue: {place}"));
    Catalog::load(&place.folder)
}

/// Where `new` writes.
pub(super) struct WritePlace {
    pub folder: PathBuf,
    /// Whether commands in this folder find it only with `--catalog`.
    pub needs_option: bool,
}

/// The catalogue that a new entry goes into: the one in use, or `runtimes/` in the current folder where that would be the
/// one that taskscale carries, which is only a copy.
pub(super) fn catalog_to_write(global: &Global) -> Result<WritePlace, CatalogError> {
    match named(global)? {
        Some(place) => Ok(WritePlace { folder: place.folder, needs_option: place.origin == Origin::Option }),
        None => {
            let nearest = nearest_catalog().map(Ok);
            let folder = nearest.unwrap_or_else(|| absolute(Path::new("runtimes")))?;
            Ok(WritePlace { folder, needs_option: false })
        }
    }
}
