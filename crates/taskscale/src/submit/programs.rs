//! Compares the programs of results with those of a catalog.

use std::collections::BTreeSet;

use super::{SubmissionRule, Violation};
use crate::catalog::{Catalog, DottedVersion, Entry, Recipe, Runtime, sources};
use crate::record::{Campaign, EntryFacts, Sample, Source};

/// The measured programs that differ from the catalog's. `digest` returns today's `program_digest`, where it can be
/// known: on the machine of the results, with the same toolchain.
pub fn changed_programs(
    campaign: &Campaign,
    samples: &[Sample],
    catalog: &Catalog,
    digest: impl Fn(&Runtime, &Entry, &str, &EntryFacts) -> Option<String>,
) -> Option<Violation> {
    let programs = samples.iter().map(|sample| (&*sample.entry, Some(&*sample.workload)));
    let names = samples.iter().map(|sample| (&*sample.entry, None));
    let programs: BTreeSet<(&str, Option<&str>)> = programs.chain(names).collect();
    let measured = |facts: &&EntryFacts| programs.contains(&(&*facts.name, facts.workload.as_deref()));
    let changed = campaign.entries.iter().filter(measured).filter_map(|facts| {
        let workload = facts.workload.as_deref().unwrap_or(&campaign.plan.workload);
        let what = change(facts, workload, catalog, &digest)?;
        Some(format!("{} ({workload}): {what}", facts.name))
    });
    Violation::of_many(SubmissionRule::Programs, changed, |what| what)
}

fn change(
    facts: &EntryFacts,
    workload: &str,
    catalog: &Catalog,
    digest: impl Fn(&Runtime, &Entry, &str, &EntryFacts) -> Option<String>,
) -> Option<String> {
    let Some((runtime, entry)) = catalog.entry(facts.base_name()) else {
        return Some("not in the catalog".to_owned());
    };
    let Some(recipe) = entry.workloads.get(workload) else {
        return Some("no program for this workload in the catalog".to_owned());
    };
    let version = facts.version.as_deref().and_then(DottedVersion::first_in);
    let entry = &entry.in_form_for(workload, version.as_ref());
    let recipe = entry.workloads.get(workload).unwrap_or(recipe);
    let Some(recorded) = &facts.program_digest else {
        return Some("no digest of its program (written by an old taskscale)".to_owned());
    };
    said_otherwise(facts, runtime, entry, recipe)
        .map(|what| format!("its `{what}` in runtime.toml differs"))
        .or_else(|| {
            let there: Vec<Source> = sources(runtime, entry, workload)
                .into_iter()
                .map(|file| Source { path: file.path, text: file.text })
                .collect();
            let other = there
                .iter()
                .chain(&facts.sources)
                .find(|file| !there.contains(file) || !facts.sources.contains(file));
            other.map(|file| format!("{} differs", file.path)).or_else(|| {
                // A version that was asked for is of another toolchain, or of a copy of the sources.
                let now = facts.versions.is_empty().then(|| digest(runtime, entry, workload, facts))??;
                (now != *recorded).then(|| {
                    "its digest differs: a lock file, shared code, or the path of its toolchain".to_owned()
                })
            })
        })
}

/// The first key of the manifest that differs, among those that matter for results or that pages show.
fn said_otherwise(
    facts: &EntryFacts,
    runtime: &Runtime,
    entry: &Entry,
    recipe: &Recipe,
) -> Option<&'static str> {
    [
        (facts.build != recipe.build, "build"),
        (facts.run != recipe.run, "run"),
        (facts.env != entry.env, "env"),
        (facts.kind != entry.kind, "kind"),
        (facts.parallel != entry.parallel, "parallel"),
        (facts.style != entry.style, "style"),
        (facts.reference != entry.reference, "reference"),
        (facts.versions.is_empty() && facts.posts == entry.posts.is_empty(), "posts"),
        (facts.runtime != runtime.name, "name"),
        (facts.runtime_title != runtime.title || facts.title != entry.title, "title"),
        (facts.url != runtime.url, "url"),
        (facts.why != entry.why, "why"),
        (facts.notes != entry.notes, "notes"),
        // Results from before this key have none.
        (facts.omitted.is_some() && facts.omitted != entry.omitted, "omitted"),
        (facts.unverified != entry.unverified, "unverified"),
    ]
    .into_iter()
    .find_map(|(differs, what)| differs.then_some(what))
}
