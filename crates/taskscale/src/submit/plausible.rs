//! Whether values are plausible for real runs: compared with what a task needs at least, with each other, and with
//! other results. Pure.
//!
//! The bounds are generous: the results in results/ are far from each. Honest results of an unusual machine
//! pass, and carelessly invented ones do not.

use std::collections::BTreeMap;

use super::{SubmissionRule, Violation};
use crate::metrics::{self, MetricDef};
use crate::record::{Campaign, MemorySource, Sample, Series, Status};
use crate::report::{Report, Row};
use crate::stats::median;
use crate::units::{self, counted};

/// Smallest plausible footprint, in bytes. The smallest process seen had 460 KB.
pub const MIN_FOOTPRINT_BYTES: u64 = 64 << 10;
/// Minimum growth, in bytes, whose slope is judged: a runtime's fixed cost varies by less.
const JUDGED_BYTES: f64 = 2.0 * 1024.0 * 1024.0;
/// Minimum repeated cases whose scatter is judged.
const REPEATED: usize = 8;
/// A footprint is named if it differs by more than this share from that of the same case elsewhere.
const NAMED_SHARE: f64 = 0.20;
/// The campaign is refused if it differs by more than this factor.
const REFUSED_FACTOR: f64 = 10.0;

/// Implausible values of results by themselves.
pub fn implausible(campaign: &Campaign, samples: &[Sample], reports: &[Report]) -> Vec<Violation> {
    let small = reports.iter().flat_map(too_small);
    let mut found = Vec::from_iter(Violation::of_many(SubmissionRule::Plausible, small, |what| what));
    let ok = samples.iter().filter(|sample| sample.status == Status::Ok);
    let cpu: Vec<f64> = ok.filter_map(|sample| sample.cpu.total_s()).collect();
    let idle = cpu.iter().filter(|seconds| **seconds == 0.0).count();
    if 2 * idle > cpu.len() {
        let what = format!("{idle} of {} ok runs took no CPU time at all", cpu.len());
        found.push(Violation::new(SubmissionRule::Plausible, what));
    }
    let headlines = campaign.plans().map(|plan| metrics::headline(plan.shape));
    let mut judged: Vec<&MetricDef> = vec![&metrics::FOOTPRINT, &metrics::LAUNCH, &metrics::CPU];
    for figure in headlines {
        if !judged.iter().any(|known| known.name == figure.name) {
            judged.push(figure);
        }
    }
    found.extend(judged.into_iter().filter_map(|figure| without_scatter(figure, reports)));
    found
}

/// Entries whose bytes per task are below the possible minimum.
fn too_small(report: &Report) -> impl Iterator<Item = String> + '_ {
    report.growth.iter().filter_map(|growth| {
        // The bytes that each task must keep, less 10%: memory may be compressed or shared a little.
        let held = report.holds_bytes.map_or(0.0, |bytes| 0.9 * bytes as f64);
        let least = report.shape.least_bytes_per_task(growth.entry.kind).max(held);
        let most = growth.tasks.last().copied().unwrap_or(0);
        let slope = growth.bytes_per_task?;
        (least * most as f64 >= JUDGED_BYTES && slope < least).then(|| {
            format!(
                "{} ({}): {} bytes per task, below the minimum of its kind ({}): {least}",
                growth.entry.name,
                report.series(),
                units::decimal(slope, 1),
                growth.entry.kind.name(),
            )
        })
    })
}

/// Repetitions of a case never take exactly the same time, and seldom the same memory. If over half of the repeated
/// cases have no difference, they were copied.
fn without_scatter(figure: &MetricDef, reports: &[Report]) -> Option<Violation> {
    let rows = reports.iter().flat_map(Report::rows);
    let spreads = rows.filter(|row| row.ok_runs > 1).filter_map(|row| row.spreads.of(figure));
    let repeated: Vec<bool> =
        spreads.filter(|spread| spread.readings > 1).map(|spread| spread.range() == 0.0).collect();
    let alike = repeated.iter().filter(|alike| **alike).count();
    (repeated.len() >= REPEATED && 2 * alike > repeated.len()).then(|| {
        let what = format!(
            "{}: all repetitions are the same in {alike} of {} repeated cases",
            figure.name,
            repeated.len()
        );
        Violation::new(SubmissionRule::Plausible, what)
    })
}

/// A case whose footprints can be compared: series, entry, number of tasks and memory source.
pub type SourceCase = (Series, String, u64, MemorySource);

/// The cases that were ok, with their rows. Skips cases measured by several memory sources.
pub fn ok_cases(reports: &[Report]) -> impl Iterator<Item = (SourceCase, &Row)> {
    reports.iter().flat_map(|report| {
        report.rows().filter(|row| row.ok_runs > 0).filter_map(move |row| {
            let [source] = row.memory_sources[..] else { return None };
            Some(((report.series(), row.entry.name.clone(), row.tasks, source), row))
        })
    })
}

/// The median footprint of each case of results.
#[derive(Debug, Clone, Default)]
pub struct Footprints(BTreeMap<SourceCase, f64>);

impl Footprints {
    pub fn of(reports: &[Report]) -> Footprints {
        let footprint = |(case, row): (SourceCase, &Row)| Some((case, row.footprint_bytes?.median));
        Footprints(ok_cases(reports).filter_map(footprint).collect())
    }
}

/// Footprints compared with those of other results.
#[derive(Debug, Default)]
pub struct Compared {
    /// Cases that differ by more than 20%: unusual, but allowed.
    pub outliers: Vec<String>,
    /// Cases that differ by a factor of 10: refused.
    pub refused: Option<Violation>,
}

/// Compares with the median footprint of the same case in other results. Other machines, versions and programs seldom
/// change it by 20%.
pub fn compare(own: &Footprints, others: &[&Footprints]) -> Compared {
    let (mut outliers, mut refused) = (Vec::new(), Vec::new());
    for (case, bytes) in &own.0 {
        let there: Vec<f64> = others.iter().filter_map(|other| other.0.get(case)).copied().collect();
        let Some(usual) = median(&there).filter(|usual| *usual > 0.0) else { continue };
        let (part, entry, tasks, _) = case;
        let ratio = bytes / usual;
        let what = || {
            format!(
                "{entry}, {part}, N = {}: {}, elsewhere {} ({})",
                units::count(*tasks),
                units::bytes(*bytes as u64),
                units::bytes(usual as u64),
                counted(there.len() as u64, "other result"),
            )
        };
        if !(1.0 / REFUSED_FACTOR..=REFUSED_FACTOR).contains(&ratio) {
            refused.push(what());
        } else if (ratio - 1.0).abs() > NAMED_SHARE {
            outliers.push(what());
        }
    }
    Compared { outliers, refused: Violation::of_many(SubmissionRule::Plausible, refused, |what| what) }
}
