//! Histograms of latency.

use hdrhistogram::Histogram;

use super::results::Latency;

/// Three significant digits, to an hour.
const DIGITS: u8 = 3;
const LONGEST_NS: u64 = 3_600_000_000_000;

/// Latencies, in nanoseconds, in buckets of three significant digits (HdrHistogram).
pub(super) struct Latencies(Histogram<u64>);

impl Latencies {
    pub fn new() -> Latencies {
        // Cannot fail: the bounds are constants, and a test uses them.
        let made = Histogram::new_with_bounds(1, LONGEST_NS, DIGITS);
        Latencies(made.expect("bounds of a histogram"))
    }

    pub fn add(&mut self, ns: u64, times: u64) {
        self.0.saturating_record_n(ns.max(1), times);
    }

    /// The nonempty buckets with their counts, to be merged by another process.
    pub fn counts(&self) -> Vec<(u64, u64)> {
        self.0.iter_recorded().map(|step| (step.value_iterated_to(), step.count_at_value())).collect()
    }

    pub fn quantiles(&self) -> Latency {
        let us = |ns: u64| ns as f64 / 1e3;
        let at = |share| us(self.0.value_at_quantile(share));
        Latency { p50: at(0.5), p90: at(0.9), p99: at(0.99), p999: at(0.999), max: us(self.0.max()) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantiles_cover_merged_histograms() {
        let (mut here, mut there) = (Latencies::new(), Latencies::new());
        (1..=500).for_each(|us| here.add(us * 1_000, 1));
        (501..=1_000).for_each(|us| there.add(us * 1_000, 1));
        there.counts().into_iter().for_each(|(ns, times)| here.add(ns, times));
        let Latency { p50, p99, max, .. } = here.quantiles();
        for (seen, true_us) in [(p50, 500.0), (p99, 990.0), (max, 1_000.0)] {
            assert!((seen / true_us - 1.0).abs() < 2e-3, "{seen} for {true_us}");
        }
        assert_eq!(Latencies::new().quantiles(), Latency::default());
    }
}
