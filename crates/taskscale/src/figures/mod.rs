//! The one table of figures: what each is called, its unit, which direction is better, how it is read from a sample and
//! how it is written.
//!
//! Tables, charts, comparisons, exports and `--metric` go by it: a figure that is added here is in all of them.

use serde::{Serialize, Serializer};

use crate::catalog::Shape;
use crate::record::{Latency, OpenLoad, Plateau, Sample, Warning, Work};
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
    /// The shapes of workload that have it.
    pub shapes: &'static [Shape],
    /// Only some workloads of these shapes have it: elsewhere it is absent, and not empty.
    pub of_some: bool,
    read: Read,
}

/// How a figure is read.
#[derive(Debug, Clone, Copy)]
enum Read {
    /// From a run; of work, from the first of each pair.
    Run(fn(&Sample) -> Option<f64>),
    /// From what the second of a pair took more than the first.
    Pair(fn(&Work, &Work) -> Option<f64>),
}

/// What a figure counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    Bytes,
    BytesPerTask,
    Seconds,
    Nanoseconds,
    Microseconds,
    PerSecond,
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
    /// Each run, or each pair of runs.
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
    read: Read::Run(|sample| plateau(sample, |plateau| plateau.footprint_bytes)),
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
    read: Read::Run(|sample| plateau(sample, |plateau| plateau.kernel_bytes)),
    ..MEMORY
};

pub static ANON: Figure = Figure {
    name: "anon",
    field: "anon_bytes",
    heading: "anon MiB",
    about: "Part of the footprint that is heaps and stacks",
    read: Read::Run(|sample| plateau(sample, |plateau| plateau.anon_bytes)),
    ..MEMORY
};

pub static PEAK: Figure = Figure {
    name: "peak",
    field: "peak_bytes",
    heading: "peak MiB",
    about: "Highest memory of the whole run",
    read: Read::Run(|sample| Some(sample.memory.peak_bytes? as f64)),
    ..MEMORY
};

pub static RSS_PEAK: Figure = Figure {
    name: "rss-peak",
    field: "rss_peak_bytes",
    heading: "RSS peak MiB",
    about: "Highest resident memory of any one process",
    // The kernel's own account of a process, in every case.
    by_source: false,
    read: Read::Run(|sample| Some(sample.memory.rss_peak_bytes? as f64)),
    ..MEMORY
};

pub static LAUNCH: Figure = Figure {
    name: "launch",
    field: "launch_s",
    heading: "launch s",
    about: "Time until all tasks are alive",
    read: Read::Run(|sample| sample.time.launch_s),
    ..TIME
};

pub static DRAIN: Figure = Figure {
    name: "drain",
    field: "drain_s",
    heading: "drain s",
    about: "Time from the first task's due time until exit",
    read: Read::Run(|sample| sample.time.drain_s),
    ..TIME
};

pub static WALL: Figure = Figure {
    name: "wall",
    field: "wall_s",
    heading: "wall s",
    about: "Time from start to exit, the hold included",
    read: Read::Run(|sample| sample.time.wall_s),
    ..TIME
};

pub static CPU: Figure = Figure {
    name: "cpu",
    field: "cpu_s",
    heading: "CPU s",
    about: "User and system time of all processes",
    read: Read::Run(|sample| sample.cpu.total_s()),
    ..TIME
};

pub static WALL_PER_OP: Figure = Figure {
    name: "wall-ns-per-op",
    field: "wall_ns_per_op",
    heading: "wall ns/op",
    about: "Time of an operation: what twice as many took more, divided by how many more they were",
    unit: Unit::Nanoseconds,
    read: Read::Pair(|once, twice| per_op(once, twice, |work| work.wall_s)),
    ..WORK
};

pub static CPU_PER_OP: Figure = Figure {
    name: "cpu-ns-per-op",
    field: "cpu_ns_per_op",
    heading: "CPU ns/op",
    about: "CPU time of an operation, over all CPUs, by the same difference",
    unit: Unit::Nanoseconds,
    read: Read::Pair(|once, twice| per_op(once, twice, |work| work.cpu_s)),
    ..WORK
};

pub static OPS_PER_S: Figure = Figure {
    name: "ops-per-s",
    field: "ops_per_s",
    heading: "ops/s",
    about: "Operations in a second: the reciprocal of the time of one",
    unit: Unit::PerSecond,
    better: Better::More,
    read: Read::Pair(|once, twice| Some(1e9 / per_op(once, twice, |work| work.wall_s)?)),
    ..WORK
};

pub static CPU_PER_TICK: Figure = Figure {
    name: "cpu-ns-per-tick",
    field: "cpu_ns_per_tick",
    heading: "CPU ns/tick",
    about: "CPU time for each time that a task woke, while all were alive",
    unit: Unit::Nanoseconds,
    read: Read::Run(|sample| Some(sample.cpu.plateau_s? * 1e9 / ticks(sample)? as f64)),
    ..TICKS
};

pub static LATE_P50: Figure = Figure {
    name: "late-p50",
    field: "late_p50_us",
    heading: "late p50 µs",
    about: "How late a task woke at most in half of all times",
    read: Read::Run(|sample| late(sample, 0.5)),
    ..TICKS
};

pub static LATE_P99: Figure = Figure {
    name: "late-p99",
    field: "late_p99_us",
    heading: "late p99 µs",
    about: "How late a task woke at most in 99 of 100 times",
    read: Read::Run(|sample| late(sample, 0.99)),
    ..TICKS
};

pub static LATE_MAX: Figure = Figure {
    name: "late-max",
    field: "late_max_us",
    heading: "late max µs",
    about: "How late a task woke at most",
    read: Read::Run(|sample| late(sample, 1.0)),
    ..TICKS
};

pub static CLIENT_KERNEL: Figure = Figure {
    name: "client-kernel",
    field: "client_kernel_bytes",
    heading: "clients' kernel MiB",
    about: "What the kernel holds for the clients' ends of the connections",
    shapes: &[Shape::Serve],
    read: Read::Run(|sample| Some(sample.load.as_ref()?.client_kernel_bytes? as f64)),
    ..MEMORY
};

pub static LOADED: Figure = Figure {
    name: "loaded",
    field: "loaded_bytes",
    heading: "loaded MiB",
    about: "Memory of all kinds right after messages had come at a rate",
    shapes: &[Shape::Serve],
    read: Read::Run(|sample| Some(sample.memory.loaded.as_ref()?.footprint_bytes as f64)),
    ..MEMORY
};

pub static CONNECTS_PER_S: Figure = Figure {
    name: "connects-per-s",
    field: "connects_per_s",
    heading: "connects/s",
    about: "Connections accepted in a second, until all were there",
    unit: Unit::PerSecond,
    better: Better::More,
    read: Read::Run(|sample| {
        let load = sample.load.as_ref()?;
        Some(load.connected as f64 / load.connect_s).filter(|per_s| per_s.is_finite())
    }),
    ..LOAD
};

pub static CPU_PER_MESSAGE: Figure = Figure {
    name: "cpu-us-per-message",
    field: "cpu_us_per_message",
    heading: "CPU µs/msg",
    about: "CPU time of the server for each message, at a rate",
    read: Read::Run(|sample| {
        let open = open(sample)?;
        per(open.server_cpu_s?, open.messages)
    }),
    ..LOAD
};

pub static CPU_PER_DELIVERY: Figure = Figure {
    name: "cpu-us-per-delivery",
    field: "cpu_us_per_delivery",
    heading: "CPU µs/delivery",
    about: "CPU time of the server for each member that a message came to",
    of_some: true,
    read: Read::Run(|sample| {
        let open = open(sample).filter(|open| open.deliveries > open.messages)?;
        per(open.server_cpu_s?, open.deliveries)
    }),
    ..LOAD
};

pub static LATENCY_P50: Figure = Figure {
    name: "latency-p50",
    field: "latency_p50_us",
    heading: "p50 µs",
    about: "From when a message was due until all had it, in half of all cases at most",
    read: Read::Run(|sample| Some(latency(sample)?.p50)),
    ..LOAD
};

pub static LATENCY_P90: Figure = Figure {
    name: "latency-p90",
    field: "latency_p90_us",
    heading: "p90 µs",
    about: "The same, in 90 of 100 cases",
    read: Read::Run(|sample| Some(latency(sample)?.p90)),
    ..LOAD
};

pub static LATENCY_P99: Figure = Figure {
    name: "latency-p99",
    field: "latency_p99_us",
    heading: "p99 µs",
    about: "The same, in 99 of 100 cases",
    read: Read::Run(|sample| Some(latency(sample)?.p99)),
    ..LOAD
};

pub static LATENCY_P999: Figure = Figure {
    name: "latency-p999",
    field: "latency_p999_us",
    heading: "p99.9 µs",
    about: "The same, in 999 of 1,000 cases",
    read: Read::Run(|sample| Some(latency(sample)?.p999)),
    ..LOAD
};

pub static LATENCY_MAX: Figure = Figure {
    name: "latency-max",
    field: "latency_max_us",
    heading: "max µs",
    about: "The same, at most",
    read: Read::Run(|sample| Some(latency(sample)?.max)),
    ..LOAD
};

pub static MESSAGES_PER_S: Figure = Figure {
    name: "messages-per-s",
    field: "messages_per_s",
    heading: "msgs/s",
    about: "Messages in a second, one in flight on each of some connections; the clients' CPU is in it",
    unit: Unit::PerSecond,
    better: Better::More,
    read: Read::Run(|sample| Some(sample.load.as_ref()?.closed.as_ref()?.per_s)),
    ..LOAD
};

/// All of them.
pub static ALL: [&Figure; 29] = [
    &FOOTPRINT,
    &BYTES_PER_TASK,
    &BASE,
    &KERNEL,
    &ANON,
    &PEAK,
    &RSS_PEAK,
    &LAUNCH,
    &DRAIN,
    &WALL,
    &CPU,
    &WALL_PER_OP,
    &CPU_PER_OP,
    &OPS_PER_S,
    &CPU_PER_TICK,
    &LATE_P50,
    &LATE_P99,
    &LATE_MAX,
    &CLIENT_KERNEL,
    &LOADED,
    &CONNECTS_PER_S,
    &CPU_PER_MESSAGE,
    &CPU_PER_DELIVERY,
    &LATENCY_P50,
    &LATENCY_P90,
    &LATENCY_P99,
    &LATENCY_P999,
    &LATENCY_MAX,
    &MESSAGES_PER_S,
];

/// The figure that entries are ranked by.
pub fn headline(shape: Shape) -> &'static Figure {
    match shape {
        Shape::Hold | Shape::Serve => &FOOTPRINT,
        Shape::Work => &WALL_PER_OP,
    }
}

const EACH: &[Shape] = &[Shape::Hold, Shape::Work, Shape::Serve];

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
    shapes: EACH,
    of_some: false,
    read: Read::Run(|_| None),
};

/// What figures of work have in common.
const WORK: Figure = Figure { by_source: false, shapes: &[Shape::Work], ..MEMORY };

/// What figures of tasks that wake have in common.
const TICKS: Figure =
    Figure { unit: Unit::Microseconds, by_source: false, shapes: &[Shape::Hold], of_some: true, ..MEMORY };

/// What figures of servers under load have in common.
const LOAD: Figure = Figure { unit: Unit::Microseconds, by_source: false, shapes: &[Shape::Serve], ..MEMORY };

fn open(sample: &Sample) -> Option<&OpenLoad> {
    sample.load.as_ref()?.open.as_ref()
}

/// Microseconds for each.
fn per(seconds: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| seconds * 1e6 / count as f64)
}

/// How late messages came, where as many came as were due: otherwise it says how long the loop lasted.
fn latency(sample: &Sample) -> Option<Latency> {
    open(sample).filter(|_| !sample.warnings.contains(&Warning::RateNotReached)).map(|open| open.latency_us)
}

/// What times have in common.
const TIME: Figure = Figure { unit: Unit::Seconds, by_source: false, ..MEMORY };

fn plateau(sample: &Sample, of: fn(&Plateau) -> u64) -> Option<f64> {
    sample.memory.plateau.as_ref().map(|plateau| of(plateau) as f64)
}

/// How late tasks woke: bucket b counts those late by less than 2^b microseconds, and not less than half of that.
fn lateness(sample: &Sample) -> Option<&[u64]> {
    sample.histograms.get("late_us").map(Vec::as_slice)
}

fn ticks(sample: &Sample) -> Option<u64> {
    Some(lateness(sample)?.iter().sum()).filter(|ticks| *ticks > 0)
}

/// A quantile of lateness, in microseconds: the upper bound of its bucket.
fn late(sample: &Sample, share: f64) -> Option<f64> {
    let rank = (ticks(sample)? as f64 * share).ceil().max(1.0) as u64;
    let mut seen = 0;
    let bucket = lateness(sample)?.iter().position(|count| {
        seen += count;
        seen >= rank
    })?;
    Some(2_f64.powi(bucket as i32))
}

/// What an operation took, in nanoseconds. Start-up and warm-up are in both runs, and cancel.
fn per_op(once: &Work, twice: &Work, seconds: fn(&Work) -> Option<f64>) -> Option<f64> {
    let more = twice.operations.checked_sub(once.operations).filter(|more| *more > 0)?;
    let cost = (seconds(twice)? - seconds(once)?) / more as f64 * 1e9;
    // A second run that was faster than the first says that other things took longer than the operations.
    (cost > 0.0).then_some(cost)
}

/// The figure of this name.
pub fn named(name: &str) -> Option<&'static Figure> {
    ALL.into_iter().find(|figure| figure.name == name)
}

impl Figure {
    /// What a run says of it; for a figure of a line, what the line is drawn through. None for a figure of pairs.
    pub fn read(&self, sample: &Sample) -> Option<f64> {
        match self.read {
            Read::Run(read) => read(sample),
            Read::Pair(_) => None,
        }
    }

    /// What the runs of one cell say of it, one value for each repetition that has one.
    pub fn values(&self, samples: &[&Sample]) -> Vec<f64> {
        let first = || samples.iter().filter(|sample| !sample.is_double());
        match self.read {
            Read::Run(read) => first().filter_map(|sample| read(sample)).collect(),
            Read::Pair(read) => first()
                .filter(|once| !once.warnings.contains(&Warning::WorkShort))
                .filter_map(|once| {
                    let pair = |twice: &&&Sample| twice.is_double() && twice.repetition == once.repetition;
                    let twice = samples.iter().find(pair)?;
                    read(once.work.as_ref()?, twice.work.as_ref()?)
                })
                .collect(),
        }
    }

    /// Whether runs of a shape have it.
    pub fn is_of(&self, shape: Shape) -> bool {
        self.shapes.contains(&shape)
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
            Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => units::significant(value, 3),
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
    /// Whether it is of time, which other work on the machine changes, and not of memory.
    pub fn is_time(self) -> bool {
        matches!(self, Unit::Seconds | Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond)
    }

    /// As a service or a heading writes it, and what a value in bytes or seconds is divided by for it.
    pub fn shown(self) -> (&'static str, f64) {
        match self {
            Unit::Bytes => ("MiB", 1_048_576.0),
            Unit::BytesPerTask => ("B/task", 1.0),
            Unit::Seconds => ("s", 1.0),
            Unit::Nanoseconds => ("ns/op", 1.0),
            Unit::Microseconds => ("µs", 1.0),
            Unit::PerSecond => ("per s", 1.0),
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
        let of_runs = || ALL.into_iter().filter(|figure| figure.is_of(Shape::Hold) && !figure.of_some);
        let read: Vec<Option<f64>> = of_runs().map(|figure| figure.read(&sample)).collect();
        let wanted = [6.0, 6.0, 6.0, 2.0, 4.0, 8.0, 5.0, 0.5, 0.25, 3.0, 1.5];
        assert_eq!(read, wanted.map(Some));
        assert!(ALL.iter().all(|figure| figure.read(&test_sample("x/y", 1)).is_none()));
    }

    #[test]
    fn lateness_is_the_upper_bound_of_a_bucket() {
        let mut sample = test_sample("x/y", 10);
        sample.histograms.insert("late_us".into(), vec![0, 40, 58, 1, 0, 1]);
        sample.cpu.plateau_s = Some(0.000_5);
        let read = [&LATE_P50, &LATE_P99, &LATE_MAX, &CPU_PER_TICK].map(|figure| figure.read(&sample));
        assert_eq!(read, [4.0, 8.0, 32.0, 5_000.0].map(Some));
        assert_eq!(LATE_MAX.show(32.0), "32.0");
        sample.histograms.insert("late_us".into(), vec![0, 0]);
        assert_eq!((LATE_P50.read(&sample), CPU_PER_TICK.read(&sample)), (None, None));
    }

    #[test]
    fn the_cost_of_an_operation_is_what_twice_as_many_took_more() {
        let run = |double: bool, wall_s: f64, cpu_s: f64| {
            let mut sample = test_sample("x/y", 10);
            let operations = if double { 2_000_000 } else { 1_000_000 };
            sample.work = Some(Box::new(Work {
                operations,
                double,
                wall_s: Some(wall_s),
                cpu_s: Some(cpu_s),
                check: None,
            }));
            sample
        };
        // A second of start-up in each.
        let (once, twice) = (run(false, 1.25, 1.5), run(true, 1.5, 2.0));
        let pair = [&once, &twice];
        assert_eq!(WALL_PER_OP.values(&pair), [250.0]);
        assert_eq!(CPU_PER_OP.values(&pair), [500.0]);
        assert_eq!(OPS_PER_S.values(&pair), [4_000_000.0]);
        assert_eq!(WALL_PER_OP.values(&[&once]), [0.0; 0], "one run has no difference");
        let faster = run(true, 1.2, 1.4);
        assert_eq!(WALL_PER_OP.values(&[&once, &faster]), [0.0; 0], "and that is no cost");
        let mut short = once.clone();
        short.warnings.push(Warning::WorkShort);
        assert_eq!(WALL_PER_OP.values(&[&short, &twice]), [0.0; 0]);
        assert_eq!(WALL_PER_OP.show(1_234.6), "1,230");
        assert_eq!(OPS_PER_S.show(4_000_000.0), "4,000,000");
        assert_eq!(WALL_PER_OP.show(0.2512), "0.251");
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
