//! Where the catalog is, and where builds are kept.

use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use super::args::Global;
use super::eprint_status;
use crate::catalog::{Catalog, CatalogError, embedded_name, is_whole, nearest_catalog, unpack_embedded};
use crate::document::safe;
use crate::toolchain::Cache;

/// Names a catalog for every command; `--catalog` takes precedence.
const CATALOG_VARIABLE: &str = "TASKSCALE_CATALOG";
/// The word for the catalog that taskscale carries, in place of a folder.
const EMBEDDED: &str = "embedded";

/// Which catalogs are used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct CatalogPlace {
    /// At least one; each takes precedence over those after it.
    pub folders: Vec<PathBuf>,
    pub origin: CatalogSource,
}

/// Why a catalog is used, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CatalogSource {
    Option,
    Variable,
    Nearest,
    /// The nearest, which has a few entries, completed by the embedded one.
    Beside,
    Embedded,
}

impl fmt::Display for CatalogSource {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        formatter.write_str(match self {
            CatalogSource::Option => "--catalog",
            CatalogSource::Variable => "$TASKSCALE_CATALOG",
            CatalogSource::Nearest => "the nearest runtimes/",
            CatalogSource::Beside => "the nearest runtimes/ and the embedded catalog",
            CatalogSource::Embedded => "embedded",
        })
    }
}

impl fmt::Display for CatalogPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let folders: Vec<_> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        write!(formatter, "{} ({})", folders.join(" and "), self.origin)
    }
}

/// Where embedded catalogs are unpacked.
pub(super) fn unpacked_catalogs(cache: &Cache) -> PathBuf {
    cache.root().join("catalogs")
}

/// The folder of embedded catalogs in the user's cache.
fn of_user() -> PathBuf {
    unpacked_catalogs(&Cache::of_user())
}

/// The catalogs to use: those of `--catalog`, else of `$TASKSCALE_CATALOG`, else the nearest `runtimes/`, completed by the
/// embedded one unless it is whole, else the embedded one.
pub(super) fn find_catalog(global: &Global) -> Result<CatalogPlace, CatalogError> {
    find_catalog_unpacked_in(global, &of_user())
}

/// The same, with the embedded catalog unpacked below `parent`.
pub(super) fn find_catalog_unpacked_in(global: &Global, parent: &Path) -> Result<CatalogPlace, CatalogError> {
    let (named, origin) = named(global);
    if named.is_empty() {
        return unnamed(parent);
    }
    let origin =
        if named.iter().all(|folder| means_embedded(folder)) { CatalogSource::Embedded } else { origin };
    let folders = named.iter().map(|folder| match means_embedded(folder) {
        true => unpack_embedded(parent),
        false => absolute(folder),
    });
    Ok(CatalogPlace { folders: folders.collect::<Result<_, _>>()?, origin })
}

fn unnamed(parent: &Path) -> Result<CatalogPlace, CatalogError> {
    let Some(nearest) = nearest_catalog()? else {
        return Ok(CatalogPlace { folders: vec![unpack_embedded(parent)?], origin: CatalogSource::Embedded });
    };
    if is_whole(&nearest) || !carries_catalog() {
        return Ok(CatalogPlace { folders: vec![nearest], origin: CatalogSource::Nearest });
    }
    Ok(CatalogPlace { folders: vec![nearest, unpack_embedded(parent)?], origin: CatalogSource::Beside })
}

/// The folders that the user named, and how.
fn named(global: &Global) -> (Vec<PathBuf>, CatalogSource) {
    if !global.catalog.is_empty() {
        return (global.catalog.clone(), CatalogSource::Option);
    }
    let variable = std::env::var_os(CATALOG_VARIABLE).unwrap_or_default();
    let folders = std::env::split_paths(&variable).filter(|folder| !folder.as_os_str().is_empty());
    (folders.collect(), CatalogSource::Variable)
}

/// A folder of that name takes precedence over the word.
fn means_embedded(folder: &Path) -> bool {
    folder == Path::new(EMBEDDED) && !folder.is_dir()
}

/// Programs run in another folder, where a relative path would be wrong.
fn absolute(folder: &Path) -> Result<PathBuf, CatalogError> {
    std::path::absolute(folder).map_err(|error| CatalogError::Unreadable { path: folder.to_owned(), error })
}

/// Whether this program has an embedded catalog.
pub(super) fn carries_catalog() -> bool {
    embedded_name().is_some()
}

/// A catalog, if there is one.
pub(super) fn any_catalog() -> Option<Catalog> {
    Catalog::load_all(&unnamed(&of_user()).ok()?.folders).ok()
}

pub(super) fn open_catalog(global: &Global) -> Result<Catalog, CatalogError> {
    load(&find_catalog(global)?)
}

/// A catalog to compare results with or to take texts from. One that was found, not named, and cannot be used is left out
/// with a warning, and taskscale's own takes its place.
pub(super) fn open_catalog_or_own(global: &Global) -> Result<Catalog, CatalogError> {
    match open_catalog(global) {
        Err(error) if named(global).0.is_empty() && carries_catalog() => {
            eprint_status(&format!("warning: using the embedded catalog: {error}"));
            Catalog::load(&unpack_embedded(&of_user())?)
        }
        result => result,
    }
}

/// The catalogs, with a warning if PATH is empty.
pub(super) fn load(place: &CatalogPlace) -> Result<Catalog, CatalogError> {
    let catalog = Catalog::load_all(&place.folders)?;
    if std::env::var_os("PATH").is_none_or(|path| path.is_empty()) {
        let tools = tools(&catalog);
        let tools: Vec<&str> = tools.iter().map(String::as_str).collect();
        eprint_status(&format!("warning: PATH is empty: cannot find {}", tools.join(", ")));
    }
    Ok(catalog)
}

/// The programs in PATH that report the versions of toolchains.
fn tools(catalog: &Catalog) -> BTreeSet<String> {
    let words = catalog.entries().filter_map(|(_, entry)| entry.toolchain.version.first());
    words.filter(|word| !word.contains('/')).map(|word| safe(word).into_owned()).collect()
}

/// The same, for commands whose result depends on the catalog: names it on standard error.
pub(super) fn open_catalog_aloud(global: &Global) -> Result<Catalog, CatalogError> {
    let place = find_catalog(global)?;
    eprint_status(&format!("catalog: {place}"));
    load(&place)
}

/// Where `new` writes.
pub(super) struct WritePlace {
    pub folder: PathBuf,
    /// Whether commands in this folder need `--catalog` to find it.
    pub needs_option: bool,
}

/// The catalog that a new entry is added to: the one in use, or `runtimes/` in the current folder where that would be the
/// embedded one, which is only a copy.
pub(super) fn catalog_to_write(global: &Global) -> Result<WritePlace, CatalogError> {
    let (named, origin) = named(global);
    if let Some(folder) = named.iter().find(|folder| !means_embedded(folder)) {
        return Ok(WritePlace { folder: absolute(folder)?, needs_option: origin == CatalogSource::Option });
    }
    let folder = match nearest_catalog()? {
        Some(nearest) => nearest,
        None => absolute(Path::new("runtimes"))?,
    };
    Ok(WritePlace { folder, needs_option: false })
}
