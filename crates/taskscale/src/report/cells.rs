//! The samples of a report, by entry and number of tasks.

use std::collections::{BTreeMap, BTreeSet};

use super::model::SourceCount;
use crate::record::{Campaign, MemorySource, Sample};

/// The samples that count, by entry and number of tasks.
pub struct Cells<'a> {
    pub by_entry: BTreeMap<&'a str, BTreeMap<u64, Vec<&'a Sample>>>,
    pub tasks: BTreeSet<u64>,
    pub strays: u64,
}

impl<'a> Cells<'a> {
    pub fn of(campaign: &Campaign, samples: &[&'a Sample]) -> Cells<'a> {
        let known: BTreeSet<&str> = campaign.entries.iter().map(|facts| facts.name.as_str()).collect();
        let mut cells = Cells {
            by_entry: BTreeMap::new(),
            tasks: campaign.plan.tasks.iter().copied().collect(),
            strays: 0,
        };
        let part = campaign.plan.series();
        for sample in samples {
            if !sample.is_of(&part) || !known.contains(&*sample.entry) {
                cells.strays += 1;
                continue;
            }
            cells.tasks.insert(sample.tasks);
            let of_entry = cells.by_entry.entry(&sample.entry).or_default();
            of_entry.entry(sample.tasks).or_default().push(sample);
        }
        cells
    }

    /// The repetitions of one case.
    pub fn cell(&self, entry: &str, tasks: u64) -> &[&'a Sample] {
        self.by_entry.get(entry).and_then(|by_tasks| by_tasks.get(&tasks)).map_or(&[], Vec::as_slice)
    }

    /// All cases of one entry, by number of tasks.
    pub fn of_entry(&self, entry: &str) -> impl Iterator<Item = &[&'a Sample]> {
        self.by_entry.get(entry).into_iter().flat_map(|by_tasks| by_tasks.values().map(Vec::as_slice))
    }

    pub fn all(&self) -> impl Iterator<Item = &[&'a Sample]> {
        self.by_entry.values().flat_map(|by_tasks| by_tasks.values().map(Vec::as_slice))
    }
}

/// Memory sources, the most frequent first; equally frequent ones in order of quality.
pub fn most_usual(samples: &[&Sample]) -> Vec<SourceCount> {
    let mut runs: BTreeMap<MemorySource, u64> = BTreeMap::new();
    for sample in samples.iter().filter(|sample| sample.memory.plateau.is_some()) {
        *runs.entry(sample.memory.source).or_default() += 1;
    }
    let mut counts: Vec<SourceCount> =
        runs.into_iter().map(|(source, runs)| SourceCount { source, runs }).collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.runs));
    counts
}
