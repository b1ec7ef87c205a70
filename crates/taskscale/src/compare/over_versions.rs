//! What changed between versions of an entry: each version against the one before.

use std::collections::BTreeMap;

use super::model::{Comparison, Judged};
use super::side::{CompareSettings, Input};
use super::words;
use crate::catalog::{DottedVersion, Shape, release_series};
use crate::document::{Column, Document, DocumentRow, Emphasis, Table, TableCell};
use crate::metrics::{self, MetricDef};
use crate::record::{Campaign, EntryFacts, Sample, Status};
use crate::report::estimate::ValueEstimate;
use crate::report::{Growth, Report, VersionLine, VersionPoint};
use crate::units;

/// A version of an entry.
struct EntryVersion<'c> {
    facts: &'c EntryFacts,
    number: DottedVersion,
}

/// The metric in which versions are compared.
pub fn metric_over_versions(shape: Shape) -> &'static MetricDef {
    if shape.has_plateau() { &metrics::BYTES_PER_TASK } else { metrics::headline(shape) }
}

/// The entries of each series that were measured in several versions, with the report of the series.
pub fn over_versions(campaign: &Campaign, samples: &[Sample]) -> Vec<(Report, Vec<VersionLine>)> {
    let mut all = Vec::new();
    for (part, samples) in campaign.parts(samples) {
        let found = versions(&part);
        if found.is_empty() {
            continue;
        }
        let samples: Vec<Sample> = samples.into_iter().cloned().collect();
        let report = Report::build(&part, &samples);
        let lines = found.iter().map(|of| line(of, &part, &samples, &report)).collect();
        all.push((report, lines));
    }
    all
}

/// The versions of an entry that differ in one thing.
struct OneAxis<'c> {
    title: String,
    /// The toolchain or library that differs.
    name: &'c str,
    /// Ascending.
    versions: Vec<EntryVersion<'c>>,
}

fn versions(part: &Campaign) -> Vec<OneAxis<'_>> {
    let mut groups: BTreeMap<(&str, &str, String), Vec<EntryVersion>> = BTreeMap::new();
    for facts in &part.entries {
        for (name, version) in &facts.versions {
            let Some(number) = DottedVersion::first_in(version) else { continue };
            let others = facts.versions.iter().filter(|(other, _)| *other != name);
            let beside: String = others.map(|(name, version)| format!(", {name} {version}")).collect();
            let group = groups.entry((facts.base_name(), name, beside)).or_default();
            group.push(EntryVersion { facts, number });
        }
    }
    let several = groups.into_iter().filter(|(_, versions)| versions.len() > 1);
    let axes = several.map(|((entry, name, beside), mut versions)| {
        versions.sort_by(|a, b| a.number.cmp(&b.number));
        OneAxis { title: format!("{entry}, {name}{beside}"), name, versions }
    });
    axes.collect()
}

fn line(axis: &OneAxis, part: &Campaign, samples: &[Sample], report: &Report) -> VersionLine {
    let OneAxis { title, name: of, versions } = axis;
    let names = || versions.iter().map(|version| &*version.facts.name);
    let bends = names().filter_map(|name| report.growth_of(name)).any(Growth::is_nonlinear);
    // Memory that is not linear is compared at the largest number of tasks.
    let (metric, heading) = match (metric_over_versions(part.plan.shape), part.plan.tasks.last()) {
        (metric, Some(most)) if bends && std::ptr::eq(metric, &metrics::BYTES_PER_TASK) => {
            (&metrics::FOOTPRINT, format!("memory at {} tasks, MiB", units::count(*most)))
        }
        (metric, _) => (metric, metric.heading.to_owned()),
    };
    let ran = |name: &str| samples.iter().any(|run| *run.entry == *name && run.status == Status::Ok);
    let point = |(nth, version): (usize, &EntryVersion)| {
        // The last version before it that ran.
        let before = versions[..nth].iter().rev().map(|version| &*version.facts.name).find(|name| ran(name));
        let name = &*version.facts.name;
        let judged = before.and_then(|before| judged(before, name, part, samples, metric));
        let estimate = estimate(report, name, metric);
        let series = release_series(of, &version.number.to_string());
        let verdict = judged.as_ref().map(|judged| judged.verdict);
        VersionPoint {
            version: version.number.to_string(),
            released: series.map(|series| series.released.to_string()),
            value: estimate.map(|estimate| estimate.value),
            range: estimate.and_then(|estimate| estimate.range),
            ratio: judged.as_ref().and_then(|judged| judged.ratio),
            ratio_range: judged.and_then(|judged| judged.ratio_interval),
            verdict: verdict.map(|verdict| verdict.name().to_owned()),
            costs_more: verdict.filter(|verdict| verdict.is_change()).map(|verdict| verdict.worse()),
        }
    };
    VersionLine {
        title: format!("{title}: {heading}"),
        metric,
        points: versions.iter().enumerate().map(point).collect(),
    }
}

/// The verdict on `name` against `before`. `None` if either could not run.
fn judged(
    before: &str,
    name: &str,
    part: &Campaign,
    samples: &[Sample],
    metric: &'static MetricDef,
) -> Option<Judged> {
    let settings = CompareSettings::ungated(vec![metric.into()]);
    let input = |entry| Input { folder: "", campaign: part, samples, entry: Some(entry) };
    let comparison = Comparison::build(input(before), input(name), &settings).ok()?;
    // Only at the number of tasks that the heading names.
    let is_meant = |cell: &Judged| {
        cell.metric == metric && cell.tasks.is_none_or(|tasks| part.plan.tasks.last() == Some(&tasks))
    };
    comparison.cells.into_iter().find(is_meant)
}

fn estimate(report: &Report, entry: &str, metric: &'static MetricDef) -> Option<ValueEstimate> {
    let growth = report.growth_of(entry).and_then(|growth| ValueEstimate::in_growth(metric, growth));
    growth.or_else(|| {
        let own = report.groups.last()?.row(entry).filter(|row| row.ok_runs > 0)?;
        own.spreads.of(metric).map(ValueEstimate::from)
    })
}

/// The tables of [`over_versions`].
pub fn what_changed(all: &[(Report, Vec<VersionLine>)]) -> Document {
    let mut document = Document::default();
    for (report, lines) in all {
        document.title(format!("what changed · {}", report.series()));
        document.table(table(lines));
    }
    document
}

fn table(lines: &[VersionLine]) -> Table {
    let mut table = Table::new(vec![
        Column::words("version"),
        Column::words("released").drop_priority(2),
        Column::figures("cost"),
        Column::figures("change"),
        Column::figures("95% interval").drop_priority(1),
        Column::words("verdict"),
    ]);
    for line in lines {
        let rows = line.points.iter().map(|point| {
            let emphasis = match point.costs_more {
                Some(true) => Emphasis::Bad,
                Some(false) => Emphasis::Good,
                None => Emphasis::Plain,
            };
            let interval = point.ratio_range.map(|range| range.text(words::change));
            DocumentRow::of(vec![
                TableCell::Text(point.version.clone(), emphasis),
                TableCell::quiet(point.released.clone().unwrap_or_default()),
                TableCell::figure(point.value.map(|value| line.metric.show_finely(value)), emphasis),
                TableCell::Text(point.ratio.map(words::change).unwrap_or_default(), emphasis),
                TableCell::quiet(interval.unwrap_or_default()),
                TableCell::Text(point.verdict.clone().unwrap_or_default(), emphasis),
            ])
        });
        table.section(line.title.clone()).rows = rows.collect();
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::compare::tests::measured;
    use crate::document::RenderOptions;
    use crate::report::versions_chart;

    /// Entries in versions of tokio, each with the bytes of its tasks.
    fn of_versions(versions: &[(&str, f64)]) -> (Campaign, Vec<Sample>) {
        let names: Vec<String> =
            versions.iter().map(|(version, _)| format!("rust/tokio-spawn@tokio={version}")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        let (mut campaign, samples) = measured(&names, |entry, tasks, repetition| {
            let (_, bytes) =
                versions.iter().find(|(version, _)| entry.ends_with(&format!("={version}"))).unwrap();
            (2e6 + bytes * tasks as f64) * (1.0 + 0.0005 * f64::from(repetition))
        });
        for (facts, (version, _)) in campaign.entries.iter_mut().zip(versions) {
            facts.versions = [("tokio".to_owned(), format!("{version}.0"))].into();
        }
        (campaign, samples)
    }

    #[test]
    fn versions_are_ordered_and_significant_changes_marked() {
        let (campaign, samples) = of_versions(&[("1.9", 248.0), ("1.29", 456.0), ("1.10", 248.0)]);
        let all = over_versions(&campaign, &samples);
        let [(report, lines)] = &all[..] else { panic!("{all:?}") };
        let [line] = &lines[..] else { panic!("{lines:?}") };
        let points: Vec<(&str, Option<bool>)> =
            line.points.iter().map(|point| (&*point.version, point.costs_more)).collect();
        assert_eq!(points, [("1.9.0", None), ("1.10.0", None), ("1.29.0", Some(true))]);
        let ratio = line.points[2].ratio.unwrap();
        assert!((ratio - 456.0 / 248.0).abs() < 0.01, "{ratio}");
        let text = what_changed(&all).terminal(RenderOptions::default());
        assert!(text.contains("+83.9%") && text.contains("larger") && text.contains("same"), "{text}");
        let (svg, said) = versions_chart(report, lines).unwrap();
        assert!(svg.contains("(+84%)") && said.contains("1.29.0 (larger)"), "{said}\n{svg}");
        assert!(roxmltree::Document::parse(&svg).is_ok());
    }

    #[test]
    fn versions_that_did_not_run_are_skipped() {
        let (campaign, mut samples) = of_versions(&[("1.9", 248.0), ("1.10", 300.0), ("1.29", 456.0)]);
        samples.retain(|sample| !sample.entry.ends_with("=1.10"));
        let line = &over_versions(&campaign, &samples)[0].1[0];
        let ratios: Vec<Option<u64>> =
            line.points.iter().map(|point| Some((point.ratio? * 100.0).round() as u64)).collect();
        assert_eq!(ratios, [None, None, Some(184)], "{line:?}");
    }

    #[test]
    fn version_lacking_the_compared_n_has_no_verdict() {
        let (campaign, mut samples) = of_versions(&[("1.9", 400.0), ("1.10", 800.0)]);
        for sample in samples.iter_mut().filter(|sample| sample.tasks == 10_000) {
            if let Some(plateau) = sample.memory.plateau.as_mut() {
                plateau.footprint_bytes *= 9;
            }
        }
        samples.retain(|sample| sample.tasks < 100_000 || !sample.entry.ends_with("=1.10"));
        let line = &over_versions(&campaign, &samples)[0].1[0];
        assert_eq!(line.title, "rust/tokio-spawn, tokio: memory at 100k tasks, MiB");
        assert_eq!((line.points[1].value, &line.points[1].verdict), (None, &None), "{line:?}");
    }

    #[test]
    fn nonlinear_memory_is_compared_at_the_largest_task_count() {
        let (campaign, mut samples) = of_versions(&[("1.9", 400.0), ("1.10", 400.0)]);
        for sample in &mut samples {
            let bytes = if sample.tasks == 10_000 { 60_000_000 } else { 80_000_000 };
            let (tasks, bytes) = (sample.tasks, bytes * (1_000 + u64::from(sample.repetition)) / 1_000);
            if let Some(plateau) = sample.memory.plateau.as_mut().filter(|_| tasks > 1) {
                plateau.footprint_bytes = bytes;
            }
        }
        let line = &over_versions(&campaign, &samples)[0].1[0];
        assert_eq!(line.title, "rust/tokio-spawn, tokio: memory at 100k tasks, MiB");
        assert!((line.points[0].value.unwrap() / 80e6 - 1.0).abs() < 0.01, "{line:?}");
        assert_eq!(line.points[1].verdict.as_deref(), Some("same"));
    }

    #[test]
    fn version_line_needs_two_versions_of_one_component() {
        let (mut campaign, samples) = of_versions(&[("1.9", 248.0), ("1.29", 456.0)]);
        assert_eq!(over_versions(&campaign, &samples)[0].1.len(), 1);
        for (facts, rust) in campaign.entries.iter_mut().zip(["1.90", "1.95"]) {
            facts.versions.insert("rust".to_owned(), rust.to_owned());
        }
        assert!(over_versions(&campaign, &samples).is_empty(), "nothing is the same");
        campaign
            .entries
            .iter_mut()
            .for_each(|facts| drop(facts.versions.insert("rust".into(), "1.95".into())));
        let lines = &over_versions(&campaign, &samples)[0].1;
        assert_eq!(lines[0].title, "rust/tokio-spawn, tokio, rust 1.95: B/task");
        campaign.entries.truncate(1);
        assert!(over_versions(&campaign, &samples).is_empty());
    }
}
