//! Pins a library's version, in a copy of a runtime's sources.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use regex_lite::Regex;

use super::build::{fill, run_build};
use super::cache::{Cache, DIGEST_DIGITS, LOCK};
use super::digest::{Digester, list_files};
use super::error::{BuildError, at};
use super::find::{find, lookup};
use super::process::output_within;
use super::{Attend, Toolchain, environment, lock, source_digest};
use crate::catalog::{DottedVersion, Entry, Library, LibraryPin, Runtime};

/// In the folder of a copy, once all is resolved.
const STAMP: &str = ".pinned";
/// Timeout of a package manager that queries its registry.
const RELEASES_LIMIT: Duration = Duration::from_secs(60);

/// Sources with a library in the requested version.
#[derive(Debug, Clone)]
pub struct PinnedSources {
    pub runtime: Runtime,
    /// The library, with the version that was resolved.
    pub library: Library,
}

/// Copies a runtime's folder into the cache, where the package manager resolves the requested version of the
/// entry's library. `None` if no version was requested.
pub fn pin_library(
    cache: &Cache,
    runtime: &Runtime,
    entry: &Entry,
    toolchain: &Toolchain,
    attend: &Attend,
) -> Result<Option<PinnedSources>, BuildError> {
    let asked = entry.library.as_ref().and_then(|library| {
        Some((library, entry.versions.get(&library.name)?, runtime.libraries.get(&library.name)?))
    });
    let Some((library, version, pin)) = asked else { return Ok(None) };
    let mut digest = Digester::of(toolchain);
    for part in [&source_digest(runtime, toolchain)?, &library.name, version] {
        digest.add(part.as_bytes());
    }
    // Next to the unpacked catalogs, so that `taskscale clean` removes it like those.
    let place = cache.catalogs().join(format!("pinned-{}", &digest.finish()[..DIGEST_DIGITS]));
    let copy = Runtime { folder: place.join(&runtime.name), ..runtime.clone() };
    at("create", &place, fs::create_dir_all(&place))?;
    let Some(_lock) = lock::acquire(&place.join(LOCK), &entry.full_name, attend)? else {
        return Err(BuildError::Stopped(format!("waiting to pin the library of {}", entry.full_name)));
    };
    let fault =
        |why: String| BuildError::Pin { library: library.name.clone(), version: version.clone(), why };
    let stamp = place.join(STAMP);
    if !stamp.exists() {
        copy_folder(runtime, &copy)?;
        require(pin, &copy.folder, version).map_err(fault)?;
        let log = place.join("log");
        at("create", &log, fs::File::create(&log))?;
        let home = toolchain.home.as_deref();
        for command in &pin.resolve {
            let words = fill(command, &[("{version}", Path::new(version))], home);
            run_build(&words, &copy, entry, home, &log, attend.stop)?;
        }
        at("create", &stamp, fs::write(&stamp, ""))?;
    }
    let resolved = resolved(library, &copy.folder, version).map_err(fault)?;
    Ok(Some(PinnedSources { runtime: copy, library: Library { version: resolved, ..library.clone() } }))
}

fn copy_folder(runtime: &Runtime, copy: &Runtime) -> Result<(), BuildError> {
    if copy.folder.exists() {
        at("empty", &copy.folder, fs::remove_dir_all(&copy.folder))?;
    }
    for file in list_files(&runtime.folder)? {
        let to = copy.folder.join(file.strip_prefix(&runtime.folder).unwrap_or(&file));
        let folder = to.parent().unwrap_or(&copy.folder);
        at("create", folder, fs::create_dir_all(folder))?;
        at("copy", &file, fs::copy(&file, &to))?;
    }
    Ok(())
}

/// Replaces the requirements of a library by that of one version.
fn require(pin: &LibraryPin, folder: &Path, version: &str) -> Result<(), String> {
    let Some(((files, requirement), exact)) =
        pin.files.as_ref().zip(pin.requirement.as_ref()).zip(pin.exact.as_ref())
    else {
        return Ok(());
    };
    let pattern = Regex::new(requirement).map_err(|error| error.to_string())?;
    let within = glob::Pattern::escape(&folder.to_string_lossy());
    let paths: Vec<PathBuf> =
        glob::glob(&format!("{within}/{files}")).map_err(|error| error.to_string())?.flatten().collect();
    let exact = exact.replace("{version}", version);
    let mut replaced = false;
    for path in paths {
        let mut text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let places: Vec<_> =
            pattern.captures_iter(&text).filter_map(|found| Some(found.get(1)?.range())).collect();
        replaced |= !places.is_empty();
        // From the end, so that earlier places stay valid.
        places.into_iter().rev().for_each(|place| text.replace_range(place, &exact));
        fs::write(&path, text).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    if replaced { Ok(()) } else { Err(format!("no {files} matches /{requirement}/")) }
}

/// The numbers of a library's releases, ascending, as its package manager prints them.
pub fn releases(runtime: &Runtime, entry: &Entry, words: &[String]) -> Result<Vec<DottedVersion>, String> {
    let toolchain = find(&entry.toolchain).map_err(|error| error.to_string())?;
    let words = fill(words, &[], toolchain.home.as_deref());
    let shown = words.join(" ");
    let (program, arguments) = words.split_first().ok_or("`releases` is empty")?;
    let program =
        lookup(&entry.toolchain, program).ok_or_else(|| format!("`{shown}`: {program} not found"))?;
    let mut command = Command::new(program);
    environment::give(&mut command, &entry.toolchain, toolchain.home.as_deref());
    let output = output_within(command.args(arguments).current_dir(&runtime.folder), RELEASES_LIMIT)
        .map_err(|error| format!("`{shown}`: {error}"))?;
    let found = numbers_in(&String::from_utf8_lossy(&output.stdout));
    if output.status.success() && !found.is_empty() {
        return Ok(found);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let why = said.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("it prints no version");
    Err(format!("`{shown}`: {why}"))
}

/// All dotted numbers in a text, `v1.2` as well, ascending. Previews such as 1.2.0-rc.1 are left out.
fn numbers_in(text: &str) -> Vec<DottedVersion> {
    let words = text.split(|c: char| !c.is_alphanumeric() && !".-+_".contains(c));
    let numbers = words.filter_map(|word| DottedVersion::parse(word.strip_prefix('v').unwrap_or(word)));
    let numbers: BTreeSet<DottedVersion> = numbers.filter(|number| number.0.len() > 1).collect();
    numbers.into_iter().collect()
}

/// The version that the package manager resolved. An error if it does not match the requested one.
fn resolved(library: &Library, folder: &Path, asked: &str) -> Result<String, String> {
    let Library { lock_file, pattern, .. } = library;
    let text = fs::read_to_string(folder.join(lock_file)).map_err(|error| format!("{lock_file}: {error}"))?;
    let found = Regex::new(pattern).map_err(|error| error.to_string())?;
    let found = found.captures(&text).and_then(|found| found.get(1));
    let found = found.ok_or_else(|| format!("{lock_file} does not match /{pattern}/"))?.as_str();
    let is_it = DottedVersion::first_in(found)
        .zip(DottedVersion::parse(asked))
        .is_some_and(|(found, asked)| found.is_of(&asked));
    if is_it { Ok(found.to_owned()) } else { Err(format!("{lock_file} has {found}")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pin() -> LibraryPin {
        LibraryPin {
            files: Some("*/need.toml".to_owned()),
            requirement: Some("lib = \"([^\"]+)\"".to_owned()),
            exact: Some("={version}".to_owned()),
            page: None,
            resolve: Vec::new(),
            releases: None,
        }
    }

    #[test]
    fn releases_are_parsed_from_package_managers() {
        let of = |text: &str| numbers_in(text).iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
        let pip = "trio (0.31.0)\nAvailable versions: 0.31.0, 0.30.0, 0.9.0\n  INSTALLED: 0.31.0\n";
        assert_eq!(of(pip), "0.9.0 0.30.0 0.31.0");
        assert_eq!(of("[\n  \"8.9.0\",\n  \"8.18.0-beta.1\",\n  \"8.18.0\"\n]"), "8.9.0 8.18.0");
        assert_eq!(of("github.com/gorilla/websocket v1.4.0 v1.5.0-rc.1 v1.5.0 2"), "1.4.0 1.5.0");
    }

    #[test]
    fn requirements_are_pinned_and_the_resolved_version_is_checked() {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in [("a", "lib = \"1.54\"\nother = \"1\"\n"), ("b", "lib = \"1\"")] {
            fs::create_dir(folder.path().join(name)).unwrap();
            fs::write(folder.path().join(name).join("need.toml"), text).unwrap();
        }
        require(&pin(), folder.path(), "1.28").unwrap();
        let text = |name: &str| fs::read_to_string(folder.path().join(name).join("need.toml")).unwrap();
        assert_eq!((&*text("a"), &*text("b")), ("lib = \"=1.28\"\nother = \"1\"\n", "lib = \"=1.28\""));
        let none = LibraryPin { requirement: Some("library = (.*)".to_owned()), ..pin() };
        assert!(require(&none, folder.path(), "1").unwrap_err().contains("matches /library"));
        fs::write(folder.path().join("lock"), "lib 1.28.2\n").unwrap();
        let library = Library {
            name: "lib".to_owned(),
            version: "1.54.1".to_owned(),
            lock_file: "lock".to_owned(),
            pattern: "lib ([0-9.]+)".to_owned(),
            workloads: Vec::new(),
        };
        assert_eq!(resolved(&library, folder.path(), "1.28").as_deref(), Ok("1.28.2"));
        assert_eq!(resolved(&library, folder.path(), "1.2"), Err("lock has 1.28.2".to_owned()));
    }
}
