//! Entries in requested versions: each version of an entry is an entry of its own, `node/promise-timeout@22`.

mod bisection;
mod error;

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

pub use bisection::Bisection;
pub use error::VersionError;

use crate::catalog::{
    Catalog, DottedVersion, Entry, Matcher, PinnedToolchain, Runtime, Selectable, ToolchainSpec, VersionAxis,
    VersionRange, VersionRequest,
};
use crate::toolchain::{installed, releases};

type VersionResult<T, E = VersionError> = std::result::Result<T, E>;

/// Folders of toolchains that a user names, by runtime.
pub type NamedToolchains = Vec<(String, PathBuf)>;

/// The versions of a runtime's toolchain that are installed, ascending.
pub fn versions_of(runtime: &Runtime, named: &NamedToolchains) -> Vec<PinnedToolchain> {
    let of_runtime = named.iter().filter(|(name, _)| *name == runtime.versioned_name());
    installed(&runtime.toolchain, &of_runtime.map(|(_, folder)| folder.clone()).collect::<Vec<_>>())
}

/// Like `versions_of`, but fails if a folder that the user names provides no version.
fn used_versions_of(runtime: &Runtime, named: &NamedToolchains) -> VersionResult<Vec<PinnedToolchain>> {
    let there = versions_of(runtime, named);
    let is_used = |folder: &PathBuf| {
        folder.canonicalize().is_ok_and(|folder| there.iter().any(|version| version.home == folder))
    };
    match named.iter().find(|(name, folder)| *name == runtime.versioned_name() && !is_used(folder)) {
        Some((name, folder)) => Err(VersionError::Syntax(format!(
            "--toolchain {name}={}: it has no {name} that prints its version, or one of the same version as another",
            folder.display()
        ))),
        None => Ok(there),
    }
}

/// Adds an entry to the catalog for each version that `words` request, and returns the words that select them.
pub fn expand(
    catalog: &mut Catalog,
    words: &[String],
    named: &NamedToolchains,
) -> VersionResult<Vec<String>> {
    if let Some((name, _)) =
        named.iter().find(|(name, _)| catalog.runtimes.iter().all(|of| of.versioned_name() != *name))
    {
        let why = format!("--toolchain {name}: no entries have versions of `{name}`");
        return Err(VersionError::Syntax(why));
    }
    let mut there: BTreeMap<String, Vec<PinnedToolchain>> = BTreeMap::new();
    let mut expanded = Vec::new();
    for word in words {
        let Some(request) = VersionRequest::parse(word).map_err(VersionError::Syntax)? else {
            expanded.push(word.clone());
            continue;
        };
        let matcher = Matcher::of(&request.entries);
        let mut added = Vec::new();
        let mut foreign: Option<VersionError> = None;
        for runtime in &mut catalog.runtimes {
            let is_meant = |entry: &&Entry| {
                entry.versions.is_empty() && matcher.matches(&Selectable::of(runtime, entry))
            };
            let meant: Vec<Entry> = runtime.entries.iter().filter(is_meant).cloned().collect();
            if !meant.is_empty() && !there.contains_key(&runtime.name) {
                there.insert(runtime.name.clone(), used_versions_of(runtime, named)?);
            }
            for entry in meant {
                match versioned(runtime, &entry, &request.axes, &there[&runtime.name]) {
                    Ok(new) => {
                        added.extend(new.iter().map(|entry| entry.full_name.clone()));
                        let known =
                            |new: &Entry| runtime.entries.iter().any(|old| old.full_name == new.full_name);
                        let new: Vec<Entry> = new.into_iter().filter(|new| !known(new)).collect();
                        runtime.entries.extend(new);
                    }
                    // Another entry that the word selects may use it.
                    Err(error @ VersionError::NotUsed { .. }) => foreign = foreign.or(Some(error)),
                    Err(error) => return Err(error),
                }
            }
        }
        match (added.is_empty(), foreign) {
            (false, _) => expanded.extend(added),
            (true, Some(error)) => return Err(error),
            // `select` reports that no entry has this name.
            (true, None) => expanded.push(request.entries.clone()),
        }
    }
    Ok(expanded)
}

/// The versions of a range, ascending, of the runtime or library that is requested.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionCandidates {
    pub versions: Vec<String>,
    /// The page of a release. `{version}` is its version.
    page: Option<String>,
    /// Why the releases could not be listed, so that numbers are tried in turn.
    pub unlisted: Option<String>,
}

impl VersionCandidates {
    pub fn page(&self, version: &str) -> Option<String> {
        self.page.as_ref().map(|page| page.replace("{version}", version))
    }
}

/// The versions to choose from: installed ones of a toolchain, or releases of a library. Without a list of
/// releases, all numbers of the range, some of which may not exist.
pub fn candidates(
    runtime: &Runtime,
    entry: &Entry,
    request: &VersionRequest,
    range: &VersionRange,
    named: &NamedToolchains,
) -> VersionResult<VersionCandidates> {
    let name = request.axes.first().and_then(|axis| axis.name.as_ref());
    let Some(library) = name.filter(|name| *name != runtime.versioned_name()) else {
        let there: Vec<DottedVersion> =
            versions_of(runtime, named).into_iter().map(|one| one.version).collect();
        let chosen = range.choose(&there);
        if chosen.is_empty() {
            return Err(VersionError::not_installed(&runtime.toolchain, range, &there));
        }
        let versions = chosen.into_iter().map(|(series, _)| series).collect();
        let page = runtime.toolchain.versions.as_ref().and_then(|places| places.page.clone());
        return Ok(VersionCandidates { versions, page, unlisted: None });
    };
    let pin = runtime.libraries.get(library);
    let listed = pin.and_then(|pin| pin.releases.as_ref()).map(|command| releases(runtime, entry, command));
    let (versions, unlisted) = match (listed, range.numbers()) {
        (Some(Ok(all)), _) => (released(library, range, &all)?, None),
        (Some(Err(why)), Some(numbers)) => (numbers, Some(why)),
        (Some(Err(why)), None) => return Err(VersionError::Unlisted { library: library.clone(), why }),
        (None, Some(numbers)) => (numbers, None),
        (None, None) => return Err(VersionError::uncountable(library, range)),
    };
    Ok(VersionCandidates { versions, page: pin.and_then(|pin| pin.page.clone()), unlisted })
}

/// The series of a range among the releases that a package manager lists.
fn released(library: &str, range: &VersionRange, all: &[DottedVersion]) -> VersionResult<Vec<String>> {
    let library = library.to_owned();
    let chosen = range.choose(all);
    match all.first().zip(all.last()).filter(|_| chosen.is_empty()) {
        Some((oldest, newest)) => {
            let (range, oldest, newest) = (range.to_string(), oldest.clone(), newest.clone());
            Err(VersionError::NoRelease { library, range, oldest, newest })
        }
        None => Ok(chosen.into_iter().map(|(series, _)| series).collect()),
    }
}

/// A version on one axis: the name of the axis, the version as in an entry's name, and the toolchain if it is
/// one of a toolchain.
type Pinned = (String, String, Option<PinnedToolchain>);

/// An entry in all combinations of versions.
fn versioned(
    runtime: &Runtime,
    entry: &Entry,
    axes: &[VersionAxis],
    there: &[PinnedToolchain],
) -> VersionResult<Vec<Entry>> {
    let of = runtime.versioned_name();
    let is_toolchain = |axis: &&VersionAxis| axis.name.as_ref().is_none_or(|name| name == of);
    if axes.iter().filter(is_toolchain).count() > 1 {
        let why = format!("{}: versions of `{of}` are there twice", entry.full_name);
        return Err(VersionError::Syntax(why));
    }
    let mut all = vec![Vec::<Pinned>::new()];
    for axis in axes {
        let pins = match &axis.name {
            Some(name) if name != of => library_versions(runtime, entry, name, &axis.wanted)?,
            _ => toolchain_versions(runtime, entry, &axis.wanted, there)?,
        };
        all = all
            .iter()
            .flat_map(|earlier| pins.iter().map(|pin| earlier.iter().cloned().chain([pin.clone()]).collect()))
            .collect();
    }
    Ok(all.iter().map(|pins| pinned(runtime, entry, pins)).collect())
}

fn toolchain_versions(
    runtime: &Runtime,
    entry: &Entry,
    wanted: &[VersionRange],
    there: &[PinnedToolchain],
) -> VersionResult<Vec<Pinned>> {
    if entry.toolchain != runtime.toolchain {
        let uses = format!("the toolchain {}", entry.toolchain.title);
        return Err(VersionError::not_used(entry, runtime.versioned_name(), uses));
    }
    let versions: Vec<DottedVersion> = there.iter().map(|one| one.version.clone()).collect();
    let mut pins = Vec::new();
    for range in wanted {
        let chosen = range.choose(&versions);
        if chosen.is_empty() {
            return Err(VersionError::not_installed(&runtime.toolchain, range, &versions));
        }
        for (series, version) in chosen {
            let toolchain = there.iter().find(|one| one.version == *version).cloned();
            let is_new = pins.iter().all(|(_, _, known): &Pinned| *known != toolchain);
            if is_new {
                pins.push((runtime.versioned_name().to_owned(), series, toolchain));
            }
        }
    }
    Ok(pins)
}

fn library_versions(
    runtime: &Runtime,
    entry: &Entry,
    name: &str,
    wanted: &[VersionRange],
) -> VersionResult<Vec<Pinned>> {
    let library = entry.library.as_ref().filter(|library| runtime.libraries.contains_key(&library.name));
    let known = library.filter(|library| library.name == name).ok_or_else(|| {
        let uses = library.map_or("no library whose versions can be chosen", |library| &library.name);
        VersionError::not_used(entry, name, uses.to_owned())
    })?;
    let versions = |range: &VersionRange| match range {
        // The catalog's version: its programs are not written for newer ones.
        VersionRange::Latest => Ok(vec![
            DottedVersion::first_in(&known.version)
                .map_or_else(|| known.version.clone(), |version| version.to_string()),
        ]),
        range => range.numbers().ok_or_else(|| VersionError::uncountable(name, range)),
    };
    let all: Vec<Vec<String>> = wanted.iter().map(versions).collect::<VersionResult<_, _>>()?;
    let mut once = BTreeSet::new();
    let all = all.into_iter().flatten().filter(|version| once.insert(version.clone()));
    Ok(all.map(|version| (name.to_owned(), version, None)).collect())
}

fn pinned(runtime: &Runtime, entry: &Entry, pins: &[Pinned]) -> Entry {
    let suffix: Vec<String> = match pins {
        [(name, version, _)] if *name == runtime.name => vec![version.clone()],
        _ => pins.iter().map(|(name, version, _)| format!("{name}={version}")).collect(),
    };
    let name = format!("{}@{}", entry.name, suffix.join(","));
    let toolchain = pins.iter().find_map(|(.., toolchain)| toolchain.clone());
    Entry {
        full_name: format!("{}/{name}", runtime.name),
        name,
        // Only the entry without a version represents its runtime.
        posts: Vec::new(),
        toolchain: ToolchainSpec { pinned: toolchain, ..entry.toolchain.clone() },
        versions: pins.iter().map(|(name, version, _)| (name.clone(), version.clone())).collect(),
        ..entry.clone()
    }
}

#[cfg(test)]
mod tests;
