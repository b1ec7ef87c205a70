//! `taskscale versions`.

use std::collections::BTreeSet;

use anyhow::{Context, Result};
use serde::Serialize;

use super::args::{Global, VersionsArgs};
use super::catalog_dir::{named_toolchains, open_catalog};
use super::failure::{CliResult, OrUsage, succeed_with};
use super::output::{for_standard_output, json_or};
use crate::catalog::{Catalog, Runtime, release_series};
use crate::document::{Column, Document, DocumentRow, Table, TableCell};
use crate::versions::{NamedToolchains, versions_of};

/// The versions of one runtime.
#[derive(Debug, Serialize)]
struct RuntimeVersions {
    runtime: String,
    /// The runtime whose versions are installed, if it is another: Kotlin uses Java's toolchain.
    of: Option<String>,
    installed: Vec<InstalledVersion>,
    /// Libraries with a choice of versions, and the catalog's version of each.
    libraries: BTreeSet<(String, String)>,
    /// The command that installs another version. Absent if the catalog has none.
    install: Option<String>,
}

#[derive(Debug, Serialize)]
struct InstalledVersion {
    version: String,
    /// Month of the release of its series, if known.
    released: Option<String>,
    folder: String,
}

pub fn run(args: &VersionsArgs, global: &Global) -> CliResult {
    let catalog = open_catalog(global).or_usage()?;
    let named = named_toolchains(global).or_usage()?;
    let runtimes = chosen(&catalog, &args.runtimes).or_usage()?;
    let all: Vec<RuntimeVersions> = runtimes.into_iter().map(|runtime| of_runtime(runtime, &named)).collect();
    succeed_with(&json_or(global.json, &all, || document(&all).terminal(for_standard_output())))
}

/// The runtimes that are named, or all with versions to choose from.
fn chosen<'c>(catalog: &'c Catalog, names: &[String]) -> Result<Vec<&'c Runtime>> {
    let has_versions =
        |runtime: &&Runtime| runtime.toolchain.versions.is_some() || !runtime.libraries.is_empty();
    if names.is_empty() {
        return Ok(catalog.runtimes.iter().filter(has_versions).collect());
    }
    let named = |name: &String| {
        let found = catalog.runtimes.iter().find(|runtime| runtime.name == *name);
        found.with_context(|| format!("no runtime `{name}` (`taskscale versions` shows those with versions)"))
    };
    names.iter().map(named).collect()
}

fn of_runtime(runtime: &Runtime, named: &NamedToolchains) -> RuntimeVersions {
    let installed = versions_of(runtime, named).into_iter().map(|one| InstalledVersion {
        released: release_series(runtime.versioned_name(), &one.version.to_string())
            .map(|series| series.released.to_string()),
        version: one.version.to_string(),
        folder: one.home.display().to_string(),
    });
    let installed = installed.collect();
    let libraries = runtime.entries.iter().filter_map(|entry| entry.library.as_ref());
    let libraries = libraries.filter(|library| runtime.libraries.contains_key(&library.name));
    let libraries = libraries.map(|library| (library.name.clone(), library.version.clone())).collect();
    let places = runtime.toolchain.versions.as_ref();
    let of = places.and_then(|places| places.of.clone());
    let install = places.map(|places| places.install.replace("{version}", "VERSION"));
    RuntimeVersions { runtime: runtime.name.clone(), of, installed, libraries, install }
}

fn document(all: &[RuntimeVersions]) -> Document {
    let mut document = Document::new("Versions");
    let mut table = Table::new(vec![
        Column::words("library"),
        Column::words("version"),
        Column::words("released"),
        Column::words("folder, or how to get more").drop_priority(1),
    ]);
    let row = |name: &str, version: &str, released: &str, what: &str| {
        let (name, version) = (TableCell::plain(name), TableCell::plain(version));
        DocumentRow::of(vec![name, version, TableCell::quiet(released), TableCell::quiet(what)])
    };
    for of in all {
        let rows = &mut table.section(&of.runtime).rows;
        let whose = of.of.as_deref().unwrap_or_default();
        for one in &of.installed {
            let released = one.released.as_deref().unwrap_or_default();
            rows.push(row(whose, &one.version, released, &one.folder));
        }
        for (library, version) in &of.libraries {
            rows.push(row(library, version, "", "any version: its package manager resolves it"));
        }
        if let Some(install) = &of.install {
            rows.push(row("", "", "", &format!("more: {install}")));
        }
    }
    document.table(table);
    document
}
