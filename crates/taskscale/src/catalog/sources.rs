//! The source files of an entry's program, for readers of its results.
//!
//! Found by the manifest's own commands, so that a manifest need not list them: a folder or file of the runtime that a
//! command names (`./goroutine`, `{src}/fiber/sleep.rb`, `-p tokio-spawn`) belongs to the program.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::model::{Entry, Recipe, Runtime};

/// One file of an entry's program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Source {
    /// Path inside the runtime's folder.
    pub path: String,
    /// Content.
    pub text: String,
}

/// Largest source file, in bytes, far above the catalog's: a larger file is data, and would bloat all results.
const LARGEST: u64 = 64 * 1024;

/// The text files of `entry`'s program for `workload`, code before manifests, without lock files, which are long and
/// generated. Empty if the commands name no file of the runtime's folder. Files that are unreadable or not UTF-8 are
/// left out: sources are only shown.
pub fn sources(runtime: &Runtime, entry: &Entry, workload: &str) -> Vec<Source> {
    let mut files = Vec::new();
    for name in named_children(entry, workload) {
        collect(&runtime.folder, &runtime.folder.join(name), &mut files);
    }
    if files.is_empty() {
        // The folder may be named only in a file of the build system. By convention, it has the entry's name.
        let name = entry.name.split('@').next().unwrap_or(&entry.name);
        collect(&runtime.folder, &runtime.folder.join(name), &mut files);
    }
    files.retain(|file| !is_of_other_workload(entry, workload, Path::new(&file.path)));
    files.sort_by(|a, b| (is_manifest(&a.path), &a.path).cmp(&(is_manifest(&b.path), &b.path)));
    files
}

/// Whether a path inside the runtime's folder belongs only to another workload of this entry: by its name, such
/// as `pthread/park.c`, `goroutine/spawn/main.go` or `tokio-spawn/src/bin/tokio-spawn-park.rs`, or because only
/// commands of other workloads name it.
pub fn is_of_other_workload(entry: &Entry, workload: &str, path: &Path) -> bool {
    let names = |stem: &str, workload: &str| {
        stem.eq_ignore_ascii_case(workload) || stem.to_ascii_lowercase().ends_with(&format!("-{workload}"))
    };
    let named = |workload: &str| {
        entry.workloads.get(workload).is_some_and(|recipe| {
            recipe.build.iter().flatten().chain(&recipe.run).any(|word| Path::new(word).ends_with(path))
        })
    };
    if !named(workload) && entry.workloads.keys().any(|other| other != workload && named(other)) {
        return true;
    }
    // Skips the entry's own folder, which may have the name of a workload.
    path.components().skip(1).any(|part| {
        let stem = Path::new(&part).file_stem().unwrap_or_default().to_string_lossy().into_owned();
        let mut others = entry.workloads.keys().filter(|other| *other != workload);
        others.any(|other| names(&stem, other)) && !names(&stem, workload)
    })
}

/// The children of the runtime's folder that the commands of `entry` may name, whether or not they exist.
pub fn named_children<'a>(entry: &'a Entry, workload: &str) -> BTreeSet<&'a str> {
    entry.workloads.get(workload).map(named_by).unwrap_or_default()
}

/// The children that recipes for older toolchains may name.
pub fn named_by_older_forms(entry: &Entry) -> BTreeSet<&str> {
    let older =
        |recipe| std::iter::successors(Some(recipe), |recipe: &&Recipe| recipe.older.as_deref()).skip(1);
    entry.workloads.values().flat_map(older).flat_map(named_by).collect()
}

fn named_by(recipe: &Recipe) -> BTreeSet<&str> {
    let words = recipe.build.iter().flatten().chain(&recipe.run);
    words.filter_map(|word| first_component(word)).collect()
}

/// The child of the runtime's folder that a word of a command may name.
fn first_component(word: &str) -> Option<&str> {
    // `-p:Program=task-delay`
    let word = word.rsplit('=').next().unwrap_or(word);
    let word = word.strip_prefix("{src}/").or_else(|| word.strip_prefix("./")).unwrap_or(word);
    let first = word.split('/').next()?;
    // Hidden folders, `..` and the folders of placeholders ({out}) are not the runtime's.
    let plain = !first.is_empty() && !first.starts_with(['.', '{', '-']) && !word.starts_with('/');
    plain.then_some(first)
}

fn collect(root: &Path, path: &Path, files: &mut Vec<Source>) {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // Links are not followed: one could lead out of the catalog.
    let Ok(meta) = path.symlink_metadata() else { return };
    if meta.is_dir() && !name.starts_with('.') && name != "node_modules" && name != "target" {
        for child in fs::read_dir(path).into_iter().flatten().flatten() {
            collect(root, &child.path(), files);
        }
    } else if meta.is_file() && meta.len() <= LARGEST && !name.starts_with('.') && !is_lock(&name) {
        let Ok(text) = fs::read_to_string(path) else { return };
        let path = path.strip_prefix(root).unwrap_or(path).to_string_lossy().into_owned();
        files.push(Source { path, text });
    }
}

fn is_lock(name: &str) -> bool {
    name.ends_with(".lock")
        || ["requirements.txt", "package-lock.json", "go.sum", "README.md", "runtime.toml"].contains(&name)
}

fn is_manifest(path: &str) -> bool {
    [".toml", ".json", ".xml", ".csproj", ".mod", ".props"].iter().any(|end| path.ends_with(end))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    fn repository() -> Catalog {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        Catalog::load(&folder).expect("the catalog of the repository")
    }

    fn of(catalog: &Catalog, name: &str) -> Vec<Source> {
        let (runtime, entry) = catalog.entries().find(|(_, entry)| entry.full_name == name).expect(name);
        sources(runtime, entry, "sleep")
    }

    #[test]
    fn every_entry_has_a_program() {
        let catalog = repository();
        let programs = catalog.entries().flat_map(|(runtime, entry)| {
            entry.workloads.keys().map(move |workload| (runtime, entry, workload))
        });
        for (runtime, entry, workload) in programs {
            let files = sources(runtime, entry, workload);
            assert!(!files.is_empty(), "{} {workload}: no source was found", entry.full_name);
            assert!(files.iter().all(|file| !file.text.is_empty()), "{}", entry.full_name);
            // One program, and not those of its neighbors.
            let folders: BTreeSet<&str> =
                files.iter().filter_map(|file| file.path.split('/').next()).collect();
            // (Two if its own project file builds a neighbor's program.)
            assert!(folders.len() <= 2, "{}: {folders:?}", entry.full_name);
        }
    }

    #[test]
    fn sources_list_code_before_manifests_without_lock_files() {
        let catalog = repository();
        let paths = |name: &str| of(&catalog, name).into_iter().map(|file| file.path).collect::<Vec<_>>();
        assert_eq!(
            paths("rust/tokio-spawn"),
            ["tokio-spawn/src/bin/tokio-spawn-sleep.rs", "tokio-spawn/src/lib.rs", "tokio-spawn/Cargo.toml"]
        );
        assert_eq!(paths("python/uvloop"), ["asyncio-create-task/sleep.py", "uvloop/run.py"]);
        assert_eq!(paths("go/goroutine"), ["goroutine/sleep/main.go"]);
        assert_eq!(paths("kotlin/coroutine-launch"), ["coroutine-launch/Sleep.kt"]);
        assert_eq!(paths("dotnet/nativeaot-task-run")[0], "task-run-sleep/Program.cs");
        assert_eq!(paths("elixir/spawn"), ["spawn/sleep.ex"], "an entry that is called as a workload is");
        let (runtime, entry) = catalog.entry("rust/tokio-spawn").expect("an entry");
        let spawn: Vec<String> = sources(runtime, entry, "spawn").into_iter().map(|file| file.path).collect();
        assert!(spawn.contains(&"tokio-spawn/src/bin/tokio-spawn-spawn.rs".to_owned()), "{spawn:?}");
        assert!(!spawn.iter().any(|path| path.contains("park")), "{spawn:?}");
    }

    #[test]
    fn commands_name_children_of_the_folder_only() {
        assert_eq!(first_component("{src}/fiber/sleep.rb"), Some("fiber"));
        assert_eq!(first_component("./goroutine"), Some("goroutine"));
        assert_eq!(first_component("-p:Program=task-run"), Some("task-run"));
        for word in ["{out}/venv/bin/python", "../secret", "/etc/passwd", "-p", "{src}/../x", "{src}/.git"] {
            assert_eq!(first_component(word), None, "{word}");
        }
    }
}
