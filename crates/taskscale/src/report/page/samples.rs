//! Every run of a campaign as lists of fields, which the page reads when someone opens an entry.

use std::collections::BTreeMap;

use super::model::Samples;
use crate::document::joined;
use crate::record::{Sample, Series};

/// Characters of what a program wrote to standard error that a page carries; the whole of it is in the record.
const STDERR: usize = 600;

/// A number of a sample, under its name in the record.
type SampleNumber = (&'static str, fn(&Sample) -> Option<f64>);

macro_rules! of_plateau {
    ($field:ident) => {
        (
            concat!("memory.plateau.", stringify!($field)),
            (|sample| {
                let plateau = sample.memory.plateau.as_ref()?;
                Option::<u64>::from(plateau.$field).map(|bytes| bytes as f64)
            }) as fn(&Sample) -> Option<f64>,
        )
    };
}

/// In the order of the CSV of samples.
pub const NUMBERS: [SampleNumber; 37] = [
    ("alive", |sample| count(sample.alive)),
    ("done", |sample| count(sample.done)),
    ("failed", |sample| count(sample.failed)),
    ("exit_code", |sample| sample.exit_code.map(f64::from)),
    ("signal", |sample| sample.signal.map(f64::from)),
    ("threads", |sample| count(sample.threads)),
    ("processes", |sample| count(sample.processes)),
    ("time.launch_s", |sample| sample.time.launch_s),
    ("time.plateau_s", |sample| sample.time.plateau_s),
    ("time.drain_s", |sample| sample.time.drain_s),
    ("time.wall_s", |sample| sample.time.wall_s),
    ("time.plateau_read_at_s", |sample| sample.time.plateau_read_at_s),
    ("cpu.user_s", |sample| sample.cpu.user_s),
    ("cpu.system_s", |sample| sample.cpu.system_s),
    ("cpu.launch_s", |sample| sample.cpu.launch_s),
    ("cpu.plateau_s", |sample| sample.cpu.plateau_s),
    ("cpu.drain_s", |sample| sample.cpu.drain_s),
    of_plateau!(footprint_bytes),
    of_plateau!(anon_bytes),
    of_plateau!(shmem_bytes),
    of_plateau!(file_bytes),
    of_plateau!(kernel_bytes),
    of_plateau!(kernel_stack_bytes),
    of_plateau!(page_tables_bytes),
    of_plateau!(slab_bytes),
    of_plateau!(sock_bytes),
    of_plateau!(rss_bytes),
    of_plateau!(pss_bytes),
    of_plateau!(swap_bytes),
    of_plateau!(lazy_free_bytes),
    of_plateau!(group_bytes),
    ("memory.peak_bytes", |sample| count(sample.memory.peak_bytes)),
    ("memory.rss_peak_bytes", |sample| count(sample.memory.rss_peak_bytes)),
    ("memory.cap_bytes", |sample| count(sample.memory.cap_bytes)),
    ("work.operations", |sample| count(sample.work.as_ref().map(|work| work.operations))),
    ("work.wall_s", |sample| sample.work.as_ref()?.wall_s),
    ("work.cpu_s", |sample| sample.work.as_ref()?.cpu_s),
];

fn count(value: Option<u64>) -> Option<f64> {
    value.map(|value| value as f64)
}

/// Values of samples, each once.
#[derive(Default)]
struct Distinct<T> {
    positions: BTreeMap<T, u32>,
}

impl<T: Ord> Distinct<T> {
    fn position(&mut self, value: T) -> u32 {
        let next = self.positions.len() as u32;
        *self.positions.entry(value).or_insert(next)
    }

    fn in_order(self) -> Vec<T> {
        let mut values: Vec<(T, u32)> = self.positions.into_iter().collect();
        values.sort_by_key(|(_, position)| *position);
        values.into_iter().map(|(value, _)| value).collect()
    }
}

pub fn columns(positions: &BTreeMap<&str, usize>, samples: &[&Sample], part: &Series) -> Samples {
    let own: Vec<(u32, &Sample)> = samples
        .iter()
        .filter(|sample| sample.is_of(part))
        .filter_map(|sample| Some((*positions.get(&*sample.entry)? as u32, *sample)))
        .collect();
    let (mut texts, mut commands) = (Distinct::default(), Distinct::default());
    let mut columns = Samples {
        count: own.len(),
        entry: own.iter().map(|(entry, _)| *entry).collect(),
        tasks: column(&own, |sample| sample.tasks),
        repetition: column(&own, |sample| sample.repetition),
        attempt: column(&own, |sample| sample.attempt),
        status: column(&own, |sample| sample.status),
        started_at: column(&own, |sample| sample.started_at.unix_s()),
        hold_s: column(&own, |sample| sample.hold_s),
        command: column(&own, |sample| commands.position(sample.command.to_vec())),
        version: column(&own, |sample| sample.version.as_deref().map(|text| texts.position(text.to_owned()))),
        reason: column(&own, |sample| sample.reason.clone().map(|text| texts.position(text))),
        stderr_tail: column(&own, |sample| {
            sample.stderr_tail.as_deref().map(|text| texts.position(tail(text)))
        }),
        metrics: column(&own, |sample| metrics(sample).map(|text| texts.position(text))),
        warnings: column(&own, |sample| sample.warnings.clone()),
        memory_source: column(&own, |sample| sample.memory.source),
        ..Samples::default()
    };
    for (name, number) in NUMBERS {
        let column: Vec<f64> = own.iter().map(|(_, sample)| number(sample).unwrap_or(f64::NAN)).collect();
        if column.iter().any(|value| value.is_finite()) {
            columns.numbers.insert(name, column);
        }
    }
    columns.texts = texts.in_order();
    columns.commands = commands.in_order();
    columns
}

fn column<T>(own: &[(u32, &Sample)], mut of: impl FnMut(&Sample) -> T) -> Vec<T> {
    own.iter().map(|(_, sample)| of(sample)).collect()
}

/// The end of what a program wrote: that is where the error stands.
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
