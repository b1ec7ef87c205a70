//! The samples of a campaign against its plan and against each other. Pure.

use std::collections::BTreeSet;

use super::{Finding, Rule};
use crate::campaign::{PlannedRun, plan_digest, planned_runs};
use crate::record::{Campaign, MemorySource, Plan, Sample, Status, Warning, last_attempts};
use crate::units;

/// Clocks are set while machines run, and whole seconds are looked at: a run may seem to begin so many seconds before
/// the one before it ended.
const CLOCK_S: f64 = 2.0;
/// Of so large a share of runs, or more, with other work beside them nobody knows what they are of.
const BUSY_SHARE: f64 = 0.05;

/// `rust/thread, sleep, 10k tasks, repetition 2`.
pub fn label(sample: &Sample) -> String {
    label_of(&sample.entry, &sample.part().to_string(), sample.tasks, sample.repetition, sample.is_double())
}

fn label_of(entry: &str, part: &str, tasks: u64, repetition: u32, double: bool) -> String {
    let double = if double { ", doubled" } else { "" };
    format!("{entry}, {part}, N = {}, repetition {repetition}{double}", units::count(tasks))
}

/// The plan that a sample is of.
pub fn plan_of<'a>(campaign: &'a Campaign, sample: &Sample) -> Option<&'a Plan> {
    campaign.plans().find(|plan| {
        sample.is_of(&plan.part())
            && plan.entries.contains(&sample.entry)
            && plan.tasks.contains(&sample.tasks)
            && (1..=plan.repetitions).contains(&sample.repetition)
    })
}

/// Samples that are of no run of the plan, or of one that is there already.
pub fn outside(campaign: &Campaign, samples: &[Sample]) -> Vec<Finding> {
    let mut found = Vec::new();
    if plan_digest(&campaign.plan, &campaign.further_plans) != campaign.plan_digest {
        found.push(Finding::new(Rule::Plan, "plan_digest is not that of the plan"));
    }
    let strays = samples.iter().filter(|sample| plan_of(campaign, sample).is_none()).map(label);
    found.extend(Finding::of_many(Rule::Plan, strays.map(|label| format!("not planned: {label}")).collect()));
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    for sample in samples {
        let run = (sample.cell(), sample.repetition, sample.is_double());
        if !seen.insert((run.clone(), sample.attempt)) {
            wrong.push(format!("twice: {}, attempt {}", label(sample), sample.attempt));
        } else if sample.attempt > 1 && !seen.contains(&(run, sample.attempt - 1)) {
            wrong.push(format!("attempt {} before the one before it: {}", sample.attempt, label(sample)));
        }
    }
    found.extend(Finding::of_many(Rule::Plan, wrong));
    found
}

/// Runs of the plan that no sample is of. What failed once is not tried with twice as many operations, and what is not
/// installed not at all.
pub fn missing(campaign: &Campaign, samples: &[Sample]) -> Vec<String> {
    let last = last_attempts(samples);
    let absent = |name: &str, workload: &str| {
        let unavailable = campaign.entries.iter().any(|facts| {
            facts.name == name
                && facts.unavailable.is_some()
                && facts.workload.as_deref().is_none_or(|own| own == workload)
        });
        unavailable && !samples.iter().any(|sample| sample.entry == name && sample.workload == workload)
    };
    let runs = planned_runs(campaign).into_iter().filter(|run| {
        let made = last.iter().any(|sample| run.has(sample));
        let first = PlannedRun { double: false, ..run.clone() };
        let fell = || last.iter().any(|sample| first.has(sample) && sample.status != Status::Ok);
        let spared = absent(&run.cell.entry, &run.cell.part.workload) || run.double && fell();
        !(made || spared)
    });
    runs.map(|run| {
        let part = run.cell.part.to_string();
        label_of(&run.cell.entry, &part, run.cell.tasks, run.repetition, run.double)
    })
    .collect()
}

/// Two ways of measuring, two caps, two versions: two campaigns in one.
pub fn mixed(campaign: &Campaign, samples: &[Sample]) -> Vec<Finding> {
    let mut found = Vec::new();
    let conditions = campaign.conditions.unwrap_or_default();
    let read = samples.iter().filter(|sample| sample.memory.plateau.is_some());
    let sources: BTreeSet<MemorySource> =
        read.map(|sample| sample.memory.source).chain(conditions.memory_source).collect();
    if sources.len() > 1 {
        let names: Vec<&str> = sources.iter().map(|source| source.name()).collect();
        found.push(Finding::new(Rule::Alike, format!("memory was read by {}", names.join(" and by "))));
    }
    if let Some(cap) = conditions.memory_cap_bytes {
        let other = samples.iter().filter(|sample| sample.memory.cap_bytes.is_some_and(|own| own != cap));
        let other = other.map(|sample| format!("another cap than the campaign's: {}", label(sample)));
        found.extend(Finding::of_many(Rule::Alike, other.collect()));
    }
    let mut versions = Vec::new();
    for sample in samples {
        let facts = campaign.entries.iter().find(|facts| {
            facts.name == sample.entry
                && facts.workload.as_ref().is_none_or(|workload| *workload == sample.workload)
        });
        let Some(facts) = facts else {
            versions.push(format!("{} is not among the entries of campaign.json", sample.entry));
            continue;
        };
        if let (Some(own), Some(recorded)) = (&sample.version, &facts.version)
            && **own != **recorded
        {
            versions.push(format!("{} is of {recorded}, and a run of it of {own}", facts.name));
        }
    }
    versions.dedup();
    found.extend(Finding::of_many(Rule::Alike, versions));
    found
}

/// Whether other work was beside too many of them.
pub fn busy(samples: &[Sample]) -> Option<Finding> {
    let counting = last_attempts(samples);
    let busy = counting.iter().filter(|sample| sample.warnings.contains(&Warning::MachineBusy)).count();
    (busy as f64 >= BUSY_SHARE * counting.len() as f64 && busy > 0).then(|| {
        let share = units::decimal(100.0 * busy as f64 / counting.len() as f64, 1);
        let what =
            format!("other work kept the machine busy in {busy} of {} runs ({share} %)", counting.len());
        Finding::new(Rule::Quiet, what)
    })
}

/// Runs that overlap, or are older than their campaign.
pub fn out_of_order(campaign: &Campaign, samples: &[Sample]) -> Option<Finding> {
    let mut ended_s = campaign.created_at.unix_s() as f64;
    let mut wrong = Vec::new();
    for sample in samples {
        let started_s = sample.started_at.unix_s() as f64;
        if started_s < ended_s - CLOCK_S {
            wrong.push(format!("began before what stands before it had ended: {}", label(sample)));
        }
        ended_s = started_s + sample.time.wall_s.filter(|wall| wall.is_finite()).unwrap_or(0.0);
    }
    Finding::of_many(Rule::Times, wrong)
}
