//! Compares two builds into different folders.
//!
//! Compares the files and folders that `run` names below `{out}` and `{shared}`, and ignores other files (object files,
//! caches of the compiler). A program may contain the path of its folder: both paths have the same length, and are
//! replaced before the comparison.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sha2::{Digest, Sha256};

use super::runs::listed;
use super::{CheckError, CheckRule, CheckSubject, Findings};
use crate::toolchain::{self, Attend, Cache};

/// Two empty caches for all entries of a check, so that shared files are built once in each.
pub struct Rebuild<'a> {
    folder: tempfile::TempDir,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Rebuild<'a> {
    /// Creates the caches in a new temporary folder.
    pub fn new(stop: &'a dyn Fn() -> bool) -> Result<Rebuild<'a>, CheckError> {
        let folder = tempfile::Builder::new().prefix("taskscale-rebuild-").tempdir();
        let folder = folder.map_err(|error| CheckError::Io {
            what: "create a folder in",
            path: std::env::temp_dir(),
            error,
        })?;
        Ok(Rebuild { folder, stop })
    }

    pub(super) fn look(&mut self, subject: &CheckSubject, findings: &mut Findings) -> Result<(), CheckError> {
        if subject.entry.workloads[&subject.workload.name].build.is_empty() {
            return Ok(());
        }
        let mut made = Vec::new();
        for name in ["first", "other"] {
            let root = self.folder.path().join(name);
            let toolchain = toolchain::find(&subject.entry.toolchain);
            let built = toolchain.map_err(|why| why.to_string()).and_then(|toolchain| {
                let cache = Cache::at(&root);
                toolchain::build(
                    &cache,
                    subject.runtime,
                    subject.entry,
                    &subject.workload.name,
                    &toolchain,
                    // No other build uses these folders.
                    &Attend { stop: self.stop, waiting: &|_| () },
                )
                .map_err(|error| error.to_string())
            });
            if (self.stop)() {
                return Err(CheckError::Interrupted);
            }
            match built {
                Ok(built) => made.push(digests(&built.command, &root)),
                Err(why) => {
                    findings.error(
                        CheckRule::Build,
                        format!("build in an empty folder failed: {why}"),
                        "do not depend on files of earlier builds; to test, set TASKSCALE_CACHE to an empty folder",
                    );
                    return Ok(());
                }
            }
        }
        compare(&made[0], &made[1], findings);
        Ok(())
    }
}

/// A created file: its digest, and its digest without the time stamps of some formats.
#[derive(Debug, PartialEq, Eq)]
struct ArtifactDigest {
    digest: [u8; 32],
    /// Without time stamps; `None` for formats without them.
    timeless: Option<[u8; 32]>,
}

fn compare(
    first: &BTreeMap<PathBuf, ArtifactDigest>,
    other: &BTreeMap<PathBuf, ArtifactDigest>,
    findings: &mut Findings,
) {
    let mut stamped = Vec::new();
    let mut different = Vec::new();
    for path in first.keys().chain(other.keys().filter(|path| !first.contains_key(*path))) {
        match (first.get(path), other.get(path)) {
            (Some(a), Some(b)) if a.digest == b.digest => {}
            (Some(a), Some(b)) if a.timeless.is_some() && a.timeless == b.timeless => {
                stamped.push(path.display().to_string());
            }
            _ => different.push(path.display().to_string()),
        }
    }
    if !stamped.is_empty() {
        findings.note(
            CheckRule::Build,
            format!("two builds differ in time stamps: {}", listed(&stamped)),
            "none needed if the format requires them; SOURCE_DATE_EPOCH sets them in many tools",
        );
    }
    if !different.is_empty() {
        findings.warning(
            CheckRule::Build,
            format!("two builds of the same sources differ: {}", listed(&different)),
            "find the difference with `diffoscope` (a time, a path, a random name, an order of files); most compilers have an option against it",
        );
    }
}

/// The digests of everything below `root` that the command names.
fn digests(command: &[String], root: &Path) -> BTreeMap<PathBuf, ArtifactDigest> {
    let mut files = BTreeMap::new();
    let root_text = root.to_string_lossy();
    for word in command {
        // `-cp /folder`, `--dir=/folder` and `/a:/b` name folders alike.
        for part in word.split(['=', ':', ',']) {
            if part.starts_with(root_text.as_ref()) {
                add(Path::new(part), root, &mut files);
            }
        }
    }
    files
}

fn add(path: &Path, root: &Path, files: &mut BTreeMap<PathBuf, ArtifactDigest>) {
    if path.is_dir() {
        for child in fs::read_dir(path).into_iter().flatten().flatten() {
            add(&child.path(), root, files);
        }
    } else if let Ok(bytes) = fs::read(path) {
        let name = path.strip_prefix(root).unwrap_or(path);
        files.insert(without_digest(name), made(bytes, path, root));
    }
}

/// The path after `builds/<runtime>/<digest>/`.
fn without_digest(name: &Path) -> PathBuf {
    name.components().skip(3).collect()
}

fn made(bytes: Vec<u8>, path: &Path, root: &Path) -> ArtifactDigest {
    let own = root.to_string_lossy().into_owned().into_bytes();
    let bytes = replaced(bytes, &own, b'x');
    let timeless = match path.extension().and_then(|ending| ending.to_str()) {
        Some("jar" | "zip" | "war" | "ez") => Some(Sha256::digest(without_zip_times(&bytes)).into()),
        // A header of 16 bytes: magic, flags, time of the source, its size (PEP 552).
        Some("pyc") => bytes.get(16..).map(|code| Sha256::digest(code).into()),
        _ => None,
    };
    ArtifactDigest { digest: Sha256::digest(&bytes).into(), timeless }
}

/// Overwrites every `needle`, keeping the length.
fn replaced(mut bytes: Vec<u8>, needle: &[u8], with: u8) -> Vec<u8> {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(needle.len()).position(|window| window == needle) {
        bytes[at + found..at + found + needle.len()].fill(with);
        at += found + needle.len();
    }
    bytes
}

/// A ZIP archive with its times of change set to nothing: at 10 bytes into each local header and at 12 into each entry of
/// the central directory (APPNOTE.TXT 4.3.7 and 4.3.12).
fn without_zip_times(bytes: &[u8]) -> Vec<u8> {
    let mut bytes = bytes.to_vec();
    for (signature, offset) in [(b"PK\x03\x04", 10), (b"PK\x01\x02", 12)] {
        let places: Vec<usize> = bytes
            .windows(4)
            .enumerate()
            .filter(|(_, window)| window == signature)
            .map(|(at, _)| at + offset)
            .collect();
        for place in places {
            if let Some(time) = bytes.get_mut(place..place + 4) {
                time.fill(0);
            }
        }
    }
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_the_folder_is_ignored() {
        let of = |root: &str| {
            made(format!("see {root}/a and {root}").into_bytes(), Path::new("a"), Path::new(root))
        };
        assert_eq!(of("/tmp/first"), of("/tmp/other"));
        let other = made(b"see /tmp/first/b".to_vec(), Path::new("a"), Path::new("/tmp/first"));
        assert_ne!(of("/tmp/first"), other);
    }

    fn compared(name: &str, first: &[u8], other: &[u8]) -> Vec<String> {
        let map = |bytes: &[u8]| {
            BTreeMap::from([(PathBuf::from(name), made(bytes.to_vec(), Path::new(name), Path::new("/none")))])
        };
        let mut findings = Findings::default();
        compare(&map(first), &map(other), &mut findings);
        findings
            .sorted()
            .into_iter()
            .map(|found| format!("{}: {}", found.severity.name(), found.what))
            .collect()
    }

    #[test]
    fn time_stamps_in_archives_are_distinguished_from_other_differences() {
        let jar = |time: u8, byte: u8| [b"PK\x03\x04......".as_slice(), &[time; 4], &[byte; 8]].concat();
        assert_eq!(compared("a.jar", &jar(1, 1), &jar(1, 1)), [""; 0]);
        assert_eq!(
            compared("a.jar", &jar(1, 1), &jar(2, 1)),
            ["note: two builds differ in time stamps: a.jar"]
        );
        let differ = ["warning: two builds of the same sources differ: a.jar"];
        assert_eq!(compared("a.jar", &jar(1, 1), &jar(1, 2)), differ);
        assert_eq!(compared("sleep", b"1", b"2"), ["warning: two builds of the same sources differ: sleep"]);
    }
}
