//! Cases measured together: their plan and order, how long tasks wait, what remains to be done, and running it.
//!
//! Measures through `taskscale_measure::Runner` only, so that tests need no program. Must not know the command line.

mod black_box;
mod by_plan;
mod cross_check;
mod drive;
mod estimate;
mod hold;
mod open;
mod operations;
mod plan;
mod prepare;
mod preview;
mod run_spec;
mod run_tuner;
mod same;
#[cfg(test)]
mod same_tests;
mod serving;
#[cfg(test)]
mod tests;

pub use black_box::{BlackBoxTemplate, SECONDS, TASKS, black_box_digest};
pub use by_plan::{ByPlan, CampaignObserver, RunSettings};
pub use drive::{CampaignError, CampaignResult, NextStep, RunsEnd, ScheduledRun, Strategy, drive};
pub use estimate::{CellEstimate, EstimateSource, PlanEstimate};
pub use hold::{HoldPredictor, estimated_reading_s, hold_for_launch, longer_hold_s};
pub use open::{describe, load_kept, memory_cap_bytes, open_kept, open_new, reopen};
pub use plan::{PlannedRun, plan_digest, planned_runs};
pub use prepare::{NotReady, Prepared, prepare, receipt};
pub use preview::RunPreview;
pub use run_spec::WARM_UP_TIME;
pub use run_tuner::{RunTuner, warm_up};
pub use serving::{serving, serving_at_rate, serving_briefly, serving_in_a_moment};
