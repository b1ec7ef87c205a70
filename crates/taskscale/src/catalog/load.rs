//! From folders of `runtime.toml` to a validated catalogue.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

use super::manifest::{CommandsToml, EntryToml, RuntimeToml, WorkloadToml};
use super::{Kind, Style, closest};

/// All runtimes known, in the order of their names.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub folder: PathBuf,
    pub runtimes: Vec<Runtime>,
}

/// A language toolchain: one folder of the catalogue.
#[derive(Debug, Clone)]
pub struct Runtime {
    pub name: String,
    pub title: String,
    pub url: String,
    /// The command whose first line of output is the receipt of the version.
    pub version: Vec<String>,
    /// The lowest version that will do.
    pub minimum: Option<String>,
    /// Debian's package, where there is one.
    pub install_debian: Option<String>,
    /// Where anybody else gets it.
    pub install_other: String,
    pub locate: Option<Locate>,
    pub folder: PathBuf,
    pub entries: Vec<Entry>,
}

impl Runtime {
    /// What to tell a user who lacks this toolchain.
    pub fn install_hint(&self) -> String {
        match &self.install_debian {
            Some(package) => format!("apt install {package}, or {}", self.install_other),
            None => self.install_other.clone(),
        }
    }
}

/// How a toolchain's folder, `{home}`, is found.
#[derive(Debug, Clone)]
pub struct Locate {
    /// The file that must exist inside.
    pub program: String,
    /// An environment variable that names the folder.
    pub env: Option<String>,
    /// A command that prints the folder.
    pub ask: Option<Vec<String>>,
    /// Globs of folders.
    pub folders: Vec<String>,
}

/// One way to run tasks in a runtime.
#[derive(Debug, Clone)]
pub struct Entry {
    /// `runtime/entry`.
    pub full_name: String,
    pub name: String,
    pub title: String,
    pub kind: Kind,
    pub parallel: bool,
    pub style: Style,
    /// Drawn, never ranked.
    pub reference: bool,
    /// Measured by the posts: a member of `@posts`.
    pub posts: bool,
    pub unverified: Option<String>,
    pub why: String,
    pub notes: Vec<String>,
    pub env: BTreeMap<String, String>,
    pub workloads: BTreeMap<String, Workload>,
}

/// How an entry does one workload.
#[derive(Debug, Clone)]
pub struct Workload {
    /// Commands, run in turn in the runtime's folder. May be none.
    pub build: Vec<Vec<String>>,
    pub run: Vec<String>,
}

/// What is wrong with a catalogue.
#[derive(Debug, thiserror::Error)]
pub enum CatalogError {
    #[error(
        "no catalogue found: there is no folder `runtimes` with a */runtime.toml here or above; name one with --catalog DIR"
    )]
    NotFound,
    #[error("cannot read {path}: {error}")]
    Unreadable { path: PathBuf, error: std::io::Error },
    #[error("{path}:{line}:{column}: {message}")]
    Invalid { path: PathBuf, line: usize, column: usize, message: String },
    #[error("the catalogue {0} holds no runtime: expected folders with a runtime.toml")]
    Empty(PathBuf),
}

/// The catalogue to use when none is named: the nearest `runtimes/` at or above the current folder, or else the one
/// that this taskscale was built beside.
pub fn find_catalog() -> Result<PathBuf, CatalogError> {
    let built_beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../runtimes");
    let current = std::env::current_dir().unwrap_or_default();
    current
        .ancestors()
        .map(|folder| folder.join("runtimes"))
        .chain([built_beside])
        .find(|folder| is_catalog(folder))
        .and_then(|folder| folder.canonicalize().ok())
        .ok_or(CatalogError::NotFound)
}

fn is_catalog(folder: &Path) -> bool {
    fs::read_dir(folder)
        .is_ok_and(|children| children.flatten().any(|child| child.path().join("runtime.toml").is_file()))
}

impl Catalog {
    /// Reads every runtime below `folder`. The first fault found is an error that names file, line and column.
    pub fn load(folder: &Path) -> Result<Catalog, CatalogError> {
        let unreadable = |error| CatalogError::Unreadable { path: folder.to_owned(), error };
        let mut folders: Vec<PathBuf> = Vec::new();
        for child in fs::read_dir(folder).map_err(unreadable)? {
            let path = child.map_err(unreadable)?.path();
            let hidden = path.file_name().is_some_and(|name| name.to_string_lossy().starts_with('.'));
            if path.is_dir() && !hidden {
                folders.push(path);
            }
        }
        folders.sort();
        let runtimes = folders.iter().map(|folder| load_runtime(folder)).collect::<Result<Vec<_>, _>>()?;
        if runtimes.is_empty() {
            return Err(CatalogError::Empty(folder.to_owned()));
        }
        Ok(Catalog { folder: folder.to_owned(), runtimes })
    }

    /// Every entry with its runtime.
    pub fn entries(&self) -> impl Iterator<Item = (&Runtime, &Entry)> {
        self.runtimes.iter().flat_map(|runtime| runtime.entries.iter().map(move |entry| (runtime, entry)))
    }

    /// The entry of a full name, `runtime/entry`.
    pub fn entry(&self, full_name: &str) -> Option<(&Runtime, &Entry)> {
        self.entries().find(|(_, entry)| entry.full_name == full_name)
    }
}

fn load_runtime(folder: &Path) -> Result<Runtime, CatalogError> {
    let path = folder.join("runtime.toml");
    let text =
        fs::read_to_string(&path).map_err(|error| CatalogError::Unreadable { path: path.clone(), error })?;
    let file = ManifestFile { path: &path, text: &text };
    let wire: RuntimeToml = toml::from_str(&text).map_err(|error| file.syntax_error(&error))?;
    file.validate(wire, folder)
}

/// A manifest while it is checked: knows how to say where a fault is.
struct ManifestFile<'a> {
    path: &'a Path,
    text: &'a str,
}

impl ManifestFile<'_> {
    fn error(&self, offset: usize, message: impl Into<String>) -> CatalogError {
        let before = self.text.get(..offset).unwrap_or("");
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|c| *c != '\n').count() + 1;
        CatalogError::Invalid { path: self.path.to_owned(), line, column, message: message.into() }
    }

    fn syntax_error(&self, error: &toml::de::Error) -> CatalogError {
        let mut message = error.message().trim().to_owned();
        if let Some(nearest) = nearest_expected(&message) {
            message.push_str(&format!("; did you mean `{nearest}`?"));
        }
        self.error(error.span().map_or(0, |span| span.start), message)
    }

    /// The position of a string in the file, for faults of values that carry no span.
    fn find(&self, value: &str) -> usize {
        self.text.find(&format!("\"{value}\"")).unwrap_or(0)
    }

    fn validate(&self, wire: RuntimeToml, folder: &Path) -> Result<Runtime, CatalogError> {
        let folder_name = folder.file_name().map(|n| n.to_string_lossy().into_owned()).unwrap_or_default();
        if wire.name != folder_name {
            let message =
                format!("name is `{}` but the folder is `{folder_name}`: they must be the same", wire.name);
            return Err(self.error(self.find(&wire.name), message));
        }
        self.check_name("runtime", &wire.name, self.find(&wire.name))?;
        if wire.version.is_empty() {
            return Err(self.error(0, "version is empty: give the command that prints the version"));
        }
        if let Some(minimum) = &wire.minimum
            && !minimum.split('.').all(|part| part.parse::<u64>().is_ok())
        {
            return Err(self.error(
                self.find(minimum),
                format!("minimum `{minimum}` is not a dotted number such as `21` or `1.24`"),
            ));
        }
        if wire.entries.is_empty() {
            return Err(self.error(0, "there is no [[entry]]: a runtime has at least one"));
        }
        let mut seen = BTreeSet::new();
        let mut entries = Vec::new();
        for entry in wire.entries {
            let (name, offset) = (entry.name.get_ref().clone(), entry.name.span().start);
            if !seen.insert(name.clone()) {
                return Err(self.error(offset, format!("entry `{name}` is defined twice: names must differ")));
            }
            entries.push(self.validate_entry(entry, &wire.name, folder)?);
        }
        Ok(Runtime {
            name: wire.name,
            title: wire.title,
            url: wire.url,
            version: wire.version,
            minimum: wire.minimum,
            install_debian: wire.install.debian,
            install_other: wire.install.other,
            locate: wire.locate.map(|locate| Locate {
                program: locate.program,
                env: locate.env,
                ask: locate.ask,
                folders: locate.folders,
            }),
            folder: folder.to_owned(),
            entries,
        })
    }

    fn validate_entry(&self, wire: EntryToml, runtime: &str, folder: &Path) -> Result<Entry, CatalogError> {
        let offset = wire.name.span().start;
        let name = wire.name.into_inner();
        self.check_name("entry", &name, offset)?;
        if wire.why.trim().is_empty() {
            return Err(
                self.error(offset, format!("entry `{name}` has an empty why: say why this is the way"))
            );
        }
        if wire.workloads.is_empty() {
            return Err(self.error(
                offset,
                format!("entry `{name}` has no workload: add workloads.sleep = {{ run = […] }}"),
            ));
        }
        let mut workloads = BTreeMap::new();
        for (workload, wire) in wire.workloads {
            self.check_name("workload", &workload, wire.span().start)?;
            let start = wire.span().start;
            let WorkloadToml { build, run } = wire.into_inner();
            let build = build.map(CommandsToml::into_commands).unwrap_or_default();
            for command in build.iter().chain([&run]) {
                self.check_command(command, &name, start, folder)?;
            }
            workloads.insert(workload, Workload { build, run });
        }
        Ok(Entry {
            full_name: format!("{runtime}/{name}"),
            name,
            title: wire.title,
            kind: wire.kind,
            parallel: wire.parallel,
            style: wire.style,
            reference: wire.reference,
            posts: wire.posts,
            unverified: wire.unverified,
            why: wire.why,
            notes: wire.notes,
            env: wire.env,
            workloads,
        })
    }

    /// Names become parts of paths and are shown everywhere: nothing but small letters, digits, `-`, `_`, `+` and `.`.
    fn check_name(&self, what: &str, name: &str, offset: usize) -> Result<(), CatalogError> {
        let plain = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || "-_+.".contains(c);
        if name.starts_with(|c: char| c.is_ascii_lowercase() || c.is_ascii_digit()) && name.chars().all(plain)
        {
            return Ok(());
        }
        Err(self.error(
            offset,
            format!("{what} name {name:?} must start with a small letter or digit and hold only small letters, digits, `-`, `_`, `+`, `.`"),
        ))
    }

    fn check_command(
        &self,
        command: &[String],
        entry: &str,
        offset: usize,
        folder: &Path,
    ) -> Result<(), CatalogError> {
        if command.first().is_none_or(String::is_empty) {
            return Err(self.error(offset, format!("entry `{entry}` has an empty command")));
        }
        for argument in command {
            if let Some(unknown) = unknown_placeholder(argument) {
                return Err(self.error(
                    offset,
                    format!("entry `{entry}`: unknown placeholder {unknown}: there are {{src}}, {{out}}, {{shared}} and {{home}}"),
                ));
            }
            if let Some(relative) = argument.strip_prefix("{src}/")
                && !folder.join(relative).exists()
            {
                return Err(self.error(
                    offset,
                    format!("entry `{entry}` names a missing file: {}", folder.join(relative).display()),
                ));
            }
        }
        Ok(())
    }
}

fn unknown_placeholder(argument: &str) -> Option<&str> {
    let mut rest = argument;
    while let Some(start) = rest.find('{') {
        let end = rest[start..].find('}')? + start + 1;
        let word = &rest[start..end];
        let is_word = word.len() > 2 && word[1..word.len() - 1].chars().all(|c| c.is_ascii_lowercase());
        if is_word && !["{src}", "{out}", "{shared}", "{home}"].contains(&word) {
            return Some(word);
        }
        rest = &rest[end..];
    }
    None
}

/// From serde's "unknown field `a`, expected one of `b`, `c`": the nearest of those expected.
fn nearest_expected(message: &str) -> Option<&str> {
    let (unknown, expected) = message.split_once(", expected ")?;
    if !unknown.starts_with("unknown") {
        return None;
    }
    let quoted = |text| str::split(text, '`').skip(1).step_by(2);
    closest(quoted(unknown).next()?, quoted(expected))
}
