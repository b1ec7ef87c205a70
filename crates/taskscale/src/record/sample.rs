//! The record of one run: one line of `samples.jsonl`.
//!
//! Unknown values are absent, never 0 or -1. Every name includes its unit.

use std::borrow::Borrow;
use std::collections::{BTreeMap, BTreeSet};
use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use serde::Serialize;
use taskscale_measure::Measurement;

use super::Series;

/// The record of one run of one case.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct Sample {
    /// Version of this format: 1.
    pub schema: u32,
    /// `runtime/entry`. For `taskscale measure`: the file name of the program, or `--name`.
    pub entry: Arc<str>,
    /// Name of the workload. `own` for black-box programs.
    pub workload: Arc<str>,
    /// N, the tasks asked for. 1 if `taskscale measure` ran a program without `{tasks}`.
    pub tasks: u64,
    /// How long each task waits. 0 if the program takes no `{seconds}`.
    pub hold_s: f64,
    /// From 1.
    pub repetition: u32,
    /// From 1. The last attempt of a repetition counts.
    pub attempt: u32,
    /// How the run ended, and what was measured.
    #[serde(flatten)]
    pub measurement: Measurement,
    /// The command that put load on the program (`--with`, `--connect`), excluded from all values.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub load_command: Option<Vec<String>>,
    /// The exact command line. In submitted results without paths of the machine.
    pub command: Arc<[String]>,
    /// First line of the version that the runtime prints.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub version: Option<Arc<str>>,
    /// Requested versions by name of the runtime or library, as found or resolved.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub versions: BTreeMap<String, String>,
    /// `id` of the results folder for which the run was made. Absent in old results.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub campaign: Option<Arc<str>>,
    /// Parameters that differ from their defaults.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub params: BTreeMap<String, String>,
    /// Number of CPUs the program was pinned to. Absent: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cpus: Option<u32>,
}

impl Deref for Sample {
    type Target = Measurement;

    fn deref(&self) -> &Measurement {
        &self.measurement
    }
}

impl DerefMut for Sample {
    fn deref_mut(&mut self) -> &mut Measurement {
        &mut self.measurement
    }
}

/// A run: its series, then its entry, number of tasks, repetition, and whether it is the second of a pair.
pub type RunKey<'a> = (SeriesKey<'a>, (&'a str, u64, u32, bool));

/// A series, without copying: workload, parameters and CPUs.
pub type SeriesKey<'a> = (&'a str, &'a BTreeMap<String, String>, Option<u32>);

impl Sample {
    /// Whether the clients exhausted a CPU in the closed loop.
    pub fn is_client_limited(&self) -> bool {
        let closed = self.load.as_ref().and_then(|load| load.closed.as_ref());
        closed.is_some_and(|closed| closed.is_client_limited())
    }

    /// The series that it belongs to.
    pub fn series(&self) -> Series {
        Series { workload: self.workload.to_string(), params: self.params.clone(), cpus: self.cpus }
    }

    /// The run that it is an attempt of.
    pub fn run(&self) -> RunKey<'_> {
        let part = (&*self.workload, &self.params, self.cpus);
        (part, (&self.entry, self.tasks, self.repetition, self.is_double()))
    }

    /// Whether it belongs to a series. Compares field by field, without copying.
    pub fn is_of(&self, part: &Series) -> bool {
        *self.workload == part.workload && self.params == part.params && self.cpus == part.cpus
    }

    /// Whether it is the second run of a pair, with twice the operations of the first.
    pub fn is_double(&self) -> bool {
        self.work.as_ref().is_some_and(|work| work.double)
    }
}

/// Values that many samples share, kept once: names, command lines, versions, the campaign.
#[derive(Debug, Default)]
pub struct StringInterner {
    commands: BTreeSet<Arc<[String]>>,
    texts: BTreeSet<Arc<str>>,
}

impl StringInterner {
    /// The same sample, sharing its values with earlier ones.
    pub fn intern(&mut self, mut sample: Sample) -> Sample {
        sample.entry = first_of(&mut self.texts, sample.entry);
        sample.workload = first_of(&mut self.texts, sample.workload);
        sample.command = first_of(&mut self.commands, sample.command);
        sample.version = sample.version.map(|version| first_of(&mut self.texts, version));
        sample.campaign = sample.campaign.map(|campaign| first_of(&mut self.texts, campaign));
        sample
    }
}

fn first_of<T: ?Sized + Ord>(seen: &mut BTreeSet<Arc<T>>, value: Arc<T>) -> Arc<T> {
    if let Some(first) = seen.get(&value) {
        return first.clone();
    }
    seen.insert(value.clone());
    value
}

/// The last attempt of each run, in the order of [`Sample::run`].
pub fn last_attempts<S: Borrow<Sample>>(samples: &[S]) -> Vec<&Sample> {
    let mut last: Vec<&Sample> = samples.iter().map(Borrow::borrow).collect();
    // A stable sort: of equal attempts, the later one is kept.
    last.sort_by(|a, b| a.run().cmp(&b.run()).then(a.attempt.cmp(&b.attempt)));
    last.chunk_by(|a, b| a.run() == b.run()).filter_map(|attempts| attempts.last().copied()).collect()
}
