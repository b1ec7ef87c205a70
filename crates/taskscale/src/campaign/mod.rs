//! Cases measured together: their plan and order, how long tasks wait, what remains to be done, and running it.
//!
//! Measures through `measure::Runner` only, so that tests need no program. Must not know the command line.

mod contradiction;
mod drive;
mod estimate;
mod external;
mod hold;
mod keeper;
mod operations;
mod plan;
mod prepare;
mod same;
#[cfg(test)]
mod same_tests;
mod serving;
#[cfg(test)]
mod tests;

pub use drive::{CampaignEnd, CampaignError, CampaignObserver, Settings, run, sample_of};
pub use estimate::{CellEstimate, Estimate, Source, estimate};
pub use external::{SECONDS, TASKS, Template};
pub use hold::{HoldKeeper, foreseen_reading_s, hold_for_launch, longer_hold_s};
pub use keeper::{Keeper, warm_up};
pub use plan::{PlannedRun, plan_digest, planned_runs};
pub use prepare::{NotReady, Prepared, prepare, receipt};
pub use serving::{serving, serving_at_rate, serving_briefly, serving_in_a_moment};
