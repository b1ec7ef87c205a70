//! The wire types of `runtime.toml`. `load` turns them into the types that the rest of taskscale uses.
//!
//! docs/reference/manifest.md explains each key to authors.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer};
use taskscale_measure::Kind;

use super::kind::{Adapter, Style};
use super::model::{Install, Library, LibraryPin, Locate, Recipe, ToolchainSpec, VersionPlaces};
use super::version_request::DottedVersion;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeToml {
    pub name: toml::Spanned<String>,
    pub title: String,
    pub url: String,
    pub version: Vec<String>,
    pub minimum: Option<DottedVersion>,
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

/// Whether an entry represents its runtime in `@posts`: in all of its workloads, or in those that are listed.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged)]
pub(super) enum PostsToml {
    InAll(bool),
    In(Vec<String>),
}

#[derive(Debug, Clone, Deserialize)]
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
    /// Variables that `taskscale limit` sets in place of those of `env`. `{memory}` is the memory limit.
    #[serde(default)]
    pub limit_env: BTreeMap<String, String>,
    /// The value of `{flags}` in `run`.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The value of `{build_flags}` in `build`.
    #[serde(default)]
    pub build_flags: Vec<String>,
    pub library: Option<Library>,
    /// The key is one workload, or several separated by spaces. `{workload}` and `{Workload}` are replaced by
    /// each.
    #[serde(default)]
    pub workloads: BTreeMap<String, toml::Spanned<Recipe>>,
}

impl EntryToml {
    /// Copies keys that it lacks from its twin.
    pub fn complete(&mut self, twin: &EntryToml) {
        self.kind = self.kind.or(twin.kind);
        self.parallel = self.parallel.or(twin.parallel);
        self.explain = self.explain.or(twin.explain);
        self.toolchain = self.toolchain.take().or_else(|| twin.toolchain.clone());
        self.library = self.library.take().or_else(|| twin.library.clone());
        self.omitted = self.omitted.take().or_else(|| twin.omitted.clone());
        self.notes = [&twin.notes[..], &self.notes].concat();
        complete(&mut self.env, &twin.env);
        complete(&mut self.limit_env, &twin.limit_env);
        complete(&mut self.workloads, &twin.workloads);
    }
}

fn complete<T: Clone>(own: &mut BTreeMap<String, T>, twin: &BTreeMap<String, T>) {
    for (name, value) in twin {
        own.entry(name.clone()).or_insert_with(|| value.clone());
    }
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
