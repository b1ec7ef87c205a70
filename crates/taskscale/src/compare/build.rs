//! Builds a [`Comparison`] from two campaigns: pairs their cases and judges them.

use std::collections::BTreeSet;

use super::CompareError;
use super::differ::{differences, outcomes};
use super::judge::judge;
use super::model::{COMPARISON_SCHEMA, Comparison};
use super::readings::Pair;
use super::side::{CompareSettings, Input, Side};
use crate::catalog::Shape;
use crate::metrics::{self, MetricDef};
use crate::record::{Sample, Status};
use crate::units;

/// The metrics that are always compared and judged.
pub fn default_metrics(shape: Shape) -> Vec<&'static MetricDef> {
    match shape {
        Shape::Hold | Shape::Serve => vec![&metrics::FOOTPRINT, &metrics::BYTES_PER_TASK],
        Shape::Work => vec![&metrics::WALL_PER_OP, &metrics::CPU_PER_OP, &metrics::PEAK],
    }
}

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
            only_base: only(&base, &new, pairs.iter().map(|(old, new)| (old, new)), |_| true),
            only_new: only(&new, &base, pairs.iter().map(|(old, new)| (new, old)), |_| true),
            missing: only(&base, &new, pairs.iter().map(|(old, new)| (old, new)), is_ok),
            fail_above: settings.fail_above,
            allow_missing: settings.allow_missing,
            failures: None,
            undecided: Vec::new(),
        };
        let mut pending = Vec::new();
        for (old_name, new_name) in &pairs {
            let pair = Pair { base: &base, new: &new, old_name, new_name };
            pending.extend(pair.pending(settings));
            out.outcomes.extend(outcomes(&base, old_name, &new, new_name));
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
            let why = if planned { " (planned, but not measured)" } else { "" };
            names.push(format!("{name} × {}{why}", units::count(*n)));
        }
    }
    names
}
