//! Before anything is measured: which of the chosen entries can run here, built and ready.

use std::collections::BTreeMap;

use super::external::Template;
use crate::catalog::{Entry, Program, Runtime, ToolchainSpec, Workload, sources};
use crate::record::{Campaign, EntryFacts, Source};
use crate::toolchain::{self, Attend, Cache, Toolchain, Unavailable};

/// An entry after toolchain and build were looked after.
#[derive(Debug, Clone)]
pub struct Prepared {
    pub facts: EntryFacts,
    /// The command to run, less what taskscale appends; or why there is none.
    pub command: Result<Vec<String>, NotReady>,
    /// What its tasks do; absent for a program that is not of the catalogue.
    pub workload: Option<Workload>,
    /// For a program that is not of the catalogue.
    pub external: Option<Template>,
}

impl Prepared {
    /// For people: the entry's name, and the workload's where it is not the usual one.
    pub fn label(&self) -> String {
        match &self.workload {
            Some(workload) if !workload.default => format!("{} {}", self.facts.name, workload.name),
            _ => self.facts.name.clone(),
        }
    }

    /// Entry and workload, by name.
    pub fn name<'a>(&'a self, campaign: &'a Campaign) -> (&'a str, &'a str) {
        (&self.facts.name, self.facts.workload.as_deref().unwrap_or(&campaign.plan.workload))
    }

    /// Whether the program can be told how long its tasks wait.
    pub fn takes_hold(&self) -> bool {
        self.external.as_ref().is_none_or(|template| template.external.told_hold)
    }
}

/// Why an entry cannot run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum NotReady {
    /// The toolchain is missing or too old: no fault of anybody's.
    NoToolchain(String),
    /// It is there, and yet the build failed.
    BuildFailed(String),
}

impl NotReady {
    pub fn reason(&self) -> &str {
        match self {
            NotReady::NoToolchain(reason) | NotReady::BuildFailed(reason) => reason,
        }
    }
}

/// Finds toolchains, each once, and builds every program that can be built. `before` is told of each before its
/// build. Ends early, with fewer of them, soon after `attend.stop` says so.
pub fn prepare(
    cache: &Cache,
    programs: &[Program],
    attend: &Attend,
    mut before: impl FnMut(&Program),
) -> Vec<Prepared> {
    let mut toolchains: BTreeMap<&ToolchainSpec, Result<Toolchain, Unavailable>> = BTreeMap::new();
    let mut prepared = Vec::new();
    for program in programs {
        let Program { runtime, entry, workload } = program;
        if (attend.stop)() {
            break;
        }
        before(program);
        let toolchain =
            toolchains.entry(&entry.toolchain).or_insert_with(|| toolchain::find(&entry.toolchain));
        let mut facts = facts_of(runtime, entry, &workload.name);
        let command = match toolchain {
            Err(unavailable) => Err(NotReady::NoToolchain(unavailable.to_string())),
            Ok(toolchain) => {
                facts.version = Some(receipt(toolchain, entry));
                match toolchain::build(cache, runtime, entry, &workload.name, toolchain, attend) {
                    Ok(built) => {
                        facts.digest = Some(built.digest);
                        facts.program_digest = Some(built.program_digest);
                        Ok(built.command)
                    }
                    Err(error) => Err(NotReady::BuildFailed(error.to_string())),
                }
            }
        };
        facts.unavailable = command.as_ref().err().map(|why| why.reason().to_owned());
        prepared.push(Prepared { facts, command, workload: Some((*workload).clone()), external: None });
    }
    prepared
}

/// The version of the toolchain, and of the library where the entry is about one.
pub fn receipt(toolchain: &Toolchain, entry: &Entry) -> String {
    match &entry.library {
        Some(library) => format!("{}; {} {}", toolchain.version, library.name, library.version),
        None => toolchain.version.clone(),
    }
}

fn facts_of(runtime: &Runtime, entry: &Entry, workload: &str) -> EntryFacts {
    let recipe = &entry.workloads[workload];
    EntryFacts {
        name: entry.full_name.clone(),
        workload: Some(workload.to_owned()),
        title: entry.title.clone(),
        runtime: runtime.name.clone(),
        runtime_title: runtime.title.clone(),
        url: runtime.url.clone(),
        kind: entry.kind,
        parallel: entry.parallel,
        style: entry.style,
        reference: entry.reference,
        posts: entry.posts,
        unverified: entry.unverified.clone(),
        why: entry.why.clone(),
        notes: entry.notes.clone(),
        version: None,
        unavailable: None,
        build: recipe.build.clone(),
        run: recipe.run.clone(),
        env: entry.env.clone(),
        digest: None,
        program_digest: None,
        sources: sources(runtime, entry, workload)
            .into_iter()
            .map(|file| Source { path: file.path, text: file.text })
            .collect(),
    }
}
