//! The entries that have pages: those of the catalog, and others that results include.

use std::collections::{BTreeMap, BTreeSet};

use super::campaigns::CampaignSummary;
use super::layout::{START, link, plain_name};
use crate::catalog::{Catalog, Entry, Kind, Runtime, Style, reading_order, sources};
use crate::document::escaped;
use crate::record::EntryFacts;

/// An entry, wherever it is known from. Texts are not yet safe to show.
pub struct SiteEntry {
    /// `runtime/entry`.
    pub name: String,
    /// Inside the site.
    pub page: String,
    pub title: String,
    pub runtime: String,
    pub runtime_title: String,
    pub url: String,
    pub kind: Kind,
    pub style: Style,
    pub parallel: bool,
    pub reference: bool,
    pub posts: bool,
    pub unverified: Option<String>,
    pub why: String,
    pub notes: Vec<String>,
    /// With its version.
    pub library: Option<String>,
    pub install: Option<String>,
    pub env: BTreeMap<String, String>,
    pub programs: Vec<Commands>,
    pub files: Vec<ProgramFile>,
    /// Whether it is from the catalog, or else as it was measured.
    pub in_catalog: bool,
}

/// How the program of a workload is built and run.
pub struct Commands {
    pub workload: String,
    pub build: Vec<Vec<String>>,
    pub run: Vec<String>,
}

/// A file that programs of an entry are made of.
pub struct ProgramFile {
    pub path: String,
    pub text: String,
    pub workloads: Vec<String>,
}

/// All entries, by runtime in order of name, and then in the catalog's order.
pub fn subjects(catalog: &Catalog, campaigns: &[CampaignSummary]) -> Vec<SiteEntry> {
    let mut subjects: Vec<SiteEntry> =
        catalog.entries().map(|(runtime, entry)| SiteEntry::of_catalog(runtime, entry)).collect();
    for campaign in campaigns {
        let known: BTreeSet<String> = subjects.iter().map(|subject| subject.name.clone()).collect();
        let mut others: BTreeMap<&str, Vec<&EntryFacts>> = BTreeMap::new();
        for facts in campaign.facts.iter().filter(|facts| !known.contains(&facts.name)) {
            others.entry(&facts.name).or_default().push(facts);
        }
        subjects.extend(others.into_values().filter_map(|facts| SiteEntry::of_campaign(&facts, campaign)));
    }
    subjects.sort_by(|a, b| a.runtime.cmp(&b.runtime));
    let mut taken = BTreeSet::new();
    for subject in &mut subjects {
        let (runtime, entry) = subject.name.split_once('/').unwrap_or(("other", &subject.name));
        let name = format!("entries/{}/{}", plain_name(runtime), plain_name(entry));
        let numbered = (2..).map(|number| format!("{name}-{number}"));
        subject.page = std::iter::once(name.clone())
            .chain(numbered)
            .find(|name| taken.insert(name.clone()))
            .unwrap_or(name);
        subject.page.push_str(".html");
    }
    subjects
}

impl SiteEntry {
    fn of_catalog(runtime: &Runtime, entry: &Entry) -> SiteEntry {
        let mut names: Vec<&String> = entry.workloads.keys().collect();
        names.sort_by_key(|name| reading_order(name));
        let mut files = Vec::new();
        for workload in &names {
            for file in sources(runtime, entry, workload) {
                add(&mut files, file.path, file.text, workload);
            }
        }
        SiteEntry {
            name: entry.full_name.clone(),
            page: String::new(),
            title: entry.title.clone(),
            runtime: runtime.name.clone(),
            runtime_title: runtime.title.clone(),
            url: runtime.url.clone(),
            kind: entry.kind,
            style: entry.style,
            parallel: entry.parallel,
            reference: entry.reference,
            posts: !entry.posts.is_empty(),
            unverified: entry.unverified.clone(),
            why: entry.why.clone(),
            notes: entry.notes.iter().chain(&entry.omitted).cloned().collect(),
            library: entry.library.as_ref().map(|library| {
                let only = library.workloads.join(", ");
                let only = if only.is_empty() { only } else { format!(" ({only})") };
                format!("{} {}{only}", library.name, library.version)
            }),
            install: Some(entry.toolchain.install_hint()),
            env: entry.env.clone(),
            programs: names
                .iter()
                .map(|name| {
                    let recipe = &entry.workloads[*name];
                    Commands {
                        workload: (*name).clone(),
                        build: recipe.build.clone(),
                        run: recipe.run.clone(),
                    }
                })
                .collect(),
            files,
            in_catalog: true,
        }
    }

    fn of_campaign(all: &[&EntryFacts], campaign: &CampaignSummary) -> Option<SiteEntry> {
        let facts = *all.first()?;
        let of = |facts: &EntryFacts| {
            let only = campaign.reports.first().map(|report| report.workload.clone());
            facts.workload.clone().or(only).unwrap_or_default()
        };
        let mut all = all.to_vec();
        all.sort_by_key(|facts| reading_order(&of(facts)));
        let mut files = Vec::new();
        for facts in &all {
            for source in &facts.sources {
                add(&mut files, source.path.clone(), source.text.clone(), &of(facts));
            }
        }
        Some(SiteEntry {
            name: facts.name.clone(),
            page: String::new(),
            title: facts.title.clone(),
            runtime: facts.runtime.clone(),
            runtime_title: facts.runtime_title.clone(),
            url: facts.url.clone(),
            kind: facts.kind,
            style: facts.style,
            parallel: facts.parallel,
            reference: facts.reference,
            posts: facts.posts,
            unverified: facts.unverified.clone(),
            why: facts.why.clone(),
            notes: facts.notes.iter().chain(&facts.omitted).cloned().collect(),
            library: None,
            install: None,
            env: facts.env.clone(),
            programs: all
                .iter()
                .map(|facts| Commands {
                    workload: of(facts),
                    build: facts.build.clone(),
                    run: facts.run.clone(),
                })
                .collect(),
            files,
            in_catalog: false,
        })
    }
}

/// Each file once, with all workloads whose programs are made of it.
fn add(files: &mut Vec<ProgramFile>, path: String, text: String, workload: &str) {
    match files.iter_mut().find(|file| file.path == path && file.text == text) {
        Some(file) => file.workloads.push(workload.to_owned()),
        None => files.push(ProgramFile { path, text, workloads: vec![workload.to_owned()] }),
    }
}

/// An entry's name with a link to its page, safe to show.
pub fn named(name: &str, subjects: &[SiteEntry]) -> String {
    let name_shown = format!("<code>{}</code>", escaped(name));
    match subjects.iter().find(|subject| subject.name == name) {
        Some(subject) => format!("<a href=\"{}\">{name_shown}</a>", link(START, &subject.page)),
        None => name_shown,
    }
}
