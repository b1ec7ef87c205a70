//! Statistics of repeated runs: the middle, the spread, and the cost per task with its uncertainty.
//!
//! Pure functions of numbers, robust by choice: a run disturbed by the machine moves a mean, but hardly a median.
//! Knows nothing of samples, entries or units; does no I/O; the same numbers always give the same result.

mod bootstrap;
mod fit;
mod line;
mod ratio;
mod spread;

pub use bootstrap::{Interval, LineIntervals, RESAMPLES, line_intervals};
pub use fit::{Fit, OFF, Step, Worst, fit, foreseen};
pub use line::{Line, Point, line};
pub use ratio::{Ratio, ratio_of_bases, ratio_of_medians, ratio_of_slopes};
pub use spread::{Spread, mad, median, weighted_median};
