//! All samples of some campaigns as CSV, one line per run, for data frames.
//!
//! Every attempt is included; `counts` marks the last attempt of a repetition. Fields are written as in
//! [`csv`](crate::document::csv).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use super::page::NUMBERS;
use super::phrases::params;
use crate::catalog::Shape;
use crate::document::csv::{CsvColumn, figure, line, text, whole};
use crate::document::{command_line, joined};
use crate::metrics;
use crate::record::{Loaded, Sample, last_attempts};

const TEXTS: [CsvColumn<Sample>; 20] = [
    ("workload", |sample| text(&sample.workload)),
    ("tasks", |sample| sample.tasks.to_string()),
    ("repetition", |sample| sample.repetition.to_string()),
    ("attempt", |sample| sample.attempt.to_string()),
    ("started_at", |sample| sample.started_at.to_string()),
    ("hold_s", |sample| figure(Some(sample.hold_s))),
    ("status", |sample| sample.status.name().to_owned()),
    ("reason", |sample| text(sample.reason.as_deref().unwrap_or_default())),
    ("limit_name", |sample| sample.limit.as_ref().map(|limit| text(&limit.name)).unwrap_or_default()),
    ("limit_value", |sample| whole(sample.limit.as_ref().map(|limit| limit.value))),
    ("cpu_s", |sample| figure(sample.cpu.total_s())),
    ("memory_source", |sample| sample.memory.source.name().to_owned()),
    ("warnings", |sample| warnings(sample)),
    ("version", |sample| text(sample.version.as_deref().unwrap_or_default())),
    ("command", |sample| text(&command_line(&sample.command))),
    ("stderr_tail", |sample| text(sample.stderr_tail.as_deref().unwrap_or_default())),
    ("params", |sample| text(&params(&sample.params))),
    ("cpus", |sample| whole(sample.cpus)),
    ("double", |sample| sample.work.as_ref().map(|work| work.double.to_string()).unwrap_or_default()),
    ("check", |sample| text(sample.work.as_ref().and_then(|work| work.check.as_deref()).unwrap_or_default())),
];

type SampleCsvColumn = (String, Box<dyn Fn(&Sample) -> String>);

/// Readers may rely on positions: texts and numbers alternate in the order in which they were added, and
/// metrics derived from a run's load or histograms are last.
fn columns() -> Vec<SampleCsvColumn> {
    let (mut texts, mut numbers) = (TEXTS.into_iter(), NUMBERS.into_iter());
    let mut columns = Vec::new();
    for (of_texts, of_numbers) in [(10, 12), (1, 5), (1, 17), (6, 1), (1, 2), (1, 0)] {
        let own = texts.by_ref().take(of_texts);
        columns.extend(own.map(|(name, of)| -> SampleCsvColumn { (name.to_owned(), Box::new(of)) }));
        let own = numbers.by_ref().take(of_numbers);
        columns.extend(own.map(|(path, _, of)| -> SampleCsvColumn {
            (csv_name(path), Box::new(move |sample: &Sample| figure(of(sample))))
        }));
    }
    let derived =
        metrics::ALL.into_iter().filter(|metric| metric.optional || metric.shapes == [Shape::Serve]);
    columns.extend(derived.map(|metric| -> SampleCsvColumn {
        (metric.field.to_owned(), Box::new(|sample: &Sample| figure(metric.read(sample))))
    }));
    columns
}

/// `launch_s` of `time.launch_s`, `cpu_user_s` of `cpu.user_s`.
fn csv_name(path: &str) -> String {
    let prefixes = ["time.", "memory.plateau.", "memory."];
    let short = prefixes.iter().find_map(|prefix| path.strip_prefix(prefix)).unwrap_or(path);
    short.replace("work.operations", "operations").replace('.', "_")
}

/// A header, then one line per sample. Each campaign comes with its name. The programs' own metrics follow the fixed
/// columns, as `metric_NAME_UNIT`.
pub fn render(campaigns: &[(String, Loaded)]) -> String {
    let (mut out, columns) = (String::new(), columns());
    let samples = campaigns.iter().flat_map(|(_, loaded)| &loaded.samples);
    let metrics: BTreeSet<(&str, &str)> = samples
        .flat_map(|sample| &sample.metrics)
        .map(|(name, metric)| (name.as_str(), metric.unit.as_str()))
        .collect();
    let first = ["campaign", "created_at", "hostname", "entry", "kind", "style", "parallel", "reference"];
    let header = first.map(str::to_owned).into_iter().chain(["counts".to_owned()]);
    let header = header.chain(columns.iter().map(|(name, _)| name.clone()));
    line(&mut out, header.chain(metrics.iter().map(|(name, unit)| text(&format!("metric_{name}_{unit}")))));
    for (name, Loaded { campaign, samples, .. }) in campaigns {
        let entries: BTreeMap<&str, _> =
            campaign.entries.iter().map(|facts| (facts.name.as_str(), facts)).collect();
        let last: HashSet<*const Sample> =
            last_attempts(samples).into_iter().map(std::ptr::from_ref).collect();
        for sample in samples {
            // A sample of an entry that the campaign does not know keeps its line: it was measured.
            let facts = entries.get(&*sample.entry);
            let mut fields = vec![
                text(name),
                campaign.created_at.to_string(),
                text(&campaign.machine.hostname),
                text(&sample.entry),
                whole(facts.map(|facts| facts.kind.name())),
                whole(facts.map(|facts| facts.style.name())),
                whole(facts.map(|facts| facts.parallel)),
                whole(facts.map(|facts| facts.reference)),
                last.contains(&std::ptr::from_ref(sample)).to_string(),
            ];
            fields.extend(columns.iter().map(|(_, field)| field(sample)));
            fields.extend(metrics.iter().map(|(name, unit)| {
                let metric = sample.metrics.get(*name).filter(|metric| metric.unit == *unit);
                figure(metric.map(|metric| metric.value))
            }));
            line(&mut out, fields);
        }
    }
    out
}

/// Names, with spaces between them.
fn warnings(sample: &Sample) -> String {
    // The name in the record, which needs no quotes.
    let name = |warning| Some(serde_json::to_value(warning).ok()?.as_str()?.to_owned());
    joined(sample.warnings.iter().filter_map(name), " ")
}
