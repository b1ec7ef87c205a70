//! A catalog's contents, validated: runtimes, toolchains, entries and how they do workloads.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Deserializer, Serialize};
use taskscale_measure::Kind;

use super::kind::{Adapter, FanOut, Style};
use super::version_request::DottedVersion;

/// A language toolchain: one folder of the catalog.
#[derive(Debug, Clone)]
pub struct Runtime {
    pub name: String,
    pub title: String,
    pub url: String,
    /// The toolchain of every entry that does not name another.
    pub toolchain: ToolchainSpec,
    pub folder: PathBuf,
    pub entries: Vec<Entry>,
    /// How versions of libraries are pinned, by the library's name.
    pub libraries: BTreeMap<String, LibraryPin>,
}

impl Runtime {
    /// The runtime whose versions `RUNTIME@21` selects.
    pub fn versioned_name(&self) -> &str {
        let other = self.toolchain.versions.as_ref().and_then(|places| places.of.as_deref());
        other.unwrap_or(&self.name)
    }
}

/// How to find, identify and install a toolchain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ToolchainSpec {
    pub title: String,
    /// The command whose first line of output is the version string.
    pub version: Vec<String>,
    /// The lowest version that works.
    pub minimum: Option<DottedVersion>,
    pub install: Install,
    pub locate: Option<Locate>,
    /// Where other versions of it are.
    pub versions: Option<VersionPlaces>,
    /// The runtime's folder, in which the version command runs.
    #[serde(skip)]
    pub folder: PathBuf,
    /// The installation to use if a version was requested. `None`: the first one found.
    #[serde(skip)]
    pub pinned: Option<PinnedToolchain>,
}

/// Where other versions of a toolchain are, and how a user gets them.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VersionPlaces {
    /// The runtime whose versions these are, if not this one: Java's for Kotlin.
    pub of: Option<String>,
    /// The file that must exist inside a folder (default: that of `locate`).
    pub program: Option<String>,
    /// Globs of folders, such as those of version managers. `~` is the user's home.
    pub folders: Vec<String>,
    /// The command that installs a version. `{version}` is the requested one.
    pub install: String,
    /// The page of a release. `{version}` is its version.
    pub page: Option<String>,
    /// Variables that keep it from switching to another version.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
}

/// A toolchain in a folder, with its version or the requested one.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PinnedToolchain {
    pub home: PathBuf,
    pub version: DottedVersion,
}

/// How a version of a library is pinned: in a copy of the sources, by the library's own package manager.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LibraryPin {
    /// Glob of the files that require it. `requirement` must match in one.
    pub files: Option<String>,
    /// A regular expression whose first group is replaced by `exact`.
    pub requirement: Option<String>,
    /// The requirement of one version, `{version}`.
    pub exact: Option<String>,
    /// The page of a release. `{version}` is its version.
    pub page: Option<String>,
    /// Commands that resolve it, run in the copy. `{version}` and `{home}` are filled in.
    #[serde(default)]
    pub resolve: Vec<Vec<String>>,
    /// The command that prints the numbers of all releases, if its package manager has one.
    pub releases: Option<Vec<String>>,
}

/// How to install a toolchain.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Install {
    /// The Debian package, if any.
    pub debian: Option<String>,
    /// Where to get it elsewhere.
    pub other: String,
}

impl ToolchainSpec {
    /// How to install the toolchain.
    pub fn install_hint(&self) -> String {
        match &self.install.debian {
            Some(package) => format!("apt install {package}, or {}", self.install.other),
            None => self.install.other.clone(),
        }
    }
}

/// How a toolchain's folder, `{home}`, is found.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locate {
    /// The file that must exist inside.
    pub program: String,
    /// An environment variable that names the folder.
    pub env: Option<String>,
    /// A command that prints the folder.
    pub ask: Option<Vec<String>>,
    /// Globs of folders.
    #[serde(default)]
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
    /// Shown, never ranked.
    pub reference: bool,
    /// The workloads in which it represents its runtime in `@posts`. Empty if it is not in that set.
    pub posts: Vec<String>,
    pub unverified: Option<String>,
    pub why: String,
    pub notes: Vec<String>,
    /// Why it lacks the other workloads, if that needs a reason.
    pub omitted: Option<String>,
    /// How `taskscale explain` asks it. `None`: depends on the files that it maps.
    pub explain: Option<Adapter>,
    pub env: BTreeMap<String, String>,
    /// Variables on top of `env` while `taskscale limit` searches for the memory needed. `{memory}` is the
    /// limit.
    pub limit_env: BTreeMap<String, String>,
    pub toolchain: ToolchainSpec,
    pub library: Option<Library>,
    /// Requested versions, by runtime or library.
    pub versions: BTreeMap<String, String>,
    /// By the name of the workload.
    pub workloads: BTreeMap<String, Recipe>,
}

/// The library that an entry is about.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Library {
    pub name: String,
    /// Its version, as the lock file pins it.
    #[serde(skip)]
    pub version: String,
    /// The lock file, and the regular expression whose first group is the version in it.
    #[serde(rename = "file")]
    pub lock_file: String,
    #[serde(rename = "version")]
    pub pattern: String,
    /// The workloads that use it. Empty if all of the entry's do.
    #[serde(default)]
    pub workloads: Vec<String>,
}

impl Entry {
    /// Whether it has the workload. If a version of its library was requested, the workload must use the
    /// library.
    pub fn does(&self, workload: &str) -> bool {
        let is_pinned = |library: &&Library| self.versions.contains_key(&library.name);
        let pinned = self.library.as_ref().filter(is_pinned).map(|library| &library.workloads);
        self.workloads.contains_key(workload)
            && pinned.is_none_or(|using| using.is_empty() || using.iter().any(|own| own == workload))
    }

    /// The same entry with its recipe for a version of the toolchain.
    pub fn in_form_for(&self, workload: &str, version: Option<&DottedVersion>) -> Entry {
        let mut entry = self.clone();
        if let Some(recipe) = entry.workloads.get_mut(workload) {
            *recipe = recipe.for_version(version).clone();
        }
        entry
    }
}

/// How an entry does one workload.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// Commands, run in turn in the runtime's folder. May be empty.
    #[serde(default, deserialize_with = "commands")]
    pub build: Vec<Vec<String>>,
    pub run: Vec<String>,
    /// For a server: cases of `check` that its library is known to fail, each with what the library does.
    #[serde(default)]
    pub library_faults: BTreeMap<String, String>,
    /// Why `check` cannot confirm its tasks or operations, if so.
    pub unconfirmed: Option<String>,
    /// For a chat server.
    pub fan_out: Option<FanOut>,
    /// The lowest version of the toolchain that it works with, if that is not the runtime's.
    pub minimum: Option<DottedVersion>,
    /// The recipe for toolchains below `minimum`.
    pub older: Option<Box<Recipe>>,
}

impl Recipe {
    /// This recipe for one of the workloads that its key in the manifest names.
    pub(super) fn for_workload(&self, workload: &str) -> Recipe {
        let (first, rest) = workload.split_at(workload.chars().next().map_or(0, char::len_utf8));
        let capitalized = first.to_uppercase() + rest;
        let fill = |word: &String| word.replace("{workload}", workload).replace("{Workload}", &capitalized);
        let fill_all = |words: &Vec<String>| words.iter().map(fill).collect();
        let build = self.build.iter().map(fill_all).collect();
        let older = self.older.as_ref().map(|older| Box::new(older.for_workload(workload)));
        Recipe { build, run: fill_all(&self.run), older, ..self.clone() }
    }

    /// The recipe for a version of the toolchain: the newest whose minimum it reaches, else the oldest. `self`
    /// if the version is unknown.
    pub fn for_version(&self, version: Option<&DottedVersion>) -> &Recipe {
        match (&self.minimum, version, &self.older) {
            (Some(minimum), Some(version), Some(older)) if version < minimum => {
                older.for_version(Some(version))
            }
            _ => self,
        }
    }
}

/// One command, or several one after the other.
#[derive(Deserialize)]
#[serde(untagged)]
enum CommandsToml {
    One(Vec<String>),
    Many(Vec<Vec<String>>),
}

fn commands<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Vec<String>>, D::Error> {
    CommandsToml::deserialize(from).map(|commands| match commands {
        CommandsToml::One(command) => vec![command],
        CommandsToml::Many(commands) => commands,
    })
}
