//! What must be alike in the runs behind two values for them to be compared.

use std::collections::BTreeSet;

use crate::document::joined;
use crate::metrics::{self, MetricDef};
use crate::record::{MemorySource, Sample, Warning};
use crate::stats;

/// Peak memory that twice the operations raise by more than this factor grows with them.
const GROWS: f64 = 1.1;

/// An open loop that sends less than this share of the other's messages is easier.
const SAME_RATE: f64 = 0.9;

/// The conditions of some runs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RunConditions {
    sources: BTreeSet<MemorySource>,
    /// Of runs with clients: whether memory was read after the first messages.
    first_message: BTreeSet<bool>,
    holds: BTreeSet<String>,
    /// Whether tasks wake, and so use CPU time during the whole wait.
    wakes: bool,
    client_limited: bool,
    /// Whether the number of live tasks is known.
    alive_known: BTreeSet<bool>,
    /// Scheduled messages per second of the open loops, the median.
    offered_per_s: Option<f64>,
    /// How most runs were disturbed.
    disturbed: Option<&'static str>,
    /// Operations of the first run of each pair.
    operations: BTreeSet<u64>,
    /// Whether peak memory grows with the operations.
    peak_grows: bool,
}

impl RunConditions {
    pub fn of(samples: &[&Sample]) -> RunConditions {
        let all = || samples.iter().copied();
        let with = |warning| all().filter(move |run| run.warnings.contains(&warning));
        let most = |runs: usize| 2 * runs > samples.len();
        let busy = with(Warning::MachineBusy);
        // Servers share the CPUs with their clients anyway.
        let starved = with(Warning::CpuStarved).filter(|run| run.load.is_none());
        let peak = |double: bool| {
            let own = all().filter(|sample| sample.is_double() == double);
            stats::median(&own.filter_map(|sample| metrics::PEAK.read(sample)).collect::<Vec<_>>())
        };
        let once = all().filter(|sample| !sample.is_double());
        let offered = all().filter_map(|sample| Some(sample.load.as_ref()?.open.as_ref()?.offered_per_s));
        RunConditions {
            sources: all().map(|sample| sample.memory.source).collect(),
            first_message: all().filter_map(|sample| Some(sample.load.as_ref()?.first_message)).collect(),
            holds: all().map(|sample| format!("{} s", sample.hold_s)).collect(),
            wakes: all().any(|sample| sample.histograms.contains_key("late_us")),
            client_limited: all().any(Sample::is_client_limited),
            alive_known: all().map(|sample| sample.alive.is_some()).collect(),
            offered_per_s: stats::median(&offered.collect::<Vec<_>>()),
            disturbed: if most(busy.count()) {
                Some("on a busy machine")
            } else {
                most(starved.count()).then_some("short of CPU")
            },
            operations: once.filter_map(|sample| Some(sample.work.as_ref()?.operations)).collect(),
            peak_grows: peak(true).zip(peak(false)).is_some_and(|(twice, once)| twice > GROWS * once),
        }
    }

    /// Why a value of these runs and one of `new` cannot be compared by this metric, if so. `names` are those of the two
    /// sides.
    pub fn differ_for(
        &self,
        new: &RunConditions,
        metric: &'static MetricDef,
        names: [&str; 2],
    ) -> Option<String> {
        let [base_name, new_name] = names;
        let is_memory = metric.source_dependent;
        if is_memory && differ(&self.sources, &new.sources) {
            let [of_base, of_new] =
                [self, new].map(|of| joined(of.sources.iter().copied().map(MemorySource::name), " and "));
            return Some(format!("memory sources differ: {of_base} in {base_name}, {of_new} in {new_name}"));
        }
        if is_memory && self.first_message != new.first_message && !self.first_message.is_empty() {
            return Some(
                "memory was read before the first messages on one side, after them on the other".to_owned(),
            );
        }
        if is_memory && self.alive_known != new.alive_known {
            return Some("the number of live tasks is unknown on one side (print `alive N`)".to_owned());
        }
        let of_open_loop = [
            &metrics::LATENCY_P50,
            &metrics::LATENCY_P90,
            &metrics::LATENCY_P99,
            &metrics::LATENCY_P999,
            &metrics::LATENCY_MAX,
            &metrics::CPU_PER_MESSAGE,
        ];
        if of_open_loop.contains(&metric)
            && let Some((base, now)) = self.offered_per_s.zip(new.offered_per_s)
            && now < SAME_RATE * base
        {
            return Some(format!(
                "{new_name} was sent {now:.0} messages per second, {base_name} {base:.0} (set -p rate=…)"
            ));
        }
        if metric == &metrics::MESSAGES_PER_S && (self.client_limited || new.client_limited) {
            return Some("the clients exhausted a CPU, so the server's capacity may be higher".to_owned());
        }
        // Other work slows both sides, but differently: no interval from repetitions covers it.
        let mut sides = [self, new].into_iter().zip(names).filter(|_| metric.unit.is_time());
        if let Some((how, side)) = sides.find_map(|(of, side)| Some((of.disturbed?, side))) {
            return Some(format!("most runs of {side} were {how}"));
        }
        let of_wait = metric == &metrics::WALL || (metric == &metrics::CPU && (self.wakes || new.wakes));
        if of_wait && differ(&self.holds, &new.holds) {
            let [of_base, of_new] =
                [self, new].map(|of| joined(of.holds.iter().map(String::as_str), " and "));
            return Some(format!("tasks waited {of_base} in {base_name}, {of_new} in {new_name}"));
        }
        None
    }

    /// Why the peaks of work cannot be compared, if so: taskscale chooses the number of operations, and some work, such as
    /// that on a map, keeps what it adds.
    pub fn operations_differ_for(&self, new: &RunConditions, metric: &'static MetricDef) -> Option<String> {
        let differ = self.operations != new.operations && (self.peak_grows || new.peak_grows);
        (metric == &metrics::PEAK && differ)
            .then(|| "the sides did different numbers of operations, with which memory grows".to_owned())
    }
}

/// Whether BASE has several values, or NEW has different ones.
fn differ<T: Ord>(base: &BTreeSet<T>, new: &BTreeSet<T>) -> bool {
    base.len() > 1 || base != new
}
