//! Compares the programs of results, and what they computed, with a catalog.

use std::collections::BTreeSet;

use super::runs::label;
use super::{SubmissionRule, Violation};
use crate::catalog::{Catalog, DottedVersion, Entry, Runtime, expected_check};
use crate::record::{Campaign, EntryFacts, Sample, Status};

/// The measured programs that differ from the catalog's. `digest` returns today's `program_digest` if it is
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

/// Ok runs whose `check` is not the result that their workload in the catalog expects.
pub fn wrong_checks(samples: &[Sample], catalog: &Catalog) -> Option<Violation> {
    let wrong = samples.iter().filter(|sample| sample.status == Status::Ok).filter(|sample| {
        let (workload, work) = (catalog.workload(&sample.workload), sample.work.as_ref());
        workload.zip(work).is_some_and(|(workload, work)| {
            let expected = expected_check(workload, sample.tasks, work.operations, &sample.params);
            expected.is_some() && expected != work.check
        })
    });
    Violation::of_many(SubmissionRule::Figures, wrong, |sample| format!("wrong `check` ({})", label(sample)))
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
    if !entry.workloads.contains_key(workload) {
        return Some("no program for this workload in the catalog".to_owned());
    }
    let version = facts.version.as_deref().and_then(DottedVersion::first_in);
    let entry = &entry.in_form_for(workload, version.as_ref());
    let Some(recorded) = &facts.program_digest else {
        return Some("no digest of its program (written by an old taskscale)".to_owned());
    };
    let there = EntryFacts::of(runtime, entry, workload);
    if let Some(what) = first_difference_in_manifest(facts, &there) {
        return Some(format!("its `{what}` in runtime.toml differs"));
    }
    let mut files = there.sources.iter().chain(&facts.sources);
    if let Some(file) = files.find(|file| !there.sources.contains(file) || !facts.sources.contains(file)) {
        return Some(format!("{} differs", file.path));
    }
    // A requested version has another toolchain, or a copy of the sources.
    let now = facts.versions.is_empty().then(|| digest(runtime, entry, workload, facts))??;
    (now != *recorded)
        .then(|| "its digest differs: a lock file, shared code, or the path of its toolchain".to_owned())
}

/// The first key of the manifest that differs, among those that matter for results or that pages show.
fn first_difference_in_manifest(facts: &EntryFacts, there: &EntryFacts) -> Option<&'static str> {
    let keys = [
        (facts.build != there.build, "build"),
        (facts.run != there.run, "run"),
        (facts.env != there.env, "env"),
        (facts.kind != there.kind, "kind"),
        (facts.parallel != there.parallel, "parallel"),
        (facts.style != there.style, "style"),
        (facts.reference != there.reference, "reference"),
        (facts.versions.is_empty() && facts.posts != there.posts, "posts"),
        (facts.runtime != there.runtime, "name"),
        (facts.runtime_title != there.runtime_title || facts.title != there.title, "title"),
        (facts.url != there.url, "url"),
        (facts.why != there.why, "why"),
        (facts.notes != there.notes, "notes"),
        // Results from before this key have none.
        (facts.omitted.is_some() && facts.omitted != there.omitted, "omitted"),
        (facts.unverified != there.unverified, "unverified"),
    ];
    keys.into_iter().find_map(|(differs, what)| differs.then_some(what))
}
