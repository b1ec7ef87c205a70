//! The one table of figures: what each is called, its unit, which direction is better, how it is read from a sample and
//! how it is written.
//!
//! Tables, charts, comparisons, exports and `--metric` go by it: a figure that is added here is in all of them.

use serde::{Serialize, Serializer};

use crate::record::{Plateau, Sample};
use crate::units::{self, mib};

/// One figure of a run, or of a line through runs at several numbers of tasks.
#[derive(Debug)]
pub struct Figure {
    /// As on the command line, in JSON and in exports: `rss-peak`.
    pub name: &'static str,
    /// In the fields of a report: `rss_peak_bytes`.
    pub field: &'static str,
    /// Name and unit over a column.
    pub heading: &'static str,
    /// What it is, for `--help`.
    pub about: &'static str,
    pub unit: Unit,
    pub better: Better,
    pub of: Of,
    /// Whether it is another figure where memory is read from another source.
    pub by_source: bool,
    /// Digits after the point, where its unit does not say.
    decimals: usize,
    read: fn(&Sample) -> Option<f64>,
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    BytesPerTask,
    Seconds,
}

/// Which of two values is the better one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Better {
    Less,
    More,
}

/// What has such a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// Each run.
    Run,
    /// The line through all numbers of tasks of an entry: how steep it is.
    Slope,
    /// The same line: where it begins.
    Base,
}

pub static FOOTPRINT: Figure = Figure {
    name: "footprint",
    field: "footprint_bytes",
    heading: "footprint MiB",
    about: "Memory of all kinds while all tasks wait",
    read: |sample| plateau(sample, |plateau| plateau.footprint_bytes),
    ..MEMORY
};

pub static BYTES_PER_TASK: Figure = Figure {
    name: "bytes-per-task",
    field: "bytes_per_task",
    heading: "B/task",
    about: "Growth of the footprint per task, over all numbers of tasks",
    unit: Unit::BytesPerTask,
    of: Of::Slope,
    read: FOOTPRINT.read,
    ..MEMORY
};

pub static BASE: Figure = Figure {
    name: "base",
    field: "base_bytes",
    heading: "base MiB",
    about: "Footprint before the first task, by the same line",
    of: Of::Base,
    decimals: 2,
    read: FOOTPRINT.read,
    ..MEMORY
};

pub static KERNEL: Figure = Figure {
    name: "kernel",
    field: "kernel_bytes",
    heading: "kernel MiB",
    about: "Part of the footprint that the kernel holds",
    read: |sample| plateau(sample, |plateau| plateau.kernel_bytes),
    ..MEMORY
};

pub static ANON: Figure = Figure {
    name: "anon",
    field: "anon_bytes",
    heading: "anon MiB",
    about: "Part of the footprint that is heaps and stacks",
    read: |sample| plateau(sample, |plateau| plateau.anon_bytes),
    ..MEMORY
};

pub static PEAK: Figure = Figure {
    name: "peak",
    field: "peak_bytes",
    heading: "peak MiB",
    about: "Highest memory of the whole run",
    read: |sample| Some(sample.memory.peak_bytes? as f64),
    ..MEMORY
};

pub static RSS_PEAK: Figure = Figure {
    name: "rss-peak",
    field: "rss_peak_bytes",
    heading: "RSS peak MiB",
    about: "Highest resident memory of any one process",
    // The kernel's own account of a process, in every case.
    by_source: false,
    read: |sample| Some(sample.memory.rss_peak_bytes? as f64),
    ..MEMORY
};

pub static LAUNCH: Figure = Figure {
    name: "launch",
    field: "launch_s",
    heading: "launch s",
    about: "Time until all tasks are alive",
    read: |sample| sample.time.launch_s,
    ..TIME
};

pub static DRAIN: Figure = Figure {
    name: "drain",
    field: "drain_s",
    heading: "drain s",
    about: "Time from the first task's due time until exit",
    read: |sample| sample.time.drain_s,
    ..TIME
};

pub static WALL: Figure = Figure {
    name: "wall",
    field: "wall_s",
    heading: "wall s",
    about: "Time from start to exit, the hold included",
    read: |sample| sample.time.wall_s,
    ..TIME
};

pub static CPU: Figure = Figure {
    name: "cpu",
    field: "cpu_s",
    heading: "CPU s",
    about: "User and system time of all processes",
    read: |sample| sample.cpu.total_s(),
    ..TIME
};

/// All of them.
pub static ALL: [&Figure; 11] =
    [&FOOTPRINT, &BYTES_PER_TASK, &BASE, &KERNEL, &ANON, &PEAK, &RSS_PEAK, &LAUNCH, &DRAIN, &WALL, &CPU];

/// What figures of memory have in common.
const MEMORY: Figure = Figure {
    name: "",
    field: "",
    heading: "",
    about: "",
    unit: Unit::Bytes,
    better: Better::Less,
    of: Of::Run,
    by_source: true,
    decimals: 1,
    read: |_| None,
};

/// What times have in common.
const TIME: Figure = Figure { unit: Unit::Seconds, by_source: false, ..MEMORY };

fn plateau(sample: &Sample, of: fn(&Plateau) -> u64) -> Option<f64> {
    sample.memory.plateau.as_ref().map(|plateau| of(plateau) as f64)
}

/// The figure of this name.
pub fn named(name: &str) -> Option<&'static Figure> {
    ALL.into_iter().find(|figure| figure.name == name)
}

impl Figure {
    /// What a run says of it; for a figure of a line, what the line is drawn through.
    pub fn read(&self, sample: &Sample) -> Option<f64> {
        (self.read)(sample)
    }

    /// Whether it is one figure for all numbers of tasks of an entry.
    pub fn of_line(&self) -> bool {
        self.of != Of::Run
    }

    /// In the unit of the heading, as tables write it.
    pub fn show(&self, value: f64) -> String {
        match self.unit {
            Unit::Bytes => units::decimal(mib(value), self.decimals),
            Unit::BytesPerTask => per_task(value),
            Unit::Seconds => time_text(value),
        }
    }
}

impl PartialEq for Figure {
    fn eq(&self, other: &Figure) -> bool {
        self.name == other.name
    }
}

impl Eq for Figure {}

impl Serialize for Figure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl Unit {
    /// As a service or a heading writes it, and what a value in bytes or seconds is divided by for it.
    pub fn shown(self) -> (&'static str, f64) {
        match self {
            Unit::Bytes => ("MiB", 1_048_576.0),
            Unit::BytesPerTask => ("B/task", 1.0),
            Unit::Seconds => ("s", 1.0),
        }
    }
}

/// Bytes per task: whole bytes, or one decimal where those would say nothing.
pub fn per_task(slope: f64) -> String {
    units::decimal(slope, usize::from(slope.abs() < 99.95))
}

/// Seconds with two decimals: what is below a hundredth says so instead of passing for nothing.
pub fn time_text(seconds: f64) -> String {
    if seconds > 0.0 && seconds < 0.005 { "<0.01".to_owned() } else { units::decimal(seconds, 2) }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::record::test_sample;

    #[test]
    fn each_figure_is_there_once_and_can_be_found() {
        let names: BTreeSet<&str> = ALL.iter().map(|figure| figure.name).collect();
        let fields: BTreeSet<&str> = ALL.iter().map(|figure| figure.field).collect();
        assert_eq!((names.len(), fields.len()), (ALL.len(), ALL.len()));
        for figure in ALL {
            assert_eq!(named(figure.name), Some(figure));
            assert!(!figure.heading.is_empty() && !figure.about.is_empty(), "{}", figure.name);
        }
        assert_eq!(named("speed"), None);
    }

    #[test]
    fn a_figure_is_read_from_the_field_that_its_name_says() {
        let mut sample = test_sample("x/y", 10);
        sample.memory.plateau =
            Some(Plateau { footprint_bytes: 6, kernel_bytes: 2, anon_bytes: 4, ..Plateau::default() });
        (sample.memory.peak_bytes, sample.memory.rss_peak_bytes) = (Some(8), Some(5));
        (sample.time.launch_s, sample.time.drain_s, sample.time.wall_s) = (Some(0.5), Some(0.25), Some(3.0));
        (sample.cpu.user_s, sample.cpu.system_s) = (Some(1.0), Some(0.5));
        let read: Vec<Option<f64>> = ALL.iter().map(|figure| figure.read(&sample)).collect();
        let wanted = [6.0, 6.0, 6.0, 2.0, 4.0, 8.0, 5.0, 0.5, 0.25, 3.0, 1.5];
        assert_eq!(read, wanted.map(Some));
        assert!(ALL.iter().all(|figure| figure.read(&test_sample("x/y", 1)).is_none()));
    }

    #[test]
    fn figures_are_written_in_the_unit_of_their_heading() {
        assert_eq!(FOOTPRINT.show(2_621_440.0), "2.5");
        assert_eq!(BASE.show(2_621_440.0), "2.50");
        assert_eq!(BYTES_PER_TASK.show(456.4), "456");
        assert_eq!(BYTES_PER_TASK.show(9.96), "10.0");
        assert_eq!(LAUNCH.show(0.001), "<0.01");
        assert_eq!(CPU.show(1.006), "1.01");
    }
}
