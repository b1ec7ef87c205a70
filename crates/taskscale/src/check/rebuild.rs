//! Compares two builds into different folders.
//!
//! Compares the files and folders that `run` names below `{out}` and `{shared}`, and ignores other files (object files,
//! caches of the compiler). A program may contain the path of its folder: both paths have the same length, and are
//! replaced before the comparison.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use walkdir::WalkDir;

use super::error::temp_folder;
use super::{CheckError, CheckResult, CheckRule, Findings, Severity};
use crate::campaign::prepare;
use crate::catalog::Program;
use crate::toolchain::{Attend, Cache};

/// Two empty caches for all entries of a check, so that shared files are built once in each.
pub struct Rebuild<'a> {
    folder: tempfile::TempDir,
    stop: &'a dyn Fn() -> bool,
}

impl<'a> Rebuild<'a> {
    /// Creates the caches in a new temporary folder.
    pub fn new(stop: &'a dyn Fn() -> bool) -> CheckResult<Rebuild<'a>> {
        Ok(Rebuild { folder: temp_folder("taskscale-rebuild-")?, stop })
    }

    pub(super) fn check(&mut self, program: &Program, findings: &mut Findings) -> CheckResult<()> {
        if program.entry.workloads[&program.workload.name].build.is_empty() {
            return Ok(());
        }
        // No other build uses these folders.
        let attend = Attend { stop: self.stop, waiting: &|_| () };
        let (mut roots, mut names) = (Vec::new(), BTreeSet::new());
        for name in ["first", "other"] {
            let root = self.folder.path().join(name);
            let built = prepare(&Cache::at(&root), &[*program], &attend, |_| ());
            let built = built.into_iter().next().filter(|_| !(self.stop)());
            match built.ok_or(CheckError::Interrupted)?.command {
                Ok(command) => {
                    names.extend(files(&command, &root));
                    roots.push(root);
                }
                Err(why) => {
                    findings.error(
                        CheckRule::Build,
                        format!("build in an empty folder failed: {}", why.reason()),
                        "do not depend on files of earlier builds; to test, set TASKSCALE_CACHE to an empty folder",
                    );
                    return Ok(());
                }
            }
        }
        compare(&names, &roots, findings);
        Ok(())
    }
}

/// The files below `root` that the command names, relative to `root`.
fn files(command: &[String], root: &Path) -> BTreeSet<PathBuf> {
    // `-cp /folder`, `--dir=/folder` and `/a:/b` name folders alike.
    let named = command
        .iter()
        .flat_map(|word| word.split(['=', ':', ',']))
        .filter(|part| Path::new(part).starts_with(root));
    let all = named.flat_map(|part| WalkDir::new(part).follow_links(true)).flatten();
    let files = all.filter(|child| child.file_type().is_file());
    files.filter_map(|file| Some(file.path().strip_prefix(root).ok()?.to_owned())).collect()
}

/// Compares these files of two builds. A program may contain the path of its build, which is overwritten.
fn compare(names: &BTreeSet<PathBuf>, roots: &[PathBuf], findings: &mut Findings) {
    let (mut stamped, mut different) = (Vec::new(), Vec::new());
    for name in names {
        let read =
            |root: &PathBuf| Some(without_path(fs::read(root.join(name)).ok()?, root.as_os_str().as_bytes()));
        let built: Vec<Option<Vec<u8>>> = roots.iter().map(read).collect();
        // Without the folder `builds/<runtime>/<digest>`.
        let shown = || name.components().skip(3).collect::<PathBuf>().display().to_string();
        if built[0] == built[1] {
            continue;
        }
        let timeless: Vec<_> = built.iter().map(|bytes| without_times(name, bytes.as_ref()?)).collect();
        if timeless[0].is_some() && timeless[0] == timeless[1] {
            stamped.push(shown());
        } else {
            different.push(shown());
        }
    }
    let fix = "none needed if the format requires them; SOURCE_DATE_EPOCH sets them in many tools";
    findings.list(Severity::Note, CheckRule::Build, "two builds differ in time stamps", &stamped, fix);
    let what = "two builds of the same sources differ";
    let fix = "find the difference with `diffoscope` (a time, a path, a random name, an order of files); most compilers have an option against it";
    findings.list(Severity::Warning, CheckRule::Build, what, &different, fix);
}

/// The content of a file without the time stamps of its format. `None` for formats without time stamps.
fn without_times(name: &Path, bytes: &[u8]) -> Option<Vec<u8>> {
    match name.extension()?.to_str()? {
        "jar" | "zip" | "war" | "ez" => Some(without_zip_times(bytes)),
        // A header of 16 bytes: magic, flags, time of the source, its size (PEP 552).
        "pyc" => bytes.get(16..).map(<[u8]>::to_vec),
        _ => None,
    }
}

/// Overwrites the path wherever it is, keeping the length.
fn without_path(mut bytes: Vec<u8>, path: &[u8]) -> Vec<u8> {
    let mut at = 0;
    while let Some(found) = bytes[at..].windows(path.len()).position(|window| window == path) {
        bytes[at + found..at + found + path.len()].fill(b'x');
        at += found + path.len();
    }
    bytes
}

/// A ZIP archive with its modification times zeroed: 10 bytes into each local header and 12 into each entry of
/// the central directory (APPNOTE.TXT 4.3.7 and 4.3.12).
fn without_zip_times(bytes: &[u8]) -> Vec<u8> {
    let mut timeless = bytes.to_vec();
    for (at, window) in bytes.windows(4).enumerate() {
        let time = at
            + match window {
                b"PK\x03\x04" => 10,
                b"PK\x01\x02" => 12,
                _ => continue,
            };
        if let Some(time) = timeless.get_mut(time..time + 4) {
            time.fill(0);
        }
    }
    timeless
}

#[cfg(test)]
mod tests {
    use super::*;

    fn compared(name: &str, built: [&[u8]; 2]) -> Vec<String> {
        let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
        let name = Path::new("builds/x/0").join(name);
        for (folder, bytes) in folders.iter().zip(built) {
            let own = String::from_utf8_lossy(bytes).replace("ROOT", &folder.path().to_string_lossy());
            let path = folder.path().join(&name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, own).unwrap();
        }
        let mut findings = Findings::default();
        let roots = folders.each_ref().map(|folder| folder.path().to_owned());
        compare(&BTreeSet::from([name]), &roots, &mut findings);
        findings
            .sorted()
            .into_iter()
            .map(|found| format!("{}: {}", found.severity.name(), found.what))
            .collect()
    }

    #[test]
    fn build_paths_are_ignored() {
        assert_eq!(compared("a", [b"see ROOT/a and ROOT", b"see ROOT/a and ROOT"]), [""; 0]);
        assert_eq!(compared("a", [b"see ROOT/a", b"see ROOT/b"]).len(), 1);
    }

    #[test]
    fn archives_that_differ_only_in_timestamps_get_a_note() {
        let jar = |time: u8, byte: u8| [b"PK\x03\x04......".as_slice(), &[time; 4], &[byte; 8]].concat();
        assert_eq!(compared("a.jar", [&jar(1, 1), &jar(1, 1)]), [""; 0]);
        assert_eq!(
            compared("a.jar", [&jar(1, 1), &jar(2, 1)]),
            ["note: two builds differ in time stamps: a.jar"]
        );
        let differ = ["warning: two builds of the same sources differ: a.jar"];
        assert_eq!(compared("a.jar", [&jar(1, 1), &jar(1, 2)]), differ);
        assert_eq!(
            compared("sleep", [b"1", b"2"]),
            ["warning: two builds of the same sources differ: sleep"]
        );
    }
}
