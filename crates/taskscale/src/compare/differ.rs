//! Differences besides the results: how runs ended, machines, versions and programs.

use std::collections::BTreeSet;

use super::model::{Change, Difference, OutcomeChange};
use super::side::Side;
use crate::record::{EntryFacts, Hold, Sample, Status, same_memory};
use crate::units;

/// How an entry's cases ended, if some failed on a side.
pub(super) fn outcomes(base: &Side, old: &str, new: &Side, name: &str) -> Vec<OutcomeChange> {
    let outcome = |tasks, change, base: String, new: String, reason: Option<&String>| OutcomeChange {
        base_entry: old.to_owned(),
        new_entry: name.to_owned(),
        tasks,
        change,
        base,
        new,
        reason: reason.cloned(),
    };
    let unavailable = |side: &Side, entry: &str| {
        side.facts(entry)
            .and_then(|facts| facts.unavailable.clone())
            .filter(|_| side.tasks_of(entry).is_empty())
    };
    let (gone_before, gone_now) = (unavailable(base, old), unavailable(new, name));
    let measured = |side: &Side, entry: &str| {
        let ok = side.tasks_of(entry).into_iter().map(|tasks| side.ok(entry, tasks).len()).sum::<usize>();
        format!("{} ok", units::counted(ok, "run"))
    };
    match (&gone_before, &gone_now) {
        (None, Some(reason)) if !base.tasks_of(old).is_empty() => {
            let was = measured(base, old);
            return vec![outcome(None, Change::Fails, was, "unavailable".to_owned(), Some(reason))];
        }
        (Some(reason), None) if !new.tasks_of(name).is_empty() => {
            let now = measured(new, name);
            return vec![outcome(None, Change::Works, "unavailable".to_owned(), now, Some(reason))];
        }
        _ => {}
    }
    let mut changes = Vec::new();
    for &tasks in base.tasks_of(old).intersection(&new.tasks_of(name)) {
        let (before, after) = (base.cell(old, tasks), new.cell(name, tasks));
        let (ok_before, ok_after) = (base.ok(old, tasks).len(), new.ok(name, tasks).len());
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

/// `5/5 ok`, `3/5 ok, partial`, `timed-out`.
fn how(runs: &[&Sample]) -> String {
    let ok = runs.iter().filter(|run| run.status == Status::Ok).count();
    let others: BTreeSet<Status> =
        runs.iter().map(|run| run.status).filter(|status| *status != Status::Ok).collect();
    let others: Vec<&str> = others.into_iter().map(Status::name).collect();
    match ok {
        0 => others.join(" + "),
        _ if others.is_empty() => format!("{ok}/{} ok", runs.len()),
        _ => format!("{ok}/{} ok, {}", runs.len(), others.join(" + ")),
    }
}

/// Differences that need `--across`: another machine, kernel, CPU count, THP setting or taskscale version.
const ACROSS: [&str; 8] = [
    "machine",
    "processor",
    "CPUs",
    "architecture",
    "kernel",
    "transparent huge pages",
    "taskscale",
    "clients",
];

/// All differences except the results: machines first, then the way of measuring, then programs.
pub(super) fn differences(base: &Side, new: &Side, pairs: &[(String, String)]) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut differ = |what: &str, base: String, new: String| {
        if base != new {
            let across = ACROSS.contains(&what);
            found.push(Difference { across, what: what.to_owned(), base, new });
        }
    };
    let (old, now) = (base.input.campaign, new.input.campaign);
    let known = |text: &Option<String>| text.clone().unwrap_or_else(|| "unknown".to_owned());
    let (before, after) = (&old.machine, &now.machine);
    differ("machine", before.hostname.clone(), after.hostname.clone());
    differ("processor", before.cpu.clone(), after.cpu.clone());
    differ("CPUs", before.cpus.to_string(), after.cpus.to_string());
    differ("architecture", before.architecture.clone(), after.architecture.clone());
    differ("memory", units::bytes(before.memory_bytes), units::bytes(after.memory_bytes));
    differ("swap", units::bytes(before.swap_bytes), units::bytes(after.swap_bytes));
    differ("page size", units::bytes(before.page_bytes), units::bytes(after.page_bytes));
    differ("kernel", before.kernel.clone(), after.kernel.clone());
    differ("system", before.os.clone(), after.os.clone());
    differ(
        "transparent huge pages",
        known(&before.transparent_huge_pages),
        known(&after.transparent_huge_pages),
    );
    differ("CPU governor", known(&before.cpu_governor), known(&after.cpu_governor));
    differ("taskscale", old.taskscale.clone(), now.taskscale.clone());
    let hold = |hold| match hold {
        Hold::Chosen { plateau_s } => format!("chosen for a plateau of {plateau_s} s"),
        Hold::Fixed { seconds } => format!("{seconds} s"),
    };
    differ("wait", hold(old.plan.hold), hold(now.plan.hold));
    // Runtimes size their heaps by it. Old results did not record it.
    let (before, after) = (old.conditions.unwrap_or_default(), now.conditions.unwrap_or_default());
    if let (Some(before), Some(after)) = (before.memory_cap_bytes, after.memory_cap_bytes)
        && !same_memory(before, after)
    {
        differ("memory cap", units::bytes(before), units::bytes(after));
    }
    if old.conditions.is_some() && now.conditions.is_some() {
        let place =
            |elsewhere| if elsewhere { "on another machine" } else { "on the server's machine" }.to_owned();
        differ("clients", place(before.clients_elsewhere), place(after.clients_elsewhere));
        let time = |seconds: Option<f64>| seconds.map_or("automatic".to_owned(), units::seconds);
        differ("timeout", time(before.time_cap_s), time(after.time_cap_s));
    }
    differ("repetitions", old.plan.repetitions.to_string(), now.plan.repetitions.to_string());
    let mut versions: Vec<(String, String, String)> = Vec::new();
    let mut programs = Vec::new();
    for (old, name) in pairs.iter().filter(|(old, name)| old == name) {
        let (Some(before), Some(after)) = (base.facts(old), new.facts(name)) else { continue };
        let version = |facts: &EntryFacts| known(&facts.version);
        // Each toolchain is reported once.
        let change = (after.runtime_title.clone(), version(before), version(after));
        if before.version != after.version {
            if !versions.contains(&change) {
                versions.push(change);
            }
        } else {
            // Its own program's digest, where both sides have it, so that a change of another program does not count.
            let own = before.program_digest.is_some() && after.program_digest.is_some();
            let digest =
                |facts: &EntryFacts| if own { facts.program_digest.clone() } else { facts.digest.clone() };
            let (was, is) = (digest(before), digest(after));
            if was != is || before.env != after.env || before.run != after.run {
                programs.push((old, short(&was), short(&is)));
            }
        }
    }
    for (title, old, now) in versions {
        differ(&title, old, now);
    }
    for (entry, old, now) in programs {
        differ(&format!("sources of {entry}"), old, now);
    }
    found
}

/// The first characters of a digest, as they are in the names of builds.
fn short(digest: &Option<String>) -> String {
    digest.as_ref().map_or_else(|| "unknown".to_owned(), |digest| digest.chars().take(12).collect())
}
