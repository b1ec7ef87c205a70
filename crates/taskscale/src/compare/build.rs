//! Builds a [`Comparison`] from two campaigns: pairs their cases and judges them.

use std::collections::BTreeSet;

use super::CompareError;
use super::differ::differences;
use super::judge::judge;
use super::model::{COMPARISON_SCHEMA, Comparison};
use super::side::{CompareSettings, Input, Pair, Side};
use crate::record::{Sample, Status};
use crate::units;

impl Comparison {
    /// Compares two campaigns of one series each. Only the last attempt of each repetition counts.
    pub fn build(base: Input, new: Input, settings: &CompareSettings) -> Result<Comparison, CompareError> {
        if base.campaign.plan.series() != new.campaign.plan.series() {
            return Err(CompareError::Workloads {
                base: base.folder.to_owned(),
                base_workload: base.campaign.plan.series().to_string(),
                new: new.folder.to_owned(),
                new_workload: new.campaign.plan.series().to_string(),
            });
        }
        let (base, new) = (Side::of(base), Side::of(new));
        base.check()?;
        new.check()?;
        let pairs = pairs(&base, &new);
        let reversed_pairs: Vec<Pair> =
            pairs.iter().map(|pair| Pair { base: pair.new, new: pair.base }).collect();
        let differences = differences(&base, &new, &pairs);
        let of_another: Vec<String> = differences
            .iter()
            .filter(|difference| difference.across && !settings.across)
            .map(|difference| format!("{} ({}, {})", difference.what, difference.base, difference.new))
            .collect();
        if !of_another.is_empty() {
            return Err(CompareError::Across { what: of_another });
        }
        let mut out = Comparison {
            schema: COMPARISON_SCHEMA,
            workload: base.input.campaign.plan.series().to_string(),
            base: base.origin(),
            new: new.origin(),
            differences,
            metrics: settings.metrics.iter().map(|metric| metric.figure).collect(),
            verdict_confidence: 0.0,
            cells: Vec::new(),
            outcomes: Vec::new(),
            only_base: only(&base, &new, &pairs, |_| true),
            only_new: only(&new, &base, &reversed_pairs, |_| true),
            missing: only(&base, &new, &pairs, |sample| sample.status == Status::Ok),
            fail_above: settings.fail_above,
            allow_missing: settings.allow_missing,
            failures: None,
            undecided: Vec::new(),
        };
        let mut pending = Vec::new();
        for pair in &pairs {
            pending.extend(pair.pending(settings));
            out.outcomes.extend(pair.outcomes());
        }
        if pending.is_empty() && out.outcomes.is_empty() {
            let (base, new) = (base.input.folder.to_owned(), new.input.folder.to_owned());
            return Err(CompareError::NothingInCommon { base, new });
        }
        (out.cells, out.verdict_confidence) = judge(pending, settings);
        if settings.fail_above.is_some() {
            out.failures = Some(out.count_failures());
            out.undecided = out.find_undecided(&base);
        }
        Ok(out)
    }
}

/// The pairs of entries to compare: the two that were selected, or those of the same name.
fn pairs<'a>(base: &'a Side<'a>, new: &'a Side<'a>) -> Vec<Pair<'a>> {
    let pair = |old, name| Pair { base: base.entry(old), new: new.entry(name) };
    match (base.input.entry, new.input.entry) {
        (Some(old), Some(name)) => vec![pair(old, name)],
        _ => {
            let there: BTreeSet<&str> = new.names().collect();
            base.names().filter(|name| there.contains(name)).map(|name| pair(name, name)).collect()
        }
    }
}

/// Names of entries and cases that `other` lacks: `rust/thread`, or `rust/thread × 1M`. In `pairs`, `base` is
/// this side's entry. Lists only cases with a run that `counts`.
fn only(side: &Side, other: &Side, pairs: &[Pair], counts: fn(&Sample) -> bool) -> Vec<String> {
    let mut names = Vec::new();
    for own in side.chosen() {
        let name = own.name;
        let mut tasks = own.tasks();
        tasks.retain(|n| own.runs(*n).iter().any(|sample| counts(sample)));
        let Some(pair) = pairs.iter().find(|pair| pair.base.name == name) else {
            names.extend((!tasks.is_empty()).then(|| name.to_owned()));
            continue;
        };
        // An entry that cannot run is shown as an outcome.
        if pair.new.unavailable().is_some() {
            continue;
        }
        let there = pair.new.tasks();
        for n in tasks.difference(&there) {
            let planned = other.input.campaign.plan.tasks.contains(n);
            let why = if planned { " (planned, but not measured)" } else { "" };
            names.push(format!("{name} × {}{why}", units::count(*n)));
        }
    }
    names
}
