//! Statistics of repeated runs: the median, the spread, and the cost per task with its uncertainty.
//!
//! Pure functions of numbers, robust by choice: a run disturbed by the machine moves a mean, but hardly a
//! median. Knows nothing of samples and entries, and does no I/O. A [`Fit`] is of footprints, in bytes.

mod fit;
mod line;
mod spread;
mod student;
mod welch;

pub use fit::{Fit, OFF, Step, WorstPoint, fit, predicted};
pub use line::{Line, LineIntervals, Point, line, line_intervals, lines_of_repetitions, medians};
pub use spread::{Spread, mad, median, middle_two, weighted_median};
pub use welch::{CONFIDENCE, Interval, Moments, Welch, holm, interval_of};
