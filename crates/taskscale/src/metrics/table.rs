//! The table of metrics, and how each is read from a sample.

use super::{Better, MetricDef, MetricScope, Read, Unit};
use crate::catalog::Shape;
use crate::record::{Latency, OpenLoad, Plateau, Sample, Work};

/// Declares each metric as a static, with unnamed fields from its defaults, and the list of all metrics.
macro_rules! metrics {
    ($($name:ident: $defaults:ident { $($field:ident: $value:expr,)+ })+) => {
        $(pub static $name: MetricDef = MetricDef { $($field: $value,)+ ..$defaults };)+

        /// All metrics.
        pub static ALL: [&MetricDef; [$(stringify!($name)),+].len()] = [$(&$name),+];
    };
}

metrics! {
    FOOTPRINT: MEMORY {
        name: "footprint",
        field: "footprint_bytes",
        heading: "memory MiB",
        title: "Footprint",
        about: "Memory of all kinds while all tasks wait",
        of_work: Some((
            "Footprint when ready",
            "Memory of all kinds when the program is ready and its work begins",
        )),
        read: Read::Run(|sample| plateau(sample, |plateau| plateau.footprint_bytes)),
    }

    BYTES_PER_TASK: MEMORY {
        name: "bytes-per-task",
        field: "bytes_per_task",
        heading: "B/task",
        title: "Bytes per task",
        about: "Growth of the footprint per task, over all N",
        unit: Unit::BytesPerTask,
        of: MetricScope::Slope,
        read: FOOTPRINT.read,
    }

    BASE: MEMORY {
        name: "base",
        field: "base_bytes",
        heading: "fixed MiB",
        title: "Fixed cost",
        about: "Fixed cost: footprint before the first task, by the same line",
        of: MetricScope::Base,
        decimals: 2,
        read: FOOTPRINT.read,
    }

    KERNEL: MEMORY {
        name: "kernel",
        field: "kernel_bytes",
        heading: "kernel MiB",
        narrow: Some("kernel"),
        title: "Kernel memory",
        about: "Kernel memory, a part of the footprint",
        read: Read::Run(|sample| plateau(sample, |plateau| plateau.kernel_bytes)),
    }

    ANON: MEMORY {
        name: "anon",
        field: "anon_bytes",
        heading: "anon MiB",
        title: "Anonymous memory",
        about: "Heaps and stacks, a part of the footprint",
        read: Read::Run(|sample| plateau(sample, |plateau| plateau.anon_bytes)),
    }

    PEAK: MEMORY {
        name: "peak",
        field: "peak_bytes",
        heading: "peak MiB",
        title: "Peak memory",
        about: "Highest memory of the whole run",
        read: Read::Run(|sample| Some(sample.memory.peak_bytes? as f64)),
    }

    RSS_PEAK: MEMORY {
        name: "rss-peak",
        field: "rss_peak_bytes",
        heading: "RSS peak MiB",
        narrow: Some("RSS"),
        title: "Peak RSS",
        about: "Highest resident memory of any one process",
        // Always the kernel's own count for each process.
        source_dependent: false,
        read: Read::Run(|sample| Some(sample.memory.rss_peak_bytes? as f64)),
    }

    LAUNCH: TIME {
        name: "launch",
        field: "launch_s",
        heading: "launch s",
        title: "Launch time",
        about: "Time until all tasks are alive",
        of_work: Some(("Launch time", "Time until the program is ready and its work begins")),
        compares_work: true,
        read: Read::Run(|sample| sample.time.launch_s),
    }

    DRAIN: TIME {
        name: "drain",
        field: "drain_s",
        heading: "drain s",
        title: "Drain time",
        about: "Time from the first task's due time until exit",
        read: Read::Run(|sample| sample.time.drain_s),
    }

    WALL: TIME {
        name: "wall",
        field: "wall_s",
        heading: "wall s",
        title: "Wall time",
        about: "Time from start to exit, including the wait",
        read: Read::Run(|sample| sample.time.wall_s),
    }

    CPU: TIME {
        name: "cpu",
        field: "cpu_s",
        heading: "CPU s",
        title: "CPU time",
        about: "User and system time of all processes",
        read: Read::Run(|sample| sample.cpu.total_s()),
    }

    WALL_PER_OP: WORK {
        name: "wall-ns-per-op",
        field: "wall_ns_per_op",
        heading: "wall ns/op",
        title: "Wall time per operation",
        about: "Wall time per operation: (time for 2N − time for N) ÷ N",
        unit: Unit::Nanoseconds,
        read: Read::Pair(|once, twice| per_op(once, twice, |work| work.wall_s)),
    }

    CPU_PER_OP: WORK {
        name: "cpu-ns-per-op",
        field: "cpu_ns_per_op",
        heading: "CPU ns/op",
        title: "CPU time per operation",
        about: "CPU time per operation, over all CPUs, by the same formula",
        unit: Unit::Nanoseconds,
        read: Read::Pair(|once, twice| per_op(once, twice, |work| work.cpu_s)),
    }

    OPS_PER_S: WORK {
        name: "ops-per-s",
        field: "ops_per_s",
        heading: "ops/s",
        title: "Operations per second",
        about: "Operations per second: 1 ÷ wall time per operation",
        unit: Unit::PerSecond,
        better: Better::More,
        read: Read::Pair(|once, twice| Some(1e9 / per_op(once, twice, |work| work.wall_s)?)),
    }

    CPU_PER_TICK: TICKS {
        name: "cpu-ns-per-tick",
        field: "cpu_ns_per_tick",
        heading: "CPU ns/tick",
        narrow: Some("ns/tick"),
        title: "CPU time per wake-up",
        about: "CPU time per wake-up, while all tasks are alive",
        unit: Unit::Nanoseconds,
        read: Read::Run(|sample| Some(sample.cpu.plateau_s? * 1e9 / ticks(sample)? as f64)),
    }

    LATE_P50: TICKS {
        name: "late-p50",
        field: "late_p50_us",
        heading: "late p50 µs",
        title: "Lateness, median",
        about: "Delay of wake-ups: median",
        read: Read::Run(|sample| late(sample, 0.5)),
    }

    LATE_P99: TICKS {
        name: "late-p99",
        field: "late_p99_us",
        heading: "late p99 µs",
        title: "Lateness, 99th percentile",
        about: "Delay of wake-ups: 99th percentile",
        read: Read::Run(|sample| late(sample, 0.99)),
    }

    LATE_MAX: TICKS {
        name: "late-max",
        field: "late_max_us",
        heading: "late max µs",
        title: "Lateness, maximum",
        about: "Delay of wake-ups: maximum",
        read: Read::Run(|sample| late(sample, 1.0)),
    }

    CLIENT_KERNEL: MEMORY {
        name: "client-kernel",
        field: "client_kernel_bytes",
        heading: "clients' kernel MiB",
        title: "Kernel memory of the clients",
        about: "Kernel memory of the clients' ends of the connections",
        shapes: &[Shape::Serve],
        read: Read::Run(|sample| Some(sample.load.as_ref()?.client_kernel_bytes? as f64)),
    }

    LOADED: MEMORY {
        name: "loaded",
        field: "loaded_bytes",
        heading: "loaded MiB",
        title: "Footprint after use",
        about: "Memory of all kinds right after the open loops",
        shapes: &[Shape::Serve],
        read: Read::Run(|sample| Some(sample.memory.loaded.as_ref()?.footprint_bytes as f64)),
    }

    CONNECTS_PER_S: LOAD {
        name: "connects-per-s",
        field: "connects_per_s",
        heading: "connects/s",
        narrow: Some("conn/s"),
        title: "Connections accepted per second",
        about: "Connections accepted per second, until all are made",
        unit: Unit::PerSecond,
        better: Better::More,
        read: Read::Run(|sample| {
            let load = sample.load.as_ref()?;
            Some(load.connected as f64 / load.connect_s).filter(|per_s| per_s.is_finite())
        }),
    }

    CPU_PER_MESSAGE: LOAD {
        name: "cpu-us-per-message",
        field: "cpu_us_per_message",
        heading: "CPU µs/msg",
        title: "CPU time per message",
        about: "CPU time of the server per message, at 50% of its capacity or at --rate",
        read: Read::Run(|sample| {
            let open = open(sample)?;
            per(open.server_cpu_s?, open.messages)
        }),
    }

    CPU_AT_CAPACITY: LOAD {
        name: "cpu-us-at-capacity",
        field: "cpu_us_at_capacity",
        heading: "CPU µs/msg at capacity",
        narrow: Some("at capacity"),
        title: "CPU time per message at capacity",
        about: "CPU time of the server per message, in the closed loop",
        read: Read::Run(|sample| {
            let closed = sample.load.as_ref()?.closed.as_ref()?;
            per(closed.server_cpu_s?, closed.messages)
        }),
    }

    CPU_PER_DELIVERY: LOAD {
        name: "cpu-us-per-delivery",
        field: "cpu_us_per_delivery",
        heading: "CPU µs/delivery",
        narrow: Some("CPU µs/dlv"),
        title: "CPU time per delivery",
        about: "CPU time of the server per delivery to a member, at the same rate",
        optional: true,
        read: Read::Run(|sample| {
            let open = open(sample).filter(|open| open.deliveries > open.messages)?;
            per(open.server_cpu_s?, open.deliveries)
        }),
    }

    LATENCY_P50: LOAD {
        name: "latency-p50",
        field: "latency_p50_us",
        heading: "p50 µs",
        title: "Latency, median",
        about: "Latency from scheduled send time until every receiver has it: median",
        read: Read::Run(|sample| Some(latency(sample)?.p50)),
    }

    LATENCY_P90: LOAD {
        name: "latency-p90",
        field: "latency_p90_us",
        heading: "p90 µs",
        title: "Latency, 90th percentile",
        about: "Latency from scheduled send time: 90th percentile",
        read: Read::Run(|sample| Some(latency(sample)?.p90)),
    }

    LATENCY_P99: LOAD {
        name: "latency-p99",
        field: "latency_p99_us",
        heading: "p99 µs",
        title: "Latency, 99th percentile",
        about: "Latency from scheduled send time: 99th percentile",
        read: Read::Run(|sample| Some(latency(sample)?.p99)),
    }

    LATENCY_P999: LOAD {
        name: "latency-p999",
        field: "latency_p999_us",
        heading: "p99.9 µs",
        title: "Latency, 99.9th percentile",
        about: "Latency from scheduled send time: 99.9th percentile",
        read: Read::Run(|sample| Some(latency(sample)?.p999)),
    }

    LATENCY_MAX: LOAD {
        name: "latency-max",
        field: "latency_max_us",
        heading: "max µs",
        title: "Latency, maximum",
        about: "Latency from scheduled send time: maximum",
        read: Read::Run(|sample| Some(latency(sample)?.max)),
    }

    MESSAGES_PER_S: LOAD {
        name: "messages-per-s",
        field: "messages_per_s",
        heading: "msgs/s",
        title: "Messages per second",
        about: "Messages per second in the closed loop: the capacity, with the clients on the same CPUs",
        unit: Unit::PerSecond,
        better: Better::More,
        read: Read::Run(|sample| Some(sample.load.as_ref()?.closed.as_ref()?.per_s)),
    }
}

const EACH: &[Shape] = &[Shape::Hold, Shape::Work, Shape::Serve];

/// The defaults of memory metrics.
const MEMORY: MetricDef = MetricDef {
    name: "",
    field: "",
    heading: "",
    narrow: None,
    title: "",
    about: "",
    of_work: None,
    unit: Unit::Bytes,
    better: Better::Less,
    of: MetricScope::Run,
    source_dependent: true,
    decimals: 1,
    shapes: EACH,
    optional: false,
    compares_work: true,
    read: Read::Run(|_| None),
};

/// The defaults of work metrics.
const WORK: MetricDef = MetricDef { source_dependent: false, shapes: &[Shape::Work], ..MEMORY };

/// The defaults of metrics of tasks that wake.
const TICKS: MetricDef = MetricDef {
    unit: Unit::Microseconds,
    source_dependent: false,
    shapes: &[Shape::Hold],
    optional: true,
    ..MEMORY
};

/// The defaults of metrics of servers under load.
const LOAD: MetricDef =
    MetricDef { unit: Unit::Microseconds, source_dependent: false, shapes: &[Shape::Serve], ..MEMORY };

/// The open loop, if its share of the capacity is known. Old results lack it: their 1,000 messages per second
/// mostly measure wake-ups.
fn open(sample: &Sample) -> Option<&OpenLoad> {
    sample.load.as_ref()?.open.as_ref().filter(|open| open.share.is_some())
}

/// Microseconds per item.
fn per(seconds: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| seconds * 1e6 / count as f64)
}

fn latency(sample: &Sample) -> Option<&Latency> {
    sample.load.as_ref()?.open.as_ref()?.latency()
}

/// The defaults of times.
const TIME: MetricDef =
    MetricDef { unit: Unit::Seconds, source_dependent: false, compares_work: false, ..MEMORY };

fn plateau(sample: &Sample, of: fn(&Plateau) -> u64) -> Option<f64> {
    sample.memory.plateau.as_ref().map(|plateau| of(plateau) as f64)
}

/// The histogram of wake-up delays: bucket b counts delays from 2^(b-1) up to 2^b microseconds.
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

/// Cost per operation in nanoseconds: (second run − first run) ÷ extra operations, so start-up and warm-up cancel out.
fn per_op(once: &Work, twice: &Work, seconds: fn(&Work) -> Option<f64>) -> Option<f64> {
    let more = twice.operations.checked_sub(once.operations).filter(|more| *more > 0)?;
    let cost = (seconds(twice)? - seconds(once)?) / more as f64 * 1e9;
    // If the second run was faster, noise outweighs the cost of the operations.
    (cost > 0.0).then_some(cost)
}
