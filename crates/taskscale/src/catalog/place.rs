//! Where the catalog is: named by the user, the nearest, or the embedded one.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};

use super::embedded::unpack_embedded;
use super::error::CatalogError;
use super::load::{is_whole, nearest_catalog};

/// Names a catalog for every command. `--catalog` takes precedence.
const CATALOG_VARIABLE: &str = "TASKSCALE_CATALOG";
/// Selects the built-in catalog in place of a folder.
const EMBEDDED: &str = "embedded";

/// Which catalogs are used, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CatalogPlace {
    /// At least one. Each takes precedence over those after it.
    pub folders: Vec<PathBuf>,
    pub origin: CatalogSource,
}

/// Why a catalog is used, in order of precedence.
#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
pub enum CatalogSource {
    #[strum(to_string = "--catalog")]
    Option,
    #[strum(to_string = "$TASKSCALE_CATALOG")]
    Variable,
    #[strum(to_string = "the nearest runtimes/")]
    Nearest,
    /// The nearest, which has a few entries, completed by the embedded one.
    #[strum(to_string = "the nearest runtimes/ and the embedded catalog")]
    Beside,
    #[strum(to_string = "embedded")]
    Embedded,
}

impl fmt::Display for CatalogPlace {
    fn fmt(&self, formatter: &mut fmt::Formatter) -> fmt::Result {
        let folders: Vec<_> = self.folders.iter().map(|folder| folder.display().to_string()).collect();
        write!(formatter, "{} ({})", folders.join(" and "), self.origin)
    }
}

/// The catalogs to use: those of `--catalog`, else of `$TASKSCALE_CATALOG`, else the nearest `runtimes/`, completed by the
/// embedded one unless it is whole, else the embedded one, unpacked below `parent`.
pub fn find_catalog(option: &[PathBuf], parent: &Path) -> Result<CatalogPlace, CatalogError> {
    let (named, origin) = named_catalogs(option);
    if named.is_empty() {
        return unnamed_catalog(parent);
    }
    let origin =
        if named.iter().all(|folder| means_embedded(folder)) { CatalogSource::Embedded } else { origin };
    let folders = named.iter().map(|folder| match means_embedded(folder) {
        true => unpack_embedded(parent),
        false => absolute(folder),
    });
    Ok(CatalogPlace { folders: folders.collect::<Result<_, _>>()?, origin })
}

/// The catalogs to use if none is named.
pub fn unnamed_catalog(parent: &Path) -> Result<CatalogPlace, CatalogError> {
    let Some(nearest) = nearest_catalog()? else {
        return Ok(CatalogPlace { folders: vec![unpack_embedded(parent)?], origin: CatalogSource::Embedded });
    };
    if is_whole(&nearest) {
        return Ok(CatalogPlace { folders: vec![nearest], origin: CatalogSource::Nearest });
    }
    Ok(CatalogPlace { folders: vec![nearest, unpack_embedded(parent)?], origin: CatalogSource::Beside })
}

/// The folders that the user named, and how.
pub fn named_catalogs(option: &[PathBuf]) -> (Vec<PathBuf>, CatalogSource) {
    if !option.is_empty() {
        return (option.to_vec(), CatalogSource::Option);
    }
    let variable = env::var_os(CATALOG_VARIABLE).unwrap_or_default();
    let folders = env::split_paths(&variable).filter(|folder| !folder.as_os_str().is_empty());
    (folders.collect(), CatalogSource::Variable)
}

/// Whether this selects the built-in catalog. A folder of that name takes precedence.
fn means_embedded(folder: &Path) -> bool {
    folder == Path::new(EMBEDDED) && !folder.is_dir()
}

/// The absolute path, as programs run in another folder.
fn absolute(folder: &Path) -> Result<PathBuf, CatalogError> {
    std::path::absolute(folder).map_err(|error| CatalogError::Unreadable { path: folder.to_owned(), error })
}

/// Where `new` writes.
pub struct WritePlace {
    pub folder: PathBuf,
    /// Whether commands in this folder need `--catalog` to find it.
    pub needs_option: bool,
}

/// The catalog that a new entry is added to: the one in use, or `runtimes/` in the current folder if that is
/// the embedded one, which is only a copy.
pub fn catalog_to_write(option: &[PathBuf]) -> Result<WritePlace, CatalogError> {
    let (named, origin) = named_catalogs(option);
    if let Some(folder) = named.iter().find(|folder| !means_embedded(folder)) {
        return Ok(WritePlace { folder: absolute(folder)?, needs_option: origin == CatalogSource::Option });
    }
    let folder = nearest_catalog()?.map_or_else(|| absolute(Path::new("runtimes")), Ok)?;
    Ok(WritePlace { folder, needs_option: false })
}
