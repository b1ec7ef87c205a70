//! The programs of a campaign against those of a catalogue.

use std::collections::BTreeSet;

use super::{Finding, Rule};
use crate::catalog::{Catalog, Entry, Recipe, Runtime, sources};
use crate::record::{Campaign, EntryFacts, Sample, Source};

/// What of the programs that were measured is not as the catalogue has it. `digest` says what `program_digest` would be
/// recorded here and now, where that can be known: on the machine of the campaign, with the same toolchain.
pub fn changed_programs(
    campaign: &Campaign,
    samples: &[Sample],
    catalog: &Catalog,
    digest: impl Fn(&Runtime, &Entry, &str, &EntryFacts) -> Option<String>,
) -> Option<Finding> {
    let programs = samples.iter().map(|sample| (&*sample.entry, Some(&*sample.workload)));
    let names = samples.iter().map(|sample| (&*sample.entry, None));
    let programs: BTreeSet<(&str, Option<&str>)> = programs.chain(names).collect();
    let measured = |facts: &&EntryFacts| programs.contains(&(&*facts.name, facts.workload.as_deref()));
    let changed = campaign.entries.iter().filter(measured).filter_map(|facts| {
        let workload = facts.workload.as_deref().unwrap_or(&campaign.plan.workload);
        let what = change(facts, workload, catalog, &digest)?;
        Some(format!("{} ({workload}): {what}", facts.name))
    });
    Finding::of_many(Rule::Programs, changed)
}

fn change(
    facts: &EntryFacts,
    workload: &str,
    catalog: &Catalog,
    digest: impl Fn(&Runtime, &Entry, &str, &EntryFacts) -> Option<String>,
) -> Option<String> {
    let Some((runtime, entry)) = catalog.entry(&facts.name) else {
        return Some("the catalogue has no such entry".to_owned());
    };
    let Some(recipe) = entry.workloads.get(workload) else {
        return Some("the catalogue has no program of it for this workload".to_owned());
    };
    let Some(recorded) = &facts.program_digest else {
        return Some("no digest of its program was recorded: an older taskscale made it".to_owned());
    };
    said_otherwise(facts, runtime, entry, recipe).map(|what| format!("its {what} in runtime.toml")).or_else(
        || {
            let there: Vec<Source> = sources(runtime, entry, workload)
                .into_iter()
                .map(|file| Source { path: file.path, text: file.text })
                .collect();
            let other = there
                .iter()
                .chain(&facts.sources)
                .find(|file| !there.contains(file) || !facts.sources.contains(file));
            other.map(|file| file.path.clone()).or_else(|| {
                let now = digest(runtime, entry, workload, facts)?;
                (now != *recorded).then(|| {
                    "something that it is made from: a lock file, shared code, or where its toolchain is"
                        .to_owned()
                })
            })
        },
    )
}

/// What the manifest says of it now and did not then: what bears on a figure or on whom it is set beside, and what pages
/// show of it.
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
        (facts.posts != entry.posts, "posts"),
        (facts.runtime != runtime.name, "name"),
        (facts.runtime_title != runtime.title || facts.title != entry.title, "title"),
        (facts.url != runtime.url, "url"),
        (facts.why != entry.why, "why"),
        (facts.notes != entry.notes, "notes"),
        (facts.unverified != entry.unverified, "unverified"),
    ]
    .into_iter()
    .find_map(|(differs, what)| differs.then_some(what))
}
