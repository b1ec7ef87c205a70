//! The figures that can be asked for by name: what they are called, in which unit, and where they stand in a row.

use super::figures::{per_task, time_text};
use super::model::{Growth, Report, Row};
use crate::stats::Spread;
use crate::units::{self, mib};

/// A figure of a cell, or of an entry over all its numbers of tasks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// Memory of all kinds while all tasks wait, in bytes.
    Footprint,
    /// The kernel's part of it, in bytes.
    Kernel,
    /// Highest memory of the whole run, in bytes.
    Peak,
    /// Highest resident memory of any one process, in bytes.
    RssPeak,
    /// Growth of the footprint per task, in bytes: one figure an entry.
    BytesPerTask,
    /// Footprint before the first task, in bytes: one figure an entry.
    Base,
    /// Until all tasks were alive, in seconds.
    Launch,
    /// Until exit, in seconds.
    Wall,
    /// User and system time, in seconds.
    Cpu,
}

/// A figure with what is known of its spread, in the metric's own unit.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Figure {
    pub value: f64,
    /// Smallest and largest of the repetitions, or the 95 % interval of a fitted figure.
    pub range: Option<(f64, f64)>,
}

impl Metric {
    pub const ALL: [Metric; 9] = [
        Metric::Footprint,
        Metric::Kernel,
        Metric::Peak,
        Metric::RssPeak,
        Metric::BytesPerTask,
        Metric::Base,
        Metric::Launch,
        Metric::Wall,
        Metric::Cpu,
    ];

    /// The name used on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Metric::Footprint => "footprint",
            Metric::Kernel => "kernel",
            Metric::Peak => "peak",
            Metric::RssPeak => "rss-peak",
            Metric::BytesPerTask => "bytes-per-task",
            Metric::Base => "base",
            Metric::Launch => "launch",
            Metric::Wall => "wall",
            Metric::Cpu => "cpu",
        }
    }

    /// Name and unit over a column.
    pub fn heading(self) -> &'static str {
        match self {
            Metric::Footprint => "footprint MiB",
            Metric::Kernel => "kernel MiB",
            Metric::Peak => "peak MiB",
            Metric::RssPeak => "RSS peak MiB",
            Metric::BytesPerTask => "B/task",
            Metric::Base => "base MiB",
            Metric::Launch => "launch s",
            Metric::Wall => "wall s",
            Metric::Cpu => "CPU s",
        }
    }

    /// The figure in the unit of the heading, as tables write it.
    pub fn show(self, value: f64) -> String {
        match self {
            Metric::Footprint | Metric::Kernel | Metric::Peak | Metric::RssPeak => {
                units::decimal(mib(value), 1)
            }
            Metric::Base => units::decimal(mib(value), 2),
            Metric::BytesPerTask => per_task(value),
            Metric::Launch | Metric::Wall | Metric::Cpu => time_text(value),
        }
    }

    /// Whether it is of a whole entry, and not of one number of tasks.
    pub fn of_entry(self) -> bool {
        matches!(self, Metric::BytesPerTask | Metric::Base)
    }

    /// The figure of a row; none for a metric of whole entries.
    pub fn in_row(self, row: &Row) -> Option<Figure> {
        let spreads = &row.spreads;
        let spread = match self {
            Metric::Footprint => row.footprint_bytes,
            Metric::Kernel => spreads.kernel_bytes,
            Metric::Peak => spreads.peak_bytes,
            Metric::RssPeak => spreads.rss_peak_bytes,
            Metric::Launch => spreads.launch_s,
            Metric::Wall => spreads.wall_s,
            Metric::Cpu => spreads.cpu_s,
            Metric::BytesPerTask | Metric::Base => None,
        };
        spread.map(Figure::from)
    }

    /// The figure of an entry; none for a metric of single rows.
    pub fn in_growth(self, growth: &Growth) -> Option<Figure> {
        let (value, interval) = match self {
            Metric::BytesPerTask => (growth.bytes_per_task?, growth.bytes_per_task_interval),
            Metric::Base => (growth.base_bytes?, growth.base_bytes_interval),
            _ => return None,
        };
        Some(Figure { value, range: interval.map(|interval| (interval.low, interval.high)) })
    }
}

impl From<Spread> for Figure {
    fn from(spread: Spread) -> Figure {
        let range = (spread.readings > 1).then_some((spread.min, spread.max));
        Figure { value: spread.median, range }
    }
}

impl Report {
    /// How an entry's footprint grows.
    pub fn growth_of(&self, entry: &str) -> Option<&Growth> {
        self.growth.iter().find(|growth| growth.entry.name == entry)
    }
}
