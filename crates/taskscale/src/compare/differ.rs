//! Differences besides the results: how runs ended, machines, versions and programs.

use std::collections::BTreeSet;

use super::model::{Change, Difference, OutcomeChange};
use super::side::{Pair, Side, SideEntry};
use crate::document::joined;
use crate::record::{EntryFacts, Machine, Sample, Status, same_memory};
use crate::units;

impl Pair<'_> {
    /// How an entry's cases ended, if some failed on a side.
    pub(super) fn outcomes(&self) -> Vec<OutcomeChange> {
        let Pair { base, new } = self;
        let outcome = |tasks, change, before: String, after: String, reason: Option<&String>| OutcomeChange {
            base_entry: base.name.to_owned(),
            new_entry: new.name.to_owned(),
            tasks,
            change,
            base: before,
            new: after,
            reason: reason.cloned(),
        };
        let unavailable = "unavailable".to_owned();
        let measured = |of: &SideEntry| {
            let ok = of.tasks().into_iter().map(|tasks| of.ok(tasks).len()).sum::<usize>();
            format!("{} ok", units::counted(ok, "run"))
        };
        match (base.unavailable(), new.unavailable()) {
            (None, Some(reason)) if !base.tasks().is_empty() => {
                return vec![outcome(None, Change::Fails, measured(base), unavailable, Some(reason))];
            }
            (Some(reason), None) if !new.tasks().is_empty() => {
                return vec![outcome(None, Change::Works, unavailable, measured(new), Some(reason))];
            }
            _ => {}
        }
        let mut changes = Vec::new();
        for &tasks in base.tasks().intersection(&new.tasks()) {
            let (before, after) = (base.runs(tasks), new.runs(tasks));
            let (ok_before, ok_after) = (base.ok(tasks).len(), new.ok(tasks).len());
            if ok_before == before.len() && ok_after == after.len() {
                continue;
            }
            let share = |ok: usize, all: usize| ok as f64 / all as f64;
            let change = match (ok_before, ok_after) {
                (0, 0) => Change::StillFails,
                (_, 0) => Change::Fails,
                (0, _) => Change::Works,
                _ if share(ok_after, after.len()) < share(ok_before, before.len()) => Change::OkLessOften,
                _ => Change::StillFails,
            };
            let fell = |runs: &[&Sample]| {
                runs.iter().find(|run| run.status != Status::Ok).and_then(|run| run.reason.clone())
            };
            let reason = fell(after).or_else(|| fell(before));
            changes.push(outcome(Some(tasks), change, how(before), how(after), reason.as_ref()));
        }
        changes
    }
}

/// `5/5 ok`, `3/5 ok, partial`, `timed-out`.
fn how(runs: &[&Sample]) -> String {
    let ok = runs.iter().filter(|run| run.status == Status::Ok).count();
    let others: BTreeSet<Status> =
        runs.iter().map(|run| run.status).filter(|status| *status != Status::Ok).collect();
    let others = joined(others.into_iter().map(Status::name), " + ");
    match ok {
        0 => others,
        _ if others.is_empty() => format!("{ok}/{} ok", runs.len()),
        _ => format!("{ok}/{} ok, {others}", runs.len()),
    }
}

/// Memory caps that differ by more than this factor need `--across`.
const OTHER_CAP: f64 = 1.5;

/// Name, whether a difference needs `--across`, and value of a machine fact.
type MachineFact = (&'static str, bool, fn(&Machine) -> String);

const MACHINE_FACTS: [MachineFact; 11] = [
    ("machine", true, |machine| machine.hostname.clone()),
    ("processor", true, |machine| machine.cpu.clone()),
    ("CPUs", true, |machine| machine.cpus.to_string()),
    ("architecture", true, |machine| machine.architecture.clone()),
    ("memory", false, |machine| units::bytes(machine.memory_bytes)),
    ("swap", false, |machine| units::bytes(machine.swap_bytes)),
    ("page size", false, |machine| units::bytes(machine.page_bytes)),
    ("kernel", true, |machine| machine.kernel.clone()),
    ("system", false, |machine| machine.os.clone()),
    ("transparent huge pages", true, |machine| known(&machine.transparent_huge_pages)),
    ("CPU governor", false, |machine| known(&machine.cpu_governor)),
];

fn known(text: &Option<String>) -> String {
    text.clone().unwrap_or_else(|| "unknown".to_owned())
}

/// All differences except the results: machines first, then the way of measuring, then programs.
pub(super) fn differences(base: &Side, new: &Side, pairs: &[Pair]) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |across: bool, what: &str, base: String, new: String| {
        if base != new {
            found.push(Difference { across, what: what.to_owned(), base, new });
        }
    };
    let (old, now) = (base.input.campaign, new.input.campaign);
    for (what, across, fact) in MACHINE_FACTS {
        differ(across, what, fact(&old.machine), fact(&now.machine));
    }
    differ(true, "taskscale", old.taskscale.clone(), now.taskscale.clone());
    differ(false, "wait", old.plan.hold.to_string(), now.plan.hold.to_string());
    // Runtimes size their heaps by the memory cap. Old results did not record it.
    let (before, after) = (old.conditions.unwrap_or_default(), now.conditions.unwrap_or_default());
    if let (Some(before), Some(after)) = (before.memory_cap_bytes, after.memory_cap_bytes)
        && !same_memory(before, after)
    {
        let across = before.max(after) as f64 > OTHER_CAP * before.min(after) as f64;
        differ(across, "memory cap", units::bytes(before), units::bytes(after));
    }
    if old.conditions.is_some() && now.conditions.is_some() {
        let place =
            |elsewhere| if elsewhere { "on another machine" } else { "on the server's machine" }.to_owned();
        differ(true, "clients", place(before.clients_elsewhere), place(after.clients_elsewhere));
        let time = |seconds: Option<f64>| seconds.map_or("automatic".to_owned(), units::seconds);
        differ(false, "timeout", time(before.time_cap_s), time(after.time_cap_s));
    }
    differ(false, "repetitions", old.plan.repetitions.to_string(), now.plan.repetitions.to_string());
    let mut versions: Vec<(String, String, String)> = Vec::new();
    let mut programs = Vec::new();
    for pair in pairs.iter().filter(|pair| pair.base.name == pair.new.name) {
        let (Some(before), Some(after)) = (pair.base.facts, pair.new.facts) else { continue };
        let version = |facts: &EntryFacts| known(&facts.version);
        // Each toolchain is reported once.
        let change = (after.runtime_title.clone(), version(before), version(after));
        if before.version != after.version {
            if !versions.contains(&change) {
                versions.push(change);
            }
        } else {
            // The program's own digest if both sides have it, so that changes of others do not count.
            let own = before.program_digest.is_some() && after.program_digest.is_some();
            let digest =
                |facts: &EntryFacts| if own { facts.program_digest.clone() } else { facts.digest.clone() };
            let (was, is) = (digest(before), digest(after));
            if was != is || before.env != after.env || before.run != after.run {
                programs.push((pair.base.name, short(&was), short(&is)));
            }
        }
    }
    for (title, old, now) in versions {
        differ(false, &title, old, now);
    }
    for (entry, old, now) in programs {
        differ(false, &format!("sources of {entry}"), old, now);
    }
    found
}

/// The first 12 characters of a digest, as in the names of builds.
fn short(digest: &Option<String>) -> String {
    digest.as_ref().map_or_else(|| "unknown".to_owned(), |digest| digest.chars().take(12).collect())
}
