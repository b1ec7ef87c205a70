//! From two campaigns to a [`Comparison`]: which cells stand against which, and what can be said of them.

use std::collections::{BTreeMap, BTreeSet};

use super::differ::{differences, outcomes};
use super::judge::{judge, of_cell, of_line};
use super::model::{COMPARISON_SCHEMA, Comparison, Origin};
use crate::catalog::Shape;
use crate::figures::{self, Figure};
use crate::record::{Campaign, EntryFacts, Sample, Status, Warning, last_attempts};
use crate::units;

/// One campaign of a comparison.
#[derive(Debug, Clone, Copy)]
pub struct Input<'a> {
    /// The folder as it was named.
    pub folder: &'a str,
    pub campaign: &'a Campaign,
    pub samples: &'a [Sample],
    /// The one entry that is compared, in place of all.
    pub entry: Option<&'a str>,
}

/// What is compared unless told otherwise.
pub fn default_metrics(shape: Shape) -> Vec<&'static Figure> {
    match shape {
        Shape::Hold => vec![&figures::FOOTPRINT, &figures::BYTES_PER_TASK],
        Shape::Work => vec![&figures::WALL_PER_OP, &figures::CPU_PER_OP, &figures::PEAK],
    }
}

/// What is compared, and when that is a failure.
#[derive(Debug, Clone)]
pub struct Settings {
    pub metrics: Vec<&'static Figure>,
    /// Differences up to this share are none; by default 1 % of memory and 5 % of time.
    pub margin: Option<f64>,
    /// Above which share a regression is a failure.
    pub fail_above: Option<f64>,
    /// Whether what NEW lacks is no failure: cells that it has not measured, runs that are ok no more.
    pub allow_missing: bool,
}

/// Why two campaigns cannot be compared.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum CompareError {
    #[error("the campaigns are of different workloads: {base} has {base_workload}, {new} has {new_workload}")]
    Workloads { base: String, base_workload: String, new: String, new_workload: String },
    #[error("{folder} has no entry `{entry}`{}", did_you_mean(nearest))]
    NoEntry { folder: String, entry: String, nearest: Option<String>, there: Vec<String> },
    #[error("no cell was measured in both {base} and {new}")]
    NothingInCommon { base: String, new: String },
    #[error("{}", not_judged(cells, *judged, *of))]
    NotJudged { cells: Vec<String>, judged: usize, of: usize },
}

/// How many cells a message names before it says "and N more".
const NAMED: usize = 8;

fn not_judged(cells: &[String], judged: usize, of: usize) -> String {
    let mut text = format!("--fail-above has no answer: {judged} of {of} cells could be judged");
    if cells.is_empty() {
        text.push_str(", as their runs differ too much from each other");
    }
    for cell in cells.iter().take(NAMED) {
        text.push_str(&format!("\n  {cell}"));
    }
    if cells.len() > NAMED {
        text.push_str(&format!("\n  and {} more", cells.len() - NAMED));
    }
    text
}

fn did_you_mean(nearest: &Option<String>) -> String {
    nearest.as_ref().map(|nearest| format!("; did you mean `{nearest}`?")).unwrap_or_default()
}

impl Comparison {
    /// Sets two campaigns of one part each side by side. Only the last attempt of each repetition of a cell counts.
    pub fn build(base: Input, new: Input, settings: &Settings) -> Result<Comparison, CompareError> {
        if base.campaign.plan.part() != new.campaign.plan.part() {
            return Err(CompareError::Workloads {
                base: base.folder.to_owned(),
                base_workload: base.campaign.plan.part().to_string(),
                new: new.folder.to_owned(),
                new_workload: new.campaign.plan.part().to_string(),
            });
        }
        let (base, new) = (Side::of(base), Side::of(new));
        base.check()?;
        new.check()?;
        let pairs = pairs(&base, &new);
        let mut out = Comparison {
            schema: COMPARISON_SCHEMA,
            workload: base.input.campaign.plan.part().to_string(),
            base: base.origin(),
            new: new.origin(),
            differences: differences(&base, &new, &pairs),
            metrics: settings.metrics.clone(),
            verdict_confidence: 0.0,
            cells: Vec::new(),
            outcomes: Vec::new(),
            only_base: only(&base, &new, pairs.iter().map(|(old, new)| (old, new)), |_| true),
            only_new: only(&new, &base, pairs.iter().map(|(old, new)| (new, old)), |_| true),
            missing: only(&base, &new, pairs.iter().map(|(old, new)| (old, new)), is_ok),
            fail_above: settings.fail_above,
            allow_missing: settings.allow_missing,
            regressions: None,
            unjudged: Vec::new(),
        };
        let mut judged = Vec::new();
        for &metric in &settings.metrics {
            for (old, new_name) in &pairs {
                if metric.of_line() {
                    judged.extend(of_line(metric, &base, old, &new, new_name));
                    continue;
                }
                for tasks in base.tasks_of(old).intersection(&new.tasks_of(new_name)) {
                    judged.extend(of_cell(metric, &base, old, &new, new_name, *tasks));
                }
            }
        }
        for (old, new_name) in &pairs {
            out.outcomes.extend(outcomes(&base, old, &new, new_name));
        }
        if judged.is_empty() && out.outcomes.is_empty() {
            let (base, new) = (base.input.folder.to_owned(), new.input.folder.to_owned());
            return Err(CompareError::NothingInCommon { base, new });
        }
        (out.cells, out.verdict_confidence) = judge(&judged, settings);
        if settings.fail_above.is_some() {
            out.regressions = Some(out.count_regressions());
            out.unjudged = out.find_unjudged(&base);
        }
        Ok(out)
    }
}

/// One campaign, its counting samples by entry and number of tasks.
pub(super) struct Side<'a> {
    pub(super) input: Input<'a>,
    cells: BTreeMap<&'a str, BTreeMap<u64, Vec<&'a Sample>>>,
}

impl<'a> Side<'a> {
    fn of(input: Input<'a>) -> Side<'a> {
        let mut cells: BTreeMap<&str, BTreeMap<u64, Vec<&Sample>>> = BTreeMap::new();
        let part = input.campaign.plan.part();
        for sample in last_attempts(input.samples) {
            if sample.is_of(&part) && input.entry.is_none_or(|e| e == sample.entry) {
                cells.entry(&sample.entry).or_default().entry(sample.tasks).or_default().push(sample);
            }
        }
        Side { input, cells }
    }

    fn check(&self) -> Result<(), CompareError> {
        let Some(entry) = self.input.entry else { return Ok(()) };
        let there: Vec<String> = self.names().map(str::to_owned).collect();
        if there.iter().any(|name| name == entry) {
            return Ok(());
        }
        let distance = |name: &&String| strsim::damerau_levenshtein(name, entry);
        let nearest = there.iter().min_by_key(distance).filter(|name| distance(name) <= 1 + entry.len() / 3);
        Err(CompareError::NoEntry {
            folder: self.input.folder.to_owned(),
            entry: entry.to_owned(),
            nearest: nearest.cloned(),
            there,
        })
    }

    /// All entries of the campaign, in the catalogue's order.
    fn names(&self) -> impl Iterator<Item = &'a str> {
        self.input.campaign.entries.iter().map(|facts| facts.name.as_str())
    }

    pub(super) fn facts(&self, entry: &str) -> Option<&'a EntryFacts> {
        self.input.campaign.entries.iter().find(|facts| facts.name == entry)
    }

    pub(super) fn tasks_of(&self, entry: &str) -> BTreeSet<u64> {
        self.cells.get(entry).into_iter().flat_map(|by_tasks| by_tasks.keys().copied()).collect()
    }

    pub(super) fn cell(&self, entry: &str, tasks: u64) -> &[&'a Sample] {
        self.cells.get(entry).and_then(|by_tasks| by_tasks.get(&tasks)).map_or(&[], Vec::as_slice)
    }

    pub(super) fn ok(&self, entry: &str, tasks: u64) -> Vec<&'a Sample> {
        self.cell(entry, tasks).iter().copied().filter(|sample| sample.status == Status::Ok).collect()
    }

    /// The planned cells of which nothing is recorded, but for those of entries that could not run.
    pub(super) fn unmeasured(&self) -> Vec<(&'a str, u64)> {
        let chosen = self.names().filter(|name| self.input.entry.is_none_or(|entry| entry == *name));
        let able = chosen.filter(|name| self.facts(name).is_some_and(|facts| facts.unavailable.is_none()));
        able.flat_map(|name| {
            let measured = self.tasks_of(name);
            let planned = self.input.campaign.plan.tasks.iter().copied();
            planned.filter(move |tasks| !measured.contains(tasks)).map(move |tasks| (name, tasks))
        })
        .collect()
    }

    fn origin(&self) -> Origin {
        let runs = || self.cells.values().flat_map(BTreeMap::values).flatten();
        Origin {
            runs: runs().count() as u64,
            busy_runs: runs().filter(|run| run.warnings.contains(&Warning::MachineBusy)).count() as u64,
            folder: self.input.folder.to_owned(),
            created_at: self.input.campaign.created_at,
            repetitions: self.input.campaign.plan.repetitions,
            entry: self.input.entry.map(str::to_owned),
        }
    }
}

/// The entries that stand against each other: the two that were chosen, or those of the same name.
fn pairs(base: &Side, new: &Side) -> Vec<(String, String)> {
    match (base.input.entry, new.input.entry) {
        (Some(old), Some(new)) => vec![(old.to_owned(), new.to_owned())],
        _ => {
            let there: BTreeSet<&str> = new.names().collect();
            let common = base.names().filter(|name| there.contains(name));
            common.map(|name| (name.to_owned(), name.to_owned())).collect()
        }
    }
}

fn is_ok(sample: &Sample) -> bool {
    sample.status == Status::Ok
}

/// What one side has and the other has not, by name: `rust/thread`, or `rust/thread × 1M`. Each of `pairs` is the
/// side's own entry and its counterpart. Only cells that have a run which `counts`.
fn only<'p>(
    side: &Side,
    other: &Side,
    pairs: impl Iterator<Item = (&'p String, &'p String)> + Clone,
    counts: fn(&Sample) -> bool,
) -> Vec<String> {
    let mut names = Vec::new();
    for name in side.names().filter(|name| side.input.entry.is_none_or(|entry| entry == *name)) {
        let mut tasks = side.tasks_of(name);
        tasks.retain(|n| side.cell(name, *n).iter().any(|sample| counts(sample)));
        let Some((_, counterpart)) = pairs.clone().find(|(own, _)| *own == name) else {
            if !tasks.is_empty() {
                names.push(name.to_owned());
            }
            continue;
        };
        let there = other.tasks_of(counterpart);
        if there.is_empty() && other.facts(counterpart).is_some_and(|facts| facts.unavailable.is_some()) {
            // An entry that cannot run is told of as an outcome.
            continue;
        }
        for n in tasks.difference(&there) {
            let planned = other.input.campaign.plan.tasks.contains(n);
            let why = if planned { " (planned, but not measured there)" } else { "" };
            names.push(format!("{name} × {}{why}", units::count(*n)));
        }
    }
    names
}
