//! Results of a server's clients, and the server's CPU time, for workloads of the shape `serve`.

use serde::{Deserialize, Serialize};

/// What the clients of a server measured, up to the phase that the run reached.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Load {
    /// Connections that the server had accepted.
    pub connected: u64,
    /// From the first `connect` until all were ready.
    pub connect_s: f64,
    /// CPU time of all clients over the run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_s: Option<f64>,
    /// Memory of all clients when the server was read, kernel memory included.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_bytes: Option<u64>,
    /// Part of `client_bytes`: kernel memory.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_kernel_bytes: Option<u64>,
    /// Every connection had carried a message before memory was read.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub first_message: bool,
    /// All connected, without messages.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub idle: Option<IdleLoad>,
    /// The open loop at `--rate`, or at 50% of the capacity.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub open: Option<OpenLoad>,
    /// The second closed loop: the capacity of server and clients.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub closed: Option<ClosedLoad>,
    /// All open loops, by rising rate.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub curve: Vec<OpenLoad>,
}

#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct IdleLoad {
    /// CPU time of the server without messages.
    pub cpu_s: f64,
    /// Duration of the idle phase.
    pub seconds: f64,
}

/// An open loop: each message has a scheduled send time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenLoad {
    /// `offered_per_s` ÷ the rate of the closed loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub share: Option<f64>,
    /// Scheduled messages per second.
    pub offered_per_s: f64,
    /// Messages per second that reached all receivers, until 99% had arrived.
    pub achieved_per_s: f64,
    /// Messages sent.
    pub messages: u64,
    /// Messages that arrived. A message to a room arrives once per receiving member.
    pub deliveries: u64,
    /// CPU time of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// From the scheduled send time until the last receiver has the message. Absent if the rate was not reached, or the
    /// clients sent late.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_us: Option<Latency>,
    /// Latency from when the client began to send the message.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub latency_from_send_us: Option<Latency>,
    /// How late the clients sent: p99 from the schedule − p99 from when they began to send.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_late_us: Option<f64>,
    /// CPU time ÷ duration of the busiest client process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_share: Option<f64>,
}

/// A rate counts as reached from this share of the offered rate on.
const REACHED: f64 = 0.99;
/// Clients may be late by this share of p99, or by `CLIENT_LATE_US`.
const CLIENT_LATE: f64 = 0.1;
const CLIENT_LATE_US: f64 = 100.0;

impl OpenLoad {
    /// Whether messages arrived at the rate at which they were offered.
    pub fn is_reached(&self) -> bool {
        self.achieved_per_s >= REACHED * self.offered_per_s
    }

    /// Whether the clients sent too late for the latency to be the server's, or were too busy to reach the
    /// rate.
    pub fn is_client_limited(&self) -> bool {
        !self.is_reached() && is_busy(self.client_cpu_share) || self.is_sent_late()
    }

    fn is_sent_late(&self) -> bool {
        self.p99_us().zip(self.latency_from_send_us).is_some_and(|(p99_us, from_send)| {
            p99_us - from_send.p99 > CLIENT_LATE_US.max(CLIENT_LATE * p99_us)
        })
    }

    /// p99 from the schedule, the clients' lateness included, in microseconds.
    pub fn p99_us(&self) -> Option<f64> {
        let scheduled = self.latency_us.map(|latency| latency.p99);
        scheduled.or_else(|| Some(self.latency_from_send_us?.p99 + self.client_late_us?))
    }

    /// Latency from the scheduled send time, if it is the server's: the rate was reached, and the clients sent in time.
    pub fn latency(&self) -> Option<&Latency> {
        self.latency_us
            .as_ref()
            .filter(|_| self.messages > 0 && self.is_reached() && !self.is_client_limited())
    }

    /// CPU time of the server for each message, in seconds.
    pub fn server_cpu_s_per_message(&self) -> Option<f64> {
        self.server_cpu_s.filter(|_| self.messages > 0).map(|cpu_s| cpu_s / self.messages as f64)
    }
}

/// A closed loop: each active connection sends its next message when the last one has arrived.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ClosedLoad {
    /// Connections with one message in flight each.
    pub active: u64,
    /// Messages sent.
    pub messages: u64,
    /// Messages that arrived. A message to a room arrives once per receiving member.
    pub deliveries: u64,
    /// Messages per second.
    pub per_s: f64,
    /// CPU time of the server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub server_cpu_s: Option<f64>,
    /// CPU time ÷ duration of the busiest client process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_cpu_share: Option<f64>,
}

impl ClosedLoad {
    /// Whether the clients used over 85% of a CPU, so that the server's capacity may be higher.
    pub fn is_client_limited(&self) -> bool {
        is_busy(self.client_cpu_share)
    }
}

/// Clients that use more than this share of a CPU may limit the rate.
const CLIENT_BUSY: f64 = 0.85;

fn is_busy(client_cpu_share: Option<f64>) -> bool {
    client_cpu_share.is_some_and(|share| share > CLIENT_BUSY)
}

/// Quantiles of a latency, in microseconds.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Latency {
    /// Median.
    pub p50: f64,
    /// 90th percentile.
    pub p90: f64,
    /// 99th percentile.
    pub p99: f64,
    /// 99.9th percentile.
    pub p999: f64,
    /// Maximum.
    pub max: f64,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn open(p99_us: f64, from_send_us: f64) -> OpenLoad {
        let latency = |p99: f64| Some(Latency { p99, ..Latency::default() });
        OpenLoad {
            offered_per_s: 100.0,
            achieved_per_s: 100.0,
            messages: 100,
            latency_us: latency(p99_us),
            latency_from_send_us: latency(from_send_us),
            ..OpenLoad::default()
        }
    }

    #[test]
    fn late_clients_void_latency_but_slow_servers_do_not() {
        // The server stopped for a second: what was sent meanwhile waited.
        assert!(open(906_000.0, 880_000.0).latency().is_some());
        // The clients stopped for a second: what they sent late was answered at once.
        assert!(open(914_000.0, 300.0).latency().is_none() && open(914_000.0, 300.0).is_client_limited());
        assert!(open(1_099.0, 1_000.0).latency().is_some(), "100 µs are little");
        assert!(open(1_101.0, 1_000.0).latency().is_some(), "10% are little");
        assert!(open(1_200.0, 1_000.0).latency().is_none());
    }

    #[test]
    fn missed_rate_has_no_latency() {
        let slow = OpenLoad { achieved_per_s: 98.0, ..open(500.0, 500.0) };
        assert!(slow.latency().is_none() && !slow.is_client_limited());
        let busy = OpenLoad { client_cpu_share: Some(0.9), ..slow };
        assert!(busy.is_client_limited());
        assert!(!OpenLoad { client_cpu_share: Some(0.9), ..open(500.0, 500.0) }.is_client_limited());
        assert!(OpenLoad { messages: 0, ..open(0.0, 0.0) }.latency().is_none());
    }
}
