//! Finds a runtime's toolchain and its version.

use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use super::environment;
use super::home::Home;
use super::process::output_within;
use crate::catalog::{DottedVersion, Locate, ToolchainSpec};
use crate::hint::Hint;

/// Timeout of a version command. A JVM on a busy machine takes a second or two.
const VERSION_LIMIT: Duration = Duration::from_secs(60);

/// A toolchain that is installed and new enough.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Toolchain {
    /// The value of `{home}`, if the runtime has such a folder.
    pub home: Option<PathBuf>,
    /// First line of the version command's output.
    pub version: String,
}

/// Why a toolchain cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolchainError {
    #[error("{title} is not installed: {install}")]
    Missing { title: String, install: String },
    #[error("{title} is older than {minimum} ({found}): {install}")]
    TooOld { title: String, minimum: String, found: String, install: String },
    #[error("{title} {asked} is not there: {place} is {found}")]
    OtherVersion { title: String, asked: DottedVersion, place: String, found: String },
    /// The command that asks for its version failed. `--verbose` shows the command and why.
    #[error("{title} is not installed, or broken: {install}")]
    Broken { title: String, command: String, why: String, install: String },
}

impl Hint for ToolchainError {
    fn hint(&self) -> Option<String> {
        match self {
            ToolchainError::Broken { command, why, .. } => Some(format!("`{command}` failed: {why}")),
            // These messages end with how to install it.
            _ => None,
        }
    }
}

impl ToolchainError {
    /// In a few words that follow the title, with one way to install it:
    /// `not installed: apt install libuv1-dev`.
    pub fn in_short(&self, spec: &ToolchainSpec) -> String {
        let install = match &spec.install.debian {
            Some(package) if path_lookup("apt").is_some() => format!("apt install {package}"),
            _ => spec.install.other.clone(),
        };
        match self {
            ToolchainError::Missing { .. } | ToolchainError::Broken { .. } => {
                format!("not installed: {install}")
            }
            ToolchainError::TooOld { minimum, .. } => format!("older than {minimum}: {install}"),
            ToolchainError::OtherVersion { asked, found, .. } => format!("not {asked}, but {found}"),
        }
    }
}

/// Whether a toolchain seems to be installed, without starting a program. Its version may still be too old.
pub fn is_there(spec: &ToolchainSpec) -> bool {
    match &spec.locate {
        None => path_lookup(&spec.version[0]).is_some(),
        Some(locate) => {
            let answers = |words: &Vec<String>| path_lookup(&words[0]).is_some();
            locate.ask.as_ref().is_some_and(answers)
                || !candidates(&Locate { ask: None, ..locate.clone() }, None).is_empty()
        }
    }
}

/// Finds a toolchain: the first candidate whose version command works and that is new enough.
pub fn find(spec: &ToolchainSpec) -> Result<Toolchain, ToolchainError> {
    find_as(spec, None)
}

/// Finds each toolchain once, several in parallel. Version commands leave nothing in the user's home.
pub fn find_all<'a>(
    specs: impl IntoIterator<Item = &'a ToolchainSpec>,
) -> BTreeMap<&'a ToolchainSpec, Result<Toolchain, ToolchainError>> {
    let specs: BTreeSet<&ToolchainSpec> = specs.into_iter().collect();
    let (left, found) = (Mutex::new(specs.into_iter()), Mutex::new(BTreeMap::new()));
    let next = || left.lock().ok()?.next();
    let ask = || {
        while let Some(spec) = next() {
            let answer = find_as(spec, Home::like_the_users().as_ref());
            found.lock().unwrap_or_else(PoisonError::into_inner).insert(spec, answer);
        }
    };
    thread::scope(|scope| {
        for _ in 0..thread::available_parallelism().map_or(1, usize::from) {
            scope.spawn(ask);
        }
    });
    found.into_inner().unwrap_or_else(PoisonError::into_inner)
}

fn find_as(spec: &ToolchainSpec, users: Option<&Home>) -> Result<Toolchain, ToolchainError> {
    if let Some(pinned) = &spec.pinned {
        return check(spec, Some(pinned.home.clone()), users);
    }
    let Some(locate) = &spec.locate else {
        return check(spec, None, users);
    };
    let mut nearest_miss = None;
    for home in candidates(locate, users) {
        match check(spec, Some(home), users) {
            Ok(toolchain) => return Ok(toolchain),
            Err(miss) => nearest_miss = nearest_miss.or(Some(miss)),
        }
    }
    Err(nearest_miss.unwrap_or_else(|| missing(spec)))
}

fn missing(spec: &ToolchainSpec) -> ToolchainError {
    ToolchainError::Missing { title: spec.title.clone(), install: spec.install_hint() }
}

fn check(
    spec: &ToolchainSpec,
    home: Option<PathBuf>,
    users: Option<&Home>,
) -> Result<Toolchain, ToolchainError> {
    let place = home.as_ref().map_or("{home}".into(), |home| home.to_string_lossy());
    let words: Vec<String> = spec.version.iter().map(|word| word.replace("{home}", &place)).collect();
    let program = lookup(spec, &words[0]).ok_or_else(|| missing(spec))?;
    let broken = |why: String| {
        let command = words.join(" ");
        log::info!("`{command}` failed: {why}");
        ToolchainError::Broken { title: spec.title.clone(), command, why, install: spec.install_hint() }
    };
    log::info!("asking for the version: {}", words.join(" "));
    let mut command = Command::new(&program);
    // The environment of builds, so that the same toolchain builds.
    environment::give(&mut command, spec, home.as_deref());
    if let Some(users) = users {
        users.give(&mut command);
    }
    let output = output_within(command.args(&words[1..]).current_dir(&spec.folder), VERSION_LIMIT)
        .map_err(|error| broken(error.to_string()))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stderr);
        let why = said.lines().find(|line| !line.trim().is_empty()).unwrap_or("no message");
        return Err(broken(format!("{}: {why}", output.status)));
    }
    // Java and others print their version to standard error.
    let spoken = if output.stdout.trim_ascii().is_empty() { output.stderr } else { output.stdout };
    let spoken = String::from_utf8_lossy(&spoken);
    let first = spoken.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let version: String = first.chars().take(200).collect();
    let found = DottedVersion::first_in(&version);
    if let Some(pinned) = &spec.pinned {
        // Shims of version managers may start another version.
        if found.is_some_and(|found| found.is_of(&pinned.version)) {
            return Ok(Toolchain { home, version });
        }
        let (title, asked, place) = (spec.title.clone(), pinned.version.clone(), place.into_owned());
        return Err(ToolchainError::OtherVersion { title, asked, place, found: version });
    }
    if let Some(minimum) = &spec.minimum
        && found.is_none_or(|found| found < *minimum)
    {
        let (title, minimum, install) = (spec.title.clone(), minimum.to_string(), spec.install_hint());
        return Err(ToolchainError::TooOld { title, minimum, found: version, install });
    }
    Ok(Toolchain { home, version })
}

/// Folders that may be the toolchain's, best first, each once.
pub(super) fn candidates(locate: &Locate, users: Option<&Home>) -> Vec<PathBuf> {
    let named = locate.env.as_ref().and_then(env::var_os).map(PathBuf::from);
    let answered = locate.ask.as_ref().and_then(|words| {
        let mut command = Command::new(path_lookup(&words[0])?);
        if let Some(users) = users {
            users.give(&mut command);
        }
        let output = output_within(command.args(&words[1..]), VERSION_LIMIT).ok()?;
        let folder = String::from_utf8(output.stdout).ok()?;
        let folder = users.map_or(folder.clone(), |users| users.read(&folder));
        output.status.success().then(|| PathBuf::from(folder.trim()))
    });
    let on_path = || {
        let inside = Path::new(&locate.program);
        let program = path_lookup(&inside.file_name()?.to_string_lossy())?.canonicalize().ok()?;
        // The folder is the program's path without `bin/java`. A link such as /etc/alternatives was resolved.
        let home = program.ancestors().nth(inside.components().count())?;
        program.ends_with(inside).then(|| home.to_owned())
    };
    let globbed = locate.folders.iter().flat_map(|pattern| globbed(pattern));
    let globbed: BTreeSet<PathBuf> = globbed.filter_map(|path| path.canonicalize().ok()).collect();

    let mut seen = BTreeSet::new();
    named
        .into_iter()
        .chain(answered)
        .chain(on_path())
        // Newer versions usually sort later: try them first.
        .chain(globbed.into_iter().rev())
        .filter(|home| home.join(&locate.program).is_file() && seen.insert(home.clone()))
        .collect()
}

/// Folders that match. `~` is the user's home.
pub(super) fn globbed(pattern: &str) -> Vec<PathBuf> {
    let home = env::var("HOME").unwrap_or_default();
    let pattern = match pattern.strip_prefix("~/") {
        Some(rest) => format!("{}/{rest}", glob::Pattern::escape(&home)),
        None => pattern.to_owned(),
    };
    glob::glob(&pattern).into_iter().flatten().flatten().collect()
}

/// Like `path_lookup`, but looks first in the toolchain of a requested version.
pub(super) fn lookup(spec: &ToolchainSpec, program: &str) -> Option<PathBuf> {
    let own = spec.pinned.as_ref().filter(|_| !program.contains('/'));
    let own = own.and_then(|pinned| path_lookup(&pinned.home.join("bin").join(program).to_string_lossy()));
    own.or_else(|| path_lookup(program))
}

/// The program of a command's first word: the path itself if it has a slash, else the first match in PATH.
pub fn path_lookup(program: &str) -> Option<PathBuf> {
    let runnable = |path: &Path| {
        path.metadata().is_ok_and(|meta| meta.is_file() && meta.permissions().mode() & 0o111 != 0)
    };
    if program.contains('/') {
        let path = PathBuf::from(program);
        return runnable(&path).then_some(path);
    }
    env::split_paths(&env::var_os("PATH")?).map(|folder| folder.join(program)).find(|path| runnable(path))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog::{Catalog, embedded_files};

    #[test]
    fn install_instructions_appear_once() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
        let catalog = Catalog::load(&folder).expect("the catalog of the repository");
        for (_, entry) in catalog.entries() {
            let spec = &entry.toolchain;
            let install = spec.install_hint();
            let name = &entry.full_name;
            assert!(
                install.ends_with(|c: char| c.is_alphanumeric() || "/)".contains(c)),
                "{name}: {install}"
            );
            let (title, why) =
                (spec.title.clone(), String::from("exit status: 1: no such header, see https:"));
            let command = spec.version.join(" ");
            let missing = ToolchainError::Missing { title: title.clone(), install: install.clone() };
            let broken = ToolchainError::Broken { title, command, why, install: install.clone() };
            for error in [missing, broken] {
                let text = error.to_string();
                assert!(!text.contains(":: ") && text.matches(&install).count() == 1, "{text}");
                assert!(error.in_short(spec).starts_with("not installed: "), "{name}");
            }
        }
        // Only the manifest describes how to install: the message of a failed version command must not repeat
        // it.
        let prose = |name: &str| name.ends_with("README.md") || name.ends_with("runtime.toml");
        for name in embedded_files().filter(|name| !prose(name)) {
            let text = std::fs::read_to_string(folder.join(name)).expect("a source file");
            assert!(!text.contains("apt install"), "{name} says how to install");
        }
    }

    #[test]
    fn a_missing_program_is_not_found() {
        assert_eq!(path_lookup("no-such-program-anywhere"), None);
        assert_eq!(path_lookup("/no/such/path"), None);
        assert!(path_lookup("sh").is_some_and(|path| path.is_absolute()));
    }
}
