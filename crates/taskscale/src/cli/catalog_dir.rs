//! Opens the catalog of a command.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::{Context, Result, ensure};

use super::args::Global;
use super::output::eprint_status;
use crate::catalog::{
    self, Catalog, CatalogError, CatalogPlace, named_catalogs, unnamed_catalog, unpack_embedded,
};
use crate::document::safe;
use crate::toolchain::Cache;
use crate::versions::{self, NamedToolchains};

/// The catalogs of a command.
pub(super) fn find_catalog(global: &Global) -> Result<CatalogPlace, CatalogError> {
    catalog::find_catalog(&global.catalog, &Cache::of_user().catalogs())
}

/// The nearest or embedded catalog, whatever `--catalog` is.
pub(super) fn any_catalog() -> Option<Catalog> {
    Catalog::load_all(&unnamed_catalog(&Cache::of_user().catalogs()).ok()?.folders).ok()
}

pub(super) fn open_catalog(global: &Global) -> Result<Catalog, CatalogError> {
    load(&find_catalog(global)?)
}

/// The catalog with the versions of entries that `words` ask for, and the words that select these.
pub(super) fn open_catalog_with(global: &Global, words: &[String]) -> Result<(Catalog, Vec<String>)> {
    let mut catalog = open_catalog(global)?;
    let words = versions::expand(&mut catalog, words, &named_toolchains(global)?)?;
    Ok((catalog, words))
}

/// The folders of `--toolchain`, by runtime.
pub(super) fn named_toolchains(global: &Global) -> Result<NamedToolchains> {
    let named = |text: &String| {
        let pair = text.split_once('=').filter(|(name, folder)| !name.is_empty() && !folder.is_empty());
        let expected = || format!("--toolchain {text}: expected NAME=DIR, such as node=/opt/node-22");
        let (name, folder) = pair.with_context(expected)?;
        let folder = PathBuf::from(folder);
        ensure!(folder.is_dir(), "--toolchain {text}: no such folder");
        Ok((name.to_owned(), folder))
    };
    global.toolchain.iter().map(named).collect()
}

/// The catalog to compare results with or to take texts from. If it is unusable and the user did not name it,
/// taskscale warns and uses the embedded one.
pub(super) fn open_catalog_or_own(global: &Global) -> Result<Catalog, CatalogError> {
    match open_catalog(global) {
        Err(error) if named_catalogs(&global.catalog).0.is_empty() => {
            eprint_status(&format!("warning: using the embedded catalog: {error}"));
            Catalog::load(&unpack_embedded(&Cache::of_user().catalogs())?)
        }
        result => result,
    }
}

/// Loads the catalogs. Warns if PATH is empty.
pub(super) fn load(place: &CatalogPlace) -> Result<Catalog, CatalogError> {
    let catalog = Catalog::load_all(&place.folders)?;
    if std::env::var_os("PATH").is_none_or(|path| path.is_empty()) {
        // The programs that report the versions of toolchains.
        let tools = catalog.entries().filter_map(|(_, entry)| entry.toolchain.version.first());
        let tools: BTreeSet<_> = tools.filter(|word| !word.contains('/')).map(|word| safe(word)).collect();
        let tools = Vec::from_iter(tools).join(", ");
        eprint_status(&format!("warning: PATH is empty: cannot find {tools}"));
    }
    Ok(catalog)
}
