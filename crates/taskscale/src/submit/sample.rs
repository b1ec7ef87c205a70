//! Consistency of one sample: arithmetic, and what a status implies. Pure.
//!
//! Only rules that every sample ever written by taskscale follows, as checked with all samples of results/.

use super::plausible::MIN_FOOTPRINT_BYTES;
use crate::catalog::Shape;
use crate::record::{Campaign, Hold, OWN_WORKLOAD, Plan, Plateau, PlateauFrom, Sample, Status, Warning};
use taskscale_load::Load;

/// Tolerance for the sum of phases, in seconds: phases are differences of floating-point numbers.
const SUM_S: f64 = 1e-6;
/// Tolerance for the sum of CPU times, in seconds: the kernel's counters are not read at one instant. The
/// larger of this and
const CPU_SUM_S: f64 = 0.02;
/// this share of the sum applies.
const CPU_SUM_SHARE: f64 = 0.01;
/// Tolerance for the CPU time of each CPU, in seconds: a clock tick may be counted early.
const TICK_S: f64 = 0.05;
/// Tolerance for the peak, in bytes: the kernel may lose updates that CPUs make at once.
const PEAK_BYTES: u64 = 1 << 20;
/// Minimum connections of a client process, of several. Each rounds its messages.
const CLIENTS: u64 = 1_000;

/// The contradictions within one sample.
pub fn contradictions(sample: &Sample, plan: &Plan, campaign: &Campaign) -> Vec<String> {
    let mut found = Vec::new();
    let mut unless = |holds: bool, what: &str| {
        if !holds {
            found.push(what.to_owned());
        }
    };
    let memory = &sample.memory;
    let plateaus = [memory.plateau.as_ref(), memory.connected.as_deref(), memory.loaded.as_deref()];
    for plateau in plateaus.into_iter().flatten() {
        let process = plateau.footprint_bytes >= MIN_FOOTPRINT_BYTES;
        unless(process, "its footprint is too small for a process");
        unless(adds_up(plateau), "its footprint is not the sum of its parts");
        let memory = campaign.machine.memory_bytes.saturating_add(campaign.machine.swap_bytes);
        unless(plateau.footprint_bytes <= memory, "its footprint is larger than the machine's memory");
    }
    if let Some(plateau) = &memory.plateau {
        let peaks = memory.peak_bytes.map(|peak| peak.saturating_add(PEAK_BYTES));
        let read = peaks.zip(plateau.group_bytes).is_none_or(|(peak, group)| group <= peak);
        unless(read, "its peak is below its memory at the plateau");
        let parts = [plateau.kernel_stack_bytes, plateau.page_tables_bytes].into_iter().flatten();
        let within = parts.fold(0, u64::saturating_add) <= plateau.kernel_bytes;
        let stale = sample.warnings.contains(&Warning::KernelAccountStale);
        unless(within || stale, "its kernel memory is less than its parts");
    }
    let n = sample.tasks;
    unless(sample.alive.is_none_or(|alive| alive <= n), "more tasks alive than started");
    let all = match (plan.shape, &sample.work) {
        (Shape::Work, Some(work)) => work.operations,
        _ => n,
    };
    unless(sample.done.is_none_or(|done| done <= all), "more done than requested");
    // The second run of a pair requests twice the operations, and counts all of them if it fails.
    unless(sample.failed.is_none_or(|failed| failed <= all), "more failed than requested");
    if let Hold::Fixed { seconds } = plan.hold {
        let waits = plan.shape == Shape::Hold && sample.hold_s > 0.0;
        unless(!waits || sample.hold_s == seconds as f64, "its tasks did not wait as planned");
    }
    if sample.status == Status::Ok {
        // taskscale stops servers and a user's own programs, and the latter may print no counts.
        let (own, serves) = (plan.workload == OWN_WORKLOAD, plan.shape == Shape::Serve);
        let alive = sample.alive.map_or(own || plan.shape == Shape::Work, |alive| alive == n);
        unless(alive, "status ok, but not all tasks were alive");
        let done = sample.done.map_or(own || serves, |done| done == all);
        unless(done, "status ok, but not all tasks were done");
        unless(sample.failed.is_none_or(|failed| failed == 0), "status ok, but tasks failed");
        unless(
            sample.reason.is_none() && sample.limit.is_none(),
            "status ok, but it has a reason for failing",
        );
        let stopped = sample.stopped && (own || serves);
        unless(stopped || sample.exit_code == Some(0), "status ok, but its program failed");
        let waits = plan.shape == Shape::Hold && !own;
        let waited = sample.time.wall_s.is_some_and(|wall_s| wall_s >= sample.hold_s);
        unless(!waits || waited, "status ok, but its program ended before its tasks");
        let printed = sample.plateau_from.is_none_or(|from| from == PlateauFrom::Protocol);
        unless(!waits || printed, "status ok, but its program did not print `alive`");
        let connected = sample.load.as_ref().is_some_and(|load| load.connected == n);
        unless(!serves || connected, "status ok, but not all clients connected");
        unless(is_measured(sample, plan.shape), "status ok, but memory or times are missing");
    } else {
        unless(sample.reason.is_some(), "failed without a reason");
    }
    if let Some(load) = &sample.load {
        loads(load, n, &mut unless);
    }
    times(sample, plan, campaign, &mut unless);
    found
}

fn loads(load: &Load, n: u64, unless: &mut impl FnMut(bool, &str)) {
    for open in load.curve.iter().chain(&load.open) {
        for latency in [open.latency_us, open.latency_from_send_us].into_iter().flatten() {
            let quantiles = [0.0, latency.p50, latency.p90, latency.p99, latency.p999, latency.max];
            unless(quantiles.is_sorted(), "the quantiles of a latency do not ascend");
        }
        let most = open.offered_per_s + 1.0 + (n / CLIENTS) as f64;
        unless(open.achieved_per_s <= most, "more messages arrived than were offered");
    }
    // A closed loop takes a second or more.
    let counted = load.closed.as_ref().is_none_or(|closed| closed.per_s <= closed.messages as f64);
    unless(counted, "a rate is higher than its messages allow");
}

/// Whether an ok sample has the values that all have: memory while all tasks wait, or the cost of the work.
fn is_measured(sample: &Sample, shape: Shape) -> bool {
    let work = sample.work.as_ref();
    let of_shape = match shape {
        Shape::Work => work.is_some_and(|work| work.wall_s.is_some() && work.cpu_s.is_some()),
        Shape::Hold | Shape::Serve => sample.memory.plateau.is_some(),
    };
    of_shape && sample.time.launch_s.is_some() && sample.cpu.total_s().is_some()
}

fn times(sample: &Sample, plan: &Plan, campaign: &Campaign, unless: &mut impl FnMut(bool, &str)) {
    let (time, cpu) = (&sample.time, &sample.cpu);
    let phases = [time.launch_s, time.plateau_s, time.drain_s];
    let cpu_phases = [cpu.launch_s, cpu.plateau_s, cpu.drain_s];
    let others = [time.wall_s, time.plateau_read_at_s, time.reading_s, cpu.user_s, cpu.system_s];
    let all = phases.into_iter().chain(cpu_phases).chain(others).flatten();
    unless(all.into_iter().all(|seconds| seconds.is_finite() && seconds >= 0.0), "a time is negative");
    // The clock counts nanoseconds, and no program starts within one.
    unless(![time.launch_s, time.wall_s].contains(&Some(0.0)), "it took no time to start or to run");
    if let ([Some(launch), Some(plateau), Some(drain)], Some(wall)) = (phases, time.wall_s) {
        unless((launch + plateau + drain - wall).abs() <= SUM_S, "its phases do not add up to its wall time");
    }
    let whole_of = |part: Option<f64>| part.zip(time.wall_s).is_none_or(|(part, wall)| part <= wall + SUM_S);
    let parts = [time.launch_s, time.plateau_read_at_s, sample.work.as_ref().and_then(|work| work.wall_s)];
    unless(parts.into_iter().all(whole_of), "a phase took longer than the run");
    if let (Some(total), Some(wall)) = (cpu.total_s(), time.wall_s) {
        let most = (wall + TICK_S) * campaign.machine.cpus.max(1) as f64;
        unless(total <= most, "it took more CPU time than the machine has");
        // The phases of work do not include the work itself.
        if let ([Some(launch), plateau, Some(drain)], true) = (cpu_phases, plan.shape != Shape::Work) {
            let off = (launch + plateau.unwrap_or(0.0) + drain - total).abs();
            let slack = CPU_SUM_S.max(CPU_SUM_SHARE * total);
            unless(off <= slack, "the CPU time of its phases does not add up to user and system time");
        }
    }
}

/// Whether the footprint is the sum of its parts. Samples of earlier versions leave out swap.
fn adds_up(plateau: &Plateau) -> bool {
    let parts = [plateau.anon_bytes, plateau.shmem_bytes, plateau.file_bytes, plateau.kernel_bytes];
    let parts = parts.into_iter().chain(plateau.hugetlb_bytes);
    let sum = |swap: u64| parts.clone().chain([swap]).try_fold(0u64, u64::checked_add);
    [0, plateau.swap_bytes.unwrap_or(0)].into_iter().any(|swap| sum(swap) == Some(plateau.footprint_bytes))
}
