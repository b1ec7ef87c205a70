//! The one table of metrics: name, unit, direction, how each is read from a sample and how it is written.
//!
//! Tables, charts, comparisons, exports and `--metric` use it: a metric that is added here is in all of them.

mod table;

use std::cmp::Ordering;

use serde::{Serialize, Serializer};

pub use self::table::*;
use crate::catalog::Shape;
use crate::record::{Sample, Warning, Work};
use crate::units::{self, mib};

/// A metric of a run, or of a line through runs at several N.
#[derive(Debug)]
pub struct MetricDef {
    /// Name on the command line, in JSON and in exports: `rss-peak`.
    pub name: &'static str,
    /// Field name in a report: `rss_peak_bytes`.
    pub field: &'static str,
    /// Column head: name and unit.
    pub heading: &'static str,
    /// Column head of narrow columns, if shorter.
    narrow: Option<&'static str>,
    /// Display name, without the unit: `Peak memory`.
    pub title: &'static str,
    /// Description, without a full stop.
    pub about: &'static str,
    /// Title and description for work, whose programs have no plateau.
    pub of_work: Option<(&'static str, &'static str)>,
    pub unit: Unit,
    pub better: Better,
    pub of: MetricScope,
    /// Whether values from different memory sources are not comparable.
    pub source_dependent: bool,
    /// Digits after the decimal point, where the unit does not imply them.
    decimals: usize,
    /// The workload shapes that have it.
    pub shapes: &'static [Shape],
    /// Whether only some workloads of these shapes have it; elsewhere the field is absent.
    pub optional: bool,
    /// Whether entries are compared by it in work too, although taskscale chooses how long work lasts: never by a line.
    compares_work: bool,
    read: Read,
}

/// How a metric is read.
#[derive(Debug, Clone, Copy)]
enum Read {
    /// From a run; for work, from the first of each pair.
    Run(fn(&Sample) -> Option<f64>),
    /// From the difference between the runs of a pair.
    Pair(fn(&Work, &Work) -> Option<f64>),
}

/// The unit of a metric.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Bytes,
    BytesPerTask,
    Seconds,
    Nanoseconds,
    Microseconds,
    PerSecond,
}

/// Which of two values is better.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, strum::IntoStaticStr)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum Better {
    Less,
    More,
}

impl Better {
    /// The best of several values.
    pub fn of(self, values: impl Iterator<Item = f64>) -> Option<f64> {
        values.reduce(match self {
            Better::Less => f64::min,
            Better::More => f64::max,
        })
    }

    /// How many times better `best` is than `value`.
    pub fn times(self, value: f64, best: f64) -> Option<f64> {
        match self {
            Better::Less => (best > 0.0).then(|| value / best),
            Better::More => (value > 0.0).then(|| best / value),
        }
    }

    /// Orders the better value first, and missing values last.
    pub fn order(self, a: Option<f64>, b: Option<f64>) -> Ordering {
        match (a, b) {
            (Some(a), Some(b)) if self == Better::More => b.total_cmp(&a),
            (Some(a), Some(b)) => a.total_cmp(&b),
            (a, b) => b.is_some().cmp(&a.is_some()),
        }
    }
}

/// What a metric belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum MetricScope {
    /// Each run, or each pair of runs.
    Run,
    /// The slope of an entry's line through all N.
    Slope,
    /// The fixed cost: the intercept of the same line.
    Base,
}

/// The metrics that results are compared by, by default.
pub fn compared(shape: Shape) -> &'static [&'static MetricDef] {
    static WITH_PLATEAU: [&MetricDef; 2] = [&FOOTPRINT, &BYTES_PER_TASK];
    static WITHOUT: [&MetricDef; 3] = [&WALL_PER_OP, &CPU_PER_OP, &PEAK];
    if shape.has_plateau() { &WITH_PLATEAU } else { &WITHOUT }
}

/// The metric that entries are ranked by.
pub fn headline(shape: Shape) -> &'static MetricDef {
    compared(shape)[0]
}

/// The metric of this name.
pub fn named(name: &str) -> Option<&'static MetricDef> {
    ALL.into_iter().find(|figure| figure.name == name)
}

impl MetricDef {
    /// The value of a run; for a metric of a line, the value that the line is fitted to. Absent for metrics of pairs.
    pub fn read(&self, sample: &Sample) -> Option<f64> {
        match self.read {
            Read::Run(read) => read(sample),
            Read::Pair(_) => None,
        }
    }

    /// The values of the runs of one case, one for each repetition that has one.
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

    /// Column head where there is little room. A server's tasks are connections.
    pub fn narrow(&self, shape: Shape) -> &'static str {
        let of_connections = self.unit == Unit::BytesPerTask && shape == Shape::Serve;
        if of_connections { "B/conn" } else { self.narrow.unwrap_or(self.heading) }
    }

    /// Column head without the unit, for values with theirs.
    pub fn short(&self) -> &'static str {
        [" MiB", " µs", " s"].iter().find_map(|unit| self.heading.strip_suffix(unit)).unwrap_or(self.heading)
    }

    /// Whether the page offers it for comparing entries of a shape.
    pub fn compares(&self, shape: Shape) -> bool {
        self.is_of(shape) && (shape != Shape::Work || (self.compares_work && !self.per_entry()))
    }

    /// The unit in headings and exports, and the divisor from the stored value to this unit.
    pub fn shown_unit(&self) -> (&'static str, f64) {
        match self.unit {
            Unit::Bytes => ("MiB", 1_048_576.0),
            Unit::BytesPerTask => ("B/task", 1.0),
            Unit::Seconds => ("s", 1.0),
            // `ns/op` or `ns/tick`, the last word of the heading.
            Unit::Nanoseconds => (self.heading.rsplit(' ').next().unwrap_or("ns"), 1.0),
            Unit::Microseconds => ("µs", 1.0),
            Unit::PerSecond => ("per s", 1.0),
        }
    }

    /// Whether it is one value for all N of an entry.
    pub fn per_entry(&self) -> bool {
        self.of != MetricScope::Run
    }

    /// A value in the unit of the heading, as tables show it.
    pub fn show(&self, value: f64) -> String {
        match self.unit {
            Unit::Bytes => units::decimal(mib(value), self.decimals),
            Unit::BytesPerTask => per_task(value),
            Unit::Seconds => time_text(value),
            Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond => units::significant(value, 3),
        }
    }

    /// A value with its unit: `12.5 MiB`.
    pub fn with_unit(&self, value: f64) -> String {
        format!("{} {}", self.show(value), self.shown_unit().0)
    }

    /// A value with more digits, for next to a ratio.
    pub fn show_finely(&self, value: f64) -> String {
        match self.unit {
            Unit::Bytes => units::decimal(mib(value), 2),
            Unit::Seconds => units::decimal(value, 3),
            _ => self.show(value),
        }
    }

    /// A value with the unit that suits it: `217 MiB`, `186 ns`, `2 ms`.
    pub fn text(&self, value: f64) -> String {
        match self.unit {
            // A negative fixed cost means that the line fits badly.
            Unit::Bytes if value < 0.0 => format!("-{}", units::bytes(-value as u64)),
            Unit::Bytes => units::bytes(value as u64),
            Unit::BytesPerTask => format!("{} B", per_task(value)),
            Unit::Seconds => units::seconds(value),
            Unit::Nanoseconds => format!("{} ns", units::significant(value, 3)),
            // Whole values are bounds of histogram buckets.
            Unit::Microseconds if value < 99.95 && value.fract() != 0.0 => {
                format!("{} µs", units::significant(value, 3))
            }
            Unit::Microseconds => units::seconds(value / 1e6),
            Unit::PerSecond => format!("{}/s", units::significant(value, 3)),
        }
    }
}

impl PartialEq for MetricDef {
    fn eq(&self, other: &MetricDef) -> bool {
        self.name == other.name
    }
}

impl Eq for MetricDef {}

impl Serialize for MetricDef {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name)
    }
}

impl Unit {
    /// Whether it is a time, which other work on the machine inflates.
    pub fn is_time(self) -> bool {
        matches!(self, Unit::Seconds | Unit::Nanoseconds | Unit::Microseconds | Unit::PerSecond)
    }
}

/// Bytes per task: whole bytes, or one decimal below 100.
pub fn per_task(slope: f64) -> String {
    units::decimal(slope, usize::from(slope.abs() < 99.95))
}

/// Seconds with two decimals; `<0.01` for small values.
pub fn time_text(seconds: f64) -> String {
    if seconds > 0.0 && seconds < 0.005 { "<0.01".to_owned() } else { units::decimal(seconds, 2) }
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use super::*;
    use crate::record::{Plateau, test_sample};

    #[test]
    fn each_metric_is_listed_once_and_found_by_name() {
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
    fn metrics_read_the_field_of_their_name() {
        let mut sample = test_sample("x/y", 10);
        sample.memory.plateau =
            Some(Plateau { footprint_bytes: 6, kernel_bytes: 2, anon_bytes: 4, ..Plateau::default() });
        (sample.memory.peak_bytes, sample.memory.rss_peak_bytes) = (Some(8), Some(5));
        (sample.time.launch_s, sample.time.drain_s, sample.time.wall_s) = (Some(0.5), Some(0.25), Some(3.0));
        (sample.cpu.user_s, sample.cpu.system_s) = (Some(1.0), Some(0.5));
        let of_runs = || ALL.into_iter().filter(|figure| figure.is_of(Shape::Hold) && !figure.optional);
        let read: Vec<Option<f64>> = of_runs().map(|figure| figure.read(&sample)).collect();
        let wanted = [6.0, 6.0, 6.0, 2.0, 4.0, 8.0, 5.0, 0.5, 0.25, 3.0, 1.5];
        assert_eq!(read, wanted.map(Some));
        assert!(ALL.iter().all(|figure| figure.read(&test_sample("x/y", 1)).is_none()));
    }

    #[test]
    fn lateness_is_the_upper_bound_of_its_histogram_bucket() {
        let mut sample = test_sample("x/y", 10);
        sample.histograms.insert("late_us".into(), vec![0, 40, 58, 1, 0, 1]);
        sample.cpu.plateau_s = Some(0.000_5);
        let read = [&LATE_P50, &LATE_P99, &LATE_MAX, &CPU_PER_TICK].map(|figure| figure.read(&sample));
        assert_eq!(read, [4.0, 8.0, 32.0, 5_000.0].map(Some));
        assert_eq!(LATE_MAX.show(32.0), "32.0");
        sample.histograms.insert("late_us".into(), vec![u64::MAX, 1]);
        assert_eq!(LATE_P50.read(&sample), Some(1.0));
        sample.histograms.insert("late_us".into(), vec![0, 0]);
        assert_eq!((LATE_P50.read(&sample), CPU_PER_TICK.read(&sample)), (None, None));
    }

    #[test]
    fn operation_cost_is_the_difference_of_two_runs() {
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
        assert_eq!((WALL_PER_OP.shown_unit().0, CPU_PER_TICK.shown_unit().0), ("ns/op", "ns/tick"));
    }

    /// The page runs the same cases.
    #[test]
    fn numbers_are_formatted_as_on_the_page() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../report/test/formats.json");
        let cases: BTreeMap<String, Vec<(f64, String)>> =
            serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
        for (unit, cases) in cases {
            let name = |of: Unit| serde_json::to_value(of).unwrap();
            let metric = ALL.into_iter().find(|metric| name(metric.unit) == unit);
            for (value, text) in cases {
                let shown = match metric {
                    Some(metric) => metric.text(value),
                    None => units::count(value as u64),
                };
                assert_eq!(shown, text, "{unit}: {value}");
            }
        }
    }

    #[test]
    fn best_value_depends_on_the_direction_of_the_metric() {
        let values = || [2.0, 1.0, 4.0].into_iter();
        assert_eq!((Better::Less.of(values()), Better::More.of(values())), (Some(1.0), Some(4.0)));
        assert_eq!((Better::Less.times(2.0, 1.0), Better::More.times(2.0, 4.0)), (Some(2.0), Some(2.0)));
        let mut sorted = [Some(1.0), None, Some(2.0)];
        sorted.sort_by(|a, b| Better::More.order(*a, *b));
        assert_eq!(sorted, [Some(2.0), Some(1.0), None]);
    }

    #[test]
    fn numbers_use_the_unit_of_their_heading() {
        assert_eq!(FOOTPRINT.show(2_621_440.0), "2.5");
        assert_eq!(BASE.show(2_621_440.0), "2.50");
        assert_eq!(BYTES_PER_TASK.show(456.4), "456");
        assert_eq!(BYTES_PER_TASK.show(9.96), "10.0");
        assert_eq!(LAUNCH.show(0.001), "<0.01");
        assert_eq!(CPU.show(1.006), "1.01");
    }
}
