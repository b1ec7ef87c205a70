//! CPU and latency of a server over load: the open loops and the closed loop of its runs.

use serde::Serialize;

use crate::record::{Latency, OpenLoad, Sample};
use crate::stats::median;

/// One load of a server, as medians over repetitions.
#[derive(Debug, Clone, PartialEq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub struct LoadPoint {
    /// Offered share of the capacity. 1 for the closed loop, which finds the capacity.
    pub share: f64,
    /// Messages per second.
    pub per_s: f64,
    /// CPU time of the server per message, in microseconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cpu_us_per_message: Option<f64>,
    /// From the scheduled send time, in microseconds. Absent for the closed loop, if the rate was not reached,
    /// or if the clients sent late.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p50_us: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency_p99_us: Option<f64>,
}

/// The loads of one case, by rising share.
pub fn load_curve(samples: &[&Sample]) -> Vec<LoadPoint> {
    let loads = || samples.iter().filter_map(|sample| sample.load.as_deref());
    let longest = loads().map(|load| load.curve.len()).max().unwrap_or(0);
    let middle = |values: Vec<f64>| median(&values);
    let mut points: Vec<LoadPoint> = (0..longest)
        .filter_map(|nth| {
            let loops: Vec<&OpenLoad> = loads().filter_map(|load| load.curve.get(nth)).collect();
            let of = |read: &dyn Fn(&OpenLoad) -> Option<f64>| {
                middle(loops.iter().filter_map(|open| read(open)).collect())
            };
            let latency = |of_latency: fn(&Latency) -> f64| of(&|open| open.latency().map(of_latency));
            Some(LoadPoint {
                share: of(&|open| open.share)?,
                per_s: of(&|open| Some(open.offered_per_s))?,
                cpu_us_per_message: of(&|open| open.server_cpu_s_per_message().map(|cpu_s| cpu_s * 1e6)),
                latency_p50_us: latency(|latency| latency.p50),
                latency_p99_us: latency(|latency| latency.p99),
            })
        })
        .collect();
    let closed = || loads().filter(|load| !load.curve.is_empty()).filter_map(|load| load.closed.as_ref());
    if let Some(per_s) = middle(closed().map(|closed| closed.per_s).collect()) {
        let cpu_us = closed().filter_map(|closed| Some(closed.server_cpu_s? * 1e6 / closed.messages as f64));
        points.push(LoadPoint {
            share: 1.0,
            per_s,
            cpu_us_per_message: middle(cpu_us.filter(|us| us.is_finite()).collect()),
            latency_p50_us: None,
            latency_p99_us: None,
        });
    }
    points
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::{ClosedLoad, Load, test_sample};

    #[test]
    fn load_curves_have_medians_of_valid_latencies() {
        let sample = |cpu_s: f64, late_us: f64| {
            let latency = |p99: f64| Some(Latency { p99, ..Latency::default() });
            let open = |share: f64| OpenLoad {
                share: Some(share),
                offered_per_s: 100.0 * share,
                achieved_per_s: 100.0 * share,
                messages: 100,
                server_cpu_s: Some(cpu_s),
                latency_us: latency(500.0 + late_us),
                latency_from_send_us: latency(500.0),
                ..OpenLoad::default()
            };
            let closed = ClosedLoad {
                per_s: 100.0,
                messages: 200,
                server_cpu_s: Some(cpu_s),
                ..ClosedLoad::default()
            };
            let load = Load { curve: vec![open(0.1), open(0.5)], closed: Some(closed), ..Load::default() };
            let mut sample = test_sample("x/y", 10);
            sample.load = Some(Box::new(load));
            sample
        };
        let [one, two, late] = [sample(1e-3, 0.0), sample(3e-3, 0.0), sample(2e-3, 101.0)];
        let points = load_curve(&[&one, &two, &late]);
        let seen: Vec<_> = points
            .iter()
            .map(|point| (point.share, point.cpu_us_per_message, point.latency_p99_us))
            .collect();
        assert_eq!(
            seen,
            [(0.1, Some(20.0), Some(500.0)), (0.5, Some(20.0), Some(500.0)), (1.0, Some(10.0), None)]
        );
        assert_eq!(load_curve(&[&late])[0].latency_p99_us, None, "the clients were late");
        assert_eq!(load_curve(&[&test_sample("x/y", 10)]), []);
    }
}
