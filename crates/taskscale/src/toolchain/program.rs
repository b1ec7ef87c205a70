//! The digest of one entry's program: changes when its results may change, and not when a neighbor changes.
//!
//! It leaves out folders that only commands of other entries, or recipes for older toolchains, name, unless a
//! file in this entry's own folders refers to them. Files named after another workload are left out too.
//! Everything else in the runtime's folder (lock files, a workspace's manifest, shared code) counts for every
//! entry. Only this entry's commands and variables count from `runtime.toml`.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use super::digest::{Digester, list_files};
use super::error::BuildError;
use super::find::Toolchain;
use crate::catalog::{Entry, Runtime, is_of_other_workload, named_by_older_forms, named_children};

/// SHA-256, in hexadecimal digits, over the toolchain, commands, variables and files of `entry` for `workload`.
pub fn program_digest(
    runtime: &Runtime,
    entry: &Entry,
    workload: &str,
    toolchain: &Toolchain,
) -> Result<String, BuildError> {
    let mut files = list_files(&runtime.folder)?;
    let others = others_folders(runtime, entry, workload, &files);
    files.retain(|path| {
        let inside = path.strip_prefix(&runtime.folder).unwrap_or(path);
        let first = inside.components().next().map(|first| first.as_os_str().to_string_lossy().into_owned());
        inside != Path::new("runtime.toml")
            && !is_of_other_workload(entry, workload, inside)
            && first.is_none_or(|first| !others.contains(&first))
    });
    let recipe = &entry.workloads[workload];
    let mut digest = Digester::of(toolchain);
    for command in recipe.build.iter().chain([&recipe.run]) {
        digest.add(&(command.len() as u64).to_le_bytes());
        command.iter().for_each(|word| digest.add(word.as_bytes()));
    }
    for (name, value) in &entry.env {
        digest.add(name.as_bytes());
        digest.add(value.as_bytes());
    }
    digest.add_files(&runtime.folder, files)?;
    digest.add_environment();
    Ok(digest.finish())
}

/// Folders of the runtime that belong only to other entries.
fn others_folders(runtime: &Runtime, entry: &Entry, workload: &str, files: &[PathBuf]) -> BTreeSet<String> {
    let is_folder = |name: &&str| runtime.folder.join(name).is_dir();
    let named = |entry: &Entry, workload: &str| -> BTreeSet<String> {
        let named = named_children(entry, workload).into_iter();
        named.filter(is_folder).map(str::to_owned).collect()
    };
    let mut own = named(entry, workload);
    if own.is_empty() {
        // The entry's own folder is unknown, so any may be.
        return own;
    }
    let mut others: BTreeSet<String> = (runtime.entries.iter())
        .flat_map(|other| other.workloads.keys().map(move |workload| named(other, workload)))
        .flatten()
        .chain(runtime.entries.iter().flat_map(named_by_older_forms).filter(is_folder).map(str::to_owned))
        .filter(|name| !own.contains(name))
        .collect();
    // `#include "../common/pool.h"`, `path = "../common"`: such a folder is part of the program, and so are
    // those that it names.
    let is_reached =
        |own: &BTreeSet<String>, other: &str| own.iter().any(|own| leads(runtime, files, own, other));
    while let Some(name) = others.iter().find(|other| is_reached(&own, other)).cloned() {
        others.remove(&name);
        own.insert(name);
    }
    others
}

/// Whether a file of the folder `from` seems to name the folder `to`. May be wrong, which only adds files to
/// the digest.
fn leads(runtime: &Runtime, files: &[PathBuf], from: &str, to: &str) -> bool {
    let folder = runtime.folder.join(from);
    let paths = [format!("/{to}"), format!("{to}/"), format!("\\{to}")];
    files.iter().filter(|path| path.starts_with(&folder)).any(|path| {
        let bytes = fs::read(path).unwrap_or_default();
        let text = String::from_utf8_lossy(&bytes);
        paths.iter().any(|path| text.contains(path.as_str()))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::Catalog;

    /// Three runtimes of the repository's catalog in a temporary folder, to be changed.
    fn copy() -> (tempfile::TempDir, Catalog) {
        let folder = tempfile::tempdir().unwrap();
        let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        for runtime in ["rust", "java", "dotnet"] {
            for file in list_files(&from.join(runtime)).unwrap() {
                let to = folder.path().join(file.strip_prefix(&from).unwrap());
                fs::create_dir_all(to.parent().unwrap()).unwrap();
                fs::copy(&file, to).unwrap();
            }
        }
        let catalog = Catalog::load(folder.path()).unwrap();
        (folder, catalog)
    }

    fn digest(catalog: &Catalog, name: &str, version: &str) -> String {
        let (runtime, entry) = catalog.entries().find(|(_, entry)| entry.full_name == name).expect(name);
        let toolchain = Toolchain { home: None, version: version.to_owned() };
        program_digest(runtime, entry, "sleep", &toolchain).unwrap()
    }

    #[test]
    fn digests_cover_shared_files_but_not_neighbors() {
        let (folder, catalog) = copy();
        let changes = |file: &str, entry: &str| {
            let path = folder.path().join(file);
            let (text, before) = (fs::read(&path).unwrap(), digest(&catalog, entry, "1"));
            fs::write(&path, [text.as_slice(), b"\n"].concat()).unwrap();
            let after = digest(&catalog, entry, "1");
            fs::write(&path, text).unwrap();
            before != after
        };
        assert!(!changes("rust/smol-spawn/src/bin/smol-spawn-sleep.rs", "rust/thread"));
        assert!(!changes("rust/runtime.toml", "rust/thread"), "only what it says of the entry counts");
        assert!(changes("rust/smol-spawn/src/bin/smol-spawn-sleep.rs", "rust/smol-spawn"));
        assert!(
            changes("rust/tokio-spawn/src/bin/tokio-spawn-sleep.rs", "rust/tokio-spawn-jemalloc"),
            "a twin's program"
        );
        for shared in ["rust/Cargo.lock", "rust/Cargo.toml", "rust/thread/Cargo.toml"] {
            assert!(changes(shared, "rust/thread"), "{shared}");
        }
        // A project that builds a neighbor's program, and properties that all share.
        assert!(changes("dotnet/task-delay/Program.cs", "dotnet/nativeaot-task-delay"));
        assert!(changes("dotnet/Directory.Build.props", "dotnet/task-run"));
        assert!(!changes("dotnet/task-run-sleep/Program.cs", "dotnet/task-delay"));
        assert!(!changes("java/thread/Sleep.java", "java/virtual-thread"));
        assert!(!changes("java/thread/Park.java", "java/thread"), "another workload's");
        assert_ne!(digest(&catalog, "rust/thread", "1"), digest(&catalog, "rust/thread", "2"));
        assert_ne!(
            digest(&catalog, "java/virtual-thread", "1"),
            digest(&catalog, "java/virtual-thread-heap-1g", "1")
        );
    }

    #[test]
    fn digests_cover_referenced_neighbors() {
        let (folder, catalog) = copy();
        let manifest = folder.path().join("rust/thread/Cargo.toml");
        let text = fs::read_to_string(&manifest).unwrap();
        fs::write(&manifest, text + "[dependencies]\nfloor = { path = \"../floor\" }\n").unwrap();
        let before = digest(&catalog, "rust/thread", "1");
        fs::write(folder.path().join("rust/floor/src/lib.rs"), "pub fn more() {}\n").unwrap();
        assert_ne!(digest(&catalog, "rust/thread", "1"), before);
    }
}
