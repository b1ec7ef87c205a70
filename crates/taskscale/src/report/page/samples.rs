//! Every run of a campaign as lists of fields, which the page reads when an entry is opened.

use std::collections::BTreeMap;

use super::columns::{ColumnUnit, SampleField};
use super::model::Samples;
use crate::document::joined;
use crate::metrics::Unit;
use crate::record::{Plateau, Sample, Series};

/// Most characters of a program's standard error on a page. The record may have more.
const STDERR: usize = 600;

/// A number of a sample: its name in the record, its title, and how it is read.
type SampleNumber = (&'static str, &'static str, fn(&Sample) -> Option<f64>);

/// The fields that are shown first.
const FIRST: [&str; 13] = [
    "alive",
    "work.operations",
    "work.wall_s",
    "work.cpu_s",
    "memory.plateau.footprint_bytes",
    "memory.plateau.anon_bytes",
    "memory.plateau.kernel_bytes",
    "memory.peak_bytes",
    "memory.rss_peak_bytes",
    "time.launch_s",
    "time.wall_s",
    "cpu.user_s",
    "cpu.system_s",
];

/// All numbers, in the order in which they are shown.
pub fn fields() -> Vec<SampleField> {
    let mut fields: Vec<SampleField> = NUMBERS
        .iter()
        .map(|(name, title, _)| {
            let unit = match name {
                name if name.ends_with("_bytes") => ColumnUnit::Metric(Unit::Bytes),
                name if name.ends_with("_s") => ColumnUnit::Metric(Unit::Seconds),
                _ => ColumnUnit::Count,
            };
            SampleField { name, title, unit }
        })
        .collect();
    fields.sort_by_key(|field| FIRST.iter().position(|name| *name == field.name).unwrap_or(FIRST.len()));
    fields
}

/// All numbers, in the order of the CSV of samples.
pub const NUMBERS: [SampleNumber; 37] = [
    ("alive", "alive", |sample| count(sample.alive)),
    ("done", "done", |sample| count(sample.done)),
    ("failed", "failed", |sample| count(sample.failed)),
    ("exit_code", "exit code", |sample| sample.exit_code.map(f64::from)),
    ("signal", "signal", |sample| sample.signal.map(f64::from)),
    ("threads", "threads", |sample| count(sample.threads)),
    ("processes", "processes", |sample| count(sample.processes)),
    ("time.launch_s", "launch", |sample| sample.time.launch_s),
    ("time.plateau_s", "plateau", |sample| sample.time.plateau_s),
    ("time.drain_s", "drain", |sample| sample.time.drain_s),
    ("time.wall_s", "wall", |sample| sample.time.wall_s),
    ("time.plateau_read_at_s", "plateau read at", |sample| sample.time.plateau_read_at_s),
    ("cpu.user_s", "CPU user", |sample| sample.cpu.user_s),
    ("cpu.system_s", "CPU system", |sample| sample.cpu.system_s),
    ("cpu.launch_s", "CPU launch", |sample| sample.cpu.launch_s),
    ("cpu.plateau_s", "CPU plateau", |sample| sample.cpu.plateau_s),
    ("cpu.drain_s", "CPU drain", |sample| sample.cpu.drain_s),
    ("memory.plateau.footprint_bytes", "footprint", |of| plateau(of, |at| Some(at.footprint_bytes))),
    ("memory.plateau.anon_bytes", "anonymous", |of| plateau(of, |at| Some(at.anon_bytes))),
    ("memory.plateau.shmem_bytes", "shared", |of| plateau(of, |at| Some(at.shmem_bytes))),
    ("memory.plateau.file_bytes", "file", |of| plateau(of, |at| Some(at.file_bytes))),
    ("memory.plateau.kernel_bytes", "kernel", |of| plateau(of, |at| Some(at.kernel_bytes))),
    ("memory.plateau.kernel_stack_bytes", "kernel stacks", |of| plateau(of, |at| at.kernel_stack_bytes)),
    ("memory.plateau.page_tables_bytes", "page tables", |of| plateau(of, |at| at.page_tables_bytes)),
    ("memory.plateau.slab_bytes", "slab", |of| plateau(of, |at| at.slab_bytes)),
    ("memory.plateau.sock_bytes", "sockets", |of| plateau(of, |at| at.sock_bytes)),
    ("memory.plateau.rss_bytes", "RSS", |of| plateau(of, |at| at.rss_bytes)),
    ("memory.plateau.pss_bytes", "PSS", |of| plateau(of, |at| at.pss_bytes)),
    ("memory.plateau.swap_bytes", "swap", |of| plateau(of, |at| at.swap_bytes)),
    ("memory.plateau.lazy_free_bytes", "lazily freed", |of| plateau(of, |at| at.lazy_free_bytes)),
    ("memory.plateau.group_bytes", "charged", |of| plateau(of, |at| at.group_bytes)),
    ("memory.peak_bytes", "peak", |sample| count(sample.memory.peak_bytes)),
    ("memory.rss_peak_bytes", "RSS peak", |sample| count(sample.memory.rss_peak_bytes)),
    ("memory.cap_bytes", "cap", |sample| count(sample.memory.cap_bytes)),
    ("work.operations", "operations", |sample| count(sample.work.as_ref().map(|work| work.operations))),
    ("work.wall_s", "work wall", |sample| sample.work.as_ref()?.wall_s),
    ("work.cpu_s", "work CPU", |sample| sample.work.as_ref()?.cpu_s),
];

fn count(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

/// Bytes of a sample's plateau.
fn plateau(sample: &Sample, bytes: fn(&Plateau) -> Option<u64>) -> Option<f64> {
    count(bytes(sample.memory.plateau.as_ref()?))
}

/// Distinct values, each with its position in order of insertion.
type Positions<T> = BTreeMap<T, u32>;

fn position<T: Ord>(positions: &mut Positions<T>, value: T) -> u32 {
    let next = positions.len() as u32;
    *positions.entry(value).or_insert(next)
}

fn in_order<T>(positions: Positions<T>) -> Vec<T> {
    let mut values: Vec<(T, u32)> = positions.into_iter().collect();
    values.sort_by_key(|(_, position)| *position);
    values.into_iter().map(|(value, _)| value).collect()
}

pub fn columns(positions: &BTreeMap<&str, usize>, samples: &[&Sample], part: &Series) -> Samples {
    let own: Vec<(u32, &Sample)> = samples
        .iter()
        .filter(|sample| sample.is_of(part))
        .filter_map(|sample| Some((*positions.get(&*sample.entry)? as u32, *sample)))
        .collect();
    let (mut texts, mut commands) = (Positions::new(), Positions::new());
    let mut place = |text: Option<String>| text.map(|text| position(&mut texts, text));
    let mut columns = Samples {
        count: own.len(),
        entry: own.iter().map(|(entry, _)| *entry).collect(),
        tasks: column(&own, |sample| sample.tasks),
        repetition: column(&own, |sample| sample.repetition),
        attempt: column(&own, |sample| sample.attempt),
        status: column(&own, |sample| sample.status),
        started_at: column(&own, |sample| sample.started_at.unix_s()),
        hold_s: column(&own, |sample| sample.hold_s),
        command: column(&own, |sample| position(&mut commands, sample.command.to_vec())),
        version: column(&own, |sample| place(sample.version.as_deref().map(str::to_owned))),
        reason: column(&own, |sample| place(sample.reason.clone())),
        stderr_tail: column(&own, |sample| place(sample.stderr_tail.as_deref().map(tail))),
        metrics: column(&own, |sample| place(metrics(sample))),
        warnings: column(&own, |sample| sample.warnings.clone()),
        memory_source: column(&own, |sample| sample.memory.source),
        ..Samples::default()
    };
    for (name, _, number) in NUMBERS {
        let column: Vec<f64> = own.iter().map(|(_, sample)| number(sample).unwrap_or(f64::NAN)).collect();
        if column.iter().any(|value| value.is_finite()) {
            columns.numbers.insert(name, column);
        }
    }
    columns.texts = in_order(texts);
    columns.commands = in_order(commands);
    columns
}

fn column<T>(own: &[(u32, &Sample)], mut of: impl FnMut(&Sample) -> T) -> Vec<T> {
    own.iter().map(|(_, sample)| of(sample)).collect()
}

/// The end of a program's output, where the error usually is.
fn tail(text: &str) -> String {
    let length = text.chars().count();
    match length > STDERR {
        true => format!("…{}", text.chars().skip(length - STDERR).collect::<String>()),
        false => text.to_owned(),
    }
}

/// `rate 2.5 tasks/s, …`.
fn metrics(sample: &Sample) -> Option<String> {
    let metrics = sample
        .metrics
        .iter()
        .map(|(name, metric)| format!("{name} {} {}", metric.value, metric.unit).trim_end().to_owned());
    (!sample.metrics.is_empty()).then(|| joined(metrics, ", "))
}
