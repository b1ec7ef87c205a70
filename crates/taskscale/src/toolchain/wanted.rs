//! Which builds are still wanted: those that a catalog would make today.

use std::collections::{BTreeSet, HashMap};
use std::path::{Path, PathBuf};

use super::cache::KeptBuild;
use super::digest::source_digest;
use super::find::{Toolchain, find};
use crate::catalog::{Catalog, ToolchainSpec};

/// The builds that catalogs need today, as runtime and digest: those in `folders`, and those that the builds came from.
pub fn wanted_builds(
    folders: Vec<PathBuf>,
    builds: &[KeptBuild],
    warn: &dyn Fn(&str),
) -> Vec<(String, String)> {
    let sources = builds.iter().filter_map(|build| build.source.as_deref()?.parent().map(Path::to_owned));
    let folders: BTreeSet<PathBuf> = sources.filter(|folder| folder.is_dir()).chain(folders).collect();
    // Querying a toolchain takes up to a second, and copies of a catalog need the same ones.
    let mut toolchains: HashMap<(String, ToolchainSpec), Option<Toolchain>> = HashMap::new();
    let mut wanted = Vec::new();
    for folder in folders {
        let catalog = match Catalog::load(&folder) {
            Ok(catalog) => catalog,
            Err(error) => {
                warn(&format!("builds of this catalog count as old: {error}"));
                continue;
            }
        };
        for runtime in &catalog.runtimes {
            if !builds.iter().any(|build| build.runtime == runtime.name) {
                continue;
            }
            let specs: BTreeSet<&ToolchainSpec> =
                runtime.entries.iter().map(|entry| &entry.toolchain).collect();
            let Ok(sources) = source_digest(runtime, &Toolchain::default()) else { continue };
            for spec in specs {
                let asked = (sources.clone(), ToolchainSpec { folder: PathBuf::new(), ..spec.clone() });
                let found = toolchains.entry(asked).or_insert_with(|| find(spec).ok());
                let digest = found.as_ref().and_then(|found| source_digest(runtime, found).ok());
                wanted.extend(digest.map(|digest| (runtime.name.clone(), digest)));
            }
        }
    }
    wanted
}
