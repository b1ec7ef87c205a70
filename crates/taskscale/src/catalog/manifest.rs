//! The wire types of `runtime.toml`. `load` turns them into the types that the rest of taskscale uses.
//!
//! docs/reference/manifest.md explains each key to authors.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use taskscale_measure::Kind;

use super::adapter::Adapter;
use super::kind::{FanOut, Style};
use super::model::{Install, Library, LibraryPin, Locate, ToolchainSpec, VersionPlaces};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeToml {
    pub name: String,
    pub title: String,
    pub url: String,
    pub version: Vec<String>,
    pub minimum: Option<String>,
    pub install: Install,
    pub locate: Option<Locate>,
    pub versions: Option<VersionPlaces>,
    /// How versions of libraries are pinned.
    #[serde(default, rename = "library")]
    pub libraries: BTreeMap<String, LibraryPin>,
    /// Further toolchains, for entries that name them.
    #[serde(default, rename = "toolchain")]
    pub toolchains: BTreeMap<String, ToolchainSpec>,
    #[serde(default, rename = "entry")]
    pub entries: Vec<EntryToml>,
}

/// Whether an entry stands for its runtime in `@posts`: in all of its workloads, or in those that are listed.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum PostsToml {
    InAll(bool),
    In(Vec<String>),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryToml {
    pub name: toml::Spanned<String>,
    /// Another entry of the runtime that this one is a twin of: the same program with other flags.
    pub like: Option<String>,
    pub toolchain: Option<String>,
    pub title: String,
    #[serde(default, deserialize_with = "entry_kind")]
    pub kind: Option<Kind>,
    pub parallel: Option<bool>,
    pub style: Style,
    #[serde(default)]
    pub reference: bool,
    pub posts: Option<PostsToml>,
    pub unverified: Option<String>,
    pub why: String,
    #[serde(default)]
    pub notes: Vec<String>,
    pub omitted: Option<String>,
    pub explain: Option<Adapter>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Variables that `taskscale limit` sets in place of those of `env`; `{memory}` is the memory limit.
    #[serde(default)]
    pub limit_env: BTreeMap<String, String>,
    /// The value of `{flags}` in `run`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The value of `{build_flags}` in `build`.
    #[serde(default)]
    pub build_flags: Vec<String>,
    pub library: Option<Library>,
    /// The key is one workload, or several separated by spaces; `{workload}` and `{Workload}` are replaced by each.
    #[serde(default)]
    pub workloads: BTreeMap<String, toml::Spanned<EntryWorkloadToml>>,
}

#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryWorkloadToml {
    #[serde(default, deserialize_with = "commands")]
    pub build: Vec<Vec<String>>,
    pub run: Vec<String>,
    #[serde(default)]
    pub library_faults: BTreeMap<String, String>,
    pub unconfirmed: Option<String>,
    pub fan_out: Option<FanOut>,
    pub minimum: Option<String>,
    pub older: Option<Box<EntryWorkloadToml>>,
}

impl EntryWorkloadToml {
    /// The same for one workload of those that the key names.
    pub fn for_workload(&self, workload: &str) -> EntryWorkloadToml {
        let (first, rest) = workload.split_at(workload.chars().next().map_or(0, char::len_utf8));
        let capitalized = first.to_uppercase() + rest;
        let fill = |word: &String| word.replace("{workload}", workload).replace("{Workload}", &capitalized);
        let fill_all = |words: &Vec<String>| words.iter().map(fill).collect();
        let build = self.build.iter().map(fill_all).collect();
        let older = self.older.as_ref().map(|older| Box::new(older.for_workload(workload)));
        EntryWorkloadToml { build, run: fill_all(&self.run), older, ..self.clone() }
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

/// The kinds that an entry of a catalog may have: all except `Kind::Program`.
#[derive(Deserialize)]
#[serde(remote = "Kind", rename_all = "lowercase")]
enum EntryKind {
    Thread,
    Process,
    Stackful,
    Stackless,
    Future,
    Timer,
}

fn entry_kind<'de, D: Deserializer<'de>>(from: D) -> Result<Option<Kind>, D::Error> {
    EntryKind::deserialize(from).map(Some)
}
