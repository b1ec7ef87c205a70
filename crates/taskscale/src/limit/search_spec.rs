//! The specification of a search, stored as `limit.json` next to the samples, so that it can be resumed and shown again;
//! the parameters of its runs, and which of them is the searched value.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::catalog::Shape;
use crate::hint::hints;
use crate::record::{Sample, StoreError, read_document, write_json};
use crate::units;

const FILE: &str = "limit.json";

/// Schema version of `limit.json`.
pub const SEARCH_SPEC_SCHEMA: u32 = 1;

/// The workload parameter for messages per second.
pub const RATE: &str = "rate";

/// Why the specification of a search cannot be used.
#[derive(Debug, thiserror::Error, strum::EnumMessage)]
pub enum LimitError {
    #[error("cannot read {path}: {error}")]
    Io { path: PathBuf, error: std::io::Error },
    #[error("not a limit.json of taskscale: {path} ({error})")]
    #[strum(message = "restore limit.json from a copy, or search into a new folder: -o DIR")]
    Malformed { path: PathBuf, error: serde_json::Error },
    #[error("unknown schema: {found} in {path} (this taskscale reads up to {SEARCH_SPEC_SCHEMA})")]
    #[strum(message = "install the taskscale that wrote it, or a newer one")]
    Newer { path: PathBuf, found: u64 },
    #[error("cannot resume the search in {folder}: {what}")]
    #[strum(message = "choose another folder with -o, or omit -o for a new one")]
    Another { folder: PathBuf, what: String },
    #[error("`{workload}` has no server")]
    #[strum(message = "choose a workload with a server: -w echo or -w chat")]
    NoServer { workload: String },
    #[error("`limit` needs a cgroup that can limit memory ({why})")]
    #[strum(message = "`taskscale doctor` shows how to get one")]
    NoGroup { why: String },
}

hints!(LimitError {
    LimitError::Io { error, .. } => error.hint(),
});

/// What the search looks for.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, strum::IntoStaticStr)]
#[serde(rename_all = "kebab-case", tag = "find")]
#[strum(serialize_all = "kebab-case")]
pub enum Find {
    /// Most tasks that pass in a given memory.
    MostTasks { memory_bytes: u64 },
    /// Least memory in which this many tasks pass.
    LeastMemory { tasks: u64 },
    /// Highest message rate with p99 latency below a bound, over this many connections.
    HighestRate { tasks: u64, p99_us: u64 },
}

/// The specification, and the rules by which a run passes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SearchSpec {
    pub schema: u32,
    #[serde(flatten)]
    pub find: Find,
    /// The least tasks that make sense in this workload.
    #[serde(default = "one")]
    pub least_tasks: u64,
    /// The range of rates that clients can send, in messages per second. Only in rate searches.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rates: Option<(u64, u64)>,
    /// Launch and drain may take this many times as long as with unlimited memory.
    pub slowdown: f64,
    /// Memory of runs with unlimited memory, in bytes: all that is available.
    pub room_bytes: u64,
    /// Time that any run may take, in seconds.
    pub time_cap_s: f64,
    /// Variables set for every program on top of its manifest's, before `{memory}` is filled in.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// The same for single entries, from their manifests (`limit_env`).
    #[serde(default)]
    pub entry_env: BTreeMap<String, BTreeMap<String, String>>,
    /// The wanted distance of the answer from the failing value, as a share. May differ when a search resumes.
    pub precision: f64,
    /// Number of confirming runs that must pass. May differ when a search resumes.
    pub repetitions: u32,
    /// Most runs of the search, including failed confirming runs. May differ when a search resumes.
    pub most_runs: u32,
}

fn one() -> u64 {
    1
}

/// The parameters of a run: fixed by the specification, except for the searched value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct TrialPoint {
    pub tasks: u64,
    #[serde(rename = "memory_bytes")]
    pub cap_bytes: u64,
    /// Messages per second. Absent if the search does not set the rate.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rate_per_s: Option<u64>,
}

/// The memory limit of a run in bytes, 0 without one.
pub(super) fn cap_of(sample: &Sample) -> u64 {
    sample.memory.cap_bytes.unwrap_or(0)
}

impl SearchSpec {
    /// The run that tries a value.
    pub fn trial_point(&self, value: u64) -> TrialPoint {
        let room = TrialPoint { tasks: value, cap_bytes: self.room_bytes, rate_per_s: None };
        match self.find {
            Find::MostTasks { memory_bytes } => TrialPoint { cap_bytes: memory_bytes, ..room },
            Find::LeastMemory { tasks } => TrialPoint { tasks, cap_bytes: value, ..room },
            Find::HighestRate { tasks, .. } => TrialPoint { tasks, rate_per_s: Some(value), ..room },
        }
    }

    /// Checks that `self` can be resumed for `now`. The precision may differ.
    pub fn check_same(&self, now: &SearchSpec, folder: &Path) -> Result<(), LimitError> {
        let differ = |what: String| Err(LimitError::Another { folder: folder.to_owned(), what });
        if self.find != now.find {
            return differ(format!("it was for the {}, now the {}", self.find.words(), now.find.words()));
        }
        if self.env != now.env || self.entry_env != now.entry_env {
            return differ("its environment variables have changed (--env, limit_env)".into());
        }
        if self.slowdown != now.slowdown || self.time_cap_s != now.time_cap_s {
            return differ("its time limits have changed (--slowdown, --timeout)".into());
        }
        Ok(())
    }
}

impl Find {
    /// The value that a run tries.
    pub fn value(&self, trial_point: TrialPoint) -> u64 {
        match self {
            Find::MostTasks { .. } => trial_point.tasks,
            Find::LeastMemory { .. } => trial_point.cap_bytes,
            Find::HighestRate { .. } => trial_point.rate_per_s.unwrap_or(0),
        }
    }

    /// The parameters of a sample.
    pub fn trial_point_of(&self, sample: &Sample) -> TrialPoint {
        let rate = || sample.params.get(RATE)?.parse().ok();
        TrialPoint {
            tasks: sample.tasks,
            cap_bytes: cap_of(sample),
            rate_per_s: matches!(self, Find::HighestRate { .. }).then(rate).flatten(),
        }
    }

    pub fn words(&self) -> String {
        match self {
            Find::MostTasks { memory_bytes } => format!("most tasks in {}", size(*memory_bytes)),
            Find::LeastMemory { tasks } => format!("least memory for {}", units::tasks(*tasks)),
            Find::HighestRate { tasks, p99_us } => format!(
                "highest message rate with p99 below {} over {}",
                units::milliseconds(*p99_us as f64),
                Shape::Serve.many(*tasks)
            ),
        }
    }
}

/// A size as text: exact if it is whole MiB.
pub(super) fn size(bytes: u64) -> String {
    if bytes.is_multiple_of(1 << 20) {
        format!("{} MiB", units::grouped(bytes >> 20))
    } else {
        units::bytes(bytes)
    }
}

/// Whether a results folder is that of a limit search.
pub fn holds_search(folder: &Path) -> bool {
    folder.join(FILE).exists()
}

pub fn load_search_spec(folder: &Path) -> Result<SearchSpec, LimitError> {
    let path = folder.join(FILE);
    let text = read_document(&path).map_err(|error| LimitError::Io { path: path.clone(), error })?;
    let malformed = |error| LimitError::Malformed { path: path.clone(), error };
    let value: serde_json::Value = serde_json::from_slice(&text).map_err(malformed)?;
    if let Some(found) = value["schema"].as_u64().filter(|found| *found > SEARCH_SPEC_SCHEMA.into()) {
        return Err(LimitError::Newer { path, found });
    }
    serde_json::from_value(value).map_err(malformed)
}

/// Writes the specification atomically, before the first run.
pub fn store_search_spec(folder: &Path, search_spec: &SearchSpec) -> Result<(), StoreError> {
    write_json(&folder.join(FILE), search_spec)
}

/// The value of a variable under a cap: `{memory}` is the cap in bytes, `{memory:90%}` a share of it.
pub fn fill_in(value: &str, cap_bytes: u64) -> Result<String, String> {
    let mut parts = value.split("{memory");
    let mut filled = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let unclosed = || format!("{value:?}: {{memory is not closed by }}");
        let (share, rest) = part.split_once('}').ok_or_else(unclosed)?;
        let share = match share {
            "" => 100.0,
            share => share
                .strip_prefix(':')
                .and_then(|share| share.strip_suffix('%'))
                .and_then(|share| share.parse::<f64>().ok())
                .filter(|share| *share > 0.0 && *share <= 100.0)
                .ok_or_else(|| format!("{value:?}: write {{memory}} or {{memory:90%}}"))?,
        };
        filled.push_str(&((cap_bytes as f64 * share / 100.0) as u64).to_string());
        filled.push_str(rest);
    }
    Ok(filled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_placeholders_expand_and_malformed_ones_are_refused() {
        assert_eq!(fill_in("off", 100), Ok("off".into()));
        assert_eq!(fill_in("{memory}B", 1 << 20), Ok("1048576B".into()));
        assert_eq!(fill_in("-Xmx{memory:90%} {memory:50%}", 1000), Ok("-Xmx900 500".into()));
        for wrong in ["{memory", "{memory:90}", "{memory:0%}", "{memory:101%}", "{memory:x%}"] {
            assert!(fill_in(wrong, 1000).is_err(), "{wrong}");
        }
    }
}
