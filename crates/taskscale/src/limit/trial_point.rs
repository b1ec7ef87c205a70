//! The parameters of single runs of a search, and which of them is the searched value. Pure.

use serde::Serialize;

use super::search_spec::{Find, SearchSpec};
use crate::record::Sample;

/// The workload parameter for messages per second.
pub const RATE: &str = "rate";

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
}
