//! Where builds are kept, how large they are, and how they are removed.

use std::collections::HashSet;
use std::env;
use std::fs::{self, File, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::files::if_there;
use walkdir::WalkDir;

/// Below the cache's root: `builds/<runtime>/<digest>`, one folder for each version of sources and toolchain.
pub(super) const BUILDS: &str = "builds";
/// In such a folder: locked by the taskscale that builds there. No entry has a name that begins with a dot.
pub(super) const LOCK: &str = ".lock";
/// In such a folder: the path of the runtime's folder that was built last.
pub(super) const SOURCE: &str = ".source";
/// Number of digits of a digest in a folder's name.
pub(super) const DIGEST_DIGITS: usize = 16;

/// Where builds are kept: `$TASKSCALE_CACHE`, else `taskscale` in the user's XDG cache folder.
#[derive(Debug, Clone)]
pub struct Cache {
    root: PathBuf,
}

impl Cache {
    /// The cache of this user. Nothing is created yet.
    pub fn of_user() -> Cache {
        let root = env::var_os("TASKSCALE_CACHE").map(PathBuf::from).unwrap_or_else(|| {
            let xdg = env::var_os("XDG_CACHE_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
            let home = || env::var_os("HOME").map(PathBuf::from).unwrap_or_else(env::temp_dir);
            xdg.unwrap_or_else(|| home().join(".cache")).join("taskscale")
        });
        // Absolute, as programs run in other folders. Unchanged if there is no current folder.
        Cache { root: std::path::absolute(&root).unwrap_or(root) }
    }

    /// A cache in this folder.
    pub fn at(root: impl Into<PathBuf>) -> Cache {
        Cache { root: root.into() }
    }

    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The folder for unpacked catalogs, and for copies of sources with a pinned library.
    pub fn catalogs(&self) -> PathBuf {
        self.root.join("catalogs")
    }

    /// Every build that is kept, sorted by runtime.
    pub fn kept_builds(&self) -> io::Result<Vec<KeptBuild>> {
        let mut kept = Vec::new();
        for (runtime, folder) in folders(&self.root().join(BUILDS))? {
            // taskscale did not create other folders, so it does not remove them.
            let is_digest = |(name, _): &(String, PathBuf)| name.bytes().all(|byte| byte.is_ascii_hexdigit());
            for (digest, folder) in folders(&folder)?.into_iter().filter(is_digest) {
                let source = fs::read_to_string(folder.join(SOURCE)).ok().map(PathBuf::from);
                kept.push(KeptBuild { runtime: runtime.clone(), digest, folder, source });
            }
        }
        Ok(kept)
    }
}

/// A folder of builds: those of one runtime, from one version of its sources with one toolchain.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeptBuild {
    pub runtime: String,
    /// The beginning of the digest over sources and toolchain.
    pub digest: String,
    pub folder: PathBuf,
    /// The runtime's folder that it was built from last, if known.
    pub source: Option<PathBuf>,
}

impl KeptBuild {
    /// Whether it was built from the sources and toolchain of this full digest.
    pub fn is_of(&self, runtime: &str, digest: &str) -> bool {
        self.runtime == runtime && digest.starts_with(&self.digest)
    }

    /// Removes it. `false` if a taskscale is building there.
    pub fn remove(&self) -> io::Result<bool> {
        // NFS locks only files that are open for writing.
        let lock = if_there(File::options().read(true).write(true).open(self.folder.join(LOCK)))?;
        match lock.as_ref().map(File::try_lock) {
            None | Some(Ok(())) => {}
            Some(Err(TryLockError::WouldBlock)) => return Ok(false),
            Some(Err(TryLockError::Error(error))) => return Err(error),
        }
        fs::remove_dir_all(&self.folder)?;
        if let Some(runtime) = self.folder.parent() {
            // Also removes the runtime's folder, which fails if it has other builds.
            let _ = fs::remove_dir(runtime);
        }
        Ok(true)
    }
}

/// The folders in a folder with their names, sorted. Empty if the folder does not exist.
pub fn folders(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut found = Vec::new();
    for child in if_there(fs::read_dir(folder))?.into_iter().flatten() {
        let child = child?;
        if child.file_type()?.is_dir() {
            found.push((child.file_name().to_string_lossy().into_owned(), child.path()));
        }
    }
    found.sort();
    Ok(found)
}

/// Disk usage of a folder, in bytes: whole blocks, and files with several names once.
pub fn disk_usage_bytes(folder: &Path) -> u64 {
    let mut seen = HashSet::new();
    let all = WalkDir::new(folder).into_iter().flatten().filter_map(|child| child.metadata().ok());
    // st_blocks counts units of 512 bytes, whatever the file system's blocks are (stat(2)).
    all.filter(|meta| seen.insert((meta.dev(), meta.ino()))).map(|meta| meta.blocks() * 512).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world() -> (tempfile::TempDir, Cache) {
        let folder = tempfile::tempdir().unwrap();
        for place in ["builds/go/0123", "builds/rust/4567", "builds/rust/89ab"] {
            fs::create_dir_all(folder.path().join(place)).unwrap();
            fs::write(folder.path().join(place).join("program"), vec![1; 10_000]).unwrap();
        }
        fs::write(folder.path().join("builds/go/0123/.source"), "/runtimes/go").unwrap();
        let cache = Cache::at(folder.path());
        (folder, cache)
    }

    #[test]
    fn builds_are_listed_and_removed_one_by_one() {
        let (folder, cache) = world();
        let kept = cache.kept_builds().unwrap();
        assert_eq!(kept.len(), 3);
        assert_eq!(
            (kept[0].runtime.as_str(), kept[0].source.as_deref()),
            ("go", Some(Path::new("/runtimes/go")))
        );
        assert!(
            kept[0].is_of("go", "0123456") && !kept[0].is_of("rust", "0123456") && !kept[0].is_of("go", "99")
        );
        assert!(kept[1].remove().unwrap());
        assert_eq!(cache.kept_builds().unwrap().len(), 2);
        assert!(kept[0].remove().unwrap());
        assert!(!folder.path().join("builds/go").exists() && folder.path().join("builds/rust").exists());
    }

    #[test]
    fn locked_builds_are_not_removed() {
        let (folder, cache) = world();
        let lock = File::create(folder.path().join("builds/go/0123/.lock")).unwrap();
        lock.lock().unwrap();
        let go = &cache.kept_builds().unwrap()[0];
        assert!(!go.remove().unwrap());
        drop(lock);
        assert!(go.remove().unwrap());
    }

    #[test]
    fn hard_links_are_counted_once() {
        let (folder, _cache) = world();
        let place = folder.path().join("builds/go/0123");
        let before = disk_usage_bytes(&place);
        assert!(before >= 10_000, "{before}");
        fs::hard_link(place.join("program"), place.join("again")).unwrap();
        assert_eq!(disk_usage_bytes(&place), before);
        assert_eq!(disk_usage_bytes(&folder.path().join("none")), 0);
    }

    #[test]
    fn missing_cache_folder_lists_as_empty() {
        assert_eq!(Cache::at("/no/such/folder").kept_builds().unwrap(), []);
    }
}
