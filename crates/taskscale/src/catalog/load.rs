//! Loads folders of `runtime.toml` into a validated catalog.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::error::CatalogError;
use super::manifest::RuntimeToml;
use super::manifest_file::ManifestFile;
use super::model::{Entry, Runtime};
use super::trust::{Others, distrust};
use super::workload::{Workload, beside, workloads};

/// All runtimes known, in the order of their names.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// The folders that it was read from. Earlier ones take precedence.
    pub folders: Vec<PathBuf>,
    /// By name. With two catalogs, both may have entries of the same runtime.
    pub runtimes: Vec<Runtime>,
    /// The workloads, sorted by name.
    pub workloads: Vec<Workload>,
}

/// The nearest `runtimes/` at or above the current folder. An error if its programs must not run as this user.
pub fn nearest_catalog() -> Result<Option<PathBuf>, CatalogError> {
    let Ok(current) = std::env::current_dir() else { return Ok(None) };
    let mut folders = current.ancestors().map(|folder| folder.join("runtimes"));
    let Some(folder) = folders.find(|folder| is_catalog(folder)) else { return Ok(None) };
    let unreadable = |error| CatalogError::Unreadable { path: folder.clone(), error };
    match distrust(&folder, Others::NotOfTheGroup).map_err(unreadable)? {
        Some(why) => Err(CatalogError::Untrusted { folder, why }),
        None => folder.canonicalize().map(Some).map_err(unreadable),
    }
}

/// Whether a catalog is complete: it has workloads of its own, in a folder `workloads` next to it. One without, such as
/// a few entries of a user, extends the built-in one.
pub fn is_whole(catalog: &Path) -> bool {
    beside(catalog).is_dir()
}

fn is_catalog(folder: &Path) -> bool {
    fs::read_dir(folder)
        .is_ok_and(|children| children.flatten().any(|child| child.path().join("runtime.toml").is_file()))
}

impl Catalog {
    /// Reads every runtime below `folder`. The first fault found is an error that names file, line and column.
    pub fn load(folder: &Path) -> Result<Catalog, CatalogError> {
        let unreadable = |error| CatalogError::Unreadable { path: folder.to_owned(), error };
        let is_hidden =
            |path: &Path| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
        let children = fs::read_dir(folder)
            .and_then(|children| children.map(|child| Ok(child?.path())).collect::<Result<Vec<_>, _>>());
        let mut folders = children.map_err(unreadable)?;
        folders.retain(|path| path.is_dir() && !is_hidden(path));
        folders.sort();
        // If a catalog is in `folder`, name that one instead of the faults of its other children.
        let below = Some(folder.join("runtimes")).filter(|below| !is_catalog(folder) && is_catalog(below));
        if folders.is_empty() || below.is_some() {
            return Err(CatalogError::Empty { folder: folder.to_owned(), below });
        }
        let workloads = workloads(folder)?;
        let runtimes = folders.iter().map(|folder| Runtime::load(folder, &workloads));
        let runtimes = runtimes.collect::<Result<Vec<_>, _>>()?;
        Ok(Catalog { folders: vec![folder.to_owned()], runtimes, workloads })
    }

    /// Loads several catalogs as one. If two have an entry of the same name, the earlier one wins. Workloads come from
    /// the first.
    pub fn load_all(folders: &[PathBuf]) -> Result<Catalog, CatalogError> {
        let mut catalogs = folders.iter().map(|folder| Catalog::load(folder));
        let first = catalogs.next().ok_or(CatalogError::NotFound)??;
        catalogs.try_fold(first, |over, beneath| Ok(over.over(beneath?)))
    }

    fn over(mut self, beneath: Catalog) -> Catalog {
        let own: BTreeSet<String> = self.entries().map(|(_, entry)| entry.full_name.clone()).collect();
        let further = beneath.runtimes.into_iter().filter_map(|mut runtime| {
            runtime.entries.retain(|entry| !own.contains(&entry.full_name));
            (!runtime.entries.is_empty()).then_some(runtime)
        });
        self.runtimes.extend(further);
        self.runtimes.sort_by(|one, other| one.name.cmp(&other.name));
        self.folders.extend(beneath.folders);
        self
    }

    /// Every entry with its runtime.
    pub fn entries(&self) -> impl Iterator<Item = (&Runtime, &Entry)> {
        self.runtimes.iter().flat_map(|runtime| runtime.entries.iter().map(move |entry| (runtime, entry)))
    }

    /// The default workload.
    pub fn default_workload(&self) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.default).or(self.workloads.first())
    }

    pub fn workload(&self, name: &str) -> Option<&Workload> {
        self.workloads.iter().find(|workload| workload.name == name)
    }

    /// The entry of a full name, `runtime/entry`.
    pub fn entry(&self, full_name: &str) -> Option<(&Runtime, &Entry)> {
        self.entries().find(|(_, entry)| entry.full_name == full_name)
    }
}

impl Runtime {
    /// Reads one runtime's folder, whose programs are for these workloads.
    pub fn load(folder: &Path, workloads: &[Workload]) -> Result<Runtime, CatalogError> {
        let path = folder.join("runtime.toml");
        let text = fs::read_to_string(&path)
            .map_err(|error| CatalogError::Unreadable { path: path.clone(), error })?;
        let file = ManifestFile { path: &path, text: &text };
        let wire: RuntimeToml = toml::from_str(&text).map_err(|error| file.syntax_error(&error))?;
        file.validate(wire, folder, workloads)
    }
}
