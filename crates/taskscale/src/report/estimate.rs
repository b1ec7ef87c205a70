//! A value of a row or of an entry, with its spread.

use super::model::Growth;
use crate::metrics::{MetricDef, MetricScope};
use crate::stats::{Interval, Spread};

/// A value with its spread, in the metric's unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ValueEstimate {
    pub value: f64,
    /// Smallest and largest of the repetitions, or the 95% interval of a fitted value.
    pub range: Option<Interval>,
}

impl ValueEstimate {
    /// The value of an entry's fit; `None` for metrics of single rows.
    pub fn in_growth(figure: &MetricDef, growth: &Growth) -> Option<ValueEstimate> {
        let (value, range) = match figure.of {
            MetricScope::Slope => (growth.bytes_per_task?, growth.bytes_per_task_interval),
            MetricScope::Base => (growth.base_bytes?, growth.base_bytes_interval),
            MetricScope::Run => return None,
        };
        Some(ValueEstimate { value, range })
    }
}

impl From<Spread> for ValueEstimate {
    fn from(spread: Spread) -> ValueEstimate {
        let range = (spread.readings > 1).then_some(Interval { low: spread.min, high: spread.max });
        ValueEstimate { value: spread.median, range }
    }
}
