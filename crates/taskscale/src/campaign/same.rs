//! Whether a campaign can be resumed: the plan, the machine, the programs and the way of measuring must be the
//! same. Facts that are unknown on one side are not compared.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::path::Path;

use super::{CampaignError, CampaignResult};
use crate::record::{Campaign, Conditions, EntryFacts, Machine, Plan, Sample, same_memory};
use crate::units;

impl Campaign {
    /// Checks that `self`, which has `samples`, can be resumed under the conditions of `now`, which has only
    /// those that the user set. The others stay as they were.
    pub fn check_same(&self, samples: &[Sample], now: &Campaign, folder: &Path) -> CampaignResult {
        let what = parts_difference(self, now)
            .or_else(|| machine_difference(&self.machine, &now.machine))
            .or_else(|| self.version_difference(now))
            .or_else(|| self.conditions_difference(samples, &now.conditions.unwrap_or_default()))
            .or_else(|| now.entries.iter().find_map(|entry| self.entry_difference(samples, entry)));
        what.map_or(Ok(()), |what| Err(CampaignError::Another { folder: folder.to_owned(), what }))
    }

    /// The recorded conditions. For old campaigns, which recorded none, those that all samples agree on.
    pub fn known_conditions(&self, samples: &[Sample]) -> Conditions {
        self.conditions.unwrap_or_else(|| Conditions {
            memory_source: only(samples.iter().map(|sample| sample.memory.source)),
            memory_cap_bytes: only(samples.iter().map(|sample| sample.memory.cap_bytes)).flatten(),
            time_cap_s: None,
            clients_elsewhere: false,
        })
    }

    /// Updates the entries to today's facts. Facts that are unknown now, because a toolchain is missing, are kept, to
    /// be compared when the toolchain is back.
    pub fn update_entries(&mut self, now: Vec<EntryFacts>) {
        let before = std::mem::replace(&mut self.entries, now);
        for entry in &mut self.entries {
            // A digest means that toolchain, sources and build are all known.
            let known = before.iter().find(|before| before.is_of(entry) && before.digest.is_some());
            if let Some(known) = known.filter(|_| entry.digest.is_none()) {
                let unavailable = entry.unavailable.take();
                *entry = EntryFacts { unavailable, ..known.clone() };
            }
        }
    }

    /// Another version may measure differently. Old campaigns, without recorded conditions, may be resumed.
    fn version_difference(&self, now: &Campaign) -> Option<String> {
        let (then, now) = (&self.taskscale, &now.taskscale);
        (self.conditions.is_some() && then != now)
            .then(|| format!("taskscale was {then}, now {now} (versions may measure differently)"))
    }

    fn conditions_difference(&self, samples: &[Sample], now: &Conditions) -> Option<String> {
        let then = self.known_conditions(samples);
        let said = |what: &str, then: &str, now: &str, advice: &str| {
            Some(format!("the {what} {then}, now {now} ({advice})"))
        };
        let sources = then.memory_source.zip(now.memory_source);
        if let Some((then, now)) = sources.filter(|(then, now)| then != now) {
            return said("source of memory was", then.name(), now.name(), "`taskscale doctor` shows why");
        }
        // Old campaigns did not record whether there was a bound.
        let known = self.conditions.is_some();
        let cap = now.memory_cap_bytes.filter(|_| known || then.memory_cap_bytes.is_some());
        if let Some(now) = cap.filter(|now| then.memory_cap_bytes != Some(*now)) {
            let then = then.memory_cap_bytes.map_or("unlimited".to_owned(), units::bytes);
            return said("memory cap was", &then, &units::bytes(now), "leave out --memory-cap to resume");
        }
        if let Some(now) = now.time_cap_s.filter(|now| known && then.time_cap_s != Some(*now)) {
            let then = then.time_cap_s.map_or("automatic".to_owned(), units::seconds);
            return said("timeout was", &then, &units::seconds(now), "leave out --timeout to resume");
        }
        if known && then.clients_elsewhere != now.clients_elsewhere {
            let place = |elsewhere| if elsewhere { "on another machine" } else { "on the same machine" };
            let (then, now) = (place(then.clients_elsewhere), place(now.clients_elsewhere));
            return said("clients were", then, now, "see --clients");
        }
        None
    }

    fn entry_difference(&self, samples: &[Sample], now: &EntryFacts) -> Option<String> {
        let then = self.entries.iter().find(|then| then.is_of(now))?;
        // Old versions dropped the facts of a missing toolchain, but samples keep them.
        let of_samples = || samples.iter().rev().find(|sample| *sample.entry == now.name)?.version.as_deref();
        let version = then.version.as_deref().or_else(of_samples);
        let known = version.zip(now.version.as_deref());
        let what = format!("version of {} was", now.name);
        if let Some(different) = known.and_then(|(then, now)| difference(&what, then, now)) {
            return Some(different);
        }
        let digests = then.program_digest.as_ref().zip(now.program_digest.as_ref());
        let (before, after) = digests.or_else(|| then.digest.as_ref().zip(now.digest.as_ref()))?;
        (before != after).then(|| {
            // The first twelve digits of each.
            let what =
                changed(then, now).unwrap_or_else(|| format!("digest was {before:.12}, now {after:.12}"));
            format!("the program of {} has changed ({what})", now.name)
        })
    }
}

/// The value, if all are the same.
fn only<T: PartialEq>(mut values: impl Iterator<Item = T>) -> Option<T> {
    let first = values.next()?;
    values.all(|value| value == first).then_some(first)
}

/// The first part of a program that has changed, as far as recorded.
fn changed(then: &EntryFacts, now: &EntryFacts) -> Option<String> {
    if (&then.build, &then.run) != (&now.build, &now.run) {
        return Some("its commands".to_owned());
    }
    if then.env != now.env {
        return Some("its environment variables".to_owned());
    }
    let mut files = now.sources.iter().chain(&then.sources).filter(|_| !then.sources.is_empty());
    let changed = files.find(|file| !then.sources.contains(file) || !now.sources.contains(file));
    changed.map(|file| file.path.clone())
}

/// A sentence about the difference. `None` if both are equal.
fn difference<T: Display + PartialEq + ?Sized>(what: &str, then: &T, now: &T) -> Option<String> {
    (then != now).then(|| format!("the {what} {then}, now {now}"))
}

fn machine_difference(then: &Machine, now: &Machine) -> Option<String> {
    // Compares the values, as different ones may round to the same text.
    let bytes = |what: &str, same: fn(u64, u64) -> bool, then, now| {
        (!same(then, now)).then(|| format!("the {what} {}, now {}", units::bytes(then), units::bytes(now)))
    };
    let known = |what: &str, then: &Option<String>, now: &Option<String>| {
        then.as_ref().zip(now.as_ref()).and_then(|(then, now)| difference(what, then, now))
    };
    let pages = (&then.transparent_huge_pages, &now.transparent_huge_pages);
    let differences = [
        difference("hostname was", &then.hostname, &now.hostname),
        difference("processor was", &then.cpu, &now.cpu),
        difference("architecture was", &then.architecture, &now.architecture),
        difference("kernel was", &then.kernel, &now.kernel),
        difference("system was", &then.os, &now.os),
        difference("number of usable CPUs was", &then.cpus, &now.cpus),
        bytes("memory was", same_memory, then.memory_bytes, now.memory_bytes),
        bytes("page size was", |then, now| then == now, then.page_bytes, now.page_bytes),
        known("transparent huge pages setting was", pages.0, pages.1),
        known("CPU governor was", &then.cpu_governor, &now.cpu_governor),
    ];
    differences.into_iter().flatten().next()
}

fn parts_difference(then: &Campaign, now: &Campaign) -> Option<String> {
    let parts = |campaign: &Campaign| {
        let parts: Vec<String> = campaign.plans().map(|plan| plan.series().to_string()).collect();
        parts.join(" and ")
    };
    difference("workload was", &parts(then), &parts(now))
        .or_else(|| then.plans().zip(now.plans()).find_map(|(then, now)| plan_difference(then, now)))
}

fn plan_difference(then: &Plan, now: &Plan) -> Option<String> {
    let list = |entries: &[String]| entries.iter().cloned().collect::<BTreeSet<_>>();
    let counts = |tasks: &[u64]| tasks.iter().map(u64::to_string).collect::<Vec<_>>().join(",");
    let (before, after) = (list(&then.entries), list(&now.entries));
    if before != after {
        let gone = before.difference(&after).next().map(|name| format!("it includes {name}"));
        let new = after.difference(&before).next().map(|name| format!("it lacks {name}"));
        return Some(gone.into_iter().chain(new).collect::<Vec<_>>().join(" and "));
    }
    difference("numbers of tasks were", &counts(&then.tasks), &counts(&now.tasks))
        .or_else(|| difference("repetitions were", &then.repetitions, &now.repetitions))
        .or_else(|| difference("wait was", &then.hold, &now.hold))
}
