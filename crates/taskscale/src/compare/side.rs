//! One side of a comparison: a campaign of one series, with its last attempts by entry and number of tasks.

use std::collections::{BTreeMap, BTreeSet};

use super::CompareError;
use super::model::ComparedResults;
use crate::catalog::did_you_mean;
use crate::metrics::MetricDef;
use crate::record::{Campaign, EntryFacts, Sample, Status, Warning, last_attempts};
use crate::report::Cells;
use crate::units;

/// One campaign of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The folder as it was named.
    pub folder: &'a str,
    pub campaign: &'a Campaign,
    pub samples: &'a [Sample],
    /// The only entry to compare, if selected.
    pub entry: Option<&'a str>,
}

/// A metric that is compared, with the difference that counts.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ComparedMetric {
    pub figure: &'static MetricDef,
    /// Differences up to this share count as the same, and `--fail-above` fails above it. By default 5% for times, and
    /// for memory 1% and `fail_above`.
    pub margin: Option<f64>,
}

impl From<&'static MetricDef> for ComparedMetric {
    fn from(figure: &'static MetricDef) -> ComparedMetric {
        ComparedMetric { figure, margin: None }
    }
}

/// What is compared, and when it fails.
#[derive(Debug, Clone)]
pub struct CompareSettings {
    /// How many series are compared at once: they share the false alarms.
    pub series: usize,
    pub metrics: Vec<ComparedMetric>,
    /// The share above which a case fails.
    pub fail_above: Option<f64>,
    /// Whether cases that NEW lacks, and runs that are no longer ok, pass.
    pub allow_missing: bool,
    /// Whether the sides may be of another machine, kernel, CPU count, THP setting or taskscale version.
    pub across: bool,
}

impl CompareSettings {
    /// Compares any two results in these metrics, and fails nothing.
    pub fn ungated(metrics: Vec<ComparedMetric>) -> CompareSettings {
        CompareSettings { series: 1, metrics, fail_above: None, allow_missing: true, across: true }
    }
}

/// An entry of a side.
#[derive(Clone, Copy)]
pub(super) struct SideEntry<'a> {
    pub(super) side: &'a Side<'a>,
    pub(super) name: &'a str,
    pub(super) facts: Option<&'a EntryFacts>,
}

impl<'a> SideEntry<'a> {
    /// The numbers of tasks that have runs.
    pub(super) fn tasks(&self) -> BTreeSet<u64> {
        self.side.cells.by_entry.get(self.name).into_iter().flat_map(BTreeMap::keys).copied().collect()
    }

    pub(super) fn runs(&self, tasks: u64) -> &'a [&'a Sample] {
        self.side.cells.cell(self.name, tasks)
    }

    pub(super) fn ok(&self, tasks: u64) -> Vec<&'a Sample> {
        self.runs(tasks).iter().copied().filter(|sample| sample.status == Status::Ok).collect()
    }

    /// Why the entry could not run. `None` if it has runs.
    pub(super) fn unavailable(&self) -> Option<&'a String> {
        self.facts?.unavailable.as_ref().filter(|_| self.tasks().is_empty())
    }
}

/// Two entries that are compared.
#[derive(Clone, Copy)]
pub(super) struct Pair<'a> {
    pub(super) base: SideEntry<'a>,
    pub(super) new: SideEntry<'a>,
}

/// A campaign with its last attempts by entry and number of tasks.
pub(super) struct Side<'a> {
    pub(super) input: Input<'a>,
    cells: Cells<'a>,
}

impl<'a> Side<'a> {
    pub(super) fn of(input: Input<'a>) -> Side<'a> {
        Side { input, cells: Cells::of(input.campaign, &last_attempts(input.samples)) }
    }

    pub(super) fn check(&self) -> Result<(), CompareError> {
        let part = self.input.campaign.plan.series();
        let mut seen = BTreeSet::new();
        for twice in self.input.samples.iter().filter(|sample| sample.is_of(&part)) {
            let run = (&*twice.entry, twice.tasks, twice.repetition, twice.is_double(), twice.attempt);
            if seen.insert(run) {
                continue;
            }
            let case = format!("{} × {}", twice.entry, units::count(twice.tasks));
            let (folder, repetition) = (self.input.folder.to_owned(), twice.repetition);
            return Err(CompareError::Twice { folder, case, repetition });
        }
        let Some(entry) = self.input.entry else { return Ok(()) };
        let there: Vec<String> = self.names().map(str::to_owned).collect();
        if there.iter().any(|name| name == entry) {
            return Ok(());
        }
        Err(CompareError::NoEntry {
            folder: self.input.folder.to_owned(),
            entry: entry.to_owned(),
            nearest: did_you_mean(entry, self.names()),
            there,
        })
    }

    /// All entries of the campaign, in the catalog's order.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> {
        self.input.campaign.entries.iter().map(|facts| facts.name.as_str())
    }

    pub(super) fn entry(&'a self, name: &'a str) -> SideEntry<'a> {
        let facts = self.input.campaign.entries.iter().find(|facts| facts.name == name);
        SideEntry { side: self, name, facts }
    }

    /// The entries that are compared.
    pub(super) fn chosen(&'a self) -> impl Iterator<Item = SideEntry<'a>> {
        let chosen = self.names().filter(move |name| self.input.entry.is_none_or(|entry| entry == *name));
        chosen.map(move |name| self.entry(name))
    }

    /// The planned cases without samples, except those of entries that could not run.
    pub(super) fn unmeasured(&'a self) -> Vec<(&'a str, u64)> {
        let able = self.chosen().filter(|entry| entry.facts.is_some_and(|facts| facts.unavailable.is_none()));
        let planned = &self.input.campaign.plan.tasks;
        let cases = able.flat_map(move |entry| planned.iter().map(move |tasks| (entry, *tasks)));
        let unmeasured = cases.filter(|(entry, tasks)| entry.runs(*tasks).is_empty());
        unmeasured.map(|(entry, tasks)| (entry.name, tasks)).collect()
    }

    pub(super) fn origin(&'a self) -> ComparedResults {
        let runs = || self.chosen().flat_map(|entry| self.cells.of_entry(entry.name)).flatten();
        ComparedResults {
            runs: runs().count() as u64,
            busy_runs: runs().filter(|run| run.warnings.contains(&Warning::MachineBusy)).count() as u64,
            folder: self.input.folder.to_owned(),
            created_at: self.input.campaign.created_at,
            repetitions: self.input.campaign.plan.repetitions,
            entry: self.input.entry.map(str::to_owned),
        }
    }
}
