//! Builds a [`Report`] from a campaign and its samples: which samples count, and the ranking.
//!
//! Must not know how a value is shown.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};

use super::cells::{Cells, most_usual};
use super::conditions::RunConditions;
use super::growth::growth;
use super::load_curve::load_curve;
use super::model::{
    EntryInfo, FailureGroup, Growth, Parts, PlateauCount, REPORT_SCHEMA, Rank, Report, Row, RowGroup,
    Spreads, Unavailable, Version, WarningCount,
};
use crate::catalog::{Shape, reading_order};
use crate::document::joined;
use crate::metrics;
use crate::record::{
    Campaign, EntryFacts, MemorySource, Plateau, PlateauFrom, Sample, Status, Warning, last_attempts,
};
use crate::stats;

impl Report {
    /// Summarizes each series of a campaign.
    pub fn of_parts(campaign: &Campaign, samples: &[Sample]) -> Vec<Report> {
        let parts = campaign.parts(samples);
        let mut reports: Vec<Report> =
            parts.iter().map(|(part, samples)| Report::build(part, samples)).collect();
        reports.sort_by_key(|report| reading_order(&report.workload));
        reports
    }

    /// Summarizes a campaign of one series. Only the last attempt of each run counts.
    pub fn build<S: Borrow<Sample>>(campaign: &Campaign, samples: &[S]) -> Report {
        let last = last_attempts(samples);
        let cells = Cells::of(campaign, &last);
        let unavailable = unavailable(campaign, &cells);
        let missing: BTreeSet<&str> = unavailable.iter().map(|missing| &*missing.entry.name).collect();
        let entries: Vec<&EntryFacts> =
            campaign.entries.iter().filter(|facts| !missing.contains(&*facts.name)).collect();
        let growth: Vec<Growth> =
            entries.iter().filter_map(|facts| growth(facts, campaign, &cells)).collect();
        let memory_sources = most_usual(&cells.all().flat_map(feeding).collect::<Vec<_>>());
        let usual = memory_sources.first().map(|count| count.source);
        Report {
            schema: REPORT_SCHEMA,
            campaign: String::new(),
            taskscale: campaign.taskscale.clone(),
            created_at: campaign.created_at,
            by: campaign.origin.as_ref().map(|origin| origin.by),
            command: campaign.command.clone(),
            seed: campaign.seed,
            plan_digest: campaign.plan_digest.clone(),
            workload: campaign.plan.workload.clone(),
            params: campaign.plan.params.clone(),
            cpus: campaign.plan.cpus,
            shape: campaign.plan.shape,
            operation: campaign.plan.operation.clone(),
            holds_bytes: campaign.plan.holds_bytes,
            tasks: cells.tasks.iter().copied().collect(),
            repetitions: campaign.plan.repetitions,
            hold: campaign.plan.hold,
            machine: campaign.machine.clone(),
            versions: versions(campaign),
            shown: Vec::new(),
            runs: samples.len() as u64,
            // Folded from 0: the empty sum of floating-point numbers is -0.
            measured_s: samples
                .iter()
                .filter_map(|sample| run_s(sample.borrow()))
                .fold(0.0, |sum, s| sum + s),
            measured_s_is_low: samples.iter().any(|sample| {
                let time = &sample.borrow().time;
                time.launch_s.is_some() && time.wall_s.is_none()
            }),
            unmeasured_runs: unmeasured_runs(campaign, &entries, &cells),
            stray_samples: cells.strays,
            groups: groups(campaign, &entries, &cells, &growth, usual),
            growth,
            memory_sources,
            plateaus: plateaus(&cells),
            unavailable,
            warnings: warnings(campaign, &cells),
            rank: Rank::default(),
        }
        .ranked_by(Rank::default())
    }
}

/// The seconds of a run; if its end was not recorded, those up to the end of its plateau.
fn run_s(sample: &Sample) -> Option<f64> {
    let time = &sample.time;
    time.wall_s.or_else(|| Some(time.launch_s? + time.plateau_s.unwrap_or(0.0)))
}

/// The repetitions of a case that count: those that were ok, or else those that were partial.
pub(super) fn feeding<'a>(cell: &[&'a Sample]) -> Vec<&'a Sample> {
    let of = |status: Status| -> Vec<&'a Sample> {
        cell.iter().copied().filter(|sample| sample.status == status).collect()
    };
    let ok = of(Status::Ok);
    if ok.is_empty() { of(Status::Partial) } else { ok }
}

fn groups(
    campaign: &Campaign,
    entries: &[&EntryFacts],
    cells: &Cells,
    growth: &[Growth],
    usual: Option<MemorySource>,
) -> Vec<RowGroup> {
    let mut groups: BTreeMap<u64, Vec<Row>> = cells.tasks.iter().map(|tasks| (*tasks, Vec::new())).collect();
    let shape = campaign.plan.shape;
    let growth: BTreeMap<&str, &Growth> = growth.iter().map(|growth| (&*growth.entry.name, growth)).collect();
    for facts in entries {
        for (&tasks, cell) in cells.by_entry.get(&*facts.name).into_iter().flatten() {
            let entry = EntryInfo::of(facts, campaign.created_at);
            let mut row = row(entry, tasks, shape, cell, growth.get(&*facts.name).copied());
            row.ranked = row.headline.is_some() && row.standing(metrics::headline(shape), usual).is_ranked();
            groups.entry(tasks).or_default().push(row);
        }
    }
    groups.into_iter().map(|(tasks, rows)| RowGroup { tasks, rows }).collect()
}

fn row(entry: EntryInfo, tasks: u64, shape: Shape, cell: &[&Sample], growth: Option<&Growth>) -> Row {
    let fed = feeding(cell);
    let spreads = Spreads::of_runs(&fed, shape);
    let ok_runs = cell.iter().filter(|sample| sample.status == Status::Ok).count();
    let shortfalls = failure_groups(tasks, cell);
    Row {
        entry,
        tasks,
        runs: cell.len() as u32,
        ok_runs: ok_runs as u32,
        status: status(ok_runs, cell.len(), &shortfalls),
        ranked: false,
        footprint_bytes: spreads.of(&metrics::FOOTPRINT),
        kernel_bytes: spreads.median(&metrics::KERNEL),
        peak_bytes: spreads.median(&metrics::PEAK),
        rss_peak_bytes: spreads.median(&metrics::RSS_PEAK),
        bytes_per_task: growth.and_then(|growth| growth.bytes_per_task),
        base_bytes: growth.and_then(|growth| growth.base_bytes),
        linear: growth.and_then(|growth| growth.linear),
        short_alive: shortfalls.iter().filter_map(|failure| failure.short_alive).min(),
        threads: stats::median(
            &fed.iter().filter_map(|sample| Some(sample.threads? as f64)).collect::<Vec<_>>(),
        ),
        launch_s: spreads.median(&metrics::LAUNCH),
        wall_s: spreads.median(&metrics::WALL),
        cpu_s: spreads.median(&metrics::CPU),
        headline: spreads.of(metrics::headline(shape)),
        times_best: None,
        parts: parts(&fed),
        client_limited: fed.iter().any(|sample| sample.is_client_limited()),
        load_curve: load_curve(&fed),
        spreads,
        memory_sources: sources(&fed),
        conditions: RunConditions::of(&fed),
        shortfalls,
    }
}

/// What the median footprint is made of: the mean of the one or two plateaus in the middle.
fn parts(fed: &[&Sample]) -> Option<Parts> {
    // For work, use the first run of each pair, as the footprint does.
    let first = fed.iter().filter(|sample| !sample.is_double());
    let mut plateaus: Vec<&Plateau> = first.filter_map(|sample| sample.memory.plateau.as_ref()).collect();
    plateaus.sort_by_key(|plateau| plateau.footprint_bytes);
    let (lower, upper) = stats::middle_two(&plateaus)?;
    let mean =
        |figure: fn(&Plateau) -> Option<u64>| Some((figure(lower)? as f64 + figure(upper)? as f64) / 2.0);
    let kernel_stack_bytes = mean(|plateau| plateau.kernel_stack_bytes);
    let page_tables_bytes = mean(|plateau| plateau.page_tables_bytes);
    let slab_bytes = mean(|plateau| plateau.slab_bytes);
    let sock_bytes = mean(|plateau| plateau.sock_bytes);
    let items = [kernel_stack_bytes, page_tables_bytes, slab_bytes, sock_bytes];
    let itemised: f64 = items.iter().flatten().sum();
    Some(Parts {
        anon_bytes: mean(|plateau| Some(plateau.anon_bytes))?,
        shmem_bytes: mean(|plateau| Some(plateau.shmem_bytes))?,
        file_bytes: mean(|plateau| Some(plateau.file_bytes))?,
        kernel_stack_bytes,
        page_tables_bytes,
        slab_bytes,
        sock_bytes,
        // The items are read one after another, so they may exceed their total by a page.
        kernel_other_bytes: (mean(|plateau| Some(plateau.kernel_bytes))? - itemised).max(0.0),
    })
}

fn status(ok: usize, runs: usize, shortfalls: &[FailureGroup]) -> String {
    if ok == runs {
        Status::Ok.name().to_owned()
    } else if ok > 0 {
        format!("{ok}/{runs} ok")
    } else {
        joined(shortfalls.iter().map(|failure| failure.status.name()), " + ")
    }
}

/// Most different reasons kept for one status of a case.
const REASONS: usize = 100;

/// The repetitions that were not ok, by status, the most frequent first.
fn failure_groups(tasks: u64, cell: &[&Sample]) -> Vec<FailureGroup> {
    let mut by_status: BTreeMap<Status, Vec<&Sample>> = BTreeMap::new();
    for sample in cell.iter().filter(|sample| sample.status != Status::Ok) {
        by_status.entry(sample.status).or_default().push(sample);
    }
    let group = |(status, samples): (Status, Vec<&Sample>)| {
        let mut seen = BTreeSet::new();
        let reasons = samples.iter().filter_map(|sample| sample.reason.as_ref());
        let reasons = reasons.filter(|reason| seen.insert(*reason)).take(REASONS);
        FailureGroup {
            status,
            runs: samples.len() as u32,
            short_alive: samples
                .iter()
                .filter_map(|sample| sample.alive)
                .filter(|alive| *alive < tasks)
                .min(),
            reasons: reasons.cloned().collect(),
            limit: samples.iter().find_map(|sample| sample.limit.as_deref().cloned()),
        }
    };
    let mut shortfalls: Vec<FailureGroup> = by_status.into_iter().map(group).collect();
    shortfalls.sort_by_key(|failure| std::cmp::Reverse(failure.runs));
    shortfalls
}

/// Entries that are unavailable and have no other runs.
fn unavailable(campaign: &Campaign, cells: &Cells) -> Vec<Unavailable> {
    let missing = |facts: &EntryFacts| {
        let samples: Vec<&Sample> = cells.of_entry(&facts.name).flatten().copied().collect();
        let never_ran = samples.iter().all(|sample| sample.status == Status::Unavailable);
        let of_samples = || samples.iter().find_map(|sample| sample.reason.as_ref());
        let reason = facts.unavailable.as_ref().or_else(of_samples);
        let reason = reason.cloned().unwrap_or_else(|| "no reason was recorded".to_owned());
        (never_ran && (!samples.is_empty() || facts.unavailable.is_some()))
            .then(|| Unavailable { entry: EntryInfo::of(facts, campaign.created_at), reason })
    };
    campaign.entries.iter().filter_map(missing).collect()
}

fn unmeasured_runs(campaign: &Campaign, entries: &[&EntryFacts], cells: &Cells) -> u64 {
    let plan = &campaign.plan;
    let repetitions = u64::from(plan.repetitions);
    let runs_each = plan.runs_a_cell() / repetitions.max(1);
    let planned = |sample: &&&Sample| (1..=plan.repetitions).contains(&sample.repetition);
    let mut unmeasured = 0;
    for facts in entries {
        for &tasks in &plan.tasks {
            let mut measured: BTreeMap<u32, u64> = BTreeMap::new();
            for sample in cells.cell(&facts.name, tasks).iter().filter(planned) {
                // After a failed first run the second, with twice as many operations, is skipped.
                let runs = if sample.status == Status::Ok { 1 } else { runs_each };
                *measured.entry(sample.repetition).or_default() += runs;
            }
            let measured: u64 = measured.values().map(|runs| runs_each.min(*runs)).sum();
            unmeasured += repetitions * runs_each - measured;
        }
    }
    unmeasured
}

fn versions(campaign: &Campaign) -> Vec<Version> {
    let mut seen = BTreeSet::new();
    let measured = |facts: &EntryFacts| {
        Some(Version { runtime: facts.runtime_title.clone(), version: facts.version.clone()? })
    };
    let versions = campaign.entries.iter().filter_map(measured);
    versions.filter(|version| seen.insert(version.clone())).collect()
}

fn sources(samples: &[&Sample]) -> Vec<MemorySource> {
    let measured = samples.iter().filter(|sample| sample.memory.plateau.is_some());
    measured.map(|sample| sample.memory.source).collect::<BTreeSet<_>>().into_iter().collect()
}

fn plateaus(cells: &Cells) -> Vec<PlateauCount> {
    let mut counts: BTreeMap<PlateauFrom, PlateauCount> = BTreeMap::new();
    for sample in cells.all().flat_map(feeding) {
        let Some(from) = sample.plateau_from else { continue };
        let count = counts.entry(from).or_insert(PlateauCount { from, runs: 0, alive_unknown: 0 });
        count.runs += 1;
        count.alive_unknown += u64::from(sample.alive.is_none());
    }
    let mut counts: Vec<PlateauCount> = counts.into_values().collect();
    counts.sort_by_key(|count| std::cmp::Reverse(count.runs));
    counts
}

fn warnings(campaign: &Campaign, cells: &Cells) -> Vec<WarningCount> {
    let mut counts: BTreeMap<Warning, WarningCount> = BTreeMap::new();
    for facts in &campaign.entries {
        for sample in cells.of_entry(&facts.name).flatten() {
            for warning in sample.warnings.iter().copied().collect::<BTreeSet<_>>() {
                let none = || WarningCount { warning, text: warning.text(), runs: 0, entries: Vec::new() };
                let count = counts.entry(warning).or_insert_with(none);
                count.runs += 1;
                if count.entries.last() != Some(&facts.name) {
                    count.entries.push(facts.name.clone());
                }
            }
        }
    }
    counts.into_values().collect()
}
