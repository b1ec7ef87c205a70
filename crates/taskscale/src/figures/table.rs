//! The table itself, and how each figure is read from a sample.

use super::{Better, Figure, Of, Read, Unit};
use crate::catalog::Shape;
use crate::record::{Latency, OpenLoad, Plateau, Sample, Work};

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
    about: "CPU time of the server per message, at 50% of its capacity or at --rate",
    read: Read::Run(|sample| {
        let open = open(sample)?;
        per(open.server_cpu_s?, open.messages)
    }),
    ..LOAD
};

pub static CPU_AT_CAPACITY: Figure = Figure {
    name: "cpu-us-at-capacity",
    field: "cpu_us_at_capacity",
    heading: "CPU µs/msg at capacity",
    about: "CPU time of the server per message, in the closed loop",
    read: Read::Run(|sample| {
        let closed = sample.load.as_ref()?.closed.as_ref()?;
        per(closed.server_cpu_s?, closed.messages)
    }),
    ..LOAD
};

pub static CPU_PER_DELIVERY: Figure = Figure {
    name: "cpu-us-per-delivery",
    field: "cpu_us_per_delivery",
    heading: "CPU µs/delivery",
    about: "CPU time of the server for each member that a message came to, at the same rate",
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
    about: "From a message's scheduled send time until all had it, in half of all cases at most",
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
    about: "Messages per second in the closed loop: the capacity, with the clients on the same CPUs",
    unit: Unit::PerSecond,
    better: Better::More,
    read: Read::Run(|sample| Some(sample.load.as_ref()?.closed.as_ref()?.per_s)),
    ..LOAD
};

/// All of them.
pub static ALL: [&Figure; 30] = [
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
    &CPU_AT_CAPACITY,
    &CPU_PER_DELIVERY,
    &LATENCY_P50,
    &LATENCY_P90,
    &LATENCY_P99,
    &LATENCY_P999,
    &LATENCY_MAX,
    &MESSAGES_PER_S,
];

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

/// Without a share it was at a rate that says nothing of this server: 1,000 messages per second measure how it wakes.
fn open(sample: &Sample) -> Option<&OpenLoad> {
    sample.load.as_ref()?.open.as_ref().filter(|open| open.share.is_some())
}

/// Microseconds for each.
fn per(seconds: f64, count: u64) -> Option<f64> {
    (count > 0).then(|| seconds * 1e6 / count as f64)
}

fn latency(sample: &Sample) -> Option<&Latency> {
    sample.load.as_ref()?.open.as_ref()?.latency()
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
