//! The parameters of single runs of a search, and which of them is the searched value. Pure.

use super::question::{Find, Question};
use crate::record::Sample;

/// The workload parameter for messages per second.
pub const RATE: &str = "rate";

/// The parameters of a run: fixed by the question, except for the searched value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Setting {
    pub tasks: u64,
    pub cap_bytes: u64,
    /// Messages in a second; absent where the search does not set the rate.
    pub rate_per_s: Option<u64>,
}

impl Question {
    /// The run that tries a value.
    pub fn setting(&self, value: u64) -> Setting {
        let room = Setting { tasks: value, cap_bytes: self.room_bytes, rate_per_s: None };
        match self.find {
            Find::MostTasks { memory_bytes } => Setting { cap_bytes: memory_bytes, ..room },
            Find::LeastMemory { tasks } => Setting { tasks, cap_bytes: value, ..room },
            Find::HighestRate { tasks, .. } => Setting { tasks, rate_per_s: Some(value), ..room },
        }
    }
}

impl Find {
    /// The value that a run tries.
    pub fn value(&self, setting: Setting) -> u64 {
        match self {
            Find::MostTasks { .. } => setting.tasks,
            Find::LeastMemory { .. } => setting.cap_bytes,
            Find::HighestRate { .. } => setting.rate_per_s.unwrap_or(0),
        }
    }

    /// The parameters of a sample.
    pub fn setting_of(&self, sample: &Sample) -> Setting {
        let rate = || sample.params.get(RATE)?.parse().ok();
        Setting {
            tasks: sample.tasks,
            cap_bytes: sample.memory.cap_bytes.unwrap_or(0),
            rate_per_s: matches!(self, Find::HighestRate { .. }).then(rate).flatten(),
        }
    }

    /// The value that a run tried.
    pub fn value_of(&self, sample: &Sample) -> u64 {
        self.value(self.setting_of(sample))
    }
}
