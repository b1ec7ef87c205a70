//! The table of metrics, and how each is read from a sample.

use super::{Better, MetricDef, MetricScope, Read, Unit};
use crate::catalog::Shape;
use crate::record::{Latency, OpenLoad, Plateau, Sample, Work};

/// Declares each metric, `STATIC: DEFAULTS(name, field, heading) { title: about, further fields }`, and the list of all.
/// Unnamed fields are those of the defaults.
macro_rules! metrics {
    ($($metric:ident: $defaults:ident($name:literal, $field:literal, $heading:literal) {
        $title:literal: $about:literal,
        $($further:ident: $value:expr,)+
    })+) => {
        $(pub static $metric: MetricDef = MetricDef {
            name: $name,
            field: $field,
            heading: $heading,
            title: $title,
            about: $about,
            $($further: $value,)+
            ..$defaults
        };)+

        /// All metrics.
        pub static ALL: [&MetricDef; [$(stringify!($metric)),+].len()] = [$(&$metric),+];
    };
}

metrics! {
    FOOTPRINT: MEMORY("footprint", "footprint_bytes", "memory MiB") {
        "Footprint": "Memory of all kinds while all tasks wait",
        of_work: Some((
            "Footprint when ready",
            "Memory of all kinds when the program is ready and its work begins",
        )),
        read: Read::Run(|sample| plateau(sample, |plateau| plateau.footprint_bytes)),
    }

    BYTES_PER_TASK: MEMORY("bytes-per-task", "bytes_per_task", "B/task") {
        "Bytes per task": "Growth of the footprint per task, over all N",
        unit: Unit::BytesPerTask,
        of: MetricScope::Slope,
        read: FOOTPRINT.read,
    }

    BASE: MEMORY("base", "base_bytes", "fixed MiB") {
        "Fixed cost": "Fixed cost: footprint before the first task, by the same line",
        of: MetricScope::Base,
        decimals: 2,
        read: FOOTPRINT.read,
    }

    KERNEL: MEMORY("kernel", "kernel_bytes", "kernel MiB") {
        "Kernel memory": "Kernel memory, a part of the footprint",
        read: Read::Run(|sample| plateau(sample, |plateau| plateau.kernel_bytes)),
    }

    ANON: MEMORY("anon", "anon_bytes", "anon MiB") {
        "Anonymous memory": "Heaps and stacks, a part of the footprint",
        read: Read::Run(|sample| plateau(sample, |plateau| plateau.anon_bytes)),
    }

    PEAK: MEMORY("peak", "peak_bytes", "peak MiB") {
        "Peak memory": "Highest memory of the whole run",
        read: Read::Run(|sample| Some(sample.memory.peak_bytes? as f64)),
    }

    RSS_PEAK: MEMORY("rss-peak", "rss_peak_bytes", "RSS peak MiB") {
        "Peak RSS": "Highest resident memory of any one process",
        narrow: Some("RSS MiB"),
        // Always the kernel's own count for each process.
        source_dependent: false,
        read: Read::Run(|sample| Some(sample.memory.rss_peak_bytes? as f64)),
    }

    LAUNCH: TIME("launch", "launch_s", "launch s") {
        "Launch time": "Time until all tasks are alive",
        of_work: Some(("Launch time", "Time until the program is ready and its work begins")),
        compares_work: true,
        read: Read::Run(|sample| sample.time.launch_s),
    }

    DRAIN: TIME("drain", "drain_s", "drain s") {
        "Drain time": "Time from the first task's due time until exit",
        read: Read::Run(|sample| sample.time.drain_s),
    }

    WALL: TIME("wall", "wall_s", "wall s") {
        "Wall time": "Time from start to exit, including the wait",
        read: Read::Run(|sample| sample.time.wall_s),
    }

    CPU: TIME("cpu", "cpu_s", "CPU s") {
        "CPU time": "User and system time of all processes",
        read: Read::Run(|sample| sample.cpu.total_s()),
    }

    WALL_PER_OP: WORK("wall-ns-per-op", "wall_ns_per_op", "wall ns/op") {
        "Wall time per operation": "Wall time per operation: (time for 2N − time for N) ÷ N",
        unit: Unit::Nanoseconds,
        read: Read::Pair(|once, twice| per_op(once, twice, |work| work.wall_s)),
    }

    CPU_PER_OP: WORK("cpu-ns-per-op", "cpu_ns_per_op", "CPU ns/op") {
        "CPU time per operation": "CPU time per operation, over all CPUs, by the same formula",
        unit: Unit::Nanoseconds,
        read: Read::Pair(|once, twice| per_op(once, twice, |work| work.cpu_s)),
    }

    OPS_PER_S: WORK("ops-per-s", "ops_per_s", "ops/s") {
        "Operations per second": "Operations per second: 1 ÷ wall time per operation",
        unit: Unit::PerSecond,
        better: Better::More,
        read: Read::Pair(|once, twice| Some(1e9 / per_op(once, twice, |work| work.wall_s)?)),
    }

    CPU_PER_TICK: TICKS("cpu-ns-per-tick", "cpu_ns_per_tick", "CPU ns/tick") {
        "CPU time per wake-up": "CPU time per wake-up, while all tasks are alive",
        narrow: Some("ns/tick"),
        unit: Unit::Nanoseconds,
        read: Read::Run(|sample| Some(sample.cpu.plateau_s? * 1e9 / ticks(sample)? as f64)),
    }

    LATE_P50: TICKS("late-p50", "late_p50_us", "late p50 µs") {
        "Lateness, median": "Delay of wake-ups: median",
        read: Read::Run(|sample| late(sample, 0.5)),
    }

    LATE_P99: TICKS("late-p99", "late_p99_us", "late p99 µs") {
        "Lateness, 99th percentile": "Delay of wake-ups: 99th percentile",
        read: Read::Run(|sample| late(sample, 0.99)),
    }

    LATE_MAX: TICKS("late-max", "late_max_us", "late max µs") {
        "Lateness, maximum": "Delay of wake-ups: maximum",
        read: Read::Run(|sample| late(sample, 1.0)),
    }

    CLIENT_KERNEL: MEMORY("client-kernel", "client_kernel_bytes", "clients' kernel MiB") {
        "Kernel memory of the clients": "Kernel memory of the clients' ends of the connections",
        shapes: &[Shape::Serve],
        read: Read::Run(|sample| Some(sample.load.as_ref()?.client_kernel_bytes? as f64)),
    }

    LOADED: MEMORY("loaded", "loaded_bytes", "loaded MiB") {
        "Footprint after use": "Memory of all kinds right after the open loops",
        shapes: &[Shape::Serve],
        read: Read::Run(|sample| Some(sample.memory.loaded.as_ref()?.footprint_bytes as f64)),
    }

    CONNECTS_PER_S: LOAD("connects-per-s", "connects_per_s", "connects/s") {
        "Connections accepted per second": "Connections accepted per second, until all are made",
        narrow: Some("conn/s"),
        unit: Unit::PerSecond,
        better: Better::More,
        read: Read::Run(|sample| {
            let load = sample.load.as_ref()?;
            Some(load.connected as f64 / load.connect_s).filter(|per_s| per_s.is_finite())
        }),
    }

    CPU_PER_MESSAGE: LOAD("cpu-us-per-message", "cpu_us_per_message", "CPU µs/msg") {
        "CPU time per message": "CPU time of the server per message, at 50% of its capacity or at --rate",
        read: Read::Run(|sample| {
            let open = open(sample)?;
            per(open.server_cpu_s?, open.messages)
        }),
    }

    CPU_AT_CAPACITY: LOAD("cpu-us-at-capacity", "cpu_us_at_capacity", "CPU µs/msg at capacity") {
        "CPU time per message at capacity": "CPU time of the server per message, in the closed loop",
        narrow: Some("at cap. µs"),
        read: Read::Run(|sample| {
            let closed = sample.load.as_ref()?.closed.as_ref()?;
            per(closed.server_cpu_s?, closed.messages)
        }),
    }

    CPU_PER_DELIVERY: LOAD("cpu-us-per-delivery", "cpu_us_per_delivery", "CPU µs/delivery") {
        "CPU time per delivery": "CPU time of the server per delivery to a member, at the same rate",
        narrow: Some("CPU µs/dlv"),
        optional: true,
        read: Read::Run(|sample| {
            let open = open(sample).filter(|open| open.deliveries > open.messages)?;
            per(open.server_cpu_s?, open.deliveries)
        }),
    }

    LATENCY_P50: LOAD("latency-p50", "latency_p50_us", "p50 µs") {
        "Latency, median": "Latency from scheduled send time until every receiver has it: median",
        read: Read::Run(|sample| Some(latency(sample)?.p50)),
    }

    LATENCY_P90: LOAD("latency-p90", "latency_p90_us", "p90 µs") {
        "Latency, 90th percentile": "Latency from scheduled send time: 90th percentile",
        read: Read::Run(|sample| Some(latency(sample)?.p90)),
    }

    LATENCY_P99: LOAD("latency-p99", "latency_p99_us", "p99 µs") {
        "Latency, 99th percentile": "Latency from scheduled send time: 99th percentile",
        read: Read::Run(|sample| Some(latency(sample)?.p99)),
    }

    LATENCY_P999: LOAD("latency-p999", "latency_p999_us", "p99.9 µs") {
        "Latency, 99.9th percentile": "Latency from scheduled send time: 99.9th percentile",
        read: Read::Run(|sample| Some(latency(sample)?.p999)),
    }

    LATENCY_MAX: LOAD("latency-max", "latency_max_us", "max µs") {
        "Latency, maximum": "Latency from scheduled send time: maximum",
        read: Read::Run(|sample| Some(latency(sample)?.max)),
    }

    MESSAGES_PER_S: LOAD("messages-per-s", "messages_per_s", "msgs/s") {
        "Messages per second": "Messages per second in the closed loop: the capacity, with the clients on the same CPUs",
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
    Some(lateness(sample)?.iter().copied().fold(0, u64::saturating_add)).filter(|ticks| *ticks > 0)
}

/// A quantile of lateness, in microseconds: the upper bound of its bucket.
fn late(sample: &Sample, share: f64) -> Option<f64> {
    let rank = (ticks(sample)? as f64 * share).ceil().max(1.0) as u64;
    let mut seen = 0_u64;
    let bucket = lateness(sample)?.iter().position(|count| {
        seen = seen.saturating_add(*count);
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
