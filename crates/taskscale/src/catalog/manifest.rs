//! `runtime.toml` as it is written: wire types only. `load` turns them into what the rest of taskscale uses.
//!
//! docs/adding-a-runtime.md explains each key to the people who write them.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::{Kind, Style};

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RuntimeToml {
    pub name: String,
    pub title: String,
    pub url: String,
    pub version: Vec<String>,
    pub minimum: Option<String>,
    pub install: InstallToml,
    pub locate: Option<LocateToml>,
    #[serde(default, rename = "entry")]
    pub entries: Vec<EntryToml>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct InstallToml {
    pub debian: Option<String>,
    pub other: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LocateToml {
    pub program: String,
    pub env: Option<String>,
    pub ask: Option<Vec<String>>,
    #[serde(default)]
    pub folders: Vec<String>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EntryToml {
    pub name: toml::Spanned<String>,
    pub title: String,
    pub kind: Kind,
    pub parallel: bool,
    pub style: Style,
    #[serde(default)]
    pub reference: bool,
    #[serde(default)]
    pub posts: bool,
    pub unverified: Option<String>,
    pub why: String,
    #[serde(default)]
    pub notes: Vec<String>,
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    #[serde(default)]
    pub workloads: BTreeMap<String, toml::Spanned<WorkloadToml>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct WorkloadToml {
    pub build: Option<CommandsToml>,
    pub run: Vec<String>,
}

/// One command, or several one after the other.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
pub(super) enum CommandsToml {
    One(Vec<String>),
    Many(Vec<Vec<String>>),
}

impl CommandsToml {
    pub fn into_commands(self) -> Vec<Vec<String>> {
        match self {
            CommandsToml::One(command) => vec![command],
            CommandsToml::Many(commands) => commands,
        }
    }
}
