//! The entries that have pages: those of the catalog, and others that results include.

use std::collections::{BTreeMap, BTreeSet};

use super::campaigns::CampaignSummary;
use super::layout::{START, link, plain_name, unique};
use crate::catalog::{Catalog, Entry, Runtime, reading_order};
use crate::document::{by_key, escaped};
use crate::record::{EntryFacts, Source};

/// An entry of the catalog or of results. Texts are not escaped yet.
pub struct SiteEntry {
    /// Inside the site.
    pub page: String,
    /// The facts of its first program. `workload`, `build`, `run` and `sources` differ by workload: see `programs`.
    pub facts: EntryFacts,
    /// One per workload, in reading order; `workload` is always set.
    pub programs: Vec<EntryFacts>,
    /// With its version.
    pub library: Option<String>,
    pub install: Option<String>,
    /// Whether it is from the catalog. Otherwise it is as it was measured.
    pub in_catalog: bool,
}

/// All entries, by runtime in order of name, and then in the catalog's order.
pub fn subjects(catalog: &Catalog, campaigns: &[CampaignSummary]) -> Vec<SiteEntry> {
    let of_catalog = catalog.entries().filter_map(|(runtime, entry)| SiteEntry::of_catalog(runtime, entry));
    let mut subjects: Vec<SiteEntry> = of_catalog.collect();
    for campaign in campaigns {
        let known: BTreeSet<String> = subjects.iter().map(|subject| subject.facts.name.clone()).collect();
        let mut others: BTreeMap<&str, Vec<&EntryFacts>> = BTreeMap::new();
        for facts in campaign.recorded.entries.iter().filter(|facts| !known.contains(&facts.name)) {
            others.entry(&facts.name).or_default().push(facts);
        }
        subjects.extend(others.into_values().filter_map(|facts| SiteEntry::of_campaign(&facts, campaign)));
    }
    subjects.sort_by(|a, b| a.facts.runtime.cmp(&b.facts.runtime));
    let mut taken = BTreeSet::new();
    for subject in &mut subjects {
        let name = &subject.facts.name;
        let (runtime, entry) = name.split_once('/').unwrap_or(("other", name));
        let name = format!("entries/{}/{}", plain_name(runtime), plain_name(entry));
        subject.page = unique(name, 2, &mut taken) + ".html";
    }
    subjects
}

impl SiteEntry {
    fn of_catalog(runtime: &Runtime, entry: &Entry) -> Option<SiteEntry> {
        let mut names: Vec<&String> = entry.workloads.keys().collect();
        names.sort_by_key(|name| reading_order(name));
        let programs: Vec<EntryFacts> =
            names.into_iter().map(|name| EntryFacts::of(runtime, entry, name)).collect();
        Some(SiteEntry {
            page: String::new(),
            facts: programs.first()?.clone(),
            programs,
            library: entry.library.as_ref().map(|library| {
                let only = library.workloads.join(", ");
                let only = if only.is_empty() { only } else { format!(" ({only})") };
                format!("{} {}{only}", library.name, library.version)
            }),
            install: Some(entry.toolchain.install_hint()),
            in_catalog: true,
        })
    }

    fn of_campaign(all: &[&EntryFacts], campaign: &CampaignSummary) -> Option<SiteEntry> {
        let only = campaign.reports.first().map(|report| report.workload.clone());
        let with_workload = |facts: &&EntryFacts| {
            let workload = facts.workload.clone().or(only.clone()).unwrap_or_default();
            EntryFacts { workload: Some(workload), ..(*facts).clone() }
        };
        let mut programs: Vec<EntryFacts> = all.iter().map(with_workload).collect();
        let facts = programs.first()?.clone();
        programs.sort_by_key(|facts| reading_order(facts.workload.as_deref().unwrap_or_default()));
        let page = String::new();
        Some(SiteEntry { page, facts, programs, library: None, install: None, in_catalog: false })
    }

    /// Its workloads and their programs, in reading order.
    pub fn workloads(&self) -> impl Iterator<Item = (&str, &EntryFacts)> {
        self.programs.iter().map(|facts| (facts.workload.as_deref().unwrap_or_default(), facts))
    }

    /// The files of its programs, each once, with all workloads that use it.
    pub fn files(&self) -> Vec<(&Source, Vec<&str>)> {
        by_key(
            self.workloads()
                .flat_map(|(workload, program)| program.sources.iter().map(move |file| (file, workload))),
        )
    }
}

/// An entry's name with a link to its page, safe to show.
pub fn named(name: &str, subjects: &[SiteEntry]) -> String {
    let name_shown = format!("<code>{}</code>", escaped(name));
    match subjects.iter().find(|subject| subject.facts.name == name) {
        Some(subject) => format!("<a href=\"{}\">{name_shown}</a>", link(START, &subject.page)),
        None => name_shown,
    }
}
