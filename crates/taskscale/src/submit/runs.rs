//! Checks the samples of results against the plan and against each other. Pure.

use std::collections::{BTreeMap, BTreeSet};

use super::{SubmissionRule, Violation};
use crate::campaign::plan_digest;
use crate::catalog::Shape;
use crate::document::joined;
use crate::record::{
    Campaign, EntryFacts, MemorySource, Plan, PlansBySeries, RunKey, Sample, Status, Warning, last_attempts,
};
use crate::units;

/// Tolerance of clocks, in seconds: they are adjusted while machines run, and start times are whole seconds.
const CLOCK_S: f64 = 2.0;
/// A clock may be set back once, and once more per this many runs.
const STEPS_BACK: usize = 500;
/// Share of runs on a busy machine from which results are refused.
const BUSY_SHARE: f64 = 0.05;

/// `rust/thread, sleep, 10k tasks, repetition 2`.
pub fn label(sample: &Sample) -> String {
    label_of(&sample.entry, &sample.series().to_string(), sample.tasks, sample.repetition, sample.is_double())
}

fn label_of(entry: &str, part: &str, tasks: u64, repetition: u32, double: bool) -> String {
    let double = if double { ", doubled" } else { "" };
    format!("{entry}, {part}, N = {}, repetition {repetition}{double}", units::count(tasks))
}

/// The plan that a sample belongs to.
pub fn plan_of<'a>(plans: &PlansBySeries<'a>, sample: &Sample) -> Option<&'a Plan> {
    let (series, (entry, tasks, repetition, _)) = sample.run();
    let (_, plan) = plans.get(&series)?;
    let has = plan.entries.iter().any(|name| name == entry)
        && plan.tasks.contains(&tasks)
        && (1..=plan.repetitions).contains(&repetition);
    has.then_some(*plan)
}

/// Samples outside the plan, and duplicates.
pub fn outside(campaign: &Campaign, plans: &PlansBySeries, samples: &[Sample]) -> Vec<Violation> {
    let mut found = Vec::new();
    if plan_digest(&campaign.plan, &campaign.further_plans) != campaign.plan_digest {
        found.push(Violation::new(SubmissionRule::Plan, "plan_digest does not match the plan"));
    }
    let strays = samples.iter().filter(|sample| plan_of(plans, sample).is_none());
    found.extend(Violation::of_many(SubmissionRule::Plan, strays, |sample| {
        format!("not planned: {}", label(sample))
    }));
    let mut order: Vec<&Sample> = samples.iter().collect();
    // A stable sort: duplicates of an attempt keep their order.
    order.sort_by(|a, b| a.run().cmp(&b.run()).then(a.attempt.cmp(&b.attempt)));
    let mut wrong = Vec::new();
    let mut before: Option<&Sample> = None;
    for sample in order {
        let same_run = before.filter(|before| before.run() == sample.run());
        // Both are in one list, so the earlier one has the lower address.
        let follows = |before: &Sample| {
            before.attempt + 1 == sample.attempt && std::ptr::from_ref(before) < std::ptr::from_ref(sample)
        };
        if same_run.is_some_and(|before| before.attempt == sample.attempt) {
            wrong.push((sample, true));
            continue;
        }
        if sample.attempt > 1 && !same_run.is_some_and(follows) {
            wrong.push((sample, false));
        }
        before = Some(sample);
    }
    found.extend(Violation::of_many(SubmissionRule::Plan, wrong, |(sample, duplicate)| match duplicate {
        true => format!("duplicate: {}, attempt {}", label(sample), sample.attempt),
        false => format!("attempt {} out of order: {}", sample.attempt, label(sample)),
    }));
    found
}

/// Planned runs without a sample. Failed runs are not repeated with twice the operations, and entries that are not
/// installed have no runs.
pub fn missing(campaign: &Campaign, samples: &[Sample]) -> Option<Violation> {
    let last = last_attempts(samples);
    let status = |run: RunKey| {
        last.binary_search_by(|sample| sample.run().cmp(&run)).ok().map(|position| last[position].status)
    };
    let measured: BTreeSet<(&str, &str)> =
        samples.iter().map(|sample| (&*sample.entry, &*sample.workload)).collect();
    let unavailable = campaign.entries.iter().filter(|facts| facts.unavailable.is_some());
    let unavailable: BTreeSet<(&str, Option<&str>)> =
        unavailable.map(|facts| (&*facts.name, facts.workload.as_deref())).collect();
    let absent = |name: &str, workload: &str| {
        let unavailable =
            unavailable.contains(&(name, None)) || unavailable.contains(&(name, Some(workload)));
        unavailable && !measured.contains(&(name, workload))
    };
    let mut missing = Vec::new();
    for plan in campaign.plans() {
        let part = (&*plan.workload, &plan.params, plan.cpus);
        let doubles = if plan.shape == Shape::Work { &[false, true][..] } else { &[false] };
        for entry in plan.entries.iter().filter(|entry| !absent(entry, &plan.workload)) {
            let runs =
                plan.tasks.iter().flat_map(|tasks| (1..=plan.repetitions).map(move |nth| (tasks, nth)));
            for (&tasks, repetition) in runs {
                let status = |double| status((part, (entry, tasks, repetition, double)));
                let spared = status(false).is_some_and(|first| first != Status::Ok);
                let made = |double: bool| (double && spared) || status(double).is_some();
                let doubles = doubles.iter().filter(|double| !made(**double));
                missing.extend(doubles.map(|double| (plan, entry, tasks, repetition, *double)));
            }
        }
    }
    Violation::of_many(SubmissionRule::Whole, missing, |(plan, entry, tasks, repetition, double)| {
        let run = label_of(entry, &plan.series().to_string(), tasks, repetition, double);
        format!("not measured: {run}")
    })
}

/// Doubled runs without twice the operations of their first run.
pub fn not_doubled(samples: &[Sample]) -> Option<Violation> {
    let last = last_attempts(samples);
    let operations = |sample: &Sample| sample.work.as_ref().map_or(0, |work| work.operations);
    let pairs = last.windows(2).filter_map(|pair| {
        let [first, double] = pair else { return None };
        let (series, (entry, tasks, repetition, doubled)) = double.run();
        (doubled && first.run() == (series, (entry, tasks, repetition, false))).then_some((first, double))
    });
    let wrong = pairs.filter(|(first, double)| operations(first).checked_mul(2) != Some(operations(double)));
    Violation::of_many(SubmissionRule::Figures, wrong, |(_, double)| {
        format!("not twice the operations of its first run ({})", label(double))
    })
}

/// Results mixed from several memory sources, caps or versions.
pub fn mixed(campaign: &Campaign, samples: &[Sample]) -> Vec<Violation> {
    let mut found = Vec::new();
    let conditions = campaign.conditions.unwrap_or_default();
    let read = samples.iter().filter(|sample| sample.memory.plateau.is_some());
    let sources: BTreeSet<MemorySource> =
        read.map(|sample| sample.memory.source).chain(conditions.memory_source).collect();
    if sources.len() > 1 {
        let names = joined(sources.iter().map(|source| source.name()), ", ");
        found.push(Violation::new(SubmissionRule::Alike, format!("several memory sources: {names}")));
    }
    if let Some(cap) = conditions.memory_cap_bytes {
        let other = samples
            .iter()
            .filter(|sample| sample.memory.cap_bytes.map_or(sample.status == Status::Ok, |own| own != cap));
        found.extend(Violation::of_many(SubmissionRule::Alike, other, |sample| {
            format!("memory cap differs from campaign.json: {}", label(sample))
        }));
    }
    let facts: BTreeMap<(&str, Option<&str>), &EntryFacts> =
        campaign.entries.iter().map(|facts| ((&*facts.name, facts.workload.as_deref()), facts)).collect();
    let versions: BTreeSet<(&str, &str, Option<&str>)> =
        samples.iter().map(|sample| (&*sample.entry, &*sample.workload, sample.version.as_deref())).collect();
    let other = versions.into_iter().filter_map(|(entry, workload, own)| {
        let facts = facts.get(&(entry, Some(workload))).or_else(|| facts.get(&(entry, None)));
        match (facts, own) {
            (None, _) => Some(format!("{entry} is not among the entries of campaign.json")),
            (Some(facts), Some(own)) => {
                let recorded = facts.version.as_deref().filter(|recorded| *recorded != own)?;
                Some(format!("{entry} has version {recorded}, but a run has {own}"))
            }
            _ => None,
        }
    });
    found.extend(Violation::of_many(SubmissionRule::Alike, other, |what| what));
    found
}

/// Whether too many runs were on a busy machine.
pub fn busy(samples: &[Sample]) -> Option<Violation> {
    let counting = last_attempts(samples);
    let busy = counting.iter().filter(|sample| sample.warnings.contains(&Warning::MachineBusy)).count();
    (busy as f64 >= BUSY_SHARE * counting.len() as f64 && busy > 0).then(|| {
        let share = units::decimal(100.0 * busy as f64 / counting.len() as f64, 1);
        let what = format!("{busy} of {} runs were on a busy machine ({share}%)", counting.len());
        Violation::new(SubmissionRule::Quiet, what)
    })
}

/// Runs that overlap, or began before the results.
pub fn out_of_order(campaign: &Campaign, samples: &[Sample]) -> Option<Violation> {
    let mut ended_s = campaign.created_at.unix_s() as f64;
    // A clock may be set back before measuring is resumed.
    let allowed = 1 + samples.len() / STEPS_BACK;
    let mut wrong = Vec::new();
    for sample in samples {
        let started_s = sample.started_at.unix_s() as f64;
        if started_s < ended_s - CLOCK_S {
            wrong.push(sample);
        }
        ended_s = started_s + sample.time.wall_s.filter(|wall| wall.is_finite()).unwrap_or(0.0);
    }
    let what = |sample: &Sample| format!("overlaps the previous run: {}", label(sample));
    if wrong.len() <= allowed { None } else { Violation::of_many(SubmissionRule::Times, wrong, what) }
}
