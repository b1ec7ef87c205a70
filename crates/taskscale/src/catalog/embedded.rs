//! The built-in catalog: the sources of `runtimes/`, embedded by build.rs.
//!
//! Programs are built from files, so it is unpacked before use, once per version of its contents.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;

use super::error::CatalogError;

include!(concat!(env!("OUT_DIR"), "/catalog.rs"));

/// The contents of all built-in files.
fn inflated() -> Vec<u8> {
    let packed = include_bytes!(concat!(env!("OUT_DIR"), "/catalog.deflate"));
    // build.rs packed them, so this fails only if the executable is damaged. It then has no catalog.
    miniz_oxide::inflate::decompress_to_vec(packed).unwrap_or_default()
}

/// The name (relative to the catalog) and content of each built-in file.
fn split(inflated: &[u8]) -> impl Iterator<Item = (&'static str, &[u8])> {
    let mut rest = inflated;
    NAMES.iter().filter_map(move |&(name, length)| {
        let (bytes, after) = rest.split_at_checked(length)?;
        rest = after;
        Some((name, bytes))
    })
}

/// The folder name of the built-in catalog: its version and a digest of its files.
pub fn embedded_name() -> String {
    format!("{}-{DIGEST}", env!("CARGO_PKG_VERSION"))
}

/// The names of the built-in files, relative to the catalog.
pub fn embedded_files() -> impl Iterator<Item = &'static str> {
    NAMES.iter().map(|(name, _)| *name)
}

/// The built-in text files of a runtime, by their paths inside its folder.
pub fn embedded_texts(runtime: &str) -> impl Iterator<Item = (&'static str, &'static str)> {
    static INFLATED: LazyLock<Vec<u8>> = LazyLock::new(inflated);
    split(&INFLATED).filter_map(move |(name, bytes)| {
        let inside = name.strip_prefix(runtime)?.strip_prefix('/')?;
        Some((inside, std::str::from_utf8(bytes).ok()?))
    })
}

/// Unpacks the built-in catalog below `parent`, unless it is there already, and returns its folder. Changed or missing
/// files are restored: builds must match what is built in.
pub fn unpack_embedded(parent: &Path) -> Result<PathBuf, CatalogError> {
    let folder = parent.join(embedded_name());
    // Not kept in memory, as taskscale may measure for hours after this.
    for (name, bytes) in split(&inflated()) {
        let path = folder.join(name);
        if fs::read(&path).is_ok_and(|there| there == bytes) {
            continue;
        }
        put(&path, bytes).map_err(|error| CatalogError::Unpack { path, error })?;
    }
    Ok(folder)
}

/// Writes a temporary file and renames it, so that another taskscale never reads half a file.
fn put(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let parent = path.parent().unwrap_or(path);
    fs::create_dir_all(parent)?;
    let new = tempfile::NamedTempFile::new_in(parent)?;
    fs::write(new.path(), bytes)?;
    // `NamedTempFile` is readable by its owner only, but a build may run as another user.
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o644);
    fs::set_permissions(new.path(), mode)?;
    new.persist(path).map_err(|error| error.error)?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, Entry};

    #[test]
    fn embedded_catalog_matches_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let unpacked = unpack_embedded(folder.path()).unwrap();
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        let names = |folder: &Path| -> Vec<String> {
            Catalog::load(folder).unwrap().entries().map(|(_, entry)| entry.full_name.clone()).collect()
        };
        assert_eq!(names(&unpacked), names(&repository));
        for name in embedded_files() {
            assert_eq!(
                fs::read(unpacked.join(name)).unwrap(),
                fs::read(repository.join(name)).unwrap(),
                "{name}"
            );
            let made = ["target", "node_modules", "__pycache__"];
            assert!(!name.split('/').any(|part| part.starts_with('.') || made.contains(&part)), "{name}");
        }
    }

    #[test]
    fn entries_that_lack_workloads_give_the_reason() {
        let repository = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        let catalog = Catalog::load(&repository).unwrap();
        let all = catalog.workloads.len();
        for (_, entry) in catalog.entries().filter(|(_, entry)| !entry.reference) {
            let represents = entry.posts.len() > 1 && entry.workloads.len() < all;
            let only_sleeps = entry.workloads.keys().eq(["sleep"]);
            if represents || only_sleeps {
                assert!(entry.omitted.is_some(), "{}: `omitted` must say why", entry.full_name);
            }
        }
        let empty = |entry: &Entry| if entry.posts.len() > 1 { all - entry.workloads.len() } else { 0 };
        assert!(
            catalog.entries().map(|(_, entry)| empty(entry)).sum::<usize>() <= 20,
            "empty cells of @posts"
        );
    }

    #[test]
    fn changed_or_missing_files_are_restored() {
        let folder = tempfile::tempdir().unwrap();
        let unpacked = unpack_embedded(folder.path()).unwrap();
        let inflated = inflated();
        let files: Vec<(&str, &[u8])> = split(&inflated).collect();
        let (changed, gone) = (unpacked.join(files[0].0), unpacked.join(files[1].0));
        fs::write(&changed, "something else").unwrap();
        fs::remove_file(&gone).unwrap();
        assert_eq!(unpack_embedded(folder.path()).unwrap(), unpacked);
        assert_eq!(fs::read(changed).unwrap(), files[0].1);
        assert_eq!(fs::read(gone).unwrap(), files[1].1);
    }

    #[test]
    fn an_unwritable_cache_is_reported() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        fs::write(&file, "").unwrap();
        let said = unpack_embedded(&file).unwrap_err().to_string();
        assert!(said.contains("cannot unpack"), "{said}");
    }
}
