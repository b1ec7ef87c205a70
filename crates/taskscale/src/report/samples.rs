//! All samples of some campaigns as CSV, one line per run, for data frames.
//!
//! Every attempt is included; `counts` marks the last attempt of a repetition. Fields are written as in
//! [`csv`](crate::document::csv).

use std::collections::{BTreeMap, BTreeSet, HashSet};

use crate::document::command_line;
use crate::document::csv::{CsvColumn, figure, line, text, whole};
use crate::record::{Campaign, Plateau, Sample, last_attempts};

/// A campaign as recorded.
#[derive(Debug, Clone, Copy)]
pub struct Recorded<'a> {
    /// Its name.
    pub name: &'a str,
    pub campaign: &'a Campaign,
    pub samples: &'a [Sample],
}

const COLUMNS: [CsvColumn<Sample>; 57] = [
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
    ("alive", |sample| whole(sample.alive)),
    ("done", |sample| whole(sample.done)),
    ("failed", |sample| whole(sample.failed)),
    ("exit_code", |sample| whole(sample.exit_code)),
    ("signal", |sample| whole(sample.signal)),
    ("threads", |sample| whole(sample.threads)),
    ("processes", |sample| whole(sample.processes)),
    ("launch_s", |sample| figure(sample.time.launch_s)),
    ("plateau_s", |sample| figure(sample.time.plateau_s)),
    ("drain_s", |sample| figure(sample.time.drain_s)),
    ("wall_s", |sample| figure(sample.time.wall_s)),
    ("plateau_read_at_s", |sample| figure(sample.time.plateau_read_at_s)),
    ("cpu_s", |sample| figure(sample.cpu.total_s())),
    ("cpu_user_s", |sample| figure(sample.cpu.user_s)),
    ("cpu_system_s", |sample| figure(sample.cpu.system_s)),
    ("cpu_launch_s", |sample| figure(sample.cpu.launch_s)),
    ("cpu_plateau_s", |sample| figure(sample.cpu.plateau_s)),
    ("cpu_drain_s", |sample| figure(sample.cpu.drain_s)),
    ("memory_source", |sample| sample.memory.source.name().to_owned()),
    ("footprint_bytes", |sample| plateau(sample, |plateau| Some(plateau.footprint_bytes))),
    ("anon_bytes", |sample| plateau(sample, |plateau| Some(plateau.anon_bytes))),
    ("shmem_bytes", |sample| plateau(sample, |plateau| Some(plateau.shmem_bytes))),
    ("file_bytes", |sample| plateau(sample, |plateau| Some(plateau.file_bytes))),
    ("kernel_bytes", |sample| plateau(sample, |plateau| Some(plateau.kernel_bytes))),
    ("kernel_stack_bytes", |sample| plateau(sample, |plateau| plateau.kernel_stack_bytes)),
    ("page_tables_bytes", |sample| plateau(sample, |plateau| plateau.page_tables_bytes)),
    ("slab_bytes", |sample| plateau(sample, |plateau| plateau.slab_bytes)),
    ("sock_bytes", |sample| plateau(sample, |plateau| plateau.sock_bytes)),
    ("rss_bytes", |sample| plateau(sample, |plateau| plateau.rss_bytes)),
    ("pss_bytes", |sample| plateau(sample, |plateau| plateau.pss_bytes)),
    ("swap_bytes", |sample| plateau(sample, |plateau| plateau.swap_bytes)),
    ("lazy_free_bytes", |sample| plateau(sample, |plateau| plateau.lazy_free_bytes)),
    ("group_bytes", |sample| plateau(sample, |plateau| plateau.group_bytes)),
    ("peak_bytes", |sample| whole(sample.memory.peak_bytes)),
    ("rss_peak_bytes", |sample| whole(sample.memory.rss_peak_bytes)),
    ("cap_bytes", |sample| whole(sample.memory.cap_bytes)),
    ("warnings", |sample| warnings(sample)),
    ("version", |sample| text(sample.version.as_deref().unwrap_or_default())),
    ("command", |sample| text(&command_line(&sample.command))),
    ("stderr_tail", |sample| text(sample.stderr_tail.as_deref().unwrap_or_default())),
    ("params", |sample| text(&params(sample))),
    ("cpus", |sample| whole(sample.cpus)),
    ("operations", |sample| whole(sample.work.as_ref().map(|work| work.operations))),
    ("double", |sample| sample.work.as_ref().map(|work| work.double.to_string()).unwrap_or_default()),
    ("work_wall_s", |sample| figure(sample.work.as_ref().and_then(|work| work.wall_s))),
    ("work_cpu_s", |sample| figure(sample.work.as_ref().and_then(|work| work.cpu_s))),
    ("check", |sample| text(sample.work.as_ref().and_then(|work| work.check.as_deref()).unwrap_or_default())),
];

fn params(sample: &Sample) -> String {
    let params = sample.params.iter().map(|(name, value)| format!("{name}={value}"));
    params.collect::<Vec<_>>().join(" ")
}

/// A header, and one line for each sample of each campaign. The programs' own metrics follow the fixed columns, as
/// `metric_NAME_UNIT`.
pub fn render(campaigns: &[Recorded]) -> String {
    let mut out = String::new();
    let samples = campaigns.iter().flat_map(|recorded| recorded.samples);
    let metrics: BTreeSet<(&str, &str)> = samples
        .flat_map(|sample| &sample.metrics)
        .map(|(name, metric)| (name.as_str(), metric.unit.as_str()))
        .collect();
    let first = ["campaign", "created_at", "hostname", "entry", "kind", "style", "parallel", "reference"];
    let header = first.map(str::to_owned).into_iter().chain(["counts".to_owned()]);
    let header = header.chain(COLUMNS.iter().map(|(name, _)| (*name).to_owned()));
    line(&mut out, header.chain(metrics.iter().map(|(name, unit)| text(&format!("metric_{name}_{unit}")))));
    for recorded in campaigns {
        let entries: BTreeMap<&str, _> =
            recorded.campaign.entries.iter().map(|facts| (facts.name.as_str(), facts)).collect();
        let last: HashSet<*const Sample> =
            last_attempts(recorded.samples).into_iter().map(std::ptr::from_ref).collect();
        for sample in recorded.samples {
            // A sample of an entry that the campaign does not know keeps its line: it was measured.
            let facts = entries.get(&*sample.entry);
            let mut fields = vec![
                text(recorded.name),
                recorded.campaign.created_at.to_string(),
                text(&recorded.campaign.machine.hostname),
                text(&sample.entry),
                facts.map(|facts| facts.kind.name().to_owned()).unwrap_or_default(),
                facts.map(|facts| facts.style.name().to_owned()).unwrap_or_default(),
                facts.map(|facts| facts.parallel.to_string()).unwrap_or_default(),
                facts.map(|facts| facts.reference.to_string()).unwrap_or_default(),
                last.contains(&std::ptr::from_ref(sample)).to_string(),
            ];
            fields.extend(COLUMNS.iter().map(|(_, field)| field(sample)));
            fields.extend(metrics.iter().map(|(name, unit)| {
                let metric = sample.metrics.get(*name).filter(|metric| metric.unit == *unit);
                figure(metric.map(|metric| metric.value))
            }));
            line(&mut out, fields);
        }
    }
    out
}

fn plateau(sample: &Sample, figure: fn(&Plateau) -> Option<u64>) -> String {
    whole(sample.memory.plateau.as_ref().and_then(figure))
}

/// Names, with spaces between them.
fn warnings(sample: &Sample) -> String {
    let names: Vec<String> = sample
        .warnings
        .iter()
        // The name that the record has: it is a plain text.
        .filter_map(|warning| Some(serde_json::to_value(warning).ok()?.as_str()?.to_owned()))
        .collect();
    names.join(" ")
}
